//! The upper levels of a version 1 B-tree of chunks [III.A.1], without its leaves.
//!
//! A detector writes each leaf among the chunks it lists. Reading the leaves by themselves costs a read for every few
//! dozen frames; reading frames reads them along. So a large dataset is first known by its outline, which tells of
//! each leaf where it lies, which chunk comes first in it and about where its chunks lie.

use serde::{Deserialize, Serialize};

use super::{
    super::{
        dataset::Dataset,
        fields::{Fields, Widths, damaged},
        file::File,
        layout::{Chunking, Index, Layout},
    },
    Chunk,
};
use crate::Result;

/// A dataset of one frame to a chunk, known by the leaves of its index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Sorted by `first`.
    pub leaves: Vec<Leaf>,
    /// Some chunks, as their leaves place them.
    pub samples: Vec<Chunk>,
}

/// A leaf that was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leaf {
    /// Number of its first chunk along the first axis, and of chunks in it if all were written.
    pub first: u32,
    pub count: u32,
    /// First byte in the file, and bytes of a full leaf.
    pub offset: u64,
    pub len_bytes: u32,
    /// Bytes among which its chunks are likely to lie.
    pub start: u64,
    pub end: u64,
}

impl Leaf {
    /// Bytes that it does not share with the leaf before it.
    pub fn own_bytes(&self) -> u64 {
        let start = if self.first == 0 { self.start } else { self.offset.max(self.start) };
        self.end.saturating_sub(start)
    }

    /// The chunks that `bytes`, read at `offset`, list.
    ///
    /// # Errors
    /// `File` when these are not the bytes of such a leaf.
    pub fn chunks(&self, bytes: &[u8]) -> Result<Vec<Chunk>> {
        let node = Node::read(Fields::new(TREE, bytes, WIDTHS))?;
        if node.level != 0 {
            return Err(damaged(TREE).expected("a leaf").found(format!("a node of level {}", node.level)));
        }
        let chunk = |entry: &Entry| entry.chunk().ok_or_else(|| damaged(TREE).found("a chunk without a place"));
        node.entries.iter().map(chunk).collect()
    }
}

impl File<'_> {
    /// The outline of `dataset`, after [`File::set_outlined`]; `None` without it, and where its chunks are as well
    /// walked one by one: another index, other chunks than one frame each, few of them, a file that is cut short, or
    /// leaves that do not lie among their chunks.
    ///
    /// # Errors
    /// As [`File::chunks`], for the upper levels.
    pub fn outline(&self, dataset: &Dataset) -> Result<Option<Outline>> {
        if !self.is_outlined() {
            return Ok(None);
        }
        let (Layout::Chunked(chunking), [frames, ..]) = (&dataset.layout, dataset.space.dims.as_slice()) else {
            return Ok(None);
        };
        let Some(root) = chunking.address.filter(|_| is_frames(dataset, chunking)) else { return Ok(None) };
        if self.widths() != WIDTHS
            || self.base() != 0
            || self.len_announced().is_some()
            || *frames > u64::from(u32::MAX)
        {
            return Ok(None);
        }
        let Some(places) = self.leaf_places(root)? else { return Ok(None) };
        let is_sorted = places.is_sorted_by(|a, b| a.0 < b.0);
        if places.len() < FEWEST_LEAVES || !is_sorted || places.iter().any(|(first, _)| first >= frames) {
            return Ok(None);
        }
        self.near_chunks(&places, *frames)
    }

    /// First chunk and address of every leaf; `None` for a tree that is a single leaf.
    fn leaf_places(&self, root: u64) -> Result<Option<Vec<(u64, u64)>>> {
        let mut nodes = vec![root];
        for _ in 0..DEEPEST {
            self.preload(nodes.iter().map(|&node| (node, NODE_BYTES)));
            let mut below = Vec::new();
            let mut level = 0;
            for &address in &nodes {
                let node = self.tree_node(address)?;
                level = node.level;
                below.extend(node.entries.iter().filter_map(|entry| Some((entry.first, entry.child?))));
                if below.len() > super::MOST_CHUNKS {
                    return Err(damaged(TREE).found("a tree of very many nodes"));
                }
            }
            match level {
                0 => return Ok(None),
                1 => return Ok(Some(below)),
                _ => nodes = below.into_iter().map(|(_, child)| child).collect(),
            }
        }
        Err(damaged(TREE).found("a tree of very many levels"))
    }

    fn tree_node(&self, address: u64) -> Result<Node> {
        let room = self.len_bytes().saturating_sub(address);
        let bytes = self.read(TREE, address, NODE_BYTES.min(room))?;
        Node::read(self.fields(TREE, &bytes)).map_err(|e| e.at(format!("{}, {TREE} at {address}", self.name())))
    }

    /// Where the chunks of each leaf are likely to lie, from a few leaves that are read; `None` when those show that
    /// chunks lie elsewhere.
    fn near_chunks(&self, places: &[(u64, u64)], frames: u64) -> Result<Option<Outline>> {
        let end_of_file = self.len_bytes();
        let sampled: Vec<usize> = (0..SAMPLES).map(|i| i * (places.len() - 1) / (SAMPLES - 1)).collect();
        self.preload(sampled.iter().map(|&i| (places[i].1, NODE_BYTES)));
        let mut found = Vec::new();
        let mut lead = 0;
        for &i in &sampled {
            let node = self.tree_node(places[i].1)?;
            let extent = node.extent();
            let Some((start, end)) = extent.filter(|_| node.level == 0) else { return Ok(None) };
            // The first leaf is split off late: its chunks begin with the file.
            if i > 0 {
                lead = lead.max(places[i].1.saturating_sub(start));
            }
            found.push((i, node, start, end));
        }
        let lead = lead + lead / 2 + LEAD_SLACK;
        let leaf = |i: usize| {
            let offset = places[i].1;
            let next = places.get(i + 1).map_or(end_of_file, |next| next.1);
            let start = if i == 0 { found.first().map_or(0, |first| first.2) } else { offset.saturating_sub(lead) };
            let (first, last) = (places[i].0, places.get(i + 1).map_or(frames, |next| next.0));
            let end = next.max(offset.saturating_add(NODE_BYTES)).min(end_of_file);
            Leaf {
                first: first as u32,
                count: (last - first) as u32,
                offset,
                len_bytes: NODE_BYTES.min(end_of_file.saturating_sub(offset)) as u32,
                start,
                end: end.max(start),
            }
        };
        let leaves: Vec<Leaf> = (0..places.len()).map(leaf).collect();
        let is_near = found.iter().all(|(i, _, start, end)| leaves[*i].start <= *start && *end <= leaves[*i].end);
        let bytes = leaves.iter().map(|leaf| leaf.end - leaf.start).fold(0, u64::saturating_add);
        let is_short = leaves.iter().all(|leaf| leaf.end - leaf.start <= MOST_LEAF_BYTES);
        if !is_near || !is_short || bytes > end_of_file.saturating_add(end_of_file / 2) {
            return Ok(None);
        }
        let samples = found.iter().filter_map(|(_, node, ..)| node.entries.first()?.chunk()).collect();
        Ok(Some(Outline { leaves, samples }))
    }
}

