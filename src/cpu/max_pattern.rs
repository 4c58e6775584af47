//! Maximum of every detector pixel over many patterns.

use super::{pattern, planes::FramePlanes};
use crate::shape::Dtype;

/// The maximum of no value: the least there is, sign-extended.
pub fn least(dtype: Dtype) -> u32 {
    if dtype.is_signed() { (1u32 << (dtype.bits() - 1)).wrapping_neg() } else { 0 }
}

/// Raises `max` (sign-extended for signed types) where one pattern has more.
pub fn raise(max: &mut [u32], frame: &FramePlanes) {
    let signed = frame.layout.dtype.is_signed();
    for (value, max) in pattern::pixels(frame).into_iter().zip(max) {
        *max = if signed { (*max as i32).max(value as i32) as u32 } else { value.max(*max) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_value_of_a_signed_type_is_negative() {
        assert_eq!((least(Dtype::U16), least(Dtype::I8) as i32, least(Dtype::I32) as i32), (0, -128, i32::MIN));
    }
}
