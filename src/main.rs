//! The page's entry: adapter, readers, page, hooks, and the set that the address asks for.

#[cfg(target_arch = "wasm32")]
fn main() {
    console_error_panic_hook::set_once();
    wasm_bindgen_futures::spawn_local(planescope::page::run());
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("this program is a page: `cargo xtask run` builds it and opens it in Chrome");
}
