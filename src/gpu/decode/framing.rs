//! What every decode begins and ends with: the chunks of a batch, where their blocks lie, and what became of them.

use std::ops::Range;

use wgpu::BufferUsages as Usage;

use super::super::{Buffer, Context, Readback};
use super::batch::Batch;
use crate::{
    cpu::seal_slots,
    engine::{ChunkFault, FrameFault, Slot},
    error::{Error, Kind, Result},
};

/// Buffers of one decode under way, made for the largest batch.
#[derive(Debug)]
pub struct Framing {
    pub batch: Buffer,
    /// Slot: frame, first byte, bytes, first byte of the raw tail.
    pub chunks: Buffer,
    pub lz4_blocks: Buffer,
    pub faults: Buffer,
    /// Words of the records, failed frames, parts that were taken (shaders/shared/block.wgsl).
    pub totals: Buffer,
    answer: Readback,
}

impl Framing {
    /// # Errors
    /// As [`Context::buffer`].
    pub fn new(context: &Context, batch: &Batch) -> Result<Self> {
        let frames = u64::from(batch.frames);
        Ok(Self {
            batch: context.buffer("decode.batch", size_of::<Batch>() as u64, Usage::UNIFORM | Usage::COPY_DST)?,
            chunks: storage(context, "decode.chunks", 4 * frames)?,
            lz4_blocks: storage(context, "decode.lz4_blocks", 2 * frames * u64::from(batch.lz4_blocks))?,
            faults: storage(context, "decode.faults", frames)?,
            totals: storage(context, "decode.totals", TOTALS)?,
            answer: Readback::new(context, "decode.answer", 8)?,
        })
    }

    /// Writes the shape of the batch and where its chunks lie.
    pub fn write(&self, context: &Context, batch: &Batch, chunks: &[[u32; 4]]) {
        context.queue.write_buffer(&self.batch, 0, bytemuck::bytes_of(batch));
        context.queue.write_buffer(&self.chunks, 0, bytemuck::cast_slice(chunks));
    }

    /// Records that the totals are to be answered.
    pub fn ask(&self, encoder: &mut wgpu::CommandEncoder) {
        self.answer.record(encoder, &self.totals, 0, 0, 8);
    }

    /// Status of each of the first `slots` slots, as the resident form keeps it.
    ///
    /// # Errors
    /// As [`Context::read_words`].
    pub async fn status(&self, context: &Context, slots: usize) -> Result<Vec<u32>> {
        let faults = context.read_words(&self.faults, 0, slots as u64).await?;
        Ok(faults.into_iter().map(seal_slots::status).collect())
    }

    /// The totals, when nobody has asked for them.
    ///
    /// # Errors
    /// As [`Context::read_words`].
    pub async fn read_totals(&self, context: &Context) -> Result<[u32; 2]> {
        pair(context.read_words(&self.totals, 0, 2).await?)
    }

    /// Words of the records, failed frames.
    ///
    /// # Errors
    /// As [`Readback::bytes`].
    pub async fn answer(&self, context: &Context) -> Result<[u32; 2]> {
        pair(self.answer.words(context, 2).await?)
    }
}

/// Words of the totals of a decode.
pub const TOTALS: u64 = 3;
/// Byte of the one that counts the parts that were taken.
pub const TAKEN: u64 = 8;

fn pair(words: Vec<u32>) -> Result<[u32; 2]> {
    words.try_into().map_err(|_| Error::new(Kind::Internal, "gpu_readback", "The graphics card gave no answer"))
}

/// A storage buffer of `words` words for a decode.
///
/// # Errors
/// As [`Context::buffer`].
pub fn storage(context: &Context, label: &str, words: u64) -> Result<Buffer> {
    context.buffer(label, (4 * words).max(16), Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC)
}

/// A copy of `bytes` bytes of `buffer` from byte `begin` on.
///
/// # Errors
/// As [`Context::submit`].
pub async fn part_of(context: &Context, buffer: &Buffer, begin: u64, bytes: u64) -> Result<Buffer> {
    let copy = |encoder: &mut wgpu::CommandEncoder| {
        let part = storage(context, "decode.part", bytes.div_ceil(4))?;
        encoder.copy_buffer_to_buffer(buffer, begin, &part, 0, bytes.next_multiple_of(4));
        Ok(part)
    };
    context.submit("decode.part", copy).await
}

/// Frame, first byte, bytes, and 0 for the first byte of the raw tail, which the header pass finds.
pub fn chunks_of(slots: &[Slot]) -> Vec<[u32; 4]> {
    slots.iter().map(|slot| [slot.frame, slot.offset, slot.len_bytes, 0]).collect()
}

/// The frames among those of `slots` (frame, status) in `range` that failed; `failed` says how many there are.
///
/// # Errors
/// As [`Context::read_words`].
pub async fn faults(context: &Context, slots: &Buffer, range: Range<u32>, failed: u32) -> Result<Vec<FrameFault>> {
    if failed == 0 {
        return Ok(Vec::new());
    }
    let words = context.read_words(slots, 2 * u64::from(range.start), 2 * range.len() as u64).await?;
    let fault = |&[frame, status]: &[u32; 2]| {
        let fault = ChunkFault::of_code(status & 0xFF)?;
        Some(FrameFault { frame, fault, block: status >> 8 })
    };
    Ok(words.as_chunks().0.iter().filter_map(fault).collect())
}
