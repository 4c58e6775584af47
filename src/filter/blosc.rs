//! Blosc, filter 32001, version 1 (<https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst>).
//!
//! A chunk is a header of 16 bytes, the places of its blocks, and the blocks. A block is one stream, or, where elements
//! are small, one for each byte of the element; each is a length and its compressed bytes, raw where both are as long.
//! Bytes or bits were shuffled in each block before.

use super::{Fault, bitshuffle, bytewise, lz4, zlib};
use crate::engine::ChunkFault;

/// The codecs of filter parameter 6, but for Snappy (3), which is not read.
pub(super) fn is_known(compressor: u32) -> bool {
    [0, 1, 2, 4, 5].contains(&compressor)
}

/// Decodes a whole chunk to `decoded_len` bytes.
pub(super) fn decode(chunk: &[u8], decoded_len: usize) -> Result<Vec<u8>, Fault> {
    let header = Header::read(chunk)?;
    if header.decoded_len != decoded_len {
        return Err(ChunkFault::DecodedSize.into());
    }
    if header.flags & STORED != 0 {
        let bytes = chunk.get(HEADER_BYTES..HEADER_BYTES + decoded_len);
        return bytes.map(<[u8]>::to_vec).ok_or(ChunkFault::ChunkTooShort.into());
    }
    if header.block_len == 0 {
        return Err(ChunkFault::BlockSize.into());
    }
    let mut out = Vec::new();
    for number in 0..decoded_len.div_ceil(header.block_len) {
        let place = u32_at(chunk, HEADER_BYTES + 4 * number).ok_or(Fault::of(ChunkFault::ChunkTooShort, number))?;
        let len = header.block_len.min(decoded_len - out.len());
        let block = decode_block(&header, chunk.get(place as usize..).unwrap_or_default(), len);
        out.extend(block.map_err(|fault| Fault::of(fault, number))?);
    }
    Ok(out)
}

struct Header {
    flags: u8,
    element_bytes: usize,
    decoded_len: usize,
    block_len: usize,
}

impl Header {
    fn read(chunk: &[u8]) -> Result<Self, Fault> {
        let header: &[u8; HEADER_BYTES] = chunk.first_chunk().ok_or(Fault::from(ChunkFault::ChunkTooShort))?;
        let field = |at| u32_at(header, at).unwrap_or(0) as usize;
        let (flags, element_bytes) = (header[2], usize::from(header[3]).max(1));
        Ok(Self { flags, element_bytes, decoded_len: field(4), block_len: field(8) })
    }

    /// Streams of a block of `len` bytes.
    fn streams(&self, len: usize) -> usize {
        let is_split = self.flags & NOT_SPLIT == 0
            && self.element_bytes <= MOST_STREAMS
            && len / self.element_bytes >= SHORTEST_STREAM
            && len == self.block_len;
        if is_split { self.element_bytes } else { 1 }
    }
}

fn decode_block(header: &Header, mut bytes: &[u8], len: usize) -> Result<Vec<u8>, ChunkFault> {
    let streams = header.streams(len);
    let stream_len = len / streams;
    let mut shuffled = Vec::new();
    for _ in 0..streams {
        let (size, rest) = bytes.split_first_chunk().ok_or(ChunkFault::ChunkTooShort)?;
        let (input, rest) = rest.split_at_checked(u32::from_le_bytes(*size) as usize).ok_or(ChunkFault::BlockLength)?;
        bytes = rest;
        if input.len() == stream_len {
            shuffled.extend_from_slice(input);
            continue;
        }
        if stream_len / MOST_EXPANSION > input.len() {
            return Err(ChunkFault::ShortOutput);
        }
        let start = shuffled.len();
        shuffled.resize(start + stream_len, 0);
        let output = &mut shuffled[start..];
        match header.flags >> 5 {
            0 => blosclz(input, output)?,
            1 => lz4::block(input, output)?,
            3 => output.copy_from_slice(&zlib::inflate(input, stream_len).map_err(|fault| fault.fault)?),
            4 => zlib::zstandard_block(input, output)?,
            _ => return Err(ChunkFault::Filter),
        }
    }
    Ok(unshuffled(header, shuffled))
}

fn unshuffled(header: &Header, shuffled: Vec<u8>) -> Vec<u8> {
    let element = header.element_bytes;
    let elements = shuffled.len() / element;
    match header.flags {
        flags if flags & BYTES_SHUFFLED != 0 && element > 1 => bytewise::unshuffle(&shuffled, element),
        // Of other numbers of elements the bits stay as they are.
        flags if flags & BITS_SHUFFLED != 0 && elements.is_multiple_of(8) => {
            let mut out = shuffled.clone();
            let whole = elements * element;
            bitshuffle::unshuffle(&shuffled[..whole], element, &mut out[..whole]);
            out
        }
        _ => shuffled,
    }
}

