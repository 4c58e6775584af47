//! The fast path: compressed chunks go to the GPU as they are. Reading, uploading and decoding overlap; nothing on
//! this line waits for an answer that the next step does not need.

use std::{
    cell::{Cell, RefCell},
    ops::Range,
    pin::pin,
    rc::Rc,
};

use super::{Event, Job, Progress, prepared::Prepared, variants::Variants};
use crate::{
    Error, Result,
    acquisition::{Acquisition, FrameChunk, Section, Storage},
    engine::{ChunkFault, Engine, FrameFault, Slot},
    gpu::{
        Buffer, Context, Decoder, Method, PADDING_BYTES, Staging, Verdict,
        decode::{DECODES, Decoded, trial::Compressed},
        max_batch_frames,
    },
    plan::{self, Batch, Located, Plan, Slice},
    reader::{Outcome, Piece, Pool, Task, cancelled},
};
use futures_channel::mpsc;
use futures_util::{
    StreamExt,
    future::{join, join_all},
    stream,
};

/// Batches that are being read.
const READS: usize = 3;
/// Uploads under way at a time; more than the ring has buffers.
const UPLOADS: usize = 32;

/// What a load finds ready: compiled passes and upload buffers, and how it is to decode.
pub struct Equipment<'a> {
    pub prepared: &'a Prepared,
    pub variants: &'a Rc<Variants>,
    pub method: Method,
}

/// What becomes of a batch's compressed bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Afterwards {
    /// The next batch takes their place.
    Reuse,
    /// They are offered to choose a variant with.
    Offer,
    /// They stay.
    Keep,
}

/// Everything a batch needs on its way.
struct Line {
    job: Job,
    pool: Rc<Pool>,
    context: Rc<Context>,
    staging: Rc<Staging>,
    set: Rc<Acquisition>,
    progress: Cell<Progress>,
    /// Bytes of each file that are still to be read.
    left: RefCell<Vec<f64>>,
    variants: Rc<Variants>,
    afterwards: Afterwards,
    /// Buffers of batches that are decoded, for those to come.
    spare: RefCell<Vec<Rc<Buffer>>>,
    /// Frames that were read but lie outside what was read of their file.
    strays: RefCell<Vec<FrameChunk>>,
    first_read_ms: Cell<Option<f64>>,
    last_read_ms: Cell<f64>,
    last_upload_ms: Cell<f64>,
    /// Decodes under way, and since when there has been none.
    decodes: Cell<u32>,
    idle_since_ms: Cell<f64>,
}

/// A batch whose bytes are on their way to the GPU.
struct Filled {
    buffer: Rc<Buffer>,
    slots: Vec<Slot>,
    /// Frames whose bytes could not be read.
    lost: Vec<u32>,
    error: Option<Error>,
    /// Of its buffer.
    verdict: Verdict,
}

/// A batch that is decoded.
struct Unpacked {
    parts: Vec<(Vec<Slot>, Decoded)>,
    lost: Vec<u32>,
    error: Option<Error>,
}

