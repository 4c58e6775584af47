//! Where each chunk of a dataset lies, whatever its index.

mod btree1;
mod btree2;
mod extensible_array;
mod fixed_array;
mod outline;

use serde::{Deserialize, Serialize};

pub use outline::{Leaf, Outline};

use super::{
    dataset::Dataset,
    fields::{Fields, unsupported},
    file::File,
    layout::{Chunking, Index, Layout},
};
use crate::{Error, Kind, Result};

/// A stored chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Place in units of chunks, slowest axis first; axes that the dataset does not have are 0.
    pub at: [u32; 4],
    /// First byte in the file.
    pub offset: u64,
    pub len_bytes: u64,
    /// Bit i set: filter i of the pipeline was not applied.
    pub filter_mask: u32,
}

/// The chunks of a dataset that were written, sorted by place, one per place.
#[derive(Clone, Debug, Default)]
pub struct ChunkList {
    pub chunks: Vec<Chunk>,
    /// Parts of the index that could not be read (the first few); their chunks are not in the list.
    pub faults: Vec<Error>,
}

impl File<'_> {
    /// The stored chunks of `dataset`; none for one that is not chunked.
    pub fn chunks(&self, dataset: &Dataset) -> Result<ChunkList> {
        let Layout::Chunked(chunking) = &dataset.layout else { return Ok(ChunkList::default()) };
        let grid = Grid::of(dataset, chunking)?;
        let Some(address) = chunking.address else { return Ok(ChunkList::default()) };
        let mut walk = Walk { file: self, grid, found: ChunkList::default() };
        let outcome = match chunking.index {
            Index::BTree1 => walk.btree1(address),
            Index::Single(filtered) => walk.single(address, filtered),
            Index::Implicit => walk.implicit(address),
            Index::FixedArray => walk.fixed_array(address),
            Index::ExtensibleArray => walk.extensible_array(address),
            Index::BTree2 => walk.btree2(address),
        };
        if let Err(e) = outcome {
            walk.fault(e);
        }
        let mut found = walk.found;
        found.chunks.sort_by_key(|chunk| chunk.at);
        found.chunks.dedup_by_key(|chunk| chunk.at);
        Ok(found)
    }
}

/// The chunks of a dataset as a grid.
struct Grid {
    rank: usize,
    /// Shape of a chunk, elements.
    chunk_dims: Vec<u64>,
    /// Chunks along each axis now.
    counts: Vec<u64>,
    /// Chunks along each axis at the dataset's largest extent; `None` without end.
    most: Vec<Option<u64>>,
    /// Decoded bytes of a chunk.
    chunk_bytes: u64,
    /// For each axis, the one of four that it is part of, and how many chunks of that one its chunks are.
    steps: Vec<(usize, u64)>,
}

impl Grid {
    fn of(dataset: &Dataset, chunking: &Chunking) -> Result<Self> {
        let (space, chunk_dims) = match &dataset.folded {
            Some(folded) => (&folded.space, &folded.chunk_dims),
            None => (&dataset.space, &chunking.dims),
        };
        let (dims, max_dims) = (&space.dims, &space.max_dims);
        let rank = dims.len();
        let steps = match &dataset.folded {
            Some(folded) => folded.steps.clone(),
            None => (0..rank).map(|axis| (axis, 1)).collect(),
        };
        if dataset.space.dims.len() > 4 || chunk_dims.len() != rank {
            let found = format!("{rank} axes in chunks of {chunk_dims:?}");
            return Err(unsupported("chunked dataset")
                .expected("at most 4 axes, or chunks of whole patterns one after another")
                .found(found));
        }
        let elements = chunk_dims.iter().try_fold(1_u64, |product, &dim| product.checked_mul(dim));
        let chunk_bytes = elements.and_then(|elements| elements.checked_mul(dataset.datatype.bytes().into()));
        let chunk_bytes = chunk_bytes.ok_or_else(|| unsupported("chunk of more than 2^64 bytes"))?;
        let counts = dims.iter().zip(chunk_dims).map(|(dim, chunk)| dim.div_ceil(*chunk)).collect();
        let most = max_dims.iter().zip(chunk_dims).map(|(dim, chunk)| dim.map(|dim| dim.div_ceil(*chunk))).collect();
        Ok(Self { rank, chunk_dims: chunk_dims.clone(), counts, most, chunk_bytes, steps })
    }

    /// Place of the chunk with number `index`, row-major over the largest extent. An axis without end
    /// counts slowest, wherever it stands: `H5D__earray_idx_get_addr` moves it to the front.
    fn place_of(&self, index: u64) -> Option<Vec<u64>> {
        let endless = self.most.iter().position(Option::is_none).unwrap_or(0);
        let order = [endless].into_iter().chain((0..self.rank).filter(|&axis| axis != endless));
        let mut place = vec![0; self.rank];
        let mut rest = index;
        for axis in order.collect::<Vec<_>>().into_iter().rev() {
            match self.most[axis].filter(|_| axis != endless) {
                Some(most) => {
                    place[axis] = rest.checked_rem(most)?;
                    rest /= most;
                }
                None => place[axis] = rest,
            }
        }
        Some(place)
    }
}

