//! Sum of the squares of every detector pixel over many patterns.

use super::{pattern, planes::FramePlanes, squares};

/// Adds the squares of one pattern to `sum`.
pub fn add(sum: &mut [u128], frame: &FramePlanes) {
    for (value, sum) in pattern::pixels(frame).into_iter().zip(sum) {
        *sum += squares::number(frame, value).1;
    }
}
