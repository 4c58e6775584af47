//! A batch of bitshuffle-LZ4 chunks to resident bit planes: headers, LZ4, measure, pack. Frames that the
//! workers have decoded take the same way, shuffled instead of unpacked.
//!
//! The resident form is described in `cpu::planes`: records in `words`, their places in `table`, and in
//! `slots` each slot's frame and its status, 0 or fault | block << 8. A failed frame has no record. The
//! size of the records is known after they have been measured, so a decode is two submissions with one
//! short answer between them; the order of the records may differ from run to run.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use wgpu::BufferUsages as Usage;

use super::{
    Buffer, Context, Readback, Stopwatch, Verdict,
    frame_headers::{self, FrameHeaders},
    lz4::{self, Lz4},
    measure_blocks::{self, MeasureBlocks},
    pack_blocks::{self, PackBlocks},
    pixels_to_planes::PixelsToPlanes,
    planes,
};
use crate::{
    cpu::frame_headers::ChunkLayout,
    engine::{ChunkFault, FrameFault, Slot},
    error::{Error, Kind, Result},
    shape::FrameLayout,
    uniform,
};

uniform! {
    /// Shape of one batch, for all passes of a decode; see shaders/shared/batch.wgsl.
    pub struct Batch {
        frames: u32,
        pixel_bytes: u32,
        frame_bytes: u32,
        block_bytes: u32,
        last_bytes: u32,
        lz4_blocks: u32,
        tail_bytes: u32,
        blocks: u32,
        frame_words: u32,
        map_stride: u32,
    }
}

impl Batch {
    fn of(layout: &FrameLayout, frames: u32) -> Self {
        let chunk = ChunkLayout::of(layout);
        let block_bytes = (0..chunk.lz4_blocks).map(|block| chunk.bytes_of(block)).sum::<u32>();
        Self {
            frames,
            pixel_bytes: layout.dtype.bytes(),
            frame_bytes: chunk.frame_bytes,
            block_bytes: chunk.block_bytes,
            last_bytes: chunk.last_bytes,
            lz4_blocks: chunk.lz4_blocks,
            tail_bytes: chunk.tail_bytes,
            blocks: chunk.blocks,
            frame_words: block_bytes / 4 + chunk.lz4_blocks,
            map_stride: layout.dtype.bits() * layout.plane_words(0).div_ceil(32),
        }
    }
}

/// Frames that came out of one decode, on the GPU.
#[derive(Debug)]
pub struct Decoded {
    /// Records.
    pub words: Buffer,
    /// Slot x blocks + block -> first word of its record; 0xFFFFFFFF for a failed frame.
    pub table: Buffer,
    /// Slot -> frame, status.
    pub slots: Buffer,
    /// Slots.
    pub frames: u32,
    /// By slot.
    pub faults: Vec<FrameFault>,
    stopwatch: Option<Stopwatch>,
}

