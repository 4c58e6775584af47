//! Chunks to dense pixels, by one of the kernels that make them.

use std::{cell::RefCell, rc::Rc};

use super::{
    super::{
        Buffer, Context, Stopwatch,
        frame_coop::{self, FrameCoop},
        frame_headers::{self, FrameHeaders},
        planes::FrameShape,
        planes_to_pixels::{self, PlanesToPixels},
    },
    Method, PassTimes, Variant,
    batch::Batch,
    framing::{Framing, chunks_of, storage},
    pass_of,
    records::{self, Records},
};
use crate::{
    cpu::planes_to_pixels::PixelOutput,
    engine::Slot,
    error::Result,
    shape::{Dtype, FrameLayout},
};

#[derive(Debug)]
enum Kernel {
    /// To records, and these to pixels.
    Lane(Rc<records::Passes>, PlanesToPixels),
    Coop(FrameHeaders, FrameCoop),
}

/// The passes from chunks to one kind of pixels.
#[derive(Debug)]
pub struct Passes {
    kernel: Kernel,
    output: PixelOutput,
}

impl Passes {
    /// By way of records.
    pub fn of_records(context: &Context, records: Rc<records::Passes>, dtype: Dtype, output: PixelOutput) -> Self {
        Self { kernel: Kernel::Lane(records, PlanesToPixels::new(context, dtype, output)), output }
    }

    /// By the kernels that make pixels at once: `None` for another variant.
    pub fn direct(context: &Context, method: Method, dtype: Dtype, output: PixelOutput) -> Option<Self> {
        let is_block_each = match method.variant {
            Variant::FrameCoop => false,
            Variant::BlockCoop => true,
            Variant::Lane | Variant::Team => return None,
        };
        let coop = FrameCoop::new(context, method.workgroup, dtype, output, is_block_each);
        Some(Self { kernel: Kernel::Coop(FrameHeaders::new(context), coop), output })
    }
}

/// Decodes batches of one layout of whole spans to pixels.
#[derive(Debug)]
pub struct Pixels {
    passes: Rc<Passes>,
    layout: FrameLayout,
    batch_frames: u32,
    /// For the kernel that takes this way.
    records: Option<Records>,
    /// Kept for the next batch.
    idle: RefCell<Vec<Scratch>>,
}

/// What a decode writes, with what the headers and the blocks have left.
#[derive(Debug)]
pub struct Scratch {
    framing: Framing,
    shape: Buffer,
    /// Frames, one after another; those of failed frames are of no use.
    pub pixels: Buffer,
}

impl Scratch {
    /// Pixels outside 0 to 255, where 8 bits are written.
    ///
    /// # Errors
    /// As [`Context::read_words`].
    pub async fn outside(&self, context: &Context) -> Result<u32> {
        self.framing.read_totals(context).await.map(|[outside, _]| outside)
    }
}

/// A decoded batch.
#[derive(Debug)]
pub struct Made {
    /// To be put back.
    pub scratch: Scratch,
    /// Of each slot, as the resident form keeps it.
    pub status: Vec<u32>,
    /// GPU time of each pass, ms; `None` without timestamps.
    pub times: Option<PassTimes>,
}

impl Pixels {
    pub fn new(passes: Rc<Passes>, layout: FrameLayout, batch_frames: u32) -> Self {
        let records = match &passes.kernel {
            Kernel::Lane(records, _) => Some(Records::new(records.clone(), layout, batch_frames)),
            Kernel::Coop(..) => None,
        };
        Self { passes, layout, batch_frames, records, idle: RefCell::default() }
    }

    pub fn output(&self) -> PixelOutput {
        self.passes.output
    }

