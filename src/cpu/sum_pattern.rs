//! Sum and maximum of every detector pixel over many patterns.

use super::{pattern, planes::FramePlanes};
use crate::{engine::PatternSum, shape::FrameLayout};

/// A sum of no pattern.
pub fn zero(layout: &FrameLayout) -> PatternSum {
    let pixels = layout.detector.pixels() as usize;
    let least = if layout.dtype.is_signed() { i32::MIN as u32 } else { 0 };
    PatternSum { sum: vec![0; pixels], max: vec![least; pixels], frames: 0 }
}

/// Adds one pattern.
pub fn add(total: &mut PatternSum, frame: &FramePlanes) {
    let signed = frame.layout.dtype.is_signed();
    for ((value, sum), max) in pattern::pixels(frame).into_iter().zip(&mut total.sum).zip(&mut total.max) {
        let wide = if signed { i64::from(value as i32) as u64 } else { u64::from(value) };
        *sum = sum.wrapping_add(wide);
        *max = if signed { (*max as i32).max(value as i32) as u32 } else { value.max(*max) };
    }
    total.frames += 1;
}
