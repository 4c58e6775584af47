//! Sum of every detector pixel over many patterns.

use super::{pattern, planes::FramePlanes};

/// Adds one pattern to `sum` (two's complement for signed types).
pub fn add(sum: &mut [u64], frame: &FramePlanes) {
    let signed = frame.layout.dtype.is_signed();
    for (value, sum) in pattern::pixels(frame).into_iter().zip(sum) {
        let wide = if signed { i64::from(value as i32) as u64 } else { u64::from(value) };
        *sum = sum.wrapping_add(wide);
    }
}
