// Resident frames: bit planes without their zero words (the form is told in src/cpu/planes.rs).
// Every pass over them binds the same four buffers first; a batch is one dispatch.

struct FrameShape {
    /// Detector pixels of a frame.
    pixels: u32,
    /// Detector columns, px.
    cols: u32,
    /// Pixels of a full block.
    block_px: u32,
    /// Blocks of a frame.
    blocks: u32,
    /// Words of one plane of a full block; also the distance between the masks of two blocks.
    plane_words: u32,
    /// Words of one plane of the last block.
    last_plane_words: u32,
    /// Bit planes: 8, 16 or 32.
    bits: u32,
    /// 1 when the top plane counts negative, else 0.
    is_signed: u32,
}

@group(0) @binding(0) var<uniform> shape: FrameShape;
/// Records, one per block of a frame.
@group(0) @binding(1) var<storage, read> words: array<u32>;
/// Slot x blocks + block -> first word of the record; of no use for failed frames.
@group(0) @binding(2) var<storage, read> table: array<u32>;
/// Slot -> frame, status; its length is the number of slots.
@group(0) @binding(3) var<storage, read> slots: array<vec2u>;

fn is_decoded(slot: u32) -> bool {
    return slot < arrayLength(&slots) && slots[slot].y == 0u;
}

fn frame_of(slot: u32) -> u32 {
    return slots[slot].x;
}

fn record_of(slot: u32, block: u32) -> u32 {
    return table[slot * shape.blocks + block];
}

// Words of one plane of this block.
fn plane_words_of(block: u32) -> u32 {
    return select(shape.plane_words, shape.last_plane_words, block + 1u == shape.blocks);
}

// Words of the bitmap of one plane.
fn map_words_of(block: u32) -> u32 {
    return (plane_words_of(block) + 31u) / 32u;
}

// First bitmap word of this plane.
fn map_at(record: u32, plane: u32, map_words: u32) -> u32 {
    return record + shape.bits + 1u + plane * map_words;
}

// First of the non-zero words.
fn data_at(record: u32, map_words: u32) -> u32 {
    return map_at(record, shape.bits, map_words);
}

fn is_sign(plane: u32) -> bool {
    return shape.is_signed == 1u && plane + 1u == shape.bits;
}

// What a 1 in this plane adds to a pixel of 32 bits, two's complement.
fn weight(plane: u32) -> u32 {
    return select(1u << plane, 0xffffffffu << plane, is_sign(plane));
}

// One word of one plane, wherever its non-zero neighbours lie. `start` is the record's word of this plane.
fn plane_word(record: u32, plane: u32, start: u32, word: u32, map_words: u32) -> u32 {
    let map = map_at(record, plane, map_words);
    let found = words[map + word / 32u];
    let bit = 1u << (word % 32u);
    if (found & bit) == 0u {
        return 0u;
    }
    var at = data_at(record, map_words) + start + countOneBits(found & (bit - 1u));
    for (var i = 0u; i < word / 32u; i++) {
        at += countOneBits(words[map + i]);
    }
    return words[at];
}

// One pixel of one block, sign-extended to 32 bits.
fn pixel_of(record: u32, pixel: u32, map_words: u32) -> u32 {
    var value = 0u;
    var start = words[record];
    for (var plane = 0u; plane < shape.bits; plane++) {
        let end = words[record + plane + 1u];
        if start != end {
            let word = plane_word(record, plane, start, pixel / 32u, map_words);
            value += weight(plane) * ((word >> (pixel % 32u)) & 1u);
        }
        start = end;
    }
    return value;
}
