//! The small filters: byte shuffle (2), Fletcher-32 (3) and LZF (32000).

use super::Fault;
use crate::engine::ChunkFault;

/// Undoes the byte shuffle: byte k of all elements came first, then byte k + 1. Bytes that make no
/// element stay at the end.
pub(super) fn unshuffle(bytes: &[u8], element_bytes: usize) -> Vec<u8> {
    let elements = bytes.len() / element_bytes.max(1);
    let mut out = bytes.to_vec();
    if elements == 0 {
        return out;
    }
    for byte in 0..element_bytes {
        for element in 0..elements {
            out[element * element_bytes + byte] = bytes[byte * elements + element];
        }
    }
    out
}

/// Refuses bytes whose last four are not their checksum; gives the others.
pub(super) fn check_fletcher32(bytes: &[u8]) -> Result<Vec<u8>, Fault> {
    let (data, stored) = bytes.split_last_chunk::<SUM_BYTES>().ok_or(Fault::from(ChunkFault::ChunkTooShort))?;
    let stored = u32::from_le_bytes(*stored);
    let sum = fletcher32(data);
    // Files of HDF5 1.6.2 and before have the bytes of each half swapped.
    let swapped = (sum & 0x00ff_00ff) << 8 | (sum & 0xff00_ff00) >> 8;
    if stored == sum || stored == swapped { Ok(data.to_vec()) } else { Err(ChunkFault::Filter.into()) }
}

/// `H5_checksum_fletcher32`: big-endian 16-bit words, an odd byte counts as a high one; sums modulo 65535
/// with 0 written as 65535 unless nothing was added.
fn fletcher32(data: &[u8]) -> u32 {
    let (mut first, mut second) = (0_u32, 0_u32);
    // 360 additions cannot overflow 32 bits.
    for words in data.chunks(2 * 360) {
        for word in words.chunks(2) {
            first += u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0));
            second += first;
        }
        first = folded(first);
        second = folded(second);
    }
    folded(second) << 16 | folded(first)
}

fn folded(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
}

/// LZF (<http://oldhome.schmorp.de/marc/liblzf.html>): a control byte below 32 is followed by one more
/// literals than it says; otherwise its high three bits are a length and the rest begins an offset.
pub(super) fn lzf(input: &[u8], decoded_len: usize) -> Result<Vec<u8>, Fault> {
    let mut out = Vec::new();
    let mut rest = input.iter().copied();
    let mut byte = || rest.next();
    while let Some(control) = byte() {
        let control = usize::from(control);
        if control < 32 {
            for _ in 0..=control {
                out.push(byte().ok_or(Fault::from(ChunkFault::InputOverrun))?);
            }
        } else {
            let mut next = || byte().map(usize::from).ok_or(Fault::from(ChunkFault::InputOverrun));
            let short = control >> 5;
            let length = if short == 7 { next()? + 7 } else { short } + 2;
            let offset = ((control & 31) << 8 | next()?) + 1;
            let start = out.len().checked_sub(offset).ok_or(Fault::from(ChunkFault::OffsetBeforeBlock))?;
            for i in start..start + length {
                out.push(out[i]);
            }
        }
        if out.len() > decoded_len {
            return Err(ChunkFault::OutputOverrun.into());
        }
    }
    if out.len() == decoded_len { Ok(out) } else { Err(ChunkFault::ShortOutput.into()) }
}

pub(super) const SUM_BYTES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_put_together_again() {
        assert_eq!(unshuffle(&[1, 2, 3, 10, 20, 30, 99], 2), [1, 10, 2, 20, 3, 30, 99]);
    }

    #[test]
    fn fletcher_is_that_of_the_library() {
        // Words 0x6162 0x6364 0x6500 of "abcde".
        assert_eq!(fletcher32(b"abcde"), 0x4ff0_29c7);
        assert_eq!(check_fletcher32(&[0, 0, 0, 0, 0]), Ok(vec![0]));
        assert_eq!(check_fletcher32(&[1, 0, 0, 0, 0]), Err(ChunkFault::Filter.into()));
    }

    #[test]
    fn lzf_copies_literals_and_overlapping_matches() {
        assert_eq!(lzf(&[1, 7, 8, 0x60, 1], 7), Ok(vec![7, 8, 7, 8, 7, 8, 7]));
        assert_eq!(lzf(&[0x20, 5], 3), Err(ChunkFault::OffsetBeforeBlock.into()));
        assert_eq!(lzf(&[5, 1], 6), Err(ChunkFault::InputOverrun.into()));
        assert_eq!(lzf(&[0, 1], 3), Err(ChunkFault::ShortOutput.into()));
    }
}
