//! Decoding a set that lies compressed in GPU memory, to time a variant and to check what it makes.

use std::{collections::BTreeMap, rc::Rc};

use serde::{Deserialize, Serialize};
use wgpu::BufferUsages as Usage;

use super::{
    super::{Buffer, Context, Engine},
    Kit, Method, PADDING_BYTES, PassTimes, PixelDecoder, Variant,
    batch::max_batch_frames,
    dense, framing, pixels, records, segment,
};
use crate::{
    cpu::block_pixels::PixelOutput,
    engine::Slot,
    error::{Error, Kind, Result},
    shape::{Dtype, FrameLayout},
};

/// What a variant writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// Records of bit planes, the resident form.
    Planes,
    #[serde(untagged)]
    Pixels(PixelOutput),
}

impl Output {
    /// What `variant` can write.
    pub fn of(variant: Variant) -> &'static [Self] {
        use PixelOutput::{Exact, U8Clip, U8Low};
        match variant {
            Variant::Lane => &[Self::Planes, Self::Pixels(Exact), Self::Pixels(U8Clip), Self::Pixels(U8Low)],
            Variant::Team => &[Self::Planes],
            Variant::FrameCoop | Variant::BlockCoop => {
                &[Self::Pixels(Exact), Self::Pixels(U8Clip), Self::Pixels(U8Low)]
            }
        }
    }
}

/// Compressed frames in GPU memory.
#[derive(Clone, Debug)]
pub struct Compressed {
    pub buffer: Rc<Buffer>,
    pub slots: Vec<Slot>,
}

impl Compressed {
    /// The same frames in as few buffers as the adapter can bind: kernels are timed on large dispatches.
    ///
    /// # Errors
    /// `Gpu` without memory.
    pub async fn joined(context: &Context, parts: &[Self]) -> Result<Vec<Self>> {
        let most_bytes = context.max_binding_bytes().min(u64::from(u32::MAX)) - PADDING_BYTES;
        let mut joined: Vec<(u64, Vec<&Self>)> = Vec::new();
        for part in parts {
            match joined.last_mut() {
                Some((bytes, group)) if *bytes + part.buffer.size() <= most_bytes => {
                    *bytes += part.buffer.size();
                    group.push(part);
                }
                _ => joined.push((part.buffer.size(), vec![part])),
            }
        }
        let mut whole = Vec::new();
        for (bytes, group) in joined {
            let copy = |encoder: &mut wgpu::CommandEncoder| Self::join(context, encoder, bytes + PADDING_BYTES, &group);
            whole.push(context.submit("trial.join", copy).await?);
        }
        Ok(whole)
    }

    fn join(context: &Context, encoder: &mut wgpu::CommandEncoder, bytes: u64, group: &[&Self]) -> Result<Self> {
        let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        let buffer = context.buffer("trial.compressed", bytes, usage)?;
        let (mut to, mut slots) = (0, Vec::new());
        for part in group {
            encoder.copy_buffer_to_buffer(&part.buffer, 0, &buffer, to, part.buffer.size());
            slots.extend(part.slots.iter().map(|slot| Slot { offset: slot.offset + to as u32, ..*slot }));
            to += part.buffer.size();
        }
        Ok(Self { buffer: Rc::new(buffer), slots })
    }
}

#[derive(Debug)]
enum Runner {
    Planes(super::Chain),
    Pixels(pixels::Pixels),
}

/// One variant, ready to decode a set again and again.
#[derive(Debug)]
pub struct Trial {
    runner: Runner,
    layout: FrameLayout,
    output: Output,
    batch_frames: usize,
}

impl Trial {
    /// For the frames of `set`.
    ///
    /// # Errors
    /// `bad_argument` for a variant that does not decode the layout or does not write the output.
    pub async fn new(
        context: &Context,
        layout: FrameLayout,
        method: Method,
        output: Output,
        set: &[Compressed],
    ) -> Result<Self> {
        if method.for_layout(&layout) != method || !Output::of(method.variant).contains(&output) {
            return Err(Error::new(
                Kind::Internal,
                "bad_argument",
                "There is no such decode variant for these patterns",
            )
            .expected("a name, an output and a workgroup that kernels() lists")
            .found(format!("{method:?}, {output:?}")));
        }
        let kit = Kit::default();
        let most = match output {
            Output::Pixels(output) => pixels::max_pixel_frames(context, &layout, output),
            Output::Planes if method.variant == Variant::Lane => frames_of_a_binding(context, &layout, set),
            Output::Planes => max_batch_frames(context, &layout, method),
        };
        let longest = set.iter().map(|part| part.slots.len()).max().unwrap_or_default() as u32;
        // Batches of equal size, so that none is left with a few frames.
        let batch_frames = longest.div_ceil(longest.div_ceil(most.max(1)).max(1)).max(1);
        let runner = match output {
            Output::Pixels(output) => {
                let passes = kit.pixels(context, method, layout.dtype, output).await?;
                Runner::Pixels(pixels::Pixels::new(passes, layout, batch_frames))
            }
            Output::Planes if method.variant == Variant::Lane => {
                let passes = kit.records(context, method.workgroup).await?;
                Runner::Planes(super::Chain::Records(records::Records::new(passes, layout, batch_frames)))
            }
            Output::Planes => {
                let passes = kit.dense(context).await?;
                Runner::Planes(super::Chain::Dense(dense::Dense::new(passes, layout, batch_frames)))
            }
        };
        Ok(Self { runner, layout, output, batch_frames: batch_frames as usize })
    }

