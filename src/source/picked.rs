//! Files in the browser: picked ones (`File`) and ones behind a URL that answers Range requests.
//!
//! Synchronous reads (`FileReaderSync`, synchronous `XMLHttpRequest`) are allowed in workers only.

use std::{cell::OnceCell, ops::Range};

use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, File, FileReaderSync, XmlHttpRequest, XmlHttpRequestResponseType};

use super::{ByteSource, Kept, past_the_end, read_range};
use crate::{Error, Kind, Result};

/// A file as it can be handed to a worker.
#[derive(Clone, Debug)]
pub enum Picked {
    File(File),
    Url { url: String, name: String, len_bytes: u64 },
    Kept(Kept),
}

impl Picked {
    /// Base name, without folders.
    pub fn name(&self) -> String {
        match self {
            Self::File(file) => file.name(),
            Self::Url { name, .. } => name.clone(),
            Self::Kept(kept) => kept.name.clone(),
        }
    }

    pub fn len_bytes(&self) -> u64 {
        match self {
            // Sizes of files are integers below 2^53.
            Self::File(file) => file.size() as u64,
            Self::Url { len_bytes, .. } => *len_bytes,
            Self::Kept(kept) => kept.len_bytes,
        }
    }

    /// What a file of a copy was made of; any other file itself.
    pub fn original(&self) -> Self {
        match self {
            Self::Kept(kept) => Self::File(kept.original.clone()),
            other => other.clone(),
        }
    }

    /// For `postMessage`: a `File` is cloned by reference, a URL is `[url, name, len_bytes]`, a file of a copy as
    /// [`Kept::to_js`] has it.
    pub fn to_js(&self) -> JsValue {
        match self {
            Self::File(file) => file.into(),
            Self::Url { url, name, len_bytes } => {
                let parts: [JsValue; 3] = [url.into(), name.into(), (*len_bytes as f64).into()];
                parts.iter().collect::<js_sys::Array>().into()
            }
            Self::Kept(kept) => kept.to_js(),
        }
    }

    pub fn from_js(value: &JsValue) -> Option<Self> {
        if let Some(file) = value.dyn_ref::<File>() {
            return Some(Self::File(file.clone()));
        }
        let parts = value.dyn_ref::<js_sys::Array>()?;
        if let Some(kept) = Kept::from_js(parts) {
            return Some(Self::Kept(kept));
        }
        let (url, name) = (parts.get(0).as_string()?, parts.get(1).as_string()?);
        Some(Self::Url { url, name, len_bytes: parts.get(2).as_f64()? as u64 })
    }

    /// Bytes `offset .. offset + len_bytes` of a picked file, unread.
    pub fn slice(&self, offset: u64, len_bytes: u64) -> Option<Blob> {
        match self {
            Self::File(file) => file.slice_with_f64_and_f64(offset as f64, (offset + len_bytes) as f64).ok(),
            Self::Url { .. } | Self::Kept(_) => None,
        }
    }
}

/// `Range` header of a byte range.
pub fn range_header(offset: u64, len_bytes: u64) -> String {
    format!("bytes={offset}-{}", offset + len_bytes.saturating_sub(1))
}

/// The browser's own words for a failed read.
pub fn unreadable(name: &str, cause: &JsValue) -> Error {
    let words = cause.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    Error::new(Kind::Io, "unreadable", "The file cannot be read")
        .at(name)
        .found(words.or_else(|| cause.as_string()).unwrap_or_else(|| "a refused read".into()))
        .action("Pick the file again; it may have changed or moved since it was picked")
}

/// A [`Picked`] file, read synchronously in a worker.
pub struct PickedSource {
    picked: Picked,
    name: String,
    len_bytes: u64,
    /// The first bytes, where most of the structure lies; of a small file all.
    head: OnceCell<Vec<u8>>,
}

/// Bytes of a head: a read costs more than so many bytes do.
const HEAD_BYTES: u64 = 1 << 18;

impl PickedSource {
    pub fn new(picked: Picked) -> Self {
        let (name, len_bytes) = (picked.name(), picked.len_bytes());
        Self { picked, name, len_bytes, head: OnceCell::new() }
    }

