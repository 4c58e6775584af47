//! The page at work: one queue of events, one picture a frame, and everything that needs the browser:
//! questions to the engine, files, sheets, theme, address.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
};

use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Document, Element, HtmlElement, HtmlInputElement, ResizeObserver};

use super::{Page, animation, bundle, copies, datasets, dom::Dom, files, input, recent, save, sheets};
use crate::{
    Error, Kind, Result,
    app::{
        App, Ask, Command, Effect, Event, Panel, ViewState,
        event::{Answer, Entry, Lane},
        exports::Format,
        notices::HELP,
    },
    display::Cell as Pixel,
    engine::Engine,
    export::session::SessionFile,
    load::SourceKind,
    products::{integrate, spectrum},
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
    address: RefCell<Address>,
    /// Hears of every new image, with the part of the scan positions that it covers.
    presented: RefCell<Option<OnPresented>>,
    covered: Cell<Option<u32>>,
    /// The part of the scan positions that the image on screen covers.
    part_seen: Cell<f64>,
    /// When the page was drawn last; a timer will ask for a frame.
    drawn_ms: Cell<f64>,
    /// What the last frame took.
    frame_ms: Cell<f64>,
    some_frame_is_due: Cell<bool>,
    /// Side of each view, CSS px; 0 while none is shown.
    sides: Cell<[f64; 2]>,
    sizes: RefCell<Option<(ResizeObserver, OnSize)>>,
    /// As what a panel was saved last.
    last_format: Cell<Format>,
    /// A GIF is being made.
    pub animating: Cell<bool>,
    pub recent: recent::Recent,
}

type OnSize = Closure<dyn FnMut()>;
type OnFrame = Closure<dyn FnMut(f64)>;

/// Hears of a new image, with the part of the scan positions that it covers.
pub type OnPresented = Rc<dyn Fn(f64)>;

/// What the address holds, and when it was written.
#[derive(Default)]
struct Address {
    hash: String,
    written_ms: f64,
}