impl Decoded {
    /// GPU time of each pass and of the clearing before LZ4, once they have run; `None` without timestamps.
    ///
    /// # Errors
    /// As [`Context::read_bytes`].
    pub async fn passes_ms(&self, context: &Context) -> Result<Option<[(&'static str, f64); 5]>> {
        let Some(stopwatch) = &self.stopwatch else { return Ok(None) };
        let laps = stopwatch.laps_ms(context).await?;
        let &[headers, lz4, measure, pack] = laps.as_slice() else { return Ok(None) };
        let spans = [headers, [headers[1], lz4[0]], lz4, measure, pack];
        let names =
            [frame_headers::SPEC.name, "clear", lz4::SPEC.name, measure_blocks::SPEC.name, pack_blocks::SPEC.name];
        Ok(Some(std::array::from_fn(|i| (names[i], (spans[i][1] - spans[i][0]).max(0.0)))))
    }

    /// The sum of [`Decoded::passes_ms`].
    ///
    /// # Errors
    /// As [`Context::read_bytes`].
    pub async fn gpu_ms(&self, context: &Context) -> Result<Option<f64>> {
        Ok(self.passes_ms(context).await?.map(|passes| passes.iter().map(|(_, ms)| ms).sum()))
    }

    /// As the resident store keeps it; `slots` are those that were decoded.
    pub fn into_batch(self, slots: &[Slot]) -> planes::Batch {
        let frames: Vec<u32> = slots.iter().map(|slot| slot.frame).collect();
        let faults: HashMap<u32, u32> = self.faults.iter().map(|fault| (fault.frame, fault.status())).collect();
        let status = frames.iter().map(|frame| faults.get(frame).copied().unwrap_or(0)).collect();
        planes::Batch::new(self.words, self.table, self.slots, frames, status)
    }

    pub fn len_bytes(&self) -> u64 {
        self.words.size() + self.table.size() + self.slots.size()
    }
}

/// The passes of every layout.
#[derive(Debug)]
struct Passes {
    frame_headers: FrameHeaders,
    lz4: Lz4,
    pixels_to_planes: PixelsToPlanes,
    measure_blocks: MeasureBlocks,
    pack_blocks: PackBlocks,
}

/// Decodes batches of one layout.
#[derive(Debug)]
pub struct Decoder {
    layout: FrameLayout,
    batch_frames: u32,
    passes: Rc<Passes>,
    /// One for each decode that runs at the same time, kept for the next.
    idle: RefCell<Vec<Scratch>>,
}

impl Decoder {
    /// For batches of up to `batch_frames` frames, at most [`max_batch_frames`].
    ///
    /// # Errors
    /// As [`Context::guarded`].
    pub async fn new(context: &Context, layout: FrameLayout, batch_frames: u32) -> Result<Self> {
        let passes = || {
            Ok(Rc::new(Passes {
                frame_headers: FrameHeaders::new(context),
                lz4: Lz4::new(context),
                pixels_to_planes: PixelsToPlanes::new(context),
                measure_blocks: MeasureBlocks::new(context),
                pack_blocks: PackBlocks::new(context),
            }))
        };
        let passes = context.guarded("decode.passes", passes).await?;
        Ok(Self::with(context, passes, layout, batch_frames))
    }

    /// For another layout; the passes, whose making takes time, are shared.
    pub fn of_layout(&self, context: &Context, layout: FrameLayout, batch_frames: u32) -> Self {
        Self::with(context, self.passes.clone(), layout, batch_frames)
    }

    fn with(context: &Context, passes: Rc<Passes>, layout: FrameLayout, batch_frames: u32) -> Self {
        let batch_frames = batch_frames.clamp(1, max_batch_frames(context, &layout).max(1));
        Self { layout, batch_frames, passes, idle: RefCell::default() }
    }

    pub fn batch_frames(&self) -> u32 {
        self.batch_frames
    }

    /// Decodes the chunks that `slots` says lie in `compressed` (STORAGE, with 16 zero bytes behind the
    /// last chunk). Slot i of the result is `slots[i]`. Decodes may overlap: each has a scratch of its own.
    ///
    /// # Errors
    /// `Gpu` when memory or the driver fails, `Internal` when slots lie outside the buffer or are too many.
    /// Damaged chunks are no error: they are in [`Decoded::faults`].
    pub async fn decode(&self, context: &Context, compressed: &wgpu::Buffer, slots: &[Slot]) -> Result<Decoded> {
        self.check(compressed, slots)?;
        self.run(context, Input::Chunks { compressed, slots }).await
    }

    /// Packs frames of little-endian pixels that lie one after another in `pixels` (STORAGE). Slot i holds frame
    /// `frames[i]`, and has no record where `status[i]` is not 0.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub async fn pack(
        &self,
        context: &Context,
        pixels: &wgpu::Buffer,
        frames: &[u32],
        status: &[u32],
    ) -> Result<Decoded> {
        let frame_bytes = u64::from(self.layout.detector.pixels() * self.layout.dtype.bytes());
        self.check_size(frames.len(), frames.len() as u64 * frame_bytes, pixels.size())?;
        self.run(context, Input::Pixels { pixels, frames, status }).await
    }

    /// As [`Decoder::decode`], without waiting for the last verdict: the next decode may begin, but nothing of this one
    /// may be shown before.
    ///
    /// # Errors
    /// As [`Decoder::decode`].
    pub async fn decode_ahead(
        &self,
        context: &Context,
        compressed: &wgpu::Buffer,
        slots: &[Slot],
    ) -> Result<(Decoded, Verdict)> {
        self.check(compressed, slots)?;
        self.run_ahead(context, Input::Chunks { compressed, slots }).await
    }

