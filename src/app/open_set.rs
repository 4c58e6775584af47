//! The open set: what its files mean, what the engine has answered, and what is still wanted.

use std::{collections::HashMap, rc::Rc};

use super::{
    detector::{self, preset},
    event::{Answer, Ask, Lane, Memory, Progress, Report},
    pictures,
    state::{PatternOf, Product, ViewState},
};
use crate::{
    acquisition::{Acquisition, ScanChoice},
    display::Field,
    engine::{FrameFault, FrameState, Frames, Moments, Pattern, PatternSum, PixelSet, ScanSums},
    products::{CentreOfMass, DetectorShape, Flip, Integration, Orientation, hot_pixels, segments},
    shape::{Detector, Scan},
};

/// How far reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    Going,
    Done,
    /// Stopped by the user or by a fault; what was read stays.
    Stopped,
}

/// A wish, told so exactly that two equal wishes have equal answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Want {
    Sums {
        product: Product,
        shape: Option<DetectorShape>,
        inverted: bool,
        version: Version,
    },
    /// First moments of the pixels within a shape; of all without one.
    Moments {
        within: Option<DetectorShape>,
        version: Version,
    },
    /// Sums over `n` segments of a disc.
    Segments {
        ring: DetectorShape,
        n: u8,
        version: Version,
    },
    /// The phase, once what it is made of is here.
    Phase {
        source: Box<Want>,
        scan: Scan,
        about: [f64; 2],
        orientation: Orientation,
        how: Integration,
    },
    Pattern {
        frame: u32,
        version: Version,
    },
    Patterns(Version),
    /// The sum over a part of the scan.
    Region {
        shape: DetectorShape,
        scan: Scan,
        version: Version,
    },
    /// The transform of the picture with this number.
    Spectrum(u32),
}

impl Want {
    fn flip(&self) -> Flip {
        match self {
            Self::Sums { version, .. }
            | Self::Pattern { version, .. }
            | Self::Moments { version, .. }
            | Self::Segments { version, .. }
            | Self::Region { version, .. }
            | Self::Patterns(version) => version.flip,
            Self::Spectrum(_) => Flip::None,
            Self::Phase { source, .. } => source.flip(),
        }
    }
}

fn masked(acquisition: &Acquisition) -> PixelSet {
    let detector = acquisition.detector;
    PixelSet { detector, words: acquisition.bad_pixels.bits(detector) }
}

/// Grows with every batch, and with every change of the bad pixels and of the flip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version {
    batches: u32,
    bad: u32,
    flip: Flip,
}

/// When the bright-field disc is to be fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fit {
    /// No pattern is read yet.
    Waiting,
    /// To the mean of what is read; the view takes it.
    Wanted,
    /// To the mean of all patterns; it is only compared with the frozen one.
    Check,
    Frozen,
}

pub struct OpenSet {
    pub id: u32,
    pub acquisition: Rc<Acquisition>,
    pub scan: ScanChoice,
    /// Pixels that count nowhere, where they are shown: the file's mask, those found while reading, and hot ones that
    /// were excluded.
    pub bad: PixelSet,
    /// How many the reading found that the file's mask does not name.
    pub bad_found: u32,
    /// The same without the hot ones, as stored.
    bad_stored: PixelSet,
    /// Hot pixels, as stored; `None` before all patterns were looked at.
    pub hot: Option<PixelSet>,
    pub hot_is_excluded: bool,
    states: Vec<FrameState>,
    tally: Tally,
    pub faults: Vec<FrameFault>,
    /// The failed patterns were told in a message.
    pub faults_told: bool,
    pub reading: Reading,
    pub progress: Progress,
    pub memory: Memory,
    pub report: Report,
    pub fit: Fit,
    /// The disc was found, not assumed.
    pub disc_is_found: bool,
    pub version: Version,
    pub sums: HashMap<Product, (Want, ScanSums)>,
    pub moments: Option<(Want, Moments)>,
    pub segments: Option<(Want, Vec<ScanSums>)>,
    /// Where the beam is in every frame, of the last answer, and the mean over those that have counts.
    pub centres: Option<CentreOfMass>,
    pub scan_mean: Option<[f64; 2]>,
    /// Grows with every answer about the deflection.
    pub deflection_serial: u32,
    /// The last deflection was measured by segments.
    pub deflection_is_of_segments: bool,
    /// Detector px times scan steps.
    pub phase: Option<(Want, Vec<f64>)>,
    pub pattern: Option<(Want, u32, Pattern)>,
    pub patterns: Option<(Want, PatternSum)>,
    /// Those of a part of the scan.
    pub region: Option<(Want, PatternSum)>,
    /// Sizes of the frequencies of the image, and the picture of which it is.
    pub spectrum: Option<(Want, Vec<f64>)>,
    /// What each lane is waiting for, and since when, ms.
    in_flight: [Option<(Want, f64)>; 4],
    /// What the engine could not answer; not asked again.
    refused: Vec<Want>,
}

