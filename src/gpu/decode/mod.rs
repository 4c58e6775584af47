//! A batch of bitshuffle-LZ4 chunks, or of frames that the workers have decoded, to resident bit planes.
//!
//! The resident form is described in `cpu::planes`: records in `words`, their places in `table`, and in
//! `slots` each slot's frame and its status, 0 or fault | block << 8. A failed frame has no record. The order of the
//! records may differ from run to run.

mod batch;
mod dense;
mod framing;
mod lanes;
mod pixels;
mod records;
mod segment;
pub mod trial;

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use serde::{Deserialize, Serialize};

use super::{Context, Stopwatch, Verdict, block_records, frame_coop, lz4, planes};
use crate::{
    cpu::{self, block_pixels::PixelOutput},
    engine::{FrameFault, Slot},
    error::{Error, Kind, Result},
    shape::{Dtype, FrameLayout},
};

pub use batch::{Batch, has_whole_spans, max_batch_frames};
pub use dense::Scratch;
pub use framing::Framing;

/// How the blocks of chunks are shared out among invocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// A block each, straight to its record. For layouts of whole spans ([`has_whole_spans`]); others fall back to
    /// teams.
    #[default]
    Lane,
    /// Four for a block, into whole planes in zeroed memory. For every layout.
    Team,
    /// A workgroup for each frame, block after block through workgroup memory, to dense pixels: the baseline. For
    /// layouts of whole spans.
    FrameCoop,
    /// The same with a workgroup for each block.
    BlockCoop,
}

/// A variant and the invocations of its workgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    pub variant: Variant,
    pub workgroup: u32,
}

impl Method {
    /// The one for layouts of any shape.
    pub const TEAM: Self = Self { variant: Variant::Team, workgroup: lz4::SPEC.workgroup };

    /// "lane/64".
    pub fn name(self) -> String {
        let variant = match self.variant {
            Variant::Lane => "lane",
            Variant::Team => "team",
            Variant::FrameCoop => "frame-coop",
            Variant::BlockCoop => "block-coop",
        };
        format!("{variant}/{}", self.workgroup)
    }

    /// Every one that decodes `layout`, the usual one first.
    pub fn all(layout: &FrameLayout) -> Vec<Self> {
        let of = |variant, workgroups: &[u32]| {
            workgroups.iter().map(|&workgroup| Self { variant, workgroup }).collect::<Vec<_>>()
        };
        let team = vec![Self::TEAM];
        if !has_whole_spans(layout) {
            return team;
        }
        let lane = of(Variant::Lane, &block_records::WORKGROUPS);
        let coop = [Variant::FrameCoop, Variant::BlockCoop].map(|variant| of(variant, &frame_coop::WORKGROUPS));
        [lane, team].into_iter().chain(coop).flatten().collect()
    }

    /// This one if it decodes `layout`, else the one that decodes it best.
    pub fn for_layout(self, layout: &FrameLayout) -> Self {
        let all = Self::all(layout);
        let first = all.first().copied().unwrap_or_default();
        if all.contains(&self) { self } else { first }
    }
}

impl Default for Method {
    fn default() -> Self {
        Self { variant: Variant::Lane, workgroup: block_records::SPEC.workgroup }
    }
}

