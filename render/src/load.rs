//! Files to resident frames: read in long ranges by a thread of its own while the GPU decodes, or decoded by all
//! processors where the chunks or the machine are not made for a GPU.

use std::{
    rc::Rc,
    sync::{Mutex, PoisonError, mpsc},
    thread,
};

use planescope::{
    Result,
    acquisition::{self, Acquisition, DecodedFrames, FrameChunk, Storage},
    cpu,
    engine::{ChunkFault, Engine, FrameFault, PixelSet},
    gpu::{self, Context, Decoder, Method, PADDING_BYTES, max_batch_frames},
    plan::{self, Batch, Plan},
    shape::FrameLayout,
    source::{ByteSource, Disk},
};

/// A set with all its frames, and the pixels that count.
pub struct Loaded {
    pub set: Acquisition,
    pub engine: Engine,
    /// Neither masked nor sentinel in every frame.
    pub good: PixelSet,
}

/// Where frames go.
pub enum Machine {
    Gpu(Rc<Context>),
    Cpu,
}

/// Loads all frames of `set`; `tell` hears how many are there.
///
/// # Errors
/// `Unsupported` for layouts without bit planes, `Gpu` when memory is short, `Io` when files cannot be read any more.
pub async fn load(set: Acquisition, disks: &[Disk], machine: &Machine, tell: &dyn Fn(u32, u32)) -> Result<Loaded> {
    let block_px = set.block_px().unwrap_or(DECODED_BLOCK_PX);
    let layout = FrameLayout { detector: set.detector, dtype: set.dtype, block_px };
    let engine = match machine {
        Machine::Gpu(context) => Engine::Gpu(gpu::Engine::new(context.clone(), layout, set.frames).await?),
        Machine::Cpu => Engine::Cpu(cpu::Engine::new(layout, set.frames, Box::new(|| Box::pin(async {})))?),
    };
    match (&engine, &set.storage) {
        (Engine::Gpu(engine), Storage::BitshuffleLz4 { chunks, .. }) => {
            compressed(&set, chunks, disks, engine, tell).await?;
        }
        _ => decoded(&set, disks, &engine, tell).await?,
    }
    // What lies in no written range is in no file.
    engine.set_missing(&(0..set.frames).collect::<Vec<_>>());
    let masked = PixelSet { detector: set.detector, words: set.bad_pixels.bits(set.detector) };
    let unmasked = PixelSet::of(set.detector, |_, _| true).without(&masked);
    let census = engine.census(&unmasked).await?;
    engine.exclude(&census.sentinel_frames);
    let sentinel = PixelSet { detector: set.detector, words: census.sentinel_pixels };
    Ok(Loaded { good: unmasked.without(&sentinel), set, engine })
}

/// Bytes of a batch, as the words that the GPU takes; which of its slices could not be read.
struct Filled {
    batch: Batch,
    words: Vec<u32>,
    unread: Vec<bool>,
}

/// Chunks go to the GPU as they are.
async fn compressed(
    set: &Acquisition,
    chunks: &[FrameChunk],
    disks: &[Disk],
    engine: &gpu::Engine,
    tell: &dyn Fn(u32, u32),
) -> Result<()> {
    let (context, layout) = (engine.context(), engine.layout());
    let method = Method::default();
    let batch_frames = max_batch_frames(context, &layout, method).max(1);
    let budget = plan::Budget { batch_frames, ..BUDGET };
    let batches = Plan::new(chunks, &[], set.scan.shape, budget);
    let (frames, mut done) = (batches.frames(), 0);
    let decoder = Decoder::new(context, layout, batch_frames.min(frames), method).await?;
    let (sender, filled) = mpsc::sync_channel(BATCHES_AHEAD);
    let chunks_of = |batch: &Batch| batch.slots.len() as u32;
    thread::scope(|scope| {
        scope.spawn(move || {
            // Nobody takes them any more when decoding has failed.
            batches.map(|batch| fill(set, disks, batch)).try_for_each(|filled| sender.send(filled)).ok()
        });
        pollster::block_on(async {
            for Filled { batch, words, unread } in filled {
                let compressed = context.guarded("render.batch", || context.storage_of("render.batch", &words)).await?;
                let is_lost = |slot: &planescope::engine::Slot| {
                    let slices = batch.slices.iter().zip(&unread);
                    slices
                        .filter(|(_, unread)| **unread)
                        .any(|(slice, _)| (slice.dest..slice.dest + slice.len_bytes).contains(&slot.offset))
                };
                let (lost, slots): (Vec<_>, Vec<_>) = batch.slots.iter().copied().partition(is_lost);
                for slots in slots.chunks(decoder.batch_frames() as usize) {
                    let decoded = decoder.decode(context, &compressed, slots).await?;
                    let frames: Vec<u32> = slots.iter().map(|slot| slot.frame).collect();
                    engine.add(&decoded, &frames, &decoded.status(slots))?;
                }
                let fault = |frame| FrameFault { frame, fault: ChunkFault::Unread, block: 0 };
                engine.fail(&lost.iter().map(|slot| fault(slot.frame)).collect::<Vec<_>>());
                done += chunks_of(&batch);
                tell(done, frames);
            }
            Ok(())
        })
    })
}