    async fn run(&self, context: &Context, input: Input<'_>) -> Result<Decoded> {
        let (decoded, verdict) = self.run_ahead(context, input).await?;
        verdict.await?;
        Ok(decoded)
    }

    async fn run_ahead(&self, context: &Context, input: Input<'_>) -> Result<(Decoded, Verdict)> {
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
        let (chunks, bytes) = (input.chunks(batch), input.bytes());
        let (measured, verdict) = context.submit_watched("decode", |encoder| {
            let usage = Usage::STORAGE | Usage::COPY_SRC;
            let table = context.buffer("decode.table", 4 * u64::from(batch.frames * batch.blocks), usage)?;
            let slots = context.buffer("decode.slots", 8 * u64::from(batch.frames), usage)?;
            let stopwatch = if input.is_timed() { Stopwatch::new(context, LAPS)? } else { None };
            context.queue.write_buffer(&scratch.batch, 0, bytemuck::bytes_of(batch));
            context.queue.write_buffer(&scratch.chunks, 0, bytemuck::cast_slice(&chunks));
            encoder.clear_buffer(&scratch.totals, 0, None);
            match input {
                Input::Chunks { compressed, .. } => {
                    let mut pass = begin(encoder, "decode.headers", &stopwatch, 0);
                    self.passes.frame_headers.record(context, &mut pass, compressed, batch, scratch);
                    drop(pass);
                    let decoded_bytes = 4 * u64::from(batch.frames * batch.frame_words);
                    encoder.clear_buffer(&scratch.decoded, 0, Some(decoded_bytes));
                    let mut pass = begin(encoder, "decode.lz4", &stopwatch, 1);
                    self.passes.lz4.record(context, &mut pass, compressed, batch, scratch);
                }
                Input::Pixels { pixels, status, .. } => {
                    let faults: Vec<u32> = status.iter().map(|&s| if s == 0 { 0 } else { !s }).collect();
                    context.queue.write_buffer(&scratch.faults, 0, bytemuck::cast_slice(&faults));
                    let mut pass = begin(encoder, "decode.pixels", &stopwatch, 0);
                    self.passes.pixels_to_planes.record(context, &mut pass, pixels, batch, scratch);
                }
            }
            {
                let mut pass = begin(encoder, "decode.measure", &stopwatch, 2);
                self.passes.measure_blocks.record(context, &mut pass, bytes, batch, scratch, &table, &slots);
            }
            scratch.answer.record(encoder, &scratch.totals, 0, 0, 8);
            Ok((table, slots, stopwatch))
        });
        let (table, slots, stopwatch) = measured?;
        let answer = scratch.answer.words(context, 2).await;
        // What was refused explains an answer that does not come.
        verdict.await?;
        let answer = answer?;
        let &[len_words, failed] = answer.as_slice() else {
            return Err(Error::new(Kind::Internal, "gpu_readback", "The graphics card gave no answer"));
        };
        let (words, verdict) = context.submit_watched("decode.pack", |encoder| {
            let usage = Usage::STORAGE | Usage::COPY_SRC;
            let words = context.buffer("decode.words", 4 * u64::from(len_words), usage)?;
            {
                let mut pass = begin(encoder, "decode.pack", &stopwatch, 3);
                self.passes.pack_blocks.record(context, &mut pass, bytes, batch, scratch, &table, &words);
            }
            if let Some(stopwatch) = &stopwatch {
                stopwatch.record(encoder);
            }
            Ok(words)
        });
        let words = words?;
        let faults = if failed > 0 {
            faults(&context.read_words(&slots, 0, 2 * u64::from(batch.frames)).await?)
        } else {
            Vec::new()
        };
        Ok((Decoded { words, table, slots, frames: batch.frames, faults, stopwatch }, verdict))
    }

    fn check(&self, compressed: &wgpu::Buffer, slots: &[Slot]) -> Result<()> {
        let end = slots.iter().map(|slot| u64::from(slot.offset) + u64::from(slot.len_bytes)).max().unwrap_or(0);
        self.check_size(slots.len(), end + PADDING_BYTES, compressed.size())
    }

