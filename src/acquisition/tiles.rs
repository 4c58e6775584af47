//! Where the frames of a set lie when they are not simply one compressed chunk each.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    FrameChunk, Section,
    store::{Pieces, Store},
};
use crate::{
    filter,
    hdf5::{Leaf, Outline},
    shape::{Detector, Dtype},
};

/// Pieces of datasets, of any shape, filter and element type, and where they stand among the frames.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tiles {
    pub stores: Vec<Store>,
    pub placements: Vec<Placement>,
    /// Extent of the second frame axis (1 where the dataset has only one). Frame f stands at
    /// (f / columns, f % columns), or at (f, channel) when `channel` is given.
    pub columns: u64,
    pub channel: Option<u64>,
    /// Frames of which every pixel was written, sorted.
    pub readable: Vec<Range<u32>>,
    /// Pixels of a frame that belong to no part of it: the gaps between a detector's modules.
    pub gaps: u32,
}

/// A box of one store that stands in the frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    pub store: u32,
    /// Positions on the frame axes, in the frames and in the store; both hold the same number, and the
    /// n-th of one (row-major) is the n-th of the other.
    pub to: Window,
    pub from: Window,
    /// Detector rows and columns.
    pub rows: Span,
    pub cols: Span,
}

/// Positions on two axes: `count` of them from `start` on, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub start: [u64; 2],
    pub step: [u64; 2],
    pub count: [u64; 2],
}

/// `count` rows or columns, from `from` on in the store, from `to` on in the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub to: u64,
    pub from: u64,
    pub count: u64,
}

impl Window {
    /// All positions of a store, from `first` on along the first axis.
    pub fn whole(dims: [u64; 4], first: u64) -> Self {
        Self { start: [first, 0], step: [1, 1], count: [dims[0], dims[1]] }
    }

    pub fn positions(&self) -> u64 {
        self.count[0].saturating_mul(self.count[1])
    }

    /// Number of the position, row-major; `None` when it is not in the window.
    pub fn number_of(&self, at: [u64; 2]) -> Option<u64> {
        let [a, b] = [0, 1].map(|axis| {
            let inside = at[axis].checked_sub(self.start[axis])?;
            let place = inside / self.step[axis].max(1);
            (inside % self.step[axis].max(1) == 0 && place < self.count[axis]).then_some(place)
        });
        Some(a? * self.count[1] + b?)
    }

    /// Position number `number`.
    pub fn at(&self, number: u64) -> [u64; 2] {
        let place = [number / self.count[1].max(1), number % self.count[1].max(1)];
        [0, 1].map(|axis| self.start[axis] + place[axis] * self.step[axis])
    }
}

impl Placement {
    /// The whole of a store, from frame `first` on.
    pub fn whole(store: u32, dims: [u64; 4], first: u64) -> Self {
        let span = |count| Span { to: 0, from: 0, count };
        Self {
            store,
            to: Window::whole(dims, first),
            from: Window::whole(dims, 0),
            rows: span(dims[2]),
            cols: span(dims[3]),
        }
    }

    /// Position in the store of the frame at `at`.
    pub fn source_of(&self, at: [u64; 2]) -> Option<[u64; 2]> {
        self.to.number_of(at).map(|number| self.from.at(number))
    }
}

impl Tiles {
    /// Frames below `frames` that were written, as sorted (first, end).
    pub fn written_frames(&self, frames: u32) -> Vec<(u32, u32)> {
        let runs = self.readable.iter().map(|run| (run.start, run.end.min(frames)));
        runs.filter(|(first, end)| first < end).collect()
    }

    /// Position of a frame on the frame axes.
    pub fn position(&self, frame: u32) -> [u64; 2] {
        match self.channel {
            Some(channel) => [frame.into(), channel],
            None => [u64::from(frame) / self.columns.max(1), u64::from(frame) % self.columns.max(1)],
        }
    }