/// While a set is read, frames that nobody has asked for come so long after the one before: many times what that took,
/// within these limits.
const FRAME_RESTS: f64 = 15.0;
const FRAME_REST_MS: [f64; 2] = [150.0, 600.0];
/// The part of the scan from which on an image counts as a picture of it.
const FIRST_PICTURE: f64 = 0.05;

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
        address: RefCell::default(),
        presented: RefCell::new(None),
        covered: Cell::new(None),
        part_seen: Cell::default(),
        drawn_ms: Cell::default(),
        frame_ms: Cell::default(),
        some_frame_is_due: Cell::default(),
        sides: Cell::default(),
        sizes: RefCell::new(None),
        last_format: Cell::default(),
        animating: Cell::default(),
        recent: recent::Recent::default(),
    });
    shell.watch_size()?;
    let weak = Rc::downgrade(&shell);
    *shell.on_frame.borrow_mut() = Some(Closure::new(move |_: f64| {
        if let Some(shell) = weak.upgrade() {
            shell.frame();
        }
    }));
    super::theme::listen(&shell, &dom.window, &dom.document)?;
    let names = crate::app::state::PatternOf::ALL.map(crate::app::state::PatternOf::name);
    super::foot::fill(&dom, "pattern-of", &names)?;
    let orders = crate::app::state::PlayOrder::ALL.map(crate::app::state::PlayOrder::name);
    super::foot::fill(&dom, "play-order", &orders)?;
    input::listen(&shell)?;
    files::listen(&shell)?;
    datasets::listen(&shell)?;
    super::loading::listen(&shell);
    copies::listen(&shell);
    recent::show(&shell);
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
        let mut can_wait = true;
        while let Some(event) = self.next_event() {
            can_wait &= event.can_wait() && !self.is_first_picture(&event);
            let effects = self.app.borrow_mut().update(self.now_ms(), event);
            for effect in effects {
                self.run(effect);
            }
        }
        self.at_work.set(false);
        if can_wait { self.ask_for_some_frame() } else { self.ask_for_frame() }
    }

    /// The answer to the first image of the whole scan does not wait.
    fn is_first_picture(&self, event: &Event) -> bool {
        matches!(event, Event::Answered { lane: Lane::Image, .. }) && self.part_seen.get() < FIRST_PICTURE
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

    /// Opens all sets of the bundle at `base`.
    pub fn open_bundle(self: &Rc<Self>, base: String) {
        bundle::show(self, base);
    }

    /// The engine of the open set.
    pub fn engine(&self) -> Option<Rc<Engine>> {
        self.session.active().map(|active| active.engine)
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
        for id in ["open-menu", "more-image", "more-pattern"] {
            if let Ok(menu) = self.by_id::<HtmlElement>(id) {
                // Fails only where the menu is not open.
                let _ = menu.hide_popover();
            }
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

    /// Asks for a frame when one was drawn some time ago: pictures that nobody has asked for come rarely while a set is
    /// read, since the same thread reads it.
    fn ask_for_some_frame(self: &Rc<Self>) {
        let is_reading = self.app.borrow().is_reading_any();
        if !is_reading || self.app.borrow().is_playing() {
            return self.ask_for_frame();
        }
        if self.frame_is_due.get() || self.some_frame_is_due.replace(true) {
            return;
        }
        let weak = Rc::downgrade(self);
        let rest_ms = (FRAME_RESTS * self.frame_ms.get()).clamp(FRAME_REST_MS[0], FRAME_REST_MS[1]);
        let rest_ms = (self.drawn_ms.get() + rest_ms - self.now_ms()).max(0.0);
        gloo_timers::callback::Timeout::new(rest_ms as u32, move || {
            if let Some(shell) = weak.upgrade() {
                shell.some_frame_is_due.set(false);
                shell.ask_for_frame();
            }
        })
        .forget();
    }

    /// Hears when the views change their size: they appear, the window or a card pushes them. Asking for it in every
    /// frame would make the browser lay out the page each time.
    fn watch_size(self: &Rc<Self>) -> Result<(), JsValue> {
        let weak = Rc::downgrade(self);
        let on_size = OnSize::new(move || {
            if let Some(shell) = weak.upgrade() {
                shell.sides.set(shell.page.borrow_mut().measure());
                shell.ask_for_frame();
            }
        });
        let observer = ResizeObserver::new(on_size.as_ref().unchecked_ref())?;
        for view in ["view-image", "view-pattern", "views"] {
            observer.observe(&self.by_id::<Element>(view)?);
        }
        *self.sizes.borrow_mut() = Some((observer, on_size));
        Ok(())
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
        self.drawn_ms.set(self.now_ms());
        // Writing into the page may cause events; they wait until it is drawn.
        self.at_work.set(true);
        let is_due = self.draw();
        self.frame_ms.set(self.now_ms() - self.drawn_ms.get());
        let has_events = !self.queue.borrow().is_empty();
        self.at_work.set(false);
        if has_events {
            self.at_work.set(true);
            self.drain();
        } else if is_due {
            self.ask_for_some_frame();
        }
    }

    /// Draws the page. Whether it has to be drawn again without an event.
    fn draw(&self) -> bool {
        let now_ms = self.now_ms();
        let mut page = self.page.borrow_mut();
        let sides = self.sides.get();
        if sides[0] + sides[1] > 0.0 {
            self.app.borrow_mut().sides = sides;
        }
        let more = self.app.borrow_mut().frame(now_ms);
        let app = self.app.borrow();
        let label_is_due = page.draw(&app, now_ms);
        let address_is_due = self.write_address(&app, now_ms);
        self.tell_presented(&app);
        if app.is_playing() {
            self.queue.borrow_mut().push_back(Event::Tick);
        }
        more || label_is_due || address_is_due
    }

    fn tell_presented(&self, app: &App) {
        let serial = app.image.as_ref().map(|shown| shown.serial);
        if self.covered.replace(serial) == serial {
            return;
        }
        let Some(shown) = &app.image else { return self.part_seen.set(0.0) };
        let cells = &shown.field.cells;
        let known = cells.iter().filter(|&&cell| matches!(cell, Pixel::Value | Pixel::Void)).count();
        self.part_seen.set(known as f64 / cells.len().max(1) as f64);
        let listener = self.presented.borrow().clone();
        if let Some(listener) = listener {
            listener(self.part_seen.get());
        }
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
            Effect::Keep => copies::keep(self),
            Effect::ClearCopies => copies::clear(self),
            Effect::Flip(flip) => self.session.set_flip(flip),
            Effect::Order(order) => self.session.set_order(order),
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
            Effect::Restore(options) => {
                let session = self.session.clone();
                spawn_local(async move { drop(session.reopen(options).await) });
            }
            Effect::OpenAll => self.session.open_all(),
            Effect::Show(place) => self.session.show(place),
            Effect::PutOut(place) | Effect::CloseSet(place) => self.session.put_out(place),
            Effect::CloseAll => self.session.close(),
            Effect::Read(place) => {
                let session = self.session.clone();
                // What becomes of it is told by its events.
                spawn_local(async move { session.read(place).await });
            }
            Effect::Choose(place) => {
                let session = self.session.clone();
                spawn_local(async move { session.loader().choose(place as usize).await });
            }
        }
    }

    fn ask(self: &Rc<Self>, set_id: u32, lane: Lane, ask: Ask) {
        let place = self.app.borrow().place_of(set_id);
        let engine = place.and_then(|place| self.session.engine(place));
        let Some(engine) = engine else { return };
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
            Command::OpenFiles => recent::pick(self, recent::Kind::Files),
            Command::OpenFolder => recent::pick(self, recent::Kind::Folder),
            Command::Recent(place) => recent::open(self, place),
            Command::ForgetRecent => recent::forget(self),
            Command::Address => {
                sheets::toggle(dom, "address-sheet");
                dom.focus("address");
            }
            Command::OpenAddress => files::open_address(self),
            Command::SaveReel => animation::start(self),
            Command::CancelReel => animation::cancel(self),
            Command::AddFiles => click("more-files"),
            Command::TypeNumbers => {
                let first =
                    ["inner", "outer", "width", "com-angle", "corners"].into_iter().find(|id| self.is_shown(id));
                dom.focus(first.unwrap_or("centre-x"));
            }
            Command::EditScan | Command::EditAxes => {
                if let Ok(more) = dom.by_id::<Element>("set-more") {
                    super::set(&more, "open", "");
                }
                dom.focus(if command == Command::EditScan { "scan-shape" } else { "axes" });
            }
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
            Command::CopyInformation => self.copy("copy-information", self.app.borrow().information_text()),
            Command::Export if self.app.borrow().set.is_some() => {
                sheets::fill_export(dom, &self.app.borrow());
                save::preview_of(self, self.selected());
                sheets::toggle(dom, "export");
            }
            Command::ExportPanel(panel) => {
                sheets::fill_export(dom, &self.app.borrow());
                save::preview_of(self, panel);
            }
            Command::ExportAs(format) => {
                self.last_format.set(format);
                save::panel(self, format, self.selected());
            }
            Command::ExportAgain if self.app.borrow().set.is_some() => {
                save::panel(self, self.last_format.get(), self.selected());
            }
            Command::CopyPicture if self.app.borrow().set.is_some() => save::copy(self, self.selected()),
            Command::SaveSession => save::file(dom, self.app.borrow().session_file()),
            Command::OpenSession => click("session"),
            Command::Python => {
                if let Some(file) = self.app.borrow().python() {
                    dom.text("python-body", &String::from_utf8_lossy(&file.bytes));
                    dom.text("copy-python", "Copy");
                    sheets::toggle(dom, "python");
                }
            }
            Command::SavePython => save::file(dom, self.app.borrow().python()),
            Command::CopyPython => {
                let text = self.app.borrow().python().map(|file| String::from_utf8_lossy(&file.bytes).into_owned());
                self.copy("copy-python", text.unwrap_or_default());
            }
            Command::ReadTheRest => {
                let session = self.session.clone();
                spawn_local(async move { drop(session.reopen(session.options()).await) });
            }
            Command::SaveTable => super::analysis::save_table(self),
            Command::Help => sheets::toggle(dom, "help"),
            Command::Why(place) => {
                sheets::toggle(dom, "help");
                if let Some(part) = HELP.get(place as usize).and_then(|id| dom.find(id)) {
                    part.scroll_into_view();
                }
            }
            _ => {}
        }
    }

    fn is_shown(&self, id: &str) -> bool {
        self.by_id::<HtmlElement>(id).is_ok_and(|element| element.offset_width() > 0)
    }

    /// The app of now.
    pub fn with_app<T>(&self, look: impl FnOnce(&App) -> T) -> T {
        look(&self.app.borrow())
    }

    /// A session whose files are not open yet.
    pub fn waiting_session(&self) -> Option<SessionFile> {
        self.app.borrow().session.clone()
    }

    /// Text to the clipboard; the button of this id tells what became of it.
    fn copy(self: &Rc<Self>, id: &'static str, text: String) {
        let shell = self.clone();
        let Some(window) = web_sys::window() else { return };
        let written = window.navigator().clipboard().write_text(&text);
        spawn_local(async move {
            let words =
                if JsFuture::from(written).await.is_ok() { "Copied" } else { "The browser does not allow copying" };
            shell.dom.text(id, words);
        });
    }
}

