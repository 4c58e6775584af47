//! Chunks straight to records: headers, then blocks to records by one invocation each, then the slots.
//!
//! Records go to an arena, whose size is a guess; their words are counted in any case, so that an arena that was too
//! small is made larger and the batch decoded once more. From there they are copied into a buffer of exactly their
//! size.

use std::{cell::RefCell, rc::Rc};

use wgpu::BufferUsages as Usage;

use super::{
    super::{
        Buffer, Context, Stopwatch, Verdict,
        block_records::{self, BlockRecords},
        copy_words::{self, CopyWords},
        frame_headers::{self, FrameHeaders},
        seal_slots::{self, SealSlots},
    },
    Decoded, PassTimes,
    batch::{Batch, most_record_words},
    framing::{Framing, chunks_of, faults, storage},
    lanes::Lanes,
    pass_of,
};
use crate::{
    engine::Slot,
    error::{Error, Kind, Result},
    shape::FrameLayout,
};

#[derive(Debug)]
pub struct Passes {
    frame_headers: FrameHeaders,
    block_records: BlockRecords,
    seal_slots: SealSlots,
    copy_words: CopyWords,
}

impl Passes {
    /// With `workgroup` invocations in a workgroup: a multiple of 32, at most 256.
    pub fn new(context: &Context, workgroup: u32) -> Self {
        Self {
            frame_headers: FrameHeaders::new(context),
            block_records: BlockRecords::new(context, workgroup),
            seal_slots: SealSlots::new(context),
            copy_words: CopyWords::new(context),
        }
    }
}

/// Decodes batches of one layout of whole spans.
#[derive(Debug)]
pub struct Records {
    passes: Rc<Passes>,
    layout: FrameLayout,
    batch_frames: u32,
    /// One for each decode that runs at the same time, kept for the next.
    idle: RefCell<Vec<Scratch>>,
    lanes: Lanes,
}

#[derive(Debug)]
struct Scratch {
    framing: Framing,
    arena: Buffer,
}

impl Records {
    pub fn new(passes: Rc<Passes>, layout: FrameLayout, batch_frames: u32) -> Self {
        let lanes = Lanes::new(passes.block_records.workgroup());
        Self { passes, layout, batch_frames, idle: RefCell::default(), lanes }
    }

    /// See [`super::Decoder::decode_ahead`].
    pub async fn decode(
        &self,
        context: &Context,
        compressed: &wgpu::Buffer,
        slots: &[Slot],
    ) -> Result<(Decoded, Verdict)> {
        let batch = Batch::of(&self.layout, slots.len() as u32);
        let mut scratch = self.scratch(context, guessed_bytes(&self.layout, slots)).await?;
        let decoded = loop {
            match self.decode_on(context, compressed, slots, &batch, &scratch).await {
                Ok(Outcome::Decoded(decoded)) => break Ok(*decoded),
                Ok(Outcome::TooLarge(bytes)) if bytes > context.max_binding_bytes() => {
                    break Err(too_large(context, bytes));
                }
                Ok(Outcome::TooLarge(bytes)) => {
                    scratch.arena = context.guarded("decode.arena", || arena(context, bytes)).await?;
                }
                Err(error) => break Err(error),
            }
        };
        self.idle.borrow_mut().push(scratch);
        decoded
    }

    async fn decode_on(
        &self,
        context: &Context,
        compressed: &wgpu::Buffer,
        slots: &[Slot],
        batch: &Batch,
        scratch: &Scratch,
    ) -> Result<Outcome> {
        let Scratch { framing, arena } = scratch;
        let lanes = self.lanes.of(context, batch).await?;
        let (made, verdict) = context.submit_watched("decode", |encoder| {
            let usage = Usage::STORAGE | Usage::COPY_SRC;
            let table = context.buffer("decode.table", 4 * u64::from(batch.frames * batch.blocks), usage)?;
            let sealed = context.buffer("decode.slots", 8 * u64::from(batch.frames), usage)?;
            let stopwatch = Stopwatch::new(context, LAPS)?;
            framing.write(context, batch, &chunks_of(slots));
            encoder.clear_buffer(&framing.totals, 0, None);
            self.record(context, encoder, stopwatch.as_ref(), compressed, batch, scratch, &lanes, &table, &sealed);
            framing.ask(encoder);
            Ok((table, sealed, stopwatch))
        });
        let (table, sealed, stopwatch) = made?;
        let answer = framing.answer(context).await;
        // What was refused explains an answer that does not come.
        verdict.await?;
        let [len_words, failed] = answer?;
        let len_bytes = 4 * u64::from(len_words);
        if len_bytes > arena.size() {
            return Ok(Outcome::TooLarge(len_bytes));
        }
        let (words, verdict) = context.submit_watched("decode.copy", |encoder| {
            let usage = Usage::STORAGE | Usage::COPY_SRC;
            let words = context.buffer("decode.words", len_bytes, usage)?;
            let mut pass = pass_of(encoder, "decode.copy", stopwatch.as_ref(), 3);
            self.passes.copy_words.record(context, &mut pass, arena, &words);
            drop(pass);
            if let Some(stopwatch) = &stopwatch {
                stopwatch.record(encoder);
            }
            Ok(words)
        });
        let words = words?;
        let faults = faults(context, &sealed, failed).await?;
        let decoded = Decoded { words, table, slots: sealed, faults, stopwatch, spans };
        Ok(Outcome::Decoded(Box::new((decoded, verdict))))
    }

