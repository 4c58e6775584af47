//! Resident frames: bit planes without their zero words. The form is the same in main memory and on the GPU.
//!
//! One *record* per block of a frame ([`FrameLayout`]), which begins at a multiple of 4 words:
//!
//! | words | content |
//! |---|---|
//! | 1 | bit k: plane k has a word that is not zero |
//! | 1 | number of words that are not zero |
//! | 2 | 0 |
//! | ceil(plane words / 128) x 4, for each plane that is not empty, from the low bit up | its bitmap: bit i of word j = plane word 32 j + i is not zero |
//! | as many as there are, and zeros up to a multiple of 4 | the words that are not zero, plane by plane from the low bit up |
//!
//! An empty plane costs nothing, and a shader loads 4 bitmaps at once. Where a plane's words begin is the number of
//! bits in the bitmaps before its own.

use crate::{
    engine::PixelSet,
    shape::{Detector, Dtype, FrameLayout},
};

/// Record of a frame that has none, because its chunk could not be decoded.
pub const NO_RECORD: u32 = u32::MAX;

/// Frames that came together, in records of their own.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Records, one after another.
    pub words: Vec<u32>,
    /// Slot x blocks + block -> first word of its record, or [`NO_RECORD`].
    pub table: Vec<u32>,
    /// Slot -> frame index (scan position, row-major).
    pub frames: Vec<u32>,
    /// Slot -> 0 (valid), or a [`crate::engine::ChunkFault`] with the block in the upper 24 bits.
    pub status: Vec<u32>,
}

impl Batch {
    /// Appends a decoded frame; `planes` in the order of [`FrameLayout`], all words.
    pub fn push(&mut self, layout: &FrameLayout, frame: u32, planes: &[u32]) {
        let mut rest = planes;
        for block in 0..layout.blocks() {
            let (dense, later) = rest.split_at(layout.block_words(block) as usize);
            self.table.push(self.words.len() as u32);
            compact(layout, block, dense, &mut self.words);
            rest = later;
        }
        self.frames.push(frame);
        self.status.push(0);
    }

    /// Appends a frame that could not be decoded.
    pub fn push_failed(&mut self, layout: &FrameLayout, frame: u32, status: u32) {
        self.table.extend(std::iter::repeat_n(NO_RECORD, layout.blocks() as usize));
        self.frames.push(frame);
        self.status.push(status);
    }

    /// The planes of slot `slot`; `None` for a failed frame.
    pub fn planes<'a>(&'a self, layout: &'a FrameLayout, slot: u32) -> Option<FramePlanes<'a>> {
        let blocks = layout.blocks() as usize;
        let table = &self.table[slot as usize * blocks..][..blocks];
        (!table.contains(&NO_RECORD)).then_some(FramePlanes { layout, words: &self.words, table })
    }

    pub fn len_bytes(&self) -> u64 {
        4 * (self.words.len() + self.table.len() + self.frames.len() + self.status.len()) as u64
    }
}

/// Appends the record of block `block`, whose planes are `dense`, to `words`.
fn compact(layout: &FrameLayout, block: u32, dense: &[u32], words: &mut Vec<u32>) {
    words.extend(super::pack_blocks::record(dense, layout.plane_words(block)));
}

/// Words that the bitmap of one plane of `plane_words` words takes in a record.
pub fn map_words(plane_words: u32) -> u32 {
    4 * plane_words.div_ceil(128)
}

/// Words before the bitmaps of a record.
pub const HEAD_WORDS: u32 = 4;

/// The most words that the record of block `block` can have.
pub fn most_record_words(layout: &FrameLayout, block: u32) -> u32 {
    let maps = layout.dtype.bits() * map_words(layout.plane_words(block));
    HEAD_WORDS + maps + layout.block_words(block).next_multiple_of(4)
}

/// The records of one frame.
#[derive(Clone, Copy, Debug)]
pub struct FramePlanes<'a> {
    pub layout: &'a FrameLayout,
    words: &'a [u32],
    table: &'a [u32],
}

impl<'a> FramePlanes<'a> {
    pub fn block(&self, block: u32) -> Record<'a> {
        Record {
            words: &self.words[self.table[block as usize] as usize..],
            map_words: map_words(self.layout.plane_words(block)),
        }
    }

    /// Words of all its records.
    pub fn len_words(&self) -> u32 {
        self.blocks().map(|(_, record)| record.len_words()).sum()
    }

    pub fn blocks(&self) -> impl Iterator<Item = (u32, Record<'a>)> {
        let frame = *self;
        (0..self.layout.blocks()).map(move |block| (block, frame.block(block)))
    }
}

/// The planes of one block.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    words: &'a [u32],
    map_words: u32,
}

