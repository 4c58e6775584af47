//! The page at work: one queue of events, one picture a frame, and everything that needs the browser:
//! questions to the engine, files, sheets, theme, address.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Document, Element, HtmlElement, HtmlInputElement};

use super::{Page, datasets, dom::Dom, files, input, sheets};
use crate::{
    Error, Kind, Result,
    app::{
        App, Ask, Command, Effect, Event, Panel, ViewState,
        event::{Answer, Lane},
    },
    display::Cell as Pixel,
    engine::{Engine, Frames},
    load::SourceKind,
    session::Session,
};

/// Holds the page together; see the module.
pub struct Shell {
    pub session: Rc<Session>,
    app: RefCell<App>,
    /// Borrowed by [`Shell::frame`] alone; whoever answers an event uses `dom`.
    page: RefCell<Page>,
    dom: Rc<Dom>,
    queue: RefCell<VecDeque<Event>>,
    at_work: Cell<bool>,
    frame_is_due: Cell<bool>,
    /// Nothing is drawn while something is measured.
    is_paused: Cell<bool>,
    /// Pictures since the start.
    drawn: Cell<u32>,
    on_frame: RefCell<Option<OnFrame>>,
    /// The engine of the open set, and the set's number.
    engine: RefCell<Option<Rc<Engine>>>,
    address: RefCell<Address>,
    /// Hears of every new image, with the part of the scan positions that it covers.
    presented: RefCell<Option<OnPresented>>,
    covered: Cell<Option<u32>>,
}

type OnFrame = Closure<dyn FnMut(f64)>;

/// Hears of a new image, with the part of the scan positions that it covers.
pub type OnPresented = Rc<dyn Fn(f64)>;

/// What the address holds, and when it was written.
#[derive(Default)]
struct Address {
    hash: String,
    written_ms: f64,
}

/// A detector given pixel by pixel does not fit into an address.
const LONGEST_HASH: usize = 8000;

/// Browsers refuse an address that changes too often.
const ADDRESS_REST_MS: f64 = 500.0;

/// Starts the page on an open session: draws it, listens, and takes the view that the address holds.
///
/// # Errors
/// Names what is not in `index.html`.
pub fn start(session: Rc<Session>) -> Result<Rc<Shell>, JsValue> {
    let page = Page::new()?;
    let dom = page.dom();
    let shell = Rc::new(Shell {
        session,
        app: RefCell::default(),
        page: RefCell::new(page),
        dom: dom.clone(),
        queue: RefCell::default(),
        at_work: Cell::new(false),
        frame_is_due: Cell::new(false),
        is_paused: Cell::new(false),
        drawn: Cell::new(0),
        on_frame: RefCell::new(None),
        engine: RefCell::new(None),
        address: RefCell::default(),
        presented: RefCell::new(None),
        covered: Cell::new(None),
    });
    let weak = Rc::downgrade(&shell);
    *shell.on_frame.borrow_mut() = Some(Closure::new(move |_: f64| {
        if let Some(shell) = weak.upgrade() {
            shell.frame();
        }
    }));
    super::theme::listen(&shell, &dom.window, &dom.document)?;
    let names = crate::app::state::PatternOf::ALL.map(crate::app::state::PatternOf::name);
    super::foot::fill(&dom, "pattern-of", &names)?;
    input::listen(&shell)?;
    files::listen(&shell)?;
    datasets::listen(&shell)?;
    super::loading::listen(&shell);
    let hash = dom.window.location().hash().unwrap_or_default();
    if let Some(state) = ViewState::from_hash(&hash) {
        shell.send(Event::SetState(Box::new(state)));
    }
    input::on(&shell, &dom.window, "resize", |shell, _: web_sys::Event| shell.ask_for_frame())?;
    shell.ask_for_frame();
    Ok(shell)
}

impl Shell {
    /// Takes an event: now, or after what is being done.
    pub fn send(self: &Rc<Self>, event: Event) {
        self.queue.borrow_mut().push_back(event);
        if !self.at_work.replace(true) {
            self.drain();
        }
    }

    fn drain(self: &Rc<Self>) {
        while let Some(event) = self.next_event() {
            let effects = self.app.borrow_mut().update(self.now_ms(), event);
            for effect in effects {
                self.run(effect);
            }
        }
        self.at_work.set(false);
        self.ask_for_frame();
    }

    fn next_event(&self) -> Option<Event> {
        self.queue.borrow_mut().pop_front()
    }

    /// The whole view.
    pub fn state(&self) -> ViewState {
        self.app.borrow().state.clone()
    }

    pub fn selected(&self) -> Panel {
        self.app.borrow().selected
    }

    /// Who hears of every new image, with the part of the scan positions that it covers.
    pub fn on_presented(&self, listener: OnPresented) {
        *self.presented.borrow_mut() = Some(listener);
    }

