//! Bitshuffle, filter 32008, as <https://github.com/kiyo-masui/bitshuffle> writes it.
//!
//! A chunk is cut into blocks of a number of elements that is a multiple of 8; a last block takes what is
//! left down to a multiple of 8, and fewer than 8 elements stay raw at the end. In a block the bits are
//! transposed: bit plane k holds bit k of every element, 8 elements to a byte.
//!
//! With a codec, a 12-byte header comes first: decoded bytes (u64) and block bytes (u32), both big-endian;
//! each block is then a big-endian u32 length and its compressed bytes. The header is what counts: the
//! filter parameters may say 0 for the default block.

use super::Fault;
use crate::engine::ChunkFault;

/// Elements of a block when the parameters say 0: `bshuf_default_block_size`.
pub fn default_block_px(element_bytes: usize) -> usize {
    (TARGET_BLOCK_BYTES / element_bytes.max(1) / 8 * 8).max(LEAST_BLOCK_PX)
}

/// Block bytes that the header of a chunk gives; `None` where it is cut short.
pub fn header_block_bytes(chunk: &[u8]) -> Option<u32> {
    chunk.get(8..HEADER_BYTES)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

/// Undoes the transposition of one block: `block` holds a multiple of 8 elements.
pub fn unshuffle(block: &[u8], element_bytes: usize, out: &mut [u8]) {
    let elements = block.len() / element_bytes;
    let plane_bytes = elements / 8;
    if plane_bytes == 0 {
        return;
    }
    for byte in 0..element_bytes {
        let planes = &block[byte * 8 * plane_bytes..(byte + 1) * 8 * plane_bytes];
        for group in 0..plane_bytes {
            let rows = std::array::from_fn(|bit| planes[bit * plane_bytes + group]);
            for (i, value) in transposed(rows).into_iter().enumerate() {
                out[(group * 8 + i) * element_bytes + byte] = value;
            }
        }
    }
}

/// Bitshuffle without a codec: no header.
pub(super) fn plain(bytes: &[u8], element_bytes: usize, block_px: usize) -> Result<Vec<u8>, Fault> {
    let block_bytes = block_px.checked_mul(element_bytes).filter(|_| block_px.is_multiple_of(8));
    let block_bytes = block_bytes.filter(|&len| len > 0).ok_or(Fault::from(ChunkFault::BlockSize))?;
    let mut out = vec![0; bytes.len()];
    for (from, to) in bytes.chunks(block_bytes).zip(out.chunks_mut(block_bytes)) {
        let whole = whole_bytes(from.len(), element_bytes);
        unshuffle(&from[..whole], element_bytes, &mut to[..whole]);
        to[whole..].copy_from_slice(&from[whole..]);
    }
    Ok(out)
}

/// Bitshuffle with a codec. `decode_block(input, output)` has to fill all of its output; a header that does
/// not say `expected_block_bytes`, where given, is a fault.
pub(super) fn framed(
    chunk: &[u8],
    decoded_len: usize,
    element_bytes: usize,
    expected_block_bytes: Option<u32>,
    decode_block: fn(&[u8], &mut [u8]) -> Result<(), ChunkFault>,
) -> Result<Vec<u8>, Fault> {
    let header: &[u8; HEADER_BYTES] = chunk.first_chunk().ok_or(Fault::from(ChunkFault::ChunkTooShort))?;
    let [total, block_bytes] =
        [&header[..8], &header[8..]].map(|field| field.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)));
    if total != decoded_len as u64 {
        return Err(ChunkFault::DecodedSize.into());
    }
    let is_expected = expected_block_bytes.is_none_or(|expected| u64::from(expected) == block_bytes);
    if !is_expected || block_bytes == 0 || block_bytes % (8 * element_bytes as u64) != 0 {
        return Err(ChunkFault::BlockSize.into());
    }
    // A block is never longer than the chunk, whatever the header says.
    let block_bytes = block_bytes.min(decoded_len.next_multiple_of(8 * element_bytes) as u64) as usize;
    let whole = whole_bytes(decoded_len, element_bytes);
    let mut out = Vec::new();
    let mut shuffled = Vec::new();
    let mut rest = &chunk[HEADER_BYTES..];
    let mut block = 0;
    while out.len() < whole {
        let len = (whole - out.len()).min(block_bytes);
        let (size, after) = rest.split_first_chunk().ok_or(Fault::of(ChunkFault::ChunkTooShort, block))?;
        let size = u32::from_be_bytes(*size) as usize;
        let (input, after) = after.split_at_checked(size).ok_or(Fault::of(ChunkFault::BlockLength, block))?;
        if len > LARGE_BLOCK_BYTES && len / MOST_EXPANSION > size {
            return Err(Fault::of(ChunkFault::ShortOutput, block));
        }
        shuffled.resize(len, 0);
        decode_block(input, &mut shuffled).map_err(|fault| Fault::of(fault, block))?;
        let start = out.len();
        out.resize(start + len, 0);
        unshuffle(&shuffled, element_bytes, &mut out[start..]);
        rest = after;
        block += 1;
    }
    let last = if whole.is_multiple_of(block_bytes) { block } else { block.saturating_sub(1) };
    let tail = rest.get(..decoded_len - whole);
    // What follows the tail is harmless.
    out.extend_from_slice(
        tail.ok_or(Fault::of(ChunkFault::ChunkTooShort, if decoded_len > whole { last } else { 0 }))?,
    );
    Ok(out)
}

