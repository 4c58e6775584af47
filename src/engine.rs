//! What a viewer may ask of the resident frames. `gpu::Engine` and `cpu::Engine` answer alike, in exact
//! integers; the app holds one of them.
//!
//! All counts are 64-bit sums of source values; for signed types they are two's complement.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::shape::{Detector, Scan};

mod either;
pub mod frames;

pub use either::Engine;

/// A set of detector pixels: bit p % 32 of word p / 32 is pixel p, row-major; ceil(pixels / 32) words,
/// unused bits 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PixelSet {
    pub detector: Detector,
    pub words: Vec<u32>,
}

impl PixelSet {
    /// The pixels for which `holds(row, col)`.
    pub fn of(detector: Detector, holds: impl Fn(u32, u32) -> bool) -> Self {
        let mut words = vec![0; detector.pixels().div_ceil(32) as usize];
        for row in 0..detector.rows {
            for col in 0..detector.cols {
                let pixel = row * detector.cols + col;
                words[pixel as usize / 32] |= u32::from(holds(row, col)) << (pixel % 32);
            }
        }
        Self { detector, words }
    }

    pub fn contains(&self, pixel: u32) -> bool {
        self.words[pixel as usize / 32] >> (pixel % 32) & 1 == 1
    }

    pub fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// The pixels of `self` and those of `other`.
    pub fn with(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a | b).collect();
        Self { detector: self.detector, words }
    }

    /// The pixels of `self` that are not in `other`.
    pub fn without(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & !b).collect();
        Self { detector: self.detector, words }
    }
}

/// What is known of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum FrameState {
    /// Not read yet.
    #[default]
    Unread = 0,
    /// Decoded and valid.
    Valid = 1,
    /// In no file, or never written.
    Missing = 2,
    /// Its chunk could not be decoded.
    Failed = 3,
    /// Every unmasked pixel is sentinel: an aborted run's padding, treated as missing.
    Sentinel = 4,
}

/// Which frames a product is made of. Frames that are not valid are left out in any case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Frames {
    #[default]
    All,
    /// A rectangle of scan positions; ends excluded.
    Rect { scan: Scan, rows: Range<u32>, cols: Range<u32> },
    /// Bit f % 32 of word f / 32 is frame f.
    Bits(Vec<u32>),
}

impl Frames {
    pub fn contains(&self, frame: u32) -> bool {
        match self {
            Self::All => true,
            Self::Rect { scan, rows, cols } => {
                scan.cols > 0 && rows.contains(&(frame / scan.cols)) && cols.contains(&(frame % scan.cols))
            }
            Self::Bits(words) => words.get(frame as usize / 32).is_some_and(|word| word >> (frame % 32) & 1 == 1),
        }
    }
}

/// The kinds of answers an engine gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    VirtualImage,
    Moments,
    Squares,
    Pattern,
    SumPattern,
    SquarePattern,
    MaxPattern,
    Census,
    HashFrames,
}

impl Product {
    /// As in JSON; also the name of its pass.
    pub fn name(self) -> &'static str {
        match self {
            Self::VirtualImage => "virtual_image",
            Self::Moments => "moments",
            Self::Squares => "squares",
            Self::Pattern => "pattern",
            Self::SumPattern => "sum_pattern",
            Self::SquarePattern => "square_pattern",
            Self::MaxPattern => "max_pattern",
            Self::Census => "census",
            Self::HashFrames => "hash_frames",
        }
    }
}

/// A single diffraction pattern and what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Row-major; signed types sign-extended. Empty when the frame has no data.
    pub pixels: Vec<u32>,
    pub state: FrameState,
}

/// A frame whose chunk could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameFault {
    pub frame: u32,
    pub fault: ChunkFault,
    /// LZ4 block in which it was found.
    pub block: u32,
}