/// Frames by state, and the first one that is valid (0 without any): every picture asks for them.
#[derive(Clone, Copy)]
struct Tally {
    of: [u32; STATES.len()],
    first_valid: u32,
}

/// In the order of their numbers.
const STATES: [FrameState; 5] =
    [FrameState::Unread, FrameState::Valid, FrameState::Missing, FrameState::Failed, FrameState::Sentinel];

impl OpenSet {
    pub fn new(id: u32, acquisition: Rc<Acquisition>) -> Self {
        let bad = masked(&acquisition);
        Self {
            bad_stored: bad.clone(),
            hot: None,
            hot_is_excluded: false,
            id,
            scan: acquisition.scan.clone(),
            bad,
            bad_found: 0,
            tally: Tally { of: [acquisition.frames, 0, 0, 0, 0], first_valid: 0 },
            states: vec![FrameState::Unread; acquisition.frames as usize],
            faults: Vec::new(),
            faults_told: false,
            reading: Reading::Going,
            progress: Progress::default(),
            memory: Memory::default(),
            report: Report::default(),
            fit: Fit::Waiting,
            disc_is_found: true,
            version: Version::default(),
            sums: HashMap::new(),
            moments: None,
            segments: None,
            centres: None,
            scan_mean: None,
            deflection_serial: 0,
            deflection_is_of_segments: false,
            phase: None,
            pattern: None,
            patterns: None,
            region: None,
            spectrum: None,
            in_flight: [None, None, None, None],
            refused: Vec::new(),
            acquisition,
        }
    }

    pub fn detector(&self) -> Detector {
        self.acquisition.detector
    }

    pub fn shape(&self) -> Scan {
        self.scan.shape
    }

    pub fn signed(&self) -> bool {
        self.acquisition.dtype.is_signed()
    }

    pub fn batch_came(&mut self) {
        self.version.batches += 1;
    }

    /// Takes pixels found bad while reading; they are added to the mask's.
    pub fn set_bad(&mut self, found: &PixelSet) {
        let mask = masked(&self.acquisition);
        self.bad_found = found.without(&mask).count();
        self.bad_stored = mask.with(found);
        self.hot = None;
        self.sum_up_bad();
    }

    /// Leaves hot pixels out, or counts them; gives those that are now excluded beside the others, as stored.
    pub fn exclude_hot(&mut self, is_excluded: bool) -> PixelSet {
        self.hot_is_excluded = is_excluded;
        self.sum_up_bad();
        let none = PixelSet::of(self.detector(), |_, _| false);
        self.hot.clone().filter(|_| is_excluded).unwrap_or(none)
    }

    fn sum_up_bad(&mut self) {
        let bad = match self.hot.as_ref().filter(|_| self.hot_is_excluded) {
            Some(hot) => self.bad_stored.with(hot),
            None => self.bad_stored.clone(),
        };
        self.bad = self.version.flip.pixels(&bad);
        self.version.bad += 1;
    }

