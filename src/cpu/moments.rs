//! First moments of one pattern over a set of pixels: sum of value, value x row, value x column.

use super::planes::{FramePlanes, mask_stride, weight};

/// [sum, sum x row, sum x column], modulo 2^64; rows and columns count from 0.
pub fn sums(frame: &FramePlanes, mask: &[u32]) -> [u64; 3] {
    let layout = frame.layout;
    let stride = mask_stride(layout);
    let mut sums = [0u64; 3];
    for (block, record) in frame.blocks() {
        let mask = &mask[(block * stride) as usize..];
        for plane in 0..layout.dtype.bits() {
            let mut ones = [0u64; 3];
            for (i, word) in record.plane(plane) {
                let moments = of_word(word & mask[i as usize], block * layout.block_px + 32 * i, layout.detector.cols);
                ones.iter_mut().zip(moments).for_each(|(sum, moment)| *sum += moment);
            }
            let weight = weight(layout.dtype, plane);
            sums.iter_mut().zip(ones).for_each(|(sum, ones)| *sum = sum.wrapping_add(ones.wrapping_mul(weight)));
        }
    }
    sums
}

/// Number, sum of rows and sum of columns of the pixels of `word`, whose bit 0 is pixel `first`.
fn of_word(word: u32, first: u32, cols: u32) -> [u64; 3] {
    let (row, col) = (first / cols, first % cols);
    let ones = u64::from(word.count_ones());
    let bit_sum: u64 = (0..5).map(|j| u64::from((word & BIT_OF_INDEX[j]).count_ones()) << j).sum();
    let (mut rows, mut columns) = (ones * u64::from(row), ones * u64::from(col) + bit_sum);
    for next_row in (cols - col..32).step_by(cols as usize) {
        let below = u64::from((word >> next_row).count_ones());
        rows += below;
        columns -= below * u64::from(cols);
    }
    [ones, rows, columns]
}

/// The bits whose index has bit j set.
const BIT_OF_INDEX: [u32; 5] = [0xAAAA_AAAA, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_may_span_several_detector_rows() {
        let word = 1 << 0 | 1 << 2 | 1 << 31;
        let pixels = [5u64, 7, 36];
        assert_eq!(of_word(word, 5, 3), [3, pixels.map(|p| p / 3).iter().sum(), pixels.map(|p| p % 3).iter().sum()]);
        assert_eq!(of_word(word, 5, 192), [3, 0, 48]);
    }
}