    /// Decodes a batch.
    ///
    /// # Errors
    /// As [`super::Decoder::decode`].
    pub async fn decode(&self, context: &Context, compressed: &wgpu::Buffer, slots: &[Slot]) -> Result<Made> {
        let scratch = self.scratch(context).await?;
        let (status, times) = match (&self.passes.kernel, &self.records) {
            (Kernel::Lane(_, to_pixels), Some(records)) => {
                let (decoded, verdict) = records.decode(context, compressed, slots).await?;
                verdict.await?;
                let stopwatch = context.submit("decode.pixels", |encoder| {
                    let stopwatch = Stopwatch::new(context, 1)?;
                    encoder.clear_buffer(&scratch.framing.totals, 0, None);
                    let mut pass = pass_of(encoder, "decode.pixels", stopwatch.as_ref(), 0);
                    let size = [slots.len() as u32, self.layout.blocks()];
                    let Scratch { framing, shape, pixels } = &scratch;
                    to_pixels.record(context, &mut pass, shape, &decoded.store, size, pixels, &framing.totals);
                    drop(pass);
                    stopwatch.iter().for_each(|stopwatch| stopwatch.record(encoder));
                    Ok(stopwatch)
                });
                let own = spans(context, stopwatch.await?, &[planes_to_pixels::SPEC.name]).await?;
                let times = decoded.passes_ms(context).await?.zip(own).map(|(before, own)| [before, own].concat());
                (decoded.status(slots), times)
            }
            (Kernel::Coop(headers, coop), _) => {
                let stopwatch = context.submit("decode.pixels", |encoder| {
                    let stopwatch = Stopwatch::new(context, 2)?;
                    let (Scratch { framing, pixels, .. }, batch) =
                        (&scratch, Batch::of(&self.layout, slots.len() as u32));
                    framing.write(context, &batch, &chunks_of(slots));
                    encoder.clear_buffer(&framing.totals, 0, None);
                    let mut pass = pass_of(encoder, "decode.headers", stopwatch.as_ref(), 0);
                    headers.record(context, &mut pass, compressed, &batch, framing);
                    drop(pass);
                    let mut pass = pass_of(encoder, "decode.pixels", stopwatch.as_ref(), 1);
                    coop.record(context, &mut pass, &batch, compressed, framing, pixels);
                    drop(pass);
                    stopwatch.iter().for_each(|stopwatch| stopwatch.record(encoder));
                    Ok(stopwatch)
                });
                let names = [frame_headers::SPEC.name, frame_coop::SPEC.name];
                let times = spans(context, stopwatch.await?, &names).await?;
                (scratch.framing.status(context, slots.len()).await?, times)
            }
            (Kernel::Lane(..), None) => Default::default(),
        };
        Ok(Made { scratch, status, times })
    }

    pub fn put_back(&self, scratch: Scratch) {
        self.idle.borrow_mut().push(scratch);
    }

    async fn scratch(&self, context: &Context) -> Result<Scratch> {
        let idle = self.idle.borrow_mut().pop();
        if let Some(scratch) = idle {
            return Ok(scratch);
        }
        let full = Batch::of(&self.layout, self.batch_frames);
        let make = || {
            let bytes = u64::from(self.batch_frames) * pixel_bytes(&self.layout, self.passes.output);
            let framing = Framing::new(context, &full)?;
            let shape = context.uniform_of("decode.shape", &FrameShape::of(&self.layout))?;
            Ok(Scratch { framing, shape, pixels: storage(context, "decode.dense", bytes / 4)? })
        };
        context.guarded("decode.scratch", make).await
    }
}

/// GPU time of each pass, ms; `None` without timestamps.
async fn spans(context: &Context, stopwatch: Option<Stopwatch>, names: &[&'static str]) -> Result<Option<PassTimes>> {
    let Some(stopwatch) = stopwatch else { return Ok(None) };
    let laps = stopwatch.laps_ms(context).await?;
    Ok(Some(names.iter().copied().zip(laps.iter().map(|[from, to]| to - from)).collect()))
}

/// Bytes of a dense frame.
pub fn pixel_bytes(layout: &FrameLayout, output: PixelOutput) -> u64 {
    u64::from(layout.detector.pixels() * output.bytes(layout))
}

/// The most frames of pixels that one binding holds.
pub fn max_pixel_frames(context: &Context, layout: &FrameLayout, output: PixelOutput) -> u32 {
    (context.max_binding_bytes() / pixel_bytes(layout, output)) as u32
}