async fn answer(engine: &Engine, ask: Ask) -> Result<Answer> {
    Ok(match ask {
        Ask::Sums(product, pixels) => Answer::Sums(product, engine.virtual_image(&pixels).await?),
        Ask::Moments(pixels) => Answer::Moments(engine.moments(&pixels).await?),
        Ask::Segments(all) => {
            let mut sums = Vec::with_capacity(all.len());
            for pixels in &all {
                sums.push(engine.virtual_image(pixels).await?);
            }
            Answer::Segments(sums)
        }
        Ask::Phase(field, how) => Answer::Phase(integrate(&field, how, &Pace::default().rest()).await),
        Ask::Pattern(frame) => Answer::Pattern(frame, engine.pattern(frame).await?),
        Ask::Patterns(frames) => Answer::Patterns(engine.sum_pattern(&frames).await?),
        Ask::Squares(pixels) => Answer::Squares(pixels.count(), engine.squares(&pixels).await?),
        Ask::MaxPattern(frames) => Answer::MaxPattern(engine.max_pattern(&frames).await?),
        Ask::SquarePattern(frames) => Answer::SquarePattern(engine.square_pattern(&frames).await?),
        Ask::Spectrum { values, rows, cols } => {
            Answer::Spectrum(spectrum(&values, rows, cols, true, &Pace::default().rest()).await)
        }
    })
}

