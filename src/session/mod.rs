//! The open set, and the one way to open another. The page and automation go through the same calls.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use futures_channel::oneshot;
use futures_util::{
    future::{join, select},
    lock::Mutex,
};
use gloo_timers::future::TimeoutFuture;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::File;

pub use bundle::{Bundle, BundleFault, BundleNews, BundleSet};
pub use copies::Copies;
pub use remote::demo_files;
pub use reset::Reset;

use series::{Held, OpenSets};

use crate::{
    Error, Kind, Result,
    acquisition::{Acquisition, Options, ScanFrom, contents::Contents},
    engine::{Engine, FrameState, PixelSet},
    gpu::Context,
    kept::Storage,
    load::{Event, LoadProfile, Loader, Path, SourceKind, Tuning, now_ms},
    products::{Flip, ScanOrder},
    shape::Scan,
    source::Picked,
};

mod bundle;
mod copies;
mod remote;
mod reset;
mod series;

/// A set on show: what it is, its frames, and the pixels that count.
#[derive(Clone)]
pub struct Active {
    pub set: Rc<Acquisition>,
    pub engine: Rc<Engine>,
    /// All pixels, as stored, but the masked ones, those that are sentinel in every frame, and `excluded`.
    pub good: PixelSet,
    /// Pixels that the user leaves out.
    pub excluded: PixelSet,
    /// How patterns are shown.
    pub flip: Flip,
    /// How patterns lie on the scan.
    pub order: ScanOrder,
}

/// The readers, the adapter and the active set.
pub struct Session {
    loader: RefCell<Rc<Loader>>,
    /// Why there is no WebGPU.
    no_gpu: Option<Error>,
    path: Cell<Path>,
    open: RefCell<OpenSets>,
    /// Files of the active load, to add missing ones to or to open again on the other path.
    picked: RefCell<(Vec<Picked>, SourceKind)>,
    /// The same as readers have them: they may be those of a copy.
    held: RefCell<(Vec<Picked>, SourceKind)>,
    /// Counts whenever readers get other files.
    hands: Cell<u32>,
    /// Counts what the user opens; all loads of a series belong to one.
    openings: Cell<u32>,
    /// All sets of the files are to be opened together.
    wants_all: Cell<bool>,
    /// The load that began last is one of a series, and is under way.
    is_of_series: Cell<bool>,
    is_reading: Cell<bool>,
    /// What the user has chosen of them.
    options: RefCell<Options>,
    profile: RefCell<Option<Rc<LoadProfile>>>,
    waiting: RefCell<Vec<oneshot::Sender<Ended>>>,
    listeners: RefCell<Vec<Listener<Event>>>,
    /// When the load under way began, and who waits for its first image.
    started_ms: Cell<f64>,
    first_image: RefCell<FirstImage>,
    /// Who hears of a GPU that was reset.
    lost_listeners: RefCell<Vec<Listener<Reset>>>,
    /// Who hears of finished profiles, and whether it is that of the set on show.
    watchers: RefCell<Vec<Watcher>>,
    errors: RefCell<Vec<String>>,
    /// Copies in the browser's storage, or why there cannot be any.
    storage: Mutex<Result<Storage>>,
    is_keeping: Cell<bool>,
}

/// The first presented image that covers enough of the scan.
#[derive(Default)]
struct FirstImage {
    /// The set that the opening began with.
    of: Option<usize>,
    at_ms: Option<f64>,
    waiting: Option<oneshot::Sender<()>>,
}

/// Is called with everything of its kind that happens.
type Listener<T> = Rc<dyn Fn(&T)>;

/// Is called with the profile of every load that ended, and whether its set is on show.
type Watcher = Rc<dyn Fn(&LoadProfile, bool)>;

/// How a load ended.
pub type Ended = Result<Rc<LoadProfile>>;