    /// Opens files at these addresses as one set.
    pub fn open_urls(self: &Rc<Self>, urls: Vec<String>, kind: SourceKind) {
        files::open_urls(self, urls, kind);
    }

    pub fn set_engine(&self, engine: Rc<Engine>) {
        *self.engine.borrow_mut() = Some(engine);
    }

    pub fn dom(&self) -> Rc<Dom> {
        self.dom.clone()
    }

    pub fn document(&self) -> Document {
        self.dom.document.clone()
    }

    /// The element with this id, as `T`.
    pub fn by_id<T: JsCast>(&self, id: &str) -> Result<T, JsValue> {
        self.dom.by_id(id)
    }

    pub fn has_focus(&self, element: &Element) -> bool {
        self.dom.document.active_element().as_ref() == Some(element)
    }

    /// Whether anything that `selector` names is there.
    pub fn has_open(&self, selector: &str) -> bool {
        self.dom.document.query_selector(selector).is_ok_and(|found| found.is_some())
    }

    /// A wrong entry is put back.
    pub fn forget_entry(self: &Rc<Self>) {
        self.send(Event::ForgetEntry);
    }

    pub fn close_menu(&self) {
        if let Ok(menu) = self.by_id::<HtmlElement>("open-menu") {
            // Fails only where the menu is not open.
            let _ = menu.hide_popover();
        }
    }

    fn now_ms(&self) -> f64 {
        crate::load::now_ms()
    }

    // ---- pictures ----

    pub fn ask_for_frame(&self) {
        if self.frame_is_due.replace(true) {
            return;
        }
        if let (Some(window), Some(on_frame)) = (web_sys::window(), self.on_frame.borrow().as_ref()) {
            // Without frames there is nothing to draw for.
            let _ = window.request_animation_frame(on_frame.as_ref().unchecked_ref());
        }
    }

    /// Stops drawing, or goes on.
    pub fn pause(&self, paused: bool) {
        self.is_paused.set(paused);
        if !paused {
            self.ask_for_frame();
        }
    }

    /// Pictures drawn since the start.
    pub fn drawn(&self) -> u32 {
        self.drawn.get()
    }

    fn frame(self: &Rc<Self>) {
        self.frame_is_due.set(false);
        if self.is_paused.get() {
            return;
        }
        self.drawn.set(self.drawn.get().wrapping_add(1));
        // Writing into the page may cause events; they wait until it is drawn.
        self.at_work.set(true);
        let is_due = self.draw();
        let has_events = !self.queue.borrow().is_empty();
        self.at_work.set(false);
        if has_events {
            self.at_work.set(true);
            self.drain();
        } else if is_due {
            self.ask_for_frame();
        }
    }

    /// Draws the page. Whether it has to be drawn again without an event.
    fn draw(&self) -> bool {
        let now_ms = self.now_ms();
        let mut page = self.page.borrow_mut();
        let side = page.side();
        if side > 0.0 {
            self.app.borrow_mut().side = side;
        }
        let more = self.app.borrow_mut().frame(now_ms);
        let app = self.app.borrow();
        let label_is_due = page.draw(&app, now_ms);
        // The panels have just appeared, or a card has changed their size.
        let is_resized = page.side() != side;
        let address_is_due = self.write_address(&app, now_ms);
        self.tell_presented(&app);
        more || label_is_due || is_resized || address_is_due
    }

    fn tell_presented(&self, app: &App) {
        let serial = app.image.as_ref().map(|shown| shown.serial);
        if self.covered.replace(serial) == serial {
            return;
        }
        let (Some(shown), Some(listener)) = (&app.image, self.presented.borrow().clone()) else { return };
        let cells = &shown.field.cells;
        let known = cells.iter().filter(|&&cell| matches!(cell, Pixel::Value | Pixel::Void)).count();
        listener(known as f64 / cells.len().max(1) as f64);
    }

