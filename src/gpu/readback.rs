//! Bytes from the GPU: copied into a mappable buffer, mapped when the GPU has come that far.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
    task::{Poll, Waker},
};

use super::{context::Context, memory::Buffer};
use crate::error::{Error, Kind, Result};

/// A buffer that one submission fills and [`Readback::request`] then reads, as often as needed.
#[derive(Debug)]
pub struct Readback {
    buffer: Buffer,
}

impl Readback {
    /// # Errors
    /// As [`Context::buffer`].
    pub fn new(context: &Context, label: &str, bytes: u64) -> Result<Self> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        Ok(Self { buffer: context.buffer(label, bytes, usage)? })
    }

    /// Records the copy of `bytes` (a multiple of 4) from `source` at `from` to `to` of this buffer.
    pub fn record(&self, encoder: &mut wgpu::CommandEncoder, source: &wgpu::Buffer, from: u64, to: u64, bytes: u64) {
        encoder.copy_buffer_to_buffer(source, from, &self.buffer, to, bytes);
    }

    /// Asks for the first `len` bytes (a multiple of 4) as they will be when everything submitted before has run.
    pub fn request(&self, len: u64) -> Requested<'_> {
        let requested = Requested { buffer: &self.buffer, len, answer: Arc::default() };
        let told = requested.answer.clone();
        self.buffer.slice(..len.min(self.buffer.size())).map_async(wgpu::MapMode::Read, move |result| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.result = Some(result);
            if let Some(waker) = told.waker.take() {
                waker.wake();
            }
        });
        requested
    }

    /// The first `len` bytes.
    ///
    /// # Errors
    /// `Gpu` when the buffer cannot be mapped, e.g. because the device was lost.
    pub async fn bytes(&self, context: &Context, len: u64) -> Result<Vec<u8>> {
        let words = self.request(len.next_multiple_of(4)).words(context).await?;
        let mut bytes = bytemuck::cast_slice(&words).to_vec();
        bytes.truncate(len as usize);
        Ok(bytes)
    }

    /// The first `len` words.
    ///
    /// # Errors
    /// `Gpu` when the buffer cannot be mapped, e.g. because the device was lost.
    pub async fn words(&self, context: &Context, len: u64) -> Result<Vec<u32>> {
        self.request(4 * len).words(context).await
    }
}

/// Bytes of a [`Readback`] that are on their way.
#[derive(Debug)]
pub struct Requested<'a> {
    buffer: &'a Buffer,
    len: u64,
    answer: Arc<Mutex<Answer>>,
}

impl Requested<'_> {
    /// All of them, as words. A native device is polled here; a browser wakes the task by itself.
    ///
    /// # Errors
    /// `Gpu` when the buffer cannot be mapped, e.g. because the device was lost.
    pub async fn words(self, context: &Context) -> Result<Vec<u32>> {
        context.device.poll(wgpu::PollType::wait_indefinitely()).map_err(map_error)?;
        poll_fn(|task| {
            let mut answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
            match answer.result.take() {
                Some(result) => Poll::Ready(result),
                None => {
                    answer.waker = Some(task.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
        .map_err(map_error)?;
        let mut words = vec![0; (self.len.min(self.buffer.size()) / 4) as usize];
        copy_mapped(self.buffer, bytemuck::cast_slice_mut(&mut words))?;
        self.buffer.unmap();
        Ok(words)
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn copy_mapped(buffer: &Buffer, bytes: &mut [u8]) -> Result<()> {
    let range = buffer.slice(..bytes.len() as u64).get_mapped_range().map_err(map_error)?;
    bytes.copy_from_slice(&range);
    Ok(())
}

/// wgpu's own view of a mapped range would be a second copy in wasm memory.
#[cfg(target_arch = "wasm32")]
fn copy_mapped(buffer: &Buffer, bytes: &mut [u8]) -> Result<()> {
    let refused = || map_error("the buffer is not mapped");
    let raw = buffer.as_webgpu().ok_or_else(refused)?;
    let range = raw.get_mapped_range_with_f64_and_f64(0.0, bytes.len() as f64).map_err(|_| refused())?;
    js_sys::Uint8Array::new(&range).copy_to(bytes);
    Ok(())
}

impl Context {
    /// Copies `len` bytes of `buffer` from `offset` (multiples of 4) out of the GPU.
    ///
    /// # Errors
    /// As [`Context::submit`] and [`Readback::bytes`].
    pub async fn read_bytes(&self, buffer: &wgpu::Buffer, offset: u64, len: u64) -> Result<Vec<u8>> {
        if len == 0 {
            return Ok(Vec::new());
        }
        let readback = Readback::new(self, "context.readback", len)?;
        let (copied, verdict) = self.submit_watched("context.readback", |encoder| {
            readback.record(encoder, buffer, offset, 0, len);
            Ok(())
        });
        copied?;
        let bytes = readback.bytes(self, len).await;
        verdict.await?;
        bytes
    }

    /// Copies `len` words of `buffer` from word `first` out of the GPU.
    ///
    /// # Errors
    /// As [`Context::read_bytes`].
    pub async fn read_words(&self, buffer: &wgpu::Buffer, first: u64, len: u64) -> Result<Vec<u32>> {
        Ok(bytemuck::pod_collect_to_vec(&self.read_bytes(buffer, 4 * first, 4 * len).await?))
    }
}

#[derive(Debug, Default)]
struct Answer {
    result: Option<Result<(), wgpu::BufferAsyncError>>,
    waker: Option<Waker>,
}

fn map_error(error: impl std::fmt::Display) -> Error {
    Error::new(Kind::Gpu, "gpu_readback", "A result could not be read from the graphics card").found(error.to_string())
}