    /// The frame at a position; `None` for another channel's.
    fn frame(&self, at: [u64; 2]) -> Option<u64> {
        match self.channel {
            Some(channel) => (at[1] == channel).then_some(at[0]),
            None => at[0].checked_mul(self.columns).and_then(|first| first.checked_add(at[1])),
        }
    }

    /// Finds the frames of which every pixel was written.
    pub fn find_readable(&mut self, frames: u32, detector: Detector) {
        let mut spans = Vec::new();
        for placement in &self.placements {
            let Some(store) = self.stores.get(placement.store as usize) else { continue };
            let area = placement.rows.count * placement.cols.count;
            let mut add = |from: [Range<u64>; 2]| self.add_frames(placement, from, area, &mut spans);
            match &store.pieces {
                Pieces::Contiguous { .. } => add_contiguous(store, &mut add),
                Pieces::Outlined(_) => add([0..store.dims[0], 0..1]),
                Pieces::Chunks(chunks) => {
                    let columns = |span: Span, axis: usize| {
                        span.from / store.chunk[axis]..(span.from + span.count).div_ceil(store.chunk[axis])
                    };
                    let (rows, cols) = (columns(placement.rows, 2), columns(placement.cols, 3));
                    let needed = (rows.end - rows.start).saturating_mul(cols.end - cols.start);
                    for group in chunks.chunk_by(|a, b| a.at[..2] == b.at[..2]) {
                        let is_needed = |at: [u32; 4]| rows.contains(&at[2].into()) && cols.contains(&at[3].into());
                        if group.iter().filter(|chunk| is_needed(chunk.at)).count() as u64 == needed {
                            let at = [0, 1].map(|axis| u64::from(group[0].at[axis]));
                            add([0, 1].map(|axis| {
                                at[axis] * store.chunk[axis]..((at[axis] + 1) * store.chunk[axis]).min(store.dims[axis])
                            }));
                        }
                    }
                }
            }
        }
        self.readable = covered(spans, frames, self.pixels(detector));
    }

    /// Frames that have a place in some store, written or not.
    pub fn placed(&self, frames: u32, detector: Detector) -> Vec<Range<u32>> {
        let mut spans = Vec::new();
        for placement in &self.placements {
            let Some(store) = self.stores.get(placement.store as usize) else { continue };
            let area = placement.rows.count * placement.cols.count;
            self.add_frames(placement, [0..store.dims[0], 0..store.dims[1]], area, &mut spans);
        }
        covered(spans, frames, self.pixels(detector))
    }

    /// Pixels that a whole frame has.
    fn pixels(&self, detector: Detector) -> u64 {
        detector.pixels().saturating_sub(self.gaps).max(1).into()
    }

    /// Frames whose source positions lie in the box `from`, as spans of equal `area`.
    fn add_frames(&self, placement: &Placement, from: [Range<u64>; 2], area: u64, spans: &mut Vec<(Range<u64>, u64)>) {
        let window = &placement.from;
        let places = [0, 1].map(|axis| {
            let step = window.step[axis].max(1);
            let first = from[axis].start.saturating_sub(window.start[axis]).div_ceil(step);
            let end = from[axis].end.saturating_sub(window.start[axis]).div_ceil(step).min(window.count[axis]);
            first..end.max(first)
        });
        let (to, [rows, cols]) = (&placement.to, places);
        if rows.is_empty() || cols.is_empty() {
            return;
        }
        let has_steps = to.step != [1, 1] || to.count[1] != window.count[1];
        match self.channel {
            // Frames follow one another down the column that is the channel.
            Some(channel) if !has_steps => {
                if channel.checked_sub(to.start[1]).is_some_and(|col| cols.contains(&col)) {
                    spans.push((to.start[0] + rows.start..to.start[0] + rows.end, area));
                }
            }
            // Whole lines follow one another.
            None if !has_steps && to.start[1] == 0 && to.count[1] == self.columns && cols == (0..self.columns) => {
                let line = |row: u64| (to.start[0] + row).saturating_mul(self.columns);
                spans.push((line(rows.start)..line(rows.end), area));
            }
            None if !has_steps => {
                for line in rows.map(|row| (to.start[0] + row).saturating_mul(self.columns).saturating_add(to.start[1]))
                {
                    spans.push((line + cols.start..line + cols.end, area));
                }
            }
            _ => {
                let numbers = rows.flat_map(|row| cols.clone().map(move |col| row * window.count[1] + col));
                let frames = numbers.filter_map(|number| self.frame(to.at(number)));
                spans.extend(frames.map(|frame| (frame..frame + 1, area)));
            }
        }
    }

