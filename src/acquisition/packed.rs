//! A list of chunks as one run of bytes: a set of a million frames passes between threads without a call per field.

use std::fmt;

use serde::{Deserializer, Serializer, de};

use super::FrameChunk;

pub fn serialize<S: Serializer>(chunks: &[FrameChunk], serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(chunks.len() * CHUNK_BYTES);
    for chunk in chunks {
        bytes.extend_from_slice(&chunk.offset.to_le_bytes());
        bytes.extend_from_slice(&chunk.frame.to_le_bytes());
        bytes.extend_from_slice(&chunk.len_bytes.to_le_bytes());
        bytes.extend_from_slice(&chunk.file.to_le_bytes());
    }
    serializer.serialize_bytes(&bytes)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<FrameChunk>, D::Error> {
    deserializer.deserialize_bytes(Bytes)
}

struct Bytes;

impl<'de> de::Visitor<'de> for Bytes {
    type Value = Vec<FrameChunk>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "chunks of {CHUNK_BYTES} bytes")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        let (chunks, []) = bytes.as_chunks::<CHUNK_BYTES>() else { return Err(E::invalid_length(bytes.len(), &self)) };
        let chunk = |&[a, b, c, d, e, f, g, h, frame @ .., l0, l1, l2, l3, f0, f1]: &[u8; CHUNK_BYTES]| FrameChunk {
            offset: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            frame: u32::from_le_bytes(frame),
            len_bytes: u32::from_le_bytes([l0, l1, l2, l3]),
            file: u16::from_le_bytes([f0, f1]),
        };
        Ok(chunks.iter().map(chunk).collect())
    }
}

/// Offset, frame, length, file.
const CHUNK_BYTES: usize = 8 + 4 + 4 + 2;
