//! The stored pieces of one dataset, decoded one by one into little-endian elements.

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    engine::ChunkFault,
    filter::{self, Fault},
    hdf5::{Chunk, Dataset, File, Filter, Layout, Outline},
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
    /// The axes in the order in which the file holds them, the slowest first.
    pub order: [u8; 4],
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
    /// All elements from `offset` on, in the order of the file; those within `len_bytes` exist.
    Contiguous { offset: u64, len_bytes: u64 },
    /// One frame each, all written; where, stands in the leaves of the index, which are read along with them.
    Outlined(Outline),
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
        Self::with_axes(file, dataset, file_index, axes)
    }

    /// The same, where `axes` are those of the dataset that become the store's.
    pub fn with_axes(
        file: &File,
        dataset: &Dataset,
        file_index: u16,
        axes: [Option<usize>; 4],
    ) -> Result<Option<(Self, Vec<Error>)>> {
        let order = order_of(axes);
        let dims = spread(axes, &dataset.space.dims);
        let element_bytes = dataset.datatype.bytes();
        let (chunk, pieces, filters, has_raw_edges, faults) = match &dataset.layout {
            Layout::Virtual(_) => return Ok(None),
            Layout::Contiguous { address, len_bytes } => {
                let offset = address.and_then(|address| address.checked_add(file.base()));
                let in_file = offset.map_or(0, |offset| file.len_bytes().saturating_sub(offset));
                let pieces = Pieces::Contiguous { offset: offset.unwrap_or(0), len_bytes: (*len_bytes).min(in_file) };
                (contiguous_pieces(dims, order, element_bytes.into()), pieces, Vec::new(), false, Vec::new())
            }
            Layout::Chunked(chunking) => {
                let (pieces, faults) = chunked_pieces(file, dataset, axes)?;
                (spread(axes, &chunking.dims), pieces, dataset.filters.clone(), chunking.has_raw_edges, faults)
            }
        };
        let is_big_endian = dataset.datatype.is_big_endian();
        Ok(Some((
            Self { file: file_index, dims, chunk, order, element_bytes, is_big_endian, filters, has_raw_edges, pieces },
            faults,
        )))
    }

    /// Whether its pieces are known by the leaves of their index.
    pub fn is_outlined(&self) -> bool {
        matches!(self.pieces, Pieces::Outlined(_))
    }

    /// Chunks that stand for all of them; `None` for a store without chunks.
    pub fn samples(&self) -> Option<&[Chunk]> {
        match &self.pieces {
            Pieces::Chunks(chunks) => Some(chunks),
            Pieces::Outlined(outline) => Some(&outline.samples),
            Pieces::Contiguous { .. } => None,
        }
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
            Pieces::Outlined(_) => None,
            Pieces::Contiguous { offset, len_bytes } => {
                let strides = strides(self.dims, self.order)?;
                let mut start = 0_u64;
                for axis in 0..4 {
                    let first = at[axis].checked_mul(self.chunk[axis]).filter(|&first| first < self.dims[axis])?;
                    start = start.checked_add(first.checked_mul(strides[axis])?)?;
                }
                let element = u64::from(self.element_bytes);
                let start = start.checked_mul(element)?;
                // Only the last piece along an axis is shorter, and then the axes after it are whole.
                let inside = (0..4).map(|axis| self.chunk[axis].min(self.dims[axis] - at[axis] * self.chunk[axis]));
                let len = inside.product::<u64>() * element;
                let is_there = start.checked_add(len)? <= *len_bytes && len > 0;
                is_there.then(|| Chunk { at: [0; 4], offset: offset + start, len_bytes: len, filter_mask: 0 })
            }
        }
    }

    /// Whether the elements of a piece lie in another order than the store's axes.
    pub fn is_turned(&self) -> bool {
        let long = self.order.iter().filter(|&&axis| self.chunk[usize::from(axis)] > 1);
        !long.is_sorted()
    }

    /// The elements of a piece, in the order of the store's axes.
    fn turned(&self, piece: &[u8]) -> Vec<u8> {
        let Some(strides) = strides(self.chunk, self.order).map(|strides| strides.map(|stride| stride as usize)) else {
            return Vec::new();
        };
        let chunk = self.chunk.map(|side| side as usize);
        match self.element_bytes {
            1 => gathered::<1>(piece, chunk, strides),
            2 => gathered::<2>(piece, chunk, strides),
            4 => gathered::<4>(piece, chunk, strides),
            _ => gathered::<8>(piece, chunk, strides),
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
        if matches!(self.pieces, Pieces::Contiguous { .. }) {
            bytes.resize(decoded_len, 0);
        }
        let is_edge = (0..4).any(|axis| (at[axis] + 1).saturating_mul(self.chunk[axis]) > self.dims[axis]);
        let filters = if self.has_raw_edges && is_edge { &[] } else { self.filters.as_slice() };
        let element = self.element_bytes as usize;
        let mut bytes =
            filter::decode(filters, piece.filter_mask, &bytes, decoded_len, element).map_err(NoPiece::Failed)?;
        if self.is_big_endian {
            bytes.chunks_exact_mut(element).for_each(<[u8]>::reverse);
        }
        Ok(if self.is_turned() { self.turned(&bytes) } else { bytes })
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
            Pieces::Contiguous { .. } => all_of(counts),
            Pieces::Outlined(_) => return None,
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

/// Sizes `of` a dataset's axes along the store's, where `axes` are those of the dataset that become them; 1 along
/// those that it does not have.
pub fn spread(axes: [Option<usize>; 4], of: &[u64]) -> [u64; 4] {
    axes.map(|axis| axis.and_then(|axis| of.get(axis).copied()).unwrap_or(1))
}

/// The store's axes in the order of the dataset's. Those that it does not have are 1 long and may stand anywhere.
fn order_of(axes: [Option<usize>; 4]) -> [u8; 4] {
    let mut order = [0, 1, 2, 3];
    if axes.iter().flatten().is_sorted() {
        return order;
    }
    order.sort_by_key(|&axis| axes[usize::from(axis)]);
    order
}

/// Elements between neighbours along each axis of an array of `dims` whose axes lie in this order.
fn strides(dims: [u64; 4], order: [u8; 4]) -> Option<[u64; 4]> {
    let (mut strides, mut stride) = ([1; 4], 1_u64);
    for axis in order.into_iter().rev().map(usize::from) {
        strides[axis] = stride;
        stride = stride.checked_mul(dims[axis])?;
    }
    Some(strides)
}

/// In which pieces a contiguous dataset is read: a frame each where its pixels lie together, else what lies together
/// in the file, up to [`SLAB_BYTES`].
fn contiguous_pieces(dims: [u64; 4], order: [u8; 4], element_bytes: u64) -> [u64; 4] {
    if order[2..] == [2, 3] {
        return [1, 1, dims[2], dims[3]];
    }
    let (mut piece, mut bytes) = ([1; 4], element_bytes.max(1));
    for axis in order.into_iter().rev().map(usize::from) {
        piece[axis] = dims[axis].min(SLAB_BYTES / bytes).max(1);
        if piece[axis] < dims[axis] {
            break;
        }
        bytes = bytes.saturating_mul(piece[axis]);
    }
    piece
}

/// The elements of a box, row by row, of which those along each axis lie `strides` apart in `piece`.
fn gathered<const BYTES: usize>(piece: &[u8], chunk: [usize; 4], strides: [usize; 4]) -> Vec<u8> {
    let (elements, _) = piece.as_chunks::<BYTES>();
    let mut out = Vec::with_capacity(piece.len());
    for (a, b) in (0..chunk[0]).flat_map(|a| (0..chunk[1]).map(move |b| (a, b))) {
        for row in 0..chunk[2] {
            let first = a * strides[0] + b * strides[1] + row * strides[2];
            let line = elements.get(first..).unwrap_or_default().iter().step_by(strides[3].max(1)).take(chunk[3]);
            out.extend(line.flatten());
        }
    }
    out
}

/// Every place of a grid.
fn all_of(counts: [u64; 4]) -> Vec<[u64; 4]> {
    let frames = (0..counts[0]).flat_map(|a| (0..counts[1]).map(move |b| (a, b)));
    let places = frames.flat_map(|(a, b)| (0..counts[2]).map(move |row| (a, b, row)));
    places.flat_map(|(a, b, row)| (0..counts[3]).map(move |col| [a, b, row, col])).collect()
}

/// The pieces of a chunked dataset, and the faults of its index.
fn chunked_pieces(file: &File, dataset: &Dataset, axes: [Option<usize>; 4]) -> Result<(Pieces, Vec<Error>)> {
    // What is wrong with the index, the walk of all of it tells.
    let outline = file.outline(dataset).ok().flatten().filter(|_| axes_of(3) == Some(axes));
    if let Some(outline) = outline {
        return Ok((Pieces::Outlined(outline), Vec::new()));
    }
    let found = file.chunks(dataset)?;
    let in_store = |chunk: Chunk| Chunk { at: axes.map(|axis| axis.map_or(0, |axis| chunk.at[axis])), ..chunk };
    let mut chunks: Vec<Chunk> = found.chunks.into_iter().map(in_store).collect();
    chunks.sort_by_key(|chunk| chunk.at);
    Ok((Pieces::Chunks(chunks), found.faults))
}

/// What is read at once of a contiguous dataset whose frames lie scattered.
const SLAB_BYTES: u64 = 1 << 20;
/// A piece decodes to at most this (the format allows 4 GiB).
const MOST_PIECE_BYTES: usize = 2 << 30;
/// Masks, names and scalars are small.
const MOST_SMALL_BYTES: usize = 256 << 20;
