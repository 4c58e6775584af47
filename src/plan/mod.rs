//! Which byte ranges are read into which batch, in which order. Pure: no clock, no browser, no GPU.
//!
//! A batch is one upload buffer and one decode dispatch. What it holds is read in a few long ranges; each range is
//! cut into slices that begin and end on chunk boundaries, and a slice is one job for a reader. Whole rows of the scan
//! come coarsely first, then those between, so that a picture of the whole scan appears at once.

use serde::{Deserialize, Serialize};

pub use located::{IRREGULAR, Located, locate};

use crate::{
    acquisition::{FrameChunk, Section},
    engine::Slot,
    shape::Scan,
};

use rows::{Rows, TURNS};

mod located;
mod rows;

/// Limits of one plan, bytes and frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Compressed bytes of a batch, gaps between chunks included.
    pub batch_bytes: u64,
    /// The first batch is smaller, so that a picture appears early, and so are the last ones, so that little is left
    /// to decode when all is read.
    pub first_batch_bytes: u64,
    /// Frames of a batch: what the decoder's scratch holds.
    pub batch_frames: u32,
    /// Bytes of a slice, at least one chunk.
    pub slice_bytes: u64,
    /// Unused bytes between two chunks that are read along instead of starting a new range.
    pub gap_bytes: u64,
}

/// One upload and decode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Frames whose place is known, in file order; `offset` points into the batch buffer.
    pub slots: Vec<Slot>,
    /// Reads that fill the batch buffer; they do not overlap in it.
    pub slices: Vec<Slice>,
    /// Of each slice: the sections whose frames are found in it when it is read.
    pub sections: Vec<Vec<Section>>,
    /// Of each slice: its bytes that are wanted; gaps between chunks are not counted.
    pub wanted: Vec<u64>,
    /// Size of the batch buffer, bytes, a multiple of 4, without the decoder's padding.
    pub len_bytes: u32,
}

/// One read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// Index into `Acquisition::files`.
    pub file: u16,
    /// First byte in the file.
    pub offset: u64,
    pub len_bytes: u32,
    /// First byte in the batch buffer, a multiple of 4; the bytes up to the next multiple of 4 after
    /// the slice are its own.
    pub dest: u32,
}

impl Slice {
    /// Byte of the file after the last one.
    pub fn end(&self) -> u64 {
        self.offset + u64::from(self.len_bytes)
    }
}

/// The batches of a load, made one by one: laying out a whole large set at once would hold up the page.
pub struct Plan<'a> {
    chunks: &'a [FrameChunk],
    sections: &'a [Section],
    budget: Budget,
    /// Places of what is still to come, in the order of reading, by turns: chunks, then sections.
    turns: [Vec<u32>; TURNS],
    turn: usize,
    taken: usize,
    is_first: bool,
    left_bytes: u64,
}

impl<'a> Plan<'a> {
    /// A plan of `chunks` (one per frame) and `sections`, for frames that are the positions of `scan`, row-major.
    pub fn new(chunks: &'a [FrameChunk], sections: &'a [Section], scan: Scan, budget: Budget) -> Self {
        let mut turns: [Vec<u32>; TURNS] = Default::default();
        let rows = Rows::of(scan);
        for (place, chunk) in (0..).zip(chunks) {
            turns[rows.turn(chunk.frame, 1)].push(place);
        }
        for (place, section) in (chunks.len() as u32..).zip(sections) {
            turns[rows.turn(section.frame, section.frames)].push(place);
        }
        let plan = Self { chunks, sections, budget, turns, turn: 0, taken: 0, is_first: true, left_bytes: 0 };
        Self { left_bytes: plan.items().map(|item| item.len_bytes()).sum(), ..plan }
    }

    /// Frames of all batches.
    pub fn frames(&self) -> u32 {
        self.items().map(|item| item.frames).sum()
    }

