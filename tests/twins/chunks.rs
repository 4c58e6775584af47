//! Makes bitshuffle-LZ4 chunks: of pixels, as the reference filter would, and of hand-made LZ4 streams.

use planescope::shape::{Detector, Dtype, FrameLayout};

/// A small random sequence (xorshift), the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u32
    }

    pub fn below(&mut self, end: u32) -> u32 {
        self.word() % end.max(1)
    }

    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.word() as u8).collect()
    }
}

pub fn layout(dtype: Dtype, rows: u32, cols: u32, block_px: u32) -> FrameLayout {
    FrameLayout { detector: Detector { rows, cols }, dtype, block_px }
}

/// One block per frame, of `bytes` bytes: for hand-made streams.
pub fn one_block(bytes: u32) -> FrameLayout {
    layout(Dtype::U8, 1, bytes, bytes)
}

/// The chunk of these little-endian pixels.
pub fn chunk_of(layout: &FrameLayout, pixels: &[u8]) -> Vec<u8> {
    let pixel_bytes = layout.dtype.bytes() as usize;
    let whole = pixels.len() / pixel_bytes / 8 * 8 * pixel_bytes;
    let blocks = pixels[..whole].chunks(layout.block_px as usize * pixel_bytes);
    let streams = blocks.map(|block| lz4_flex::block::compress(&shuffled(block, pixel_bytes))).collect::<Vec<_>>();
    chunk_of_streams(layout, &streams, &pixels[whole..])
}

/// The chunk of these LZ4 blocks and this raw tail.
pub fn chunk_of_streams(layout: &FrameLayout, streams: &[Vec<u8>], tail: &[u8]) -> Vec<u8> {
    let pixel_bytes = layout.dtype.bytes();
    let mut chunk = u64::from(layout.detector.pixels() * pixel_bytes).to_be_bytes().to_vec();
    chunk.extend((layout.block_px * pixel_bytes).to_be_bytes());
    for stream in streams {
        chunk.extend((stream.len() as u32).to_be_bytes());
        chunk.extend(stream);
    }
    chunk.extend(tail);
    chunk
}

/// Bit i of byte j of plane k = bit k of pixel 8 j + i.
fn shuffled(block: &[u8], pixel_bytes: usize) -> Vec<u8> {
    let plane_bytes = block.len() / pixel_bytes / 8;
    let mut planes = vec![0; block.len()];
    for (pixel, bytes) in block.chunks_exact(pixel_bytes).enumerate() {
        for bit in 0..8 * pixel_bytes {
            planes[bit * plane_bytes + pixel / 8] |= (bytes[bit / 8] >> (bit % 8) & 1) << (pixel % 8);
        }
    }
    planes
}

/// All planes of a frame of these pixels, straight from the definition of [`FrameLayout`].
pub fn planes_of(layout: &FrameLayout, pixels: &[u8]) -> Vec<u32> {
    let pixel_bytes = layout.dtype.bytes() as usize;
    let mut planes = vec![0; layout.frame_words() as usize];
    for (pixel, bytes) in (0..).zip(pixels.chunks_exact(pixel_bytes)) {
        let (block, inside) = (pixel / layout.block_px, (pixel % layout.block_px) as usize);
        let first = (0..block).map(|block| layout.block_words(block)).sum::<u32>() as usize;
        for bit in 0..8 * pixel_bytes {
            let word = first + bit * layout.plane_words(block) as usize + inside / 32;
            planes[word] |= u32::from(bytes[bit / 8] >> (bit % 8) & 1) << (inside % 32);
        }
    }
    planes
}

/// An LZ4 block, sequence by sequence.
pub struct Stream {
    pub bytes: Vec<u8>,
    /// Bytes it has made.
    pub made: usize,
    size: usize,
}

impl Stream {
    /// Of a block of `size` bytes.
    pub fn of(size: usize) -> Self {
        Self { bytes: Vec::new(), made: 0, size }
    }

    pub fn room(&self) -> usize {
        self.size - self.made
    }

    /// Literals and a match of `len` >= 4 bytes, `offset` bytes back.
    pub fn sequence(&mut self, literals: &[u8], offset: u16, len: usize) -> &mut Self {
        self.bytes.push(nibble(literals.len()) << 4 | nibble(len - 4));
        extend(&mut self.bytes, literals.len());
        self.bytes.extend(literals);
        self.bytes.extend(offset.to_le_bytes());
        extend(&mut self.bytes, len - 4);
        self.made += literals.len() + len;
        self
    }

    /// Literals that end the block.
    pub fn end(&mut self, literals: &[u8]) -> Vec<u8> {
        self.bytes.push(nibble(literals.len()) << 4);
        extend(&mut self.bytes, literals.len());
        self.bytes.extend(literals);
        std::mem::take(&mut self.bytes)
    }
}

fn nibble(len: usize) -> u8 {
    len.min(15) as u8
}

fn extend(bytes: &mut Vec<u8>, len: usize) {
    if let Some(more) = len.checked_sub(15) {
        bytes.extend(std::iter::repeat_n(255, more / 255));
        bytes.push((more % 255) as u8);
    }
}
