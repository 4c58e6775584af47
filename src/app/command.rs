//! What a button or a key asks for.

use serde::{Deserialize, Serialize};

use super::{exports::Format, state::Product};
use crate::products::Flip;

/// The two squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Panel {
    #[default]
    Image,
    Pattern,
}

impl Panel {
    pub const ALL: [Self; 2] = [Self::Image, Self::Pattern];

    /// As in the ids of the page: `view-image`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Pattern => "pattern",
        }
    }

    pub fn other(self) -> Self {
        match self {
            Self::Image => Self::Pattern,
            Self::Pattern => Self::Image,
        }
    }
}

/// One wish of the user, however it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    OpenFiles,
    OpenFolder,
    AddFiles,
    OpenDemo,
    Cancel,
    UseCpu,
    /// Keeps a copy of the set in the browser.
    Keep,
    /// Removes all copies from the browser.
    ClearCopies,
    /// Set n of those that were dropped together.
    Choose(u32),
    /// All of those, together.
    OpenAll,
    /// The set at place n is looked at.
    Set(u32),
    /// The set so many places further.
    NextSet(i8),
    /// The active set so many places further in the order.
    MoveSet(i8),
    /// A star for the active set, or for that at place n; or no longer.
    Star,
    StarSet(u32),
    /// The active set, or that at place n, is not shown; or again.
    HideActive,
    HideSet(u32),
    ShowHidden,
    OnlyStarred,
    /// Link n between the sets, or no longer.
    Link(u32),
    /// So many panels at most.
    Panels(u32),
    /// One panel, or the grid.
    Grid,
    PlaySeries,
    CloseActive,
    CloseSet(u32),
    CloseAll,
    Product(Product),
    /// Standard deviation, variance, standard deviation ...
    NextSpread,
    /// Colour, x, y, size, colour ...
    NextCom,
    /// Phase, divergence, curl, phase ...
    NextPhase,
    FindRotation,
    /// Whether rows and columns of the detector change places.
    Transpose(bool),
    /// Source n of the deflection.
    Source(u32),
    /// Reference n of the deflection.
    About(u32),
    /// Edges n of the integral.
    Edges(u32),
    /// Whether arrows are drawn over the deflection.
    Arrows(bool),
    NextPattern,
    /// Detector shape n.
    Shape(u32),
    /// The next shape, or the one before.
    NextShape(i8),
    /// The detector by so many steps of a degree.
    Rotate(i8),
    /// The corner of a polygon that was held last.
    RemoveVertex,
    /// Tool n of the image.
    Tool(u32),
    NextTool,
    RemoveRegion,
    /// Tab n of the analysis.
    Analysis(u32),
    /// What the analysis shows, as a table.
    SaveTable,
    Invert,
    FindDisc,
    TypeNumbers,
    /// Outer radius by so many steps.
    Grow(i8),
    /// Inner radius by so many steps.
    Hollow(i8),
    /// Cursor or detector, by what is selected.
    Nudge {
        rows: i8,
        cols: i8,
    },
    LineStart,
    LineEnd,
    /// Alternative n of the scan shape.
    ScanShape(u32),
    /// Shows all datasets of the files.
    Datasets,
    /// Entry n of that list.
    OpenDataset(u32),
    /// What the files are most likely about.
    OpenAsFound,
    /// Channel n.
    Channel(u32),
    /// Order n of the axes: 0 is that of now, then the alternatives.
    Axes(u32),
    EditAxes,
    Flip(Flip),
    /// Whether every other line of the scan runs backwards.
    Snake(bool),
    /// What n is transformed.
    FftOf(u32),
    /// Whether hot pixels are left out.
    ExcludeHot(bool),
    Fit,
    FitPanel(Panel),
    FitAll,
    Reset,
    ZoomIn,
    ZoomOut,
    NextScale,
    NextMap,
    AutoRange,
    LockRange,
    Overlays,
    OtherPanel,
    Information,
    CopyInformation,
    Keys,
    CloseDialog,
    Theme,
    Undo,
    Redo,
    /// The selected panel takes the place of both, or no longer.
    Maximise,
    MaximisePanel(Panel),
    NextSmoothing,
    InvertMap,
    TurnView(Panel),
    MirrorView(Panel),
    Play,
    NextPlay,
    /// The sheet with everything that can be saved.
    Export,
    ExportPanel(Panel),
    ExportAs(Format),
    /// As last time.
    ExportAgain,
    CopyPicture,
    /// Patterns one after another as a GIF.
    SaveReel,
    CancelReel,
    /// Set n of those that were open before.
    Recent(u32),
    /// The list of those is emptied.
    ForgetRecent,
    SaveSession,
    OpenSession,
    /// The sheet for an address.
    Address,
    /// What is typed is opened as an address.
    OpenAddress,
    /// The sheet with the script.
    Python,
    SavePython,
    CopyPython,
    /// After reading was stopped.
    ReadTheRest,
    Help,
    /// Paragraph n of the help, see [`super::notices::HELP`].
    Why(u32),
    EditScan,
    /// Hide message n.
    Hide(u32),
    HideGpuNotice,
    Escape,
}

