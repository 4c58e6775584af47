//! Leaves of a chunk index, picked out of the bytes that pass by.

use js_sys::Uint8Array;

use crate::{Result, acquisition::Section, source::ByteSource};

/// The leaves of some sections, as far as they have passed.
pub struct Leaves(Vec<Leaf>);

struct Leaf {
    offset: u64,
    bytes: Vec<u8>,
    /// Bytes that have passed.
    filled: usize,
}

impl Leaves {
    pub fn of(sections: &[Section]) -> Self {
        let leaf = |section: &Section| Leaf {
            offset: section.leaf.offset,
            bytes: vec![0; section.leaf.len_bytes as usize],
            filled: 0,
        };
        Self(sections.iter().map(leaf).collect())
    }

    /// `bytes` of the file from `offset` on pass by, each once.
    pub fn pick(&mut self, offset: u64, bytes: &Uint8Array) {
        let end = offset + u64::from(bytes.length());
        for leaf in &mut self.0 {
            let (from, to) = (leaf.offset.max(offset), (leaf.offset + leaf.bytes.len() as u64).min(end));
            if from < to {
                let part = &mut leaf.bytes[(from - leaf.offset) as usize..(to - leaf.offset) as usize];
                bytes.subarray((from - offset) as u32, (to - offset) as u32).copy_to(part);
                leaf.filled += part.len();
            }
        }
    }

    /// The bytes of all leaves; what has not passed is read from `source`.
    ///
    /// # Errors
    /// As [`ByteSource::read_at`].
    pub fn finish(self, source: &dyn ByteSource) -> Result<Vec<Vec<u8>>> {
        let whole = |mut leaf: Leaf| {
            if leaf.filled < leaf.bytes.len() {
                source.read_at(leaf.offset, &mut leaf.bytes)?;
            }
            Ok(leaf.bytes)
        };
        self.0.into_iter().map(whole).collect()
    }
}
