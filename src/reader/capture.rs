//! The `Worker` objects that gloo makes and hides: one that hangs listens to nobody, and can only be ended through its
//! object.

use js_sys::{Array, Function, Object, Proxy, Reflect};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::Worker;

/// What `spawn` gives, and the worker that it made meanwhile; `None` where the page does not let it be seen.
///
/// While `spawn` runs, `Worker` is a proxy of itself that shows what is constructed.
pub fn seen<T>(spawn: impl FnOnce() -> T) -> (T, Option<Worker>) {
    let (global, name) = (js_sys::global(), JsValue::from_str("Worker"));
    let Some(real) = Reflect::get(&global, &name).ok().and_then(|real| real.dyn_into::<Function>().ok()) else {
        return (spawn(), None);
    };
    let made = Array::new();
    let kept = made.clone();
    let construct =
        Closure::<dyn Fn(Function, Array) -> Result<JsValue, JsValue>>::new(move |of: Function, how: Array| {
            let worker = Reflect::construct(&of, &how)?;
            kept.push(&worker);
            Ok(worker)
        });
    let handler = Object::new();
    let is_set = Reflect::set(&handler, &"construct".into(), construct.as_ref()).is_ok()
        && Reflect::set(&global, &name, &Proxy::new(&real, &handler)).is_ok();
    let spawned = spawn();
    if is_set {
        // It was set a moment ago, so it can be set back.
        let _ = Reflect::set(&global, &name, &real);
    }
    (spawned, made.get(0).dyn_into().ok())
}
