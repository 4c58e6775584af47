//! Copies in the browser's storage: what the page tells of them, and what the user asks for.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use super::Shell;
use crate::{
    Error,
    app::{
        Event,
        event::{Copies, OpenCopy},
    },
};

/// Tells of copies now and after every load.
pub fn listen(shell: &Rc<Shell>) {
    refresh(shell);
    let page = Rc::downgrade(shell);
    shell.session.watch(Rc::new(move |_, _| {
        if let Some(shell) = page.upgrade() {
            refresh(&shell);
        }
    }));
}

/// Looks again at what is kept.
pub fn refresh(shell: &Rc<Shell>) {
    let shell = shell.clone();
    spawn_local(async move { tell(&shell).await });
}

async fn tell(shell: &Rc<Shell>) {
    let copies = match shell.session.copies().await {
        Ok(copies) => {
            let open = match copies.may_keep {
                _ if copies.is_kept => OpenCopy::Kept,
                Some(bytes) => OpenCopy::May(bytes),
                None => OpenCopy::None,
            };
            Copies::Some { sets: copies.sets, bytes: copies.bytes, open }
        }
        Err(error) => Copies::None(error.to_string()),
    };
    shell.send(Event::Copies(copies));
}

/// Keeps the open set.
pub fn keep(shell: &Rc<Shell>) {
    let shell = shell.clone();
    spawn_local(async move {
        let kept = shell.session.keep(&|done, all| shell.send(Event::Copies(Copies::Making(done, all)))).await;
        end(&shell, kept.err()).await;
    });
}

/// Removes all copies.
pub fn clear(shell: &Rc<Shell>) {
    let shell = shell.clone();
    spawn_local(async move {
        let cleared = shell.session.clear_copies().await;
        end(&shell, cleared.err()).await;
    });
}

async fn end(shell: &Rc<Shell>, error: Option<Error>) {
    if let Some(error) = error {
        shell.send(Event::Notice(error));
    }
    tell(shell).await;
}
