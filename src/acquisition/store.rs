//! The stored pieces of one dataset, decoded one by one into little-endian elements.

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    engine::ChunkFault,
    filter::{self, Fault},
    hdf5::{Chunk, Dataset, File, Filter, Layout},
    source::ByteSource,
};

/// A dataset as a grid of pieces over four axes: two of frames, then detector rows and columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Store {
    /// Index into `Acquisition::files`.
    pub file: u16,
    /// Extent; axes that the dataset does not have are 1.
    pub dims: [u64; 4],
    /// Shape of a piece.
    pub chunk: [u64; 4],
    pub element_bytes: u32,
    pub is_big_endian: bool,
    pub filters: Vec<Filter>,
    /// Pieces that reach past the edge are stored without filters.
    pub has_raw_edges: bool,
    pub pieces: Pieces,
}

/// Where the pieces lie.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Pieces {
    /// Those that were written, sorted by place.
    Chunks(Vec<Chunk>),
    /// One after another from `offset` on; those that end within `len_bytes` exist.
    Contiguous { offset: u64, len_bytes: u64 },
}

/// Why a piece has no elements.
#[derive(Clone, Debug)]
pub enum NoPiece {
    Missing,
    Failed(Fault),
    Unreadable(Error),
}

/// Which axis of the dataset is which of the store's; `None` for an axis it does not have.
pub fn axes_of(rank: usize) -> Option<[Option<usize>; 4]> {
    match rank {
        0 => Some([None; 4]),
        1 => Some([None, None, None, Some(0)]),
        2 => Some([None, None, Some(0), Some(1)]),
        3 => Some([Some(0), None, Some(1), Some(2)]),
        4 => Some([Some(0), Some(1), Some(2), Some(3)]),
        _ => None,
    }
}

impl Store {
    /// The pieces of `dataset`, with faults of its index. `None` for a virtual dataset or more than 4 axes.
    pub fn of(file: &File, dataset: &Dataset, file_index: u16) -> Result<Option<(Self, Vec<Error>)>> {
        let Some(axes) = axes_of(dataset.space.dims.len()) else { return Ok(None) };
        let spread = |of: &[u64]| axes.map(|axis| axis.and_then(|axis| of.get(axis).copied()).unwrap_or(1));
        let dims = spread(&dataset.space.dims);
        let element_bytes = dataset.datatype.bytes();
        let (chunk, pieces, filters, has_raw_edges, faults) = match &dataset.layout {
            Layout::Virtual(_) => return Ok(None),
            Layout::Contiguous { address, len_bytes } => {
                let offset = address.and_then(|address| address.checked_add(file.base()));
                let in_file = offset.map_or(0, |offset| file.len_bytes().saturating_sub(offset));
                let pieces = Pieces::Contiguous { offset: offset.unwrap_or(0), len_bytes: (*len_bytes).min(in_file) };
                ([1, 1, dims[2], dims[3]], pieces, Vec::new(), false, Vec::new())
            }
            Layout::Chunked(chunking) => {
                let found = file.chunks(dataset)?;
                let chunks = found
                    .chunks
                    .into_iter()
                    .map(|chunk| Chunk { at: axes.map(|axis| axis.map_or(0, |axis| chunk.at[axis])), ..chunk });
                let chunks = Pieces::Chunks(chunks.collect());
                (spread(&chunking.dims), chunks, dataset.filters.clone(), chunking.has_raw_edges, found.faults)
            }
        };
        let is_big_endian = dataset.datatype.is_big_endian();
        Ok(Some((
            Self { file: file_index, dims, chunk, element_bytes, is_big_endian, filters, has_raw_edges, pieces },
            faults,
        )))
    }

    /// Elements of a decoded piece; `None` where they are too many for this machine.
    pub fn piece_bytes(&self) -> Option<usize> {
        let bytes = self.chunk.iter().try_fold(u64::from(self.element_bytes), |product, &dim| product.checked_mul(dim));
        bytes.and_then(|bytes| usize::try_from(bytes).ok()).filter(|&bytes| bytes <= MOST_PIECE_BYTES)
    }

    /// Where the piece at `at` (in units of pieces) lies; `None` when it was not written.
    pub fn piece(&self, at: [u64; 4]) -> Option<Chunk> {
        match &self.pieces {
            Pieces::Chunks(chunks) => {
                let found = chunks.binary_search_by_key(&at, |chunk| chunk.at.map(u64::from)).ok()?;
                Some(chunks[found])
            }
            Pieces::Contiguous { offset, len_bytes } => {
                let len = self.piece_bytes()? as u64;
                let start = at[0].checked_mul(self.dims[1])?.checked_add(at[1])?.checked_mul(len)?;
                let is_there = start.checked_add(len)? <= *len_bytes && len > 0;
                is_there.then(|| Chunk { at: [0; 4], offset: offset + start, len_bytes: len, filter_mask: 0 })
            }
        }
    }

