//! Everything that can happen to the page: by the loader, by the user, by the engine.

use std::rc::Rc;

use super::{
    command::{Command, Panel},
    state::{PatternOf, Product, Smoothing, Turn},
};
use crate::{
    Error, Result,
    acquisition::{Acquisition, Change, Options, contents::Contents},
    display::{ColourMap, Scale},
    engine::{
        FrameFault, FrameState, Frames, Moments, Pattern, PatternMax, PatternSquares, PatternSum, PixelSet,
        ScanSquares, ScanSums,
    },
    products::{Deflection, Flip, Integration, ScanOrder},
};

pub enum Event {
    // ---- the loader ----
    /// The adapter is known.
    Computer(Computer),
    /// What is kept in the browser's storage.
    Copies(Copies),
    /// Files were handed over; their metadata is being read.
    Opening {
        files: u32,
    },
    /// Several sets were dropped together, or one whose file holds other datasets that may be meant: the user
    /// chooses.
    Choice(Vec<Rc<Acquisition>>),
    /// What the files hold, see [`Effect::List`].
    Contents(Result<Vec<Contents>>),
    /// A set is open; none of its patterns is decoded yet. Sent by `Handle::opened`.
    Metadata(Rc<Acquisition>),
    /// Several sets are open together; none of their patterns is decoded yet.
    Series(Vec<Rc<Acquisition>>),
    /// What is told of the set at this place of the series while it is read.
    Member {
        place: usize,
        event: Box<Event>,
    },
    /// What lies in memory is of no use any more: patterns of a series are read again.
    ReadAnew,
    Progress(Progress),
    /// The first batch is decoded: the disc is fitted to its mean pattern, and then frozen.
    FirstBatch,
    /// More patterns are decoded, or states of patterns have changed.
    BatchReady,
    /// Detector pixels that turned out to be bad (sentinel in every pattern); they replace those said before.
    BadPixelsFound(PixelSet),
    Memory(Memory),
    /// Lines for the information panel: how it was read. Replaces what was reported before.
    Report(Report),
    /// The last pattern is decoded.
    Done,
    /// Reading was stopped; what was read stays.
    Cancelled,
    /// The set cannot be opened, or reading it cannot go on.
    Failed(Error),
    /// To be told beside the data.
    Notice(Error),
    /// The GPU was reset; what lay on it is read again.
    GpuLost,
    /// It does not come back.
    GpuGone(Error),

    // ---- the user ----
    Do(Command),
    /// A panel was focused or touched.
    Select(Panel),
    Press {
        panel: Panel,
        at: [f64; 2],
        button: Button,
        reach: f64,
    },
    Drag {
        at: [f64; 2],
        fine: bool,
        constrained: bool,
    },
    Release,
    /// The pointer is over a view, or left it.
    Hover(Option<(Panel, [f64; 2])>),
    Wheel {
        panel: Panel,
        at: [f64; 2],
        delta: f64,
    },
    /// A handle of the range was taken, or the span between both.
    HoldLimit {
        panel: Panel,
        end: End,
    },
    /// The held limit is at this part of the histogram, 0 to 1.
    DragLimit {
        position: f64,
    },
    /// The line in the curve of the angle was taken, and is here now, degrees.
    HoldAngle,
    DragAngle(f64),
    NudgeLimit {
        panel: Panel,
        end: End,
        steps: f64,
    },
    AutoRange(Panel),
    SetScale(Panel, Scale),
    SetMap(Panel, ColourMap),
    SetPattern(PatternOf),
    Enter(Entry, String),
    /// A wrong entry is put back.
    ForgetEntry,
    /// The step of a keyboard nudge comes with its modifiers: 1, 10 or 0.1.
    Step(Command, f64),
    /// The whole view at once: automation, or the address.
    SetState(Box<super::ViewState>),
    /// A session file was opened.
    Session {
        name: String,
        text: String,
    },
    /// A frame has passed while patterns are played.
    Tick,
    /// The slider of the series is at the n-th of the sets that are shown.
    Scrub(usize),
    /// The panel of the set at this place was put at the n-th of those that are shown.
    MoveSet {
        place: usize,
        to: usize,
    },
    SetSmoothing(Panel, Smoothing),
    InvertMap(Panel, bool),
    Lock(Panel, bool),
    /// The view of a panel is turned or mirrored.
    Turn(Panel, Turn),

    // ---- the engine ----
    Answered {
        set_id: u32,
        lane: Lane,
        answer: Result<Answer>,
        states: Vec<FrameState>,
        faults: Vec<FrameFault>,
        ms: f64,
    },
}

impl Event {
    /// True for what a load or an answer tells: the page need not be drawn for it at once.
    pub fn can_wait(&self) -> bool {
        if let Self::Member { event, .. } = self {
            return event.can_wait();
        }
        matches!(
            self,
            Self::Progress(_)
                | Self::FirstBatch
                | Self::BatchReady
                | Self::Memory(_)
                | Self::Answered { .. }
                | Self::Tick
        )
    }
}

/// Copies of sets in the browser's storage.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Copies {
    /// Not known yet.
    #[default]
    Unknown,
    /// There cannot be any, in words.
    None(String),
    /// So many, of so many bytes; what is with the open set.
    Some { sets: u32, bytes: u64, open: OpenCopy },
    /// One is being made: bytes done, and of all.
    Making(u64, u64),
}

