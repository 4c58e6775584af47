//! A file of a copy, in the browser's own storage: synchronous reads, into buffers that are there already.

use std::rc::Rc;

use js_sys::{Array, Function, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{File, FileSystemFileHandle, FileSystemReadWriteOptions, FileSystemSyncAccessHandle};

use super::Picked;

/// A file of a copy.
#[derive(Clone, Debug)]
pub struct Kept {
    pub name: String,
    pub len_bytes: u64,
    pub handle: FileSystemFileHandle,
    /// The file that it was made of, as picked now.
    pub original: File,
    /// Open for reading; in workers only.
    access: Option<Rc<Access>>,
}

/// An open file; closed when dropped.
#[derive(Debug)]
pub struct Access(FileSystemSyncAccessHandle);

impl Kept {
    pub fn new(handle: FileSystemFileHandle, original: File) -> Self {
        // Sizes of files are integers below 2^53.
        Self { name: original.name(), len_bytes: original.size() as u64, handle, original, access: None }
    }

    /// For `postMessage`: `[handle, original]`.
    pub fn to_js(&self) -> JsValue {
        [JsValue::from(&self.handle), JsValue::from(&self.original)].iter().collect::<Array>().into()
    }

    pub fn from_js(parts: &Array) -> Option<Self> {
        Some(Self::new(parts.get(0).dyn_into().ok()?, parts.get(1).dyn_into().ok()?))
    }

    /// The file, open for reading, in a worker. Where the browser opens a file for one reader at a time, the same bytes
    /// as an ordinary file.
    ///
    /// # Errors
    /// When the copy is gone.
    pub async fn opened(self) -> Result<Picked, JsValue> {
        match Access::open(&self.handle, "read-only").await {
            Ok(access) => Ok(Picked::Kept(Self { access: Some(Rc::new(access)), ..self })),
            Err(_) => JsFuture::from(self.handle.get_file()).await?.dyn_into().map(Picked::File),
        }
    }

    /// # Errors
    /// As [`Access::read`]; before it was opened.
    pub fn access(&self) -> Result<&Access, JsValue> {
        self.access.as_deref().ok_or_else(|| JsValue::from_str("the copy is not open"))
    }
}

impl Access {
    /// Opens a file in a `mode` of the File System standard (web-sys knows none).
    ///
    /// # Errors
    /// The browser's own, also when the file is in use.
    pub async fn open(handle: &FileSystemFileHandle, mode: &str) -> Result<Self, JsValue> {
        let options = js_sys::Object::new();
        Reflect::set(&options, &"mode".into(), &mode.into())?;
        let open: Function = Reflect::get(handle, &"createSyncAccessHandle".into())?.dyn_into()?;
        let opening: Promise = open.call1(handle, &options)?.dyn_into()?;
        Ok(Self(JsFuture::from(opening).await?.dyn_into()?))
    }

    /// Fills `view` from byte `offset` on.
    ///
    /// # Errors
    /// The browser's own, or when the file ends before.
    pub fn read(&self, offset: u64, view: &Uint8Array) -> Result<(), JsValue> {
        let read = self.0.read_with_js_u8_array_and_options(view, &at(offset))?;
        if read < f64::from(view.length()) { Err("the file ended early".into()) } else { Ok(()) }
    }

    /// The same into memory of ours.
    ///
    /// # Errors
    /// As [`Access::read`].
    pub fn read_into(&self, offset: u64, buffer: &mut [u8]) -> Result<(), JsValue> {
        let wanted = buffer.len() as f64;
        let read = self.0.read_with_u8_array_and_options(buffer, &at(offset))?;
        if read < wanted { Err("the file ended early".into()) } else { Ok(()) }
    }

    /// Makes the file `len_bytes` long, which takes the room for them.
    ///
    /// # Errors
    /// The browser's own, also when there is no room.
    pub fn resize(&self, len_bytes: u64) -> Result<(), JsValue> {
        self.0.truncate_with_f64(len_bytes as f64)
    }

    /// Writes `bytes` at `offset`, and sees to it that they are stored.
    ///
    /// # Errors
    /// The browser's own, also when there is no room.
    pub fn write(&self, offset: u64, bytes: &Uint8Array) -> Result<(), JsValue> {
        let written = self.0.write_with_js_u8_array_and_options(bytes, &at(offset))?;
        if written < f64::from(bytes.length()) {
            return Err("the browser has no room left".into());
        }
        self.0.flush()
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn at(offset: u64) -> FileSystemReadWriteOptions {
    let options = FileSystemReadWriteOptions::new();
    options.set_at(offset as f64);
    options
}
