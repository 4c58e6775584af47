//! The fast path: compressed chunks go to the GPU as they are. Reading, uploading and decoding overlap.

use std::{
    cell::{Cell, RefCell},
    pin::pin,
    rc::Rc,
};

use futures_channel::{mpsc, oneshot};
use futures_util::{
    StreamExt,
    future::{join, join_all},
    stream,
};
use wasm_bindgen_futures::spawn_local;

use super::{Event, Job, Progress};
use crate::{
    Error, Result,
    acquisition::{Acquisition, FrameChunk},
    engine::{ChunkFault, Engine, FrameFault, Slot},
    gpu::{Buffer, Context, Decoder, Method, Staging, max_batch_frames},
    plan::{self, Batch, Slice},
    reader::{Piece, Pool, Task, cancelled},
};

/// Batches that are being read.
const DEPTH: usize = 3;
/// Decodes under way: the answers of one are awaited while the next one computes. They share the scratch.
const DECODES: usize = 2;
/// Uploads under way at a time; more than the ring has buffers.
const UPLOADS: usize = 32;

/// Everything a batch needs on its way.
struct Line {
    job: Job,
    pool: Rc<Pool>,
    context: Rc<Context>,
    staging: Staging,
    set: Rc<Acquisition>,
    progress: Cell<Progress>,
    /// Bytes of each file that are still to be read.
    left: RefCell<Vec<f64>>,
    first_read_ms: Cell<Option<f64>>,
    last_read_ms: Cell<f64>,
    last_upload_ms: Cell<f64>,
    /// Decodes under way, and since when there has been none.
    decodes: Cell<u32>,
    idle_since_ms: Cell<f64>,
}

/// A batch whose bytes are on the GPU.
struct Filled {
    buffer: Buffer,
    slots: Vec<Slot>,
    /// Frames whose bytes could not be read.
    lost: Vec<u32>,
    error: Option<Error>,
}

/// Loads all of `chunks` into `engine`.
///
/// # Errors
/// `cancelled`; `Gpu` when memory or the device fails; the read error when nothing could be read.
pub async fn load(
    job: &Job,
    pool: Rc<Pool>,
    context: Rc<Context>,
    engine: &Rc<Engine>,
    set: &Rc<Acquisition>,
    chunks: &[FrameChunk],
) -> Result<()> {
    let Engine::Gpu(gpu) = &**engine else { return Ok(()) };
    gpu.set_missing(&frames_without(chunks, set.frames));
    let tuning = job.profile.borrow().tuning.clone();
    let most_frames = max_batch_frames(&context, &engine.layout(), Method::default());
    let budget = tuning.budget((most_frames / DECODES as u32).max(1), context.adapter.is_software);
    job.profile.borrow_mut().batch_frames = budget.batch_frames;
    let batches = plan::batches(chunks, &budget);
    let largest = batches.iter().map(|batch| batch.slots.len()).max().unwrap_or_default();
    let decoder = Decoder::new(&context, engine.layout(), largest as u32, Method::default()).await?;
    let staging =
        Staging::new(&context, tuning.upload_mode, tuning.ring_buffers, u64::from(tuning.piece_bytes())).await?;
    let left = bytes_per_file(&batches, set.files.len());
    let progress = Progress {
        bytes_total: left.iter().sum(),
        frames_total: chunks.len() as u32,
        files_total: left.iter().filter(|bytes| **bytes > 0.0).count() as u32,
        ..Progress::default()
    };
    let line = Rc::new(Line {
        job: job.clone(),
        pool,
        context,
        staging,
        set: set.clone(),
        progress: Cell::new(progress),
        left: RefCell::new(left),
        first_read_ms: Cell::new(None),
        last_read_ms: Cell::new(0.0),
        last_upload_ms: Cell::new(0.0),
        decodes: Cell::new(0),
        idle_since_ms: Cell::new(job.elapsed_ms()),
    });
    let result = line.clone().run(batches, &decoder, gpu).await;
    line.note_times();
    result
}

impl Line {
    async fn run(self: Rc<Self>, batches: Vec<Batch>, decoder: &Decoder, gpu: &crate::gpu::Engine) -> Result<()> {
        let filled = stream::iter(batches).map(|batch| self.clone().fill_in_background(batch)).buffered(DEPTH);
        let decoded = filled.map(|filled| self.decode(filled.unwrap_or_else(|_| Err(cancelled())), decoder, gpu));
        let mut decoded = pin!(decoded.buffered(DECODES));
        let (mut read_any, mut read_error) = (false, None);
        while let Some(batch) = decoded.next().await {
            let filled = batch?;
            read_any |= !filled.slots.is_empty();
            read_error = read_error.or(filled.error);
            (self.job.sink)(Event::Grown);
        }
        match read_error {
            Some(error) if !read_any => Err(error),
            _ => Ok(()),
        }
    }

