//! What a set of files *means*: ordered diffraction patterns, scan, detector, bad pixels, calibration,
//! and what is missing. Parsed once into a type that cannot be wrong.

mod axes;
mod axis_guess;
#[cfg(not(target_arch = "wasm32"))]
mod beside;
pub mod contents;
pub mod frames;
mod linked;
mod metadata;
mod names;
mod narrow;
mod neighbour;
mod packed;
pub mod report;
mod scales;
mod scan;
mod search;
pub mod series;
mod set;
mod single;
mod store;
mod tiles;
mod units;
mod values;
mod virtual_set;
mod words;

use serde::{Deserialize, Serialize};

use crate::{
    Error,
    hdf5::Leaf,
    shape::{Detector, Dtype, Scan},
};

pub use axes::{Axis, AxisOrder};
#[cfg(not(target_arch = "wasm32"))]
pub use beside::{Beside, beside};
pub use frames::{DecodedFrames, decode};
pub use search::{Change, Options, Place, open, outline, read};
pub use store::Store;
pub use tiles::{Placement, Span, Tiles, Window};
pub use words::{counted, is_fault, message, sides, summary};

/// What a drop of files holds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Opened {
    /// Sets of which at least one frame can be read, by name; several are a choice for the user.
    pub sets: Vec<Acquisition>,
    /// Files and sets that cannot be shown, the gravest first.
    pub refused: Vec<Refused>,
}

/// A set, or a file, of which nothing can be shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Refused {
    /// File name of the master, or of the only file.
    pub name: String,
    pub error: Error,
    /// Links to data files, and those that were not picked.
    pub files_linked: u32,
    pub files_missing: Vec<String>,
    /// What was understood, where the shape and type of the frames are known.
    pub meaning: Option<Box<Acquisition>>,
}

/// A 4D-STEM acquisition, as its files describe it. Nothing in it has been decoded yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Acquisition {
    /// File name of the master, or of the only file.
    pub name: String,
    /// Path of the dataset inside its file, e.g. `/entry/data/data`.
    pub dataset: String,
    /// Picked files that the acquisition uses; `Chunk::file` points into it.
    pub files: Vec<UsedFile>,
    /// Datasets that follow one another in the order of the patterns; empty where one dataset holds them all.
    #[serde(default)]
    pub parts: Vec<DataPart>,
    /// Linked files that were not picked, by base name, in link order.
    pub files_missing: Vec<String>,
    /// Links (or virtual sources) to data files; 0 for a set without links.
    pub files_linked: u32,
    pub dtype: Dtype,
    pub stored: Stored,
    /// Names of the channels of a set [images, channels, y, x]; empty for others.
    pub channels: Vec<String>,
    /// Which of `channels` the frames are of.
    pub channel: u32,
    pub detector: Detector,
    /// Number of frames, missing ones included: one past the last frame's index.
    pub frames: u32,
    /// `nimages` x `ntrigger` of the master.
    pub frames_announced: Option<u64>,
    pub scan: ScanChoice,
    pub storage: Storage,
    pub bad_pixels: BadPixels,
    /// Counts from this value on are saturated.
    pub saturation: Option<u64>,
    pub calibration: Calibration,
    pub facts: Vec<Fact>,
    /// What has to be told: missing files, a guessed scan shape, surplus frames, an open SWMR writer ...
    pub notices: Vec<Error>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedFile {
    pub name: String,
    pub len_bytes: u64,
    /// Length that the file itself gives, where it is shorter than that.
    pub len_announced: Option<u64>,
    /// Place among the picked files.
    pub picked: u32,
}

/// One of several datasets that hold the patterns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataPart {
    /// Name of its file.
    pub file: String,
    pub path: String,
    /// Number of its first pattern.
    pub start: u64,
}

/// The dataset as it stands in the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// Its axes.
    pub dims: Vec<u64>,
    /// numpy's short name of its element type, e.g. ">u2".
    pub dtype: String,
    /// What HDF5 gives for elements that were never written; such frames are missing here.
    pub fill: Option<f64>,
    pub axes: AxisChoice,
    /// Paths of other datasets of the same file that may be meant as well, the largest first.
    pub rivals: Vec<String>,
}

/// Which axis of the dataset is which, and why it is believed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AxisChoice {
    pub order: AxisOrder,
    pub from: AxesFrom,
    /// Other orders, the likeliest first.
    pub alternatives: Vec<AxisOrder>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AxesFrom {
    /// As almost all writers store them.
    #[default]
    Usual,
    /// The file names its channels.
    Channels,
    /// MATLAB stores arrays back to front; to be shown as a guess.
    Matlab,
    /// Prismatic stores x before y; to be shown as a guess.
    Prismatic,
    /// Velox stores the number of the image last; to be shown as a guess.
    Velox,
    /// A chunk holds a whole pattern, or whole patterns; to be shown as a guess.
    Chunks,
    /// Chosen by the user.
    Entered,
}

impl AxesFrom {
    pub fn is_guess(self) -> bool {
        matches!(self, Self::Matlab | Self::Prismatic | Self::Velox | Self::Chunks)
    }

