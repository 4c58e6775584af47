//! The page starts here: session, view, hooks.

#[cfg(target_arch = "wasm32")]
fn main() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(async {
        if let Err(cause) = page::start().await {
            web_sys::console::error_1(&cause);
        }
    });
}

#[cfg(target_arch = "wasm32")]
mod page {
    use std::rc::Rc;

    use planescope::{
        load::{Tuning, cores},
        probe::{Hooks, set_global},
        session::Session,
        view,
    };
    use wasm_bindgen::JsValue;

    pub async fn start() -> Result<(), JsValue> {
        let session = Session::start(Tuning::for_machine(cores())).await;
        let shell = view::start(session.clone())?;
        set_global("__planescope", &Hooks::new(session, Rc::new(view::Automation(shell))).into());
        Ok(())
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("planescope runs in a browser: cargo xtask run");
}
