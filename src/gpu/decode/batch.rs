//! The shape of a batch, for all passes of a decode.

use super::{super::Context, Method, Variant};
use crate::{
    cpu::{frame_headers::ChunkLayout, planes},
    shape::FrameLayout,
    uniform,
};

uniform! {
    /// Shape of one batch, for all passes of a decode; see shaders/shared/batch.wgsl.
    pub struct Batch {
        frames: u32,
        first_slot: u32,
        pixel_bytes: u32,
        frame_bytes: u32,
        block_bytes: u32,
        last_bytes: u32,
        lz4_blocks: u32,
        tail_bytes: u32,
        blocks: u32,
        frame_words: u32,
        map_stride: u32,
        is_signed: u32,
    }
}

impl Batch {
    pub fn of(layout: &FrameLayout, frames: u32) -> Self {
        let chunk = ChunkLayout::of(layout);
        let block_bytes = (0..chunk.lz4_blocks).map(|block| chunk.bytes_of(block)).sum::<u32>();
        Self {
            frames,
            first_slot: 0,
            pixel_bytes: layout.dtype.bytes(),
            frame_bytes: chunk.frame_bytes,
            block_bytes: chunk.block_bytes,
            last_bytes: chunk.last_bytes,
            lz4_blocks: chunk.lz4_blocks,
            tail_bytes: chunk.tail_bytes,
            blocks: chunk.blocks,
            frame_words: block_bytes / 4 + chunk.lz4_blocks,
            map_stride: layout.dtype.bits() * layout.plane_words(0).div_ceil(32),
            is_signed: layout.dtype.is_signed().into(),
        }
    }
}

/// True when every plane of every LZ4 block is whole spans of 32 words and no block is longer than 8 KiB, so that one
/// invocation can decode a block straight to its record (shaders/shared/block.wgsl). The reference filter's blocks of
/// 8 KiB are, in frames of a multiple of 1,024 pixels.
pub fn has_whole_spans(layout: &FrameLayout) -> bool {
    let chunk = ChunkLayout::of(layout);
    let is_whole = |bytes: u32| bytes.is_multiple_of(SPAN_BYTES * layout.dtype.bits()) && bytes <= MOST_BLOCK_BYTES;
    chunk.tail_bytes == 0 && is_whole(chunk.last_bytes) && (chunk.lz4_blocks == 1 || is_whole(chunk.block_bytes))
}

/// Words of a frame's records, should nothing shrink (the form is told in [`crate::cpu::planes`]).
pub fn most_record_words(layout: &FrameLayout) -> u64 {
    (0..layout.blocks()).map(|block| u64::from(planes::most_record_words(layout, block))).sum()
}

/// The most frames of `layout` in one batch on this adapter: what a decode makes of them, should nothing shrink, fits
/// one binding, and scratch that grows with the batch fits 1 GiB. 0 when not even one frame fits.
pub fn max_batch_frames(context: &Context, layout: &FrameLayout, method: Method) -> u32 {
    let (most_bytes, frame_bytes) = (context.max_binding_bytes(), 4 * most_record_words(layout));
    if method.for_layout(layout).variant == Variant::Lane {
        return (most_bytes / frame_bytes) as u32;
    }
    let scratch_bytes = 4 * u64::from(Batch::of(layout, 1).frame_words);
    (most_bytes.min(MAX_SCRATCH_BYTES) / frame_bytes.max(scratch_bytes)) as u32
}

/// Scratch of all decodes together.
pub const MAX_SCRATCH_BYTES: u64 = 1 << 30;
/// Of shaders/shared/block.wgsl.
const SPAN_BYTES: u32 = 128;
const MOST_BLOCK_BYTES: u32 = 8192;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Detector, Dtype};

    #[test]
    fn blocks_of_the_reference_filter_are_whole_spans_and_odd_frames_are_not() {
        let layout = |dtype, rows, cols, block_px| FrameLayout { detector: Detector { rows, cols }, dtype, block_px };
        assert!(has_whole_spans(&layout(Dtype::U16, 192, 192, 4096)));
        assert!(has_whole_spans(&layout(Dtype::U16, 96, 96, 4096)), "a last block of 1,024 pixels");
        assert!(has_whole_spans(&layout(Dtype::U8, 32, 32, 8192)), "one short block");
        assert!(has_whole_spans(&layout(Dtype::I32, 256, 256, 2048)));
        assert!(!has_whole_spans(&layout(Dtype::U16, 514, 7, 1000)));
        assert!(!has_whole_spans(&layout(Dtype::U16, 3, 3, 4096)), "nothing but a tail");
        assert!(!has_whole_spans(&layout(Dtype::U16, 256, 256, 8192)), "blocks of 16 KiB");
    }
}