/// Gives the thread back to the page when a slice of work has taken long enough.
#[derive(Default)]
struct Pace(Rc<Cell<f64>>);

/// A slice of work leaves the page half of a frame.
const SLICE_MS: f64 = 8.0;

impl Pace {
    fn rest(self) -> impl AsyncFn() {
        self.0.set(crate::load::now_ms());
        async move || {
            if crate::load::now_ms() - self.0.get() > SLICE_MS {
                gloo_timers::future::TimeoutFuture::new(0).await;
                self.0.set(crate::load::now_ms());
            }
        }
    }
}

/// The view as automation sees it: plain JSON in and out.
pub struct Automation(pub Rc<Shell>);

impl crate::probe::View for Automation {
    fn state(&self) -> serde_json::Value {
        serde_json::to_value(self.0.state()).unwrap_or_default()
    }

    fn look_at_copies(&self) {
        copies::refresh(&self.0);
    }

    fn pause(&self, paused: bool) {
        self.0.pause(paused);
    }

    fn drawn(&self) -> u32 {
        self.0.drawn()
    }

    fn series(&self) -> serde_json::Value {
        self.0.with_app(App::series_facts)
    }

    fn obey(&self, command: Command) {
        self.0.send(Event::Do(command));
    }

    fn enter_budget(&self, text: String) {
        self.0.send(Event::Enter(Entry::Budget, text));
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
