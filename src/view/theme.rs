//! Dark or light: as the system says, or as the user chose last.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use web_sys::{Document, Storage, Window};

use super::{Shell, input::on, set};

const KEY: &str = "planescope-theme";
const LIGHT: &str = "(prefers-color-scheme: light)";

/// Takes the theme that was chosen last; without one, the system's, and follows it when it changes.
///
/// # Errors
/// When the browser refuses a listener.
pub fn listen(shell: &Rc<Shell>, window: &Window, document: &Document) -> Result<(), JsValue> {
    take_kept(window, document);
    let Some(query) = window.match_media(LIGHT).ok().flatten() else { return Ok(()) };
    let (window, document) = (window.clone(), document.clone());
    on(shell, &query, "change", move |_, _: web_sys::Event| take_kept(&window, &document))
}

fn take_kept(window: &Window, document: &Document) {
    let kept = storage(window).and_then(|storage| storage.get_item(KEY).ok().flatten());
    let theme = kept.filter(|kept| matches!(kept.as_str(), "dark" | "light"));
    wear(document, theme.as_deref().unwrap_or_else(|| system(window)));
}

/// Changes to the other one, and keeps it.
pub fn change(window: &Window, document: &Document) {
    let worn = document.document_element().and_then(|root| root.get_attribute("data-theme"));
    let other = if worn.as_deref() == Some("light") { "dark" } else { "light" };
    wear(document, other);
    if let Some(storage) = storage(window) {
        // A browser that keeps nothing asks the system again next time.
        let _ = storage.set_item(KEY, other);
    }
}

fn wear(document: &Document, theme: &str) {
    if let Some(root) = document.document_element() {
        set(&root, "data-theme", theme);
    }
    if let Some(button) = document.get_element_by_id("theme-button") {
        set(&button, "aria-label", &format!("Theme: {theme} (T)"));
    }
}

fn system(window: &Window) -> &'static str {
    let light = window.match_media(LIGHT).ok().flatten();
    if light.is_some_and(|query| query.matches()) { "light" } else { "dark" }
}

fn storage(window: &Window) -> Option<Storage> {
    window.local_storage().ok().flatten()
}
