//! Between Rust and plain JavaScript values.

use js_sys::{JSON, Object, Reflect};
use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::JsValue;

use crate::{Error, Kind, Result};

/// A value as plain objects, arrays and numbers.
pub fn json<T: Serialize>(value: &T) -> JsValue {
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    JSON::parse(&text).unwrap_or(JsValue::NULL)
}

/// Reads plain objects, arrays and numbers.
///
/// # Errors
/// `Internal` (key `bad_argument`) with what is wrong; `undefined` reads as `null`.
pub fn parsed<T: DeserializeOwned>(value: &JsValue) -> Result<T> {
    let text = JSON::stringify(value).ok().and_then(|text| text.as_string()).unwrap_or_else(|| "null".to_owned());
    serde_json::from_str(&text).map_err(|cause| {
        Error::new(Kind::Internal, "bad_argument", "An argument is not understood").found(cause.to_string())
    })
}

/// A JavaScript `Error` with the sentence that the user sees.
pub fn error(error: &Error) -> JsValue {
    js_sys::Error::new(&error.to_string()).into()
}

/// An object with these properties.
pub fn object(properties: &[(&str, JsValue)]) -> JsValue {
    let object = Object::new();
    for (key, value) in properties {
        // Setting a property of a fresh plain object cannot fail.
        let _ = Reflect::set(&object, &JsValue::from_str(key), value);
    }
    object.into()
}

/// `window[name] = value`.
pub fn set_global(name: &str, value: &JsValue) {
    // The window is extensible.
    let _ = Reflect::set(&js_sys::global(), &JsValue::from_str(name), value);
}
