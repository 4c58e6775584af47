//! The other path: workers decode frames to pixels, for formats that the GPU does not decode and for
//! the CPU engine. From here on both are the same.

use std::{cell::RefCell, collections::VecDeque, rc::Rc};

use futures_channel::oneshot;
use js_sys::Uint8Array;
use wasm_bindgen_futures::spawn_local;

use super::{Event, Job, Progress};
use crate::{
    Result,
    acquisition::Acquisition,
    engine::Engine,
    reader::{Done, Outcome, Pool, Task, cancelled},
};

/// Pixel bytes of one job: some frames, and a picture that grows.
const JOB_BYTES: usize = 4 << 20;

/// The pixels of one job.
struct Decoded {
    first: u32,
    count: u32,
    pixels: Vec<u8>,
    done: Done,
}

/// Decodes all frames of `set` (the `which`-th of the walk) in the workers and adds them to `engine`.
///
/// # Errors
/// `cancelled`, what the workers say, or `Gpu` errors of the engine.
pub async fn load(job: &Job, pool: Rc<Pool>, engine: &Rc<Engine>, set: &Rc<Acquisition>, which: u32) -> Result<()> {
    let frame_bytes = set.detector.pixels() * set.dtype.bytes();
    let mut ranges = set.batches(JOB_BYTES).into_iter();
    let frames_total = set.frames;
    let mut progress = Progress {
        bytes_total: f64::from(frames_total) * f64::from(frame_bytes),
        frames_total,
        files_total: set.files.len() as u32,
        ..Progress::default()
    };
    let mut running = VecDeque::new();
    loop {
        while running.len() < 2 * pool.workers() as usize
            && let Some(range) = ranges.next()
        {
            let (first, count) = (range.start, range.end - range.start);
            running.push_back(start(
                pool.clone(),
                Task::Decode { options: job.options.clone(), set: which, first, count },
                first,
                count,
            ));
        }
        let Some(next) = running.pop_front() else { break };
        let start_ms = job.elapsed_ms();
        let decoded = next.await.unwrap_or_else(|_| Err(cancelled()))?;
        job.profile.borrow_mut().read_wait_ms += job.elapsed_ms() - start_ms;
        progress.frames_decoded += decoded.count;
        progress.bytes_read += f64::from(decoded.count) * f64::from(frame_bytes);
        add(job, engine, decoded).await?;
        job.stage("decode", start_ms, job.elapsed_ms());
        progress.elapsed_ms = job.elapsed_ms();
        (job.sink)(Event::Progress(progress));
        (job.sink)(Event::Grown);
    }
    // What lies in no written range is in no file.
    engine.set_missing(&(0..set.frames).collect::<Vec<_>>());
    Ok(())
}

/// Asks for the frames without waiting for them.
fn start(pool: Rc<Pool>, task: Task, first: u32, count: u32) -> oneshot::Receiver<Result<Decoded>> {
    let (sender, receiver) = oneshot::channel();
    spawn_local(async move {
        let pixels = Rc::new(RefCell::new(Vec::new()));
        let filled = pixels.clone();
        let sink = Rc::new(move |piece: crate::reader::Piece| {
            let bytes = Uint8Array::new_with_byte_offset_and_length(&piece.buffer, 0, piece.len_bytes);
            *filled.borrow_mut() = bytes.to_vec();
        });
        let result = pool.run(task, sink).await;
        let result = result.map(|done| Decoded { first, count, pixels: pixels.take(), done });
        // Nobody waits any more when the load has ended.
        let _ = sender.send(result);
    });
    receiver
}

async fn add(job: &Job, engine: &Engine, decoded: Decoded) -> Result<()> {
    let Outcome::Decoded { failed, missing } = decoded.done.outcome else { return Ok(()) };
    job.profile.borrow_mut().read_worker_ms += decoded.done.read_ms;
    let frames: Vec<u32> = (decoded.first..decoded.first + decoded.count).collect();
    let mut status = vec![0; frames.len()];
    for fault in &failed {
        status[(fault.frame - decoded.first) as usize] = fault.status();
    }
    let is_present = |frame: &u32| !missing.contains(frame);
    let frame_bytes = decoded.pixels.len() / frames.len().max(1);
    let (mut kept, mut kept_status, mut kept_pixels) = (Vec::new(), Vec::new(), Vec::new());
    for (at, frame) in frames.iter().enumerate().filter(|(_, frame)| is_present(frame)) {
        kept.push(*frame);
        kept_status.push(status[at]);
        kept_pixels.extend_from_slice(&decoded.pixels[at * frame_bytes..(at + 1) * frame_bytes]);
    }
    engine.set_missing(&missing);
    if kept.is_empty() { Ok(()) } else { engine.add_pixels(&kept, &kept_status, &kept_pixels).await }
}