    /// The same as one compressed chunk per frame, when it is that: pixels per block, the chunks by frame, and the
    /// sections of those that are not known one by one.
    pub fn as_frame_chunks(
        &self,
        detector: Detector,
        dtype: Dtype,
        block_px: &[Option<u32>],
    ) -> Option<(u32, Vec<FrameChunk>, Vec<Section>)> {
        let (rows, cols) = (u64::from(detector.rows), u64::from(detector.cols));
        let block = block_px.first().copied().flatten()?;
        if dtype.is_float() || block_px.iter().any(|other| *other != Some(block)) {
            return None;
        }
        let (mut found, mut sections) = (Vec::new(), Vec::new());
        for placement in &self.placements {
            let store = self.stores.get(placement.store as usize)?;
            let whole = |count| Span { to: 0, from: 0, count };
            let is_whole =
                placement.rows == whole(rows) && placement.cols == whole(cols) && store.dims[2..] == [rows, cols];
            if !is_whole || store.is_turned() || store.chunk != [1, 1, rows, cols] || !is_bitshuffle_lz4(store, dtype) {
                return None;
            }
            let chunks = match &store.pieces {
                Pieces::Chunks(chunks) => chunks,
                Pieces::Outlined(outline) => {
                    sections.extend(self.sections(placement, store, outline)?);
                    continue;
                }
                Pieces::Contiguous { .. } => return None,
            };
            for chunk in chunks {
                let at = [chunk.at[0].into(), chunk.at[1].into()];
                let Some(number) = placement.from.number_of(at) else { continue };
                let Some(frame) = self.frame(placement.to.at(number)) else { continue };
                if chunk.filter_mask != 0 {
                    return None;
                }
                let (frame, len_bytes) = (u32::try_from(frame).ok()?, u32::try_from(chunk.len_bytes).ok()?);
                found.push(FrameChunk { frame, file: store.file, len_bytes, offset: chunk.offset });
            }
        }
        found.sort_by_key(|chunk| chunk.frame);
        found.dedup_by_key(|chunk| chunk.frame);
        sections.sort_by_key(|section| section.frame);
        let is_apart = sections.windows(2).all(|pair| pair[0].frame + pair[0].frames <= pair[1].frame);
        let is_in_section = |chunk: &FrameChunk| {
            let before = sections.partition_point(|section| section.frame <= chunk.frame);
            before > 0 && chunk.frame < sections[before - 1].frame + sections[before - 1].frames
        };
        (is_apart && !found.iter().any(is_in_section)).then_some((block, found, sections))
    }

    /// The frames of a whole outlined store; `None` where they do not simply follow one another.
    fn sections(&self, placement: &Placement, store: &Store, outline: &Outline) -> Option<Vec<Section>> {
        let whole = Window::whole(store.dims, 0);
        let is_whole = placement.from == whole && placement.to == (Window { start: placement.to.start, ..whole });
        if !is_whole || self.columns > 1 || self.channel.is_some() || placement.to.start[1] != 0 {
            return None;
        }
        let first = u32::try_from(placement.to.start[0]).ok()?;
        let section = |leaf: &Leaf| {
            let frame = first.checked_add(leaf.first)?;
            frame.checked_add(leaf.count)?;
            Some(Section { frame, frames: leaf.count, file: store.file, leaf: *leaf })
        };
        outline.leaves.iter().map(section).collect()
    }
}

