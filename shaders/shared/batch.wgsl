// The shape of one batch of bitshuffle-LZ4 chunks; the same for every pass of a decode.
struct Batch {
    /// Frames of the batch = slots; at least 1.
    frames: u32,
    /// Slots before them in the buffers that records go to.
    first_slot: u32,
    /// Bytes of one pixel: 1, 2, 4 or 8.
    pixel_bytes: u32,
    /// Bytes of one decoded frame, the raw tail included.
    frame_bytes: u32,
    /// Bytes of a full block, a multiple of 8 pixels.
    block_bytes: u32,
    /// Bytes of the last LZ4 block; block_bytes when the frame is whole blocks.
    last_bytes: u32,
    /// LZ4 blocks of a frame.
    lz4_blocks: u32,
    /// Raw bytes behind the last LZ4 block: less than 8 pixels.
    tail_bytes: u32,
    /// Blocks of a resident frame: lz4_blocks, or one more that holds nothing but the tail.
    blocks: u32,
    /// Words of the scratch between two frames.
    frame_words: u32,
    /// Words of the bitmaps between two blocks.
    map_stride: u32,
    /// 1 when the top plane counts negative, else 0.
    is_signed: u32,
}

// ChunkFault of engine.rs.
const CHUNK_TOO_SHORT = 1u;
const DECODED_SIZE = 2u;
const BLOCK_SIZE = 3u;
const BLOCK_LENGTH = 4u;
const OFFSET_ZERO = 5u;
const OFFSET_BEFORE_BLOCK = 6u;
const INPUT_OVERRUN = 7u;
const OUTPUT_OVERRUN = 8u;
const SHORT_OUTPUT = 9u;
const TRAILING_INPUT = 10u;

// Length of a block that is not to be decoded, because the chunk's header failed.
const NO_BLOCK = 0xFFFFFFFFu;

// Fault words count downwards, so that 0 is none and the largest is the fault of the lowest block.
fn fault_word(fault: u32, block: u32) -> u32 {
    return ~((block << 8u) | fault);
}
