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
/// Pixels outside 0 to 255, where 8 bits are written; failed frames.
@group(0) @binding(5) var<storage, read_write> totals: array<atomic<u32>, 2>;
/// Pixels, little-endian; those of failed blocks are left as they were.
@group(0) @binding(6) var<storage, read_write> pixels: array<u32>;

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
fn exchange(a: ptr<function, u32>, b: ptr<function, u32>, shift: u32, mask: u32) {
    let both = ((*a >> shift) ^ *b) & mask;
    *b ^= both;
    *a ^= both << shift;
}

// Transposes 8 planes of 32 pixels: byte j of word i becomes pixel 8 j + i.
fn transpose8(
    w0: ptr<function, u32>, w1: ptr<function, u32>, w2: ptr<function, u32>, w3: ptr<function, u32>,
    w4: ptr<function, u32>, w5: ptr<function, u32>, w6: ptr<function, u32>, w7: ptr<function, u32>,
) {
    exchange(w0, w4, 4u, 0x0F0F0F0Fu);
    exchange(w1, w5, 4u, 0x0F0F0F0Fu);
    exchange(w2, w6, 4u, 0x0F0F0F0Fu);
    exchange(w3, w7, 4u, 0x0F0F0F0Fu);
    exchange(w0, w2, 2u, 0x33333333u);
    exchange(w1, w3, 2u, 0x33333333u);
    exchange(w4, w6, 2u, 0x33333333u);
    exchange(w5, w7, 2u, 0x33333333u);
    exchange(w0, w1, 1u, 0x55555555u);
    exchange(w2, w3, 1u, 0x55555555u);
    exchange(w4, w5, 1u, 0x55555555u);
    exchange(w6, w7, 1u, 0x55555555u);
}

// Bytes i of four words, from the low one up.
fn bytes_of(a: u32, b: u32, c: u32, d: u32, i: u32) -> u32 {
    let shift = i * 8u;
    return ((a >> shift) & 255u) | (((b >> shift) & 255u) << 8u) | (((c >> shift) & 255u) << 16u) | ((d >> shift) << 24u);
}

// Writes 32 pixels of 8 bits that stand in transposed planes.
fn write8(at: u32, a: vec4u, b: vec4u) {
    for (var i = 0u; i < 4u; i++) {
        pixels[at + 2u * i] = bytes_of(a.x, a.y, a.z, a.w, i);
        pixels[at + 2u * i + 1u] = bytes_of(b.x, b.y, b.z, b.w, i);
    }
}

