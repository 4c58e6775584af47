//! Patterns one after another into a GIF: made pattern by pattern, with progress, until it is done or cancelled.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlInputElement;

use super::{Shell, dom::Dom, save};
use crate::{
    Error, Kind,
    app::{Event, playback::Playback},
    display::{bytes, count},
    export::File,
};

/// Starts a file; one at a time.
pub fn start(shell: &Rc<Shell>) {
    if shell.animating.replace(true) {
        return;
    }
    let shell = shell.clone();
    spawn_local(async move {
        let made = make(&shell).await;
        shell.animating.set(false);
        let words = match &made {
            Ok(Some(file)) => format!("{}, {}", file.name, bytes(file.bytes.len() as u64)),
            Ok(None) => "Cancelled; nothing was saved.".into(),
            Err(why) => why.clone(),
        };
        show(&shell.dom(), None, &words);
        if let Ok(made) = made {
            save::file(&shell.dom(), made);
        }
    });
}

/// What was made so far is dropped.
pub fn cancel(shell: &Shell) {
    shell.animating.set(false);
}

/// The file; `None` when it was cancelled.
async fn make(shell: &Rc<Shell>) -> Result<Option<File>, String> {
    let dom = shell.dom();
    let typed = |id: &str| dom.by_id::<HtmlInputElement>(id).map(|input| input.value()).unwrap_or_default();
    let playback = Playback::of(&typed("reel-patterns"), &typed("reel-every"), &typed("reel-rate"))?;
    let begun = shell.with_app(|app| Some((app.reel(playback)?, app.reel_name(), app.set.as_ref()?.id)));
    let (mut reel, name, set_id) = begun.ok_or("No pattern is shown")?;
    let engine = shell.engine().ok_or("No pattern is shown")?;
    while let Some(frame) = reel.next_frame() {
        show(&dom, Some((reel.done(), reel.total)), &progress(reel.done(), reel.total, reel.len_bytes()));
        let pattern = engine.pattern(frame).await.map_err(|error| {
            let words = error.to_string();
            shell.send(Event::Notice(
                Error::new(Kind::Gpu, "no_export", "The animation could not be made").found(&words),
            ));
            words
        })?;
        let goes_on =
            shell.animating.get() && shell.with_app(|app| app.set.as_ref().is_some_and(|set| set.id == set_id));
        if !goes_on {
            return Ok(None);
        }
        shell.with_app(|app| {
            if let Some(field) = app.picture_of(pattern) {
                reel.add(&field, app);
            }
        });
        // Without a GPU nothing else gives the thread back.
        if reel.done() % REST == 0 {
            gloo_timers::future::TimeoutFuture::new(0).await;
        }
    }
    Ok(Some(File { name, mime: "image/gif", bytes: reel.finish() }))
}

/// Patterns between two rests of the page.
const REST: usize = 4;

fn progress(done: usize, total: usize, len_bytes: usize) -> String {
    format!("{} of {} patterns, {}", count(done as u64), count(total as u64), bytes(len_bytes as u64))
}

fn show(dom: &Dom, of: Option<(usize, usize)>, words: &str) {
    dom.show("reel-progress", of.is_some());
    dom.show("cancel-reel", of.is_some());
    dom.show("save-reel", of.is_none());
    if let (Some((done, total)), Some(bar)) = (of, dom.find("reel-progress")) {
        super::set(&bar, "value", &(done as f64 / total.max(1) as f64).to_string());
    }
    dom.text("reel-words", words);
}
