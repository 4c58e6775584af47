//! LZ4 blocks (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>) and the HDF5 filter 32004.

use super::Fault;
use crate::{cpu, engine::ChunkFault};

/// Decodes one LZ4 block into the whole of `output`. lz4_flex decodes; where it refuses, the GPU's twin names
/// the rule that was broken.
pub(super) fn block(input: &[u8], output: &mut [u8]) -> Result<(), ChunkFault> {
    match lz4_flex::block::decompress_into(input, output) {
        Ok(len) if len == output.len() => Ok(()),
        _ => cpu::lz4::decode(input, output),
    }
}

/// Filter 32004: decoded bytes (u64), block bytes (u32), then per block its length (u32), all big-endian;
/// a block as long as its content is stored raw
/// (<https://github.com/nexusformat/HDF5-External-Filter-Plugins/tree/master/LZ4>).
pub(super) fn framed(chunk: &[u8], decoded_len: usize) -> Result<Vec<u8>, Fault> {
    let too_short = |block| Fault::of(ChunkFault::ChunkTooShort, block);
    let (total, rest) = chunk.split_first_chunk().ok_or(too_short(0))?;
    let (block_bytes, mut rest) = rest.split_first_chunk().ok_or(too_short(0))?;
    if u64::from_be_bytes(*total) != decoded_len as u64 {
        return Err(ChunkFault::DecodedSize.into());
    }
    let block_bytes = u32::from_be_bytes(*block_bytes) as usize;
    if block_bytes == 0 {
        return Err(ChunkFault::BlockSize.into());
    }
    let mut out = Vec::new();
    let mut number = 0;
    while out.len() < decoded_len {
        let len = (decoded_len - out.len()).min(block_bytes);
        let (size, after) = rest.split_first_chunk().ok_or(too_short(number))?;
        let size = u32::from_be_bytes(*size) as usize;
        let (input, after) = after.split_at_checked(size).ok_or(Fault::of(ChunkFault::BlockLength, number))?;
        if len / MOST_EXPANSION > size {
            return Err(Fault::of(ChunkFault::ShortOutput, number));
        }
        let start = out.len();
        if size == len {
            out.extend_from_slice(input);
        } else {
            out.resize(start + len, 0);
            block(input, &mut out[start..]).map_err(|fault| Fault::of(fault, number))?;
        }
        rest = after;
        number += 1;
    }
    Ok(out)
}

/// No LZ4 block decodes to more than 255 times its length.
const MOST_EXPANSION: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_its_fault() {
        use ChunkFault::*;
        let cases: [(&[u8], usize, ChunkFault); 11] = [
            (&[], 1, ShortOutput),
            (&[0x20, 1], 2, InputOverrun),
            (&[0xF0, 255], 300, InputOverrun),
            (&[0x20, 1, 2], 1, OutputOverrun),
            (&[0x20, 1, 2], 3, ShortOutput),
            (&[0x10, 1, 2], 1, TrailingInput),
            (&[0x10, 1, 1], 9, InputOverrun),
            (&[0x10, 1, 0, 0, 0], 5, OffsetZero),
            (&[0x10, 1, 2, 0, 0], 5, OffsetBeforeBlock),
            (&[0x11, 1, 1, 0, 0], 5, OutputOverrun),
            (&[0x10, 1, 1, 0, 0x10, 1], 5, TrailingInput),
        ];
        for (input, len, fault) in cases {
            assert_eq!(block(input, &mut vec![0; len]), Err(fault), "{input:?}");
        }
    }

    #[test]
    fn blocks_as_long_as_their_content_are_raw() {
        let chunk = [0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 3, 7, 8, 9, 0, 0, 0, 3, 0x20, 1, 2];
        assert_eq!(framed(&chunk, 5), Ok(vec![7, 8, 9, 1, 2]));
        assert_eq!(framed(&chunk[..20], 5), Err(Fault::of(ChunkFault::ChunkTooShort, 1)));
    }
}