// Invocation `member` of a team writes its part of the block whose pixels begin at word `to`.
fn write_block(block: Done, from_lane: u32, to: u32, planes: u32, spans: u32, copier: u32) {
    for (var span = 0u; span < spans; span++) {
        // 32 pixels, those of word `copier` of this span of each plane.
        var a = vec4u();
        var b = vec4u();
        var over = 0u;
        var sign = 0u;
        for (var plane = 0u; plane < planes; plane += 8u) {
            let first = plane * spans + span;
            var w0 = lane_word(block, from_lane, first, copier);
            var w1 = lane_word(block, from_lane, first + spans, copier);
            var w2 = lane_word(block, from_lane, first + 2u * spans, copier);
            var w3 = lane_word(block, from_lane, first + 3u * spans, copier);
            var w4 = lane_word(block, from_lane, first + 4u * spans, copier);
            var w5 = lane_word(block, from_lane, first + 5u * spans, copier);
            var w6 = lane_word(block, from_lane, first + 6u * spans, copier);
            var w7 = lane_word(block, from_lane, first + 7u * spans, copier);
            if OUTPUT != EXACT && plane > 0u {
                over |= (w0 | w1) | (w2 | w3) | (w4 | w5) | w6;
                if batch.is_signed == 1u && plane + 8u == planes {
                    sign = w7;
                } else {
                    over |= w7;
                }
                continue;
            }
            if OUTPUT != EXACT {
                a = vec4u(w0, w1, w2, w3);
                b = vec4u(w4, w5, w6, w7);
                continue;
            }
            transpose8(&w0, &w1, &w2, &w3, &w4, &w5, &w6, &w7);
            let word = to + (span * 32u + copier) * planes;
            if planes == 8u {
                write8(word, vec4u(w0, w1, w2, w3), vec4u(w4, w5, w6, w7));
            } else if planes == 16u && plane == 0u {
                a = vec4u(w0, w1, w2, w3);
                b = vec4u(w4, w5, w6, w7);
            } else if planes == 16u {
                let c = vec4u(w0, w1, w2, w3);
                let d = vec4u(w4, w5, w6, w7);
                for (var i = 0u; i < 4u; i++) {
                    let shift = 8u * i;
                    let even = ((a >> vec4u(shift)) & vec4u(255u)) | (((c >> vec4u(shift)) & vec4u(255u)) << vec4u(8u));
                    let odd = ((b >> vec4u(shift)) & vec4u(255u)) | (((d >> vec4u(shift)) & vec4u(255u)) << vec4u(8u));
                    pixels[word + 4u * i] = even.x | (even.y << 16u);
                    pixels[word + 4u * i + 1u] = even.z | (even.w << 16u);
                    pixels[word + 4u * i + 2u] = odd.x | (odd.y << 16u);
                    pixels[word + 4u * i + 3u] = odd.z | (odd.w << 16u);
                }
            } else {
                // A byte of each of the 32 pixels; the others come with the next planes.
                let c = vec4u(w0, w1, w2, w3);
                let d = vec4u(w4, w5, w6, w7);
                for (var i = 0u; i < 4u; i++) {
                    let byte_c = ((c >> vec4u(8u * i)) & vec4u(255u)) << vec4u(plane);
                    let byte_d = ((d >> vec4u(8u * i)) & vec4u(255u)) << vec4u(plane);
                    for (var k = 0u; k < 4u; k++) {
                        let at = word + 8u * i + k;
                        pixels[at] = select(pixels[at], 0u, plane == 0u) | byte_c[k];
                        pixels[at + 4u] = select(pixels[at + 4u], 0u, plane == 0u) | byte_d[k];
                    }
                }
            }
        }
        if OUTPUT != EXACT {
            if batch.is_signed == 1u && planes == 8u {
                sign = b.w;
            }
            let outside = over | sign;
            if outside != 0u {
                atomicAdd(&totals[0], countOneBits(outside));
            }
            if OUTPUT == U8_CLIP {
                a = (a | vec4u(over)) & vec4u(~sign);
                b = (b | vec4u(over)) & vec4u(~sign);
            }
            var w0 = a.x;
            var w1 = a.y;
            var w2 = a.z;
            var w3 = a.w;
            var w4 = b.x;
            var w5 = b.y;
            var w6 = b.z;
            var w7 = b.w;
            transpose8(&w0, &w1, &w2, &w3, &w4, &w5, &w6, &w7);
            write8(to + (span * 32u + copier) * 8u, vec4u(w0, w1, w2, w3), vec4u(w4, w5, w6, w7));
        }
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
    let planes = batch.pixel_bytes * 8u;
    let parts = (batch.frames + WORKGROUP - 1u) / WORKGROUP * batch.lz4_blocks;
    for (var part = id; part < parts; part += groups.x * groups.y) {
        let block = part % batch.lz4_blocks;
        let first_slot = part / batch.lz4_blocks * WORKGROUP;
        let slot = first_slot + invocation;
        let size = select(batch.block_bytes, batch.last_bytes, block + 1u == batch.lz4_blocks);
        // Spans of a plane.
        let spans = size / SPAN_BYTES / planes;
        var is_decoded = false;
        if slot < batch.frames {
            let found = blocks[slot * batch.lz4_blocks + block];
            if found.y != NO_BLOCK {
                let end = decode(found.x, found.x + found.y, size);
                is_decoded = end == COMPLETE;
                if !is_decoded {
                    atomicMax(&faults[slot], fault_word(end, block));
                }
            }
        }
        done[invocation] = Done(low, high, is_decoded);
        // Every invocation's block is done, and what lies in the lanes is seen by the teams.
        workgroupBarrier();
        storageBarrier();
        for (var i = invocation / TEAM; i < WORKGROUP; i += WORKGROUP / TEAM) {
            if done[i].is_decoded {
                let to = (first_slot + i) * output_words(batch.frame_bytes) + block * output_words(batch.block_bytes);
                write_block(done[i], (first_lane + i) * LANE_WORDS, to, planes, spans, invocation % TEAM);
            }
        }
        // The lanes have been read and may be written again.
        workgroupBarrier();
        storageBarrier();
    }
}
