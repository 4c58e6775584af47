//! Frames as little-endian pixels, decoded on the CPU: for storage the GPU does not decode, for machines
//! without WebGPU, and as the oracle of both.
//!
//! Sources are read synchronously, so this runs in a worker as well as natively.

use std::{collections::BTreeMap, ops::Range};

use super::{
    Acquisition, FrameChunk, Storage,
    narrow::narrowed,
    store::NoPiece,
    tiles::{Placement, Tiles},
};
use crate::{
    Error, Kind, Result,
    engine::FrameFault,
    filter::{self, Fault},
    source::ByteSource,
};

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// All pixels, row-major, little-endian, of the set's dtype.
    Pixels(&'a [u8]),
    /// In no file, or never written.
    Missing,
    /// Its chunk, or one of them, could not be decoded.
    Failed(Fault),
}

impl Acquisition {
    /// Frames that were written, as sorted runs; a frame among them may still fail to decode.
    pub fn readable(&self) -> Vec<Range<u32>> {
        let Storage::BitshuffleLz4 { chunks, sections, .. } = &self.storage else {
            return self.tiles().readable.clone();
        };
        let mut runs: Vec<Range<u32>> = Vec::new();
        let written = chunks.iter().map(|chunk| chunk.frame..chunk.frame.saturating_add(1));
        let written = written.chain(sections.iter().map(|of| of.frame..of.frame.saturating_add(of.frames)));
        let written = written.map(|run| run.start..run.end.min(self.frames)).filter(|run| run.start < run.end);
        let mut written: Vec<Range<u32>> = written.collect();
        written.sort_unstable_by_key(|run| run.start);
        for run in written {
            match runs.last_mut() {
                Some(last) if last.end == run.start => last.end = run.end,
                _ => runs.push(run),
            }
        }
        runs
    }

    /// Number of frames that were written.
    pub fn readable_frames(&self) -> u64 {
        self.readable().iter().map(|run| u64::from(run.end - run.start)).sum()
    }

    /// Bytes of one frame as decoded.
    pub fn frame_bytes(&self) -> usize {
        self.detector.pixels() as usize * self.dtype.bytes() as usize
    }

    /// The readable frames in ranges of about `bytes` each, cut where chunks begin, so that no chunk has to be
    /// decoded for two of them; a range is longer where a chunk asks for it, up to [`BATCH_BYTES`].
    pub fn batches(&self, bytes: usize) -> Vec<Range<u32>> {
        let some = |bytes: usize| (bytes / self.frame_bytes().max(1)).max(1) as u32;
        let mut batches = Vec::new();
        for run in self.readable() {
            let mut next = run.start;
            while next < run.end {
                let most = run.end.min(next.saturating_add(some(bytes.max(BATCH_BYTES))));
                let end = self.batch_end(next, run.end, some(bytes));
                let longer = || (next + 1..most).find(|frame| begins_chunks(self.tiles(), *frame));
                let end = end.or_else(longer).unwrap_or(most);
                batches.push(next..end);
                next = end;
            }
        }
        batches
    }

    /// The last frame of a batch from `start` on of at most `most` frames that leaves no chunk half used.
    fn batch_end(&self, start: u32, end: u32, most: u32) -> Option<u32> {
        let limit = end.min(start.saturating_add(most));
        let is_cut = |frame: &u32| *frame == end || begins_chunks(self.tiles(), *frame);
        (start + 1..=limit).rev().find(is_cut)
    }

    fn tiles(&self) -> &Tiles {
        match &self.storage {
            Storage::Decoded(tiles) => tiles,
            Storage::BitshuffleLz4 { .. } => &NO_TILES,
        }
    }
}

/// Some frames as decoded.
#[derive(Clone, Debug, Default)]
pub struct DecodedFrames {
    /// Pixels of all frames of the range, little-endian; 0 for those that failed or are missing.
    pub pixels: Vec<u8>,
    pub failed: Vec<FrameFault>,
    pub missing: Vec<u32>,
}

/// Decodes `frames` into one buffer, see [`for_each`].
///
/// # Errors
/// `Io` when a file cannot be read any more.
pub fn decode(set: &Acquisition, sources: &[&dyn ByteSource], frames: Range<u32>) -> Result<DecodedFrames> {
    let mut decoded = DecodedFrames::default();
    let frame_bytes = set.frame_bytes();
    for_each(set, sources, frames, &mut |frame, outcome| match outcome {
        Frame::Pixels(pixels) => decoded.pixels.extend_from_slice(pixels),
        without => {
            decoded.pixels.resize(decoded.pixels.len() + frame_bytes, 0);
            match without {
                Frame::Failed(Fault { fault, block }) => decoded.failed.push(FrameFault { frame, fault, block }),
                _ => decoded.missing.push(frame),
            }
        }
    })?;
    Ok(decoded)
}

