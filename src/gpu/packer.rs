//! Pixels that the workers have decoded, to batches of resident frames.

use std::{cell::RefCell, rc::Rc};

use super::{
    context::Context,
    decode::{Decoded, PixelDecoder},
    memory::Buffer,
};
use crate::{error::Result, shape::FrameLayout};

/// Packs frames of one layout. Its passes are made when the first pixels come.
#[derive(Debug)]
pub struct Packer {
    layout: FrameLayout,
    decoder: RefCell<Option<Rc<PixelDecoder>>>,
}

/// Frames that were packed together, their numbers and their status.
pub type Packed = (Decoded, Vec<u32>, Vec<u32>);

/// Pixels that are packed at once, unless a single frame has more.
const BATCH_BYTES: usize = 8 << 20;

impl Packer {
    pub fn new(layout: FrameLayout) -> Self {
        Self { layout, decoder: RefCell::default() }
    }

    /// Frames of little-endian pixels, one after another in `bytes`; status as in [`super::planes::Batch`].
    ///
    /// # Errors
    /// `Gpu` without memory.
    pub async fn pack(&self, context: &Context, frames: &[u32], status: &[u32], bytes: &[u8]) -> Result<Vec<Packed>> {
        let decoder = self.decoder(context).await?;
        let batch_frames = decoder.batch_frames() as usize;
        let bytes = bytes.chunks(batch_frames * self.frame_bytes());
        let mut batches = Vec::new();
        for ((frames, status), bytes) in frames.chunks(batch_frames).zip(status.chunks(batch_frames)).zip(bytes) {
            let pixels = context.guarded("packer.pixels", || upload(context, bytes)).await?;
            let packed = decoder.pack(context, &pixels, frames, status).await?;
            batches.push((packed, frames.to_vec(), status.to_vec()));
        }
        Ok(batches)
    }

    async fn decoder(&self, context: &Context) -> Result<Rc<PixelDecoder>> {
        let kept = self.decoder.borrow().clone();
        if let Some(decoder) = kept {
            return Ok(decoder);
        }
        let batch_frames = (BATCH_BYTES / self.frame_bytes()).max(1);
        let decoder = Rc::new(PixelDecoder::new(context, self.layout, batch_frames as u32).await?);
        self.decoder.replace(Some(decoder.clone()));
        Ok(decoder)
    }

    fn frame_bytes(&self) -> usize {
        (self.layout.detector.pixels() * self.layout.dtype.bytes()) as usize
    }
}

fn upload(context: &Context, bytes: &[u8]) -> Result<Buffer> {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    let buffer = context.buffer("packer.pixels", bytes.len() as u64, usage)?;
    // Copies are whole words.
    let (words, rest) = bytes.split_at(bytes.len() / 4 * 4);
    context.queue.write_buffer(&buffer, 0, words);
    if !rest.is_empty() {
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        context.queue.write_buffer(&buffer, words.len() as u64, &last);
    }
    Ok(buffer)
}
