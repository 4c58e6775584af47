//! Files: picked, dropped as files or folders, the demo; all of them go to the session.

use std::rc::Rc;

use js_sys::{Array, Promise};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    DataTransfer, DragEvent, File, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry, HtmlInputElement,
    KeyboardEvent,
};

use super::{Shell, input::on, recent, set, sheets};
use crate::{
    app::{Event, event::GpuSupport},
    export::session::LONGEST_BYTES,
    load::{Path, SourceKind},
    session::{demo_files, files_of},
    source::Picked,
};

/// Listens to the file inputs, and to drops anywhere.
///
/// # Errors
/// Names what is not in `index.html`.
pub fn listen(shell: &Rc<Shell>) -> Result<(), JsValue> {
    for (id, adds) in [("files", false), ("folder", false), ("more-files", true), ("session", false)] {
        let input: HtmlInputElement = shell.by_id(id)?;
        on(shell, &input.clone(), "change", move |shell, _: web_sys::Event| {
            let files = input.files().map(|files| files_of(&files)).unwrap_or_default();
            if !files.is_empty() {
                open(shell, files, adds);
            }
            // The same files can be chosen again.
            if id == "session" {
                input.set_value("");
            }
        })?;
    }
    let address: HtmlInputElement = shell.by_id("address")?;
    on(shell, &address, "keydown", |shell, event: KeyboardEvent| {
        if event.key() == "Enter" {
            open_address(shell);
        }
    })?;
    let document = shell.document();
    on(shell, &document, "dragover", |shell, event: DragEvent| {
        event.prevent_default();
        curtain(shell, event.data_transfer().map(|transfer| transfer.items().length()));
    })?;
    on(shell, &document, "dragleave", |shell, event: DragEvent| {
        if event.related_target().is_none() {
            curtain(shell, None);
        }
    })?;
    on(shell, &document, "drop", |shell, event: DragEvent| {
        event.prevent_default();
        curtain(shell, None);
        if let Some(transfer) = event.data_transfer() {
            let (entries, handles) = (entries(&transfer), recent::dropped(&transfer));
            let shell = shell.clone();
            spawn_local(async move {
                let files = files_in(entries).await;
                if !files.is_empty() {
                    open_known(&shell, files, recent::settled(handles).await);
                }
            });
        }
    })
}

/// What becomes of a load is told by its events; the promise's answer is for automation.
pub fn open(shell: &Rc<Shell>, files: Vec<Picked>, adds: bool) {
    start(shell, files, adds, Array::new());
}

/// The same for files that can be reached again by `handles`.
pub fn open_known(shell: &Rc<Shell>, files: Vec<Picked>, handles: Array) {
    start(shell, files, false, handles);
}

fn start(shell: &Rc<Shell>, files: Vec<Picked>, adds: bool, handles: Array) {
    let shell = shell.clone();
    spawn_local(async move {
        let files = take_sessions(&shell, files).await;
        if files.is_empty() {
            return;
        }
        let session = shell.session.clone();
        // A session that waits for these files says what was chosen of them.
        let waiting = shell.waiting_session().filter(|waiting| files.iter().any(|file| file.name() == waiting.set));
        let ended = match waiting {
            _ if adds => session.add(files).await,
            Some(waiting) => session.open_as(files, SourceKind::File, waiting.options()).await,
            None => session.open(files, SourceKind::File).await,
        };
        if ended.is_ok() {
            recent::remember(&shell, handles);
        }
    });
}

/// Session files among others are read at once; the others are given back.
async fn take_sessions(shell: &Rc<Shell>, files: Vec<Picked>) -> Vec<Picked> {
    let mut rest = Vec::new();
    for file in files {
        let is_session = file.name().ends_with(".json");
        match &file {
            Picked::File(picked) if is_session && picked.size() <= LONGEST_BYTES as f64 => {
                let text = JsFuture::from(picked.text()).await.ok().and_then(|text| text.as_string());
                shell.send(Event::Session { name: picked.name(), text: text.unwrap_or_default() });
            }
            _ => rest.push(file),
        }
    }
    rest
}

pub fn open_demo(shell: &Rc<Shell>) {
    open_urls(shell, demo_files(), SourceKind::Demo);
}

/// Opens files at these addresses as one set; a single one is a master whose files lie beside it.
pub fn open_urls(shell: &Rc<Shell>, urls: Vec<String>, kind: SourceKind) {
    let shell = shell.clone();
    spawn_local(async move {
        let ended = match urls.as_slice() {
            [master] => shell.session.open_url(master).await,
            urls => shell.session.open_urls(urls, kind).await,
        };
        if let Err(error) = ended
            && error.key != "cancelled"
        {
            shell.send(Event::Failed(error));
        }
    });
}

