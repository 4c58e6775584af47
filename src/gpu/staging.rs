//! From a reader's buffer into the batch buffer on the GPU: the only place where bytes are copied on
//! the main thread, and they never enter wasm memory.
//!
//! Measured in Chrome, GB/s: a ring of mapped buffers 9-12, `writeBuffer` 1.4-2.2, a fresh
//! `mappedAtCreation` buffer per piece 1.5-3.1.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use futures_channel::mpsc;
use futures_util::{StreamExt, lock::Mutex};
use js_sys::{ArrayBuffer, Function, Promise, Reflect, Uint8Array};
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, closure::Closure};
use wasm_bindgen_futures::JsFuture;

use super::{Buffer, Context, PADDING_BYTES, Verdict};
use crate::{Error, Kind, Result};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UploadMode {
    /// Buffers that stay mapped ahead of use.
    #[default]
    Ring,
    WriteBuffer,
    MappedAtCreation,
}

/// A ring of mapped upload buffers, all of one size.
pub struct Staging {
    mode: UploadMode,
    bytes: u64,
    mapped: Mutex<mpsc::UnboundedReceiver<Buffer>>,
    remapped: mpsc::UnboundedSender<Buffer>,
    /// Written, but not yet copied.
    written: RefCell<Vec<Written>>,
    /// So many are copied with one submission.
    together: usize,
    failed: Rc<Cell<bool>>,
    copy_ms: Cell<f64>,
    wait_ms: Cell<f64>,
    /// Copying since the page had its turn.
    slice_ms: Cell<f64>,
}

/// An upload buffer with `len` bytes for byte `dest` of `target`.
struct Written {
    buffer: Buffer,
    target: Rc<Buffer>,
    dest: u32,
    len: u32,
}

impl Staging {
    /// `count` buffers of `bytes` each (a multiple of 4), mapped already.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub async fn new(context: &Context, mode: UploadMode, count: u32, bytes: u64) -> Result<Self> {
        let (remapped, mapped) = mpsc::unbounded();
        let staging = Self {
            mode,
            bytes,
            mapped: Mutex::new(mapped),
            remapped,
            written: RefCell::default(),
            together: if mode == UploadMode::Ring { (count / 4).max(1) as usize } else { 1 },
            failed: Rc::default(),
            copy_ms: Cell::default(),
            wait_ms: Cell::default(),
            slice_ms: Cell::default(),
        };
        if mode == UploadMode::Ring {
            let ring = || (0..count.max(1)).map(|_| upload_buffer(context, bytes)).collect::<Result<Vec<_>>>();
            let ring = context.guarded("staging.ring", ring).await?;
            ring.into_iter().for_each(|buffer| staging.map(buffer));
        }
        Ok(staging)
    }

    /// True when a buffer could not be mapped: nothing can be uploaded any more.
    pub fn is_lost(&self) -> bool {
        self.failed.get()
    }

    /// Milliseconds that the main thread spent copying, and that uploads waited for a mapped buffer, since this was
    /// asked last.
    pub fn take_copy_and_wait_ms(&self) -> (f64, f64) {
        (self.copy_ms.take(), self.wait_ms.take())
    }

    /// Copies the first `len` bytes of `piece` to byte `dest` (a multiple of 4) of `target`. Up to 3
    /// bytes after them are overwritten with whatever the piece's buffer holds. The copy is on its way after
    /// [`Staging::flush`]; what the device has against it shows in [`Context::unwatched_trouble_since`].
    ///
    /// # Errors
    /// `Internal` for a piece larger than the ring's buffers; `Gpu` when a buffer cannot be mapped.
    pub async fn upload(
        &self,
        context: &Context,
        piece: &ArrayBuffer,
        len: u32,
        target: &Rc<Buffer>,
        dest: u32,
    ) -> Result<()> {
        let padded = len.next_multiple_of(4).min(piece.byte_length());
        if u64::from(padded) > self.bytes || !padded.is_multiple_of(4) {
            return Err(Error::new(Kind::Internal, "piece_size", "A piece does not fit the upload buffers"));
        }
        let bytes = Uint8Array::new_with_byte_offset_and_length(piece, 0, padded);
        if self.mode == UploadMode::WriteBuffer {
            return self.write(context, &bytes, target, dest);
        }
        let started = now_ms();
        let buffer = match self.mode {
            UploadMode::Ring => self.next_mapped().await?,
            _ => mapped_at_creation(context, self.bytes)?,
        };
        self.wait_ms.set(self.wait_ms.get() + now_ms() - started);
        if self.failed.get() {
            return Err(lost_ring());
        }
        let started = now_ms();
        let raw = buffer.as_webgpu();
        let range = raw.and_then(|raw| raw.get_mapped_range_with_u32_and_u32(0, padded).ok());
        let Some(range) = range else {
            // The ring would be one buffer short for ever.
            self.failed.set(true);
            return Err(lost_ring());
        };
        Uint8Array::new(&range).set(&bytes, 0);
        buffer.unmap();
        self.copied_for(now_ms() - started);
        let written = Written { buffer, target: target.clone(), dest, len: padded };
        self.written.borrow_mut().push(written);
        if self.written.borrow().len() >= self.together {
            self.flush(context);
        }
        Ok(())
    }

    async fn next_mapped(&self) -> Result<Buffer> {
        // Whoever waits for the next turn holds the others back, too.
        let mut mapped = self.mapped.lock().await;
        if self.slice_ms.get() > SLICE_MS {
            self.slice_ms.set(0.0);
            next_turn().await;
        }
        mapped.next().await.ok_or_else(lost_ring)
    }

    fn copied_for(&self, ms: f64) {
        self.copy_ms.set(self.copy_ms.get() + ms);
        self.slice_ms.set(self.slice_ms.get() + ms);
    }

    /// Submits the copies of all uploads so far.
    pub fn flush(&self, context: &Context) {
        let written = self.written.take();
        if written.is_empty() {
            return;
        }
        let label = Some("staging.upload");
        let mut encoder = context.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
        for Written { buffer, target, dest, len } in &written {
            encoder.copy_buffer_to_buffer(buffer, 0, target, u64::from(*dest), u64::from(*len));
        }
        context.queue.submit([encoder.finish()]);
        if self.mode == UploadMode::Ring {
            written.into_iter().for_each(|written| self.map(written.buffer));
        }
    }

    fn write(&self, context: &Context, bytes: &Uint8Array, target: &wgpu::Buffer, dest: u32) -> Result<()> {
        let started = now_ms();
        let queue = context.queue.as_webgpu().ok_or_else(lost_ring)?;
        let target = target.as_webgpu().ok_or_else(lost_ring)?;
        queue.write_buffer_with_u32_and_u8_array(target, dest, bytes).map_err(|_| lost_ring())?;
        self.copy_ms.set(self.copy_ms.get() + now_ms() - started);
        Ok(())
    }

    /// Puts `buffer` back into the ring once it is mapped again; does not wait for that.
    fn map(&self, buffer: Buffer) {
        let handle = (*buffer).clone();
        let (remapped, failed) = (self.remapped.clone(), self.failed.clone());
        handle.slice(..).map_async(wgpu::MapMode::Write, move |result| {
            if result.is_err() {
                failed.set(true);
                remapped.close_channel();
                return;
            }
            // The receiver is gone only when the whole load is.
            let _ = remapped.unbounded_send(buffer);
        });
    }
}

