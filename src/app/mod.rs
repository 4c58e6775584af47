//! What is shown, and what happens next: one [`App::update`] for every event, one [`App::frame`] for
//! every picture. Pure: no browser, no GPU, no clock; what has to be done outside comes back as
//! [`Effect`]s. `view` draws what it finds here.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};

use crate::{
    Error,
    acquisition::{Acquisition, contents::Contents},
    display::{Field, Histogram, Limits, Percentiles, Scale, Unit},
    export::session::SessionFile,
    products::{
        DetectorShape, Disc,
        deflection::AngleCurve,
        profile::{Figures, Ring},
    },
    shape::Scan,
};

pub mod camera;
pub mod command;
mod copies;
pub mod deflection;
pub mod detector;
pub mod entry;
pub mod event;
pub mod exports;
mod history;
pub mod information;
pub mod keys;
pub mod notices;
pub mod open_set;
pub mod pictures;
mod play;
pub mod playback;
pub mod scales;
pub mod state;
pub mod words;

pub mod analysis;
mod reread;
pub mod residency;
pub mod series;
mod update;
pub mod user;

pub use camera::Camera;
pub use command::{Command, Panel};
pub use event::{Ask, Computer, Effect, Event, Lane};
pub use open_set::OpenSet;
pub use state::ViewState;

use state::{Family, Look, Product};
use user::Hold;

/// The page's state. See the module.
#[derive(Default)]
pub struct App {
    pub state: ViewState,
    pub computer: Computer,
    pub copies: event::Copies,
    pub set: Option<OpenSet>,
    /// How many files are being looked at for what they mean.
    pub opening: Option<u32>,
    /// Sets among which the user has to choose; a single one has rivals in its own file.
    pub choice: Vec<Rc<Acquisition>>,
    /// All datasets of the files, once they were asked for.
    pub contents: Option<Vec<Contents>>,
    /// Why no set could be opened; only while none is open.
    pub refusal: Option<Error>,
    pub messages: Vec<Message>,
    /// The user has seen that there is no GPU.
    pub gpu_notice_hidden: bool,
    pub selected: Panel,
    pub image: Option<Shown>,
    pub pattern: Option<Shown>,
    /// Means over rings of a pattern, by its serial and their centre: they take milliseconds.
    rings: RefCell<Option<RingsOf>>,
    pub thumbs: HashMap<Product, Thumb>,
    pub hover: Option<(Panel, [f64; 2])>,
    /// Why the last entry of a field was not taken.
    pub wrong_entry: Option<(event::Entry, String)>,
    /// A disc found in all patterns that differs from the frozen one.
    pub better_disc: Option<Disc>,
    /// Time of the last image, ms.
    pub image_ms: Option<f64>,
    /// Side of each view, CSS px.
    pub sides: [f64; 2],
    /// The GPU was reset, and what lay on it is being read again; pictures stay until others are there.
    pub rebuilding: bool,
    /// Patterns are played.
    pub playing: bool,
    /// The sets that are open together; the active one is `set`.
    pub series: Option<series::Series>,
    /// Bytes that the sets of a series may take, as the user typed them.
    entered_budget: Option<u64>,
    /// The device is lost, and there is no other yet.
    gpu_is_away: bool,
    /// A session whose files are not open yet.
    pub session: Option<SessionFile>,
    history: history::History,
    /// The corner of a polygon that was held last.
    vertex: Option<usize>,
    /// What takes long to work out for a large scan, kept while nothing of it has changed: the curve of the angle, the
    /// figures of the image.
    curve_of_now: Cell<Option<CurveOf>>,
    figures_of_now: RefCell<Option<FiguresOf>>,
    /// The rotation is to be found once the deflection is known.
    rotation_is_due: bool,
    random: u32,
    pub hold: Option<Hold>,
    /// The state was given from outside before a set was open; the next set keeps it.
    state_is_given: bool,
    sets_opened: u32,
    now_ms: f64,
    shelf_asked_ms: f64,
    /// When small pictures were made last.
    thumbs_made_ms: f64,
    /// When the last picture and the last pattern were answered.
    image_came_ms: f64,
    pattern_came_ms: f64,
    stale: Stale,
    serial: u32,
}

