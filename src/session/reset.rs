//! A GPU that was reset: another device, other readers, and the same files again, without a question.

use std::rc::Rc;

use super::Session;
use crate::{
    Error, Kind,
    gpu::Context,
    load::{Loader, Path, now_ms},
};

/// What becomes of a GPU that was reset.
pub enum Reset {
    /// It is gone, in the browser's words; all that lay on it is lost.
    Lost(String),
    /// A new device is there; what was open is read again.
    Back,
    /// It does not come back.
    Gone(Error),
}

/// So many losses within this time are too many: what is open loses the device again and again.
const LOSSES: usize = 3;
const WITHIN_MS: f64 = 60_000.0;

impl Session {
    /// Who hears of a GPU that was reset.
    pub fn on_reset(&self, listener: Rc<dyn Fn(&Reset)>) {
        self.lost_listeners.borrow_mut().push(listener);
    }

    /// Waits for the device to be lost, and makes everything anew each time.
    pub(super) async fn watch_gpu(self: Rc<Self>) {
        let mut losses: Vec<f64> = Vec::new();
        while let Some(context) = self.loader().context().cloned() {
            let words = context.lost().await;
            losses.retain(|lost_ms| now_ms() - lost_ms < WITHIN_MS);
            losses.push(now_ms());
            self.tell_reset(&Reset::Lost(words.clone()));
            if losses.len() >= LOSSES {
                let why = format!("{LOSSES} losses within a minute, the last one: {words}");
                return self.tell_reset(&Reset::Gone(gone(&why)));
            }
            match Context::new().await {
                Ok(context) => self.rebuild(Rc::new(context)),
                Err(error) => return self.tell_reset(&Reset::Gone(gone(&error.found))),
            }
        }
    }

    fn rebuild(self: &Rc<Self>, context: Rc<Context>) {
        let before = self.loader();
        before.supersede();
        let loader = Rc::new(Loader::new(Some(context), before.tuning()));
        *self.loader.borrow_mut() = loader.clone();
        // New readers hold nothing yet.
        self.next_hand();
        self.tell_reset(&Reset::Back);
        let session = self.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let has_files = !session.picked.borrow().0.is_empty();
            // What a series needs is asked for by the page.
            if session.is_series() {
                loader.prepare().await;
            } else if has_files && session.path() == Path::Gpu {
                // What becomes of the load is told by its events.
                drop(session.reopen(session.options()).await);
            } else {
                loader.prepare().await;
            }
        });
    }

    fn tell_reset(&self, reset: &Reset) {
        let listeners = self.lost_listeners.borrow().clone();
        listeners.iter().for_each(|listener| listener(reset));
    }
}

fn gone(found: &str) -> Error {
    Error::new(Kind::Gpu, "gpu_gone", "The GPU does not come back")
        .expected("a graphics device that stays")
        .found(found)
        .action("Use the processor, or close other pages that use the GPU and reload this one")
}
