// Decodes LZ4 blocks (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>) into zeroed bytes.
//
// LANES invocations share one block; a workgroup takes the same block of consecutive frames, whose
// streams are about as long. Every lane parses every sequence, so that control flow agrees within a
// block; a lane writes only words whose index is its own number modulo LANES, so that the bytes of a
// word need no atomics. A turn is: parse one sequence and write its literals; meet at the barrier;
// copy its match, which then reads only bytes that the barrier has made visible. A long match takes
// several turns and is cut short when a whole period of it was zero.

@group(0) @binding(0) var<uniform> batch: Batch;
/// The chunks' bytes.
@group(0) @binding(1) var<storage, read> compressed: array<u32>;
/// Slot x lz4_blocks + block: first byte and bytes of the LZ4 block.
@group(0) @binding(2) var<storage, read> blocks: array<vec2u>;
/// Slot x frame_words: decoded blocks, each from a word on, then a word per block, the serial number of
/// its last long match that copied something other than zeros. All zero before.
@group(0) @binding(3) var<storage, read_write> decoded: array<u32>;
/// Slot: 0, or the fault of its lowest block that has one.
@group(0) @binding(4) var<storage, read_write> faults: array<atomic<u32>>;

const WORKGROUP = 64u;
const LANES = 4u;
/// Blocks side by side in a workgroup.
const SIDE = WORKGROUP / LANES;
/// Turns between two looks at whether all blocks are finished.
const TURNS = 8u;
/// Bytes from which a match is tested for zeros.
const LONG = 32u;
/// Most bytes that a long match copies in its first turn, and in each later one. A position inside
/// a piece is divided by the offset in floats, exact up to 4096.
const FIRST_PIECE = 512u;
const LATER_PIECE = 256u;

var<workgroup> finished: array<u32, SIDE>;

// Four bytes of a block's output from byte `at` on; those behind the block's end are of no use.
fn decoded_word(base: u32, at: u32, last_word: u32) -> u32 {
    let word = at >> 2u;
    let shift = (at & 3u) * 8u;
    let low = decoded[base + word];
    let high = decoded[base + min(word + 1u, last_word)];
    return select((low >> shift) | (high << (32u - shift)), low, shift == 0u);
}