    /// Decodes the whole set once: GPU time of each pass over all batches, ms; `None` without timestamps.
    ///
    /// # Errors
    /// As [`super::Decoder::decode`].
    pub async fn run(&self, context: &Context, set: &[Compressed]) -> Result<Option<BTreeMap<&'static str, f64>>> {
        let mut total = BTreeMap::new();
        for part in set {
            for slots in part.slots.chunks(self.batch_frames) {
                let Some(passes) = self.time(context, &part.buffer, slots).await? else { return Ok(None) };
                passes.into_iter().for_each(|(name, ms)| *total.entry(name).or_default() += ms);
            }
        }
        Ok(Some(total))
    }

    async fn time(&self, context: &Context, compressed: &wgpu::Buffer, slots: &[Slot]) -> Result<Option<PassTimes>> {
        match &self.runner {
            Runner::Planes(chain) => {
                let (decoded, verdict) = chain.decode(context, compressed, slots).await?;
                verdict.await?;
                decoded.passes_ms(context).await
            }
            Runner::Pixels(pixels) => {
                let (made, stopwatch) = pixels.decode(context, compressed, slots).await?;
                let passes = match &stopwatch {
                    Some(stopwatch) => Some(pixels.spans(&stopwatch.laps_ms(context).await?)),
                    None => None,
                };
                pixels.put_back(made);
                Ok(passes)
            }
        }
    }

    /// `weighted64` of each of `frames` frames as this variant decodes them (`None` for a failed one), and how many
    /// pixels lay outside 0 to 255, where 8 bits are written.
    ///
    /// # Errors
    /// As [`super::Decoder::decode`].
    pub async fn hashes(
        &self,
        context: &Rc<Context>,
        set: &[Compressed],
        frames: u32,
    ) -> Result<(Vec<Option<u64>>, u64)> {
        let layout = match self.output {
            Output::Planes | Output::Pixels(PixelOutput::Exact) => self.layout,
            Output::Pixels(_) => FrameLayout { dtype: Dtype::U8, ..self.layout },
        };
        let packer = PixelDecoder::new(context, layout, self.batch_frames as u32).await?;
        let mut hashes = vec![None; frames as usize];
        let mut outside = 0;
        for part in set {
            for slots in part.slots.chunks(self.batch_frames) {
                let engine = Engine::new(context.clone(), layout, frames).await?;
                outside += self.decode_into(&engine, &packer, part, slots).await?;
                let own: Vec<u32> = slots.iter().map(|slot| slot.frame).collect();
                for (&frame, hash) in own.iter().zip(engine.hash_frames(&own).await?) {
                    if let Some(place) = hashes.get_mut(frame as usize) {
                        *place = hash;
                    }
                }
            }
        }
        Ok((hashes, outside))
    }

    async fn decode_into(
        &self,
        engine: &Engine,
        packer: &PixelDecoder,
        part: &Compressed,
        slots: &[Slot],
    ) -> Result<u64> {
        let context = engine.context();
        match &self.runner {
            Runner::Planes(chain) => {
                let (decoded, verdict) = chain.decode(context, &part.buffer, slots).await?;
                verdict.await?;
                let frames: Vec<u32> = slots.iter().map(|slot| slot.frame).collect();
                engine.add(&decoded, &frames, &decoded.status(slots))?;
                Ok(0)
            }
            Runner::Pixels(pixels) => {
                let (made, _) = pixels.decode(context, &part.buffer, slots).await?;
                let status = made.framing.status(context, slots.len()).await?;
                let [outside, _] = made.framing.read_totals(context).await?;
                let frames: Vec<u32> = slots.iter().map(|slot| slot.frame).collect();
                let most = packer.batch_frames() as usize;
                let bytes = pixels::pixel_bytes(&self.layout, pixels.output());
                let pieces = slots.chunks(most).zip(frames.chunks(most)).zip(status.chunks(most));
                for (i, ((slots, frames), status)) in pieces.enumerate() {
                    let from = (i * most) as u64 * bytes;
                    let piece = framing::part_of(context, &made.pixels, from, slots.len() as u64 * bytes).await?;
                    let packed = packer.pack(context, &piece, frames, status).await?;
                    engine.add(&packed, frames, status)?;
                }
                pixels.put_back(made);
                Ok(u64::from(outside))
            }
        }
    }
}

/// The most frames of `set` whose records probably fit one binding.
fn frames_of_a_binding(context: &Context, layout: &FrameLayout, set: &[Compressed]) -> u32 {
    let frames: usize = set.iter().map(|part| part.slots.len()).sum();
    let bytes: u64 = set
        .iter()
        .map(|part| {
            let compressed = part.slots.iter().map(|slot| u64::from(slot.len_bytes)).sum();
            segment::usual_bytes(layout, compressed, part.slots.len() as u64)
        })
        .sum();
    (context.max_binding_bytes() / (bytes / frames.max(1) as u64).max(1)).min(u64::from(u32::MAX)) as u32
}