    /// Looks for hot pixels in the sum of all patterns, once it is there; gives how many are new.
    pub fn find_hot(&mut self) -> Option<u32> {
        let (want, patterns) = self.patterns.as_ref()?;
        if self.hot.is_some() || self.reading != Reading::Done || *want != Want::Patterns(self.version) {
            return None;
        }
        let flip = self.version.flip;
        let good = PixelSet::of(self.detector(), |_, _| true).without(&flip.pixels(&self.bad_stored));
        let found = hot_pixels(&patterns.sum, &good);
        let mut hot = PixelSet::of(self.detector(), |_, _| false);
        found.iter().for_each(|pixel| hot.words[*pixel as usize / 32] |= 1 << (pixel % 32));
        self.hot = Some(flip.pixels(&hot));
        Some(found.len() as u32)
    }

    pub fn flip(&self) -> Flip {
        self.version.flip
    }

    /// From now on everything is asked and shown with this flip.
    pub fn set_flip(&mut self, flip: Flip) {
        self.version.flip = flip;
        self.sum_up_bad();
    }

    /// The frame at a scan position, row-major.
    pub fn frame_at(&self, [row, col]: [u32; 2]) -> u32 {
        row.saturating_mul(self.shape().cols).saturating_add(col)
    }

    /// Where the cursor is: as set; else in the middle of the scan, and on the first pattern that was read until
    /// the one in the middle is.
    pub fn cursor(&self, state: &ViewState) -> [u32; 2] {
        let Scan { rows, cols } = self.shape();
        match state.cursor {
            Some([row, col]) => [row.min(rows.max(1) - 1), col.min(cols.max(1) - 1)],
            None => {
                let middle = [rows / 2, cols / 2];
                let is_valid = |state: &FrameState| *state == FrameState::Valid;
                if self.states.get(self.frame_at(middle) as usize).is_some_and(is_valid) {
                    return middle;
                }
                let first = self.tally.first_valid;
                [first / cols.max(1), first % cols.max(1)]
            }
        }
    }

    /// The detector that makes `product`, and whether it is everything outside; `None` for products of all
    /// pixels, or before the disc is known.
    pub fn shape_of(&self, product: Product, state: &ViewState) -> Option<(DetectorShape, bool)> {
        let base = if product == Product::Custom { Product::Bf } else { product };
        let ready = || state.disc.and_then(|disc| preset(base, disc, self.detector()));
        match (product, &state.custom) {
            (Product::Custom, Some(shape)) => Some((shape.clone(), state.inverted)),
            _ => ready(),
        }
    }

    /// What makes `product` now; `None` while it cannot be made.
    pub fn want(&self, product: Product, state: &ViewState) -> Option<Want> {
        if product.is_com() {
            let source = self.want_source(state)?;
            let is_here = product == Product::Phase && self.has(&source);
            return Some(if is_here { self.want_phase(source, state) } else { source });
        }
        let version = self.version;
        match self.shape_of(product, state) {
            None if product != Product::Sum => None,
            None => Some(Want::Sums { product, shape: None, inverted: false, version }),
            Some((shape, inverted)) => Some(Want::Sums { product, shape: Some(shape), inverted, version }),
        }
    }

    /// What makes the pattern panel now.
    pub fn want_pattern(&self, state: &ViewState) -> Want {
        if state.pattern != PatternOf::Cursor {
            let (scan, version) = (self.shape(), self.version);
            let region = state.region.clone().map(|shape| Want::Region { shape, scan, version });
            return region.unwrap_or(Want::Patterns(self.version));
        }
        let frame = self.frame_at(self.cursor(state));
        let version = self.version;
        match &self.pattern {
            // A decoded pattern never changes.
            Some((want, at, pattern))
                if *at == frame && pattern.state == FrameState::Valid && want.flip() == version.flip =>
            {
                want.clone()
            }
            _ => Want::Pattern { frame, version },
        }
    }

