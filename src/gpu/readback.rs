//! Bytes from the GPU: copied into a mappable buffer, mapped when the GPU has come that far.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, PoisonError},
    task::{Poll, Waker},
};

use super::{context::Context, memory::Buffer};
use crate::error::{Error, Kind, Result};

/// A buffer that one submission fills and [`Readback::bytes`] then reads, as often as needed.
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

    /// The first `len` bytes, once everything submitted before has run. A native device is polled here;
    /// a browser wakes the task by itself.
    ///
    /// # Errors
    /// `Gpu` when the buffer cannot be mapped, e.g. because the device was lost.
    pub async fn bytes(&self, context: &Context, len: u64) -> Result<Vec<u8>> {
        let slice = self.buffer.slice(..len.next_multiple_of(4).min(self.buffer.size()));
        let answer = Arc::new(Mutex::new(Answer::default()));
        let told = answer.clone();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            told.result = Some(result);
            if let Some(waker) = told.waker.take() {
                waker.wake();
            }
        });
        context.device.poll(wgpu::PollType::wait_indefinitely()).map_err(map_error)?;
        poll_fn(|task| {
            let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
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
        let mut bytes = slice.get_mapped_range().map_err(map_error)?.to_vec();
        self.buffer.unmap();
        bytes.truncate(len as usize);
        Ok(bytes)
    }

    /// The first `len` words.
    ///
    /// # Errors
    /// As [`Readback::bytes`].
    pub async fn words(&self, context: &Context, len: u64) -> Result<Vec<u32>> {
        Ok(words_of(&self.bytes(context, 4 * len).await?))
    }
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
        Ok(words_of(&self.read_bytes(buffer, 4 * first, 4 * len).await?))
    }
}

#[derive(Default)]
struct Answer {
    result: Option<Result<(), wgpu::BufferAsyncError>>,
    waker: Option<Waker>,
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

fn map_error(error: impl std::fmt::Display) -> Error {
    Error::new(Kind::Gpu, "gpu_readback", "A result could not be read from the graphics card").found(error.to_string())
}
