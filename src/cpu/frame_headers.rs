//! Where the parts of a bitshuffle-LZ4 chunk lie: its LZ4 blocks and its raw tail.
//!
//! Framing, from the reference filter (<https://github.com/kiyo-masui/bitshuffle/blob/master/src/bshuf_h5filter.c>
//! and `bitshuffle.c`): u64 big-endian decoded bytes, u32 big-endian block bytes, then per block a u32
//! big-endian length and that many bytes of LZ4. A last block holds the pixels left over, rounded down
//! to a multiple of 8; the up to 7 pixels behind it are stored as they are, without a length.

use std::ops::Range;

use crate::{engine::ChunkFault, shape::FrameLayout};

/// Sizes of a chunk's parts, which follow from the layout of the frame. Bytes, but for the numbers of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLayout {
    pub frame_bytes: u32,
    pub block_bytes: u32,
    /// Decoded bytes of the last LZ4 block; those of a full one where the frame is whole blocks.
    pub last_bytes: u32,
    pub lz4_blocks: u32,
    /// Blocks of the frame: `lz4_blocks`, or one more that is nothing but the tail.
    pub blocks: u32,
    /// Bytes of the raw tail: less than 8 pixels.
    pub tail_bytes: u32,
}

impl ChunkLayout {
    pub fn of(layout: &FrameLayout) -> Self {
        let pixel_bytes = layout.dtype.bytes();
        let (full, rest) = (layout.detector.pixels() / layout.block_px, layout.detector.pixels() % layout.block_px);
        let (last, tail) = (rest - rest % 8, rest % 8);
        Self {
            frame_bytes: layout.detector.pixels() * pixel_bytes,
            block_bytes: layout.block_px * pixel_bytes,
            last_bytes: if last > 0 || full == 0 { last } else { layout.block_px } * pixel_bytes,
            lz4_blocks: full + u32::from(last > 0),
            blocks: layout.blocks(),
            tail_bytes: tail * pixel_bytes,
        }
    }

    /// Decoded bytes of LZ4 block `block`.
    pub fn bytes_of(&self, block: u32) -> u32 {
        if block + 1 == self.lz4_blocks { self.last_bytes } else { self.block_bytes }
    }
}

/// Byte ranges of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkParts {
    pub blocks: Vec<Range<usize>>,
    pub tail: Range<usize>,
}

/// Walks the block lengths of `chunk`. Bytes behind its last part are ignored.
///
/// # Errors
/// The fault, and the block in which it was found (0 for the header; the frame's last block for the tail).
pub fn walk(layout: &ChunkLayout, chunk: &[u8]) -> Result<ChunkParts, (ChunkFault, u32)> {
    let too_short = |block| (ChunkFault::ChunkTooShort, block);
    let (decoded, rest) = chunk.split_first_chunk().ok_or(too_short(0))?;
    let (block_bytes, _) = rest.split_first_chunk().ok_or(too_short(0))?;
    if u64::from_be_bytes(*decoded) != u64::from(layout.frame_bytes) {
        return Err((ChunkFault::DecodedSize, 0));
    }
    if u32::from_be_bytes(*block_bytes) != layout.block_bytes {
        return Err((ChunkFault::BlockSize, 0));
    }
    let mut at = HEADER_BYTES;
    let mut blocks = Vec::with_capacity(layout.lz4_blocks as usize);
    for block in 0..layout.lz4_blocks {
        let len = chunk[at..].first_chunk().ok_or(too_short(block))?;
        at += len.len();
        let len = u32::from_be_bytes(*len) as usize;
        if len > chunk.len() - at {
            return Err((ChunkFault::BlockLength, block));
        }
        blocks.push(at..at + len);
        at += len;
    }
    if (layout.tail_bytes as usize) > chunk.len() - at {
        return Err(too_short(layout.blocks - 1));
    }
    Ok(ChunkParts { blocks, tail: at..at + layout.tail_bytes as usize })
}

const HEADER_BYTES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Detector, Dtype};

    fn layout(rows: u32, cols: u32, block_px: u32) -> ChunkLayout {
        ChunkLayout::of(&FrameLayout { detector: Detector { rows, cols }, dtype: Dtype::U16, block_px })
    }

    #[test]
    fn a_frame_is_whole_blocks_a_partial_one_and_a_raw_tail() {
        let parts = |l: ChunkLayout| (l.lz4_blocks, l.last_bytes, l.tail_bytes);
        assert_eq!(parts(layout(192, 192, 4096)), (9, 8192, 0));
        assert_eq!(parts(layout(3, 3, 4096)), (1, 16, 2));
        assert_eq!(parts(layout(1, 39, 16)), (2, 32, 14));
        assert_eq!(parts(layout(1, 41, 16)), (3, 16, 2));
        assert_eq!(parts(layout(1, 7, 16)), (0, 0, 14));
    }

    #[test]
    fn a_chunk_of_three_by_three_pixels_is_walked_to_its_raw_tail() {
        // As the reference filter writes it: 36 bytes, of which the last two are the ninth pixel.
        let mut chunk = vec![0, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0x20, 0, 0, 0, 0, 18];
        chunk.extend([0x55; 20]);
        let parts = walk(&layout(3, 3, 4096), &chunk);
        assert_eq!(parts, Ok(ChunkParts { blocks: vec![Range { start: 16, end: 34 }], tail: 34..36 }));
        for (len, fault) in
            [(35, ChunkFault::ChunkTooShort), (33, ChunkFault::BlockLength), (15, ChunkFault::ChunkTooShort)]
        {
            assert_eq!(walk(&layout(3, 3, 4096), &chunk[..len]), Err((fault, 0)), "{len} bytes");
        }
    }

    #[test]
    fn a_tail_that_is_cut_off_is_found_in_the_block_it_belongs_to() {
        let chunk = [0, 0, 0, 0, 0, 0, 0, 78, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(walk(&layout(1, 39, 16), &chunk), Err((ChunkFault::ChunkTooShort, 2)));
    }
}
