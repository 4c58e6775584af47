//! The page over HTTP, for this machine only.
//!
//! Every answer isolates the page (COOP and COEP, so that it may use precise clocks and shared memory) and is never
//! cached. Files given on the command line lie under `/open/TOKEN/NAME`, read-only and with byte ranges; the token is
//! new at every start and known to the page alone, so that no other page in the browser can guess their address.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{BuildHasher, RandomState},
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use axum::{
    Router,
    http::{HeaderName, HeaderValue},
};
use tokio::net::TcpListener;
use tower_http::{
    services::{ServeDir, ServeFile},
    set_header::SetResponseHeaderLayer,
};

/// A page that is being served; it stays up as long as the runtime does.
pub struct Served {
    /// `http://127.0.0.1:PORT/`, with one `open=` parameter a file: its address relative to the page, percent-encoded.
    /// The page opens these files as one set at its start (`planescope.openUrl` does the same later).
    pub url: String,
    /// The page alone, without parameters.
    pub page: String,
    /// Addresses of the files, relative to the page, by name.
    pub files: BTreeMap<String, String>,
}

/// Serves `dist` and `files` on `port`, or on a free port where `port` is taken.
pub async fn serve(dist: &Path, files: &[PathBuf], port: u16) -> Result<Served> {
    let listener = match TcpListener::bind(local(port)).await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind(local(0)).await.context("no port to listen on")?,
    };
    let address = listener.local_addr()?;
    let (mut router, mut query) = (Router::new(), String::new());
    let token = token();
    let mut addresses = BTreeMap::new();
    for (name, path) in named(files)? {
        let encoded = percent_encoded(&name);
        router = router.route_service(&format!("/open/{token}/{encoded}"), ServeFile::new(path));
        addresses.insert(name, format!("open/{token}/{encoded}"));
        query.push(if query.is_empty() { '?' } else { '&' });
        query.push_str(&format!("open=open/{token}/{}", percent_encoded(&encoded)));
    }
    let mut router = router.fallback_service(ServeDir::new(dist));
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        let (name, value) = (HeaderName::from_static(name), HeaderValue::from_static(value));
        router = router.layer(SetResponseHeaderLayer::overriding(name, value));
    }
    tokio::spawn(async move { axum::serve(listener, router).await });
    let page = format!("http://{address}/");
    Ok(Served { url: format!("{page}{query}"), page, files: addresses })
}

/// The files to serve and their names: those given, and those ending in `.h5` in a folder given. One name, one file.
fn named(files: &[PathBuf]) -> Result<Vec<(String, PathBuf)>> {
    let mut paths = Vec::new();
    for path in files {
        if !path.is_dir() {
            paths.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
        let mut inside = entries.collect::<std::io::Result<Vec<_>>>()?;
        inside.retain(|path| path.extension().is_some_and(|extension| extension == "h5"));
        inside.sort();
        paths.append(&mut inside);
    }
    let mut seen = BTreeSet::new();
    let mut named = Vec::new();
    for path in paths {
        std::fs::File::open(&path).with_context(|| format!("{} cannot be opened", path.display()))?;
        let name = path.file_name().context("no file name")?.to_string_lossy().into_owned();
        if !seen.insert(name.clone()) {
            bail!("two files are called {name}: open the sets one after the other");
        }
        named.push((name, std::path::absolute(path)?));
    }
    Ok(named)
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// 128 bits that nobody can guess: the standard library seeds each `RandomState` from the system's randomness.
fn token() -> String {
    let half = || RandomState::new().hash_one(std::process::id());
    format!("{:016x}{:016x}", half(), half())
}

/// A name as one segment of an address: everything but letters, digits, `-`, `.` and `_` as %XX of its UTF-8 bytes.
/// No brace is left, which a route would read as a capture.
pub fn percent_encoded(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_travel_through_an_address_unharmed() {
        assert_eq!(percent_encoded("gold 5nm_master.h5"), "gold%205nm_master.h5");
        assert_eq!(percent_encoded("é{x}&.h5"), "%C3%A9%7Bx%7D%26.h5");
    }

    #[test]
    fn two_files_of_one_name_are_refused() {
        let file = PathBuf::from(file!()).file_name().map(|name| crate::paths::root().join("xtask/src").join(name));
        let file = file.expect("this file has a name");
        let refused = named(&[file.clone(), file]).expect_err("the second has the name of the first");
        assert!(refused.to_string().contains("serve.rs"), "{refused}");
    }
}