/// Passes of a decode by their names, and the GPU time of each, ms.
pub type PassTimes = Vec<(&'static str, f64)>;

/// Frames that came out of one decode, on the GPU.
#[derive(Debug)]
pub struct Decoded {
    /// Where they lie, perhaps behind those of earlier decodes.
    pub store: planes::Store,
    pub first_slot: u32,
    /// Words of all records in the store up to the last of these.
    pub len_words: u32,
    /// Blocks of a frame.
    pub blocks: u32,
    /// By slot.
    pub faults: Vec<FrameFault>,
    times: Times,
}

/// How long the passes of a decode took.
#[derive(Debug)]
enum Times {
    Known(Option<PassTimes>),
    /// Still on the GPU; the function makes names and times of laps.
    Noted(Stopwatch, fn(&[[f64; 2]]) -> PassTimes),
}

impl Decoded {
    /// Frames that were packed in main memory.
    ///
    /// # Errors
    /// `Gpu` without memory.
    pub fn upload(context: &Context, batch: &cpu::planes::Batch) -> Result<Self> {
        let slots: Vec<u32> = batch.frames.iter().zip(&batch.status).flat_map(|(&f, &status)| [f, status]).collect();
        let store = planes::Store {
            words: Rc::new(context.storage_of("planes.words", &batch.words)?),
            table: Rc::new(context.storage_of("planes.table", &batch.table)?),
            slots: Rc::new(context.storage_of("planes.slots", &slots)?),
        };
        let blocks = batch.table.len().checked_div(batch.frames.len()).unwrap_or_default() as u32;
        let (len_words, times) = (batch.words.len() as u32, Times::Known(None));
        Ok(Self { store, first_slot: 0, len_words, blocks, faults: Vec::new(), times })
    }

    /// GPU time of each pass, and of clearing between them, once they have run; `None` without timestamps.
    ///
    /// # Errors
    /// As [`Context::read_bytes`].
    pub async fn passes_ms(&self, context: &Context) -> Result<Option<PassTimes>> {
        match &self.times {
            Times::Known(times) => Ok(times.clone()),
            Times::Noted(stopwatch, spans) => Ok(Some(spans(&stopwatch.laps_ms(context).await?))),
        }
    }

    /// The sum of [`Decoded::passes_ms`].
    ///
    /// # Errors
    /// As [`Context::read_bytes`].
    pub async fn gpu_ms(&self, context: &Context) -> Result<Option<f64>> {
        Ok(self.passes_ms(context).await?.map(|passes| passes.iter().map(|(_, ms)| ms).sum()))
    }

    /// Status of each of the `slots` that were decoded, as in [`planes::Batch`].
    pub fn status(&self, slots: &[Slot]) -> Vec<u32> {
        let faults: HashMap<u32, u32> = self.faults.iter().map(|fault| (fault.frame, fault.status())).collect();
        slots.iter().map(|slot| faults.get(&slot.frame).copied().unwrap_or(0)).collect()
    }
}

/// Pipelines, whose making takes time, shared by decoders of several layouts.
#[derive(Debug, Default)]
struct Kit {
    records: RefCell<Vec<(u32, Rc<records::Passes>)>>,
    pixels: RefCell<Vec<(PixelKey, Rc<pixels::Passes>)>>,
    dense: RefCell<Option<Rc<dense::Passes>>>,
}

impl Kit {
    async fn records(&self, context: &Context, workgroup: u32) -> Result<Rc<records::Passes>> {
        let kept = self.records.borrow().iter().find(|(size, _)| *size == workgroup).map(|(_, passes)| passes.clone());
        if let Some(passes) = kept {
            return Ok(passes);
        }
        let make = || Ok(Rc::new(records::Passes::new(context, workgroup)));
        let passes = context.guarded("decode.passes", make).await?;
        self.records.borrow_mut().push((workgroup, passes.clone()));
        Ok(passes)
    }

    async fn pixels(
        &self,
        context: &Context,
        method: Method,
        dtype: Dtype,
        output: PixelOutput,
    ) -> Result<Rc<pixels::Passes>> {
        let key = (method, dtype, output);
        let kept = self.pixels.borrow().iter().find(|(of, _)| *of == key).map(|(_, passes)| passes.clone());
        if let Some(passes) = kept {
            return Ok(passes);
        }
        let make = || pixels::Passes::new(context, method, dtype, output).map(Rc::new).ok_or_else(|| no_pixels(method));
        let passes = context.guarded("decode.passes", make).await?;
        self.pixels.borrow_mut().push((key, passes.clone()));
        Ok(passes)
    }

    async fn dense(&self, context: &Context) -> Result<Rc<dense::Passes>> {
        let kept = self.dense.borrow().clone();
        if let Some(passes) = kept {
            return Ok(passes);
        }
        let passes = context.guarded("decode.passes", || Ok(Rc::new(dense::Passes::new(context)))).await?;
        self.dense.replace(Some(passes.clone()));
        Ok(passes)
    }
}

/// What the pipelines of dense pixels differ in.
type PixelKey = (Method, Dtype, PixelOutput);

#[derive(Debug)]
enum Chain {
    Records(records::Records),
    Dense(dense::Dense),
    /// Dense pixels, which then become planes as those of the workers do.
    Pixels(pixels::Pixels, dense::Dense),
}

impl Chain {
    async fn decode(&self, context: &Context, compressed: &wgpu::Buffer, slots: &[Slot]) -> Result<(Decoded, Verdict)> {
        match self {
            Self::Records(records) => records.decode(context, compressed, slots).await,
            Self::Dense(dense) => dense.run(context, dense::Input::Chunks { compressed, slots }).await,
            Self::Pixels(pixels, dense) => {
                let (made, _) = pixels.decode(context, compressed, slots).await?;
                let status = made.framing.status(context, slots.len()).await?;
                let frames: Vec<u32> = slots.iter().map(|slot| slot.frame).collect();
                let input = dense::Input::Pixels { pixels: &made.pixels, frames: &frames, status: &status };
                let decoded = dense.run(context, input).await;
                pixels.put_back(made);
                decoded
            }
        }
    }
}

/// Decodes batches of one layout.
#[derive(Debug)]
pub struct Decoder {
    batch_frames: u32,
    method: Method,
    kit: Rc<Kit>,
    chain: Chain,
}

impl Decoder {
    /// For batches of up to `batch_frames` frames, at most [`max_batch_frames`], by `method` if that decodes the
    /// layout.
    ///
    /// # Errors
    /// As [`Context::guarded`].
    pub async fn new(context: &Context, layout: FrameLayout, batch_frames: u32, method: Method) -> Result<Self> {
        Self::with(context, Rc::default(), layout, batch_frames, method).await
    }

    /// For another layout or by another method; pipelines are shared.
    ///
    /// # Errors
    /// As [`Context::guarded`].
    pub async fn sibling(
        &self,
        context: &Context,
        layout: FrameLayout,
        batch_frames: u32,
        method: Method,
    ) -> Result<Self> {
        Self::with(context, self.kit.clone(), layout, batch_frames, method).await
    }

    async fn with(
        context: &Context,
        kit: Rc<Kit>,
        layout: FrameLayout,
        batch_frames: u32,
        method: Method,
    ) -> Result<Self> {
        let method = method.for_layout(&layout);
        let batch_frames = batch_frames.clamp(1, max_batch_frames(context, &layout, method).max(1));
        let chain = match method.variant {
            Variant::Lane => {
                let passes = kit.records(context, method.workgroup).await?;
                Chain::Records(records::Records::new(passes, layout, batch_frames))
            }
            Variant::Team => Chain::Dense(dense::Dense::new(kit.dense(context).await?, layout, batch_frames)),
            Variant::FrameCoop | Variant::BlockCoop => {
                let passes = kit.pixels(context, method, layout.dtype, PixelOutput::Exact).await?;
                let dense = dense::Dense::new(kit.dense(context).await?, layout, batch_frames);
                Chain::Pixels(pixels::Pixels::new(passes, layout, batch_frames), dense)
            }
        };
        Ok(Self { batch_frames, method, kit, chain })
    }

    pub fn batch_frames(&self) -> u32 {
        self.batch_frames
    }

    /// Makes room for decodes of `frames` frames in all, of `compressed_bytes` bytes, where the variant can: their
    /// results then lie in few large buffers, and any number may be under way.
    ///
    /// # Errors
    /// As [`Context::buffer`]; the verdict as [`Context::watched`].
    pub fn expect(&self, context: &Context, compressed_bytes: u64, frames: u32) -> (Result<()>, Verdict) {
        match &self.chain {
            Chain::Records(records) => records.expect(context, compressed_bytes, frames),
            Chain::Dense(_) | Chain::Pixels(..) => (Ok(()), Box::pin(async { Ok(()) })),
        }
    }

    /// Decodes that may well be under way at the same time.
    pub fn at_once(&self) -> usize {
        match &self.chain {
            Chain::Records(_) => ANSWERS,
            // Each has a large scratch of its own.
            Chain::Dense(_) | Chain::Pixels(..) => DECODES,
        }
    }

    /// How it decodes.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Decodes the chunks that `slots` says lie in `compressed` (STORAGE, with [`PADDING_BYTES`] behind the
    /// last chunk). Slot i of the result is `slots[i]`. Decodes may overlap: each has a scratch of its own.
    ///
    /// # Errors
    /// `Gpu` when memory or the driver fails, `Internal` when slots lie outside the buffer or are too many.
    /// Damaged chunks are no error: they are in [`Decoded::faults`].
    pub async fn decode(&self, context: &Context, compressed: &wgpu::Buffer, slots: &[Slot]) -> Result<Decoded> {
        let (decoded, verdict) = self.decode_ahead(context, compressed, slots).await?;
        verdict.await?;
        Ok(decoded)
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
        let end = slots.iter().map(|slot| u64::from(slot.offset) + u64::from(slot.len_bytes)).max().unwrap_or(0);
        check_size(self.batch_frames, slots.len(), end + PADDING_BYTES, compressed.size())?;
        self.chain.decode(context, compressed, slots).await
    }
}

/// Packs frames of pixels of one layout.
#[derive(Debug)]
pub struct PixelDecoder {
    layout: FrameLayout,
    batch_frames: u32,
    dense: dense::Dense,
}

impl PixelDecoder {
    /// As [`Decoder::new`].
    ///
    /// # Errors
    /// As [`Context::guarded`].
    pub async fn new(context: &Context, layout: FrameLayout, batch_frames: u32) -> Result<Self> {
        let most_frames = max_batch_frames(context, &layout, Method::TEAM);
        let batch_frames = batch_frames.clamp(1, most_frames.max(1));
        let passes = Kit::default().dense(context).await?;
        Ok(Self { layout, batch_frames, dense: dense::Dense::new(passes, layout, batch_frames) })
    }

    pub fn batch_frames(&self) -> u32 {
        self.batch_frames
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
        check_size(self.batch_frames, frames.len(), frames.len() as u64 * frame_bytes, pixels.size())?;
        let (decoded, verdict) = self.dense.run(context, dense::Input::Pixels { pixels, frames, status }).await?;
        verdict.await?;
        Ok(decoded)
    }
}

fn check_size(most_frames: u32, frames: usize, bytes: u64, buffer_bytes: u64) -> Result<()> {
    if frames == 0 || frames > most_frames as usize {
        return Err(Error::new(Kind::Internal, "batch_size", "A batch of the wrong size was to be decoded")
            .expected(format!("1 to {most_frames} frames"))
            .found(frames.to_string()));
    }
    if bytes > buffer_bytes {
        return Err(Error::new(Kind::Internal, "batch_bytes", "A frame lies outside its batch")
            .expected(format!("at most {buffer_bytes} bytes"))
            .found(format!("{bytes}, padding included")));
    }
    Ok(())
}

fn no_pixels(method: Method) -> Error {
    Error::new(Kind::Internal, "bad_argument", "This decode variant makes no dense pixels").found(format!("{method:?}"))
}

/// A pass whose begin and end are noted as lap `lap`.
fn pass_of<'a>(
    encoder: &'a mut wgpu::CommandEncoder,
    label: &str,
    stopwatch: Option<&Stopwatch>,
    lap: u32,
) -> wgpu::ComputePass<'a> {
    let timestamp_writes = stopwatch.map(|stopwatch| stopwatch.notes(lap));
    encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes })
}

/// Decodes with a scratch of their own: the answers of one are awaited while the next one computes.
pub const DECODES: usize = 2;
/// Decodes that share their scratch.
const ANSWERS: usize = 6;
/// Bytes behind the last chunk of a batch, which the kernels may look at.
pub const PADDING_BYTES: u64 = 32;
