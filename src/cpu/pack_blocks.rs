//! The record of one block in the resident form: starts of its planes, bitmaps, words that are not zero.

use super::measure_blocks::maps;

/// The record of a block with these planes of `plane_words` words.
pub fn record(planes: &[u32], plane_words: u32) -> Vec<u32> {
    let mut record = vec![0];
    let mut total = 0;
    for plane in planes.chunks_exact(plane_words as usize) {
        total += plane.iter().filter(|&&word| word != 0).count() as u32;
        record.push(total);
    }
    record.extend(maps(planes, plane_words));
    record.extend(planes.iter().filter(|&&word| word != 0));
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_holds_starts_bitmaps_and_words() {
        assert_eq!(record(&[0, 7, 0, 0, 9, 8], 2), [0, 1, 1, 3, 2, 0, 3, 7, 9, 8]);
    }
}
