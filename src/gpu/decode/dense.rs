//! Batches by way of whole planes, for layouts of any shape: headers, LZ4 into zeroed memory, measure, pack. Frames
//! that the workers have decoded take the same way, shuffled instead of unpacked.
//!
//! The size of the records is known after they have been measured, so a decode is two submissions with one short answer
//! between them.

use std::{cell::RefCell, rc::Rc};

use wgpu::BufferUsages as Usage;

use super::{
    super::{
        Buffer, Context, Stopwatch, Verdict,
        frame_headers::{self, FrameHeaders},
        lz4::{self, Lz4},
        measure_blocks::{self, MeasureBlocks},
        pack_blocks::{self, PackBlocks},
        pixels_to_planes::PixelsToPlanes,
        planes::Store,
    },
    Decoded, PassTimes, Times,
    batch::Batch,
    framing::{Framing, chunks_of, faults, storage},
    pass_of,
};
use crate::{engine::Slot, error::Result, shape::FrameLayout};

#[derive(Debug)]
pub struct Passes {
    frame_headers: FrameHeaders,
    lz4: Lz4,
    pixels_to_planes: PixelsToPlanes,
    measure_blocks: MeasureBlocks,
    pack_blocks: PackBlocks,
}

impl Passes {
    pub fn new(context: &Context) -> Self {
        Self {
            frame_headers: FrameHeaders::new(context),
            lz4: Lz4::new(context),
            pixels_to_planes: PixelsToPlanes::new(context),
            measure_blocks: MeasureBlocks::new(context),
            pack_blocks: PackBlocks::new(context),
        }
    }
}

/// Decodes batches of one layout.
#[derive(Debug)]
pub struct Dense {
    passes: Rc<Passes>,
    layout: FrameLayout,
    batch_frames: u32,
    /// One for each decode that runs at the same time, kept for the next.
    idle: RefCell<Vec<Scratch>>,
}

impl Dense {
    pub fn new(passes: Rc<Passes>, layout: FrameLayout, batch_frames: u32) -> Self {
        Self { passes, layout, batch_frames, idle: RefCell::default() }
    }

    pub async fn run(&self, context: &Context, input: Input<'_>) -> Result<(Decoded, Verdict)> {
        let batch = Batch::of(&self.layout, input.frames());
        let idle = self.idle.borrow_mut().pop();
        let scratch = match idle {
            Some(scratch) => scratch,
            None => {
                let full = Batch::of(&self.layout, self.batch_frames);
                context.guarded("decode.scratch", || Scratch::new(context, &full)).await?
            }
        };
        let decoded = self.run_on(context, input, &batch, &scratch).await;
        self.idle.borrow_mut().push(scratch);
        decoded
    }

    async fn run_on(
        &self,
        context: &Context,
        input: Input<'_>,
        batch: &Batch,
        scratch: &Scratch,
    ) -> Result<(Decoded, Verdict)> {
        let bytes = input.bytes();
        let framing = &scratch.framing;
        let (measured, verdict) = context.submit_watched("decode", |encoder| {
            let usage = Usage::STORAGE | Usage::COPY_SRC;
            let table = context.buffer("decode.table", 4 * u64::from(batch.frames * batch.blocks), usage)?;
            let slots = context.buffer("decode.slots", 8 * u64::from(batch.frames), usage)?;
            let stopwatch = if input.is_timed() { Stopwatch::new(context, LAPS)? } else { None };
            framing.write(context, batch, &input.chunks(batch));
            encoder.clear_buffer(&framing.totals, 0, None);
            match input {
                Input::Chunks { compressed, .. } => {
                    let mut pass = pass_of(encoder, "decode.headers", stopwatch.as_ref(), 0);
                    self.passes.frame_headers.record(context, &mut pass, compressed, batch, framing);
                    drop(pass);
                    let decoded_bytes = 4 * u64::from(batch.frames * batch.frame_words);
                    encoder.clear_buffer(&scratch.decoded, 0, Some(decoded_bytes));
                    let mut pass = pass_of(encoder, "decode.lz4", stopwatch.as_ref(), 1);
                    self.passes.lz4.record(context, &mut pass, compressed, batch, scratch);
                }
                Input::Pixels { pixels, status, .. } => {
                    let faults: Vec<u32> = status.iter().map(|&s| if s == 0 { 0 } else { !s }).collect();
                    context.queue.write_buffer(&framing.faults, 0, bytemuck::cast_slice(&faults));
                    let mut pass = pass_of(encoder, "decode.pixels", stopwatch.as_ref(), 0);
                    self.passes.pixels_to_planes.record(context, &mut pass, pixels, batch, scratch);
                }
            }
            {
                let mut pass = pass_of(encoder, "decode.measure", stopwatch.as_ref(), 2);
                self.passes.measure_blocks.record(context, &mut pass, bytes, batch, scratch, &table, &slots);
            }
            framing.ask(encoder);
            Ok((table, slots, stopwatch))
        });
        let (table, slots, stopwatch) = measured?;
        let answer = framing.answer(context).await;
        // What was refused explains an answer that does not come.
        verdict.await?;
        let [len_words, failed] = answer?;
        let (words, verdict) = context.submit_watched("decode.pack", |encoder| {
            let usage = Usage::STORAGE | Usage::COPY_SRC;
            let words = context.buffer("decode.words", 4 * u64::from(len_words), usage)?;
            {
                let mut pass = pass_of(encoder, "decode.pack", stopwatch.as_ref(), 3);
                self.passes.pack_blocks.record(context, &mut pass, bytes, batch, scratch, &table, &words);
            }
            if let Some(stopwatch) = &stopwatch {
                stopwatch.record(encoder);
            }
            Ok(words)
        });
        let faults = faults(context, &slots, 0..batch.frames, failed).await?;
        let store = Store { words: Rc::new(words?), table: Rc::new(table), slots: Rc::new(slots) };
        let times = stopwatch.map_or(Times::Known(None), |stopwatch| Times::Noted(stopwatch, spans));
        Ok((Decoded { store, first_slot: 0, len_words, blocks: batch.blocks, faults, times }, verdict))
    }
}

