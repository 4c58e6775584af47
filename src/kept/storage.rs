//! The browser's side: folders of copies, and the catalogue beside them.

use js_sys::Promise;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    File, FileSystemDirectoryHandle, FileSystemFileHandle, FileSystemGetDirectoryOptions, FileSystemGetFileOptions,
    FileSystemRemoveOptions, FileSystemWritableFileStream, StorageManager, window,
};

use super::{Catalogue, Copied};
use crate::{
    Error, Kind, Result,
    reader::{FOLDER, uncopied},
    source::{Kept, Picked},
};

/// All copies of this browser.
pub struct Storage {
    folder: FileSystemDirectoryHandle,
    pub catalogue: Catalogue,
}

/// The copy of files that were picked again: its files in their order, and what each has to contain.
pub struct Recalled {
    pub folder: String,
    pub files: Vec<Picked>,
    pub probes: Vec<String>,
}

impl Storage {
    /// # Errors
    /// `no_storage` where the browser gives the page none.
    pub async fn open() -> Result<Self> {
        Self::of_browser().await.map_err(|cause| no_storage(&cause))
    }

    async fn of_browser() -> Result<Self, JsValue> {
        let window = window().ok_or("no window")?;
        // There is none on pages without a secure context, whatever its type says.
        let manager: StorageManager = js_sys::Reflect::get(&window.navigator(), &"storage".into())?.dyn_into()?;
        let root: FileSystemDirectoryHandle = promised(manager.get_directory()).await?;
        let options = FileSystemGetDirectoryOptions::new();
        options.set_create(true);
        let folder: FileSystemDirectoryHandle =
            promised(root.get_directory_handle_with_options(FOLDER, &options)).await?;
        let catalogue = read_catalogue(&folder).await.unwrap_or_default();
        Ok(Self { folder, catalogue })
    }

    /// The copy of `files`, as far as names, sizes and times say.
    pub async fn recall(&self, files: &[Picked]) -> Option<Recalled> {
        let wanted = described(files)?;
        let entry = self.catalogue.find(&wanted)?;
        let folder: FileSystemDirectoryHandle = promised(self.folder.get_directory_handle(&entry.folder)).await.ok()?;
        let (mut kept, mut probes) = (Vec::new(), Vec::new());
        for file in files {
            let Picked::File(original) = file else { return None };
            let copied = entry.files.iter().find(|copied| copied.name == file.name())?;
            let handle: FileSystemFileHandle = promised(folder.get_file_handle(&copied.name)).await.ok()?;
            kept.push(Picked::Kept(Kept::new(handle, original.clone())));
            probes.push(copied.probe.clone());
        }
        Some(Recalled { folder: entry.folder.clone(), files: kept, probes })
    }

    /// Makes a folder for a copy.
    ///
    /// # Errors
    /// `not_kept`, with the browser's words.
    pub async fn make_folder(&self, name: &str) -> Result<()> {
        let options = FileSystemGetDirectoryOptions::new();
        options.set_create(true);
        let made = JsFuture::from(self.folder.get_directory_handle_with_options(name, &options)).await;
        made.map(drop).map_err(|cause| uncopied(name, &cause))
    }

    /// The files of a folder that was just filled; they stand for `originals`.
    ///
    /// # Errors
    /// `not_kept` when one is missing or not as long as it should be.
    pub async fn check(&self, folder: &str, originals: &[Copied]) -> Result<()> {
        let handle: FileSystemDirectoryHandle =
            promised(self.folder.get_directory_handle(folder)).await.map_err(|cause| uncopied(folder, &cause))?;
        for original in originals {
            let len_bytes = async {
                let file: FileSystemFileHandle = promised(handle.get_file_handle(&original.name)).await?;
                promised::<File>(file.get_file()).await.map(|file| file.size() as u64)
            };
            let len_bytes = len_bytes.await.map_err(|cause| uncopied(&original.name, &cause))?;
            if len_bytes != original.len_bytes {
                let words = format!("{len_bytes} of {} bytes", original.len_bytes);
                return Err(uncopied(&original.name, &words.as_str().into()));
            }
        }
        Ok(())
    }

