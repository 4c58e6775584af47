//! What a button or a key asks for.

use super::state::Product;
use crate::products::Flip;

/// The two squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    Product(Product),
    /// x, y, magnitude, x ...
    NextCom,
    NextPattern,
    Disc,
    Annulus,
    Rect,
    NextShape,
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
            "product" => Self::Product(*Product::ALL.get(number()? as usize)?),
            "shape-disc" => Self::Disc,
            "shape-annulus" => Self::Annulus,
            "shape-rect" => Self::Rect,
            "invert" => Self::Invert,
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
            "hide" => Self::Hide(number()?),
            "hide-gpu-notice" => Self::HideGpuNotice,
            _ => return None,
        })
    }

    /// The name of a command that a message offers.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::AddFiles => Some("add-files"),
            Self::UseCpu => Some("use-cpu"),
            Self::EditScan => Some("edit-scan"),
            Self::EditAxes => Some("edit-axes"),
            Self::Datasets => Some("datasets"),
            Self::Flip(Flip::Columns) => Some("flip-columns"),
            Self::Flip(Flip::Rows) => Some("flip-rows"),
            Self::ExcludeHot(true) => Some("exclude-hot"),
            _ => None,
        }
    }
}