    /// Whether the address is still to be written.
    fn write_address(&self, app: &App, now_ms: f64) -> bool {
        let mut address = self.address.borrow_mut();
        if app.set.is_none() || app.hold.is_some() {
            return false;
        }
        let hash = app.state.to_hash();
        if address.hash == hash || hash.len() > LONGEST_HASH {
            return false;
        }
        if now_ms - address.written_ms < ADDRESS_REST_MS {
            return true;
        }
        if let Ok(history) = self.dom.window.history() {
            // A browser that refuses only leaves the address as it was.
            let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("#{hash}")));
        }
        *address = Address { hash, written_ms: now_ms };
        false
    }

    // ---- what has to be done outside ----

    fn run(self: &Rc<Self>, effect: Effect) {
        match effect {
            Effect::Ask { set_id, lane, ask } => self.ask(set_id, lane, ask),
            Effect::Page(command) => self.obey(command),
            // The session notes the shape with the set; sums do not depend on it.
            Effect::ScanShape(scan) => self.session.set_scan(scan),
            Effect::Cancel => self.session.loader().cancel(),
            Effect::OpenDemo => files::open_demo(self),
            Effect::UseCpu => files::use_cpu(self),
            Effect::Flip(flip) => self.session.set_flip(flip),
            Effect::Exclude(pixels) => self.session.exclude(pixels),
            Effect::List => {
                let shell = self.clone();
                spawn_local(async move {
                    let contents = shell.session.contents().await;
                    shell.send(Event::Contents(contents));
                });
            }
            Effect::Reopen(change) => {
                let session = self.session.clone();
                // What becomes of the load is told by its events.
                spawn_local(async move { drop(session.reopen(session.options().with(change)).await) });
            }
            Effect::Choose(place) => {
                let session = self.session.clone();
                spawn_local(async move { session.loader().choose(place as usize).await });
            }
        }
    }

    fn ask(self: &Rc<Self>, set_id: u32, lane: Lane, ask: Ask) {
        let Some(engine) = self.engine.borrow().clone() else { return };
        let shell = self.clone();
        spawn_local(async move {
            let started = shell.now_ms();
            let answer = answer(&engine, ask).await;
            let ms = shell.now_ms() - started;
            let (states, faults) = (engine.frame_states(), engine.faults());
            shell.send(Event::Answered { set_id, lane, answer, states, faults, ms });
        });
    }

    fn obey(self: &Rc<Self>, command: Command) {
        let dom = &self.dom;
        let click = |id: &str| {
            if let Ok(input) = dom.by_id::<HtmlInputElement>(id) {
                input.click();
            }
        };
        match command {
            Command::OpenFiles => click("files"),
            Command::OpenFolder => click("folder"),
            Command::AddFiles => click("more-files"),
            Command::TypeNumbers => {
                let first = ["inner", "outer", "width"].into_iter().find(|id| self.is_shown(id));
                dom.focus(first.unwrap_or("centre-x"));
            }
            Command::EditScan => dom.focus("scan-shape"),
            Command::EditAxes => dom.focus("axes"),
            Command::Datasets => datasets::show(dom, &self.app.borrow()),
            Command::OtherPanel => {
                let panel = self.selected();
                dom.focus(["view-image", "view-pattern"][panel as usize]);
            }
            Command::Information if self.app.borrow().set.is_some() => {
                sheets::fill_information(dom, &self.app.borrow());
                sheets::toggle(dom, "information");
            }
            Command::Keys => sheets::toggle(dom, "keys"),
            Command::CloseDialog => sheets::close_all(dom),
            Command::Theme => super::theme::change(&dom.window, &dom.document),
            Command::CopyInformation => self.copy_information(),
            _ => {}
        }
    }

    fn is_shown(&self, id: &str) -> bool {
        self.by_id::<HtmlElement>(id).is_ok_and(|element| element.offset_width() > 0)
    }

    fn copy_information(self: &Rc<Self>) {
        let text = self.app.borrow().information_text();
        let shell = self.clone();
        let Some(window) = web_sys::window() else { return };
        let written = window.navigator().clipboard().write_text(&text);
        spawn_local(async move {
            let words =
                if JsFuture::from(written).await.is_ok() { "Copied" } else { "The browser does not allow copying" };
            shell.dom.text("copy-information", words);
        });
    }
}

async fn answer(engine: &Engine, ask: Ask) -> Result<Answer> {
    Ok(match ask {
        Ask::Sums(product, pixels) => Answer::Sums(product, engine.virtual_image(&pixels).await?),
        Ask::Moments(pixels) => Answer::Moments(engine.moments(&pixels).await?),
        Ask::Pattern(frame) => Answer::Pattern(frame, engine.pattern(frame).await?),
        Ask::Patterns => Answer::Patterns(engine.sum_pattern(&Frames::All).await?),
    })
}

/// The view as automation sees it: plain JSON in and out.
pub struct Automation(pub Rc<Shell>);

impl crate::probe::View for Automation {
    fn state(&self) -> serde_json::Value {
        serde_json::to_value(self.0.state()).unwrap_or_default()
    }

    fn pause(&self, paused: bool) {
        self.0.pause(paused);
    }

    fn drawn(&self) -> u32 {
        self.0.drawn()
    }

    /// What is not named stays as it is.
    fn set_state(&self, state: serde_json::Value) -> Result<()> {
        let mut whole = self.state();
        if let (Some(whole), Some(changes)) = (whole.as_object_mut(), state.as_object()) {
            whole.extend(changes.clone());
        }
        let state: ViewState = serde_json::from_value(whole).map_err(|cause| {
            Error::new(Kind::Internal, "bad_state", "This view is not understood").found(cause.to_string())
        })?;
        self.0.send(Event::SetState(Box::new(state)));
        Ok(())
    }
}
