//! One bitshuffle-LZ4 chunk, decoded on the CPU to the planes that the GPU makes of it.

use super::{
    frame_headers::{ChunkLayout, walk},
    lz4, measure_blocks,
};
use crate::{engine::ChunkFault, shape::FrameLayout};

/// All planes of the frame in the order of [`FrameLayout`].
///
/// # Errors
/// The fault and its block: the chunk's framing first, then the lowest block that LZ4 refuses.
pub fn planes(layout: &FrameLayout, chunk: &[u8]) -> Result<Vec<u32>, (ChunkFault, u32)> {
    let chunk_layout = ChunkLayout::of(layout);
    let parts = walk(&chunk_layout, chunk)?;
    let mut planes = Vec::with_capacity(layout.frame_words() as usize);
    for block in 0..layout.blocks() {
        let mut shuffled = Vec::new();
        if let Some(range) = parts.blocks.get(block as usize) {
            shuffled.resize(chunk_layout.bytes_of(block) as usize, 0);
            lz4::decode(&chunk[range.clone()], &mut shuffled).map_err(|fault| (fault, block))?;
        }
        let tail = if block + 1 == layout.blocks() { &chunk[parts.tail.clone()] } else { &[] };
        planes.extend(measure_blocks::planes(layout, block, &shuffled, tail));
    }
    Ok(planes)
}
