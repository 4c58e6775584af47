//! One LZ4 block, decoded strictly: every byte of the input is used and every byte of the output made.
//!
//! The same rules in the same order as `shaders/lz4.wgsl`, so that both name the same fault. Format:
//! <https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>. The restrictions on the end of a block
//! bind encoders only, except that a block ends with literals, be they none.

use crate::engine::ChunkFault;

/// Decodes `input` into the whole of `output`.
///
/// # Errors
/// The first rule that the stream breaks; `output` is then of no use.
pub fn decode(input: &[u8], output: &mut [u8]) -> Result<(), ChunkFault> {
    let mut stream = Stream { input };
    let mut made = 0;
    loop {
        let is_full = made == output.len();
        let token = stream.byte().ok_or(if is_full { ChunkFault::InputOverrun } else { ChunkFault::ShortOutput })?;
        let literals = stream.length(token >> 4)?;
        let run = stream.take(literals).ok_or(ChunkFault::InputOverrun)?;
        let fault = if is_full { ChunkFault::TrailingInput } else { ChunkFault::OutputOverrun };
        output.get_mut(made..made + run.len()).ok_or(fault)?.copy_from_slice(run);
        made += run.len();
        let is_full = made == output.len();
        if stream.input.is_empty() {
            return if is_full { Ok(()) } else { Err(ChunkFault::ShortOutput) };
        }
        if is_full {
            return Err(ChunkFault::TrailingInput);
        }
        made = copy_match(&mut stream, token & 15, output, made)?;
    }
}

/// Copies one match to `output[made..]`; its bytes may be of its own making. Returns what is made then.
fn copy_match(stream: &mut Stream, nibble: u8, output: &mut [u8], made: usize) -> Result<usize, ChunkFault> {
    let offset = stream.take(2).ok_or(ChunkFault::InputOverrun)?;
    let offset = offset.iter().rev().fold(0, |offset, &byte| offset << 8 | usize::from(byte));
    // The length is read before the offset is judged, but a bad offset is the graver fault.
    let length = stream.length(nibble);
    if offset == 0 {
        return Err(ChunkFault::OffsetZero);
    }
    let source = made.checked_sub(offset).ok_or(ChunkFault::OffsetBeforeBlock)?;
    let length = length? + SHORTEST_MATCH;
    if length > output.len() - made {
        return Err(ChunkFault::OutputOverrun);
    }
    for i in 0..length {
        output[made + i] = output[source + i];
    }
    Ok(made + length)
}

/// What is left of the input.
struct Stream<'a> {
    input: &'a [u8],
}

impl<'a> Stream<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.input.split_at_checked(len)?;
        self.input = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    /// A length of a token: 15 means that bytes follow to be added, the last of them below 255.
    fn length(&mut self, nibble: u8) -> Result<usize, ChunkFault> {
        let mut length = usize::from(nibble);
        let mut is_last = nibble < 15;
        while !is_last {
            let more = self.byte().ok_or(ChunkFault::InputOverrun)?;
            length += usize::from(more);
            is_last = more < 255;
        }
        Ok(length)
    }
}

const SHORTEST_MATCH: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(input: &[u8], len: usize) -> Result<Vec<u8>, ChunkFault> {
        let mut output = vec![0; len];
        decode(input, &mut output).map(|()| output)
    }

    #[test]
    fn literals_matches_and_overlaps_are_copied() {
        assert_eq!(decoded(&[0x30, 7, 8, 9], 3), Ok(vec![7, 8, 9]));
        assert_eq!(decoded(&[0x21, 7, 8, 2, 0, 0x10, 1], 8), Ok(vec![7, 8, 7, 8, 7, 8, 7, 1]));
        assert_eq!(decoded(&[0x1F, 5, 1, 0, 1, 0], 21), Ok(vec![5; 21]));
    }

    #[test]
    fn every_rule_has_its_fault() {
        use ChunkFault::*;
        let cases: [(&[u8], usize, ChunkFault); 12] = [
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
            (&[0x10, 1, 1, 0], 5, InputOverrun),
            (&[0x10, 1, 1, 0, 0x10, 1], 5, TrailingInput),
        ];
        for (input, len, fault) in cases {
            assert_eq!(decoded(input, len), Err(fault), "{input:?}");
            let mut output = vec![0; len];
            let oracle = lz4_flex::block::decompress_into(input, &mut output);
            assert_ne!(oracle.ok(), Some(len), "lz4_flex refuses {input:?} as well");
        }
    }
}
