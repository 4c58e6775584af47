//! A hash of one pattern that any number of lanes can sum in any order.
//!
//! high = sum over pixels p of value(p) x (mix(2 p) | 1) mod 2^32, low the same with mix(2 p + 1); p row-major.
//! Every weight is odd, so a change of one pixel always changes both words.

use super::{
    pixels_to_planes::planes,
    planes::{Batch, FramePlanes, set_bits, weight},
};
use crate::shape::{Dtype, FrameLayout};

/// The hash of the raw values, signed types sign-extended to 32 bits: high word, low word.
pub fn weighted64(frame: &FramePlanes) -> u64 {
    let layout = frame.layout;
    let (mut high, mut low) = (0u32, 0u32);
    for (block, record) in frame.blocks() {
        for plane in 0..layout.dtype.bits() {
            let weight = weight(layout.dtype, plane) as u32;
            for (i, word) in record.plane(plane) {
                for bit in set_bits(word) {
                    let pixel = block * layout.block_px + 32 * i + bit;
                    high = high.wrapping_add(weight.wrapping_mul(mix(2 * pixel) | 1));
                    low = low.wrapping_add(weight.wrapping_mul(mix(2 * pixel + 1) | 1));
                }
            }
        }
    }
    u64::from(high) << 32 | u64::from(low)
}

/// The hash of a pattern of 8 bits, its pixels row-major.
pub fn weighted64_of_bytes(layout: &FrameLayout, pixels: &[u8]) -> u64 {
    let layout = FrameLayout { dtype: Dtype::U8, ..*layout };
    let mut batch = Batch::default();
    batch.push(&layout, 0, &planes(&layout, pixels));
    batch.planes(&layout, 0).map_or(0, |frame| weighted64(&frame))
}

/// The finaliser of MurmurHash3, 32 bit (<https://github.com/aappleby/smhasher>).
fn mix(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x85EB_CA6B);
    let x = (x ^ x >> 13).wrapping_mul(0xC2B2_AE35);
    x ^ x >> 16
}