impl Command {
    /// The command of a button's `data-do`: a name, or a name and a number ("choose 2").
    pub fn of_name(name: &str) -> Option<Self> {
        let (word, number) = name.split_once(' ').unwrap_or((name, ""));
        let number = || number.parse().ok();
        Some(match word {
            "open-files" => Self::OpenFiles,
            "open-folder" => Self::OpenFolder,
            "add-files" => Self::AddFiles,
            "open-demo" => Self::OpenDemo,
            "cancel" => Self::Cancel,
            "use-cpu" => Self::UseCpu,
            "keep" => Self::Keep,
            "clear-copies" => Self::ClearCopies,
            "choose" => Self::Choose(number()?),
            "open-all" => Self::OpenAll,
            "set" => Self::Set(number()?),
            "next-set" => Self::NextSet(1),
            "previous-set" => Self::NextSet(-1),
            "star" => Self::StarSet(number()?),
            "hide-set" => Self::HideSet(number()?),
            "show-hidden" => Self::ShowHidden,
            "only-starred" => Self::OnlyStarred,
            "link" => Self::Link(number()?),
            "grid" => Self::Grid,
            "play-series" => Self::PlaySeries,
            "close-set" => Self::CloseSet(number()?),
            "close-active" => Self::CloseActive,
            "close-all" => Self::CloseAll,
            "product" => Self::Product(*Product::ALL.get(number()? as usize)?),
            "shape" => Self::Shape(number()?),
            "tool" => Self::Tool(number()?),
            "remove-region" => Self::RemoveRegion,
            "analysis" => Self::Analysis(number()?),
            "save-table" => Self::SaveTable,
            "invert" => Self::Invert,
            "find-rotation" => Self::FindRotation,
            "find-disc" => Self::FindDisc,
            "scan-shape" => Self::ScanShape(number()?),
            "edit-scan" => Self::EditScan,
            "datasets" => Self::Datasets,
            "open-dataset" => Self::OpenDataset(number()?),
            "open-as-found" => Self::OpenAsFound,
            "edit-axes" => Self::EditAxes,
            "flip-columns" => Self::Flip(Flip::Columns),
            "flip-rows" => Self::Flip(Flip::Rows),
            "exclude-hot" => Self::ExcludeHot(true),
            "fit-image" => Self::FitPanel(Panel::Image),
            "fit-pattern" => Self::FitPanel(Panel::Pattern),
            "information" => Self::Information,
            "copy-information" => Self::CopyInformation,
            "keys" => Self::Keys,
            "close-dialog" => Self::CloseDialog,
            "theme" => Self::Theme,
            "undo" => Self::Undo,
            "redo" => Self::Redo,
            "maximise-image" => Self::MaximisePanel(Panel::Image),
            "maximise-pattern" => Self::MaximisePanel(Panel::Pattern),
            "turn-image" => Self::TurnView(Panel::Image),
            "turn-pattern" => Self::TurnView(Panel::Pattern),
            "mirror-image" => Self::MirrorView(Panel::Image),
            "mirror-pattern" => Self::MirrorView(Panel::Pattern),
            "play" => Self::Play,
            "export" => Self::Export,
            "export-image" => Self::ExportPanel(Panel::Image),
            "export-pattern" => Self::ExportPanel(Panel::Pattern),
            "export-as" => Self::ExportAs(*Format::ALL.get(number()? as usize)?),
            "copy-picture" => Self::CopyPicture,
            "save-reel" => Self::SaveReel,
            "cancel-reel" => Self::CancelReel,
            "recent" => Self::Recent(number()?),
            "forget-recent" => Self::ForgetRecent,
            "address" => Self::Address,
            "open-address" => Self::OpenAddress,
            "save-session" => Self::SaveSession,
            "open-session" => Self::OpenSession,
            "python" => Self::Python,
            "save-python" => Self::SavePython,
            "copy-python" => Self::CopyPython,
            "read-the-rest" => Self::ReadTheRest,
            "help" => Self::Help,
            "why" => Self::Why(number()?),
            "hide" => Self::Hide(number()?),
            "hide-gpu-notice" => Self::HideGpuNotice,
            _ => return None,
        })
    }

    /// Whether it changes which set is looked at, or which are open, and nothing of the view.
    pub fn is_of_sets(self) -> bool {
        let moves = matches!(self, Self::OpenAll | Self::Set(_) | Self::NextSet(_) | Self::PlaySeries);
        moves || matches!(self, Self::CloseActive | Self::CloseSet(_) | Self::CloseAll)
    }

    /// The name of a command that a message offers.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::AddFiles => Some("add-files"),
            Self::UseCpu => Some("use-cpu"),
            Self::OpenFiles => Some("open-files"),
            Self::OpenFolder => Some("open-folder"),
            Self::EditScan => Some("edit-scan"),
            Self::ReadTheRest => Some("read-the-rest"),
            Self::EditAxes => Some("edit-axes"),
            Self::Datasets => Some("datasets"),
            Self::Flip(Flip::Columns) => Some("flip-columns"),
            Self::Flip(Flip::Rows) => Some("flip-rows"),
            Self::ExcludeHot(true) => Some("exclude-hot"),
            _ => None,
        }
    }
}