    /// Bytes that are wanted of each of `files` files.
    pub fn bytes_per_file(&self, files: usize) -> Vec<f64> {
        let mut bytes = vec![0.0; files];
        for item in self.items() {
            if let Some(bytes) = bytes.get_mut(usize::from(item.file)) {
                *bytes += item.own_bytes() as f64;
            }
        }
        bytes
    }

    fn items(&self) -> impl Iterator<Item = Item<'a>> + '_ {
        let places = 0..(self.chunks.len() + self.sections.len()) as u32;
        places.filter_map(|place| self.item(place))
    }

    fn item(&self, place: u32) -> Option<Item<'a>> {
        let place = place as usize;
        match self.chunks.get(place) {
            Some(chunk) => Some(Item::of_chunk(chunk)),
            None => self.sections.get(place - self.chunks.len()).map(Item::of_section),
        }
    }

    /// Takes as much of the current turn as fits into one batch, at least one item.
    fn take(&mut self) -> Vec<Item<'a>> {
        let Budget { first_batch_bytes, batch_bytes, batch_frames, .. } = self.budget;
        let wanted = if self.is_first { first_batch_bytes } else { batch_bytes.min(self.left_bytes / 4) };
        let most_bytes = wanted.max(first_batch_bytes.min(batch_bytes)).min(u64::from(u32::MAX - ALIGN));
        let (mut bytes, mut frames) = (0, 0_u32);
        let mut items: Vec<Item> = Vec::new();
        for &place in self.turns[self.turn].get(self.taken..).unwrap_or_default() {
            let Some(item) = self.item(place) else { break };
            // A gap costs at most `gap_bytes`, a new range at most the alignment.
            bytes += item.len_bytes() + u64::from(ALIGN);
            frames = frames.saturating_add(item.frames);
            if !items.is_empty() && (bytes > most_bytes || frames > batch_frames) {
                break;
            }
            items.push(item);
        }
        self.taken += items.len();
        self.left_bytes -= items.iter().map(Item::len_bytes).sum::<u64>();
        self.is_first = false;
        items
    }
}

impl Iterator for Plan<'_> {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        while self.taken >= self.turns.get(self.turn)?.len() {
            (self.turn, self.taken) = (self.turn + 1, 0);
        }
        let mut items = self.take();
        items.sort_by_key(|item| (item.file, item.start));
        Some(lay_out(&items, &self.budget))
    }
}

/// Bytes that are read for some frames.
#[derive(Clone, Copy)]
struct Item<'a> {
    frame: u32,
    frames: u32,
    file: u16,
    start: u64,
    end: u64,
    section: Option<&'a Section>,
}

impl<'a> Item<'a> {
    fn of_chunk(chunk: &FrameChunk) -> Self {
        let FrameChunk { frame, file, len_bytes, offset } = *chunk;
        Self { frame, frames: 1, file, start: offset, end: offset + u64::from(len_bytes), section: None }
    }

    fn of_section(section: &'a Section) -> Self {
        let Section { frame, frames, file, leaf } = *section;
        Self { frame, frames, file, start: leaf.start, end: leaf.end, section: Some(section) }
    }

    fn len_bytes(&self) -> u64 {
        self.end - self.start
    }

    /// The same without what the section before it counts.
    fn own_bytes(&self) -> u64 {
        self.section.map_or(self.len_bytes(), |section| section.leaf.own_bytes())
    }
}

fn lay_out(items: &[Item], budget: &Budget) -> Batch {
    let mut batch = Batch::default();
    let mut dest: u64 = 0;
    for item in items {
        match batch.slices.last_mut().filter(|slice| extends(slice, item, budget)) {
            Some(slice) => slice.len_bytes = slice.len_bytes.max((item.end - slice.offset) as u32),
            None => {
                let (file, offset, len_bytes) = (item.file, item.start, item.len_bytes() as u32);
                batch.slices.push(Slice { file, offset, len_bytes, dest: dest as u32 });
                batch.sections.push(Vec::new());
                batch.wanted.push(0);
            }
        }
        let (Some(slice), Some(sections), Some(wanted)) =
            (batch.slices.last(), batch.sections.last_mut(), batch.wanted.last_mut())
        else {
            continue;
        };
        *wanted += item.own_bytes();
        match item.section {
            Some(section) => sections.push(*section),
            None => {
                let offset = slice.dest + (item.start - slice.offset) as u32;
                batch.slots.push(Slot { frame: item.frame, offset, len_bytes: item.len_bytes() as u32 });
            }
        }
        dest = (u64::from(slice.dest) + u64::from(slice.len_bytes)).next_multiple_of(u64::from(ALIGN));
    }
    batch.len_bytes = dest as u32;
    batch
}

