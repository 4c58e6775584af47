//! The document, and a memory of what was written into it: nothing is written twice.

use std::{cell::RefCell, collections::HashMap};

use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Document, Element, HtmlElement, HtmlInputElement, HtmlSelectElement, Window};

pub struct Dom {
    pub window: Window,
    pub document: Document,
    pub body: HtmlElement,
    written: RefCell<HashMap<String, String>>,
    found: RefCell<HashMap<String, Element>>,
}

impl Dom {
    pub fn new() -> Result<Self, JsValue> {
        let window = web_sys::window().ok_or("no window")?;
        let document = window.document().ok_or("no document")?;
        let body = document.body().ok_or("no body")?;
        Ok(Self { window, document, body, written: RefCell::default(), found: RefCell::default() })
    }

    /// The element with this id, as `T`.
    pub fn by_id<T: JsCast>(&self, id: &str) -> Result<T, JsValue> {
        let element = self.document.get_element_by_id(id).ok_or_else(|| format!("index.html has no #{id}"))?;
        element.dyn_into().map_err(|_| format!("#{id} is another kind of element").into())
    }

    pub fn find(&self, id: &str) -> Option<Element> {
        if let Some(element) = self.found.borrow().get(id) {
            return Some(element.clone());
        }
        let element = self.document.get_element_by_id(id)?;
        self.found.borrow_mut().insert(id.to_owned(), element.clone());
        Some(element)
    }

    /// Whether `value` is new at this place.
    fn is_new(&self, place: &str, value: &str) -> bool {
        let mut written = self.written.borrow_mut();
        match written.get_mut(place) {
            Some(old) if old == value => false,
            Some(old) => {
                value.clone_into(old);
                true
            }
            None => {
                written.insert(place.to_owned(), value.to_owned());
                true
            }
        }
    }

    pub fn text(&self, id: &str, text: &str) {
        if self.is_new(id, text)
            && let Some(element) = self.find(id)
        {
            element.set_text_content(Some(text));
        }
    }

    /// `html` must be escaped, see [`escaped`].
    pub fn html(&self, id: &str, html: &str) {
        self.rewrite(id, html);
    }

    /// The same; whether it is new.
    pub fn rewrite(&self, id: &str, html: &str) -> bool {
        let is_new = self.is_new(id, html);
        if is_new && let Some(element) = self.find(id) {
            element.set_inner_html(html);
        }
        is_new
    }

    /// The same for `element`, which is known as `place`.
    pub fn html_of(&self, element: &Element, place: &str, html: &str) {
        if self.is_new(place, html) {
            element.set_inner_html(html);
        }
    }

    /// The text of `element`, which is known as `place`.
    pub fn text_of(&self, element: &Element, place: &str, text: &str) {
        if self.is_new(place, text) {
            element.set_text_content(Some(text));
        }
    }

    /// Elements whose ids or places begin so are others now.
    pub fn forget(&self, start: &str) {
        self.written.borrow_mut().retain(|place, _| !place.starts_with(start));
        self.found.borrow_mut().retain(|id, _| !id.starts_with(start));
    }

    pub fn show(&self, id: &str, shown: bool) {
        if self.is_new(&format!("{id} hidden"), if shown { "" } else { "hidden" })
            && let Some(element) = self.find(id)
        {
            let _ = element.toggle_attribute_with_force("hidden", !shown);
        }
    }

    /// `name` of `element`, which is known as `place`.
    pub fn attribute(&self, element: &Element, place: &str, name: &str, value: &str) {
        if self.is_new(&format!("{place} {name}"), value) {
            super::set(element, name, value);
        }
    }

    /// Whether the button with this id is pressed.
    pub fn pressed(&self, id: &str, is_on: bool) {
        if let Some(button) = self.find(id) {
            self.attribute(&button, id, "aria-pressed", if is_on { "true" } else { "false" });
        }
    }

    pub fn style(&self, id: &str, property: &str, value: &str) {
        if self.is_new(&format!("{id} {property}"), value)
            && let Some(element) = self.find(id).and_then(|element| element.dyn_into::<HtmlElement>().ok())
        {
            let _ = element.style().set_property(property, value);
        }
    }

    /// Value of a field or a menu; left alone while the user is in it.
    pub fn value(&self, id: &str, value: &str) {
        let Some(element) = self.find(id) else { return };
        if self.document.active_element().as_ref() == Some(&element) && element.has_attribute("data-typing") {
            return;
        }
        if let Some(input) = element.dyn_ref::<HtmlInputElement>() {
            if input.value() != value {
                input.set_value(value);
            }
        } else if let Some(select) = element.dyn_ref::<HtmlSelectElement>()
            && select.value() != value
        {
            select.set_value(value);
        }
    }

    /// Whether a box is ticked.
    pub fn check(&self, id: &str, is_checked: bool) {
        if let Some(input) = self.find(id).and_then(|element| element.dyn_into::<HtmlInputElement>().ok())
            && input.checked() != is_checked
        {
            input.set_checked(is_checked);
        }
    }

    pub fn focus(&self, id: &str) {
        if let Some(element) = self.find(id).and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
            let _ = element.focus();
        }
    }
}

/// Text as it may stand in HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
