// Decodes LZ4 blocks straight to dense pixels, frame after frame.
//
// An invocation decodes one block (shared/block.wgsl), the workgroup the same block of consecutive frames. Then teams
// gather the planes of each 32 pixels from the lanes and transpose them.

@group(0) @binding(0) var<uniform> batch: Batch;
/// The chunks' bytes.
@group(0) @binding(1) var<storage, read> compressed: array<vec4u>;
/// Slot x lz4_blocks + block: first byte and bytes of the LZ4 block.
@group(0) @binding(2) var<storage, read> blocks: array<vec2u>;
/// A lane for each invocation; see shared/block.wgsl.
@group(0) @binding(3) var<storage, read_write> lanes: array<u32>;
/// Slot: 0, or the fault of its lowest block that has one.
@group(0) @binding(4) var<storage, read_write> faults: array<atomic<u32>>;
/// Pixels outside 0 to 255, where 8 bits are written; failed frames; parts of the batch that were taken.
@group(0) @binding(5) var<storage, read_write> totals: array<atomic<u32>, 3>;
/// Pixels, little-endian; those of failed blocks are left as they were.
@group(0) @binding(6) var<storage, read_write> pixels: array<vec4u>;

const WORKGROUP = 64u;
/// Invocations that write a block together.
const TEAM = 32u;

/// A decoded block in its lane: spans that hold something; whether it is decoded.
struct Done {
    low: u32,
    high: u32,
    is_decoded: bool,
}

var<workgroup> done: array<Done, WORKGROUP>;

// Word number `place` of a span of the lane at `from_lane`.
fn lane_word(block: Done, from_lane: u32, span: u32, place: u32) -> u32 {
    if ((select(block.low, block.high, span >= 32u) >> (span & 31u)) & 1u) == 0u {
        return 0u;
    }
    let found = lanes[from_lane + 2u * span];
    let bit = 1u << place;
    if (found & bit) == 0u {
        return 0u;
    }
    return lanes[from_lane + LANE_INDEX + lanes[from_lane + 2u * span + 1u] + countOneBits(found & (bit - 1u))];
}

// Exchanges the bits of `b` under `mask` with those of `a` that are `shift` above.
fn exchange(a: ptr<function, vec4u>, b: ptr<function, vec4u>, shift: u32, mask: u32) {
    let both = ((*a >> vec4u(shift)) ^ *b) & vec4u(mask);
    *b ^= both;
    *a ^= both << vec4u(shift);
}

/// Eight words: planes of 32 pixels each, or, transposed, in byte j of word i pixel 8 j + i.
struct Eight {
    low: vec4u,
    high: vec4u,
}

fn transposed(planes: Eight) -> Eight {
    var a = planes.low;
    var b = planes.high;
    exchange(&a, &b, 4u, 0x0F0F0F0Fu);
    // Words 0, 1, 4, 5 against 2, 3, 6, 7.
    var c = vec4u(a.xy, b.xy);
    var d = vec4u(a.zw, b.zw);
    exchange(&c, &d, 2u, 0x33333333u);
    // Words 0, 2, 4, 6 against 1, 3, 5, 7.
    var e = vec4u(c.x, d.x, c.z, d.z);
    var f = vec4u(c.y, d.y, c.w, d.w);
    exchange(&e, &f, 1u, 0x55555555u);
    return Eight(vec4u(e.x, f.x, e.y, f.y), vec4u(e.z, f.z, e.w, f.w));
}

// Planes `plane` to `plane` + 7 of the pixels of word `place` of span `span` of a plane of `spans` spans.
fn eight_planes(block: Done, from_lane: u32, plane: u32, spans: u32, span: u32, place: u32) -> Eight {
    let first = plane * spans + span;
    return Eight(
        vec4u(
            lane_word(block, from_lane, first, place),
            lane_word(block, from_lane, first + spans, place),
            lane_word(block, from_lane, first + 2u * spans, place),
            lane_word(block, from_lane, first + 3u * spans, place),
        ),
        vec4u(
            lane_word(block, from_lane, first + 4u * spans, place),
            lane_word(block, from_lane, first + 5u * spans, place),
            lane_word(block, from_lane, first + 6u * spans, place),
            lane_word(block, from_lane, first + 7u * spans, place),
        ),
    );
}

// Byte `i` of each word.
fn byte_of(words: vec4u, i: u32) -> vec4u {
    return (words >> vec4u(8u * i)) & vec4u(255u);
}

fn packed8(bytes: vec4u) -> u32 {
    return (bytes.x | (bytes.y << 8u)) | ((bytes.z << 16u) | (bytes.w << 24u));
}

// Writes 32 pixels of 8 bits from quad `to` on.
fn write8(to: u32, x: Eight) {
    pixels[to] = vec4u(
        packed8(byte_of(x.low, 0u)), packed8(byte_of(x.high, 0u)), packed8(byte_of(x.low, 1u)), packed8(byte_of(x.high, 1u)),
    );
    pixels[to + 1u] = vec4u(
        packed8(byte_of(x.low, 2u)), packed8(byte_of(x.high, 2u)), packed8(byte_of(x.low, 3u)), packed8(byte_of(x.high, 3u)),
    );
}