    /// Whether the answer to `want` is here.
    pub fn has(&self, want: &Want) -> bool {
        let kept = match want {
            Want::Sums { product, .. } => self.sums.get(product).map(|(kept, _)| kept),
            Want::Moments { .. } if self.deflection_is_of_segments => None,
            Want::Segments { .. } if !self.deflection_is_of_segments => None,
            Want::Moments { .. } => self.moments.as_ref().map(|(kept, _)| kept),
            Want::Segments { .. } => self.segments.as_ref().map(|(kept, _)| kept),
            Want::Phase { .. } => self.phase.as_ref().map(|(kept, _)| kept),
            Want::Pattern { .. } => self.pattern.as_ref().map(|(kept, ..)| kept),
            Want::Patterns(_) => self.patterns.as_ref().map(|(kept, _)| kept),
            Want::Region { .. } => self.region.as_ref().map(|(kept, _)| kept),
            Want::Spectrum(_) => self.spectrum.as_ref().map(|(kept, _)| kept),
        };
        kept == Some(want)
    }

    /// Whether the last answer for `product` was made by the detector of now, be it from fewer patterns.
    pub fn fits(&self, product: Product, state: &ViewState) -> bool {
        let detector = |want: &Want| match want {
            Want::Sums { shape, inverted, .. } => Some((shape.clone(), *inverted)),
            _ => None,
        };
        let kept = self.sums.get(&product).map(|(kept, _)| kept);
        product.is_com() || kept.and_then(detector) == self.want(product, state).as_ref().and_then(detector)
    }

    pub fn is_idle(&self, lane: Lane) -> bool {
        self.in_flight[lane as usize].is_none()
    }

    /// Since when a lane waits; `None` when it does not.
    pub fn asked_ms(&self, lane: Lane) -> Option<f64> {
        self.in_flight[lane as usize].as_ref().map(|(_, asked_ms)| *asked_ms)
    }

    /// Whether the answer to `want` is neither here, nor on its way, nor was it refused.
    pub fn may_ask(&self, want: &Want) -> bool {
        !self.has(want)
            && !self.refused.contains(want)
            && !self.in_flight.iter().flatten().any(|(other, _)| other == want)
    }

    /// The question for `want`, if the lane is free and it may be asked.
    pub fn ask(&mut self, lane: Lane, want: Want, now_ms: f64) -> Option<Ask> {
        if !self.is_idle(lane) || !self.may_ask(&want) {
            return None;
        }
        let all = PixelSet::of(self.detector(), |_, _| true);
        // The engine knows pixels as they are stored.
        let flip = self.version.flip;
        let ask = match &want {
            Want::Sums { product, shape, inverted, .. } => {
                let pixels = shape.as_ref().map_or(all, |shape| detector::pixels(shape, self.detector(), *inverted));
                Ask::Sums(*product, flip.pixels(&pixels.without(&self.bad)))
            }
            Want::Moments { within, .. } => {
                let pixels = within.as_ref().map_or(all, |shape| shape.pixels(self.detector()));
                Ask::Moments(flip.pixels(&pixels.without(&self.bad)))
            }
            Want::Segments { ring, n, .. } => {
                let stored = |pixels: PixelSet| flip.pixels(&pixels.without(&self.bad));
                Ask::Segments(self.segments(ring, *n).into_iter().map(stored).collect())
            }
            Want::Phase { about, orientation, how, .. } => self.ask_phase(*about, *orientation, *how)?,
            Want::Pattern { frame, .. } => Ask::Pattern(*frame),
            Want::Patterns(_) => Ask::Patterns(Frames::All),
            Want::Region { shape, .. } => Ask::Patterns(Frames::Bits(self.region_set(shape).words)),
            // Asked by the app, which has the picture.
            Want::Spectrum(_) => return None,
        };
        self.in_flight[lane as usize] = Some((want, now_ms));
        Some(ask)
    }

    /// The positions of a part of the scan: a scan position is to it what a pixel is to a detector.
    pub fn region_set(&self, shape: &DetectorShape) -> PixelSet {
        let Scan { rows, cols } = self.shape();
        shape.pixels(Detector { rows, cols })
    }

