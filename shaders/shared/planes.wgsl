// Resident frames: bit planes without their zero words (the form is told in src/cpu/planes.rs).
// Every pass over them binds the same buffers first; a batch is one dispatch.

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
/// The same, four words at a time.
@group(0) @binding(2) var<storage, read> quads: array<vec4u>;
/// Slot x blocks + block -> first word of the record; of no use for failed frames.
@group(0) @binding(3) var<storage, read> table: array<u32>;
/// Slot -> frame, status; its length is the number of slots.
@group(0) @binding(4) var<storage, read> slots: array<vec2u>;

/// The record of one block.
struct Record {
    /// Bit k: plane k is not empty.
    present: u32,
    /// First of its bitmaps, in quads.
    maps: u32,
    /// First of its words, and their number.
    data: u32,
    count: u32,
    /// Quads of the bitmap of one plane.
    map_quads: u32,
}

fn is_decoded(slot: u32) -> bool {
    return slot < arrayLength(&slots) && slots[slot].y == 0u;
}

fn frame_of(slot: u32) -> u32 {
    return slots[slot].x;
}

// Words of one plane of this block.
fn plane_words_of(block: u32) -> u32 {
    return select(shape.plane_words, shape.last_plane_words, block + 1u == shape.blocks);
}

// Quads of the bitmap of one plane of this block.
fn map_quads_of(block: u32) -> u32 {
    return (plane_words_of(block) + 127u) / 128u;
}

fn record_of(slot: u32, block: u32) -> Record {
    let first = table[slot * shape.blocks + block] / 4u;
    let map_quads = map_quads_of(block);
    let head = quads[first];
    let data = 4u * (first + 1u + countOneBits(head.x) * map_quads);
    return Record(head.x, first + 1u, data, head.y, map_quads);
}

fn has_plane(record: Record, plane: u32) -> bool {
    return ((record.present >> plane) & 1u) == 1u;
}

// First quad of the bitmap of this plane, if it is not empty.
fn map_of(record: Record, plane: u32) -> u32 {
    return record.maps + countOneBits(record.present & ((1u << plane) - 1u)) * record.map_quads;
}

fn sum_of_four(values: vec4u) -> u32 {
    return values.x + values.y + values.z + values.w;
}

// Number of words that the bitmaps from quad `first` up to `end` stand for.
fn count_words(first: u32, end: u32) -> u32 {
    var count = 0u;
    for (var i = first; i < end; i++) {
        count += sum_of_four(countOneBits(quads[i]));
    }
    return count;
}

fn is_sign(plane: u32) -> bool {
    return shape.is_signed == 1u && plane + 1u == shape.bits;
}

// What a 1 in this plane adds to a pixel of 32 bits, two's complement.
fn weight(plane: u32) -> u32 {
    return select(1u << plane, 0xffffffffu << plane, is_sign(plane));
}

// One word of the plane whose bitmap begins at quad `map`, and whose words begin at `start`.
fn plane_word(map: u32, start: u32, word: u32) -> u32 {
    let found = words[4u * map + word / 32u];
    let bit = 1u << (word % 32u);
    if (found & bit) == 0u {
        return 0u;
    }
    var at = start + countOneBits(found & (bit - 1u));
    for (var i = 4u * map; i < 4u * map + word / 32u; i++) {
        at += countOneBits(words[i]);
    }
    return words[at];
}

// One pixel of one block, sign-extended to 32 bits.
fn pixel_of(record: Record, pixel: u32) -> u32 {
    var value = 0u;
    var map = record.maps;
    var start = record.data;
    for (var left = record.present; left != 0u; left &= left - 1u) {
        let word = plane_word(map, start, pixel / 32u);
        value += weight(countTrailingZeros(left)) * ((word >> (pixel % 32u)) & 1u);
        start += count_words(map, map + record.map_quads);
        map += record.map_quads;
    }
    return value;
}

// One word of one plane, 0 where the plane is empty.
fn word_of(record: Record, plane: u32, word: u32) -> u32 {
    if !has_plane(record, plane) {
        return 0u;
    }
    let map = map_of(record, plane);
    return plane_word(map, record.data + count_words(record.maps, map), word);
}