/// Loads all frames of `set`, which the GPU can decode, into `engine`.
///
/// # Errors
/// `cancelled`; `Gpu` when memory or the device fails; the read error when nothing could be read; [`plan::IRREGULAR`]
/// when the set has to be walked first.
pub async fn load(
    job: &Job,
    pool: Rc<Pool>,
    context: Rc<Context>,
    equipment: Equipment<'_>,
    engine: &Rc<Engine>,
    set: &Rc<Acquisition>,
) -> Result<()> {
    let (Engine::Gpu(gpu), Storage::BitshuffleLz4 { chunks, sections, .. }) = (&**engine, &set.storage) else {
        return Ok(());
    };
    gpu.set_missing(&gaps(&set.readable(), set.frames));
    let tuning = job.profile.borrow().tuning.clone();
    let most_frames = max_batch_frames(&context, &engine.layout(), equipment.method);
    let budget = tuning.budget((most_frames / DECODES as u32).max(1), context.adapter.is_software);
    job.profile.borrow_mut().batch_frames = budget.batch_frames;
    let batches = Plan::new(chunks, sections, set.scan.shape, budget);
    let frames_total = batches.frames();
    let Equipment { prepared, variants, method } = equipment;
    let most_frames = budget.batch_frames.min(frames_total);
    let decoder = prepared.decoder(&context, engine.layout(), most_frames, method).await?;
    job.profile.borrow_mut().decode_variant = decoder.method().name();
    job.profile.borrow_mut().decode_choice = variants.choice().map(|choice| choice.words());
    let staging = prepared.staging(&context, &tuning).await?;
    staging.take_copy_and_wait_ms();
    let left = batches.bytes_per_file(set.files.len());
    let (room, verdict) = decoder.expect(&context, left.iter().sum::<f64>() as u64, frames_total);
    room?;
    let progress = Progress {
        bytes_total: left.iter().sum(),
        frames_total,
        files_total: left.iter().filter(|bytes| **bytes > 0.0).count() as u32,
        ..Progress::default()
    };
    let is_chosen = variants.choice().is_some() || !context.adapter.has_timestamps;
    let afterwards = match tuning.keep_compressed {
        true => Afterwards::Keep,
        false if !is_chosen && tuning.choose_variant.unwrap_or(!context.adapter.is_software) => Afterwards::Offer,
        false => Afterwards::Reuse,
    };
    let line = Rc::new(Line {
        job: job.clone(),
        pool,
        context,
        staging,
        set: set.clone(),
        progress: Cell::new(progress),
        left: RefCell::new(left),
        variants: variants.clone(),
        afterwards,
        spare: RefCell::default(),
        strays: RefCell::default(),
        first_read_ms: Cell::new(None),
        last_read_ms: Cell::new(0.0),
        last_upload_ms: Cell::new(0.0),
        decodes: Cell::new(0),
        idle_since_ms: Cell::new(job.elapsed_ms()),
    });
    let mut result = line.clone().run(batches, &decoder, gpu).await;
    if result.is_ok() {
        let mut strays = line.strays.take();
        strays.sort_by_key(|stray| stray.frame);
        result = line.clone().run(Plan::new(&strays, &[], set.scan.shape, budget), &decoder, gpu).await;
    }
    line.note_times();
    verdict.await?;
    // Uploads are not watched one by one.
    line.context.unwatched_trouble_since(job.errors_before)?;
    result
}

impl Line {
    async fn run(self: Rc<Self>, batches: Plan<'_>, decoder: &Decoder, gpu: &crate::gpu::Engine) -> Result<()> {
        let filled = stream::iter(batches).map(|batch| self.fill(batch)).buffered(READS);
        let mut unpacked = pin!(filled.map(|filled| self.unpack(filled, decoder)).buffered(decoder.at_once()));
        let (mut read_any, mut read_error) = (false, None);
        while let Some(batch) = unpacked.next().await {
            let Unpacked { parts, lost, error } = batch?;
            read_any |= !parts.is_empty();
            read_error = read_error.or(error);
            self.keep(parts, &lost, gpu)?;
        }
        match read_error {
            Some(error) if !read_any => Err(error),
            _ => Ok(()),
        }
    }

