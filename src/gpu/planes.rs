//! The resident frames on the GPU: batches of records (the form is that of [`crate::cpu::planes`]) and the
//! buffers that every pass over them binds first.

use std::cell::RefCell;

use super::{
    context::Context,
    memory::Buffer,
    pass::{Binding, Pass},
};
use crate::{
    cpu::{self, planes::mask_words},
    engine::PixelSet,
    error::Result,
    shape::FrameLayout,
    uniform,
};

uniform! {
    /// What the shaders know of a frame; see [`FrameLayout`].
    pub struct FrameShape {
        pixels: u32,
        cols: u32,
        block_px: u32,
        blocks: u32,
        plane_words: u32,
        last_plane_words: u32,
        bits: u32,
        is_signed: u32,
    }
}

impl FrameShape {
    pub fn of(layout: &FrameLayout) -> Self {
        let blocks = layout.blocks();
        Self {
            pixels: layout.detector.pixels(),
            cols: layout.detector.cols,
            block_px: layout.block_px,
            blocks,
            plane_words: layout.plane_words(0),
            last_plane_words: layout.plane_words(blocks - 1),
            bits: layout.dtype.bits(),
            is_signed: layout.dtype.is_signed().into(),
        }
    }
}

/// The first bindings of a pass over resident frames, one input and one output after them.
pub const BINDINGS: &[Binding] =
    &[Binding::Uniform, Binding::Read, Binding::Read, Binding::Read, Binding::Read, Binding::Read, Binding::Write];

/// Frames that were decoded together; every buffer has exactly the size it needs.
#[derive(Debug)]
pub struct Batch {
    words: Buffer,
    table: Buffer,
    slots: Buffer,
    /// Slot -> frame index (scan position, row-major).
    pub frames: Vec<u32>,
    /// Slot -> 0 (valid), or a [`crate::engine::ChunkFault`] with the block in the upper 24 bits.
    pub status: Vec<u32>,
}

impl Batch {
    /// A batch of records on the GPU; `words` and `table` as in [`cpu::planes::Batch`], `slots` holds frame and
    /// status of each slot, as `frames` and `status` do here.
    pub fn new(words: Buffer, table: Buffer, slots: Buffer, frames: Vec<u32>, status: Vec<u32>) -> Self {
        Self { words, table, slots, frames, status }
    }

    /// A batch of records packed in main memory.
    ///
    /// # Errors
    /// `Gpu` without memory.
    pub fn upload(context: &Context, batch: &cpu::planes::Batch) -> Result<Self> {
        let slots: Vec<u32> = batch.frames.iter().zip(&batch.status).flat_map(|(&f, &status)| [f, status]).collect();
        let words = context.storage_of("planes.words", &batch.words)?;
        let table = context.storage_of("planes.table", &batch.table)?;
        let slots = context.storage_of("planes.slots", &slots)?;
        Ok(Self::new(words, table, slots, batch.frames.clone(), batch.status.clone()))
    }

    pub fn slots(&self) -> u32 {
        self.frames.len() as u32
    }

    /// True when a frame of the bit set `chosen` lies here.
    pub fn holds_any(&self, chosen: &[u32]) -> bool {
        self.frames.iter().any(|frame| chosen[*frame as usize / 32] >> (frame % 32) & 1 == 1)
    }

    pub fn len_bytes(&self) -> u64 {
        self.words.size() + self.table.size() + self.slots.size()
    }
}

/// The input and the output of a request, and what was bound to them so far.
#[derive(Debug)]
pub struct Place {
    pub input: Buffer,
    pub output: Buffer,
    /// Batch number -> its bindings with these two.
    bindings: RefCell<Vec<Option<wgpu::BindGroup>>>,
}

impl Place {
    /// # Errors
    /// As [`Context::buffer`].
    pub fn new(context: &Context, input_bytes: u64, output_bytes: u64) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let buffer =
            |label: &str, bytes| context.buffer(label, bytes, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST);
        let (input, output) = (buffer("place.input", input_bytes)?, buffer("place.output", output_bytes)?);
        Ok(Self { input, output, bindings: RefCell::default() })
    }
}

/// One batch as a pass sees it, with the place of one request. A place serves one pass.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// Holds a [`FrameShape`].
    pub shape: &'a wgpu::Buffer,
    pub batch: &'a Batch,
    /// Which of the batches that ever come to this place it is.
    pub number: usize,
    pub place: &'a Place,
}

impl Request<'_> {
    /// Dispatches `groups` workgroups of `pass` over the batch.
    pub fn run(&self, context: &Context, pass: &Pass, encoder: &mut wgpu::ComputePass<'_>, groups: u32) {
        // A batch without a record has nothing to be asked for, and no quad to bind.
        if self.batch.words.size() < QUAD_BYTES {
            return;
        }
        let mut bindings = self.place.bindings.borrow_mut();
        if bindings.len() <= self.number {
            bindings.resize(self.number + 1, None);
        }
        let bound = bindings[self.number].get_or_insert_with(|| {
            let Batch { words, table, slots, .. } = self.batch;
            pass.bind(context, &[self.shape, words, words, table, slots, &self.place.input, &self.place.output])
        });
        pass.dispatch(encoder, bound, groups);
    }
}

/// Bytes of four words.
const QUAD_BYTES: u64 = 16;

/// Frames of a workgroup in the passes that give 32 lanes to a frame.
pub const TEAMS: u32 = 2;

/// The pixels of a detector for passes that leave out blocks without any: number of blocks that have some,
/// these blocks (room for all), then the mask in the order of plane words.
pub fn detector_words(layout: &FrameLayout, pixels: &PixelSet) -> Vec<u32> {
    let mask = mask_words(layout, pixels);
    let masks = (0..).zip(mask.chunks(layout.plane_words(0) as usize));
    let used: Vec<u32> = masks.filter(|(_, mask)| mask.iter().any(|&word| word != 0)).map(|(block, _)| block).collect();
    let mut words = vec![0; 1 + layout.blocks() as usize];
    words[0] = used.len() as u32;
    words[1..=used.len()].copy_from_slice(&used);
    words.extend(mask);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Detector, Dtype};

    #[test]
    fn blocks_without_detector_pixels_are_not_listed() {
        let layout = FrameLayout { detector: Detector { rows: 4, cols: 32 }, dtype: Dtype::U8, block_px: 48 };
        let pixels = PixelSet::of(layout.detector, |row, col| row == 0 && col < 2 || row == 3 && col == 31);
        assert_eq!(detector_words(&layout, &pixels), [2, 0, 2, 0, 3, 0, 0, 0, 1 << 31, 0]);
    }
}
