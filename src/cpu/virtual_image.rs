//! Sum of one pattern over a set of pixels: 2^plane x popcount(plane word & mask word).

use super::planes::{FramePlanes, mask_stride, weight};

/// Sum over the pixels of `mask` (see [`super::planes::mask_words`]), counts; two's complement for signed types.
pub fn sum(frame: &FramePlanes, mask: &[u32]) -> u64 {
    let stride = mask_stride(frame.layout);
    let mut sum = 0u64;
    for (block, record) in frame.blocks() {
        let mask = &mask[(block * stride) as usize..];
        for plane in 0..frame.layout.dtype.bits() {
            let ones: u32 = record.plane(plane).map(|(i, word)| (word & mask[i as usize]).count_ones()).sum();
            sum = sum.wrapping_add(u64::from(ones).wrapping_mul(weight(frame.layout.dtype, plane)));
        }
    }
    sum
}
