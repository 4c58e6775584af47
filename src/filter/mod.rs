//! CPU codecs: from a chunk as stored to its elements. They decode what the GPU does not, and are the
//! oracle of what it does.
//!
//! No codec allocates what a chunk's header asks for: the decoded size is known beforehand, and room grows
//! with what is really decoded.

mod bitshuffle;
mod blosc;
mod bytewise;
mod lz4;
mod zlib;

pub use bitshuffle::{default_block_px, header_block_bytes, unshuffle};

use crate::{Error, Kind, engine::ChunkFault, hdf5::Filter};

/// Why a chunk was refused, and in which block it was found (0 for codecs without blocks).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub fault: ChunkFault,
    pub block: u32,
}

impl Fault {
    fn of(fault: ChunkFault, block: usize) -> Self {
        Self { fault, block: block as u32 }
    }
}

impl From<ChunkFault> for Fault {
    fn from(fault: ChunkFault) -> Self {
        Self { fault, block: 0 }
    }
}

/// Registered filter numbers (<https://github.com/HDFGroup/hdf5_plugins/blob/master/docs/RegisteredFilterPlugins.md>).
pub mod id {
    pub const DEFLATE: u16 = 1;
    pub const SHUFFLE: u16 = 2;
    pub const FLETCHER32: u16 = 3;
    pub const LZF: u16 = 32000;
    pub const BLOSC: u16 = 32001;
    pub const LZ4: u16 = 32004;
    pub const BITSHUFFLE: u16 = 32008;
    pub const ZSTANDARD: u16 = 32015;
}

/// What bitshuffle is followed by: the fifth of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    None,
    Lz4,
    Zstandard,
}

/// The codec of a bitshuffle filter; `None` for one that is not known.
pub fn bitshuffle_codec(filter: &Filter) -> Option<Codec> {
    match filter.parameters.get(4).copied().unwrap_or(0) {
        0 => Some(Codec::None),
        2 => Some(Codec::Lz4),
        3 => Some(Codec::Zstandard),
        _ => None,
    }
}

/// The codec that the parameters of a Blosc filter name; BloscLZ where they are few, as in old files.
fn blosc_compressor(filter: &Filter) -> u32 {
    filter.parameters.get(6).copied().unwrap_or(0)
}

/// Refuses a pipeline with a filter that is not read here, by number and name.
///
/// # Errors
/// `Unsupported`, key `unsupported_filter:N`.
pub fn check(filters: &[Filter]) -> Result<(), Error> {
    let is_known = |filter: &&Filter| match filter.id {
        id::DEFLATE | id::SHUFFLE | id::FLETCHER32 | id::LZF | id::LZ4 | id::ZSTANDARD => true,
        id::BITSHUFFLE => bitshuffle_codec(filter).is_some(),
        id::BLOSC => blosc::is_known(blosc_compressor(filter)),
        _ => false,
    };
    let Some(unknown) = filters.iter().find(|filter| !is_known(filter)) else { return Ok(()) };
    let e =
        Error::new(Kind::Unsupported, format!("unsupported_filter:{}", unknown.id), "This compression cannot be read");
    Err(e
        .at(format!("filter {} ({})", unknown.id, name(unknown)))
        .expected("bitshuffle, LZ4, Zstandard, deflate, LZF, Blosc or no compression")
        .found(name(unknown))
        .action(format!("Convert the file, for example with: h5repack -f {}=NONE -f GZIP=4 IN.h5 OUT.h5", unknown.id)))
}