/// The curve of the angle, and what it is of: set, answer, scan, transposed.
type CurveOf = ((u32, u32, Scan, bool), AngleCurve);

/// Means over rings, and what they are of: picture and centre.
type RingsOf = (u32, [f64; 2], Vec<Ring>);

/// Figures, and what they are of: picture and region.
type FiguresOf = (u32, Option<DetectorShape>, Option<Figures>);

/// Something to be told beside the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub error: Error,
    pub level: Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Grey: worth knowing.
    Note,
    /// Part of the data is not there, or a guess was made.
    Warning,
    Fault,
}

/// A panel's picture, ready to be painted.
pub struct Shown {
    pub field: Field,
    pub look: Look,
    pub limits: Limits,
    /// Step that a logarithmic scale resolves near 0.
    pub unit: f64,
    pub histogram: Histogram,
    /// Number of cells of each kind, by the kind's number.
    pub cells: [u32; 4],
    /// Limits that it would have for itself; those of a series may be shared.
    own_limits: Limits,
    /// What it is a picture of; automatic limits hold only for the same.
    subject: Subject,
    limits_ms: f64,
    /// Differs when anything above differs.
    pub serial: u32,
}

impl Shown {
    fn is_of(&self, product: Product) -> bool {
        self.subject == Subject::Product(product)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Product(Product),
    Pattern(state::PatternOf),
}

/// A small picture of the shelf.
pub struct Thumb {
    pub field: Field,
    pub look: Look,
    pub limits: Option<Limits>,
    pub unit: f64,
    pub serial: u32,
}

/// What has to be made anew before the next picture.
#[derive(Default)]
struct Stale {
    image: bool,
    pattern: bool,
    thumbs: Vec<Product>,
}

/// Which part of the page is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Empty,
    Opening,
    Choice,
    Refused,
    Reading,
    Set,
}

impl Stage {
    /// As in the page's `data-stage`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Opening => "opening",
            Self::Choice => "choice",
            Self::Refused => "refused",
            Self::Reading => "reading",
            Self::Set => "set",
        }
    }
}

impl App {
    pub fn stage(&self) -> Stage {
        match &self.set {
            _ if !self.choice.is_empty() => Stage::Choice,
            Some(set) if set.reading == open_set::Reading::Going => Stage::Reading,
            Some(_) => Stage::Set,
            None if self.opening.is_some() => Stage::Opening,
            None if self.refusal.is_some() => Stage::Refused,
            None => Stage::Empty,
        }
    }

    /// Takes an event, at `now_ms` since the page started. What has to be done outside is returned.
    pub fn update(&mut self, now_ms: f64, event: Event) -> Vec<Effect> {
        self.now_ms = now_ms;
        let mut effects = Vec::new();
        let what = history::Kind::of(&event);
        self.take(event, &mut effects);
        self.remember(what);
        self.ask_what_is_missing(&mut effects);
        self.tend_series(&mut effects);
        effects
    }

    /// Makes the pictures that have changed. Whether something is still to come on its own: limits that
    /// wait for their time, or small pictures that wait for an idle moment.
    pub fn frame(&mut self, now_ms: f64) -> bool {
        self.now_ms = now_ms;
        if self.set.is_none() {
            (self.image, self.pattern) = (None, None);
            self.thumbs.clear();
            return false;
        }
        self.make_image();
        let more = self.make_the_rest();
        self.make_tiles();
        more
    }

    /// The image, if it has changed.
    fn make_image(&mut self) {
        let Some(set) = self.set.as_ref().filter(|_| std::mem::take(&mut self.stale.image)) else { return };
        let reading = set.reading == open_set::Reading::Going;
        let product = self.state.product;
        let look = *self.state.looks.of(product.family());
        let is_same = self.image.as_ref().is_some_and(|shown| shown.is_of(product));
        let field = set.field(product, &self.state).filter(|_| is_same || set.fits(product, &self.state));
        let percentiles = percentiles(product.family(), &look);
        // Without a field the last good picture stays.
        if let Some(field) = field {
            self.serial += 1;
            let (before, subject) = (self.image.take(), Subject::Product(product));
            self.image = Some(shown(field, look, percentiles, subject, before, self.now_ms, reading, self.serial));
        }
    }