fn add_contiguous(store: &Store, add: &mut impl FnMut([Range<u64>; 2])) {
    let (Pieces::Contiguous { len_bytes, .. }, Some(len)) = (&store.pieces, store.piece_bytes()) else { return };
    if store.order != [0, 1, 2, 3] {
        return add_scattered(store, add);
    }
    let whole = (len_bytes / (len as u64).max(1)).min(store.dims[0].saturating_mul(store.dims[1]));
    let columns = store.dims[1].max(1);
    add([0..whole / columns, 0..columns]);
    add([whole / columns..whole / columns + 1, 0..whole % columns]);
}

/// Frames all of whose pieces exist, where they do not follow one another in the file.
fn add_scattered(store: &Store, add: &mut impl FnMut([Range<u64>; 2])) {
    let counts: [u64; 4] = std::array::from_fn(|axis| store.dims[axis].div_ceil(store.chunk[axis].max(1)));
    let last = counts.map(|count| count.saturating_sub(1));
    // What lies last in the file is the last to be lost.
    if store.piece(last).is_some() {
        return add([0..store.dims[0], 0..store.dims[1]]);
    }
    for (a, b) in (0..counts[0]).flat_map(|a| (0..counts[1]).map(move |b| (a, b))) {
        if store.piece([a, b, last[2], last[3]]).is_some() {
            let part =
                |at: u64, axis: usize| at * store.chunk[axis]..((at + 1) * store.chunk[axis]).min(store.dims[axis]);
            add([part(a, 0), part(b, 1)]);
        }
    }
}

fn is_bitshuffle_lz4(store: &Store, dtype: Dtype) -> bool {
    let [filter] = store.filters.as_slice() else { return false };
    let is_codec = filter.id == filter::id::BITSHUFFLE && filter::bitshuffle_codec(filter) == Some(filter::Codec::Lz4);
    is_codec && filter.parameters.get(2) == Some(&dtype.bytes()) && !store.is_big_endian && !store.has_raw_edges
}

/// Frames below `frames` that spans of altogether `pixels` pixels cover, as sorted runs.
fn covered(spans: Vec<(Range<u64>, u64)>, frames: u32, pixels: u64) -> Vec<Range<u32>> {
    let mut edges: Vec<(u64, i128)> = Vec::with_capacity(2 * spans.len());
    for (span, area) in spans.into_iter().filter(|(span, _)| !span.is_empty()) {
        edges.push((span.start, area.into()));
        edges.push((span.end, -i128::from(area)));
    }
    edges.sort_unstable_by_key(|edge| edge.0);
    let mut runs: Vec<Range<u32>> = Vec::new();
    let mut area = 0;
    let mut since = None;
    for group in edges.chunk_by(|a, b| a.0 == b.0) {
        area += group.iter().map(|edge| edge.1).sum::<i128>();
        let at = group[0].0.min(frames.into()) as u32;
        match (since, area >= pixels.into()) {
            (None, true) => since = Some(at),
            (Some(start), false) => {
                since = None;
                match runs.last_mut() {
                    Some(last) if last.end == start => last.end = at,
                    _ if start < at => runs.push(start..at),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_covered_once_all_its_pixels_are() {
        let spans = vec![(0..10, 6), (3..20, 4), (5..6, 1)];
        assert_eq!(covered(spans.clone(), 100, 10), vec![3..10]);
        assert_eq!(covered(spans, 7, 10), vec![3..7]);
    }

    #[test]
    fn a_window_numbers_its_positions_row_by_row() {
        let window = Window { start: [2, 1], step: [3, 1], count: [4, 2] };
        assert_eq!((window.at(3), window.number_of([5, 2]), window.number_of([6, 2])), ([5, 2], Some(3), None));
    }
}