impl Session {
    /// Asks for the adapter and starts the readers.
    pub async fn start(tuning: Tuning) -> Rc<Self> {
        let (context, storage) = join(Context::new(), Storage::open()).await;
        let (context, no_gpu) = match context {
            Ok(context) => (Some(Rc::new(context)), None),
            Err(error) => (None, Some(error)),
        };
        let session = Rc::new(Self {
            loader: RefCell::new(Rc::new(Loader::new(context, tuning))),
            no_gpu,
            path: Cell::new(Path::Gpu),
            open: RefCell::default(),
            picked: RefCell::default(),
            held: RefCell::default(),
            hands: Cell::default(),
            openings: Cell::default(),
            wants_all: Cell::default(),
            is_of_series: Cell::default(),
            is_reading: Cell::default(),
            options: RefCell::default(),
            profile: RefCell::default(),
            waiting: RefCell::default(),
            listeners: RefCell::default(),
            started_ms: Cell::default(),
            first_image: RefCell::default(),
            lost_listeners: RefCell::default(),
            watchers: RefCell::default(),
            errors: RefCell::default(),
            storage: Mutex::new(storage),
            is_keeping: Cell::default(),
        });
        let prepared = session.loader();
        spawn_local(async move { prepared.prepare().await });
        let watched = session.clone();
        spawn_local(async move { watched.watch_gpu().await });
        session
    }

    /// Who hears of every step of a load, after the session has taken note of it.
    pub fn listen(&self, listener: Rc<dyn Fn(&Event)>) {
        self.listeners.borrow_mut().push(listener);
    }

    /// Who hears of the profile of every load that ended, and whether its set is on show.
    pub fn watch(&self, watcher: Watcher) {
        self.watchers.borrow_mut().push(watcher);
    }

    /// The loader of now: it is made anew when the GPU was reset.
    pub fn loader(&self) -> Rc<Loader> {
        self.loader.borrow().clone()
    }

    pub fn no_gpu(&self) -> Option<&Error> {
        self.no_gpu.as_ref()
    }

    pub fn path(&self) -> Path {
        self.path.get()
    }

    pub fn active(&self) -> Option<Active> {
        let open = self.open.borrow();
        open.sets.get(open.shown)?.active.clone()
    }

    fn with_active(&self, change: impl FnOnce(&mut Active)) {
        let mut open = self.open.borrow_mut();
        let shown = open.shown;
        if let Some(active) = open.sets.get_mut(shown).and_then(|held| held.active.as_mut()) {
            change(active);
        }
    }

    /// Of the last load that ended; `None` while one is under way.
    pub fn profile(&self) -> Option<Rc<LoadProfile>> {
        self.profile.borrow().clone()
    }

    /// All that was reported since the start, the adapter's errors included.
    pub fn errors(&self) -> Vec<String> {
        let mut errors = self.errors.borrow().clone();
        errors.extend(self.loader().context().map(|context| context.errors()).unwrap_or_default());
        errors
    }

    /// Opens `files` and waits until the load has ended; with several sets, until one was chosen and loaded.
    ///
    /// # Errors
    /// What the user sees: the set cannot be opened, or the load was cancelled.
    pub async fn open(self: &Rc<Self>, files: Vec<Picked>, kind: SourceKind) -> Ended {
        self.open_with(files, kind, Options::default(), false).await
    }

