//! A byte stream of a file.

use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    DedicatedWorkerGlobalScope, Headers, ReadableStream, ReadableStreamByobReader, ReadableStreamReadResult,
    RequestInit, Response,
};

use crate::{
    Result,
    source::{Kept, Picked, range_header, unreadable},
};

/// A byte stream that fills buffers it is given, so that nothing is allocated per piece.
pub enum Stream {
    /// BYOB.
    File(ReadableStreamByobReader),
    /// A file of a copy, and the next byte.
    Kept(Kept, u64),
}

impl Stream {
    pub async fn open(file: &Picked, offset: u64, len_bytes: u64) -> Result<Self> {
        let name = file.name();
        let stream = match file {
            Picked::File(_) => file.slice(offset, len_bytes).map(|blob| blob.stream()),
            Picked::Kept(kept) => return Ok(Self::Kept(kept.clone(), offset)),
            Picked::Url { url, .. } => {
                fetch(url, offset, len_bytes).await.map_err(|cause| unreadable(&name, &cause))?
            }
        };
        let stream = stream.ok_or_else(|| unreadable(&name, &"no byte stream".into()))?;
        let reader = ReadableStreamByobReader::new(&stream).map_err(|cause| unreadable(&name, &cause))?;
        Ok(Self::File(reader))
    }

    /// Fills the first `len` bytes of `buffer`; the buffer that comes back is the same memory.
    pub async fn fill(&mut self, mut buffer: ArrayBuffer, len: u32) -> Result<ArrayBuffer, JsValue> {
        let reader = match self {
            Self::File(reader) => reader,
            Self::Kept(kept, offset) => {
                kept.access()?.read(*offset, &Uint8Array::new_with_byte_offset_and_length(&buffer, 0, len))?;
                *offset += u64::from(len);
                return Ok(buffer);
            }
        };
        let mut filled = 0;
        while filled < len {
            let view = Uint8Array::new_with_byte_offset_and_length(&buffer, filled, len - filled);
            let read = JsFuture::from(reader.read_with_array_buffer_view(&view)).await?;
            let read: ReadableStreamReadResult = read.unchecked_into();
            let view: Uint8Array =
                read.get_value().dyn_into().map_err(|_| JsValue::from_str("the file ended early"))?;
            filled += view.length();
            buffer = view.buffer().unchecked_into();
            if read.get_done() == Some(true) && filled < len {
                return Err("the file ended early".into());
            }
        }
        Ok(buffer)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let Self::File(reader) = self else { return };
        // A stream that was read to its end, or that failed, is closed already.
        let cancelled = reader.cancel();
        wasm_bindgen_futures::spawn_local(async move { drop(JsFuture::from(cancelled).await) });
    }
}

/// The body of a Range request.
async fn fetch(url: &str, offset: u64, len_bytes: u64) -> Result<Option<ReadableStream>, JsValue> {
    let headers = Headers::new()?;
    headers.append("Range", &range_header(offset, len_bytes))?;
    let init = RequestInit::new();
    init.set_headers(&headers);
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let response: Response = JsFuture::from(scope.fetch_with_str_and_init(url, &init)).await?.dyn_into()?;
    match response.status() {
        206 => Ok(response.body()),
        status => Err(format!("HTTP status {status} to a Range request").into()),
    }
}