/// A filter's name, with its codec where it has one.
pub fn name(filter: &Filter) -> String {
    let name = match filter.id {
        id::DEFLATE => "deflate",
        id::SHUFFLE => "shuffle",
        id::FLETCHER32 => "Fletcher-32",
        4 => "szip",
        5 => "n-bit",
        6 => "scale-offset",
        305 => "LZO",
        307 => "bzip2",
        id::LZF => "LZF",
        id::BLOSC if blosc_compressor(filter) == 3 => "Blosc with Snappy",
        id::BLOSC => "Blosc",
        id::LZ4 => "LZ4",
        id::BITSHUFFLE => match bitshuffle_codec(filter) {
            Some(Codec::None) => "bitshuffle",
            Some(Codec::Lz4) => "bitshuffle LZ4",
            Some(Codec::Zstandard) => "bitshuffle Zstandard",
            None => "bitshuffle with an unknown codec",
        },
        32013 => "ZFP",
        32014 => "FPZip",
        id::ZSTANDARD => "Zstandard",
        32016 | 32024 => "SZ",
        32018 => "FCIDECOMP",
        32019 => "JPEG",
        32023 => "Granular BitRound",
        32026 => "Blosc2",
        32028 => "SPERR",
        _ => "not a registered filter known here",
    };
    name.to_owned()
}

/// Undoes `filters`, last first, where `filter_mask` does not say that one was left out; gives
/// `decoded_len` bytes of elements of `element_bytes` each, in the file's byte order.
///
/// # Errors
/// The first fault found; a filter that is not read here is a [`ChunkFault::Filter`], see [`check`].
pub fn decode(
    filters: &[Filter],
    filter_mask: u32,
    chunk: &[u8],
    decoded_len: usize,
    element_bytes: usize,
) -> Result<Vec<u8>, Fault> {
    let is_applied = |i: usize| i >= 32 || filter_mask >> i & 1 == 0;
    let mut bytes = None;
    for (i, filter) in filters.iter().enumerate().rev().filter(|(i, _)| is_applied(*i)) {
        // Checksums lengthen what the filters before them (in writing) made.
        let sums = filters[..i].iter().enumerate().filter(|(j, f)| f.id == id::FLETCHER32 && is_applied(*j)).count();
        let len = decoded_len + bytewise::SUM_BYTES * sums;
        bytes = Some(undo(filter, bytes.as_deref().unwrap_or(chunk), len, element_bytes)?);
    }
    let bytes = bytes.unwrap_or_else(|| chunk.to_vec());
    match bytes.len() == decoded_len {
        true => Ok(bytes),
        false => Err(ChunkFault::DecodedSize.into()),
    }
}

/// Decodes a chunk of bitshuffle LZ4 whose block size is known: another one in its header is a fault.
///
/// # Errors
/// The first fault found.
pub fn bitshuffle_lz4(
    chunk: &[u8],
    decoded_len: usize,
    element_bytes: usize,
    block_bytes: u32,
) -> Result<Vec<u8>, Fault> {
    bitshuffle::framed(chunk, decoded_len, element_bytes, Some(block_bytes), lz4::block)
}

fn undo(filter: &Filter, bytes: &[u8], len: usize, element_bytes: usize) -> Result<Vec<u8>, Fault> {
    let parameter = |i: usize| filter.parameters.get(i).map(|&value| value as usize);
    match filter.id {
        id::DEFLATE => zlib::inflate(bytes, len),
        id::SHUFFLE => Ok(bytewise::unshuffle(bytes, parameter(0).unwrap_or(element_bytes))),
        id::FLETCHER32 => bytewise::check_fletcher32(bytes),
        id::LZF => bytewise::lzf(bytes, len),
        id::LZ4 => lz4::framed(bytes, len),
        id::BLOSC => blosc::decode(bytes, len),
        id::ZSTANDARD => zlib::zstandard(bytes, len),
        id::BITSHUFFLE => {
            let element = parameter(2).filter(|&element| element > 0).unwrap_or(element_bytes);
            let block_px = parameter(3).filter(|&block| block > 0).unwrap_or(default_block_px(element));
            match bitshuffle_codec(filter) {
                Some(Codec::None) => bitshuffle::plain(bytes, element, block_px),
                Some(Codec::Lz4) => bitshuffle::framed(bytes, len, element, None, lz4::block),
                Some(Codec::Zstandard) => bitshuffle::framed(bytes, len, element, None, zlib::zstandard_block),
                None => Err(ChunkFault::Filter.into()),
            }
        }
        _ => Err(ChunkFault::Filter.into()),
    }
}