impl Context {
    /// A buffer for `len_bytes` compressed bytes of a batch and the padding behind them.
    ///
    /// # Errors
    /// As [`Context::buffer`]; the verdict as [`Context::watched`].
    pub fn batch_buffer(&self, len_bytes: u32) -> (Result<Buffer>, Verdict) {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        let bytes = u64::from(len_bytes) + PADDING_BYTES;
        self.watched("staging.batch", || self.buffer("staging.batch", bytes, usage))
    }

    /// Zeroes the padding behind the first `len_bytes` (a multiple of 4) of a buffer that held another batch before.
    pub fn pad_batch(&self, buffer: &Buffer, len_bytes: u32) -> Verdict {
        let padded = self.submit_watched("staging.padding", |encoder| {
            encoder.clear_buffer(buffer, len_bytes.into(), Some(PADDING_BYTES));
            Ok(())
        });
        padded.1
    }
}

fn upload_buffer(context: &Context, bytes: u64) -> Result<Buffer> {
    context.buffer("staging.buffer", bytes, wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC)
}

/// A buffer that is mapped from the start; rival of the ring.
fn mapped_at_creation(context: &Context, bytes: u64) -> Result<Buffer> {
    context.mapped_buffer("staging.fresh", bytes, wgpu::BufferUsages::COPY_SRC)
}

fn lost_ring() -> Error {
    Error::new(Kind::Gpu, "gpu_upload", "Data could not be handed to the graphics card")
        .action("Reload the page; the graphics driver may have been reset")
}

fn now_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |clock| clock.now())
}

/// The page gets its turn after so much copying.
const SLICE_MS: f64 = 5.0;

/// Lets the page do what else there is to do (<https://wicg.github.io/scheduling-apis/#dom-scheduler-posttask>); timers
/// would wait 4 ms each time.
async fn next_turn() {
    let scheduler = Reflect::get(&js_sys::global(), &"scheduler".into()).unwrap_or_default();
    let post = Reflect::get(&scheduler, &"postTask".into()).ok().and_then(|post| post.dyn_into::<Function>().ok());
    let nothing = Closure::once_into_js(|| ());
    let task =
        post.and_then(|post| post.call1(&scheduler, &nothing).ok()).and_then(|task| task.dyn_into::<Promise>().ok());
    match task {
        // A task that does nothing does not fail.
        Some(task) => drop(JsFuture::from(task).await),
        None => gloo_timers::future::TimeoutFuture::new(0).await,
    }
}