/// Opens files at these addresses, all sets of them together.
pub fn open_series(shell: &Rc<Shell>, urls: Vec<String>) {
    let shell = shell.clone();
    spawn_local(async move {
        if let Err(error) = shell.session.open_series_urls(&urls, SourceKind::Url).await
            && error.key != "cancelled"
        {
            shell.send(Event::Failed(error));
        }
    });
}

/// Opens what is typed as the address of a master, or of an only file.
pub fn open_address(shell: &Rc<Shell>) {
    let Ok(input) = shell.by_id::<HtmlInputElement>("address") else { return };
    let address = input.value().trim().to_owned();
    if !address.is_empty() {
        sheets::close_all(&shell.dom());
        open_urls(shell, vec![address], SourceKind::Url);
    }
}

/// From now on the processor decodes and adds; what is open is read again.
pub fn use_cpu(shell: &Rc<Shell>) {
    let mut computer = super::loading::computer(&shell.session);
    computer.gpu = GpuSupport::Cpu;
    shell.send(Event::Computer(computer));
    let session = shell.session.clone();
    if session.is_series() {
        session.set_path(Path::Cpu);
        return shell.send(Event::ReadAnew);
    }
    spawn_local(async move {
        // Without a set the path is only noted.
        let _ = session.take_path(Path::Cpu).await;
    });
}

/// Over the page while files are dragged over it.
fn curtain(shell: &Rc<Shell>, files: Option<u32>) {
    let document = shell.document();
    let Some(body) = document.body() else { return };
    let old = document.get_element_by_id("curtain");
    let Some(files) = files else {
        if let Some(old) = old {
            old.remove();
        }
        let _ = body.remove_attribute("data-dragging");
        return;
    };
    let curtain = old.or_else(|| {
        let curtain = document.create_element("div").ok()?;
        set(&curtain, "id", "curtain");
        set(&curtain, "class", "curtain");
        body.append_child(&curtain).ok()?;
        Some(curtain)
    });
    set(&body, "data-dragging", "");
    let words = match files {
        0 => "Drop to open".to_owned(),
        1 => "Drop to open 1 item".to_owned(),
        n => format!("Drop to open {n} items"),
    };
    if let Some(curtain) = curtain {
        curtain.set_text_content(Some(&words));
    }
}

/// What was dropped. Must be taken before the event ends.
fn entries(transfer: &DataTransfer) -> Vec<FileSystemEntry> {
    let items = transfer.items();
    let entry = |place| items.get(place)?.webkit_get_as_entry().ok().flatten();
    (0..items.length()).filter_map(entry).collect()
}

/// All files in folders to any depth.
async fn files_in(mut entries: Vec<FileSystemEntry>) -> Vec<Picked> {
    let mut files = Vec::new();
    while let Some(entry) = entries.pop() {
        if let Some(folder) = entry.dyn_ref::<FileSystemDirectoryEntry>() {
            entries.extend(entries_of(folder).await);
        } else if let Some(file) = entry.dyn_ref::<FileSystemFileEntry>()
            && let Some(file) = file_of(file).await
        {
            files.push(Picked::File(file));
        }
    }
    files
}

/// A folder tells its entries in portions; an empty one ends it.
async fn entries_of(folder: &FileSystemDirectoryEntry) -> Vec<FileSystemEntry> {
    let reader = folder.create_reader();
    let mut entries = Vec::new();
    loop {
        let portion = promise(|resolve, reject| {
            reader.read_entries_with_callback_and_callback(resolve.unchecked_ref(), reject.unchecked_ref())
        });
        let portion = portion.await.map(|portion| Array::from(&portion)).unwrap_or_default();
        if portion.length() == 0 {
            return entries;
        }
        entries.extend(portion.iter().map(JsValue::unchecked_into));
    }
}

async fn file_of(entry: &FileSystemFileEntry) -> Option<File> {
    let file = promise(|resolve, reject| {
        entry.file_with_callback_and_callback(resolve.unchecked_ref(), reject.unchecked_ref());
        Ok(())
    });
    file.await.ok()?.dyn_into().ok()
}

/// A call with two callbacks, as a promise.
async fn promise(call: impl Fn(&JsValue, &JsValue) -> Result<(), JsValue>) -> Result<JsValue, JsValue> {
    let promise = Promise::new(&mut |resolve, reject| {
        let (done, failed) = (reject.clone(), reject.clone());
        let resolve = Closure::once_into_js(move |value: JsValue| resolve.call1(&JsValue::NULL, &value).map(drop));
        let reject = Closure::once_into_js(move |value: JsValue| done.call1(&JsValue::NULL, &value).map(drop));
        if let Err(cause) = call(&resolve, &reject) {
            // A promise takes its refusal; there is nobody else to tell.
            let _ = failed.call1(&JsValue::NULL, &cause);
        }
    });
    JsFuture::from(promise).await
}