/// An index while it is walked.
struct Walk<'a, 'b> {
    file: &'a File<'b>,
    grid: Grid,
    found: ChunkList,
}

impl Walk<'_, '_> {
    /// Takes note of the chunk at `address`; one outside the dataset's present extent is left out.
    fn add(&mut self, place: &[u64], address: u64, len_bytes: u64, filter_mask: u32) -> Result<()> {
        let is_inside = place.iter().zip(&self.grid.counts).all(|(at, count)| at < count);
        let mut at = [0; 4];
        for (&place, &(axis, step)) in place.iter().zip(&self.grid.steps) {
            let steps = place.checked_mul(step).and_then(|steps| u32::try_from(steps).ok());
            let (Some(steps), Some(at)) = (steps, at.get_mut(axis)) else { return Ok(()) };
            *at = u32::saturating_add(*at, steps);
        }
        let Some(offset) = address.checked_add(self.file.base()) else { return Ok(()) };
        if is_inside {
            self.found.chunks.push(Chunk { at, offset, len_bytes, filter_mask });
        }
        match self.found.chunks.len() <= MOST_CHUNKS {
            true => Ok(()),
            false => Err(unsupported("dataset").expected(format!("at most {MOST_CHUNKS} chunks"))),
        }
    }

    fn fault(&mut self, fault: Error) {
        if self.found.faults.len() < FAULTS_KEPT {
            self.found.faults.push(fault);
        }
    }

    fn single(&mut self, address: u64, filtered: Option<(u64, u32)>) -> Result<()> {
        let (len, mask) = filtered.unwrap_or((self.grid.chunk_bytes, 0));
        self.add(&vec![0; self.grid.rank], address, len, mask)
    }

    /// Chunk i lies i chunks after the first; as many as the file can hold.
    fn implicit(&mut self, address: u64) -> Result<()> {
        let all = self.grid.most.iter().map(|most| most.unwrap_or(1)).fold(1, u64::saturating_mul);
        let room = self.file.len_bytes().saturating_sub(address.saturating_add(self.file.base()));
        let fitting = room.div_ceil(self.grid.chunk_bytes.max(1));
        for index in 0..all.min(fitting) {
            let place = self.grid.place_of(index).unwrap_or_default();
            self.add(&place, address + index * self.grid.chunk_bytes, self.grid.chunk_bytes, 0)?;
        }
        if fitting < all {
            let e = Error::new(Kind::File, "truncated", "The file is cut short").at(self.file.name());
            self.fault(e.expected(format!("{all} chunks")).found(format!("{fitting}")));
        }
        Ok(())
    }

    /// One element of a fixed or extensible array: an address, and for filtered chunks length and mask.
    fn add_element(&mut self, fields: &mut Fields, index: u64, kind: ElementKind) -> Result<()> {
        let address = fields.address()?;
        let (len, mask) = match kind {
            ElementKind::Plain => (self.grid.chunk_bytes, 0),
            ElementKind::Filtered { len_len } => (fields.uint(len_len)?, fields.u32()?),
        };
        match (address, self.grid.place_of(index)) {
            (Some(address), Some(place)) => self.add(&place, address, len, mask),
            _ => Ok(()),
        }
    }
}

/// What an array element says of a chunk.
#[derive(Clone, Copy)]
enum ElementKind {
    Plain,
    /// Bytes of the chunk's length.
    Filtered {
        len_len: usize,
    },
}

impl ElementKind {
    /// From the array's client id (0 or 1) and the size of its elements.
    fn of(client: u8, element_len: u8, address_len: usize, what: &str) -> Result<Self> {
        let rest = usize::from(element_len).checked_sub(address_len);
        match (client, rest) {
            (0, Some(0)) => Ok(Self::Plain),
            (1, Some(rest @ 5..=12)) => Ok(Self::Filtered { len_len: rest - 4 }),
            _ => Err(super::fields::damaged(what).found(format!("elements of {element_len} bytes, client {client}"))),
        }
    }
}

const MOST_CHUNKS: usize = 16 << 20;
const FAULTS_KEPT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_without_end_counts_slowest() {
        let grid = Grid {
            rank: 3,
            chunk_dims: vec![1, 1, 1],
            counts: vec![2, 5, 3],
            most: vec![Some(2), None, Some(3)],
            chunk_bytes: 1,
            steps: vec![(0, 1), (1, 1), (2, 1)],
        };
        assert_eq!(grid.place_of(0), Some(vec![0, 0, 0]));
        assert_eq!(grid.place_of(2), Some(vec![0, 0, 2]));
        assert_eq!(grid.place_of(3), Some(vec![1, 0, 0]));
        assert_eq!(grid.place_of(6), Some(vec![0, 1, 0]));
    }
}
