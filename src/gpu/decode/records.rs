//! Chunks straight to records: headers, then blocks to records by one invocation each, then the slots.
//!
//! Records go where they stay ([`super::segment`]). Room for them is a guess; their words are counted in any case, so
//! that a batch for which there was too little is decoded once more. All decodes share their scratch: the GPU runs them
//! one after another, whenever their answers come.

use std::{cell::RefCell, rc::Rc};

use super::{
    super::{
        Buffer, Context, Stopwatch, Verdict,
        block_records::{self, BlockRecords},
        frame_headers::{self, FrameHeaders},
        readback::Readback,
        seal_slots::{self, SealSlots},
    },
    Decoded, PassTimes, Times,
    batch::Batch,
    framing::{Framing, TAKEN, chunks_of, faults},
    lanes::Lanes,
    pass_of,
    segment::{Room, Segments},
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
}

impl Passes {
    /// With `workgroup` invocations in a workgroup: a multiple of 32, at most 256.
    pub fn new(context: &Context, workgroup: u32) -> Self {
        Self {
            frame_headers: FrameHeaders::new(context),
            block_records: BlockRecords::new(context, workgroup),
            seal_slots: SealSlots::new(context),
        }
    }
}

/// Decodes batches of one layout of whole spans.
#[derive(Debug)]
pub struct Records {
    passes: Rc<Passes>,
    layout: FrameLayout,
    batch_frames: u32,
    framing: RefCell<Option<Rc<Framing>>>,
    lanes: Lanes,
    pub segments: Segments,
    /// For decodes to come.
    idle: RefCell<Vec<Answer>>,
}

/// What a decode is asked for: the totals before and after it, and the times of its passes.
#[derive(Debug)]
struct Answer {
    readback: Readback,
    stopwatch: Option<Stopwatch>,
}

/// A decode under way.
struct Started {
    room: Room,
    answer: Answer,
    verdict: Verdict,
}

/// What became of a batch.
enum Outcome {
    Decoded(Box<Decoded>),
    /// The records take so many bytes.
    TooLarge(u64),
}

impl Records {
    pub fn new(passes: Rc<Passes>, layout: FrameLayout, batch_frames: u32) -> Self {
        let (lanes, segments) = (Lanes::new(passes.block_records.workgroup()), Segments::new(layout));
        let (framing, idle) = Default::default();
        Self { passes, layout, batch_frames, framing, lanes, segments, idle }
    }

    /// Makes the scratch and room for decodes of `frames` frames in all, of `compressed_bytes` bytes.
    ///
    /// # Errors
    /// As [`Context::buffer`]; the verdict as [`Context::watched`].
    pub fn expect(&self, context: &Context, compressed_bytes: u64, frames: u32) -> (Result<()>, Verdict) {
        context.watched("decode.room", || {
            self.segments.expect(context, compressed_bytes, frames)?;
            self.lanes.of(context, &Batch::of(&self.layout, self.batch_frames.min(frames).max(1)))?;
            self.framing(context).map(drop)
        })
    }

    /// See [`super::Decoder::decode_ahead`].
    pub async fn decode(
        &self,
        context: &Context,
        compressed: &wgpu::Buffer,
        slots: &[Slot],
    ) -> Result<(Decoded, Verdict)> {
        let mut room = None;
        loop {
            let started = self.start(context, compressed, slots, room.take())?;
            let bytes = match self.outcome(context, started, slots).await? {
                Outcome::Decoded(decoded) => return Ok((*decoded, Box::pin(async { Ok(()) }))),
                Outcome::TooLarge(bytes) => bytes,
            };
            if bytes > context.max_binding_bytes() {
                return Err(too_large(context, bytes));
            }
            room = Some(bytes);
        }
    }

    /// Submits a decode, in room of its own for records of `own_bytes` bytes or in shared room.
    fn start(
        &self,
        context: &Context,
        compressed: &wgpu::Buffer,
        slots: &[Slot],
        own_bytes: Option<u64>,
    ) -> Result<Started> {
        let (made, verdict) = context.submit_watched("decode", |encoder| {
            let room = match own_bytes {
                Some(bytes) => self.segments.own(context, slots.len() as u32, bytes)?,
                None => self.segments.room(context, slots)?,
            };
            let batch = Batch { first_slot: room.first_slot, ..Batch::of(&self.layout, slots.len() as u32) };
            let (framing, lanes) = (self.framing(context)?, self.lanes.of(context, &batch)?);
            let idle = self.idle.borrow_mut().pop();
            let answer = idle.map_or_else(|| Answer::new(context), Ok)?;
            framing.write(context, &batch, &chunks_of(slots));
            encoder.clear_buffer(&room.segment.totals, TAKEN, Some(4));
            answer.readback.record(encoder, &room.segment.totals, 0, 0, 8);
            self.record(context, encoder, answer.stopwatch.as_ref(), compressed, &batch, &framing, &lanes, &room);
            answer.record(encoder, &room.segment.totals);
            Ok((room, answer))
        });
        let (room, answer) = made?;
        Ok(Started { room, answer, verdict })
    }