// Writes pixels 8 i to 8 i + 7 of 32 of 16 bits.
fn write16(to: u32, i: u32, x: Eight, y: Eight) {
    let low = byte_of(x.low, i) | (byte_of(y.low, i) << vec4u(8u));
    let high = byte_of(x.high, i) | (byte_of(y.high, i) << vec4u(8u));
    pixels[to + i] = vec4u(
        low.x | (low.y << 16u), low.z | (low.w << 16u), high.x | (high.y << 16u), high.z | (high.w << 16u),
    );
}

// Writes pixels 8 i to 8 i + 7 of 32 of 32 bits.
fn write32(to: u32, i: u32, x: Eight, y: Eight, z: Eight, w: Eight) {
    pixels[to + 2u * i] = (byte_of(x.low, i) | (byte_of(y.low, i) << vec4u(8u)))
        | ((byte_of(z.low, i) << vec4u(16u)) | (byte_of(w.low, i) << vec4u(24u)));
    pixels[to + 2u * i + 1u] = (byte_of(x.high, i) | (byte_of(y.high, i) << vec4u(8u)))
        | ((byte_of(z.high, i) << vec4u(16u)) | (byte_of(w.high, i) << vec4u(24u)));
}

// Bits of the pixels that any of seven planes has, and of all eight.
fn any_of_seven(planes: Eight) -> u32 {
    return (planes.low.x | planes.low.y | planes.low.z | planes.low.w) | (planes.high.x | planes.high.y | planes.high.z);
}

// The lower 8 planes of the same pixels, clipped if that is wanted. Counts the pixels outside 0 to 255.
fn to_8_bits(block: Done, from_lane: u32, spans: u32, span: u32, place: u32) -> Eight {
    var lower = eight_planes(block, from_lane, 0u, spans, span, place);
    var over = 0u;
    var top = lower.high.w;
    for (var plane = 8u; plane < PLANES; plane += 8u) {
        let upper = eight_planes(block, from_lane, plane, spans, span, place);
        over |= any_of_seven(upper);
        top = upper.high.w;
        if plane + 8u < PLANES {
            over |= top;
        }
    }
    var sign = 0u;
    if batch.is_signed == 1u {
        sign = top;
    } else if PLANES > 8u {
        over |= top;
    }
    let outside = over | sign;
    if outside != 0u {
        atomicAdd(&totals[0], countOneBits(outside));
    }
    if OUTPUT == U8_CLIP {
        lower.low = (lower.low | vec4u(over)) & vec4u(~sign);
        lower.high = (lower.high | vec4u(over)) & vec4u(~sign);
    }
    return lower;
}

// Invocation `place` of a team writes its part of the block whose pixels begin at word `to`.
fn write_block(block: Done, from_lane: u32, to: u32, spans: u32, place: u32) {
    for (var span = 0u; span < spans; span++) {
        let first = to / 4u + (span * 32u + place) * output_bytes() * 2u;
        if OUTPUT != EXACT {
            write8(first, transposed(to_8_bits(block, from_lane, spans, span, place)));
            continue;
        }
        let x = transposed(eight_planes(block, from_lane, 0u, spans, span, place));
        if PLANES == 8u {
            write8(first, x);
            continue;
        }
        let y = transposed(eight_planes(block, from_lane, 8u, spans, span, place));
        if PLANES == 16u {
            write16(first, 0u, x, y);
            write16(first, 1u, x, y);
            write16(first, 2u, x, y);
            write16(first, 3u, x, y);
            continue;
        }
        let z = transposed(eight_planes(block, from_lane, 16u, spans, span, place));
        let w = transposed(eight_planes(block, from_lane, 24u, spans, span, place));
        write32(first, 0u, x, y, z, w);
        write32(first, 1u, x, y, z, w);
        write32(first, 2u, x, y, z, w);
        write32(first, 3u, x, y, z, w);
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) invocation: u32,
) {
    let id = group_index(group, groups);
    let first_lane = id * WORKGROUP;
    member = invocation;
    lane = (first_lane + invocation) * LANE_WORDS;
    let parts = (batch.frames + WORKGROUP - 1u) / WORKGROUP * batch.lz4_blocks;
    for (var part = next_part(); part < parts; part = next_part()) {
        let block = part % batch.lz4_blocks;
        let first_slot = part / batch.lz4_blocks * WORKGROUP;
        let slot = first_slot + invocation;
        let size = select(batch.block_bytes, batch.last_bytes, block + 1u == batch.lz4_blocks);
        // Spans of a plane.
        let spans = size / SPAN_BYTES / PLANES;
        let is_decoded = decode_block(slot, block, size);
        done[invocation] = Done(low, high, is_decoded);
        // Every invocation's block is done, and what lies in the lanes is seen by the teams.
        workgroupBarrier();
        storageBarrier();
        for (var i = invocation / TEAM; i < WORKGROUP; i += WORKGROUP / TEAM) {
            if done[i].is_decoded {
                let to = (first_slot + i) * output_words(batch.frame_bytes) + block * output_words(batch.block_bytes);
                write_block(done[i], (first_lane + i) * LANE_WORDS, to, spans, invocation % TEAM);
            }
        }
        // The lanes have been read and may be written again.
        workgroupBarrier();
        storageBarrier();
    }
}
