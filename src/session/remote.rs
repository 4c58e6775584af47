//! Files behind addresses: their sizes, and which files belong to a master.

use std::rc::Rc;

use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{RequestInit, Response, Url, window};

use super::Session;
use crate::{Error, Kind, Result, source::Picked};

/// Addresses of the demo set, relative to the page.
pub fn demo_files() -> Vec<String> {
    ["demo_master.h5", "demo_data_000001.h5", "demo.h5"].map(|name| format!("demo/{name}")).to_vec()
}

/// The files at `urls`.
///
/// # Errors
/// `Io` for an address that does not answer.
pub async fn all(urls: &[String]) -> Result<Vec<Picked>> {
    let mut files = Vec::new();
    for url in urls {
        files.push(head(url).await?);
    }
    Ok(files)
}

/// A master, the files that it links to, and its sidecar, as far as they answer.
///
/// # Errors
/// As [`all`] for the master itself, or when it cannot be read.
pub async fn set_of(session: &Rc<Session>, master: &str) -> Result<Vec<Picked>> {
    let master = head(master).await?;
    let Picked::Url { url, name, .. } = &master else { return Ok(vec![master]) };
    session.next_hand();
    let mut wanted = session.loader().linked_files(&master).await?;
    if let Some(stem) = name.strip_suffix("_master.h5") {
        wanted.push(format!("{stem}.h5"));
    }
    let mut files = vec![master.clone()];
    for name in wanted {
        // A file that does not answer is missing, and is told as such.
        if let Ok(beside) = Url::new_with_base(&name, url)
            && let Ok(file) = head(&beside.href()).await
        {
            files.push(file);
        }
    }
    Ok(files)
}

/// Asks for a file's size.
async fn head(url: &str) -> Result<Picked> {
    let base = window().and_then(|window| window.location().href().ok()).unwrap_or_default();
    let absolute = Url::new_with_base(url, &base).map_err(|_| unreachable(url, "no address"))?;
    let len_bytes = size(&absolute.href())
        .await
        .map_err(|cause| unreachable(url, &cause.as_string().unwrap_or_else(|| "no answer".into())))?;
    let path = absolute.pathname();
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = js_sys::decode_uri_component(name).map_or_else(|_| name.to_owned(), String::from);
    Ok(Picked::Url { url: absolute.href(), name, len_bytes })
}

async fn size(url: &str) -> Result<u64, JsValue> {
    let window = window().ok_or("no window")?;
    let init = RequestInit::new();
    init.set_method("HEAD");
    let response: Response = JsFuture::from(window.fetch_with_str_and_init(url, &init)).await?.dyn_into()?;
    if !response.ok() {
        return Err(format!("HTTP status {}", response.status()).into());
    }
    let length = response.headers().get("Content-Length")?.and_then(|length| length.parse().ok());
    length.ok_or_else(|| "no Content-Length".into())
}

fn unreachable(url: &str, found: &str) -> Error {
    Error::new(Kind::Io, "unreachable", "The file cannot be fetched")
        .at(url)
        .expected("an address that answers HEAD and Range requests")
        .found(found)
}