    #[expect(clippy::too_many_arguments, reason = "the buffers of one batch")]
    fn record(
        &self,
        context: &Context,
        encoder: &mut wgpu::CommandEncoder,
        stopwatch: Option<&Stopwatch>,
        compressed: &wgpu::Buffer,
        batch: &Batch,
        framing: &Framing,
        (lanes, groups): &(Rc<Buffer>, u32),
        Room { segment, .. }: &Room,
    ) {
        let (store, totals) = (&segment.store, &segment.totals);
        let mut pass = pass_of(encoder, "decode.headers", stopwatch, 0);
        self.passes.frame_headers.record(context, &mut pass, compressed, batch, framing);
        drop(pass);
        let mut pass = pass_of(encoder, "decode.records", stopwatch, 1);
        self.passes.block_records.record(context, &mut pass, *groups, compressed, framing, lanes, totals, store);
        drop(pass);
        let mut pass = pass_of(encoder, "decode.seal", stopwatch, 2);
        self.passes.seal_slots.record(context, &mut pass, batch, framing, totals, store);
    }

    /// Waits for what became of a decode.
    async fn outcome(&self, context: &Context, started: Started, slots: &[Slot]) -> Result<Outcome> {
        let Started { room: Room { segment, first_slot, bytes: promised }, answer, verdict } = started;
        let words = answer.readback.words(context, answer.words()).await;
        // What was refused explains an answer that does not come.
        verdict.await?;
        let words = words?;
        let &[before, failed_before, after, failed_after, ref laps @ ..] = &words[..] else {
            return Err(Error::new(Kind::Internal, "gpu_readback", "The graphics card gave no answer"));
        };
        let spans = answer.stopwatch.as_ref().map(|stopwatch| spans(&stopwatch.ms_of(bytemuck::cast_slice(laps))));
        self.idle.borrow_mut().push(answer);
        let len_bytes = 4 * u64::from(after);
        segment.settle(promised, len_bytes);
        let own_bytes = 4 * u64::from(after - before);
        self.segments.learn(slots.iter().map(|slot| u64::from(slot.len_bytes)).sum(), own_bytes);
        if len_bytes > segment.store.words.size() {
            self.segments.close(&segment);
            return Ok(Outcome::TooLarge(own_bytes));
        }
        let own_slots = first_slot..first_slot + slots.len() as u32;
        let faults = faults(context, &segment.store.slots, own_slots, failed_after - failed_before).await?;
        Ok(Outcome::Decoded(Box::new(Decoded {
            store: segment.store.clone(),
            first_slot,
            len_words: after,
            blocks: self.layout.blocks(),
            faults,
            times: Times::Known(spans),
        })))
    }

    fn framing(&self, context: &Context) -> Result<Rc<Framing>> {
        let mut kept = self.framing.borrow_mut();
        if let Some(framing) = &*kept {
            return Ok(framing.clone());
        }
        let framing = Rc::new(Framing::new(context, &Batch::of(&self.layout, self.batch_frames))?);
        *kept = Some(framing.clone());
        Ok(framing)
    }
}

impl Answer {
    fn new(context: &Context) -> Result<Self> {
        let stopwatch = Stopwatch::new(context, LAPS)?;
        let readback = Readback::new(context, "decode.answer", TOTALS_BYTES + LAP_BYTES)?;
        Ok(Self { readback, stopwatch })
    }

    fn record(&self, encoder: &mut wgpu::CommandEncoder, totals: &Buffer) {
        self.readback.record(encoder, totals, 0, TOTALS_BYTES / 2, TOTALS_BYTES / 2);
        if let Some(stopwatch) = &self.stopwatch {
            stopwatch.record(encoder);
            self.readback.record(encoder, stopwatch.resolved(), 0, TOTALS_BYTES, LAP_BYTES);
        }
    }

    fn words(&self) -> u64 {
        (TOTALS_BYTES + if self.stopwatch.is_some() { LAP_BYTES } else { 0 }) / 4
    }
}

fn too_large(context: &Context, bytes: u64) -> Error {
    Error::new(Kind::Gpu, "buffer_too_large", "A batch unpacks to more than the graphics adapter binds at once")
        .expected(format!("at most {} bytes", context.max_binding_bytes()))
        .found(bytes.to_string())
        .action("Set a smaller batch (tuning.batchFrames)")
}

/// GPU time of each pass, ms, from the laps of a decode.
fn spans(laps: &[[f64; 2]]) -> PassTimes {
    let specs = [frame_headers::SPEC, block_records::SPEC, seal_slots::SPEC];
    specs.iter().map(|spec| spec.name).zip(laps.iter().map(|[from, to]| to - from)).collect()
}

/// Passes of a decode.
const LAPS: u32 = 3;
/// Of two timestamps each.
const LAP_BYTES: u64 = 16 * LAPS as u64;
/// Totals before and after.
const TOTALS_BYTES: u64 = 16;