    /// Slices of a picked file become one blob, which one read answers: each read costs a round trip through the
    /// browser, whatever its length.
    fn joined(&self, file: &File, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        let slices = js_sys::Array::new();
        let mut len_bytes = 0;
        for range in ranges {
            let len = range.end.saturating_sub(range.start);
            if range.end > self.len_bytes {
                return Err(past_the_end(&self.name, range.start, len as usize, self.len_bytes));
            }
            let slice = file.slice_with_f64_and_f64(range.start as f64, (range.start + len) as f64);
            slices.push(&slice.map_err(|cause| unreadable(&self.name, &cause))?.into());
            len_bytes += len;
        }
        let bytes = Blob::new_with_blob_sequence(&slices)
            .and_then(|blob| FileReaderSync::new()?.read_as_array_buffer(&blob))
            .map_err(|cause| unreadable(&self.name, &cause))?;
        let bytes = Uint8Array::new(&bytes);
        if u64::from(bytes.length()) != len_bytes {
            return Err(unreadable(&self.name, &format!("{} bytes for {len_bytes}", bytes.length()).into()));
        }
        let mut at = 0;
        let pieces = ranges.iter().map(|range| {
            // The sum of all lengths is that of a buffer, which has 32 bits.
            let start = at;
            at += range.end.saturating_sub(range.start) as u32;
            bytes.subarray(start, at).to_vec()
        });
        Ok(pieces.collect())
    }

    pub fn picked(&self) -> &Picked {
        &self.picked
    }

    /// The first bytes, read when they are first asked for.
    fn head(&self) -> Result<&[u8]> {
        if let Some(head) = self.head.get() {
            return Ok(head);
        }
        let mut head = vec![0; HEAD_BYTES.min(self.len_bytes) as usize];
        self.read(0, &mut head)?;
        Ok(self.head.get_or_init(|| head))
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        if let Picked::Kept(kept) = &self.picked {
            let read = kept.access().and_then(|access| access.read_into(offset, buffer));
            return read.map_err(|cause| unreadable(&self.name, &cause));
        }
        let len_bytes = buffer.len() as u64;
        let bytes = self.bytes(offset, len_bytes).map_err(|cause| unreadable(&self.name, &cause))?;
        let bytes = Uint8Array::new(&bytes);
        if u64::from(bytes.length()) != len_bytes {
            return Err(unreadable(&self.name, &format!("{} bytes for {len_bytes}", bytes.length()).into()));
        }
        bytes.copy_to(buffer);
        Ok(())
    }

    fn bytes(&self, offset: u64, len_bytes: u64) -> Result<ArrayBuffer, JsValue> {
        match &self.picked {
            Picked::File(file) => {
                let blob = file.slice_with_f64_and_f64(offset as f64, (offset + len_bytes) as f64)?;
                FileReaderSync::new()?.read_as_array_buffer(&blob)
            }
            Picked::Kept(kept) => {
                let bytes = Uint8Array::new_with_length(len_bytes as u32);
                kept.access()?.read(offset, &bytes)?;
                Ok(bytes.buffer().unchecked_into())
            }
            Picked::Url { url, .. } => {
                let request = XmlHttpRequest::new()?;
                request.open_with_async("GET", url, false)?;
                request.set_request_header("Range", &range_header(offset, len_bytes))?;
                request.set_response_type(XmlHttpRequestResponseType::Arraybuffer);
                request.send()?;
                if request.status()? != 206 {
                    return Err(format!("HTTP status {} to a Range request", request.status()?).into());
                }
                request.response()?.dyn_into()
            }
        }
    }
}

impl ByteSource for PickedSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let len_bytes = buffer.len() as u64;
        if offset.checked_add(len_bytes).is_none_or(|end| end > self.len_bytes) {
            return Err(past_the_end(&self.name, offset, buffer.len(), self.len_bytes));
        }
        if buffer.is_empty() {
            return Ok(());
        }
        if matches!(self.picked, Picked::Kept(_)) {
            return self.read(offset, buffer);
        }
        if offset + len_bytes <= HEAD_BYTES.min(self.len_bytes) {
            let start = offset as usize;
            buffer.copy_from_slice(&self.head()?[start..start + buffer.len()]);
            return Ok(());
        }
        self.read(offset, buffer)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        match (&self.picked, ranges) {
            (Picked::File(file), [_, _, ..]) => self.joined(file, ranges),
            _ => ranges.iter().map(|range| read_range(self, range)).collect(),
        }
    }
}
