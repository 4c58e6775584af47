//! Chunks to dense pixels, by one of the kernels that make them.

use std::{cell::RefCell, rc::Rc};

use super::{
    super::{
        Buffer, Context, Stopwatch,
        block_pixels::{self, BlockPixels},
        frame_coop::{self, FrameCoop},
        frame_headers::{self, FrameHeaders},
    },
    Method, PassTimes, Variant,
    batch::Batch,
    framing::{Framing, chunks_of, storage},
    lanes::Lanes,
    pass_of,
};
use crate::{
    cpu::block_pixels::PixelOutput,
    engine::Slot,
    error::Result,
    shape::{Dtype, FrameLayout},
};

#[derive(Debug)]
enum Kernel {
    Lane(BlockPixels),
    Coop(FrameCoop),
}

/// The passes from chunks to one kind of pixels.
#[derive(Debug)]
pub struct Passes {
    frame_headers: FrameHeaders,
    kernel: Kernel,
    method: Method,
    output: PixelOutput,
}

impl Passes {
    /// `None` for a variant that makes no pixels.
    pub fn new(context: &Context, method: Method, dtype: Dtype, output: PixelOutput) -> Option<Self> {
        let Method { variant, workgroup } = method;
        let kernel = match variant {
            Variant::Lane => Kernel::Lane(BlockPixels::new(context, workgroup, dtype, output)),
            Variant::FrameCoop | Variant::BlockCoop => {
                Kernel::Coop(FrameCoop::new(context, workgroup, dtype, output, variant == Variant::BlockCoop))
            }
            Variant::Team => return None,
        };
        Some(Self { frame_headers: FrameHeaders::new(context), kernel, method, output })
    }
}

/// Decodes batches of one layout of whole spans to pixels.
#[derive(Debug)]
pub struct Pixels {
    passes: Rc<Passes>,
    layout: FrameLayout,
    batch_frames: u32,
    lanes: Lanes,
    /// Kept for the next batch.
    idle: RefCell<Vec<Scratch>>,
}

/// Frames of pixels, one after another, with what the headers and the blocks have left.
#[derive(Debug)]
pub struct Scratch {
    pub framing: Framing,
    pub pixels: Buffer,
}

impl Pixels {
    pub fn new(passes: Rc<Passes>, layout: FrameLayout, batch_frames: u32) -> Self {
        let lanes = Lanes::new(passes.method.workgroup);
        Self { passes, layout, batch_frames, lanes, idle: RefCell::default() }
    }

    pub fn output(&self) -> PixelOutput {
        self.passes.output
    }

    /// Decodes a batch; the pixels of failed frames are of no use. What they lie in is to be put back.
    ///
    /// # Errors
    /// As [`super::Decoder::decode`].
    pub async fn decode(
        &self,
        context: &Context,
        compressed: &wgpu::Buffer,
        slots: &[Slot],
    ) -> Result<(Scratch, Option<Stopwatch>)> {
        let batch = Batch::of(&self.layout, slots.len() as u32);
        let scratch = self.scratch(context).await?;
        let lanes = match &self.passes.kernel {
            Kernel::Lane(_) => Some(context.guarded("decode.lanes", || self.lanes.of(context, &batch)).await?),
            Kernel::Coop(_) => None,
        };
        let Scratch { framing, pixels } = &scratch;
        let stopwatch = context.submit("decode.pixels", |encoder| {
            let stopwatch = Stopwatch::new(context, LAPS)?;
            framing.write(context, &batch, &chunks_of(slots));
            encoder.clear_buffer(&framing.totals, 0, None);
            let mut pass = pass_of(encoder, "decode.headers", stopwatch.as_ref(), 0);
            self.passes.frame_headers.record(context, &mut pass, compressed, &batch, framing);
            drop(pass);
            let mut pass = pass_of(encoder, "decode.pixels", stopwatch.as_ref(), 1);
            match (&self.passes.kernel, &lanes) {
                (Kernel::Lane(kernel), Some((lanes, groups))) => {
                    kernel.record(context, &mut pass, *groups, compressed, framing, lanes, pixels);
                }
                (Kernel::Coop(kernel), _) => {
                    kernel.record(context, &mut pass, &batch, compressed, framing, pixels);
                }
                (Kernel::Lane(_), None) => {}
            }
            drop(pass);
            if let Some(stopwatch) = &stopwatch {
                stopwatch.record(encoder);
            }
            Ok(stopwatch)
        });
        let stopwatch = stopwatch.await?;
        Ok((scratch, stopwatch))
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
            Ok(Scratch { framing, pixels: storage(context, "decode.dense", bytes / 4)? })
        };
        context.guarded("decode.scratch", make).await
    }

    /// GPU time of each pass, ms, from the laps of a decode.
    pub fn spans(&self, laps: &[[f64; 2]]) -> PassTimes {
        let name = match self.passes.kernel {
            Kernel::Lane(_) => block_pixels::SPEC.name,
            Kernel::Coop(_) => frame_coop::SPEC.name,
        };
        [frame_headers::SPEC.name, name].into_iter().zip(laps.iter().map(|[from, to]| to - from)).collect()
    }
}

/// Bytes of a dense frame.
pub fn pixel_bytes(layout: &FrameLayout, output: PixelOutput) -> u64 {
    u64::from(layout.detector.pixels() * output.bytes(layout))
}

/// The most frames of pixels that one binding holds.
pub fn max_pixel_frames(context: &Context, layout: &FrameLayout, output: PixelOutput) -> u32 {
    (context.max_binding_bytes() / pixel_bytes(layout, output)) as u32
}

/// Headers and pixels.
const LAPS: u32 = 2;
