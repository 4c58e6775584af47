// Decodes LZ4 blocks to dense pixels, a workgroup for each frame or each block: the published frame-cooperative design,
// kept as the baseline that every other kernel is measured against.
//
// All invocations walk the sequences together; each copies every WORKGROUP-th byte into workgroup memory, with a barrier
// after the literals and one after the match. Then they undo the bit shuffle.

@group(0) @binding(0) var<uniform> batch: Batch;
/// The chunks' bytes.
@group(0) @binding(1) var<storage, read> compressed: array<u32>;
/// Slot x lz4_blocks + block: first byte and bytes of the LZ4 block.
@group(0) @binding(2) var<storage, read> blocks: array<vec2u>;
/// Slot: 0, or the fault of its lowest block that has one.
@group(0) @binding(3) var<storage, read_write> faults: array<atomic<u32>>;
/// Pixels outside 0 to 255, where 8 bits are written; failed frames.
@group(0) @binding(4) var<storage, read_write> totals: array<atomic<u32>, 2>;
/// Pixels, little-endian; those of failed blocks are left as they were.
@group(0) @binding(5) var<storage, read_write> pixels: array<u32>;

const WORKGROUP = 64u;
/// Blocks that a workgroup decodes one after another: 1, or (0) all of a frame.
const BLOCKS_EACH = 0u;
const ENDLESS = 0x40000000u;
const COMPLETE = 255u;

var<workgroup> bytes: array<atomic<u32>, 2048>;

/// A length and the input behind it.
struct Length {
    bytes: u32,
    input: u32,
    runs_over: bool,
}

// Adds the extension bytes of a length: 255 means that another one follows.
fn extended(nibble: u32, input: u32, end: u32) -> Length {
    var length = Length(nibble, input, false);
    if nibble == 15u {
        loop {
            if length.input >= end {
                length.runs_over = true;
                break;
            }
            let more = compressed_byte(length.input);
            length.input += 1u;
            length.bytes = min(length.bytes + more, ENDLESS);
            if more != 255u {
                break;
            }
        }
    }
    return length;
}

fn put_byte(at: u32, value: u32) {
    atomicOr(&bytes[at >> 2u], value << ((at & 3u) * 8u));
}

fn byte_at(at: u32) -> u32 {
    return (atomicLoad(&bytes[at >> 2u]) >> ((at & 3u) * 8u)) & 255u;
}

// Decodes the stream of bytes `begin` to `end` into `size` zeroed bytes. Gives COMPLETE or the fault.
fn decode(begin: u32, end: u32, size: u32, member: u32) -> u32 {
    var input = begin;
    var output = 0u;
    // A sequence makes 4 bytes at least or is the last: the bound is never met.
    for (var sequence = 0u; sequence <= size; sequence++) {
        if input >= end {
            return select(INPUT_OVERRUN, SHORT_OUTPUT, output < size);
        }
        let token = compressed_byte(input);
        let literals = extended(token >> 4u, input + 1u, end);
        input = literals.input;
        if literals.runs_over || literals.bytes > end - input {
            return INPUT_OVERRUN;
        }
        if literals.bytes > size - output {
            return select(TRAILING_INPUT, OUTPUT_OVERRUN, output < size);
        }
        for (var i = member; i < literals.bytes; i += WORKGROUP) {
            put_byte(output + i, compressed_byte(input + i));
        }
        input += literals.bytes;
        output += literals.bytes;
        // The literals are there.
        workgroupBarrier();
        if input == end {
            return select(SHORT_OUTPUT, COMPLETE, output == size);
        }
        if output == size {
            return TRAILING_INPUT;
        }
        if end - input < 2u {
            return INPUT_OVERRUN;
        }
        let offset = compressed_byte(input) | (compressed_byte(input + 1u) << 8u);
        let length = extended(token & 15u, input + 2u, end);
        input = length.input;
        if offset == 0u {
            return OFFSET_ZERO;
        }
        if offset > output {
            return OFFSET_BEFORE_BLOCK;
        }
        if length.runs_over {
            return INPUT_OVERRUN;
        }
        let count = length.bytes + 4u;
        if count > size - output {
            return OUTPUT_OVERRUN;
        }
        for (var i = member; i < count; i += WORKGROUP) {
            put_byte(output + i, byte_at(output - offset + i % offset));
        }
        output += count;
        // The match is there.
        workgroupBarrier();
    }
    return SHORT_OUTPUT;
}