    /// Why, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Usual => "as most programs store them",
            Self::Channels => "the file names its channels",
            Self::Matlab => "a guess: MATLAB stores arrays back to front",
            Self::Prismatic => "a guess: Prismatic stores x before y",
            Self::Velox => "a guess: Velox stores the image number last",
            Self::Chunks => "a guess, from how the chunks lie",
            Self::Entered => "chosen",
        }
    }
}

/// The scan shape and why it is believed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanChoice {
    pub shape: Scan,
    pub from: ScanFrom,
    /// Other shapes that fit the number of frames, best first.
    pub alternatives: Vec<Scan>,
}

impl ScanChoice {
    /// Frames beyond the scan (> 0), or positions without a frame (< 0).
    pub fn surplus(&self, frames: u32) -> i64 {
        i64::from(frames) - self.shape.positions() as i64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScanFrom {
    /// `NumPixelsY` x `NumPixelsX` of the sidecar.
    Sidecar,
    /// The first two axes of a 4-D dataset.
    Stored,
    /// `ntrigger` rows of `nimages`, both above 1.
    Ntrigger,
    Square,
    /// The factor pair nearest to a square; to be shown as a guess.
    Guess,
    /// Entered by the user.
    Entered,
}

/// Where the frames lie. A frame without a chunk has no data: it is missing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Storage {
    /// One frame per chunk, bitshuffle LZ4 alone, little-endian integers: the GPU decodes it.
    BitshuffleLz4 {
        /// Pixels per block of the encoder (filter parameters, 0 resolved); a chunk header that says
        /// otherwise makes its frame fail.
        block_px: u32,
        /// Sorted by frame, at most one per frame.
        #[serde(with = "packed")]
        chunks: Vec<FrameChunk>,
        /// Frames beside those of `chunks`, whose places are not known one by one, sorted; only as [`outline`] gives
        /// them.
        sections: Vec<Section>,
    },
    /// Everything else: decoded by the workers into frames of little-endian pixels.
    Decoded(Box<Tiles>),
}

impl Acquisition {
    /// Whether the place of each frame is found only when it is read.
    pub fn is_outlined(&self) -> bool {
        matches!(&self.storage, Storage::BitshuffleLz4 { sections, .. } if !sections.is_empty())
    }

    /// Pixels of a block of the encoder, where the GPU decodes.
    pub fn block_px(&self) -> Option<u32> {
        match &self.storage {
            Storage::BitshuffleLz4 { block_px, .. } => Some(*block_px),
            Storage::Decoded(_) => None,
        }
    }
}

/// One compressed frame in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameChunk {
    pub frame: u32,
    /// Index into `Acquisition::files`.
    pub file: u16,
    pub len_bytes: u32,
    pub offset: u64,
}

/// Frames that follow one another, all written; where each lies stands in a leaf of their dataset's chunk index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    pub frame: u32,
    pub frames: u32,
    /// Index into `Acquisition::files`.
    pub file: u16,
    pub leaf: Leaf,
}

/// Pixels that count nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BadPixels {
    /// The file's mask, detector row-major, NXmx bits; empty when there is none.
    /// A pixel is bad when `mask & 0xFFFF != 0` (bit 31, a virtual pixel, is valid).
    pub mask: Vec<u32>,
    /// Where the mask was found, e.g. `detectorSpecific/pixel_mask`.
    pub from: Option<String>,
}

impl BadPixels {
    pub const REJECT: u32 = 0xFFFF;
    /// NXmx: a gap, a pixel without a sensor.
    const GAP: u32 = 1;

    /// Marks pixels that belong to no part of a virtual dataset.
    fn add_gaps(&mut self, detector: Detector, gaps: &[u32]) {
        if gaps.is_empty() {
            return;
        }
        self.mask.resize(detector.pixels() as usize, 0);
        for &pixel in gaps {
            if let Some(mask) = self.mask.get_mut(pixel as usize) {
                *mask |= Self::GAP;
            }
        }
        let from = self.from.take().into_iter().chain([GAPS_FROM.to_owned()]).collect::<Vec<_>>();
        self.from = Some(from.join(", "));
    }

    /// Bit p = detector pixel p (row-major) is bad; ceil(pixels / 32) words.
    pub fn bits(&self, detector: Detector) -> Vec<u32> {
        let mut words = vec![0; detector.pixels().div_ceil(32) as usize];
        for (pixel, mask) in self.mask.iter().enumerate() {
            if mask & Self::REJECT != 0 {
                words[pixel / 32] |= 1 << (pixel % 32);
            }
        }
        words
    }
}

/// Where gaps are told.
const GAPS_FROM: &str = "gaps in the virtual dataset";

/// Scales as the files give them; `None` where they are silent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Distance between probe positions, nm.
    pub scan_step_nm: Option<f64>,
    /// Angle per detector pixel, mrad. From a nominal camera length it is nominal.
    pub detector_mrad_per_px: Option<f64>,
    pub detector_is_nominal: bool,
    /// Beam energy, eV.
    pub energy_ev: Option<f64>,
    /// How far the goniometer had turned the sample, degrees; 0 is also what a file says that knows nothing of it.
    #[serde(default)]
    pub tilt_deg: Option<f64>,
}

/// A line of the information panel: firmware, trigger mode, filter, exposure ...
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    pub name: String,
    pub value: String,
}
