//! Messages on a reader's port: plain objects with a few properties.

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::JsValue;
use web_sys::MessagePort;

/// An object with these properties.
pub fn object(properties: &[(&str, &JsValue)]) -> JsValue {
    let object = Object::new();
    for (key, value) in properties {
        // Setting a property of a fresh plain object cannot fail.
        let _ = Reflect::set(&object, &JsValue::from_str(key), value);
    }
    object.into()
}

/// A property that is there.
pub fn property(object: &JsValue, key: &str) -> Option<JsValue> {
    if !object.is_object() {
        return None;
    }
    Reflect::get(object, &JsValue::from_str(key)).ok().filter(|value| !value.is_undefined())
}

pub fn number(object: &JsValue, key: &str) -> Option<f64> {
    property(object, key)?.as_f64()
}

/// Posts `message`, giving `transfer` away. False when the message cannot be cloned.
pub fn post(port: &MessagePort, message: &JsValue, transfer: &[&JsValue]) -> bool {
    let list: Array = transfer.iter().copied().collect();
    port.post_message_with_transferable(message, &list).is_ok()
}
