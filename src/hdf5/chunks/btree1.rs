//! Version 1 B-tree of chunks [III.A.1]: what DECTRIS detectors write.
//!
//! A detector writes the tree while it writes the frames, so the nodes lie scattered among them. Those of one level
//! are therefore read together.

use super::{
    super::{
        fields::{damaged, unsupported},
        file::most_preloaded,
    },
    MOST_CHUNKS, Walk,
};
use crate::Result;

/// What the tree is known to be while it is walked from level to level.
struct Tree {
    /// Level of the nodes read now; unknown before the root was read.
    level: Option<u8>,
    /// Bytes of a node before its entries.
    prefix: u64,
    /// Bytes of an entry: a key and the child's address.
    entry_len: u64,
    /// Entries of the fullest node so far. The format's default is 64; other trees show it in their upper levels.
    most_entries: u64,
}

impl Walk<'_, '_> {
    pub(super) fn btree1(&mut self, address: u64) -> Result<()> {
        let address_len = self.file.widths().address as u64;
        // Key: chunk length, filter mask, first element along each axis, and 0 for the element's bytes.
        let key_len = 8 + 8 * (self.grid.rank as u64 + 1);
        let (prefix, entry_len) = (8 + 2 * address_len, key_len + address_len);
        let mut tree = Tree { level: None, prefix, entry_len, most_entries: 64 };
        let mut nodes = vec![address];
        while !nodes.is_empty() {
            nodes = self.btree1_level(&mut tree, &nodes)?;
            // Levels fall by one from node to child, so that no path is endless.
            tree.level = tree.level.and_then(|level| level.checked_sub(1));
        }
        Ok(())
    }

    /// Reads the nodes of one level and gives those below, in order. A node that cannot be read is a fault, not the
    /// end: the chunks beside it are still found.
    fn btree1_level(&mut self, tree: &mut Tree, nodes: &[u64]) -> Result<Vec<u64>> {
        let mut below = Vec::new();
        let node_len = tree.prefix + tree.most_entries * tree.entry_len;
        for group in nodes.chunks(most_preloaded(node_len)) {
            self.file.preload(group.iter().map(|&node| (node, node_len)));
            for &node in group {
                if let Err(e) = self.btree1_node(tree, node, &mut below) {
                    self.fault(e);
                }
                if below.len() > MOST_CHUNKS {
                    return Err(unsupported(TREE).expected(format!("at most {MOST_CHUNKS} nodes")));
                }
            }
        }
        Ok(below)
    }

    fn btree1_node(&mut self, tree: &mut Tree, address: u64, below: &mut Vec<u64>) -> Result<()> {
        let head = self.file.structure(TREE, address, tree.prefix, b"TREE", false)?;
        let mut fields = self.file.fields(TREE, &head);
        fields.skip(4)?;
        let (kind, level, entries) = (fields.u8()?, fields.u8()?, u64::from(fields.u16()?));
        if kind != 1 || *tree.level.get_or_insert(level) != level {
            return Err(damaged(TREE).at(format!("{TREE} at {address}")).found(format!("type {kind}, level {level}")));
        }
        let body = self.file.read(TREE, address + tree.prefix, entries * tree.entry_len)?;
        tree.most_entries = tree.most_entries.max(entries);
        let mut fields = self.file.fields(TREE, &body);
        for _ in 0..entries {
            let (len, mask) = (fields.u32()?, fields.u32()?);
            let mut place = Vec::with_capacity(self.grid.rank);
            for axis in 0..self.grid.rank {
                place.push(fields.u64()? / self.grid.chunk_dims[axis]);
            }
            fields.u64()?;
            match fields.address()? {
                Some(chunk) if level == 0 => self.add(&place, chunk, len.into(), mask)?,
                Some(child) => below.push(child),
                None => {}
            }
        }
        Ok(())
    }
}