impl<'a> Record<'a> {
    /// (index, word) of the non-zero words of plane `plane`, in order.
    pub fn plane(&self, plane: u32) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let (present, map_words) = (self.words[0], self.map_words as usize);
        let (maps, data) = self.words[HEAD_WORDS as usize..].split_at(present.count_ones() as usize * map_words);
        let (before, rest) = maps.split_at((present & ((1 << plane) - 1)).count_ones() as usize * map_words);
        let here = if present >> plane & 1 == 1 { &rest[..map_words] } else { &[] };
        let start: u32 = before.iter().map(|map| map.count_ones()).sum();
        let indices = (0..).step_by(32).zip(here).flat_map(|(first, &map)| set_bits(map).map(move |bit| first + bit));
        indices.zip(data.iter().skip(start as usize).copied())
    }

    fn len_words(&self) -> u32 {
        HEAD_WORDS + self.words[0].count_ones() * self.map_words + self.words[1].next_multiple_of(4)
    }
}

/// Indices of the bits that are 1, low bit first.
pub fn set_bits(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < 32).then_some(bit)
    })
}

/// What counts in plane `plane` of `dtype` stand for: 2^plane, the top plane of a signed type negative;
/// two's complement in 64 bits.
pub fn weight(dtype: Dtype, plane: u32) -> u64 {
    let negative = dtype.is_signed() && plane + 1 == dtype.bits();
    if negative { (1u64 << plane).wrapping_neg() } else { 1 << plane }
}

/// Words between the masks of two successive blocks; see [`mask_words`].
pub fn mask_stride(layout: &FrameLayout) -> u32 {
    layout.plane_words(0)
}

/// A pixel set in the order of plane words: block b from word b x [`mask_stride`], bit i of its word w =
/// pixel 32 w + i of the block.
pub fn mask_words(layout: &FrameLayout, set: &PixelSet) -> Vec<u32> {
    let stride = mask_stride(layout);
    let mut words = vec![0; (layout.blocks() * stride) as usize];
    for block in 0..layout.blocks() {
        let first = block * layout.block_px;
        for pixel in (0..layout.pixels_of(block)).filter(|pixel| set.contains(first + pixel)) {
            words[(block * stride + pixel / 32) as usize] |= 1 << (pixel % 32);
        }
    }
    words
}

/// The inverse of [`mask_words`].
pub fn mask_pixels(layout: &FrameLayout, words: &[u32]) -> PixelSet {
    let stride = mask_stride(layout);
    let Detector { cols, .. } = layout.detector;
    PixelSet::of(layout.detector, |row, col| {
        let (block, pixel) = ((row * cols + col) / layout.block_px, (row * cols + col) % layout.block_px);
        words[(block * stride + pixel / 32) as usize] >> (pixel % 32) & 1 == 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: FrameLayout =
        FrameLayout { detector: Detector { rows: 3, cols: 15 }, dtype: Dtype::U8, block_px: 40 };

    #[test]
    fn a_record_holds_the_bitmaps_and_words_of_planes_that_are_not_empty() {
        let mut planes = vec![0; 8 * 2 + 8];
        (planes[1], planes[4], planes[5]) = (0x80, 5, 7);
        planes[16 + 7] = 0x10;
        let mut batch = Batch::default();
        batch.push(&LAYOUT, 9, &planes);
        assert_eq!(batch.table, [0, 16]);
        assert_eq!(batch.words[..12], [0b101, 3, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(batch.words[12..16], [0x80, 5, 7, 0]);
        assert_eq!(batch.words[16..], [0x80, 1, 0, 0, 1, 0, 0, 0, 0x10, 0, 0, 0]);
        assert_eq!((batch.frames[0], batch.status[0], batch.len_bytes()), (9, 0, 4 * (28 + 4)));
    }

    #[test]
    fn what_was_packed_is_read_back() {
        let planes: Vec<u32> = (0..24).map(|i| if i % 3 == 0 { 0 } else { i * 77 }).collect();
        let mut batch = Batch::default();
        batch.push_failed(&LAYOUT, 1, 3);
        batch.push(&LAYOUT, 0, &planes);
        assert!(batch.planes(&LAYOUT, 0).is_none());
        let mut back = vec![0; 24];
        let frame = batch.planes(&LAYOUT, 1).expect("the second frame is valid");
        for (block, record) in frame.blocks() {
            for plane in 0..8 {
                for (i, word) in record.plane(plane) {
                    back[(block * 16 + plane * LAYOUT.plane_words(block) + i) as usize] = word;
                }
            }
        }
        assert_eq!(back, planes);
        assert_eq!(frame.len_words() as usize, batch.words.len());
    }

    #[test]
    fn a_mask_in_plane_order_starts_every_block_at_a_word() {
        let set = PixelSet::of(LAYOUT.detector, |row, col| row == 2 && (9..13).contains(&col));
        let words = mask_words(&LAYOUT, &set);
        assert_eq!(words, [0, 0x80, 0b111, 0]);
        assert_eq!(mask_pixels(&LAYOUT, &words), set);
    }

    #[test]
    fn the_top_plane_of_a_signed_type_is_negative() {
        assert_eq!((weight(Dtype::U8, 7), weight(Dtype::I8, 7) as i64), (128, -128));
    }
}