// Four bytes of a match from `at` bytes behind its begin on, where its period is `offset` bytes from
// `source` on.
fn periodic_word(base: u32, source: u32, offset: u32, at: u32, last_word: u32) -> u32 {
    let phase = at - u32((f32(at) + 0.5) / f32(offset)) * offset;
    let rest = offset - phase;
    var word = decoded_word(base, source + phase, last_word);
    if rest >= 4u {
        return word;
    }
    word = keep(word, rest);
    let again = keep(decoded_word(base, source, last_word), offset);
    word |= again << (rest * 8u);
    if rest + offset < 4u {
        word |= again << ((rest + offset) * 8u);
    }
    if rest + 2u * offset < 4u {
        word |= again << ((rest + 2u * offset) * 8u);
    }
    return word;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) invocation: u32,
) {
    let id = group_index(group, groups);
    let block = id % batch.lz4_blocks;
    let side = invocation / LANES;
    let lane = invocation % LANES;
    let slot = id / batch.lz4_blocks * SIDE + side;

    var input = 0u;
    var end = 0u;
    // 0 while decoding.
    var state = COMPLETE;
    if slot < batch.frames {
        let found = blocks[slot * batch.lz4_blocks + block];
        if found.y != NO_BLOCK {
            input = found.x;
            end = found.x + found.y;
            state = 0u;
        }
    }
    let base = slot * batch.frame_words + block * (batch.block_bytes >> 2u);
    let size = select(batch.block_bytes, batch.last_bytes, block + 1u == batch.lz4_blocks);
    let last_word = (size >> 2u) - 1u;
    let nonzero = (slot + 1u) * batch.frame_words - batch.lz4_blocks + block;
    if lane == 0u {
        finished[side] = 0u;
    }

    var output = 0u;
    // What is left of the match: bytes, offset, whether its first turn is this one, and whether
    // that turn has copied a whole period.
    var left = 0u;
    var offset = 1u;
    var begins = false;
    var covered = false;
    var serial = 0u;

    // A sequence makes 4 bytes or ends the block, a piece of a long match makes LONG: the bound is
    // never met.
    for (var round = 0u; round <= size / (2u * TURNS) + 1u; round++) {
        for (var turn = 0u; turn < TURNS; turn++) {
            begins = left == 0u;
            if begins && state == 0u {
                if input >= end {
                    state = select(INPUT_OVERRUN, SHORT_OUTPUT, output < size);
                } else {
                    // 8 bytes from the token on: a short run of literals and the offset lie inside.
                    let word = input >> 2u;
                    let shift = (input & 3u) * 8u;
                    let next = compressed[word + 1u];
                    let low = select((compressed[word] >> shift) | (next << (32u - shift)), compressed[word], shift == 0u);
                    let high = select((next >> shift) | (compressed[word + 2u] << (32u - shift)), next, shift == 0u);
                    let token = low & 255u;
                    var literals = Length(token >> 4u, input + 1u, false);
                    if literals.bytes == 15u {
                        literals = extended(15u, literals.input, end);
                    }
                    input = literals.input;
                    let run = literals.bytes;
                    if literals.runs_over || run > end - input {
                        state = INPUT_OVERRUN;
                    } else if run > size - output {
                        state = select(TRAILING_INPUT, OUTPUT_OVERRUN, output < size);
                    } else {
                        let behind = output + run;
                        let first = output >> 2u;
                        var mine = first + ((lane - first) & (LANES - 1u));
                        if run <= 4u {
                            let at = mine * 4u;
                            if at < behind {
                                let bytes = keep((low >> 8u) | (high << 24u), run);
                                let piece = select(bytes >> ((at - output) * 8u), bytes << ((output - at) * 8u), at <= output);
                                if piece != 0u {
                                    decoded[base + mine] |= piece;
                                }
                            }
                        } else {
                            for (; mine * 4u < behind; mine += LANES) {
                                let at = mine * 4u;
                                var piece = 0u;
                                if at < output {
                                    piece = keep(compressed_word(input), run) << ((output - at) * 8u);
                                } else {
                                    piece = keep(compressed_word(input + at - output), behind - at);
                                }
                                if piece != 0u {
                                    decoded[base + mine] |= piece;
                                }
                            }
                        }
                        input += run;
                        output = behind;
                        if input == end {
                            state = select(SHORT_OUTPUT, COMPLETE, output == size);
                        } else if output == size {
                            state = TRAILING_INPUT;
                        } else if end - input < 2u {
                            state = INPUT_OVERRUN;
                        } else {
                            if run <= 2u {
                                let skip = (run + 1u) * 8u;
                                offset = ((low >> skip) | (high << (32u - skip))) & 0xFFFFu;
                            } else if run <= 4u {
                                offset = (high >> ((run - 3u) * 8u)) & 0xFFFFu;
                            } else {
                                offset = compressed_word(input) & 0xFFFFu;
                            }
                            var length = Length((token & 15u) + 4u, input + 2u, false);
                            if length.bytes == 19u {
                                length = extended(19u, length.input, end);
                            }
                            input = length.input;
                            if offset == 0u {
                                state = OFFSET_ZERO;
                            } else if offset > output {
                                state = OFFSET_BEFORE_BLOCK;
                            } else if length.runs_over {
                                state = INPUT_OVERRUN;
                            } else if length.bytes > size - output {
                                state = OUTPUT_OVERRUN;
                            } else {
                                left = length.bytes;
                                serial += 1u;
                            }
                        }
                    }
                }
            }
            // All that was written before, by any lane of the block, is now visible to its other lanes.
            storageBarrier();
            if left > 0u && !begins && covered && decoded[nonzero] != serial {
                // A whole period was zero, so the rest is; the output was zero before.
                output += left;
                left = 0u;
            }
            if left > 0u {
                var piece_bytes = left;
                if !begins {
                    piece_bytes = min(left, LATER_PIECE);
                } else if left >= LONG {
                    piece_bytes = min(left, clamp(offset, LONG, FIRST_PIECE));
                }
                covered = begins && piece_bytes >= offset;
                let behind = output + piece_bytes;
                let source = output - offset;
                let first = output >> 2u;
                var any = false;
                for (var mine = first + ((lane - first) & (LANES - 1u)); mine * 4u < behind; mine += LANES) {
                    let at = max(mine * 4u, output);
                    let into = at - mine * 4u;
                    var piece = 0u;
                    if offset >= piece_bytes {
                        piece = decoded_word(base, source + at - output, last_word);
                    } else {
                        piece = periodic_word(base, source, offset, at - output, last_word);
                    }
                    piece = keep(piece, min(4u - into, behind - at)) << (into * 8u);
                    if piece != 0u {
                        decoded[base + mine] |= piece;
                        any = true;
                    }
                }
                if any && covered && left > piece_bytes {
                    decoded[nonzero] = serial;
                }
                output = behind;
                left -= piece_bytes;
            }
        }
        if lane == 0u && state != 0u {
            finished[side] = 1u;
        }
        let all = workgroupUniformLoad(&finished);
        var every = 1u;
        for (var i = 0u; i < SIDE; i++) {
            every &= all[i];
        }
        if every == 1u {
            break;
        }
    }
    if lane == 0u && state != COMPLETE {
        atomicMax(&faults[slot], fault_word(select(state, SHORT_OUTPUT, state == 0u), block));
    }
}
