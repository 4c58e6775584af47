//! The resident frames on the GPU: batches of records (the form is that of [`crate::cpu::planes`]) and the
//! buffers that every pass over them binds first.

use std::{cell::RefCell, num::NonZeroU64, rc::Rc};

use super::{
    context::Context,
    memory::Buffer,
    pass::{Binding, Pass},
};
use crate::{
    cpu::planes::{map_words, mask_words},
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

/// The buffers that decoded frames lie in. They may have room for more.
#[derive(Clone, Debug)]
pub struct Store {
    /// Records.
    pub words: Rc<Buffer>,
    /// Slot x blocks + block -> first word of its record; 0xFFFFFFFF for a failed frame.
    pub table: Rc<Buffer>,
    /// Slot -> frame, status.
    pub slots: Rc<Buffer>,
}

/// Frames in the first slots of a store.
#[derive(Debug)]
pub struct Batch {
    /// Tells the batches of an engine apart.
    pub id: u64,
    store: Store,
    /// Words of the records; they lie in front.
    len_words: u32,
    blocks: u32,
    /// First slots of the decodes that these frames came from.
    pub firsts: Vec<u32>,
    /// Slot -> frame index (scan position, row-major).
    pub frames: Vec<u32>,
    /// Slot -> 0 (valid), or a [`crate::engine::ChunkFault`] with the block in the upper 24 bits.
    pub status: Vec<u32>,
}

impl Batch {
    /// The frames of the first decode into `store`, whose records have `len_words` words; the store holds in `slots`
    /// what `frames` and `status` hold here. A frame has `blocks` blocks.
    pub fn new(store: Store, len_words: u32, blocks: u32, frames: Vec<u32>, status: Vec<u32>) -> Self {
        Self { id: 0, store, len_words, blocks, firsts: vec![0], frames, status }
    }

    /// These frames and those of the next decode into the same store; `len_words` are those of all.
    pub fn extended(&self, len_words: u32, frames: &[u32], status: &[u32]) -> Self {
        Self {
            id: 0,
            store: self.store.clone(),
            len_words,
            blocks: self.blocks,
            firsts: [&self.firsts[..], &[self.slots()]].concat(),
            frames: [&self.frames, frames].concat(),
            status: [&self.status, status].concat(),
        }
    }

    /// True when `store` is the one of these frames.
    pub fn lies_in(&self, store: &Store) -> bool {
        Rc::ptr_eq(&self.store.words, &store.words)
    }

    pub fn slots(&self) -> u32 {
        self.frames.len() as u32
    }

    /// True when a frame of the bit set `chosen` lies here.
    pub fn holds_any(&self, chosen: &[u32]) -> bool {
        self.frames.iter().any(|frame| chosen[*frame as usize / 32] >> (frame % 32) & 1 == 1)
    }

    /// Bytes of the store.
    pub fn len_bytes(&self) -> u64 {
        self.store.words.size() + self.store.table.size() + self.store.slots.size()
    }

    /// Bytes of the records; 0 when every frame failed.
    pub fn record_bytes(&self) -> u64 {
        4 * u64::from(self.len_words)
    }

    fn table_bytes(&self) -> u64 {
        4 * u64::from(self.slots()) * u64::from(self.blocks)
    }

    fn slot_bytes(&self) -> u64 {
        8 * u64::from(self.slots())
    }

    pub fn table(&self) -> &wgpu::Buffer {
        &self.store.table
    }

    /// A batch for the frames of all `parts`, whose records are still to come.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn room_for(context: &Context, parts: &[Rc<Self>]) -> Result<Self> {
        use wgpu::BufferUsages as Usage;
        let buffer = |label: &str, bytes: &dyn Fn(&Self) -> u64| {
            let bytes = parts.iter().map(|part| bytes(part)).sum();
            context.buffer(label, bytes, Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST).map(Rc::new)
        };
        let store = Store {
            words: buffer("planes.words", &Self::record_bytes)?,
            table: buffer("planes.table", &Self::table_bytes)?,
            slots: buffer("planes.slots", &Self::slot_bytes)?,
        };
        let blocks = parts.first().map_or(0, |part| part.blocks);
        let len_words = parts.iter().map(|part| part.len_words).sum();
        let mut room = Self::new(store, len_words, blocks, Vec::new(), Vec::new());
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
                (&part.store.words, &self.store.words, &mut words, part.record_bytes()),
                (&part.store.table, &self.store.table, &mut table, part.table_bytes()),
                (&part.store.slots, &self.store.slots, &mut slots, part.slot_bytes()),
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
            next = [entry + (part.table_bytes() / 4) as u32, words + part.len_words];
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
    /// Records, the batch whose they are, and its bindings with these two.
    bindings: RefCell<Vec<(Rc<Buffer>, u64, wgpu::BindGroup)>>,
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
        let Batch { id, store: Store { words, table, slots }, .. } = self.batch;
        let bind = || {
            let whole = [self.shape, words, words, table, slots, &self.place.input, &self.place.output];
            let mut parts = whole.map(|buffer| buffer.as_entire_buffer_binding());
            // Shaders take the slots there are for those that hold a frame.
            parts[4].size = NonZeroU64::new(self.batch.slot_bytes());
            pass.bind_parts(context, &parts)
        };
        let known = bindings.iter().position(|(known, ..)| Rc::ptr_eq(known, words));
        let index = match known {
            Some(index) => {
                if bindings[index].1 != *id {
                    bindings[index] = (words.clone(), *id, bind());
                }
                index
            }
            None => {
                bindings.push((words.clone(), *id, bind()));
                bindings.len() - 1
            }
        };
        pass.dispatch(encoder, &bindings[index].2, groups);
    }

    /// Dispatches `pass` with `frame_teams` teams of 32 lanes for every `chunk` slots.
    pub fn run_chunks(
        &self,
        context: &Context,
        pass: &Pass,
        encoder: &mut wgpu::ComputePass<'_>,
        frame_teams: u32,
        chunk: u32,
    ) {
        let teams = frame_teams * self.batch.slots().div_ceil(chunk);
        self.run(context, pass, encoder, teams.div_ceil(TEAMS));
    }
}

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