const TREE: &str = "version 1 B-tree";

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::BTreeMap, ops::Range};

    use super::super::super::{
        dataset::{Dataset, Space},
        datatype::Datatype,
        file::File,
        layout::{Chunking, Index, Layout},
    };
    use crate::source::ByteSource;

    /// A file of zeros but for some pieces, which counts its reads.
    #[derive(Default)]
    struct Sparse {
        pieces: BTreeMap<u64, Vec<u8>>,
        reads: Cell<usize>,
    }

    impl Sparse {
        fn fill(&self, range: &Range<u64>) -> Vec<u8> {
            let mut bytes = vec![0; (range.end - range.start) as usize];
            for (&start, piece) in self.pieces.range(range.start.saturating_sub(4096)..range.end) {
                for (place, &byte) in (start..).zip(piece).filter(|(place, _)| range.contains(place)) {
                    bytes[(place - range.start) as usize] = byte;
                }
            }
            bytes
        }
    }

    impl ByteSource for Sparse {
        fn name(&self) -> &str {
            "sparse.h5"
        }

        fn len_bytes(&self) -> u64 {
            1 << 30
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> crate::Result<()> {
            self.reads.set(self.reads.get() + 1);
            buffer.copy_from_slice(&self.fill(&(offset..offset + buffer.len() as u64)));
            Ok(())
        }

        fn read_many(&self, ranges: &[Range<u64>]) -> crate::Result<Vec<Vec<u8>>> {
            self.reads.set(self.reads.get() + 1);
            Ok(ranges.iter().map(|range| self.fill(range)).collect())
        }
    }

    /// A node of 64 entries (frame, child) in files of one frame to a chunk.
    fn node(level: u8, entries: &[(u64, u64)]) -> Vec<u8> {
        let mut node = [b"TREE".as_slice(), &[1, level], &(entries.len() as u16).to_le_bytes(), &[0xff; 16]].concat();
        for &(frame, child) in entries {
            node.extend([7_u64, frame, 0, 0, 0, child].iter().flat_map(|word| word.to_le_bytes()));
        }
        node.resize(24 + 64 * 48 + 40, 0);
        node
    }

    #[test]
    fn nodes_scattered_among_the_frames_are_read_together() {
        const FRAMES: u64 = 87_381;
        let frame_at = |frame: u64| 100_000 + frame * 7_000;
        let mut file = Sparse::default();
        let mut entries: Vec<(u64, u64)> = (0..FRAMES).map(|frame| (frame, frame_at(frame))).collect();
        let mut level = 0;
        while entries.len() > 1 {
            let nodes = entries.chunks(64).map(|of| (of[0].0, frame_at(of[0].0) + 10 + 4_000 * u64::from(level), of));
            let nodes: Vec<_> = nodes.map(|(frame, place, of)| (frame, place, node(level, of))).collect();
            entries = nodes.iter().map(|(frame, place, _)| (*frame, *place)).collect();
            file.pieces.extend(nodes.into_iter().map(|(_, place, node)| (place, node)));
            level += 1;
        }
        let superblock = [b"\x89HDF\r\n\x1a\n".as_slice(), &[0, 0, 0, 0, 0, 8, 8, 0], &[0; 56], &[0; 40]].concat();
        file.pieces.insert(0, superblock);
        let layout = Layout::Chunked(Chunking {
            dims: vec![1, 192, 192],
            index: Index::BTree1,
            address: Some(entries[0].1),
            has_raw_edges: false,
        });
        let dims = vec![FRAMES, 192, 192];
        let space = Space { max_dims: dims.iter().copied().map(Some).collect(), dims, is_null: false };
        let datatype = Datatype::Integer { bytes: 2, is_signed: false, is_big_endian: false };
        let dataset = Dataset { address: 0, space, folded: None, datatype, layout, filters: Vec::new(), fill: None };
        let opened = File::open(&file).expect("the superblock is sound");
        file.reads.set(0);
        let found = opened.chunks(&dataset).expect("three axes");
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        let is_right = |(frame, chunk): (u64, &super::super::Chunk)| {
            (chunk.at, chunk.offset, chunk.len_bytes) == ([frame as u32, 0, 0, 0], frame_at(frame), 7)
        };
        assert_eq!(found.chunks.len() as u64, FRAMES);
        assert!((0..).zip(&found.chunks).all(is_right));
        // 1,366 leaves, 22 nodes above them, and the root.
        assert!(file.reads.get() <= 4, "{} reads", file.reads.get());
    }
}
