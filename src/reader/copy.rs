//! Room for a file, and a part of it, in the browser's own storage.

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

/// Makes the file `name` in `folder` of the copies' folder, which is there already, as long as it will be. How many bytes
/// there is room for: `len_bytes`, or fewer, and then the file is empty. Estimates of the browser say something else than
/// what it refuses, so it is asked for the room itself. There may be more than is found: Chrome gives it to an open file
/// in powers of two, above 128 MiB in steps of that.
///
/// # Errors
/// The browser's own: no such folder, a file in use.
pub async fn reserve(folder: &str, name: &str, len_bytes: u64) -> Result<u64, JsValue> {
    let access = open(folder, name).await?;
    let fits = |bytes: u64| match access.resize(bytes) {
        Ok(()) => Ok(true),
        Err(cause) if is_quota(&cause) => Ok(false),
        Err(cause) => Err(cause),
    };
    if fits(len_bytes)? {
        return Ok(len_bytes);
    }
    let (mut room, mut too_much) = (0, len_bytes);
    while too_much - room > (len_bytes / 256).max(FINE_BYTES) {
        let middle = room + (too_much - room) / 2;
        *if fits(middle)? { &mut room } else { &mut too_much } = middle;
    }
    access.resize(0)?;
    Ok(room)
}

/// Copies bytes `offset .. offset + len_bytes` of `file` into the file of its name in `folder` of the copies' folder.
///
/// # Errors
/// The browser's own: no room, no such folder, a file that has changed.
pub async fn copy(file: &Picked, folder: &str, offset: u64, len_bytes: u64) -> Result<(), JsValue> {
    let access = open(folder, &file.name()).await?;
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

/// Opens a file of a copy for writing; makes it where it is not there.
async fn open(folder: &str, name: &str) -> Result<Access, JsValue> {
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into())?;
    let storage: StorageManager = Reflect::get(&navigator, &"storage".into())?.dyn_into()?;
    let root: FileSystemDirectoryHandle = JsFuture::from(storage.get_directory()).await?.dyn_into()?;
    let copies: FileSystemDirectoryHandle = JsFuture::from(root.get_directory_handle(FOLDER)).await?.dyn_into()?;
    let folder: FileSystemDirectoryHandle = JsFuture::from(copies.get_directory_handle(folder)).await?.dyn_into()?;
    let options = FileSystemGetFileOptions::new();
    options.set_create(true);
    let made = folder.get_file_handle_with_options(name, &options);
    let made: FileSystemFileHandle = JsFuture::from(made).await?.dyn_into()?;
    Access::open(&made, "readwrite").await
}

/// A copy that could not be written.
pub fn uncopied(name: &str, cause: &JsValue) -> Error {
    let words = cause.dyn_ref::<js_sys::Error>().map(|error| String::from(error.message()));
    let dom = || cause.dyn_ref::<web_sys::DomException>().map(|error| error.message());
    let key = if is_quota(cause) { "no_room" } else { "not_kept" };
    Error::new(Kind::Io, key, "The copy cannot be written")
        .at(name)
        .found(words.or_else(dom).or_else(|| cause.as_string()).unwrap_or_else(|| "a refused write".into()))
        .action("The set opens from its files as before")
}

/// Whether the browser stores no more for this page.
fn is_quota(cause: &JsValue) -> bool {
    cause.dyn_ref::<web_sys::DomException>().is_some_and(|error| error.name() == "QuotaExceededError")
}

/// Folder of all copies.
pub const FOLDER: &str = "copies";
/// How finely room is measured, at most.
const FINE_BYTES: u64 = 16 << 10;
/// Bytes that are read and written at a time.
const PIECE_BYTES: u64 = 8 << 20;
