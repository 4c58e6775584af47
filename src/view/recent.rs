//! Sets that were open before: what the browser gave to reach their files, kept in this browser, so that a click opens
//! them again. Nothing of the patterns is kept but a small picture.
//!
//! Handles of files and folders: <https://wicg.github.io/file-system-access/>. Browsers without them open files through
//! the ordinary inputs and remember nothing.

use std::{cell::RefCell, rc::Rc};

use js_sys::{Array, Date, Function, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    DataTransfer, File, FileSystemHandle, FileSystemHandleKind, HtmlCanvasElement, HtmlInputElement, IdbDatabase,
    IdbObjectStore, IdbOpenDbRequest, IdbRequest, IdbTransactionMode,
};

use super::{Shell, dom::escaped, files, panel::context_of};
use crate::{
    Error, Kind as ErrorKind,
    app::Event,
    display::{bytes, count},
    source::Picked,
};

/// What is listed, the newest first.
#[derive(Default)]
pub struct Recent(RefCell<Vec<Entry>>);

/// A set that was open.
#[derive(Clone)]
struct Entry {
    name: String,
    files: f64,
    bytes: f64,
    /// When it was opened, ms since 1970.
    at_ms: f64,
    /// Its picture as a data address; may be empty.
    picture: String,
    handles: Array,
}

/// What is picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Files,
    Folder,
}

/// So many sets are remembered.
const MOST: usize = 6;
/// Side of a picture, px.
const SIDE: u32 = 96;
/// The first picture is drawn by then.
const PICTURE_MS: u32 = 1500;

/// Lets the user pick files or a folder: so that they can be opened again where the browser can do that.
pub fn pick(shell: &Rc<Shell>, kind: Kind) {
    let (method, input) = match kind {
        Kind::Files => ("showOpenFilePicker", "files"),
        Kind::Folder => ("showDirectoryPicker", "folder"),
    };
    let window: JsValue = shell.dom().window.clone().into();
    let can = Reflect::get(&window, &method.into()).is_ok_and(|function| function.is_function());
    if !can {
        return click(shell, input);
    }
    let options = Object::new();
    // A plain object takes any property.
    let _ = Reflect::set(&options, &"multiple".into(), &JsValue::TRUE);
    let shell = shell.clone();
    spawn_local(async move {
        match call(&window, method, &[options.into()]).await {
            Ok(picked) if kind == Kind::Files => open_handles(&shell, picked.unchecked_into()).await,
            Ok(picked) => open_handles(&shell, Array::of1(&picked)).await,
            // The user picked nothing.
            Err(cause) if name_of(&cause) == "AbortError" => {}
            Err(_) => click(&shell, input),
        }
    });
}

fn click(shell: &Shell, id: &str) {
    if let Ok(input) = shell.by_id::<HtmlInputElement>(id) {
        input.click();
    }
}

/// What reaches the dropped files later. Must be asked before the event ends.
pub fn dropped(transfer: &DataTransfer) -> Vec<Promise> {
    let items = transfer.items();
    let handle = |place| {
        let item: JsValue = items.get(place)?.into();
        let method: Function = Reflect::get(&item, &"getAsFileSystemHandle".into()).ok()?.dyn_into().ok()?;
        method.call0(&item).ok()?.dyn_into().ok()
    };
    (0..items.length()).filter_map(handle).collect()
}

/// The handles that were given; empty where one is missing.
pub async fn settled(promises: Vec<Promise>) -> Array {
    let handles = Array::new();
    for promise in promises {
        match JsFuture::from(promise).await {
            Ok(handle) if handle.is_object() => handles.push(&handle),
            _ => return Array::new(),
        };
    }
    handles
}

async fn open_handles(shell: &Rc<Shell>, handles: Array) {
    match files_of(&handles).await {
        Ok(found) => files::open_known(shell, found, handles),
        Err(cause) => shell.send(Event::Failed(gone(&cause))),
    }
}

/// Opens entry `place` of the list.
pub fn open(shell: &Rc<Shell>, place: u32) {
    let Some(entry) = shell.recent.0.borrow().get(place as usize).cloned() else { return };
    let shell = shell.clone();
    spawn_local(async move {
        match allowed(&entry.handles).await {
            Ok(true) => open_handles(&shell, entry.handles).await,
            Ok(false) => shell.send(Event::Failed(
                Error::new(ErrorKind::Io, "not_allowed", "The browser may not read these files")
                    .at(&entry.name)
                    .expected("your leave to read them again")
                    .action("Click the set again and allow it, or pick the files"),
            )),
            Err(cause) => shell.send(Event::Failed(gone(&cause))),
        }
    });
}