    /// Decodes a batch into the store; gives back what it was read from.
    async fn decode(&self, filled: Result<Filled>, decoder: &Decoder, gpu: &crate::gpu::Engine) -> Result<Filled> {
        let filled = filled?;
        let start_ms = self.job.elapsed_ms();
        if self.decodes.replace(self.decodes.get() + 1) == 0 {
            self.job.profile.borrow_mut().read_wait_ms += start_ms - self.idle_since_ms.get();
        }
        if !filled.slots.is_empty() {
            let decoded = decoder.decode(&self.context, &filled.buffer, &filled.slots).await?;
            let gpu_ms = decoded.gpu_ms(&self.context).await?;
            let mut profile = self.job.profile.borrow_mut();
            profile.gpu_wait_ms = self.job.elapsed_ms() - start_ms;
            if let Some(gpu_ms) = gpu_ms {
                *profile.gpu_decode_ms.get_or_insert(0.0) += gpu_ms;
            }
            drop(profile);
            gpu.add(decoded.into_batch(&filled.slots))?;
        }
        let lost = filled.lost.iter();
        gpu.fail(&lost.map(|&frame| FrameFault { frame, fault: ChunkFault::Unread, block: 0 }).collect::<Vec<_>>());
        self.job.stage("decode", start_ms, self.job.elapsed_ms());
        self.decodes.set(self.decodes.get() - 1);
        self.idle_since_ms.set(self.job.elapsed_ms());
        let mut progress = self.progress.get();
        progress.frames_decoded += (filled.slots.len() + filled.lost.len()) as u32;
        self.tell(progress);
        Ok(filled)
    }

    /// Reads a batch into a buffer of its own, without being waited for.
    fn fill_in_background(self: Rc<Self>, batch: Batch) -> oneshot::Receiver<Result<Filled>> {
        let (done, filled) = oneshot::channel();
        spawn_local(async move {
            let result = self.fill(batch).await;
            // Nobody waits any more when the load has ended.
            let _ = done.send(result);
        });
        filled
    }

    async fn fill(&self, batch: Batch) -> Result<Filled> {
        let buffer = self.context.batch_buffer(batch.len_bytes).await?;
        let (sender, pieces) = mpsc::unbounded();
        let reads = join_all(batch.slices.iter().map(|slice| self.read(*slice, sender.clone())));
        drop(sender);
        let uploads = pieces.map(|piece| self.upload(piece, &buffer)).buffer_unordered(UPLOADS);
        let (reads, uploads) = join(reads, uploads.collect::<Vec<_>>()).await;
        uploads.into_iter().collect::<Result<()>>()?;
        let mut lost_slices = Vec::new();
        let mut error = None;
        for (slice, read) in batch.slices.iter().zip(reads) {
            if let Err(cause) = read {
                if cause.key == "cancelled" {
                    return Err(cause);
                }
                lost_slices.push(*slice);
                (self.job.sink)(Event::Notice(cause.clone()));
                error = Some(cause);
            }
        }
        let (lost, slots): (Vec<Slot>, Vec<Slot>) =
            batch.slots.into_iter().partition(|slot| lost_slices.iter().any(|slice| holds(slice, slot)));
        Ok(Filled { buffer, slots, lost: lost.iter().map(|slot| slot.frame).collect(), error })
    }

    async fn read(&self, slice: Slice, sender: mpsc::UnboundedSender<Piece>) -> Result<()> {
        let start_ms = self.job.elapsed_ms();
        self.first_read_ms.set(Some(self.first_read_ms.get().unwrap_or(start_ms)));
        let picked = self.set.files[usize::from(slice.file)].picked;
        let piece_bytes = self.job.profile.borrow().tuning.piece_bytes();
        let sink = Rc::new(move |piece| {
            // The receiver is gone only when the batch has failed.
            let _ = sender.unbounded_send(piece);
        });
        let done = self.pool.run(Task::Read { picked, slice, piece_bytes }, sink).await?;
        let end_ms = self.job.elapsed_ms();
        self.last_read_ms.set(end_ms);
        self.job.profile.borrow_mut().read_worker_ms += done.read_ms;
        self.job.stage("read", start_ms, end_ms);
        let mut progress = self.progress.get();
        progress.bytes_read += f64::from(slice.len_bytes);
        let mut left = self.left.borrow_mut();
        left[usize::from(slice.file)] -= f64::from(slice.len_bytes);
        progress.files_done = progress.files_total - left.iter().filter(|bytes| **bytes > 0.0).count() as u32;
        drop(left);
        self.tell(progress);
        Ok(())
    }

    async fn upload(&self, piece: Piece, target: &Buffer) -> Result<()> {
        self.staging.upload(&self.context, &piece.buffer, piece.len_bytes, target, piece.dest).await?;
        self.last_upload_ms.set(self.job.elapsed_ms());
        Ok(())
    }

    fn tell(&self, mut progress: Progress) {
        progress.elapsed_ms = self.job.elapsed_ms();
        self.progress.set(progress);
        (self.job.sink)(Event::Progress(progress));
    }

    fn note_times(&self) {
        let now_ms = self.job.elapsed_ms();
        let mut profile = self.job.profile.borrow_mut();
        (profile.upload_ms, profile.map_wait_ms) = self.staging.copy_and_wait_ms();
        profile.read_ms = self.last_read_ms.get() - self.first_read_ms.get().unwrap_or_default();
        profile.upload_tail_ms = now_ms - self.last_upload_ms.get();
    }
}

fn holds(slice: &Slice, slot: &Slot) -> bool {
    slice.dest <= slot.offset && slot.offset < slice.dest + slice.len_bytes
}

/// Frames below `frames` that have no chunk. `chunks` are sorted by frame.
fn frames_without(chunks: &[FrameChunk], frames: u32) -> Vec<u32> {
    let mut chunks = chunks.iter().map(|chunk| chunk.frame).peekable();
    (0..frames).filter(|frame| chunks.next_if_eq(frame).is_none()).collect()
}

fn bytes_per_file(batches: &[Batch], files: usize) -> Vec<f64> {
    let mut bytes = vec![0.0; files];
    for slice in batches.iter().flat_map(|batch| &batch.slices) {
        bytes[usize::from(slice.file)] += f64::from(slice.len_bytes);
    }
    bytes
}
