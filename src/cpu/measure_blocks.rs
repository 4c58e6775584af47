//! The bit planes of one block, each started at a word, and which of their words are not zero.

use crate::shape::FrameLayout;

/// All planes of block `block` as words, plane by plane from the low bit up.
///
/// `shuffled` is its decoded LZ4 block (planes back to back, n / 8 bytes each), empty for a block that is
/// nothing but the tail; `tail` are the raw pixels that belong to it, little-endian.
pub fn planes(layout: &FrameLayout, block: u32, shuffled: &[u8], tail: &[u8]) -> Vec<u32> {
    let (bits, plane_words) = (layout.dtype.bits() as usize, layout.plane_words(block) as usize);
    let plane_bytes = shuffled.len() / bits;
    let mut words = vec![0u32; bits * plane_words];
    for (byte, &value) in shuffled.iter().enumerate() {
        let (plane, at) = (byte / plane_bytes, byte % plane_bytes);
        words[plane * plane_words + at / 4] |= u32::from(value) << (at % 4 * 8);
    }
    for (i, pixel) in tail.chunks_exact(bits / 8).enumerate() {
        let at = plane_bytes * 8 + i;
        for plane in 0..bits {
            let bit = pixel[plane / 8] >> (plane % 8) & 1;
            words[plane * plane_words + at / 32] |= u32::from(bit) << (at % 32);
        }
    }
    words
}

/// Bitmaps of planes of `plane_words` words: bit i of word j of a plane's = its word 32 j + i is not zero.
pub fn maps(planes: &[u32], plane_words: u32) -> Vec<u32> {
    let groups = planes.chunks_exact(plane_words as usize).flat_map(|plane| plane.chunks(32));
    groups.map(|words| (0..).zip(words).map(|(i, &word)| u32::from(word != 0) << i).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Detector, Dtype};

    #[test]
    fn planes_of_a_partial_block_start_at_words_and_take_the_tail_in() {
        let layout = FrameLayout { detector: Detector { rows: 1, cols: 41 }, dtype: Dtype::U8, block_px: 64 };
        let shuffled: Vec<u8> = (1..=40).collect();
        let words = planes(&layout, 0, &shuffled, &[0b1000_0001]);
        assert_eq!(words[..4], [0x0403_0201, 0x0000_0105, 0x0908_0706, 0x0000_000A]);
        assert_eq!(words[14..], [0x2726_2524, 0x0000_0128]);
    }

    #[test]
    fn a_map_bit_stands_for_a_word_that_is_not_zero() {
        let mut planes = vec![0; 2 * 33];
        (planes[0], planes[31], planes[32], planes[34]) = (1, 1, 1, 1);
        assert_eq!(maps(&planes, 33), [0x8000_0001, 1, 2, 0]);
    }
}