    /// Decodes a batch.
    async fn unpack(&self, filled: Result<Filled>, decoder: &Decoder) -> Result<Unpacked> {
        let Filled { buffer, slots, lost, error, verdict } = filled?;
        if self.job.is_stopped.get() {
            return Err(cancelled());
        }
        let start_ms = self.job.elapsed_ms();
        if self.decodes.replace(self.decodes.get() + 1) == 0 {
            self.job.profile.borrow_mut().read_wait_ms += start_ms - self.idle_since_ms.get();
        }
        let mut parts = Vec::new();
        // A section may hold more frames than a batch should.
        for slots in slots.chunks(decoder.batch_frames() as usize) {
            let (decoded, verdict) = decoder.decode_ahead(&self.context, &buffer, slots).await?;
            parts.push((slots.to_vec(), decoded, verdict));
        }
        self.decodes.set(self.decodes.get() - 1);
        self.idle_since_ms.set(self.job.elapsed_ms());
        self.put_away(buffer, &slots);
        verdict.await?;
        self.context.unwatched_trouble_since(self.job.errors_before)?;
        let mut unpacked = Unpacked { parts: Vec::new(), lost, error };
        for (slots, decoded, verdict) in parts {
            let (gpu_ms, verdict) = join(decoded.gpu_ms(&self.context), verdict).await;
            verdict?;
            if let Some(gpu_ms) = gpu_ms? {
                *self.job.profile.borrow_mut().gpu_decode_ms.get_or_insert(0.0) += gpu_ms;
            }
            unpacked.parts.push((slots, decoded));
        }
        self.job.profile.borrow_mut().gpu_wait_ms = self.job.elapsed_ms() - start_ms;
        self.job.stage("decode", start_ms, self.job.elapsed_ms());
        Ok(unpacked)
    }

    /// Brings a batch into the store.
    fn keep(&self, parts: Vec<(Vec<Slot>, Decoded)>, lost: &[u32], gpu: &crate::gpu::Engine) -> Result<()> {
        let mut progress = self.progress.get();
        for (slots, decoded) in parts {
            if self.set.is_outlined() {
                let mut profile = self.job.profile.borrow_mut();
                profile.chunks += slots.len() as u32;
                profile.compressed_gb += slots.iter().map(|slot| f64::from(slot.len_bytes)).sum::<f64>() / 1e9;
            }
            let frames: Vec<u32> = slots.iter().map(|slot| slot.frame).collect();
            gpu.add(&decoded, &frames, &decoded.status(&slots))?;
            progress.frames_decoded += slots.len() as u32;
        }
        let lost = lost.iter().map(|&frame| FrameFault { frame, fault: ChunkFault::Unread, block: 0 });
        let lost: Vec<FrameFault> = lost.collect();
        gpu.fail(&lost);
        progress.frames_decoded += lost.len() as u32;
        self.tell(progress);
        (self.job.sink)(Event::Grown);
        Ok(())
    }

    fn put_away(&self, buffer: Rc<Buffer>, slots: &[Slot]) {
        let batch = |buffer| Compressed { buffer, slots: slots.to_vec() };
        match self.afterwards {
            Afterwards::Reuse => self.spare.borrow_mut().push(buffer),
            Afterwards::Offer => self.variants.offer(batch(buffer)),
            Afterwards::Keep => self.variants.keep(batch(buffer)),
        }
    }

    async fn fill(&self, batch: Batch) -> Result<Filled> {
        let (buffer, verdict) = self.batch_buffer(batch.len_bytes)?;
        let (sender, pieces) = mpsc::unbounded();
        let parts = batch.slices.iter().zip(&batch.sections).zip(&batch.wanted);
        let reads = parts.map(|((slice, sections), &wanted)| self.read(*slice, sections, wanted, sender.clone()));
        let reads = join_all(reads);
        drop(sender);
        let uploads = pieces.map(|piece| self.upload(piece, &buffer)).buffer_unordered(UPLOADS);
        let (reads, uploads) = join(reads, uploads.collect::<Vec<_>>()).await;
        uploads.into_iter().collect::<Result<()>>()?;
        self.staging.flush(&self.context);
        let mut filled = Filled { buffer, slots: Vec::new(), lost: Vec::new(), error: None, verdict };
        let mut slots = batch.slots.into_iter().peekable();
        for ((slice, sections), read) in batch.slices.iter().zip(&batch.sections).zip(reads) {
            // Slots come in the order of the slices.
            let own = std::iter::from_fn(|| slots.next_if(|slot| slot.offset < slice.dest + slice.len_bytes));
            match read {
                Ok(located) => {
                    filled.slots.extend(own);
                    filled.slots.extend(located.slots);
                    self.strays.borrow_mut().extend(located.strays);
                }
                Err(cause) if matches!(&*cause.key, "cancelled" | plan::IRREGULAR) => return Err(cause),
                Err(cause) => {
                    filled.lost.extend(own.map(|slot| slot.frame));
                    filled.lost.extend(sections.iter().flat_map(|of| of.frame..of.frame + of.frames));
                    (self.job.sink)(Event::Notice(cause.clone()));
                    filled.error = Some(cause);
                }
            }
        }
        Ok(filled)
    }

