//! Which byte ranges are read into which batch, in which order. Pure: no clock, no browser, no GPU.
//!
//! A batch is one upload buffer and one decode dispatch. Its frames' chunks are read in a few long
//! ranges; each range is cut into slices that begin and end on chunk boundaries, and a slice is one
//! job for a reader.

use serde::{Deserialize, Serialize};

use crate::{acquisition::FrameChunk, engine::Slot};

/// Limits of one plan, bytes and frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Compressed bytes of a batch, gaps between chunks included.
    pub batch_bytes: u64,
    /// The first batch is smaller, so that a picture appears early.
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
    /// Frames in file order; `offset` points into the batch buffer.
    pub slots: Vec<Slot>,
    /// Reads that fill the batch buffer; they do not overlap in it.
    pub slices: Vec<Slice>,
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

/// Splits `chunks` (one per frame) into batches. Chunks of a batch are read in file order.
pub fn batches(chunks: &[FrameChunk], budget: &Budget) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut rest = chunks;
    while !rest.is_empty() {
        let bytes = if batches.is_empty() { budget.first_batch_bytes } else { budget.batch_bytes };
        let (batch, taken) = fill(rest, bytes.min(u64::from(u32::MAX - ALIGN)), budget);
        batches.push(batch);
        rest = &rest[taken..];
    }
    batches
}

/// Lays as many of `chunks` as fit into one batch, at least one.
fn fill(chunks: &[FrameChunk], batch_bytes: u64, budget: &Budget) -> (Batch, usize) {
    let most = chunks.len().min(budget.batch_frames.max(1) as usize);
    let mut taken = 0;
    let mut bytes = 0;
    for chunk in &chunks[..most] {
        // A gap costs at most `gap_bytes`, a new range at most the alignment.
        bytes += u64::from(chunk.len_bytes) + u64::from(ALIGN);
        if taken > 0 && bytes > batch_bytes {
            break;
        }
        taken += 1;
    }
    let mut ordered = chunks[..taken].to_vec();
    ordered.sort_by_key(|chunk| (chunk.file, chunk.offset));
    (lay_out(&ordered, budget), taken)
}

fn lay_out(chunks: &[FrameChunk], budget: &Budget) -> Batch {
    let mut batch = Batch::default();
    let mut dest: u64 = 0;
    for chunk in chunks {
        let end = chunk.offset + u64::from(chunk.len_bytes);
        match batch.slices.last_mut().filter(|slice| extends(slice, chunk, end, budget)) {
            Some(slice) => {
                slice.len_bytes = slice.len_bytes.max((end - slice.offset) as u32);
                let offset = slice.dest + (chunk.offset - slice.offset) as u32;
                batch.slots.push(Slot { frame: chunk.frame, offset, len_bytes: chunk.len_bytes });
            }
            None => {
                let slice =
                    Slice { file: chunk.file, offset: chunk.offset, len_bytes: chunk.len_bytes, dest: dest as u32 };
                batch.slices.push(slice);
                batch.slots.push(Slot { frame: chunk.frame, offset: dest as u32, len_bytes: chunk.len_bytes });
            }
        }
        if let Some(slice) = batch.slices.last() {
            dest = (u64::from(slice.dest) + u64::from(slice.len_bytes)).next_multiple_of(u64::from(ALIGN));
        }
    }
    batch.len_bytes = dest as u32;
    batch
}

/// Whether `chunk` is read along with `slice`: same file, near enough, and the slice stays in bounds.
fn extends(slice: &Slice, chunk: &FrameChunk, end: u64, budget: &Budget) -> bool {
    let read = slice.offset + u64::from(slice.len_bytes);
    let is_near = slice.file == chunk.file && chunk.offset <= read + budget.gap_bytes.min(u64::from(chunk.len_bytes));
    is_near && end.saturating_sub(slice.offset) <= budget.slice_bytes.min(u64::from(u32::MAX))
}

/// Copies into GPU buffers start at multiples of 4 bytes.
const ALIGN: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget =
        Budget { batch_bytes: 1000, first_batch_bytes: 300, batch_frames: 5, slice_bytes: 400, gap_bytes: 64 };

    fn chunk(frame: u32, file: u16, offset: u64, len_bytes: u32) -> FrameChunk {
        FrameChunk { frame, file, len_bytes, offset }
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
    fn the_first_batch_is_small_and_no_batch_exceeds_its_frames() {
        let chunks: Vec<_> = (0..12).map(|i| chunk(i, 0, u64::from(i) * 100, 100)).collect();
        let plan = batches(&chunks, &BUDGET);
        assert_covers(&plan, &chunks);
        assert_eq!(plan.iter().map(|batch| batch.slots.len()).collect::<Vec<_>>(), [2, 5, 5]);
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
}