/// Whether each chunk is one frame of a stack of frames, in an index that can be outlined.
fn is_frames(dataset: &Dataset, chunking: &Chunking) -> bool {
    let (dims, chunk) = (dataset.space.dims.as_slice(), chunking.dims.as_slice());
    let is_stack = dims.len() == 3 && chunk.len() == 3 && chunk[0] == 1 && chunk[1..] == dims[1..];
    is_stack && chunking.index == Index::BTree1
}

/// A node of the tree over chunks of three axes.
struct Node {
    level: u8,
    entries: Vec<Entry>,
}

/// A chunk, or a node below.
struct Entry {
    len_bytes: u32,
    filter_mask: u32,
    /// Place along the first axis.
    first: u64,
    child: Option<u64>,
}

impl Entry {
    fn chunk(&self) -> Option<Chunk> {
        let (at, offset) = ([u32::try_from(self.first).ok()?, 0, 0, 0], self.child?);
        Some(Chunk { at, offset, len_bytes: self.len_bytes.into(), filter_mask: self.filter_mask })
    }
}

impl Node {
    fn read(mut fields: Fields) -> Result<Self> {
        if fields.take(4)? != b"TREE" {
            return Err(damaged(TREE).expected("TREE"));
        }
        let (kind, level, count) = (fields.u8()?, fields.u8()?, fields.u16()?);
        if kind != 1 {
            return Err(damaged(TREE).expected("a node of chunks").found(format!("type {kind}")));
        }
        fields.skip(16)?;
        let mut entries = Vec::with_capacity(count.min(1024).into());
        for _ in 0..count {
            let (len_bytes, filter_mask, first) = (fields.u32()?, fields.u32()?, fields.u64()?);
            fields.skip(24)?;
            entries.push(Entry { len_bytes, filter_mask, first, child: fields.address()? });
        }
        Ok(Self { level, entries })
    }

    /// First byte and end of all chunks of a leaf.
    fn extent(&self) -> Option<(u64, u64)> {
        let chunk = |entry: &Entry| {
            let start = entry.child?;
            Some((start, start.checked_add(entry.len_bytes.into())?))
        };
        let chunks = self.entries.iter().map(chunk).collect::<Option<Vec<_>>>()?;
        let start = chunks.iter().map(|chunk| chunk.0).min()?;
        Some((start, chunks.iter().map(|chunk| chunk.1).max()?))
    }
}

const TREE: &str = "version 1 B-tree";
/// What DECTRIS writes; other widths are walked.
const WIDTHS: Widths = Widths { address: 8, length: 8 };
/// A node of 64 entries, the format's default, and the key behind the last one.
const NODE_BYTES: u64 = 24 + 64 * 48 + 40;
/// Below this, walking all leaves takes no longer.
const FEWEST_LEAVES: usize = 16;
/// Leaves that are read to see where chunks lie.
const SAMPLES: usize = 4;
/// The chunks of a leaf are read at once.
const MOST_LEAF_BYTES: u64 = 64 << 20;
/// Bytes that chunks may begin before those of the leaves that were read.
const LEAD_SLACK: u64 = 64 << 10;
const DEEPEST: u32 = 16;