    /// A buffer that is not in use any more and large enough, or a new one; zeros behind the batch.
    fn batch_buffer(&self, len_bytes: u32) -> Result<(Rc<Buffer>, Verdict)> {
        let mut spare = self.spare.borrow_mut();
        let has_room = |buffer: &Rc<Buffer>| buffer.size() >= u64::from(len_bytes) + PADDING_BYTES;
        if let Some(place) = spare.iter().position(has_room) {
            let buffer = spare.swap_remove(place);
            let verdict = self.context.pad_batch(&buffer, len_bytes);
            return Ok((buffer, verdict));
        }
        // One that is too small is of no use to the larger batches that follow.
        spare.pop();
        let (buffer, verdict) = self.context.batch_buffer(len_bytes);
        Ok((Rc::new(buffer?), verdict))
    }

    async fn read(
        &self,
        slice: Slice,
        sections: &[Section],
        wanted: u64,
        sender: mpsc::UnboundedSender<Piece>,
    ) -> Result<Located> {
        let start_ms = self.job.elapsed_ms();
        self.first_read_ms.set(Some(self.first_read_ms.get().unwrap_or(start_ms)));
        let picked = self.set.files[usize::from(slice.file)].picked;
        let piece_bytes = self.job.profile.borrow().tuning.piece_bytes();
        let sink = Rc::new(move |piece| {
            // The receiver is gone only when the batch has failed.
            let _ = sender.unbounded_send(piece);
        });
        let task = Task::Read { picked, slice, sections: sections.to_vec(), piece_bytes };
        let done = self.pool.run(task, sink).await?;
        let end_ms = self.job.elapsed_ms();
        self.last_read_ms.set(end_ms);
        self.job.profile.borrow_mut().read_worker_ms += done.read_ms;
        self.job.stage("read", start_ms, end_ms);
        let mut progress = self.progress.get();
        let mut left = self.left.borrow_mut();
        let left_of_file = &mut left[usize::from(slice.file)];
        // Strays are read a second time; they count once.
        let new = (wanted as f64).min(*left_of_file);
        progress.bytes_read += new;
        *left_of_file -= new;
        progress.files_done = progress.files_total - left.iter().filter(|bytes| **bytes > 0.0).count() as u32;
        drop(left);
        self.tell(progress);
        match done.outcome {
            Outcome::Read(located) => Ok(located),
            _ => Ok(Located::default()),
        }
    }

    async fn upload(&self, piece: Piece, target: &Rc<Buffer>) -> Result<()> {
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
        (profile.upload_ms, profile.map_wait_ms) = self.staging.take_copy_and_wait_ms();
        profile.read_ms = self.last_read_ms.get() - self.first_read_ms.get().unwrap_or_default();
        profile.upload_tail_ms = now_ms - self.last_upload_ms.get();
    }
}

/// Frames below `frames` outside the sorted `runs`.
fn gaps(runs: &[Range<u32>], frames: u32) -> Vec<u32> {
    let starts = [0].into_iter().chain(runs.iter().map(|run| run.end));
    let ends = runs.iter().map(|run| run.start).chain([frames]);
    starts.zip(ends).flat_map(|(start, end)| start..end).collect()
}