fn fill(set: &Acquisition, disks: &[Disk], batch: Batch) -> Filled {
    let mut words = vec![0u32; (u64::from(batch.len_bytes) + PADDING_BYTES).div_ceil(4) as usize];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    let unread = batch.slices.iter().map(|slice| {
        let disk = set.files.get(usize::from(slice.file)).and_then(|used| disks.get(used.picked as usize));
        let part = bytes.get_mut(slice.dest as usize..(slice.dest + slice.len_bytes) as usize);
        disk.zip(part).is_none_or(|(disk, part)| disk.read_at(slice.offset, part).is_err())
    });
    let unread = unread.collect();
    Filled { batch, words, unread }
}

/// All processors decode; the engine packs what comes.
async fn decoded(set: &Acquisition, disks: &[Disk], engine: &Engine, tell: &dyn Fn(u32, u32)) -> Result<()> {
    let ranges = set.batches(JOB_BYTES);
    let (frames, mut done) = (set.readable_frames() as u32, 0);
    let left = Mutex::new(ranges.into_iter());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (sender, results) = mpsc::sync_channel(workers);
    thread::scope(|scope| {
        for _ in 0..workers {
            let (sender, left) = (sender.clone(), &left);
            scope.spawn(move || {
                let sources: Vec<&dyn ByteSource> = disks.iter().map(|disk| disk as &dyn ByteSource).collect();
                let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some(range) = next() {
                    let decoded = acquisition::decode(set, &sources, range.clone());
                    if sender.send((range, decoded)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        pollster::block_on(async {
            for (range, decoded) in results {
                done += range.end - range.start;
                add(engine, range, decoded?).await?;
                tell(done, frames);
            }
            Ok(())
        })
    })
}

async fn add(engine: &Engine, range: std::ops::Range<u32>, decoded: DecodedFrames) -> Result<()> {
    let DecodedFrames { pixels, failed, missing } = decoded;
    let frame_bytes = pixels.len() / range.len().max(1);
    let (mut frames, mut status, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for (frame, pixels) in range.zip(pixels.chunks_exact(frame_bytes.max(1))) {
        if missing.binary_search(&frame).is_ok() {
            continue;
        }
        frames.push(frame);
        status.push(failed.iter().find(|fault| fault.frame == frame).map_or(0, FrameFault::status));
        bytes.extend_from_slice(pixels);
    }
    if frames.is_empty() { Ok(()) } else { engine.add_pixels(&frames, &status, &bytes).await }
}

/// Of one upload and decode; what the page found best.
const BUDGET: plan::Budget = plan::Budget {
    batch_bytes: 64 << 20,
    first_batch_bytes: 64 << 20,
    batch_frames: 0,
    slice_bytes: 16 << 20,
    gap_bytes: 64 << 10,
};
/// Batches that are read while one is decoded.
const BATCHES_AHEAD: usize = 2;
/// Pixels that a processor decodes at a time.
const JOB_BYTES: usize = 4 << 20;
/// Block of frames that are decoded here: that of an ARINA chunk of u16.
const DECODED_BLOCK_PX: u32 = 4096;