// The lowest bits of `word`, one to each pixel of `width` bits.
fn spread(word: u32, width: u32) -> u32 {
    let pair = (word & 1u) | ((word & 2u) << 15u);
    let four = (word & 1u) | ((word & 2u) << 7u) | ((word & 4u) << 14u) | ((word & 8u) << 21u);
    return select(select(pair, word & 1u, width == 32u), four, width == 8u);
}

// Plane `plane` of the pixels from `first` on, in the lowest bits.
fn plane_of(plane: u32, first: u32, plane_words: u32) -> u32 {
    return atomicLoad(&bytes[plane * plane_words + (first >> 5u)]) >> (first & 31u);
}

// Word `index` of the pixels of a block, its planes `plane_words` words each.
fn pixel_word(index: u32, plane_words: u32) -> u32 {
    let planes = batch.pixel_bytes * 8u;
    let width = output_bytes() * 8u;
    let first = index * (32u / width);
    var value = 0u;
    var over = 0u;
    var sign = 0u;
    // Eight at a time: a software adapter counts the turns of all loops and stops at 65,535 of them.
    for (var plane = 0u; plane < planes; plane += 8u) {
        let p0 = plane_of(plane, first, plane_words);
        let p1 = plane_of(plane + 1u, first, plane_words);
        let p2 = plane_of(plane + 2u, first, plane_words);
        let p3 = plane_of(plane + 3u, first, plane_words);
        let p4 = plane_of(plane + 4u, first, plane_words);
        let p5 = plane_of(plane + 5u, first, plane_words);
        let p6 = plane_of(plane + 6u, first, plane_words);
        let p7 = plane_of(plane + 7u, first, plane_words);
        if plane < width {
            let low = spread(p0, width) | (spread(p1, width) << 1u) | (spread(p2, width) << 2u) | (spread(p3, width) << 3u);
            let high = spread(p4, width) | (spread(p5, width) << 1u) | (spread(p6, width) << 2u) | (spread(p7, width) << 3u);
            value |= (low | (high << 4u)) << plane;
        } else {
            over |= p0 | p1 | p2 | p3 | p4 | p5 | p6;
        }
        if batch.is_signed == 1u && plane + 8u == planes {
            sign = p7;
        } else if plane >= width {
            over |= p7;
        }
    }
    if OUTPUT != EXACT {
        let outside = (over | sign) & 15u;
        if outside != 0u {
            atomicAdd(&totals[0], countOneBits(outside));
        }
        if OUTPUT == U8_CLIP {
            value |= spread(over, 8u) * 255u;
            value &= ~(spread(sign, 8u) * 255u);
        }
    }
    return value;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) invocation: u32,
) {
    let id = group_index(group, groups);
    let slot = select(id / batch.lz4_blocks, id, BLOCKS_EACH == 0u);
    if slot >= batch.frames {
        return;
    }
    let first = select(id % batch.lz4_blocks, 0u, BLOCKS_EACH == 0u);
    let last = select(first + 1u, batch.lz4_blocks, BLOCKS_EACH == 0u);
    for (var block = first; block < last; block++) {
        let found = blocks[slot * batch.lz4_blocks + block];
        if found.y == NO_BLOCK {
            break;
        }
        let size = select(batch.block_bytes, batch.last_bytes, block + 1u == batch.lz4_blocks);
        for (var i = invocation; i < size / 4u; i += WORKGROUP) {
            atomicStore(&bytes[i], 0u);
        }
        // The block is zero.
        workgroupBarrier();
        let end = decode(found.x, found.x + found.y, size, invocation);
        // What was decoded last is there, and so is the fault for none but one.
        workgroupBarrier();
        if end == COMPLETE {
            let to = slot * output_words(batch.frame_bytes) + block * output_words(batch.block_bytes);
            let plane_words = size / (32u * batch.pixel_bytes);
            for (var i = invocation; i < output_words(size); i += WORKGROUP) {
                pixels[to + i] = pixel_word(i, plane_words);
            }
        } else if invocation == 0u {
            atomicMax(&faults[slot], fault_word(end, block));
        }
        // The block has been read and may be written again.
        workgroupBarrier();
    }
}