    /// Notes that the transform of picture `serial` is asked for.
    pub fn ask_spectrum(&mut self, serial: u32, now_ms: f64) -> bool {
        let want = Want::Spectrum(serial);
        let may = self.is_idle(Lane::Analysis) && self.may_ask(&want);
        if may {
            self.in_flight[Lane::Analysis as usize] = Some((want, now_ms));
        }
        may
    }

    /// Keeps an answer; returns what was wanted.
    pub fn keep(&mut self, lane: Lane, answer: Answer) -> Option<Want> {
        let (want, _) = self.in_flight[lane as usize].take()?;
        let (flip, detector) = (want.flip(), self.detector());
        match answer {
            Answer::Sums(product, sums) => {
                self.sums.insert(product, (want.clone(), sums));
            }
            Answer::Moments(mut moments) => {
                flip.moments(detector, &mut moments);
                self.take_centres(CentreOfMass::of(&moments, self.signed()));
                self.moments = Some((want.clone(), moments));
                self.deflection_is_of_segments = false;
            }
            Answer::Segments(sums) => {
                self.take_centres(segments::deflection(&sums, self.signed()));
                self.segments = Some((want.clone(), sums));
                self.deflection_is_of_segments = true;
            }
            Answer::Phase(phase) => {
                self.phase = Some((want.clone(), phase));
            }
            Answer::Pattern(frame, mut pattern) => {
                flip.values(detector, &mut pattern.pixels);
                self.pattern = Some((want.clone(), frame, pattern));
            }
            Answer::Patterns(mut patterns) => {
                flip.sums(detector, &mut patterns);
                if matches!(want, Want::Region { .. }) {
                    self.region = Some((want.clone(), patterns));
                } else {
                    self.patterns = Some((want.clone(), patterns));
                }
            }
            Answer::Spectrum(sizes) => {
                self.spectrum = Some((want.clone(), sizes));
            }
        }
        Some(want)
    }

    fn take_centres(&mut self, centres: CentreOfMass) {
        self.scan_mean = centres.mean();
        self.centres = Some(centres);
        self.deflection_serial += 1;
    }

    /// The engine could not answer; the same is not asked again.
    pub fn refuse(&mut self, lane: Lane) {
        if let Some((want, _)) = self.in_flight[lane as usize].take() {
            self.refused.push(want);
        }
    }

    /// The picture of `product` from the last answer; `None` before the first.
    pub fn field(&self, product: Product, state: &ViewState) -> Option<Field> {
        if product.is_com() {
            return self.deflection_field(product, state);
        }
        let (_, sums) = self.sums.get(&product)?;
        Some(pictures::sums(sums, &self.states, self.shape(), self.signed()))
    }

    /// The picture of the pattern panel from the last answer.
    pub fn pattern_field(&self, of: PatternOf, state: &ViewState) -> Option<Field> {
        if of != PatternOf::Cursor && state.region.is_some() {
            let (_, patterns) = self.region.as_ref()?;
            return Some(pictures::patterns(of, patterns, &self.bad, self.signed()));
        }
        if of == PatternOf::Cursor {
            let (.., pattern) = self.pattern.as_ref()?;
            return Some(pictures::pattern(pattern, &self.bad, self.acquisition.dtype));
        }
        let (_, patterns) = self.patterns.as_ref()?;
        Some(pictures::patterns(of, patterns, &self.bad, self.signed()))
    }

    pub fn count(&self, kind: impl Fn(FrameState) -> bool) -> u32 {
        STATES.iter().zip(self.tally.of).filter(|(state, _)| kind(**state)).map(|(_, count)| count).sum()
    }

    /// What is known of every frame.
    pub fn states(&self) -> &[FrameState] {
        &self.states
    }

    pub fn set_states(&mut self, states: Vec<FrameState>) {
        let mut of = [0; STATES.len()];
        states.iter().for_each(|state| of[*state as usize] += 1);
        let first_valid = states.iter().position(|state| *state == FrameState::Valid).unwrap_or(0) as u32;
        self.tally = Tally { of, first_valid };
        self.states = states;
    }
}