    /// Opens `files` with what was chosen of them before.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub async fn open_as(self: &Rc<Self>, files: Vec<Picked>, kind: SourceKind, options: Options) -> Ended {
        self.open_with(files, kind, options, false).await
    }

    /// `wants_all`: several sets are opened together, where the user would have to choose.
    async fn open_with(
        self: &Rc<Self>,
        files: Vec<Picked>,
        kind: SourceKind,
        options: Options,
        wants_all: bool,
    ) -> Ended {
        let started_ms = now_ms();
        if files.is_empty() {
            return Err(no_files());
        }
        *self.picked.borrow_mut() = (files.clone(), kind);
        self.options.borrow_mut().clone_from(&options);
        self.profile.take();
        self.started_ms.set(started_ms);
        let opening = self.openings.get() + 1;
        self.openings.set(opening);
        self.wants_all.set(wants_all);
        self.is_of_series.set(false);
        self.is_reading.set(false);
        self.first_image.take();
        let (sender, ended) = oneshot::channel();
        // Whoever waits for the load before learns that it was replaced.
        *self.waiting.borrow_mut() = vec![sender];
        self.loader().supersede();
        let (files, kind) = match self.recall(&files).await {
            _ if self.openings.get() != opening => return Err(replaced()),
            Some(copy) => (copy, SourceKind::Opfs),
            None => (files, kind),
        };
        *self.held.borrow_mut() = (files.clone(), kind);
        self.next_hand();
        let session = Rc::downgrade(self);
        let sink = Rc::new(move |event: Event| {
            if let Some(session) = session.upgrade() {
                session.note(event);
            }
        });
        self.loader().open(files, kind, self.path.get(), options, started_ms, sink).await;
        ended.await.unwrap_or_else(|_| Err(replaced()))
    }

    /// Opens the set again with `more` files added.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub async fn add(self: &Rc<Self>, more: Vec<Picked>) -> Ended {
        let (mut files, kind) = self.picked.borrow().clone();
        files.retain(|file| more.iter().all(|new| new.name() != file.name()));
        files.extend(more);
        self.open_with(files, kind, self.options(), false).await
    }

    /// Opens the set again, on the other path.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub async fn take_path(self: &Rc<Self>, path: Path) -> Ended {
        self.path.set(path);
        self.reopen(self.options()).await
    }

    /// What the user has chosen of the files that are open.
    pub fn options(&self) -> Options {
        self.options.borrow().clone()
    }

    /// Opens the same files again, with another choice of dataset, channel or order of axes.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub async fn reopen(self: &Rc<Self>, options: Options) -> Ended {
        if self.is_series() && options.dataset.is_none() {
            let picked = self.open.borrow().series.as_ref().map(|series| series.picked.clone());
            let (files, kind) = picked.unwrap_or_default();
            return self.open_with(files, kind, Options { set: None, ..options }, true).await;
        }
        // Of several sets in one drop the same one is meant again.
        let same = self.active().filter(|_| options.dataset.is_none()).map(|active| active.set.name.clone());
        let options = Options { set: options.set.clone().or(same), ..options };
        let (files, kind) = self.picked.borrow().clone();
        self.open_with(files, kind, options, false).await
    }

    /// Opens a set by the address of its master (or only file): the files it links to are asked for beside it.
    ///
    /// # Errors
    /// As [`Session::open`], and when the address does not answer Range requests.
    pub async fn open_url(self: &Rc<Self>, master: &str) -> Ended {
        let files = remote::set_of(self, master).await?;
        self.open(files, SourceKind::Url).await
    }

    /// Opens files at these addresses as one set.
    ///
    /// # Errors
    /// As [`Session::open_url`].
    pub async fn open_urls(self: &Rc<Self>, urls: &[String], kind: SourceKind) -> Ended {
        let files = remote::all(urls).await?;
        self.open(files, kind).await
    }

    /// Takes note of sentinels of the set at `place`: pixels that never count, frames that are padding. Returns the
    /// pixels that count nowhere, where that has changed.
    ///
    /// # Errors
    /// `Gpu`, as every question to the engine.
    pub async fn take_census(&self, place: usize) -> Result<Option<PixelSet>> {
        let active = self.open.borrow().sets.get(place).and_then(|held| held.active.clone());
        let Some(active) = active else { return Ok(None) };
        let unmasked = unmasked(&active.set);
        let census = active.engine.census(&unmasked).await?;
        active.engine.exclude(&census.sentinel_frames);
        let sentinel = PixelSet { detector: active.set.detector, words: census.sentinel_pixels };
        let good = unmasked.without(&sentinel).without(&active.excluded);
        let mut open = self.open.borrow_mut();
        let current = open.sets.get_mut(place).and_then(|held| held.active.as_mut());
        let Some(current) = current.filter(|current| Rc::ptr_eq(&current.engine, &active.engine)) else {
            return Ok(None);
        };
        let has_changed = current.good != good || !census.sentinel_frames.is_empty();
        let all = PixelSet::of(active.set.detector, |_, _| true);
        let bad = has_changed.then(|| all.without(&good));
        current.good = good;
        Ok(bad)
    }

    /// The scan shape as the user entered it: the active set is seen so from now on.
    pub fn set_scan(&self, shape: Scan) {
        self.with_active(|active| {
            if active.set.scan.shape != shape {
                let mut set = (*active.set).clone();
                set.scan.shape = shape;
                set.scan.from = ScanFrom::Entered;
                active.set = Rc::new(set);
            }
        });
    }

    /// Pixels, as stored, that count nowhere from now on, beside the masked and the sentinel ones.
    pub fn exclude(&self, pixels: PixelSet) {
        self.with_active(|active| {
            active.good = active.good.with(&active.excluded).without(&pixels);
            active.excluded = pixels;
        });
    }

    /// How patterns lie on the scan from now on.
    pub fn set_order(&self, order: ScanOrder) {
        self.with_active(|active| active.order = order);
    }

    /// How patterns are shown from now on.
    pub fn set_flip(&self, flip: Flip) {
        self.with_active(|active| active.flip = flip);
    }

    /// All groups and datasets of the files that are open, or that were refused.
    ///
    /// # Errors
    /// When no files are open, or a reader is lost.
    pub async fn contents(&self) -> Result<Vec<Contents>> {
        if self.picked.borrow().0.is_empty() {
            return Err(no_files());
        }
        self.loader().contents().await
    }

    /// A virtual image was presented. The first one of the load that covers at least 5 % of the positions,
    /// in every eighth of the scan, is noted.
    pub fn note_image(&self) {
        let Some(active) = self.active() else { return };
        let mut first = self.first_image.borrow_mut();
        if first.of != Some(self.open.borrow().shown)
            || first.at_ms.is_some()
            || !is_spread(&active.engine.frame_states(), active.set.scan.shape)
        {
            return;
        }
        first.at_ms = Some(now_ms() - self.started_ms.get());
        if let Some(waiting) = first.waiting.take() {
            // Nobody waits any more after the time limit.
            let _ = waiting.send(());
        }
    }

    fn note(self: &Rc<Self>, event: Event) {
        match &event {
            Event::Started { set, engine } => {
                let excluded = PixelSet::of(set.detector, |_, _| false);
                let (set, engine, good) = (set.clone(), engine.clone(), unmasked(set));
                let (flip, order) = Default::default();
                let held = Held { set: set.clone(), active: Some(Active { set, engine, good, excluded, flip, order }) };
                let mut open = self.open.borrow_mut();
                let reading = open.reading;
                match open.sets.get_mut(reading).filter(|_| self.is_of_series.get()) {
                    Some(member) => *member = held,
                    None => *open = OpenSets { sets: vec![held], ..OpenSets::default() },
                }
                let of = open.reading;
                self.first_image.borrow_mut().of.get_or_insert(of);
            }
            Event::Choice(sets) if self.wants_all.get() && sets.len() > 1 => return self.open_all(),
            Event::Finished { error: None, .. } => self.is_reading.set(false),
            Event::Notice(error) => self.errors.borrow_mut().push(error.to_string()),
            Event::Finished { error: Some(error), .. } => {
                self.is_reading.set(false);
                self.errors.borrow_mut().push(error.to_string());
            }
            _ => {}
        }
        self.tell(&event);
        if let Event::Finished { profile, error } = event {
            let (session, waiting) = (self.clone(), self.waiting.take());
            let place = self.reading();
            spawn_local(async move { session.publish(place, profile, error, waiting).await });
        }
    }

    fn tell(&self, event: &Event) {
        let listeners = self.listeners.borrow().clone();
        listeners.iter().for_each(|listener| listener(event));
    }

    /// Completes the profile by the first image, which a small set shows after its last decode, and hands it
    /// to whoever waits.
    async fn publish(
        &self,
        place: usize,
        profile: Rc<LoadProfile>,
        error: Option<Error>,
        waiting: Vec<oneshot::Sender<Ended>>,
    ) {
        let opening = self.openings.get();
        let is_first = self.first_image.borrow().of == Some(place);
        // Patterns that are too few to cover the scan make no such image.
        let may_cover = |active: Active| is_spread(&active.engine.frame_states(), active.set.scan.shape);
        let is_on_show = is_first && self.open.borrow().shown == place;
        if is_on_show
            && error.is_none()
            && self.first_image.borrow().at_ms.is_none()
            && self.active().is_some_and(may_cover)
        {
            let (shown, is_shown) = oneshot::channel();
            self.first_image.borrow_mut().waiting = Some(shown);
            select(is_shown, TimeoutFuture::new(FIRST_IMAGE_PATIENCE_MS)).await;
        }
        if opening != self.openings.get() {
            return;
        }
        if profile.source_kind == SourceKind::Opfs {
            self.note_use().await;
        }
        let first_image_ms = self.first_image.borrow().at_ms.filter(|_| is_first);
        let profile = Rc::new(LoadProfile { first_image_ms, ..(*profile).clone() });
        *self.profile.borrow_mut() = Some(profile.clone());
        let watchers = self.watchers.borrow().clone();
        let is_on_show = !self.is_series() || self.open.borrow().shown == place;
        watchers.iter().for_each(|watcher| watcher(&profile, is_on_show));
        for waiting in waiting {
            let ended = error.clone().map_or_else(|| Ok(profile.clone()), Err);
            // Whoever asked may have left.
            let _ = waiting.send(ended);
        }
    }
}