/// Why a bitshuffle-LZ4 chunk is refused. The numbers are the status words of the shaders (low 8 bits;
/// the block index lies above).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum ChunkFault {
    /// The chunk ends inside its 12-byte header, or inside a block's length.
    ChunkTooShort = 1,
    /// The header's decoded size is not that of the frame.
    DecodedSize = 2,
    /// The header's block size is not that of the dataset, or no multiple of 8 elements.
    BlockSize = 3,
    /// A block runs past the chunk.
    BlockLength = 4,
    /// Match offset 0.
    OffsetZero = 5,
    /// A match begins before its block.
    OffsetBeforeBlock = 6,
    /// Literals or a length field run past the block's input.
    InputOverrun = 7,
    /// Literals or a match run past the block's output.
    OutputOverrun = 8,
    /// The block's input ends before its output is full.
    ShortOutput = 9,
    /// Input is left when the output is full.
    TrailingInput = 10,
    /// Not a fault of the LZ4 stream: a filter of the CPU path failed (checksum, deflate ...).
    Filter = 11,
    /// Its bytes could not be read.
    Unread = 12,
    /// A count of 64 bits does not fit into 32.
    ValueRange = 13,
}

impl FrameFault {
    /// From a status word other than 0: a [`ChunkFault`] in the low 8 bits, the block above.
    pub fn of_status(frame: u32, status: u32) -> Self {
        let fault = ChunkFault::of_code(status & 0xFF).unwrap_or(ChunkFault::Filter);
        Self { frame, fault, block: status >> 8 }
    }

    /// The status word that [`FrameFault::of_status`] reads.
    pub fn status(&self) -> u32 {
        self.fault as u32 | self.block << 8
    }
}

impl ChunkFault {
    /// What is wrong, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::ChunkTooShort => "the chunk ends too early",
            Self::DecodedSize => "the chunk's size is not that of a pattern",
            Self::BlockSize => "the chunk's block size is wrong",
            Self::BlockLength => "a block runs past the chunk",
            Self::OffsetZero => "a match has offset 0",
            Self::OffsetBeforeBlock => "a match begins before its block",
            Self::InputOverrun => "a sequence runs past the compressed bytes",
            Self::OutputOverrun => "a sequence runs past the block",
            Self::ShortOutput => "the block ends too early",
            Self::TrailingInput => "bytes are left after the block",
            Self::Filter => "a filter or checksum failed",
            Self::Unread => "its bytes could not be read",
            Self::ValueRange => "a count does not fit into 32 bits",
        }
    }

    /// The fault a shader means by `code`.
    pub fn of_code(code: u32) -> Option<Self> {
        use ChunkFault::*;
        let faults = [
            ChunkTooShort,
            DecodedSize,
            BlockSize,
            BlockLength,
            OffsetZero,
            OffsetBeforeBlock,
            InputOverrun,
            OutputOverrun,
            ShortOutput,
            TrailingInput,
            Filter,
            Unread,
            ValueRange,
        ];
        faults.into_iter().find(|&fault| fault as u32 == code)
    }
}

/// One compressed frame inside a batch buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Frame index = scan position, row-major.
    pub frame: u32,
    /// First byte in the batch buffer; any alignment.
    pub offset: u32,
    pub len_bytes: u32,
}

/// Sums over a set of pixels, one per frame of the set; 0 where `valid` is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanSums {
    pub sum: Vec<u64>,
    pub valid: Vec<u8>,
}

/// Exact first moments over a set of pixels: sum of value, value x row, value x column (0-based px).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    pub sum: Vec<u64>,
    pub sum_row: Vec<u64>,
    pub sum_col: Vec<u64>,
    pub valid: Vec<u8>,
}

/// Exact sums of values and of their squares over a set of pixels, one per frame; 0 where `valid` is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanSquares {
    pub sum: Vec<u64>,
    pub square: Vec<u128>,
    pub valid: Vec<u8>,
}

/// Per-pixel sum and sum of squares over frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatternSquares {
    pub total: PatternSum,
    pub square: Vec<u128>,
}

/// Per-pixel sum over frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatternSum {
    pub sum: Vec<u64>,
    /// Valid frames that were added.
    pub frames: u32,
}

/// Per-pixel maximum over frames, of signed values as two's complement i32; the least value where there is no frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatternMax {
    pub max: Vec<u32>,
    /// Valid frames that were looked at.
    pub frames: u32,
}

/// What the passes over whole batches have seen of sentinels (formats.md B3) and saturation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Pixels outside the mask that are sentinel in every valid frame; row-major bits, see [`PixelSet`].
    pub sentinel_pixels: Vec<u32>,
    /// Frames whose unmasked pixels are all sentinel.
    pub sentinel_frames: Vec<u32>,
    /// Sentinel samples in unmasked pixels of decoded frames.
    pub sentinel_samples: u64,
}