    /// Takes a copy out of the catalogue and out of the browser. Files that another page reads stay where they are,
    /// out of the catalogue, until all copies are removed.
    pub async fn remove(&mut self, folder: &str) -> Result<()> {
        self.catalogue.remove(folder);
        self.write_catalogue().await?;
        let options = FileSystemRemoveOptions::new();
        options.set_recursive(true);
        let _ = JsFuture::from(self.folder.remove_entry_with_options(folder, &options)).await;
        Ok(())
    }

    /// Removes all copies, and what was left of unfinished ones.
    ///
    /// # Errors
    /// `not_kept`, with the browser's words, when files are in use.
    pub async fn clear(&mut self) -> Result<()> {
        let cleared = async {
            self.catalogue = Catalogue::default();
            let names = self.folder.keys();
            loop {
                let next = JsFuture::from(names.next()?).await?;
                if js_sys::Reflect::get(&next, &"done".into())?.is_truthy() {
                    return Ok(());
                }
                let name = js_sys::Reflect::get(&next, &"value".into())?.as_string().unwrap_or_default();
                let options = FileSystemRemoveOptions::new();
                options.set_recursive(true);
                JsFuture::from(self.folder.remove_entry_with_options(&name, &options)).await?;
            }
        };
        cleared.await.map_err(|cause: JsValue| uncopied("the copies", &cause))
    }

    /// # Errors
    /// `not_kept`, with the browser's words.
    pub async fn write_catalogue(&self) -> Result<()> {
        let text = serde_json::to_string(&self.catalogue).unwrap_or_default();
        let written = async {
            let options = FileSystemGetFileOptions::new();
            options.set_create(true);
            let file: FileSystemFileHandle =
                promised(self.folder.get_file_handle_with_options(CATALOGUE, &options)).await?;
            let stream: FileSystemWritableFileStream = promised(file.create_writable()).await?;
            JsFuture::from(stream.write_with_str(&text)?).await?;
            JsFuture::from(stream.close()).await.map(drop)
        };
        written.await.map_err(|cause: JsValue| uncopied(CATALOGUE, &cause))
    }
}

/// Picked files as a catalogue has them, without probes; `None` where one is not a picked file.
pub fn described(files: &[Picked]) -> Option<Vec<Copied>> {
    let copied = |file: &Picked| match file {
        Picked::File(picked) => Some(Copied {
            name: file.name(),
            len_bytes: file.len_bytes(),
            modified_ms: picked.last_modified(),
            probe: String::new(),
        }),
        Picked::Url { .. } | Picked::Kept(_) => None,
    };
    files.iter().map(copied).collect()
}

async fn read_catalogue(folder: &FileSystemDirectoryHandle) -> Result<Catalogue, JsValue> {
    let file: FileSystemFileHandle = promised(folder.get_file_handle(CATALOGUE)).await?;
    let file: File = promised(file.get_file()).await?;
    let text = JsFuture::from(file.text()).await?.as_string().unwrap_or_default();
    serde_json::from_str(&text).map_err(|cause| cause.to_string().into())
}

async fn promised<T: JsCast>(promise: Promise) -> Result<T, JsValue> {
    JsFuture::from(promise).await?.dyn_into()
}

fn no_storage(cause: &JsValue) -> Error {
    let words = cause.dyn_ref::<web_sys::DomException>().map(|error| error.message());
    Error::new(Kind::Unsupported, "no_storage", "This browser keeps no copies for this page")
        .found(words.unwrap_or_else(|| "no storage of its own".to_owned()))
        .expected("a page served over https, or from this computer")
        .action("Sets open from their files as before; serve the page instead of opening it as a file")
}

const CATALOGUE: &str = "catalogue.json";
