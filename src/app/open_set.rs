//! The open set: what its files mean, what the engine has answered, and what is still wanted.

use std::{collections::HashMap, rc::Rc};

use super::{
    detector::{self, preset},
    event::{Answer, Ask, Lane, Memory, Progress, Report},
    pictures,
    state::{FftOf, PatternOf, Product, ViewState},
};
use crate::{
    acquisition::{Acquisition, ScanChoice},
    display::Field,
    engine::{
        FrameFault, FrameState, Frames, Moments, Pattern, PatternMax, PatternSquares, PatternSum, PixelSet,
        ScanSquares, ScanSums,
    },
    products::{CentreOfMass, DetectorShape, Flip, Integration, Orientation, ScanOrder, hot_pixels, segments},
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
    /// Sums and sums of squares within a shape; of all pixels without one.
    Squares {
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
    /// Sums of squares of every pixel, over a part of the scan or all.
    SquarePattern {
        region: Option<(DetectorShape, Scan)>,
        version: Version,
    },
    /// The maximum of every pixel, over a part of the scan or all.
    MaxPattern {
        region: Option<(DetectorShape, Scan)>,
        version: Version,
    },
    /// The transform of the picture with this number.
    Spectrum(u32, FftOf),
}

impl Want {
    fn flip(&self) -> Flip {
        match self {
            Self::Sums { version, .. }
            | Self::Pattern { version, .. }
            | Self::Moments { version, .. }
            | Self::Segments { version, .. }
            | Self::Region { version, .. }
            | Self::Squares { version, .. }
            | Self::SquarePattern { version, .. }
            | Self::MaxPattern { version, .. }
            | Self::Patterns(version) => version.flip,
            Self::Spectrum(..) => Flip::None,
            Self::Phase { source, .. } => source.flip(),
        }
    }
}

fn masked(acquisition: &Acquisition) -> PixelSet {
    let detector = acquisition.detector;
    PixelSet { detector, words: acquisition.bad_pixels.bits(detector) }
}

/// Grows with every batch, and with every change of the bad pixels, of the flip and of the order on the scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version {
    batches: u32,
    bad: u32,
    flip: Flip,
    /// Where it is not the plain one, with the scan on which the patterns lie.
    order: Option<(ScanOrder, Scan)>,
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
    /// By frame, and by position of the scan.
    stored_states: Vec<FrameState>,
    states: Vec<FrameState>,
    tally: Tally,
    pub faults: Vec<FrameFault>,
    /// The failed patterns were told in a message.
    pub faults_told: bool,
    pub reading: Reading,
    /// What held its patterns is gone: nothing can be asked.
    pub is_lost: bool,
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
    /// Sums of squares over a detector, with its number of pixels.
    pub squares: Option<(Want, u32, ScanSquares)>,
    pub square_pattern: Option<(Want, PatternSquares)>,
    pub max_pattern: Option<(Want, PatternMax)>,
    /// What each lane is waiting for, and since when, ms.
    in_flight: [Option<(Want, f64)>; 4],
    /// What the engine could not answer; not asked again.
    refused: Vec<Want>,
}

