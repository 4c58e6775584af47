//! The page over HTTP, for this machine only, by the server that bundles use, too.
//!
//! Files given on the command line lie under `/open/TOKEN/NAME`, read-only and with byte ranges; the token is new at
//! every start and known to the page alone, so that no other page in the browser can guess their address.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use launcher::http::{Site, percent_encoded, token};

/// A page that is being served; it stays up as long as this process lives.
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
pub fn serve(dist: &Path, files: &[PathBuf], port: u16) -> Result<Served> {
    let (mut site, mut query, token) = (Site::default(), String::new(), token());
    let mut addresses = BTreeMap::new();
    for (name, path) in named(files)? {
        let encoded = percent_encoded(&name);
        site.file(&format!("open/{token}/{name}"), &path);
        addresses.insert(name, format!("open/{token}/{encoded}"));
        query.push(if query.is_empty() { '?' } else { '&' });
        query.push_str(&format!("open=open/{token}/{}", percent_encoded(&encoded)));
    }
    site.folder("", dist);
    let page = format!("http://{}/", site.serve(port).context("no port to listen on")?);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_files_of_one_name_are_refused() {
        let file = PathBuf::from(file!()).file_name().map(|name| crate::paths::root().join("xtask/src").join(name));
        let file = file.expect("this file has a name");
        let refused = named(&[file.clone(), file]).expect_err("the second has the name of the first");
        assert!(refused.to_string().contains("serve.rs"), "{refused}");
    }
}
