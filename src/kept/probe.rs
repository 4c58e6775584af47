//! What tells one file from another without reading all of it.

use std::{fmt::Write, ops::Range};

use sha2::{Digest, Sha256};

use crate::{Result, source::ByteSource};

/// A digest of the length of `source` and of some of its bytes: its ends, where metadata lie, and places between.
///
/// # Errors
/// As [`ByteSource::read_at`].
pub fn probe(source: &dyn ByteSource) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(source.len_bytes().to_le_bytes());
    for bytes in source.read_many(&ranges(source.len_bytes()))? {
        hash.update(bytes);
    }
    Ok(hash.finalize().iter().fold(String::new(), |mut hex, byte| {
        // Writing into a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// Places that are looked at, as far as the file reaches; of a small file all.
fn ranges(len_bytes: u64) -> Vec<Range<u64>> {
    let cut = |start: u64, bytes: u64| start.min(len_bytes)..start.saturating_add(bytes).min(len_bytes);
    let step = len_bytes / PLACES;
    let between = (1..PLACES).map(|place| cut(place * step, PLACE_BYTES));
    let ends = [cut(0, END_BYTES), cut(len_bytes.saturating_sub(END_BYTES), END_BYTES)];
    ends.into_iter().chain(between).collect()
}

/// Bytes that are looked at of each end, places between them, and bytes of each.
const END_BYTES: u64 = 64 << 10;
const PLACES: u64 = 16;
const PLACE_BYTES: u64 = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Bytes;

    fn probed(bytes: Vec<u8>) -> String {
        probe(&Bytes { name: "x".to_owned(), bytes }).expect("bytes in memory can be read")
    }

    #[test]
    fn files_that_differ_at_an_end_in_length_or_at_a_place_between_are_told_apart() {
        let whole = vec![7; 2 << 20];
        let changed = |place: usize| {
            let mut bytes = whole.clone();
            bytes[place] = 8;
            probed(bytes)
        };
        let all =
            [changed(0), changed((2 << 20) - 1), changed(1 << 20), probed(vec![7; 3 << 20]), probed(whole.clone())];
        for (i, one) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|other| other != one), "{i}");
        }
        assert_eq!(probed(whole.clone()), probed(whole));
    }

    #[test]
    fn a_file_of_any_length_has_a_probe() {
        for len in [0, 1, 15, 16, 4096, 65_536, 65_537] {
            assert_eq!(probed(vec![1; len]).len(), 64);
        }
    }
}
