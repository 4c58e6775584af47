//! Copying a part of a file into the browser's own storage.

use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    FileReaderSync, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetFileOptions, StorageManager,
};

use crate::{
    Error, Kind,
    source::{Access, Picked},
};

/// Copies bytes `offset .. offset + len_bytes` of `file` into the file of its name in `folder` of the copies' folder,
/// which is there already.
///
/// # Errors
/// The browser's own: no room, no such folder, a file that has changed.
pub async fn copy(file: &Picked, folder: &str, offset: u64, len_bytes: u64) -> Result<(), JsValue> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into())?;
    let storage: StorageManager = Reflect::get(&navigator, &"storage".into())?.dyn_into()?;
    let root: FileSystemDirectoryHandle = JsFuture::from(storage.get_directory()).await?.dyn_into()?;
    let copies: FileSystemDirectoryHandle = JsFuture::from(root.get_directory_handle(FOLDER)).await?.dyn_into()?;
    let folder: FileSystemDirectoryHandle = JsFuture::from(copies.get_directory_handle(folder)).await?.dyn_into()?;
    let options = FileSystemGetFileOptions::new();
    options.set_create(true);
    let made = folder.get_file_handle_with_options(&file.name(), &options);
    let made: FileSystemFileHandle = JsFuture::from(made).await?.dyn_into()?;
    let access = Access::open(&made, "readwrite").await?;
    let (mut at, end) = (offset, offset + len_bytes);
    while at < end {
        let len = PIECE_BYTES.min(end - at);
        let blob = file.slice(at, len).ok_or("only picked files can be copied")?;
        let bytes = Uint8Array::new(&FileReaderSync::new()?.read_as_array_buffer(&blob)?.into());
        if u64::from(bytes.length()) != len {
            return Err("the file ended early".into());
        }
        access.write(at, &bytes)?;
        at += len;
    }
    Ok(())
}

/// A copy that could not be written.
pub fn uncopied(name: &str, cause: &JsValue) -> Error {
    let words = cause.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    let dom = || cause.dyn_ref::<web_sys::DomException>().map(|error| error.message());
    Error::new(Kind::Io, "not_kept", "The copy cannot be written")
        .at(name)
        .found(words.or_else(dom).or_else(|| cause.as_string()).unwrap_or_else(|| "a refused write".into()))
        .action("The set opens from its files as before")
}

/// Folder of all copies.
pub const FOLDER: &str = "copies";
/// Bytes that are read and written at a time.
const PIECE_BYTES: u64 = 8 << 20;
