//! A worker thread's entry: a mailbox around `planescope::reader`.

#[cfg(target_arch = "wasm32")]
fn main() {
    use gloo_worker::Registrable;

    use planescope::reader::{Ported, Reader};

    Reader::registrar().encoding::<Ported>().register();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("this program is a worker of the page; build it for wasm32-unknown-unknown");
}
