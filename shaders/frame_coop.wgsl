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
const MAX_SEQUENCES = 2100u;

var<workgroup> bytes: array<atomic<u32>, 2048>;

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
    var state = SHORT_OUTPUT;
    // A sequence makes 4 bytes at least or is the last: the bound is never met.
    for (var sequence = 0u; sequence < MAX_SEQUENCES; sequence++) {
        if input >= end {
            state = select(INPUT_OVERRUN, SHORT_OUTPUT, output < size);
            break;
        }
        let token = compressed_byte(input);
        input++;
        var literals = token >> 4u;
        if literals == 15u {
            loop {
                if input >= end {
                    literals = ENDLESS;
                    break;
                }
                let more = compressed_byte(input);
                input++;
                literals = min(literals + more, ENDLESS);
                if more != 255u {
                    break;
                }
            }
        }
        if literals > min(end - input, size - output) {
            let too_many = select(OUTPUT_OVERRUN, TRAILING_INPUT, output == size);
            state = select(too_many, INPUT_OVERRUN, literals > end - input);
            break;
        }
        for (var i = member; i < literals; i += WORKGROUP) {
            put_byte(output + i, compressed_byte(input + i));
        }
        input += literals;
        output += literals;
        // The literals are there.
        workgroupBarrier();
        if end - input < 2u || output == size {
            let is_full = output == size;
            state = select(select(INPUT_OVERRUN, TRAILING_INPUT, is_full), select(SHORT_OUTPUT, COMPLETE, is_full), input == end);
            break;
        }
        let offset = compressed_byte(input) | (compressed_byte(input + 1u) << 8u);
        input += 2u;
        var count = (token & 15u) + 4u;
        if count == 19u {
            loop {
                if input >= end {
                    count = ENDLESS + 1u;
                    break;
                }
                let more = compressed_byte(input);
                input++;
                count = min(count + more, ENDLESS);
                if more != 255u {
                    break;
                }
            }
        }
        if offset - 1u >= output || count > size - output {
            let too_long = select(OUTPUT_OVERRUN, INPUT_OVERRUN, count > ENDLESS);
            state = select(select(too_long, OFFSET_BEFORE_BLOCK, offset > output), OFFSET_ZERO, offset == 0u);
            break;
        }
        for (var i = member; i < count; i += WORKGROUP) {
            put_byte(output + i, byte_at(output - offset + i % offset));
        }
        output += count;
        // The match is there.
        workgroupBarrier();
    }
    return state;
}

// Bits of a pixel that is written, and pixels of a word.
const WIDTH = select(8u, PLANES, OUTPUT == EXACT);
const EACH = 32u / WIDTH;

// The lowest bits of `word`, one to each pixel.
fn spread(word: u32) -> u32 {
    if WIDTH == 32u {
        return word & 1u;
    }
    if WIDTH == 16u {
        return (word & 1u) | ((word & 2u) << 15u);
    }
    return ((word & 1u) | ((word & 2u) << 7u)) | (((word & 4u) << 14u) | ((word & 8u) << 21u));
}

// Plane `plane` of the pixels from `first` on, in the lowest bits.
fn plane_of(plane: u32, first: u32, plane_words: u32) -> u32 {
    return atomicLoad(&bytes[plane * plane_words + (first >> 5u)]) >> (first & 31u);
}

// Word `index` of the pixels of a block, its planes `plane_words` words each.
fn pixel_word(index: u32, plane_words: u32) -> u32 {
    let first = index * EACH;
    var value = 0u;
    var over = 0u;
    var sign = 0u;
    // Eight at a time: a software adapter counts the turns of all loops and stops at 65,535 of them.
    for (var plane = 0u; plane < PLANES; plane += 8u) {
        let p0 = plane_of(plane, first, plane_words);
        let p1 = plane_of(plane + 1u, first, plane_words);
        let p2 = plane_of(plane + 2u, first, plane_words);
        let p3 = plane_of(plane + 3u, first, plane_words);
        let p4 = plane_of(plane + 4u, first, plane_words);
        let p5 = plane_of(plane + 5u, first, plane_words);
        let p6 = plane_of(plane + 6u, first, plane_words);
        let p7 = plane_of(plane + 7u, first, plane_words);
        if plane < WIDTH {
            let low = spread(p0) | (spread(p1) << 1u) | (spread(p2) << 2u) | (spread(p3) << 3u);
            let high = spread(p4) | (spread(p5) << 1u) | (spread(p6) << 2u) | (spread(p7) << 3u);
            value |= (low | (high << 4u)) << plane;
        } else {
            over |= p0 | p1 | p2 | p3 | p4 | p5 | p6;
        }
        if batch.is_signed == 1u && plane + 8u == PLANES {
            sign = p7;
        } else if plane >= WIDTH {
            over |= p7;
        }
    }
    if OUTPUT != EXACT {
        let outside = (over | sign) & 15u;
        if outside != 0u {
            atomicAdd(&totals[0], countOneBits(outside));
        }
        if OUTPUT == U8_CLIP {
            value |= spread(over) * 255u;
            value &= ~(spread(sign) * 255u);
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
            let plane_words = size / 4u / PLANES;
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
