//! One diffraction pattern back from its bit planes.

use super::planes::{FramePlanes, set_bits};

/// Pixel values, row-major; signed types sign-extended to 32 bits.
pub fn pixels(frame: &FramePlanes) -> Vec<u32> {
    let layout = frame.layout;
    let mut pixels = vec![0; layout.detector.pixels() as usize];
    for (block, record) in frame.blocks() {
        for plane in 0..layout.dtype.bits() {
            // The sign of a two's-complement value fills all bits above it.
            let sign = layout.dtype.is_signed() && plane + 1 == layout.dtype.bits();
            let value = if sign { u32::MAX << plane } else { 1 << plane };
            for (i, word) in record.plane(plane) {
                for bit in set_bits(word) {
                    pixels[(block * layout.block_px + 32 * i + bit) as usize] |= value;
                }
            }
        }
    }
    pixels
}
