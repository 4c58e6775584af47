//! The record of one block in the resident form ([`super::planes`]): head, bitmaps, words that are not zero.

use super::{
    measure_blocks::maps,
    planes::{HEAD_WORDS, map_words},
};

/// The record of a block with these planes (at most 32) of `plane_words` words.
pub fn record(planes: &[u32], plane_words: u32) -> Vec<u32> {
    let mut record = vec![0; HEAD_WORDS as usize];
    for (plane, words) in planes.chunks_exact(plane_words as usize).enumerate() {
        if words.iter().any(|&word| word != 0) {
            record[0] |= 1 << plane;
            let end = record.len() + map_words(plane_words) as usize;
            record.extend(maps(words, plane_words));
            record.resize(end, 0);
        }
    }
    let head_and_maps = record.len();
    record.extend(planes.iter().filter(|&&word| word != 0));
    record[1] = (record.len() - head_and_maps) as u32;
    record.resize(record.len().next_multiple_of(4), 0);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_holds_its_head_bitmaps_and_words() {
        assert_eq!(record(&[0, 7, 0, 0, 9, 8], 2), [0b101, 3, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 7, 9, 8, 0]);
        assert_eq!(record(&[0; 16], 2), [0; 4]);
    }

    #[test]
    fn bitmaps_of_a_plane_of_more_than_128_words_follow_one_another() {
        let mut plane = [0; 129];
        (plane[127], plane[128]) = (5, 6);
        assert_eq!(record(&plane, 129), [1, 2, 0, 0, 0, 0, 0, 1 << 31, 1, 0, 0, 0, 5, 6, 0, 0]);
    }
}