    /// The pattern and the small pictures, if they have changed. Whether something is still to come.
    fn make_the_rest(&mut self) -> bool {
        let Some(set) = &self.set else { return false };
        let (reading, now_ms) = (set.reading == open_set::Reading::Going, self.now_ms);
        if std::mem::take(&mut self.stale.pattern) {
            let look = self.state.looks.pattern;
            if let Some(field) = set.pattern_field(self.state.pattern, &self.state) {
                self.serial += 1;
                let (before, subject) = (self.pattern.take(), Subject::Pattern(self.state.pattern));
                let percentiles = percentiles(Family::Pattern, &look);
                self.pattern = Some(shown(field, look, percentiles, subject, before, now_ms, reading, self.serial));
            }
        }
        // A few small pictures a frame, so that no frame takes long; rarely while the set is read.
        let is_rest = reading && now_ms - self.thumbs_made_ms < update::SHELF_REST_MS;
        let due = if is_rest { 0 } else { self.stale.thumbs.len().min(THUMBS_A_FRAME) };
        if due > 0 {
            self.thumbs_made_ms = now_ms;
        }
        let mut due: Vec<_> = self.stale.thumbs.drain(..due).collect();
        due.dedup();
        for product in due {
            self.serial += 1;
            if let Some(field) = set.field(product, &self.state) {
                let look = *self.state.looks.of(product.family());
                self.thumbs.insert(product, thumb(&field, look, percentiles(product.family(), &look), self.serial));
            }
        }
        reading || !self.stale.thumbs.is_empty() || !self.shelf_is_full()
    }

    /// Whether the panel's next picture takes so long that it has to be said.
    pub fn is_late(&self, panel: Panel) -> bool {
        let lane = [Lane::Image, Lane::Pattern][panel as usize];
        let asked = self.set.as_ref().and_then(|set| set.asked_ms(lane));
        asked.is_some_and(|asked_ms| self.now_ms - asked_ms > LATE_MS)
    }

    /// Whether the panel shows what the view says, not a picture of before; of a set that is being read, as far as it
    /// goes.
    pub fn is_current(&self, panel: Panel) -> bool {
        let (Some(set), Some(shown)) = (&self.set, self.shown(panel)) else { return false };
        let reading = set.reading == open_set::Reading::Going;
        let (subject, is_stale) = match panel {
            Panel::Image => (Subject::Product(self.state.product), self.stale.image),
            Panel::Pattern => (Subject::Pattern(self.state.pattern), self.stale.pattern),
        };
        let fits = match panel {
            Panel::Image if reading => set.fits(self.state.product, &self.state),
            Panel::Image => set.want(self.state.product, &self.state).is_some_and(|want| set.has(&want)),
            Panel::Pattern => reading || set.has(&set.want_pattern(&self.state)),
        };
        shown.subject == subject && !is_stale && fits
    }

    /// Whether the panel's picture is still to come.
    pub fn is_awaited(&self, panel: Panel) -> bool {
        let lane = [Lane::Image, Lane::Pattern][panel as usize];
        self.set.as_ref().is_some_and(|set| !set.is_idle(lane)) || self.stale.image || self.stale.pattern
    }

    pub fn shown(&self, panel: Panel) -> Option<&Shown> {
        match panel {
            Panel::Image => self.image.as_ref(),
            Panel::Pattern => self.pattern.as_ref(),
        }
    }

    /// What the panel shows of its data.
    pub fn camera(&self, panel: Panel) -> Option<Camera> {
        let set = self.set.as_ref()?;
        Some(match panel {
            Panel::Image => {
                let scan = set.shape();
                Camera::new(self.sides[0], scan.rows, scan.cols, self.state.image_view)
            }
            Panel::Pattern => {
                let detector = set.detector();
                Camera::new(self.sides[1], detector.rows, detector.cols, self.state.pattern_view)
            }
        })
    }