/// What a batch is made of.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    Chunks {
        compressed: &'a wgpu::Buffer,
        slots: &'a [Slot],
    },
    /// Frame and status of each slot; pixels one after another.
    Pixels {
        pixels: &'a wgpu::Buffer,
        frames: &'a [u32],
        status: &'a [u32],
    },
}

impl<'a> Input<'a> {
    fn frames(&self) -> u32 {
        match self {
            Self::Chunks { slots, .. } => slots.len() as u32,
            Self::Pixels { frames, .. } => frames.len() as u32,
        }
    }

    /// Where raw tails lie.
    fn bytes(&self) -> &'a wgpu::Buffer {
        match self {
            Self::Chunks { compressed, .. } => compressed,
            Self::Pixels { pixels, .. } => pixels,
        }
    }

    /// Frame, first byte, bytes, first byte of the raw tail; the last is found by the header pass in a chunk,
    /// and lies at a frame's end among pixels.
    fn chunks(&self, batch: &Batch) -> Vec<[u32; 4]> {
        let bytes = batch.frame_bytes;
        match self {
            Self::Chunks { slots, .. } => chunks_of(slots),
            Self::Pixels { frames, .. } => (0..)
                .zip(*frames)
                .map(|(slot, &frame)| [frame, slot * bytes, bytes, (slot + 1) * bytes - batch.tail_bytes])
                .collect(),
        }
    }

    fn is_timed(&self) -> bool {
        matches!(self, Self::Chunks { .. })
    }
}

/// What a decode needs besides its result; made for the largest batch.
#[derive(Debug)]
pub struct Scratch {
    pub framing: Framing,
    pub decoded: Buffer,
    pub maps: Buffer,
}

impl Scratch {
    fn new(context: &Context, batch: &Batch) -> Result<Self> {
        let frames = u64::from(batch.frames);
        Ok(Self {
            framing: Framing::new(context, batch)?,
            decoded: storage(context, "decode.decoded", frames * u64::from(batch.frame_words))?,
            maps: storage(context, "decode.maps", frames * u64::from(batch.blocks) * u64::from(batch.map_stride))?,
        })
    }
}

/// GPU time of each pass and of the clearing before LZ4, ms, from the laps of a decode.
fn spans(laps: &[[f64; 2]]) -> PassTimes {
    let &[headers, lz4, measure, pack] = laps else { return Vec::new() };
    let spans = [headers, [headers[1], lz4[0]], lz4, measure, pack];
    let names = [frame_headers::SPEC.name, "clear", lz4::SPEC.name, measure_blocks::SPEC.name, pack_blocks::SPEC.name];
    names.into_iter().zip(spans.map(|[from, to]| (to - from).max(0.0))).collect()
}

/// Passes of a decode.
const LAPS: u32 = 4;