    #[expect(clippy::too_many_arguments, reason = "the buffers of one batch")]
    fn record(
        &self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        stopwatch: Option<&Stopwatch>,
        compressed: &wgpu::Buffer,
        batch: &Batch,
        Scratch { framing, arena }: &Scratch,
        (lanes, groups): &(Rc<Buffer>, u32),
        table: &Buffer,
        slots: &Buffer,
    ) {
        let mut pass = pass_of(encoder, "decode.headers", stopwatch, 0);
        self.passes.frame_headers.record(context, &mut pass, compressed, batch, framing);
        drop(pass);
        let mut pass = pass_of(encoder, "decode.records", stopwatch, 1);
        self.passes.block_records.record(context, &mut pass, *groups, compressed, framing, lanes, table, arena);
        drop(pass);
        let mut pass = pass_of(encoder, "decode.seal", stopwatch, 2);
        self.passes.seal_slots.record(context, &mut pass, batch, framing, table, slots);
    }

    async fn scratch(&self, context: &Context, arena_bytes: u64) -> Result<Scratch> {
        let idle = self.idle.borrow_mut().pop();
        let full = Batch::of(&self.layout, self.batch_frames);
        let make = || {
            let framing = Framing::new(context, &full)?;
            Ok(Scratch { framing, arena: arena(context, arena_bytes)? })
        };
        match idle {
            Some(scratch) if scratch.arena.size() >= arena_bytes => Ok(scratch),
            Some(mut scratch) => {
                scratch.arena = context.guarded("decode.arena", || arena(context, arena_bytes)).await?;
                Ok(scratch)
            }
            None => context.guarded("decode.scratch", make).await,
        }
    }
}

/// What became of a batch.
enum Outcome {
    Decoded(Box<(Decoded, Verdict)>),
    /// The records take so many bytes.
    TooLarge(u64),
}

/// Bytes that the records of `slots` take, if they are like most: their headers and bitmaps, and words about as long as
/// the compressed bytes.
pub fn guessed_bytes(layout: &FrameLayout, slots: &[Slot]) -> u64 {
    let blocks = slots.len() as u64 * u64::from(layout.blocks());
    let compressed: u64 = slots.iter().map(|slot| u64::from(slot.len_bytes)).sum();
    let most = 4 * most_record_words(layout) * slots.len() as u64;
    (128 * blocks + compressed + compressed / 4).min(most).next_multiple_of(4)
}

fn too_large(context: &Context, bytes: u64) -> Error {
    Error::new(Kind::Gpu, "buffer_too_large", "A batch unpacks to more than the graphics adapter binds at once")
        .expected(format!("at most {} bytes", context.max_binding_bytes()))
        .found(bytes.to_string())
        .action("Set a smaller batch (tuning.batchFrames)")
}

fn arena(context: &Context, bytes: u64) -> Result<Buffer> {
    storage(context, "decode.arena", bytes / 4)
}

/// GPU time of each pass, ms, from the laps of a decode.
fn spans(laps: &[[f64; 2]]) -> PassTimes {
    let specs = [frame_headers::SPEC, block_records::SPEC, seal_slots::SPEC, copy_words::SPEC];
    specs.iter().map(|spec| spec.name).zip(laps.iter().map(|[from, to]| to - from)).collect()
}

/// Passes of a decode.
const LAPS: u32 = 4;