fn replaced() -> Error {
    Error::new(Kind::Io, "cancelled", "Another set was opened")
}

fn no_files() -> Error {
    Error::new(Kind::Io, "no_files", "No files were given").action("Pick the master and its data files")
}

/// Whether frames of at least 5 % of the positions are decoded, some in every eighth of the scan.
fn is_spread(states: &[FrameState], scan: Scan) -> bool {
    let positions = (scan.positions() as usize).min(states.len());
    let states = &states[..positions];
    // Aborted frames are shown too, as such.
    let is_decoded = |state: &&FrameState| matches!(state, FrameState::Valid | FrameState::Sentinel);
    let decoded = |states: &[FrameState]| states.iter().filter(is_decoded).count();
    let bands = states.chunks(positions.div_ceil(BANDS).max(1));
    decoded(states) * 20 >= positions && bands.into_iter().all(|band| decoded(band) > 0)
}

/// Parts of the scan that an image must reach to cover it.
const BANDS: usize = 8;
/// A page in the background presents nothing; its profile does not wait for ever.
const FIRST_IMAGE_PATIENCE_MS: u32 = 10_000;

/// Pixels outside the mask.
pub fn unmasked(set: &Acquisition) -> PixelSet {
    let masked = PixelSet { detector: set.detector, words: set.bad_pixels.bits(set.detector) };
    PixelSet::of(set.detector, |_, _| true).without(&masked)
}

/// The files of a `FileList` or an array of files.
pub fn files_of(list: &wasm_bindgen::JsValue) -> Vec<Picked> {
    js_sys::Array::from(list).iter().filter_map(|file| file.dyn_into::<File>().ok()).map(Picked::File).collect()
}