/// Frames by state, and the first position whose pattern is valid (0 without any): every picture asks for them.
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
            stored_states: vec![FrameState::Unread; acquisition.frames as usize],
            states: vec![FrameState::Unread; acquisition.frames as usize],
            faults: Vec::new(),
            faults_told: false,
            reading: Reading::Going,
            is_lost: false,
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
            squares: None,
            square_pattern: None,
            max_pattern: None,
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

    pub fn has_batches(&self) -> bool {
        self.version.batches > 0
    }

    /// Takes pixels found bad while reading; they are added to the mask's.
    pub fn set_bad(&mut self, found: &PixelSet) {
        let mask = masked(&self.acquisition);
        // A set that is read again is the same.
        if self.bad_stored == mask.with(found) {
            return;
        }
        self.bad_found = found.without(&mask).count();
        self.bad_stored = mask.with(found);
        self.hot = None;
        self.sum_up_bad();
    }

    /// Leaves hot pixels out, or counts them; gives those that are now excluded beside the others, as stored.
    pub fn exclude_hot(&mut self, is_excluded: bool) -> PixelSet {
        self.hot_is_excluded = is_excluded;
        self.sum_up_bad();
        self.excluded()
    }

    /// Hot pixels that are left out, as stored.
    pub fn excluded(&self) -> PixelSet {
        let none = PixelSet::of(self.detector(), |_, _| false);
        self.hot.clone().filter(|_| self.hot_is_excluded).unwrap_or(none)
    }

    /// Keeps of the answers over the scan only those that the picture of `product` is made of.
    pub fn slim(&mut self, product: Product) {
        self.sums.retain(|kept, _| *kept == product);
        if !product.is_com() {
            (self.moments, self.segments, self.centres, self.phase) = (None, None, None, None);
        }
        if !product.is_spread() {
            self.squares = None;
        }
        self.spectrum = None;
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

    pub fn order(&self) -> ScanOrder {
        self.version.order.map_or(ScanOrder::default(), |(order, _)| order)
    }

    /// From now on patterns lie on the scan so. What was answered is laid out another way: it is asked again.
    pub fn set_order(&mut self, order: ScanOrder) {
        let version = (!order.is_plain()).then_some((order, self.shape()));
        if self.version.order == version {
            return;
        }
        self.version.order = version;
        self.sums.clear();
        (self.moments, self.segments, self.centres, self.scan_mean) = (None, None, None, None);
        (self.phase, self.squares) = (None, None);
        let states = std::mem::take(&mut self.stored_states);
        self.set_states(states);
    }

    /// The scan has another shape.
    pub fn shape_changed(&mut self) {
        self.set_order(self.order());
        let positions = self.shape().positions() as usize;
        self.scan_mean = self.centres.as_ref().and_then(|centres| centres.mean(positions));
    }

    /// Values of frames as values of positions.
    fn laid_out<T: Copy>(&self, values: &mut Vec<T>, nothing: T) {
        if let Some((order, scan)) = self.version.order {
            *values = order.laid_out(scan, values, nothing);
        }
    }

    /// The place of a scan position in a picture, row-major.
    pub fn place_of(&self, [row, col]: [u32; 2]) -> u32 {
        row.saturating_mul(self.shape().cols).saturating_add(col)
    }

    /// The frame at a scan position; one beyond all frames where there is none.
    pub fn frame_at(&self, position: [u32; 2]) -> u32 {
        self.order().frame(self.shape(), position).unwrap_or(u32::MAX)
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
                if self.states.get(self.place_of(middle) as usize).is_some_and(is_valid) {
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
            (Product::Custom | Product::Std | Product::Variance, Some(shape)) => Some((shape.clone(), state.inverted)),
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
        if product.is_spread() {
            let (shape, inverted) = self.shape_of(product, state).unzip();
            return Some(Want::Squares { shape, inverted: inverted.unwrap_or(false), version });
        }
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
            let region = || state.region.clone().map(|shape| (shape, scan));
            if state.pattern.is_spread() {
                return Want::SquarePattern { region: region(), version };
            }
            if state.pattern == PatternOf::Max {
                return Want::MaxPattern { region: region(), version };
            }
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
            Want::Spectrum(..) => self.spectrum.as_ref().map(|(kept, _)| kept),
            Want::Squares { .. } => self.squares.as_ref().map(|(kept, ..)| kept),
            Want::SquarePattern { .. } => self.square_pattern.as_ref().map(|(kept, _)| kept),
            Want::MaxPattern { .. } => self.max_pattern.as_ref().map(|(kept, _)| kept),
        };
        kept == Some(want)
    }

    /// Whether the last answer for `product` was made by the detector of now, be it from fewer patterns.
    pub fn fits(&self, product: Product, state: &ViewState) -> bool {
        let detector = |want: &Want| match want {
            Want::Sums { shape, inverted, .. } | Want::Squares { shape, inverted, .. } => {
                Some((shape.clone(), *inverted))
            }
            _ => None,
        };
        let kept = match product.is_spread() {
            true => self.squares.as_ref().map(|(kept, ..)| kept),
            false => self.sums.get(&product).map(|(kept, _)| kept),
        };
        product.is_com() || kept.and_then(detector) == self.want(product, state).as_ref().and_then(detector)
    }

    /// Whether the engine could not answer `want`.
    pub fn is_refused(&self, want: &Want) -> bool {
        self.refused.contains(want)
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
            Want::Squares { shape, inverted, .. } => {
                let pixels = shape.as_ref().map_or(all, |shape| detector::pixels(shape, self.detector(), *inverted));
                Ask::Squares(flip.pixels(&pixels.without(&self.bad)))
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
            Want::Region { shape, .. } => Ask::Patterns(self.region_frames(shape)),
            Want::SquarePattern { region, .. } => Ask::SquarePattern(self.part_frames(region.as_ref())),
            Want::MaxPattern { region, .. } => Ask::MaxPattern(self.part_frames(region.as_ref())),
            // Asked by the app, which has the picture.
            Want::Spectrum(..) => return None,
        };
        self.in_flight[lane as usize] = Some((want, now_ms));
        Some(ask)
    }

    /// The positions of a part of the scan: a scan position is to it what a pixel is to a detector.
    pub fn region_set(&self, shape: &DetectorShape) -> PixelSet {
        let Scan { rows, cols } = self.shape();
        shape.pixels(Detector { rows, cols })
    }

    /// The frames of a part of the scan.
    fn region_frames(&self, shape: &DetectorShape) -> Frames {
        let words = self.region_set(shape).words;
        Frames::Bits(match self.version.order {
            Some((order, scan)) => order.frames_of(scan, &words, self.acquisition.frames),
            None => words,
        })
    }

    /// Notes that the transform of picture `serial` is asked for.
    pub fn ask_spectrum(&mut self, serial: u32, of: FftOf, now_ms: f64) -> bool {
        let want = Want::Spectrum(serial, of);
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
            Answer::Sums(product, mut sums) => {
                self.lay_out_sums(&mut sums);
                self.sums.insert(product, (want.clone(), sums));
            }
            Answer::Moments(mut moments) => {
                flip.moments(detector, &mut moments);
                let Moments { sum, sum_row, sum_col, valid } = &mut moments;
                [sum, sum_row, sum_col].into_iter().for_each(|values| self.laid_out(values, 0));
                self.laid_out(valid, 0);
                self.take_centres(CentreOfMass::of(&moments, self.signed()));
                self.moments = Some((want.clone(), moments));
                self.deflection_is_of_segments = false;
            }
            Answer::Segments(mut sums) => {
                sums.iter_mut().for_each(|sums| self.lay_out_sums(sums));
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
            Answer::Squares(pixels, mut squares) => {
                self.laid_out(&mut squares.sum, 0);
                self.laid_out(&mut squares.square, 0);
                self.laid_out(&mut squares.valid, 0);
                self.squares = Some((want.clone(), pixels, squares));
            }
            Answer::SquarePattern(mut patterns) => {
                flip.sums(detector, &mut patterns.total);
                flip.values(detector, &mut patterns.square);
                self.square_pattern = Some((want.clone(), patterns));
            }
            Answer::MaxPattern(mut patterns) => {
                flip.values(detector, &mut patterns.max);
                self.max_pattern = Some((want.clone(), patterns));
            }
            Answer::Spectrum(sizes) => {
                self.spectrum = Some((want.clone(), sizes));
            }
        }
        Some(want)
    }

    /// The patterns of a part of the scan, or all.
    fn part_frames(&self, part: Option<&(DetectorShape, Scan)>) -> Frames {
        part.map_or(Frames::All, |(shape, _)| self.region_frames(shape))
    }

    fn lay_out_sums(&self, sums: &mut ScanSums) {
        self.laid_out(&mut sums.sum, 0);
        self.laid_out(&mut sums.valid, 0);
    }

    fn take_centres(&mut self, centres: CentreOfMass) {
        self.scan_mean = centres.mean(self.shape().positions() as usize);
        self.centres = Some(centres);
        self.deflection_serial += 1;
    }

    /// The question of a lane went with the device; nothing is asked until there is another.
    pub fn forget(&mut self, lane: Lane) {
        self.in_flight[lane as usize] = None;
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
        if product.is_spread() {
            let (_, pixels, squares) = self.squares.as_ref()?;
            return Some(pictures::squares(product, *pixels, squares, &self.states, self.shape(), self.signed()));
        }
        let (_, sums) = self.sums.get(&product)?;
        Some(pictures::sums(sums, &self.states, self.shape(), self.signed()))
    }

    /// The picture of the pattern panel from the last answer.
    pub fn pattern_field(&self, of: PatternOf, state: &ViewState) -> Option<Field> {
        if of.is_spread() {
            let (_, patterns) = self.square_pattern.as_ref()?;
            return Some(pictures::square_pattern(of, patterns, &self.bad, self.signed()));
        }
        if of == PatternOf::Max {
            let (_, patterns) = self.max_pattern.as_ref()?;
            return Some(pictures::max_pattern(patterns, &self.bad, self.signed()));
        }
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

    /// What is known of the pattern of every scan position.
    pub fn states(&self) -> &[FrameState] {
        &self.states
    }

    /// What is known of every frame.
    pub fn stored_states(&self) -> &[FrameState] {
        &self.stored_states
    }

    /// Scan positions without a pattern, and patterns without a position.
    pub fn unmatched(&self) -> [u64; 2] {
        let (positions, frames) = (self.shape().positions(), u64::from(self.acquisition.frames));
        let offset = self.order().offset;
        let skipped = u64::try_from(offset).unwrap_or(0).min(frames);
        let empty = u64::try_from(offset.saturating_neg()).unwrap_or(0).min(positions);
        let matched = (positions - empty).min(frames - skipped);
        [positions - matched, frames - matched]
    }

    pub fn set_states(&mut self, states: Vec<FrameState>) {
        let mut of = [0; STATES.len()];
        states.iter().for_each(|state| of[*state as usize] += 1);
        self.states.clone_from(&states);
        if let Some((order, scan)) = self.version.order {
            self.states = order.laid_out(scan, &states, FrameState::Missing);
        }
        self.stored_states = states;
        let first_valid = self.states.iter().position(|state| *state == FrameState::Valid).unwrap_or(0) as u32;
        self.tally = Tally { of, first_valid };
    }
}