    fn check_size(&self, frames: usize, bytes: u64, buffer_bytes: u64) -> Result<()> {
        if frames == 0 || frames > self.batch_frames as usize {
            return Err(Error::new(Kind::Internal, "batch_size", "A batch of the wrong size was to be decoded")
                .expected(format!("1 to {} frames", self.batch_frames))
                .found(frames.to_string()));
        }
        if bytes > buffer_bytes {
            return Err(Error::new(Kind::Internal, "batch_bytes", "A frame lies outside its batch")
                .expected(format!("at most {buffer_bytes} bytes"))
                .found(format!("{bytes}, padding included")));
        }
        Ok(())
    }
}

/// What a batch is made of.
#[derive(Clone, Copy)]
enum Input<'a> {
    Chunks { compressed: &'a wgpu::Buffer, slots: &'a [Slot] },
    Pixels { pixels: &'a wgpu::Buffer, frames: &'a [u32], status: &'a [u32] },
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
            Self::Chunks { slots, .. } => {
                slots.iter().map(|slot| [slot.frame, slot.offset, slot.len_bytes, 0]).collect()
            }
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
    pub(super) batch: Buffer,
    pub(super) chunks: Buffer,
    pub(super) lz4_blocks: Buffer,
    pub(super) faults: Buffer,
    pub(super) decoded: Buffer,
    pub(super) maps: Buffer,
    pub(super) totals: Buffer,
    answer: Readback,
}

impl Scratch {
    fn new(context: &Context, batch: &Batch) -> Result<Self> {
        let storage = |label: &str, words: u64| {
            context.buffer(label, (4 * words).max(16), Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC)
        };
        let frames = u64::from(batch.frames);
        let uniform = Usage::UNIFORM | Usage::COPY_DST;
        Ok(Self {
            batch: context.buffer("decode.batch", size_of::<Batch>() as u64, uniform)?,
            chunks: storage("decode.chunks", 4 * frames)?,
            lz4_blocks: storage("decode.lz4_blocks", 2 * frames * u64::from(batch.lz4_blocks))?,
            faults: storage("decode.faults", frames)?,
            decoded: storage("decode.decoded", frames * u64::from(batch.frame_words))?,
            maps: storage("decode.maps", frames * u64::from(batch.blocks) * u64::from(batch.map_stride))?,
            totals: storage("decode.totals", 2)?,
            answer: Readback::new(context, "decode.answer", 8)?,
        })
    }
}

/// The most frames of `layout` in one batch on this adapter: scratch and records, should nothing shrink,
/// fit one binding each and at most 1 GiB. 0 when not even one frame fits.
pub fn max_batch_frames(context: &Context, layout: &FrameLayout) -> u32 {
    let batch = Batch::of(layout, 1);
    let bits = layout.dtype.bits();
    let record = |block| bits + 1 + bits * layout.plane_words(block).div_ceil(32) + layout.block_words(block);
    let records = (0..batch.blocks).map(|block| u64::from(record(block))).sum::<u64>();
    let frame_bytes = 4 * records.max(u64::from(batch.frame_words));
    (context.max_binding_bytes().min(MAX_SCRATCH_BYTES) / frame_bytes) as u32
}

/// The frames of `slots` (frame, status) that failed.
fn faults(slots: &[u32]) -> Vec<FrameFault> {
    let slots = slots.as_chunks().0.iter();
    let fault = |&[frame, status]: &[u32; 2]| {
        let fault = ChunkFault::of_code(status & 0xFF)?;
        Some(FrameFault { frame, fault, block: status >> 8 })
    };
    slots.filter_map(fault).collect()
}

fn begin<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    label: &str,
    stopwatch: &Option<Stopwatch>,
    lap: u32,
) -> wgpu::ComputePass<'a> {
    let timestamp_writes = stopwatch.as_ref().map(|stopwatch| stopwatch.notes(lap));
    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes })
}

/// Zero bytes behind the last chunk of a batch, which the kernels may look at.
pub const PADDING_BYTES: u64 = 16;
/// Passes of a decode.
const LAPS: u32 = 4;
const MAX_SCRATCH_BYTES: u64 = 1 << 30;