/// Bytes of the elements that make groups of 8.
fn whole_bytes(len: usize, element_bytes: usize) -> usize {
    let elements = len / element_bytes;
    (elements - elements % 8) * element_bytes
}

/// Transposes 8 x 8 bits: bit i of row j goes to bit j of row i.
/// Hacker's Delight, section 7-3, by swaps of ever larger blocks.
fn transposed(rows: [u8; 8]) -> [u8; 8] {
    let mut x = u64::from_le_bytes(rows);
    for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swapped = (x ^ x >> shift) & mask;
        x ^= swapped ^ swapped << shift;
    }
    x.to_le_bytes()
}

const TARGET_BLOCK_BYTES: usize = 8192;
const LEAST_BLOCK_PX: usize = 128;
const HEADER_BYTES: usize = 12;
/// A block beyond this is given room only if its compressed bytes could fill it.
const LARGE_BLOCK_BYTES: usize = 1 << 20;
/// What Zstandard makes of a byte at most (a run of 128 KiB takes 4 bytes); LZ4 makes 255.
const MOST_EXPANSION: usize = 1 << 15;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: bit k of element i goes to bit i % 8 of byte i / 8 of plane k.
    fn shuffle(block: &[u8], element_bytes: usize) -> Vec<u8> {
        let elements = block.len() / element_bytes;
        let mut out = vec![0; block.len()];
        for element in 0..elements {
            for bit in 0..8 * element_bytes {
                let value = block[element * element_bytes + bit / 8] >> (bit % 8) & 1;
                out[bit * elements / 8 + element / 8] |= value << (element % 8);
            }
        }
        out
    }

    proptest! {
        #[test]
        fn unshuffle_undoes_the_definition(width in prop::sample::select(vec![1_usize, 2, 4, 8]), groups in 1_usize..9, seed: Vec<u8>) {
            let block: Vec<u8> = (0..groups * 8 * width).map(|i| seed.get(i).copied().unwrap_or(i as u8)).collect();
            let mut out = vec![0; block.len()];
            unshuffle(&shuffle(&block, width), width, &mut out);
            prop_assert_eq!(out, block);
        }
    }

    #[test]
    fn the_default_block_is_that_of_the_reference() {
        assert_eq!([1, 2, 4, 8, 128].map(default_block_px), [8192, 4096, 2048, 1024, 128]);
    }

    #[test]
    fn a_header_that_asks_for_another_size_is_refused_before_anything_is_allocated() {
        let mut chunk = (1_u64 << 62).to_be_bytes().to_vec();
        chunk.extend(8192_u32.to_be_bytes());
        let refused = framed(&chunk, 18, 2, None, super::super::lz4::block);
        assert_eq!(refused, Err(ChunkFault::DecodedSize.into()));
    }

    #[test]
    fn three_by_three_pixels_are_one_block_of_eight_and_a_raw_one() {
        let pixels: Vec<u8> = (1..=9_u16).flat_map(u16::to_le_bytes).collect();
        let mut chunk = 18_u64.to_be_bytes().to_vec();
        chunk.extend(8192_u32.to_be_bytes());
        chunk.extend(18_u32.to_be_bytes());
        // LZ4: 16 literals.
        chunk.extend([0xf0, 1]);
        chunk.extend(shuffle(&pixels[..16], 2));
        chunk.extend(&pixels[16..]);
        assert_eq!(framed(&chunk, 18, 2, None, super::super::lz4::block), Ok(pixels));
        let cut = framed(&chunk[..chunk.len() - 1], 18, 2, None, super::super::lz4::block);
        assert_eq!(cut, Err(ChunkFault::ChunkTooShort.into()));
    }
}