/// Whether `item` is read along with `slice`: same file, near enough, and the slice stays in bounds.
fn extends(slice: &Slice, item: &Item, budget: &Budget) -> bool {
    let is_near = slice.file == item.file && item.start <= slice.end() + budget.gap_bytes.min(item.len_bytes());
    is_near && item.end.saturating_sub(slice.offset) <= budget.slice_bytes.min(u64::from(u32::MAX))
}

/// Copies into GPU buffers start at multiples of 4 bytes.
const ALIGN: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdf5::Leaf;

    /// One row: all frames in one turn.
    const LINE: Scan = Scan { rows: 1, cols: 1000 };
    const BUDGET: Budget =
        Budget { batch_bytes: 1000, first_batch_bytes: 300, batch_frames: 5, slice_bytes: 400, gap_bytes: 64 };

    fn chunk(frame: u32, file: u16, offset: u64, len_bytes: u32) -> FrameChunk {
        FrameChunk { frame, file, len_bytes, offset }
    }

    fn batches(chunks: &[FrameChunk], budget: &Budget) -> Vec<Batch> {
        Plan::new(chunks, &[], LINE, *budget).collect()
    }

    fn section(frame: u32, frames: u32, start: u64, end: u64) -> Section {
        let leaf = Leaf { first: frame, count: frames, offset: start + 8, len_bytes: 4, start, end };
        Section { frame, frames, file: 0, leaf }
    }

    /// Every chunk's bytes lie in exactly the slice that reads them.
    fn assert_covers(batches: &[Batch], chunks: &[FrameChunk]) {
        let mut frames = Vec::new();
        for batch in batches {
            for slot in &batch.slots {
                let chunk = chunks.iter().find(|chunk| chunk.frame == slot.frame).expect("a slot has a chunk");
                assert_eq!(slot.len_bytes, chunk.len_bytes);
                let slice = batch.slices.iter().find(|slice| {
                    slice.dest <= slot.offset && slot.offset + slot.len_bytes <= slice.dest + slice.len_bytes
                });
                let slice = slice.expect("a slot lies in one slice");
                assert_eq!(slice.offset + u64::from(slot.offset - slice.dest), chunk.offset);
                assert!(slice.dest % 4 == 0 && batch.len_bytes % 4 == 0);
                frames.push(slot.frame);
            }
            for pair in batch.slices.windows(2) {
                assert!(pair[0].dest + pair[0].len_bytes.next_multiple_of(4) <= pair[1].dest, "slices do not overlap");
            }
        }
        frames.sort_unstable();
        assert_eq!(frames, chunks.iter().map(|chunk| chunk.frame).collect::<Vec<_>>());
    }

    #[test]
    fn neighbouring_chunks_are_read_together_and_far_ones_apart() {
        let chunks = [chunk(0, 0, 100, 50), chunk(1, 0, 150, 51), chunk(2, 0, 5000, 30), chunk(3, 1, 201, 30)];
        let plan = batches(&chunks, &BUDGET);
        assert_covers(&plan, &chunks);
        assert_eq!(plan.len(), 1);
        assert_eq!(plan[0].slices.len(), 3);
    }

    #[test]
    fn the_first_and_the_last_batches_are_small_and_none_exceeds_its_frames() {
        let chunks: Vec<_> = (0..40).map(|i| chunk(i, 0, u64::from(i) * 100, 100)).collect();
        let plan = batches(&chunks, &BUDGET);
        assert_covers(&plan, &chunks);
        let frames: Vec<usize> = plan.iter().map(|batch| batch.slots.len()).collect();
        assert_eq!(frames, [2, 5, 5, 5, 5, 4, 3, 2, 2, 2, 2, 2, 1]);
    }

    #[test]
    fn chunks_stored_backwards_are_read_forwards() {
        let chunks: Vec<_> = (0..5).map(|i| chunk(i, 0, 1000 - u64::from(i) * 10, 10)).collect();
        let plan = batches(&chunks, &BUDGET);
        assert_covers(&plan, &chunks);
        assert_eq!(plan[0].slices.len(), 1);
        assert_eq!(plan[0].slots[0].frame, 4);
    }

    #[test]
    fn a_chunk_beyond_four_gigabytes_keeps_its_offset() {
        let chunks = [chunk(0, 0, 5 << 32, 10), chunk(1, 0, (5 << 32) + 10, 10)];
        let plan = batches(&chunks, &BUDGET);
        assert_eq!(plan[0].slices[0].offset, 5 << 32);
        assert_covers(&plan, &chunks);
    }

    #[test]
    fn two_frames_may_share_a_chunk_and_a_chunk_larger_than_the_batch_is_taken_alone() {
        let chunks = [chunk(0, 0, 0, 5000), chunk(1, 0, 0, 5000)];
        assert_covers(&batches(&chunks, &BUDGET), &chunks);
        assert_eq!(batches(&[], &BUDGET), []);
    }

    #[test]
    fn whole_rows_come_coarsely_first_then_those_between() {
        let scan = Scan { rows: 64, cols: 4 };
        let chunks: Vec<_> = (0..256).map(|i| chunk(i, 0, u64::from(i) * 100, 100)).collect();
        let plan: Vec<Batch> = Plan::new(&chunks, &[], scan, BUDGET).collect();
        assert_covers(&plan, &chunks);
        let rows: Vec<u32> = plan.iter().flat_map(|batch| &batch.slots).map(|slot| slot.frame / 4).collect();
        let mut order = rows.clone();
        order.dedup();
        assert_eq!(order[..8], [0, 8, 16, 24, 32, 40, 48, 56]);
        assert_eq!(order[8..16], [4, 12, 20, 28, 36, 44, 52, 60]);
        assert_eq!(order[16..22], [1, 2, 3, 5, 6, 7]);
        assert_eq!(
            plan.iter().take_while(|batch| batch.slots[0].frame / 4 % 8 == 0).flat_map(|b| &b.slots).count(),
            32
        );
    }

    #[test]
    fn sections_that_overlap_are_read_as_one_slice_and_what_they_share_counts_once() {
        let sections = [section(0, 3, 100, 300), section(3, 2, 280, 500), section(5, 1, 2000, 2100)];
        let plan: Vec<Batch> = Plan::new(&[], &sections, LINE, BUDGET).collect();
        let slice = |offset, len_bytes, dest| Slice { file: 0, offset, len_bytes, dest };
        assert_eq!(plan[0].slices, [slice(100, 200, 0)]);
        assert_eq!(plan[1].slices, [slice(280, 220, 0)]);
        let budget = Budget { first_batch_bytes: 1000, ..BUDGET };
        let plan: Vec<Batch> = Plan::new(&[], &sections, LINE, budget).collect();
        assert_eq!(plan[0].slices, [slice(100, 400, 0)]);
        assert_eq!((plan[0].sections[0].as_slice(), plan[0].wanted[0]), (&sections[..2], 412));
        assert_eq!((plan[1].sections[0].as_slice(), plan.len()), (&sections[2..], 2));
        let whole = Plan::new(&[], &sections, LINE, budget);
        assert_eq!((whole.frames(), whole.bytes_per_file(2)), (6, vec![504.0, 0.0]));
    }
}
