//! Sum and sum of squares of one pattern over a set of pixels.

use super::{pattern, planes::FramePlanes};
use crate::engine::PixelSet;

/// Sum (modulo 2^64, two's complement for signed types) and sum of squares of the pixels of `set`.
pub fn sums(frame: &FramePlanes, set: &PixelSet) -> (u64, u128) {
    let mut sums = (0u64, 0u128);
    for (value, _) in pattern::pixels(frame).into_iter().zip(0..).filter(|(_, pixel)| set.contains(*pixel)) {
        let (value, square) = number(frame, value);
        sums = (sums.0.wrapping_add(value), sums.1 + square);
    }
    sums
}

/// A pixel of 32 bits as a number of 64, two's complement, and its square.
pub fn number(frame: &FramePlanes, pixel: u32) -> (u64, u128) {
    let wide = if frame.layout.dtype.is_signed() { i64::from(pixel as i32) } else { i64::from(pixel) };
    (wide as u64, u128::from(wide.unsigned_abs()).pow(2))
}
