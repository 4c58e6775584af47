//! The resident frames on the GPU: batches of records (the form is that of [`crate::cpu::planes`]) and the
//! buffers that every pass over them binds first.

use std::{cell::RefCell, rc::Rc};

use super::{
    context::Context,
    memory::Buffer,
    pass::{Binding, Pass},
};
use crate::{
    cpu::{
        self,
        planes::{map_words, mask_words},
    },
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
    /// Tells the batches of an engine apart.
    pub id: u64,
    words: Buffer,
    table: Buffer,
    slots: Buffer,
    /// First slots of the batches that this one was merged from; 0 for a batch as it came.
    pub firsts: Vec<u32>,
    /// Slot -> frame index (scan position, row-major).
    pub frames: Vec<u32>,
    /// Slot -> 0 (valid), or a [`crate::engine::ChunkFault`] with the block in the upper 24 bits.
    pub status: Vec<u32>,
}

impl Batch {
    /// A batch of records on the GPU; `words` and `table` as in [`cpu::planes::Batch`], `slots` holds frame and
    /// status of each slot, as `frames` and `status` do here.
    pub fn new(words: Buffer, table: Buffer, slots: Buffer, frames: Vec<u32>, status: Vec<u32>) -> Self {
        Self { id: 0, words, table, slots, firsts: vec![0], frames, status }
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

    /// Bytes of the records; 0 when every frame failed.
    pub fn record_bytes(&self) -> u64 {
        // A buffer is never empty.
        if self.words.size() < QUAD_BYTES { 0 } else { self.words.size() }
    }

    pub fn table(&self) -> &wgpu::Buffer {
        &self.table
    }

    /// A batch for the frames of all `parts`, whose records are still to come.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn room_for(context: &Context, parts: &[Rc<Self>]) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let buffer = |label: &str, bytes: &dyn Fn(&Self) -> u64| {
            let bytes = parts.iter().map(|part| bytes(part)).sum();
            context.buffer(label, bytes, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST)
        };
        let words = buffer("planes.words", &Self::record_bytes)?;
        let (table, slots) =
            (buffer("planes.table", &|part| part.table.size())?, buffer("planes.slots", &|part| part.slots.size())?);
        let mut room = Self::new(words, table, slots, Vec::new(), Vec::new());
        room.firsts.clear();
        for part in parts {
            let before = room.slots();
            room.firsts.extend(part.firsts.iter().map(|first| before + first));
            room.frames.extend(&part.frames);
            room.status.extend(&part.status);
        }
        Ok(room)
    }

    /// Copies the records, tables and slots of `parts` behind one another.
    pub fn copy_from(&self, encoder: &mut wgpu::CommandEncoder, parts: &[Rc<Self>]) {
        let (mut words, mut table, mut slots) = (0, 0, 0);
        for part in parts {
            for (from, to, at, bytes) in [
                (&part.words, &self.words, &mut words, part.record_bytes()),
                (&part.table, &self.table, &mut table, part.table.size()),
                (&part.slots, &self.slots, &mut slots, part.slots.size()),
            ] {
                encoder.copy_buffer_to_buffer(from, 0, to, *at, bytes);
                *at += bytes;
            }
        }
    }

    /// First entry of the table and words of the records before, for each of `parts` as they were copied.
    pub fn shifts(parts: &[Rc<Self>]) -> Vec<[u32; 2]> {
        let mut next = [0; 2];
        let shift = |part: &Rc<Self>| {
            let [entry, words] = next;
            next = [entry + (part.table.size() / 4) as u32, words + (part.record_bytes() / 4) as u32];
            [entry, words]
        };
        parts.iter().map(shift).collect()
    }
}

/// The input and the output of a request, and what was bound to them so far.
#[derive(Debug)]
pub struct Place {
    pub input: Buffer,
    pub output: Buffer,
    /// Batches, by id, and their bindings with these two.
    bindings: RefCell<Vec<(u64, wgpu::BindGroup)>>,
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
    pub place: &'a Place,
}

impl Request<'_> {
    /// Dispatches `groups` workgroups of `pass` over the batch.
    pub fn run(&self, context: &Context, pass: &Pass, encoder: &mut wgpu::ComputePass<'_>, groups: u32) {
        // A batch without a record has nothing to be asked for, and no quad to bind.
        if self.batch.record_bytes() == 0 {
            return;
        }
        let mut bindings = self.place.bindings.borrow_mut();
        let Batch { id, words, table, slots, .. } = self.batch;
        let known = bindings.iter().position(|(known, _)| known == id);
        let index = known.unwrap_or_else(|| {
            let buffers = [self.shape, words, words, table, slots, &self.place.input, &self.place.output];
            bindings.push((*id, pass.bind(context, &buffers)));
            bindings.len() - 1
        });
        pass.dispatch(encoder, &bindings[index].1, groups);
    }
}

/// Bytes of four words.
const QUAD_BYTES: u64 = 16;

/// Teams of a workgroup in the passes that give 32 lanes to a frame or to a part of it.
pub const TEAMS: u32 = 2;
/// The same for 8 lanes.
pub const SMALL_TEAMS: u32 = 8;

/// Quads of the bitmap of one plane of a full block.
pub fn map_quads(layout: &FrameLayout) -> u32 {
    map_words(layout.plane_words(0)) / 4
}

/// The pixels of a detector for passes that leave out blocks without any, in whole quads: number of blocks that have
/// some and these blocks (room for all); then the mask of every block in the order of plane words, 128 words for each
/// quad of a bitmap.
pub fn detector_words(layout: &FrameLayout, pixels: &PixelSet) -> Vec<u32> {
    let mask = mask_words(layout, pixels);
    let masks = || mask.chunks(layout.plane_words(0) as usize);
    let used = (0..).zip(masks()).filter(|(_, mask)| mask.iter().any(|&word| word != 0)).map(|(block, _)| block);
    let mut words = vec![0];
    words.extend(used);
    words[0] = words.len() as u32 - 1;
    words.resize((1 + layout.blocks() as usize).next_multiple_of(4), 0);
    for mask in masks() {
        let end = words.len() + 128 * map_quads(layout) as usize;
        words.extend(mask);
        words.resize(end, 0);
    }
    words
}

/// Where shaders/shared/pixel_places.wgsl keeps each pixel, row-major, and how many places there are.
pub fn pixel_places(layout: &FrameLayout) -> (impl Iterator<Item = usize> + use<>, usize) {
    let (block_px, plane_words) = (layout.block_px, layout.plane_words(0));
    let place = move |pixel: u32| {
        let (block, pixel) = (pixel / block_px, pixel % block_px);
        ((32 * block + pixel % 32) * plane_words + pixel / 32) as usize
    };
    let places = layout.blocks() as usize * 32 * plane_words as usize;
    ((0..layout.detector.pixels()).map(place), places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Detector, Dtype};

    #[test]
    fn blocks_without_detector_pixels_are_not_listed() {
        let layout = FrameLayout { detector: Detector { rows: 4, cols: 32 }, dtype: Dtype::U8, block_px: 48 };
        let pixels = PixelSet::of(layout.detector, |row, col| row == 0 && col < 2 || row == 3 && col == 31);
        let words = detector_words(&layout, &pixels);
        assert_eq!(
            (&words[..4], words[4], words[4 + 2 * 128], words.len()),
            (&[2, 0, 2, 0][..], 3, 1 << 31, 4 + 3 * 128)
        );
        assert_eq!(words[4..].iter().map(|word| word.count_ones()).sum::<u32>(), 3);
    }
}
