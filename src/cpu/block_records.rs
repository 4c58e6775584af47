//! An LZ4 block to its record.

use super::{lz4, measure_blocks, pack_blocks};
use crate::{engine::ChunkFault, shape::FrameLayout};

/// The record of block `block`, which holds no raw tail and decodes to `len_bytes` bytes.
///
/// # Errors
/// The first rule that the stream breaks.
pub fn record(layout: &FrameLayout, block: u32, stream: &[u8], len_bytes: u32) -> Result<Vec<u32>, ChunkFault> {
    let mut shuffled = vec![0; len_bytes as usize];
    lz4::decode(stream, &mut shuffled)?;
    let planes = measure_blocks::planes(layout, block, &shuffled, &[]);
    Ok(pack_blocks::record(&planes, layout.plane_words(block)))
}
