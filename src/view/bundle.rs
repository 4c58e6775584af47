//! A bundle: its sets open by themselves, together; what is wrong with its files is told.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, HtmlElement, MouseEvent};

use super::{Shell, dom::escaped, files, input::on};
use crate::{
    app::Event,
    load::SourceKind,
    session::{Bundle, BundleNews},
};

/// A bundle on the page.
struct Opened {
    bundle: Bundle,
    news: RefCell<BundleNews>,
    /// The launcher does not answer any more.
    is_left: Cell<bool>,
}

/// Opens all sets of the bundle at `base` whose files are whole, and tells what is wrong with the others.
pub fn show(shell: &Rc<Shell>, base: String) {
    let shell = shell.clone();
    spawn_local(async move {
        let bundle = match Bundle::read(&base).await {
            Ok(bundle) => bundle,
            Err(error) => return shell.send(Event::Failed(error)),
        };
        let opened = Rc::new(Opened { bundle, news: RefCell::default(), is_left: Cell::new(false) });
        listen(&shell, &opened);
        let is_first = Cell::new(true);
        let watched = opened.bundle.watch(|news| {
            *opened.news.borrow_mut() = news;
            opened.draw(&shell);
            if is_first.replace(false) {
                opened.open_whole(&shell);
            }
        });
        let error = watched.await.err();
        opened.is_left.set(true);
        opened.draw(&shell);
        if let Some(error) = error {
            shell.send(Event::Notice(error));
        }
    });
}

/// A click opens a set whose files are not whole: it may still be worth a look.
fn listen(shell: &Rc<Shell>, opened: &Rc<Opened>) {
    let Ok(list) = shell.by_id::<HtmlElement>("bundle-sets") else { return };
    let clicked = opened.clone();
    // Fails where the browser refuses a listener: then nothing on the page works.
    let _ = on(shell, &list, "click", move |shell, event: MouseEvent| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let button = target.and_then(|target| target.closest("[data-set]").ok().flatten());
        let place = button.and_then(|button| button.get_attribute("data-set")?.parse::<usize>().ok());
        if let Some(set) = place.and_then(|place| clicked.bundle.sets.get(place)) {
            files::open_urls(shell, clicked.bundle.urls(set), SourceKind::Url);
        }
    });
}

impl Opened {
    /// Opens the sets whose files are whole, as far as is known: their lengths are checked by now.
    fn open_whole(&self, shell: &Rc<Shell>) {
        let news = self.news.borrow();
        let whole = self.bundle.sets.iter().filter(|set| news.faults_of(set).next().is_none());
        let urls: Vec<String> = whole.flat_map(|set| self.bundle.urls(set)).collect();
        if !urls.is_empty() {
            files::open_series(shell, urls);
        }
    }

    /// Lists the sets whose files are not whole; the others stand in the list of what is open.
    fn draw(&self, shell: &Rc<Shell>) {
        let (dom, news) = (shell.dom(), self.news.borrow());
        let buttons = self.bundle.sets.iter().enumerate().filter_map(|(place, set)| {
            let faults: String = news.faults_of(set).map(|fault| fault_words(&fault.path, &fault.words)).collect();
            let button = format!(
                "<li><button type=\"button\" class=\"btn\" data-set=\"{place}\">{}</button>{faults}</li>",
                escaped(&set.name)
            );
            (!faults.is_empty()).then_some(button)
        });
        dom.html("bundle-sets", &buttons.collect::<String>());
        let others = news.faults.iter().filter(|fault| !fault.path.starts_with("data/"));
        dom.html("bundle-faults", &others.map(|fault| fault_words(&fault.path, &fault.words)).collect::<String>());
        dom.text("bundle-words", &self.words());
        dom.show("bundle", true);
    }

    /// How far the check of the files is.
    fn words(&self) -> String {
        let news = self.news.borrow();
        match news.faults.len() {
            _ if self.is_left.get() => "The launcher has ended: only what is open can still be looked at.".to_owned(),
            0 if news.checked < news.files => format!("Checked {} of {} files", news.checked, news.files),
            0 => format!("All {} files are as they were made.", news.files),
            1 => "A file is not as it was made: copy the bundle again.".to_owned(),
            n => format!("{n} files are not as they were made: copy the bundle again."),
        }
    }
}

fn fault_words(path: &str, words: &str) -> String {
    format!("<p class=\"why wrong\">{} {}</p>", escaped(path), escaped(words))
}
