//! A bundle: several sets in a folder with the page, which its launcher serves with a table of contents.

use js_sys::Uint8Array;
use serde::{Deserialize, de::DeserializeOwned};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamByobReader, ReadableStreamReadResult, Response, window};

use crate::{Error, Kind, Result};

/// The sets of a bundle, in order.
#[derive(Clone, Debug, Deserialize)]
pub struct Bundle {
    pub sets: Vec<BundleSet>,
    /// Its address, relative to the page, with a slash at the end.
    #[serde(skip)]
    base: String,
}

/// One acquisition of a bundle.
#[derive(Clone, Debug, Deserialize)]
pub struct BundleSet {
    pub name: String,
    /// Names, the master first.
    pub files: Vec<String>,
}

/// What the launcher knows of the bundle's files so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct BundleNews {
    pub files: u32,
    pub checked: u32,
    pub faults: Vec<BundleFault>,
}

/// A file that is not as it was when the bundle was made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct BundleFault {
    /// In the bundle: `data/NAME`.
    pub path: String,
    /// In words, to stand behind the path.
    pub words: String,
}

impl Bundle {
    /// The bundle at `base`.
    ///
    /// # Errors
    /// `no_bundle` when its manifest does not come, or is none.
    pub async fn read(base: &str) -> Result<Self> {
        let text = async {
            let text = JsFuture::from(fetched(&format!("{base}manifest.json")).await?.text()?).await?;
            text.as_string().ok_or(JsValue::from_str("no text"))
        };
        let text = text.await.map_err(|cause| no_bundle(&words(&cause)))?;
        let bundle: Self = parsed(&text)?;
        Ok(Self { base: base.to_owned(), ..bundle })
    }

    /// Addresses of a set's files, relative to the page.
    pub fn urls(&self, set: &BundleSet) -> Vec<String> {
        let encoded = |name: &String| String::from(js_sys::encode_uri_component(name));
        set.files.iter().map(|name| format!("{}data/{}", self.base, encoded(name))).collect()
    }

    /// Tells every news of the launcher, until it ends. It ends itself when nobody listens.
    ///
    /// # Errors
    /// `no_bundle` when the launcher is gone.
    pub async fn watch(&self, tell: impl Fn(BundleNews)) -> Result<()> {
        let gone = |cause: JsValue| no_bundle(&words(&cause));
        let body = fetched(&format!("{}watch", self.base)).await.map_err(gone)?.body();
        let body = body.ok_or_else(|| no_bundle("an empty answer"))?;
        let reader = ReadableStreamByobReader::new(&body).map_err(gone)?;
        let mut text = Vec::new();
        loop {
            let view = Uint8Array::new_with_length(PIECE);
            let read = JsFuture::from(reader.read_with_array_buffer_view(&view)).await.map_err(gone)?;
            let read: ReadableStreamReadResult = read.unchecked_into();
            if let Ok(piece) = read.get_value().dyn_into::<Uint8Array>() {
                text.extend(piece.to_vec());
            }
            while let Some(end) = text.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                if !line.trim().is_empty() {
                    tell(parsed(&line)?);
                }
            }
            if read.get_done() == Some(true) {
                return Err(no_bundle("the launcher has ended"));
            }
        }
    }
}

impl BundleNews {
    /// What is wrong with the files of `set`.
    pub fn faults_of<'a>(&'a self, set: &'a BundleSet) -> impl Iterator<Item = &'a BundleFault> {
        let is_of = |path: &str| path.strip_prefix("data/").is_some_and(|name| set.files.iter().any(|of| of == name));
        self.faults.iter().filter(move |fault| is_of(&fault.path))
    }
}

async fn fetched(address: &str) -> Result<Response, JsValue> {
    let window = window().ok_or("no window")?;
    let response: Response = JsFuture::from(window.fetch_with_str(address)).await?.dyn_into()?;
    if response.ok() { Ok(response) } else { Err(format!("HTTP status {}", response.status()).into()) }
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|cause| no_bundle(&cause.to_string()))
}

fn words(cause: &JsValue) -> String {
    let message = cause.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    message.or_else(|| cause.as_string()).unwrap_or_else(|| "no answer".to_owned())
}

fn no_bundle(found: &str) -> Error {
    Error::new(Kind::Io, "no_bundle", "The bundle does not answer")
        .expected("the launcher that opened this page")
        .found(found)
        .action("Close this window and open the bundle again")
}

/// Bytes that are read at a time.
const PIECE: u32 = 4096;
