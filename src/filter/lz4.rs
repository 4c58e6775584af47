//! LZ4 blocks (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>) and the HDF5 filter 32004.

use super::Fault;
use crate::engine::ChunkFault;

/// Decodes one LZ4 block into the whole of `output`.
pub(super) fn block(input: &[u8], output: &mut [u8]) -> Result<(), ChunkFault> {
    match lz4_flex::block::decompress_into(input, output) {
        Ok(len) if len == output.len() => Ok(()),
        _ => Err(verdict(input, output.len())),
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

/// The rule that a refused block breaks, found by walking its sequences without making any output.
fn verdict(input: &[u8], output_len: usize) -> ChunkFault {
    let mut stream = Stream(input);
    let mut made = 0;
    loop {
        match sequence(&mut stream, made, output_len) {
            Ok(now) => made = now,
            Err(fault) => return fault,
        }
    }
}

/// One sequence; gives what is made then.
fn sequence(stream: &mut Stream, made: usize, output_len: usize) -> Result<usize, ChunkFault> {
    let is_full = made == output_len;
    let token = stream.take(1).ok_or(if is_full { ChunkFault::InputOverrun } else { ChunkFault::ShortOutput })?[0];
    let literals = stream.length(token >> 4)?;
    stream.take(literals).ok_or(ChunkFault::InputOverrun)?;
    if literals > output_len - made {
        return Err(if is_full { ChunkFault::TrailingInput } else { ChunkFault::OutputOverrun });
    }
    let made = made + literals;
    match (stream.0.is_empty(), made == output_len) {
        (true, _) => return Err(ChunkFault::ShortOutput),
        (false, true) => return Err(ChunkFault::TrailingInput),
        (false, false) => {}
    }
    let offset = stream.take(2).ok_or(ChunkFault::InputOverrun)?;
    let offset = usize::from(offset[0]) | usize::from(offset[1]) << 8;
    let length = stream.length(token & 15);
    if offset == 0 {
        return Err(ChunkFault::OffsetZero);
    }
    if offset > made {
        return Err(ChunkFault::OffsetBeforeBlock);
    }
    let length = length? + SHORTEST_MATCH;
    if length > output_len - made { Err(ChunkFault::OutputOverrun) } else { Ok(made + length) }
}

/// What is left of the input.
struct Stream<'a>(&'a [u8]);

impl<'a> Stream<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    /// 15 means that bytes follow to be added, the last of them below 255.
    fn length(&mut self, nibble: u8) -> Result<usize, ChunkFault> {
        let mut length = usize::from(nibble);
        let mut is_last = nibble < 15;
        while !is_last {
            let more = self.take(1).ok_or(ChunkFault::InputOverrun)?[0];
            length += usize::from(more);
            is_last = more < 255;
        }
        Ok(length)
    }
}

const SHORTEST_MATCH: usize = 4;
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