/// Decodes `frames` in order and hands each to `sink`. `sources` are the picked files, in the order given to
/// [`super::open`].
///
/// A chunk that holds several frames is decoded once, as long as the frames that it shares with others fit
/// into [`BATCH_BYTES`]; no more than that and one decoded chunk are held in memory.
///
/// # Errors
/// `Io` when a file cannot be read any more; faults of the data are verdicts of their frames.
pub fn for_each(
    set: &Acquisition,
    sources: &[&dyn ByteSource],
    frames: Range<u32>,
    sink: &mut dyn FnMut(u32, Frame<'_>),
) -> Result<()> {
    let frames = frames.start..frames.end.min(set.frames);
    match &set.storage {
        Storage::BitshuffleLz4 { sections, .. } if !sections.is_empty() => Err(outlined(set)),
        Storage::BitshuffleLz4 { block_px, chunks, .. } => decode_chunks(set, *block_px, chunks, sources, frames, sink),
        Storage::Decoded(tiles) => decode_tiles(set, tiles, sources, frames, sink),
    }
}

/// Decodes the chunk of one frame: strict about the set's block size, as the GPU is.
pub fn decode_chunk(set: &Acquisition, block_px: u32, chunk: &[u8]) -> std::result::Result<Vec<u8>, Fault> {
    let element = set.dtype.bytes();
    filter::bitshuffle_lz4(chunk, set.frame_bytes(), element as usize, block_px.saturating_mul(element))
}

fn decode_chunks(
    set: &Acquisition,
    block_px: u32,
    chunks: &[FrameChunk],
    sources: &[&dyn ByteSource],
    frames: Range<u32>,
    sink: &mut dyn FnMut(u32, Frame<'_>),
) -> Result<()> {
    let first = chunks.partition_point(|chunk| chunk.frame < frames.start);
    let mut next = frames.start;
    let mut bytes = Vec::new();
    for chunk in chunks[first..].iter().take_while(|chunk| chunk.frame < frames.end) {
        (next..chunk.frame).for_each(|missing| sink(missing, Frame::Missing));
        next = chunk.frame + 1;
        bytes.resize(chunk.len_bytes as usize, 0);
        source_of(set, sources, chunk.file)?.read_at(chunk.offset, &mut bytes)?;
        match decode_chunk(set, block_px, &bytes) {
            Ok(pixels) => sink(chunk.frame, Frame::Pixels(&pixels)),
            Err(fault) => sink(chunk.frame, Frame::Failed(fault)),
        }
    }
    (next..frames.end).for_each(|missing| sink(missing, Frame::Missing));
    Ok(())
}

fn decode_tiles(
    set: &Acquisition,
    tiles: &Tiles,
    sources: &[&dyn ByteSource],
    frames: Range<u32>,
    sink: &mut dyn FnMut(u32, Frame<'_>),
) -> Result<()> {
    let most = (BATCH_BYTES / set.frame_bytes().max(1)).max(1) as u32;
    let mut next = frames.start;
    for run in &tiles.readable {
        let run = run.start.max(frames.start)..run.end.min(frames.end);
        if run.is_empty() {
            continue;
        }
        (next..run.start).for_each(|missing| sink(missing, Frame::Missing));
        next = run.start;
        while next < run.end {
            let end = set.batch_end(next, run.end, most).unwrap_or_else(|| run.end.min(next.saturating_add(most)));
            for (frame, outcome) in (next..end).zip(decode_batch(set, tiles, sources, next..end)?) {
                match outcome {
                    Made::Pixels(pixels) => sink(frame, Frame::Pixels(&pixels)),
                    Made::Failed(fault) => sink(frame, Frame::Failed(fault)),
                    Made::Nothing => sink(frame, Frame::Missing),
                }
            }
            next = end;
        }
    }
    (next..frames.end).for_each(|missing| sink(missing, Frame::Missing));
    Ok(())
}

/// True when every chunk that `frame` lies in begins with it.
fn begins_chunks(tiles: &Tiles, frame: u32) -> bool {
    let at = tiles.position(frame);
    let mut sources = tiles.placements.iter().filter_map(|placement| Some((placement, placement.source_of(at)?)));
    sources.all(|(placement, [a, b])| {
        let Some(store) = tiles.stores.get(placement.store as usize) else { return true };
        let is_first = placement.from.start == [a, b];
        let is_line = store.chunk[0] == 1 && b % store.chunk[1] == 0;
        let is_block = a % store.chunk[0] == 0 && b == 0;
        is_first || is_line || is_block
    })
}

/// One frame while it is put together.
enum Made {
    Nothing,
    Pixels(Vec<u8>),
    Failed(Fault),
}

fn decode_batch(
    set: &Acquisition,
    tiles: &Tiles,
    sources: &[&dyn ByteSource],
    frames: Range<u32>,
) -> Result<Vec<Made>> {
    let mut made: Vec<Made> = frames.clone().map(|_| Made::Nothing).collect();
    for placement in &tiles.placements {
        let Some(store) = tiles.stores.get(placement.store as usize) else { continue };
        // Frames of the batch by the column of chunks that they share.
        let mut shared: BTreeMap<[u64; 2], Vec<(usize, [u64; 2])>> = BTreeMap::new();
        for (i, frame) in frames.clone().enumerate() {
            if let Some(from) = placement.source_of(tiles.position(frame)) {
                let at = [0, 1].map(|axis| from[axis] / store.chunk[axis]);
                shared.entry(at).or_default().push((i, [0, 1].map(|axis| from[axis] % store.chunk[axis])));
            }
        }
        let source = source_of(set, sources, store.file)?;
        for ([a, b], members) in shared {
            let range = |span: super::Span, axis: usize| {
                span.from / store.chunk[axis]..(span.from + span.count).div_ceil(store.chunk[axis])
            };
            for (row, col) in
                range(placement.rows, 2).flat_map(|row| range(placement.cols, 3).map(move |col| (row, col)))
            {
                let piece = store.decode(source, [a, b, row, col]);
                let narrow = |piece| narrowed(piece, store.element_bytes, set.dtype);
                match piece.and_then(|piece| narrow(piece).map_err(|fault| NoPiece::Failed(fault.into()))) {
                    Ok(piece) => members.iter().for_each(|(i, inside)| {
                        copy(set, placement, store.chunk, (&piece, [row, col]), *inside, &mut made[*i])
                    }),
                    Err(NoPiece::Missing) => {}
                    Err(NoPiece::Failed(fault)) => members.iter().for_each(|(i, _)| made[*i] = Made::Failed(fault)),
                    Err(NoPiece::Unreadable(e)) => return Err(e),
                }
            }
        }
    }
    Ok(made)
}

/// Copies what a decoded piece at (`row`, `col`) of the grid holds of one frame.
fn copy(
    set: &Acquisition,
    placement: &Placement,
    chunk: [u64; 4],
    (piece, at): (&[u8], [u64; 2]),
    inside: [u64; 2],
    made: &mut Made,
) {
    if matches!(made, Made::Nothing) {
        *made = Made::Pixels(vec![0; set.frame_bytes()]);
    }
    let Made::Pixels(pixels) = made else { return };
    let element = set.dtype.bytes() as usize;
    let plane = (inside[0] * chunk[1] + inside[1]) * chunk[2];
    let overlap =
        |span: super::Span, first: u64, len: u64| first.max(span.from)..(first + len).min(span.from + span.count);
    let rows = overlap(placement.rows, at[0] * chunk[2], chunk[2]);
    let cols = overlap(placement.cols, at[1] * chunk[3], chunk[3]);
    let len = (cols.end.saturating_sub(cols.start)) as usize * element;
    for row in rows {
        let from = ((plane + row - at[0] * chunk[2]) * chunk[3] + cols.start - at[1] * chunk[3]) as usize * element;
        let to = row - placement.rows.from + placement.rows.to;
        let to = (to * u64::from(set.detector.cols) + cols.start - placement.cols.from + placement.cols.to) as usize
            * element;
        if let (Some(from), Some(to)) = (piece.get(from..from + len), pixels.get_mut(to..to + len)) {
            to.copy_from_slice(from);
        }
    }
}

fn source_of<'a>(set: &Acquisition, sources: &[&'a dyn ByteSource], file: u16) -> Result<&'a dyn ByteSource> {
    let source = set.files.get(usize::from(file)).and_then(|file| sources.get(file.picked as usize)).copied();
    source.ok_or_else(|| {
        Error::new(Kind::Internal, "no_source", "A file of the set was not given")
            .at(&set.name)
            .found(format!("file {file}"))
    })
}

fn outlined(set: &Acquisition) -> Error {
    Error::new(Kind::Internal, "outlined_set", "The place of each pattern is not known").at(&set.name)
}

/// Frames held in memory while they are put together, bytes.
pub const BATCH_BYTES: usize = 64 << 20;

static NO_TILES: Tiles =
    Tiles { stores: Vec::new(), placements: Vec::new(), columns: 1, channel: None, readable: Vec::new(), gaps: 0 };
