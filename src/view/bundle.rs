//! The sets of a bundle: a list of them, of which one is open, and what is wrong with their files.

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
    load::{self, SourceKind},
    session::{Bundle, BundleNews},
};

/// A bundle on the page.
struct Series {
    bundle: Bundle,
    news: RefCell<BundleNews>,
    /// The launcher does not answer any more.
    is_left: Cell<bool>,
    /// The master of the open set.
    open: RefCell<String>,
}

/// Lists the sets of the bundle at `base` and opens the first whose files are whole.
pub fn show(shell: &Rc<Shell>, base: String) {
    let shell = shell.clone();
    spawn_local(async move {
        let bundle = match Bundle::read(&base).await {
            Ok(bundle) => bundle,
            Err(error) => return shell.send(Event::Failed(error)),
        };
        let (news, open) = Default::default();
        let series = Rc::new(Series { bundle, news, is_left: Cell::new(false), open });
        listen(&shell, &series);
        let is_first = Cell::new(true);
        let watched = series.bundle.watch(|news| {
            *series.news.borrow_mut() = news;
            series.draw(&shell);
            if is_first.replace(false) {
                series.open_first(&shell);
            }
        });
        let error = watched.await.err();
        series.is_left.set(true);
        series.draw(&shell);
        if let Some(error) = error {
            shell.send(Event::Notice(error));
        }
    });
}

/// A click opens a set; whatever is opened, by whomever, is marked.
fn listen(shell: &Rc<Shell>, series: &Rc<Series>) {
    let Ok(list) = shell.by_id::<HtmlElement>("bundle-sets") else { return };
    let clicked = series.clone();
    // Fails where the browser refuses a listener: then nothing on the page works.
    let _ = on(shell, &list, "click", move |shell, event: MouseEvent| {
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let button = target.and_then(|target| target.closest("[data-set]").ok().flatten());
        let place = button.and_then(|button| button.get_attribute("data-set")?.parse::<usize>().ok());
        if let Some(place) = place {
            clicked.open(shell, place);
        }
    });
    let (page, series) = (Rc::downgrade(shell), series.clone());
    shell.session.listen(Rc::new(move |event| {
        if let (load::Event::Started { set, .. }, Some(shell)) = (event, page.upgrade()) {
            series.open.borrow_mut().clone_from(&set.name);
            series.draw(&shell);
        }
    }));
}

impl Series {
    fn open_first(&self, shell: &Rc<Shell>) {
        let news = self.news.borrow();
        let is_whole = |place: &usize| news.faults_of(&self.bundle.sets[*place]).next().is_none();
        let mut places = 0..self.bundle.sets.len();
        if let Some(place) = places.find(is_whole) {
            self.open(shell, place);
        }
    }

    fn open(&self, shell: &Rc<Shell>, place: usize) {
        if let Some(set) = self.bundle.sets.get(place) {
            files::open_urls(shell, self.bundle.urls(set), SourceKind::Url);
        }
    }

    fn draw(&self, shell: &Rc<Shell>) {
        let (dom, news, open) = (shell.dom(), self.news.borrow(), self.open.borrow());
        let buttons = self.bundle.sets.iter().enumerate().map(|(place, set)| {
            let faults: String = news.faults_of(set).map(|fault| fault_words(&fault.path, &fault.words)).collect();
            let is_open = set.files.first() == Some(&*open);
            let current = if is_open { " aria-current=\"true\"" } else { "" };
            format!(
                "<li><button type=\"button\" class=\"btn\" data-set=\"{place}\"{current}>{}</button>{faults}</li>",
                escaped(&set.name)
            )
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