/// BloscLZ (<https://github.com/Blosc/c-blosc/blob/main/blosc/blosclz.c>): a control byte below 32 is followed by one
/// more literals than it says; otherwise its high three bits are a length and the rest begins a distance.
fn blosclz(input: &[u8], output: &mut [u8]) -> Result<(), ChunkFault> {
    let mut rest = input.iter().map(|&byte| usize::from(byte));
    let mut next = || rest.next().ok_or(ChunkFault::InputOverrun);
    // The first one is always of literals.
    let mut control = next()? & 31;
    let mut done = 0;
    loop {
        if control < 32 {
            for _ in 0..=control {
                *output.get_mut(done).ok_or(ChunkFault::OutputOverrun)? = next()? as u8;
                done += 1;
            }
        } else {
            let (mut len, high) = ((control >> 5) + 2, (control & 31) << 8);
            if len == 9 {
                loop {
                    let more = next()?;
                    len += more;
                    if more != 255 {
                        break;
                    }
                }
            }
            let low = next()?;
            let is_far = low == 255 && high == 31 << 8;
            let distance = if is_far { (next()? << 8) + next()? + FAR + 1 } else { high + low + 1 };
            let start = done.checked_sub(distance).ok_or(ChunkFault::OffsetBeforeBlock)?;
            if len > output.len() - done {
                return Err(ChunkFault::OutputOverrun);
            }
            for i in start..start + len {
                output[i + distance] = output[i];
            }
            done += len;
        }
        match next() {
            Ok(following) => control = following,
            Err(_) => break,
        }
    }
    if done == output.len() { Ok(()) } else { Err(ChunkFault::ShortOutput) }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|field| u32::from_le_bytes(*field))
}

const HEADER_BYTES: usize = 16;
/// Bits of the flags; the three highest are the codec.
const BYTES_SHUFFLED: u8 = 1;
const STORED: u8 = 2;
const BITS_SHUFFLED: u8 = 4;
const NOT_SPLIT: u8 = 16;
/// `MAX_SPLITS` and `MIN_BUFFERSIZE` of c-blosc.
const MOST_STREAMS: usize = 16;
const SHORTEST_STREAM: usize = 128;
/// `MAX_DISTANCE` of BloscLZ: from here on distances have 16 bits.
const FAR: usize = 8191;
/// What Zstandard makes of a byte at most; the other codecs make less.
const MOST_EXPANSION: usize = 1 << 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blosclz_copies_literals_and_near_and_long_matches() {
        let decode = |input: &[u8], len: usize| {
            let mut out = vec![0; len];
            blosclz(input, &mut out).map(|()| out)
        };
        // Two literals, then 3 bytes from 2 back.
        assert_eq!(decode(&[1, 7, 8, 0x20, 1], 5), Ok(vec![7, 8, 7, 8, 7]));
        // 9 + 4 bytes from 1 back.
        assert_eq!(decode(&[0, 5, 0xe0, 4, 0], 14), Ok(vec![5; 14]));
        assert_eq!(decode(&[0, 5, 0x20, 1], 4), Err(ChunkFault::OffsetBeforeBlock));
        assert_eq!(decode(&[0, 5, 0xe0, 4, 0], 13), Err(ChunkFault::OutputOverrun));
        assert_eq!(decode(&[1, 5], 2), Err(ChunkFault::InputOverrun));
        assert_eq!(decode(&[0, 5], 2), Err(ChunkFault::ShortOutput));
    }

    #[test]
    fn a_header_that_asks_for_another_size_or_for_no_blocks_is_refused() {
        let header = |len: u32, block: u32, flags: u8| {
            let mut chunk = vec![2, 1, flags, 2];
            [len, block, 16].iter().for_each(|field| chunk.extend(field.to_le_bytes()));
            chunk
        };
        assert_eq!(decode(&header(1 << 31, 64, 0), 8), Err(ChunkFault::DecodedSize.into()));
        assert_eq!(decode(&header(8, 0, 0), 8), Err(ChunkFault::BlockSize.into()));
        assert_eq!(decode(&header(8, 8, STORED), 8), Err(ChunkFault::ChunkTooShort.into()));
        assert_eq!(decode(&[header(2, 2, STORED), vec![3, 4]].concat(), 2), Ok(vec![3, 4]));
        // A block far outside the chunk.
        assert_eq!(decode(&[header(8, 8, 0), vec![255; 4]].concat(), 8), Err(ChunkFault::ChunkTooShort.into()));
    }
}
