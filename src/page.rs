//! The page comes to life: adapter and readers, the view, the hooks, and the set that the address asks for.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::{Url, console, window};

use crate::{
    load::{self, SourceKind, Tuning},
    probe::{Hooks, json, set_global},
    session::Session,
    view::{self, Automation},
};

/// Runs the page; returns when it is ready.
pub async fn run() {
    set_global("__loadprof", &JsValue::NULL);
    set_global("__loadprofs", &Array::new());
    let address = window().and_then(|window| window.location().href().ok()).and_then(|href| Url::new(&href).ok());
    let parameters = address.map(|address| address.search_params());
    let tune = parameters.as_ref().and_then(|parameters| parameters.get("tune"));
    let session = Session::start(tuning(tune.as_deref())).await;
    let shell = match view::start(session.clone()) {
        Ok(shell) => shell,
        Err(cause) => return console::error_2(&"the page is incomplete:".into(), &cause),
    };
    let presented = session.clone();
    shell.on_presented(Rc::new(move |_| presented.note_image()));
    publish_profiles(&session);
    let hooks = Hooks::new(session.clone(), Rc::new(Automation(shell.clone())));
    set_global("__planescope", &hooks.into());
    if let Some(base) = parameters.as_ref().and_then(|parameters| parameters.get("bundle")) {
        shell.open_bundle(base);
    }
    let urls: Vec<String> = parameters
        .map(|parameters| parameters.get_all("open").iter().filter_map(|url| url.as_string()).collect())
        .unwrap_or_default();
    if !urls.is_empty() {
        shell.open_urls(urls, SourceKind::Url);
    }
}

/// The defaults of this machine, with what `?tune=` says instead.
fn tuning(tune: Option<&str>) -> Tuning {
    let mut knobs = serde_json::to_value(Tuning::for_machine(load::cores())).unwrap_or_default();
    let changes = tune.and_then(|tune| serde_json::from_str::<serde_json::Value>(tune).ok());
    if let (Some(knobs), Some(changes)) =
        (knobs.as_object_mut(), changes.as_ref().and_then(|changes| changes.as_object()))
    {
        knobs.extend(changes.clone());
    }
    serde_json::from_value(knobs).unwrap_or_else(|cause| {
        console::warn_1(&format!("?tune= is not understood: {cause}").into());
        Tuning::for_machine(load::cores())
    })
}

/// `__loadprof` is null while loading, then the profile of the set on show; `__loadprofs` holds those of all loads.
fn publish_profiles(session: &Session) {
    session.listen(Rc::new(|event| {
        if let load::Event::Walking { .. } | load::Event::Series(_) = event {
            set_global("__loadprof", &JsValue::NULL);
        }
    }));
    let all = Array::new();
    set_global("__loadprofs", &all);
    session.watch(Rc::new(move |profile, is_on_show| {
        let profile = json(profile);
        all.push(&profile);
        if is_on_show {
            set_global("__loadprof", &profile);
        }
    }));
}
