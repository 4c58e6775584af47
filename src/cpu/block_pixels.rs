//! Planes of a frame back to dense pixels.

use serde::{Deserialize, Serialize};

use crate::shape::FrameLayout;

/// What becomes of counts on their way to dense pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PixelOutput {
    /// As they are stored.
    Exact,
    /// 8 bits: below 0 becomes 0, above 255 becomes 255.
    U8Clip,
    /// The lower 8 bits.
    U8Low,
}

impl PixelOutput {
    /// Bytes of a pixel.
    pub fn bytes(self, layout: &FrameLayout) -> u32 {
        if self == Self::Exact { layout.dtype.bytes() } else { 1 }
    }

    /// What a stored value, sign-extended to 32 bits, becomes.
    pub fn value(self, stored: u32, is_signed: bool) -> u32 {
        match self {
            Self::Exact => stored,
            Self::U8Low => stored & 0xFF,
            Self::U8Clip if is_signed => (stored as i32).clamp(0, 255) as u32,
            Self::U8Clip => stored.min(255),
        }
    }
}

/// The frame whose planes are given in the order of [`FrameLayout`]: its pixels, little-endian, row-major, and how many
/// lie outside 0 to 255.
pub fn pixels(layout: &FrameLayout, planes: &[u32], output: PixelOutput) -> (Vec<u8>, u64) {
    let (bits, is_signed) = (layout.dtype.bits() as usize, layout.dtype.is_signed());
    let mut rest = planes;
    let mut bytes = Vec::new();
    let mut outside = 0;
    for block in 0..layout.blocks() {
        let (planes, later) = rest.split_at(layout.block_words(block) as usize);
        rest = later;
        let plane_words = layout.plane_words(block) as usize;
        for pixel in 0..layout.pixels_of(block) as usize {
            let bit = |plane: usize| planes[plane * plane_words + pixel / 32] >> (pixel % 32) & 1;
            let mut value = (0..bits).fold(0, |value, plane| value | bit(plane) << plane);
            if is_signed && bit(bits - 1) == 1 && bits < 32 {
                value |= u32::MAX << bits;
            }
            let is_outside = if is_signed { !(0..=255).contains(&(value as i32)) } else { value > 255 };
            outside += u64::from(is_outside);
            bytes.extend(&output.value(value, is_signed).to_le_bytes()[..output.bytes(layout) as usize]);
        }
    }
    (bytes, outside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cpu::pixels_to_planes::planes,
        shape::{Detector, Dtype},
    };

    #[test]
    fn pixels_come_back_and_are_clipped_at_either_end() {
        let layout = FrameLayout { detector: Detector { rows: 1, cols: 40 }, dtype: Dtype::I16, block_px: 32 };
        let values: Vec<i16> = (0..40).map(|i| [-3, 0, 255, 256, 32_767, -32_768, 7, 300][i % 8]).collect();
        let stored: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let planes = planes(&layout, &stored);
        assert_eq!(pixels(&layout, &planes, PixelOutput::Exact), (stored, 25));
        assert_eq!(pixels(&layout, &planes, PixelOutput::U8Clip).0[..8], [0, 0, 255, 255, 255, 0, 7, 255]);
        assert_eq!(pixels(&layout, &planes, PixelOutput::U8Low).0[..8], [253, 0, 255, 0, 255, 0, 7, 44]);
    }
}