fn gone(cause: &JsValue) -> Error {
    Error::new(ErrorKind::Io, "moved", "The files are not where they were")
        .expected("the files or the folder of that time")
        .found(words_of(cause))
        .action("Pick them again")
}

/// Whether all may be read; asks the user where that is not so.
async fn allowed(handles: &Array) -> Result<bool, JsValue> {
    for handle in handles.iter() {
        let granted = |state: JsValue| state.as_string().as_deref() == Some("granted");
        // A browser without the question allows what it kept.
        if !Reflect::has(&handle, &"queryPermission".into())? {
            continue;
        }
        if !granted(call(&handle, "queryPermission", &[]).await?)
            && !granted(call(&handle, "requestPermission", &[]).await?)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// All files, those of folders to any depth.
async fn files_of(handles: &Array) -> Result<Vec<Picked>, JsValue> {
    let mut rest: Vec<JsValue> = handles.iter().collect();
    let mut found = Vec::new();
    while let Some(handle) = rest.pop() {
        if handle.unchecked_ref::<FileSystemHandle>().kind() == FileSystemHandleKind::File {
            let file: File = call(&handle, "getFile", &[]).await?.dyn_into()?;
            found.push(Picked::File(file));
            continue;
        }
        let entries = Reflect::get(&handle, &"values".into())?.dyn_into::<Function>()?.call0(&handle)?;
        loop {
            let step = call(&entries, "next", &[]).await?;
            if Reflect::get(&step, &"done".into())?.is_truthy() {
                break;
            }
            rest.push(Reflect::get(&step, &"value".into())?);
        }
    }
    Ok(found)
}

// ---- the list ----

/// Remembers the open set by its handles, with its picture.
pub fn remember(shell: &Rc<Shell>, handles: Array) {
    if handles.length() == 0 {
        return;
    }
    let shell = shell.clone();
    spawn_local(async move {
        gloo_timers::future::TimeoutFuture::new(PICTURE_MS).await;
        let Some(set) = shell.session.active().map(|active| active.set) else { return };
        let bytes = set.files.iter().map(|file| file.len_bytes as f64).sum();
        let picture = picture(&shell).unwrap_or_default();
        let (name, files) = (set.name.clone(), set.files.len() as f64);
        let entry = Entry { name, files, bytes, at_ms: Date::now(), picture, handles };
        // A browser that keeps nothing opens files all the same.
        if keep(&entry).await.is_ok() {
            show(&shell);
        }
    });
}

/// Reads the list and shows it.
pub fn show(shell: &Rc<Shell>) {
    let shell = shell.clone();
    spawn_local(async move {
        // Without a list there is nothing to show.
        let entries = kept().await.unwrap_or_default();
        let dom = shell.dom();
        let html: String = entries.iter().enumerate().map(|(place, entry)| print(place, entry)).collect();
        dom.html("recent", &html);
        dom.show("recent-card", !entries.is_empty());
        *shell.recent.0.borrow_mut() = entries;
    });
}

/// Empties the list; the files stay where they are.
pub fn forget(shell: &Rc<Shell>) {
    let shell = shell.clone();
    spawn_local(async move {
        if let Ok(store) = store(IdbTransactionMode::Readwrite).await
            && let Ok(request) = store.clear()
        {
            // The list that is then read tells what became of it.
            let _ = answer(&request).await;
        }
        show(&shell);
    });
}

/// A contact print.
fn print(place: usize, entry: &Entry) -> String {
    let files = if entry.files == 1.0 { "1 file".into() } else { format!("{} files", count(entry.files as u64)) };
    let day = Date::new(&entry.at_ms.into()).to_locale_date_string("default", &JsValue::UNDEFINED);
    let picture = match entry.picture.starts_with("data:image/png;base64,") {
        true => format!("<img src=\"{}\" alt=\"\" width=\"48\" height=\"48\">", escaped(&entry.picture)),
        false => "<i></i>".into(),
    };
    format!(
        "<button type=\"button\" data-do=\"recent {place}\">{picture}<span><b>{}</b><small>{files}, {}, {}</small></span></button>",
        escaped(&entry.name),
        bytes(entry.bytes as u64),
        escaped(&String::from(day)),
    )
}

fn picture(shell: &Shell) -> Result<String, JsValue> {
    let dom = shell.dom();
    let source: HtmlCanvasElement = dom.by_id("canvas-image")?;
    let small: HtmlCanvasElement = dom.document.create_element("canvas")?.dyn_into()?;
    small.set_width(SIDE);
    small.set_height(SIDE);
    let side = f64::from(SIDE);
    context_of(&small)?.draw_image_with_html_canvas_element_and_dw_and_dh(&source, 0.0, 0.0, side, side)?;
    small.to_data_url()
}

// ---- where it is kept ----

const STORE: &str = "recent";

async fn keep(entry: &Entry) -> Result<(), JsValue> {
    let record = Object::new();
    for (key, value) in [
        ("name", JsValue::from(entry.name.as_str())),
        ("files", entry.files.into()),
        ("bytes", entry.bytes.into()),
        ("at", entry.at_ms.into()),
        ("picture", entry.picture.as_str().into()),
        ("handles", entry.handles.clone().into()),
    ] {
        Reflect::set(&record, &key.into(), &value)?;
    }
    let store = store(IdbTransactionMode::Readwrite).await?;
    answer(&store.put_with_key(&record, &entry.name.as_str().into())?).await?;
    for old in kept().await?.iter().skip(MOST) {
        answer(&self::store(IdbTransactionMode::Readwrite).await?.delete(&old.name.as_str().into())?).await?;
    }
    Ok(())
}

async fn kept() -> Result<Vec<Entry>, JsValue> {
    let all: Array = answer(&store(IdbTransactionMode::Readonly).await?.get_all()?).await?.dyn_into()?;
    let entry = |record: JsValue| {
        let get = |key: &str| Reflect::get(&record, &key.into()).ok();
        Some(Entry {
            name: get("name")?.as_string()?,
            files: get("files")?.as_f64()?,
            bytes: get("bytes")?.as_f64()?,
            at_ms: get("at")?.as_f64()?,
            picture: get("picture")?.as_string()?,
            handles: get("handles")?.dyn_into().ok()?,
        })
    };
    let mut entries: Vec<Entry> = all.iter().filter_map(entry).collect();
    entries.sort_by(|a, b| b.at_ms.total_cmp(&a.at_ms));
    Ok(entries)
}

async fn store(mode: IdbTransactionMode) -> Result<IdbObjectStore, JsValue> {
    let factory = web_sys::window().ok_or("no window")?.indexed_db()?.ok_or("no IndexedDB")?;
    let request: IdbOpenDbRequest = factory.open_with_u32("planescope", 1)?;
    let opening = request.clone();
    let make = Closure::once_into_js(move || {
        // A store that is not made fails the transaction below.
        let made = opening.result().and_then(|found| found.unchecked_into::<IdbDatabase>().create_object_store(STORE));
        drop(made);
    });
    request.set_onupgradeneeded(Some(make.unchecked_ref()));
    let database: IdbDatabase = answer(&request).await?.dyn_into()?;
    database.transaction_with_str_and_mode(STORE, mode)?.object_store(STORE)
}

async fn answer(request: &IdbRequest) -> Result<JsValue, JsValue> {
    let promise = Promise::new(&mut |resolve, reject| {
        request.set_onsuccess(Some(&resolve));
        request.set_onerror(Some(&reject));
    });
    JsFuture::from(promise).await?;
    request.result()
}

async fn call(target: &JsValue, method: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let function: Function = Reflect::get(target, &method.into())?.dyn_into()?;
    let called = function.apply(target, &arguments.iter().collect())?;
    JsFuture::from(Promise::resolve(&called)).await
}

fn name_of(cause: &JsValue) -> String {
    Reflect::get(cause, &"name".into()).ok().and_then(|name| name.as_string()).unwrap_or_default()
}

fn words_of(cause: &JsValue) -> String {
    let message = Reflect::get(cause, &"message".into()).ok().and_then(|message| message.as_string());
    message.unwrap_or_else(|| "a refused read".into())
}