    /// Takes out pieces that reach past the end of the file, and gives their number.
    pub fn drop_cut_off(&mut self, file_len_bytes: u64) -> u64 {
        let Pieces::Chunks(chunks) = &mut self.pieces else { return 0 };
        let before = chunks.len();
        chunks.retain(|chunk| chunk.offset.checked_add(chunk.len_bytes).is_some_and(|end| end <= file_len_bytes));
        (before - chunks.len()) as u64
    }

    /// Elements of the piece at `at`, little-endian, in the shape of a piece.
    pub fn decode(&self, source: &dyn ByteSource, at: [u64; 4]) -> Result<Vec<u8>, NoPiece> {
        let piece = self.piece(at).ok_or(NoPiece::Missing)?;
        let decoded_len = self.piece_bytes().ok_or(NoPiece::Failed(ChunkFault::DecodedSize.into()))?;
        let len = usize::try_from(piece.len_bytes).map_err(|_| NoPiece::Missing)?;
        if piece.offset.checked_add(piece.len_bytes).is_none_or(|end| end > source.len_bytes()) {
            return Err(NoPiece::Missing);
        }
        let mut bytes = vec![0; len];
        source.read_at(piece.offset, &mut bytes).map_err(NoPiece::Unreadable)?;
        let is_edge = (0..4).any(|axis| (at[axis] + 1).saturating_mul(self.chunk[axis]) > self.dims[axis]);
        let filters = if self.has_raw_edges && is_edge { &[] } else { self.filters.as_slice() };
        let element = self.element_bytes as usize;
        let mut bytes =
            filter::decode(filters, piece.filter_mask, &bytes, decoded_len, element).map_err(NoPiece::Failed)?;
        if self.is_big_endian {
            bytes.chunks_exact_mut(element).for_each(<[u8]>::reverse);
        }
        Ok(bytes)
    }

    /// All elements, row-major, of a small dataset; what was not written is `fill`, or 0.
    pub fn decode_all(&self, source: &dyn ByteSource, fill: Option<&[u8]>) -> Option<Vec<u8>> {
        let element = self.element_bytes as usize;
        let elements = self.dims.iter().try_fold(1_u64, |product, &dim| product.checked_mul(dim))?;
        let elements =
            usize::try_from(elements).ok().filter(|&elements| elements.saturating_mul(element) <= MOST_SMALL_BYTES)?;
        let mut out = match fill.filter(|fill| fill.len() == element) {
            Some(fill) if !self.is_big_endian => fill.repeat(elements),
            _ => vec![0; elements * element],
        };
        let counts: [u64; 4] = std::array::from_fn(|axis| self.dims[axis].div_ceil(self.chunk[axis].max(1)));
        let pieces: Vec<[u64; 4]> = match &self.pieces {
            Pieces::Chunks(chunks) => chunks.iter().map(|chunk| chunk.at.map(u64::from)).collect(),
            Pieces::Contiguous { .. } => {
                (0..counts[0]).flat_map(|a| (0..counts[1]).map(move |b| [a, b, 0, 0])).collect()
            }
        };
        for at in pieces {
            match self.decode(source, at) {
                Ok(piece) => self.place(&piece, at, &mut out),
                Err(NoPiece::Missing) => {}
                Err(_) => return None,
            }
        }
        Some(out)
    }

    fn place(&self, piece: &[u8], at: [u64; 4], out: &mut [u8]) {
        let element = self.element_bytes as usize;
        let start: [u64; 4] = std::array::from_fn(|axis| at[axis] * self.chunk[axis]);
        let inside: [u64; 4] =
            std::array::from_fn(|axis| self.chunk[axis].min(self.dims[axis].saturating_sub(start[axis])));
        for (a, b) in (0..inside[0]).flat_map(|a| (0..inside[1]).map(move |b| (a, b))) {
            for row in 0..inside[2] {
                let from = (((a * self.chunk[1] + b) * self.chunk[2] + row) * self.chunk[3]) as usize * element;
                let to = [start[0] + a, start[1] + b, start[2] + row, start[3]];
                let to =
                    (((to[0] * self.dims[1] + to[1]) * self.dims[2] + to[2]) * self.dims[3] + to[3]) as usize * element;
                let len = inside[3] as usize * element;
                out[to..to + len].copy_from_slice(&piece[from..from + len]);
            }
        }
    }
}

/// A piece decodes to at most this (the format allows 4 GiB).
const MOST_PIECE_BYTES: usize = 2 << 30;
/// Masks, names and scalars are small.
const MOST_SMALL_BYTES: usize = 256 << 20;
