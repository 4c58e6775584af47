//! Deflate (filter 1) and Zstandard (filter 32015), by their crates.

use std::io::Read;

use super::Fault;
use crate::engine::ChunkFault;

pub(super) fn inflate(bytes: &[u8], decoded_len: usize) -> Result<Vec<u8>, Fault> {
    read_to(flate2::read::ZlibDecoder::new(bytes), decoded_len).map_err(Fault::from)
}

pub(super) fn zstandard(bytes: &[u8], decoded_len: usize) -> Result<Vec<u8>, Fault> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|_| Fault::from(ChunkFault::Filter))?;
    read_to(decoder, decoded_len).map_err(Fault::from)
}

/// A block of bitshuffle Zstandard.
pub(super) fn zstandard_block(input: &[u8], output: &mut [u8]) -> Result<(), ChunkFault> {
    let decoded = zstandard(input, output.len()).map_err(|fault| fault.fault)?;
    output.copy_from_slice(&decoded);
    Ok(())
}

/// Exactly `decoded_len` bytes; room grows with what comes.
fn read_to(decoder: impl Read, decoded_len: usize) -> Result<Vec<u8>, ChunkFault> {
    let mut out = Vec::new();
    decoder.take(decoded_len as u64 + 1).read_to_end(&mut out).map_err(|_| ChunkFault::Filter)?;
    match out.len().cmp(&decoded_len) {
        std::cmp::Ordering::Less => Err(ChunkFault::ShortOutput),
        std::cmp::Ordering::Equal => Ok(out),
        std::cmp::Ordering::Greater => Err(ChunkFault::OutputOverrun),
    }
}
