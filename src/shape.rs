//! Scan, detector, element type, and how one frame lies in bit planes.
//!
//! Index order is always (scan_y, scan_x, det_y, det_x).

use serde::{Deserialize, Serialize};

/// Probe positions, `rows` x `cols`, row-major, columns fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scan {
    pub rows: u32,
    pub cols: u32,
}

impl Scan {
    pub fn positions(self) -> u64 {
        u64::from(self.rows) * u64::from(self.cols)
    }
}

/// Detector pixels, `rows` x `cols`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detector {
    pub rows: u32,
    pub cols: u32,
}

impl Detector {
    pub fn pixels(self) -> u32 {
        self.rows * self.cols
    }
}

/// Element type of a diffraction pattern as stored, little-endian once read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Dtype {
    U8,
    U16,
    U32,
    I8,
    I16,
    I32,
    F32,
    F64,
}

impl Dtype {
    pub fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    pub fn bits(self) -> u32 {
        8 * self.bytes()
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    /// numpy's name, as in `expected.json`: "uint16".
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::I8 => "int8",
            Self::I16 => "int16",
            Self::I32 => "int32",
            Self::F32 => "float32",
            Self::F64 => "float64",
        }
    }
}

/// How one frame lies in bit planes: the frame's pixels (row-major) in blocks of `block_px`; the last
/// block holds what is left, the raw tail of a bitshuffle chunk included. Inside a block of n pixels
/// plane k (low bit first) is ceil(n / 32) words, bit i of word w = bit k of pixel 32 w + i of the
/// block; planes follow one another from the low bit up. Unused bits of a plane's last word are 0.
///
/// This is the bitshuffle block (<https://github.com/kiyo-masui/bitshuffle>) with each plane started
/// at a word, so that every shape has one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameLayout {
    pub detector: Detector,
    pub dtype: Dtype,
    /// Pixels of a full block; a positive multiple of 8.
    pub block_px: u32,
}

impl FrameLayout {
    /// Blocks of a frame, a partial last block included.
    pub fn blocks(&self) -> u32 {
        // A remainder below 8 pixels is no bitshuffle block of its own: it is the raw tail.
        self.detector.pixels().div_ceil(self.block_px)
    }

    /// Pixels of block `block`.
    pub fn pixels_of(&self, block: u32) -> u32 {
        (self.detector.pixels() - block * self.block_px).min(self.block_px)
    }

    /// Words of one plane of block `block`.
    pub fn plane_words(&self, block: u32) -> u32 {
        self.pixels_of(block).div_ceil(32)
    }

    /// Words of all planes of block `block`.
    pub fn block_words(&self, block: u32) -> u32 {
        self.dtype.bits() * self.plane_words(block)
    }

    /// Words of all planes of a frame.
    pub fn frame_words(&self) -> u32 {
        (0..self.blocks()).map(|block| self.block_words(block)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arina_frame_has_nine_full_blocks_of_u16() {
        let detector = Detector { rows: 192, cols: 192 };
        let layout = FrameLayout { detector, dtype: Dtype::U16, block_px: 4096 };
        assert_eq!((layout.blocks(), layout.frame_words()), (9, 9 * 2048));
    }

    #[test]
    fn a_last_block_holds_the_raw_tail_too() {
        let detector = Detector { rows: 65, cols: 63 };
        let layout = FrameLayout { detector, dtype: Dtype::U16, block_px: 4096 - 8 };
        assert_eq!((layout.blocks(), layout.pixels_of(1), layout.plane_words(1)), (2, 7, 1));
    }
}
