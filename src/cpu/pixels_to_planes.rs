//! Frames of little-endian pixels to bit planes, for formats that the workers decode.

use super::planes::set_bits;
use crate::shape::{Dtype, FrameLayout};

/// All planes of one frame in the order of [`FrameLayout`]; `bytes` holds its pixels, row-major.
pub fn planes(layout: &FrameLayout, bytes: &[u8]) -> Vec<u32> {
    let mut planes = vec![0; layout.frame_words() as usize];
    let mut pixels = bytes.chunks_exact(layout.dtype.bytes() as usize).map(little_endian);
    let mut first = 0;
    for block in 0..layout.blocks() {
        let plane_words = layout.plane_words(block) as usize;
        for (pixel, value) in (0..layout.pixels_of(block) as usize).zip(pixels.by_ref()) {
            for plane in set_bits(value) {
                planes[first + plane as usize * plane_words + pixel / 32] |= 1 << (pixel % 32);
            }
        }
        first += layout.block_words(block) as usize;
    }
    planes
}

/// Pixels as 32-bit words; signed types sign-extended. For integer types of at most 4 bytes.
pub fn pixels(dtype: Dtype, bytes: &[u8]) -> Vec<u32> {
    let unused = if dtype.is_signed() { 32 - dtype.bits() } else { 0 };
    let extend = |value: u32| ((value << unused) as i32 >> unused) as u32;
    bytes.chunks_exact(dtype.bytes() as usize).map(|bytes| extend(little_endian(bytes))).collect()
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Detector;

    #[test]
    fn pixels_become_planes_block_by_block() {
        let layout = FrameLayout { detector: Detector { rows: 1, cols: 9 }, dtype: Dtype::U16, block_px: 8 };
        let bytes: Vec<u8> = [1u16, 2, 3, 0, 0, 0, 0, 0x8000, 5].iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut expected = vec![0; 32];
        (expected[0], expected[1], expected[15]) = (0b101, 0b110, 0x80);
        (expected[16], expected[18]) = (1, 1);
        assert_eq!(planes(&layout, &bytes), expected);
    }

    #[test]
    fn signed_pixels_are_sign_extended() {
        assert_eq!(pixels(Dtype::I16, &[0xFE, 0xFF, 1, 0]), [0xFFFF_FFFE, 1]);
        assert_eq!(pixels(Dtype::U16, &[0xFE, 0xFF]), [0xFFFE]);
        assert_eq!(pixels(Dtype::I32, &[0xFF; 4]), [u32::MAX]);
    }
}
