//! From the leaves that were read along with their frames to the place of each frame in the batch.

use serde::{Deserialize, Serialize};

use super::Slice;
use crate::{
    Error, Kind, Result,
    acquisition::{FrameChunk, Section},
    engine::Slot,
};

/// The frames of some sections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Located {
    /// Those that lie in the slice that was read.
    pub slots: Vec<Slot>,
    /// Those that lie elsewhere.
    pub strays: Vec<FrameChunk>,
}

/// Finds the frames of `sections` in `slice`; `leaves` holds the bytes of the leaf of each.
///
/// # Errors
/// `File` with the key [`IRREGULAR`] when a leaf is not what the outline has made of it: frames that were not
/// written, or stored without their filter, or chunks beyond the end of the file. The set then has to be walked.
pub fn locate(slice: &Slice, sections: &[Section], leaves: &[Vec<u8>], file_len_bytes: u64) -> Result<Located> {
    let mut located = Located::default();
    for (section, bytes) in sections.iter().zip(leaves) {
        let chunks = section.leaf.chunks(bytes).map_err(|e| irregular(&e.to_string()))?;
        if chunks.len() != section.frames as usize {
            return Err(irregular(&format!("{} of {} patterns in a leaf", chunks.len(), section.frames)));
        }
        for (number, chunk) in (0..).zip(&chunks) {
            let end = chunk.offset.checked_add(chunk.len_bytes).filter(|&end| end <= file_len_bytes);
            let is_next = chunk.at[0] == section.leaf.first + number && chunk.filter_mask == 0;
            let (Some(end), true, Ok(len_bytes)) = (end, is_next, u32::try_from(chunk.len_bytes)) else {
                return Err(irregular(&format!("chunk {} where {} was due", chunk.at[0], section.leaf.first + number)));
            };
            let frame = section.frame + number;
            let inside = chunk.offset.checked_sub(slice.offset).filter(|_| end <= slice.end());
            match inside {
                // A slice is shorter than 4 GiB.
                Some(inside) => located.slots.push(Slot { frame, offset: slice.dest + inside as u32, len_bytes }),
                None => located.strays.push(FrameChunk { frame, file: slice.file, len_bytes, offset: chunk.offset }),
            }
        }
    }
    Ok(located)
}

fn irregular(found: &str) -> Error {
    Error::new(Kind::File, IRREGULAR, "Patterns do not lie as the outline of their index says").found(found)
}

/// Key of the error that asks for a walk of the whole index.
pub const IRREGULAR: &str = "irregular_index";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::Leaf;

    const SLICE: Slice = Slice { file: 1, offset: 1000, len_bytes: 500, dest: 64 };

    fn section(frames: u32) -> Section {
        let leaf = Leaf { first: 7, count: frames, offset: 1100, len_bytes: 3136, start: 1000, end: 1500 };
        Section { frame: 107, frames, file: 1, leaf }
    }

    /// A leaf of (frame, offset, bytes, filter mask).
    fn leaf(chunks: &[(u64, u64, u32, u32)]) -> Vec<u8> {
        let mut bytes = [b"TREE".as_slice(), &[1, 0], &(chunks.len() as u16).to_le_bytes(), &[0xff; 16]].concat();
        for &(frame, offset, len, mask) in chunks {
            bytes.extend([len, mask].iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend([frame, 0, 0, 0, offset].iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes
    }

    #[test]
    fn frames_in_the_slice_get_their_place_and_others_are_strays() {
        let leaf = leaf(&[(7, 1000, 20, 0), (8, 990, 20, 0), (9, 1480, 20, 0), (10, 1481, 20, 0)]);
        let located = locate(&SLICE, &[section(4)], &[leaf], 10_000).expect("a sound leaf");
        let slot = |frame, offset| Slot { frame, offset, len_bytes: 20 };
        let stray = |frame, offset| FrameChunk { frame, file: 1, len_bytes: 20, offset };
        assert_eq!(located.slots, [slot(107, 64), slot(109, 544)]);
        assert_eq!(located.strays, [stray(108, 990), stray(110, 1481)]);
    }

    #[test]
    fn anything_but_the_expected_frames_asks_for_a_walk() {
        let sound = (7, 1000, 20, 0);
        let leaves = [
            leaf(&[sound]),
            leaf(&[sound, (9, 1020, 20, 0)]),
            leaf(&[sound, (8, 1020, 20, 1)]),
            leaf(&[sound, (8, 9990, 20, 0)]),
            leaf(&[sound, (8, 1020, 20, 0)])[..100].to_vec(),
            vec![0; 200],
        ];
        for leaf in leaves {
            assert_eq!(locate(&SLICE, &[section(2)], &[leaf], 10_000).expect_err("irregular").key, IRREGULAR);
        }
    }
}