    /// The unit of the panel's scale bar.
    pub fn unit(&self, panel: Panel) -> Unit {
        let measures = self.measures();
        match panel {
            Panel::Image => measures.step_nm.map_or(Unit::Px, Unit::Nm),
            Panel::Pattern => measures.mrad_per_px.map_or(Unit::Px, Unit::Mrad),
        }
    }

    /// The detector that is drawn over the pattern, and whether it is everything outside; `None` for products
    /// of all pixels.
    pub fn detector_shape(&self) -> Option<(DetectorShape, bool)> {
        self.set.as_ref()?.shape_of(self.state.product, &self.state)
    }

    fn shelf_is_full(&self) -> bool {
        let Some(set) = &self.set else { return true };
        let done = |product: &Product| set.want(*product, &self.state).is_none_or(|want| set.has(&want));
        Product::ALL.iter().all(done)
    }
}

/// Automatic limits move at most four times a second while the set is being read.
const LIMITS_REST_MS: f64 = 250.0;

/// A picture that takes longer is said to be on its way.
const LATE_MS: f64 = 150.0;

const THUMBS_A_FRAME: usize = 2;

/// Cells along the longer side of a small picture.
const THUMB_SIDE: u32 = 192;

#[expect(clippy::too_many_arguments, reason = "the parts of one picture, made in one place")]
fn shown(
    field: Field,
    look: Look,
    percentiles: Percentiles,
    subject: Subject,
    before: Option<Shown>,
    now_ms: f64,
    reading: bool,
    serial: u32,
) -> Shown {
    let same = before.filter(|before| before.subject == subject);
    let resting =
        same.filter(|before| reading && before.look.limits.is_none() && now_ms - before.limits_ms < LIMITS_REST_MS);
    let (limits, limits_ms) = match (look.limits, resting) {
        (Some(limits), _) => (limits, now_ms),
        (None, Some(before)) => (before.own_limits, before.limits_ms),
        (None, None) => (percentiles.limits(&field).unwrap_or(NOTHING), now_ms),
    };
    let unit = scale_unit(&field, &look);
    let histogram = Histogram::of(&field, look.scale, unit, limits);
    let mut cells = [0; 4];
    field.cells.iter().for_each(|cell| cells[*cell as usize] += 1);
    Shown { field, look, limits, unit, histogram, cells, own_limits: limits, subject, limits_ms, serial }
}

/// The limits of a picture without any value.
const NOTHING: Limits = Limits { low: 0.0, high: 1.0 };

fn thumb(field: &Field, look: Look, percentiles: Percentiles, serial: u32) -> Thumb {
    let field = field.box_averaged(THUMB_SIDE);
    Thumb { limits: percentiles.limits(&field), unit: scale_unit(&field, &look), look, serial, field }
}

/// What a scale measures by: a logarithm one count, or four decades below the largest magnitude, of spreads two; a
/// symmetric one a hundredth of it; a power its exponent.
fn scale_unit(field: &Field, look: &Look) -> f64 {
    let largest = || field.known().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    match look.scale {
        Scale::Power => look.gamma,
        Scale::Symlog => (largest() * 1e-2).max(f64::MIN_POSITIVE),
        _ if field.counts => 1.0,
        _ if field.unit.starts_with("counts") => (largest() * 1e-2).max(f64::MIN_POSITIVE),
        _ => (largest() * 1e-4).max(f64::MIN_POSITIVE),
    }
}

fn percentiles(family: Family, look: &Look) -> Percentiles {
    let usual = match family {
        Family::Image | Family::Phase => Percentiles::IMAGE,
        Family::Signed => Percentiles::SIGNED,
        // Colours of vectors begin at no deflection.
        Family::Colour => Percentiles::VECTORS,
        Family::Magnitude | Family::Pattern => Percentiles::PATTERN,
    };
    look.percentiles.map_or(usual, |[low, high]| Percentiles { low, high, ..usual })
}