/// Whether there is a copy of the open set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenCopy {
    /// Nothing is open, or it cannot be kept.
    None,
    /// One of so many bytes can be made.
    May(u64),
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// Left button, pen or finger.
    Main,
    /// Middle or right button: pans.
    Pan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Low,
    High,
    /// Both limits together.
    Span,
}

/// A field that takes what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Low(Panel),
    High(Panel),
    Gamma(Panel),
    Inner,
    Outer,
    Width,
    Height,
    Turn,
    Span,
    Corners,
    CentreX,
    CentreY,
    ScanShape,
    ScanOffset,
    /// A part of the scan: where, how large.
    RegionX,
    RegionY,
    RegionWidth,
    RegionHeight,
    RegionCorners,
    /// Ends and width of the line.
    LineFrom,
    LineTo,
    LineWidth,
    // The deflection.
    Angle,
    Within,
    ComX,
    ComY,
    HighPass,
    Regularisation,
    // Scales.
    Step,
    MradPerPx,
    Alpha,
    Energy,
    /// Bytes that the sets of a series may take.
    Budget,
}

/// What the page does for the user; given to `main` when the page starts.
pub enum Effect {
    Ask {
        set_id: u32,
        lane: Lane,
        ask: Ask,
    },
    Cancel,
    OpenDemo,
    UseCpu,
    /// A copy of the set is to be kept in the browser.
    Keep,
    /// All copies are to be removed.
    ClearCopies,
    Choose(u32),
    /// All sets to choose among are to be opened together.
    OpenAll,
    /// The set at this place is looked at from now on.
    Show(usize),
    /// The patterns of the set at this place are to be read; what is being read is no longer wanted.
    Read(usize),
    /// The patterns of the set at this place are no longer needed.
    PutOut(usize),
    /// The set at this place is closed.
    CloseSet(usize),
    /// Everything is closed.
    CloseAll,
    /// The scan shape was changed; the loader may note it.
    ScanShape(crate::shape::Scan),
    /// The files are to be opened again, read in another way.
    Reopen(Change),
    /// The files are to be opened again, as a session says.
    Restore(Options),
    /// All datasets of the files are to be listed.
    List,
    /// Patterns are shown so from now on.
    Flip(Flip),
    /// Patterns lie on the scan so from now on.
    Order(ScanOrder),
    /// Pixels, as stored, that count nowhere beside those that the files and the sentinels name; replaces those of
    /// before.
    Exclude(PixelSet),
    /// Page actions that need the browser.
    Page(Command),
}

/// Who waits for an answer. One request of a lane is in flight; when it is back, the newest wish goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    Image,
    Pattern,
    Shelf,
    /// What the page works out itself.
    Analysis,
}

/// A question to the engine.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    Sums(Product, PixelSet),
    Moments(PixelSet),
    /// Sums over each of these sets of pixels.
    Segments(Vec<PixelSet>),
    /// The phase whose gradient this is; the page itself works it out, in slices.
    Phase(Rc<Deflection>, Integration),
    Pattern(u32),
    /// Sum over patterns.
    Patterns(Frames),
    /// Maximum over patterns.
    MaxPattern(Frames),
    /// Sums and sums of squares over pixels, for every pattern.
    Squares(PixelSet),
    /// Sums of squares of every pixel over patterns, beside the sum.
    SquarePattern(Frames),
    /// Sizes of the frequencies of a picture, see [`crate::products::spectrum`].
    Spectrum {
        values: Rc<Vec<f64>>,
        rows: u32,
        cols: u32,
    },
}

pub enum Answer {
    Sums(Product, ScanSums),
    Moments(Moments),
    Segments(Vec<ScanSums>),
    Phase(Vec<f64>),
    Pattern(u32, Pattern),
    Patterns(PatternSum),
    MaxPattern(PatternMax),
    /// With the number of pixels.
    Squares(u32, ScanSquares),
    SquarePattern(PatternSquares),
    Spectrum(Vec<f64>),
}

/// The machine, as far as the browser tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Computer {
    pub adapter: String,
    pub gpu: GpuSupport,
    /// Bytes that sets may take; 0 when not known.
    pub memory: u64,
    pub largest_buffer: u64,
    /// Why there is no WebGPU, in words; empty when there is.
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GpuSupport {
    /// Not asked yet.
    #[default]
    Unknown,
    Ready,
    /// An adapter that computes on the processor (SwiftShader).
    Software,
    /// No WebGPU, or no adapter.
    None,
    /// The user chose the processor.
    Cpu,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    pub bytes_read: u64,
    pub bytes_total: u64,
    /// Mean of the last two seconds.
    pub bytes_per_s: f64,
    pub frames_decoded: u32,
    pub files_done: u32,
    pub files_total: u32,
}

/// What the resident patterns take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Memory {
    pub on_cpu: bool,
    pub bytes: u64,
    /// 0 when not known.
    pub budget: u64,
}

/// How a set was read, for the information panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Resident form, kernel, adapter, limits ...: name and value.
    pub rows: Vec<(String, String)>,
    pub stages: Vec<StageTime>,
}

/// When a stage of the load ran, ms since open.
#[derive(Clone, Debug, PartialEq)]
pub struct StageTime {
    pub name: String,
    pub start_ms: f64,
    pub end_ms: f64,
}
