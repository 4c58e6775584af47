// Decodes one LZ4 block (<https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md>) by one invocation, into
// nothing but the words that are not zero.
//
// Most of a block's bytes are zeros that matches copy. So an invocation appends the words that are not zero to its
// own lane of `lanes`, and keeps a bitmap of them per span of 32 words: a zero run is one countTrailingZeros, nothing
// is ever cleared, and the lane ends up as the record of the block. No two invocations share anything, so there are
// neither barriers nor atomics here. Needs blocks of whole spans, at most 8 KiB.
//
// The including shader declares batch, compressed, blocks, lanes, faults, totals (the third of them: parts that were
// taken) and WORKGROUP.

/// Spans of a block, 128 bytes of output each.
const SPANS = 64u;
const SPAN_BYTES = 128u;
/// A lane: bitmap of each span and the number of words before it, then the words.
const LANE_INDEX = 2u * SPANS;
const LANE_WORDS = LANE_INDEX + 2048u;
/// Bytes that a step makes at most, besides zeros.
const PIECE = 8u;
/// The last spans are kept at hand as well: offsets are mostly below 512.
const RECENT = 4u;
/// Zeros without end, as words.
const ALL_ZERO = 0x0FFFFFFFu;
/// Every second step makes a byte at least, so that the bound is never met.
const MAX_STEPS = 16400u;

var<workgroup> recent_maps: array<u32, RECENT * WORKGROUP>;
var<workgroup> recent_befores: array<u32, RECENT * WORKGROUP>;

// The block of this invocation.
/// Its number in the workgroup, and the first word of its lane.
var<private> member: u32;
var<private> lane: u32;
/// Bytes made, and what there is of the word that the next of them belongs to.
var<private> output: u32;
var<private> word: u32;
/// Words appended.
var<private> count: u32;
/// Bitmap of the span that the next byte belongs to, and the words before it.
var<private> map: u32;
var<private> before: u32;
/// Spans that are behind us and hold something: bit s of (low, high).
var<private> low: u32;
var<private> high: u32;

/// The part that was taken last.
var<workgroup> taken: u32;

// Takes a part of the batch: a block of WORKGROUP frames that follow one another. A workgroup that begins late, since
// the GPU does not hold all of them at a time, finds nothing left to do.
fn next_part() -> u32 {
    if member == 0u {
        taken = atomicAdd(&totals[2], 1u);
    }
    return workgroupUniformLoad(&taken);
}

// (high, low) >> shift, shift 0 to 31.
fn funnel(low: u32, high: u32, shift: u32) -> u32 {
    return (low >> shift) | ((high << 1u) << (31u - shift));
}

fn compressed_byte(at: u32) -> u32 {
    return (compressed[at >> 4u][(at >> 2u) & 3u] >> ((at & 3u) * 8u)) & 255u;
}

// Appends word `at` of the block.
fn append(value: u32, at: u32) {
    if value != 0u {
        lanes[lane + LANE_INDEX + count] = value;
        map |= 1u << (at & 31u);
        count += 1u;
    }
}

// The span is complete.
fn close(span: u32) {
    if map != 0u {
        let near = (span % RECENT) * WORKGROUP + member;
        recent_maps[near] = map;
        recent_befores[near] = before;
        lanes[lane + 2u * span] = map;
        lanes[lane + 2u * span + 1u] = before;
        low |= select(0u, 1u << (span & 31u), span < 32u);
        high |= select(0u, 1u << (span & 31u), span >= 32u);
        map = 0u;
    }
    before = count;
}

// Makes `bytes` bytes, at most PIECE, all in one span; the bytes of (first, second) behind them are 0.
fn make(first: u32, second: u32, bytes: u32) {
    let shift = (output & 3u) * 8u;
    let head = word | (first << shift);
    let middle = ((first >> 1u) >> (31u - shift)) | (second << shift);
    let tail = (second >> 1u) >> (31u - shift);
    let at = output >> 2u;
    output += bytes;
    let whole = (output >> 2u) - at;
    if whole == 0u {
        word = head;
        return;
    }
    append(head, at);
    word = middle;
    if whole == 2u {
        append(middle, at + 1u);
        word = tail;
    }
    if output % SPAN_BYTES == 0u {
        close(at >> 5u);
    }
}

// Makes zeros.
fn make_zeros(bytes: u32) {
    let to = output + bytes;
    if (output >> 2u) != (to >> 2u) {
        append(word, output >> 2u);
        word = 0u;
        if output / SPAN_BYTES != to / SPAN_BYTES {
            close(output / SPAN_BYTES);
        }
    }
    output = to;
}

// The first span from `span` on that holds something, SPANS if there is none.
fn next_span(span: u32, in_low: u32, in_high: u32) -> u32 {
    let from_low = select(0u, (in_low >> (span & 31u)) << (span & 31u), span < 32u);
    let from_high = select(select(0u, (in_high >> (span & 31u)) << (span & 31u), span < 64u), in_high, span < 32u);
    return select(countTrailingZeros(from_low), 32u + countTrailingZeros(from_high), from_low == 0u);
}

// Bitmap of a span behind this one that holds something, and the words before it.
fn span_of(span: u32) -> vec2u {
    if output / SPAN_BYTES - span <= RECENT {
        let near = (span % RECENT) * WORKGROUP + member;
        return vec2u(recent_maps[near], recent_befores[near]);
    }
    return vec2u(lanes[lane + 2u * span], lanes[lane + 2u * span + 1u]);
}

// Word number `rank` of those that are not zero; the one that is being made is the last.
fn word_of(rank: u32) -> u32 {
    if rank == count {
        return word;
    }
    return lanes[lane + LANE_INDEX + rank];
}

// Copies some of a match of `left` bytes: the zeros that its source begins with, then at most PIECE bytes.
// Gives the bytes made, at least 1.
fn copy(left: u32, distance: u32) -> u32 {
    let source = output - distance;
    let at = source >> 2u;
    let bit = at & 31u;
    let span = at >> 5u;
    let here = output / SPAN_BYTES;
    // With the word that is being made.
    let own_map = map | select(0u, 1u << ((output >> 2u) & 31u), word != 0u);
    var found = vec2u(own_map, before);
    if span != here {
        found = vec2u(0u);
        if ((select(low, high, span >= 32u) >> (span & 31u)) & 1u) == 1u {
            found = span_of(span);
        }
    }
    let rest = found.x >> bit;
    // Words that are zero, the bitmap of those behind them, how many it tells of, and the rank of the first.
    var zeros = countTrailingZeros(rest);
    var bits = rest >> (zeros & 31u);
    var known = 32u - bit - zeros;
    var rank = found.y + countOneBits(found.x & ((1u << bit) - 1u));
    if rest == 0u {
        let own = select(0u, 1u << (here & 31u), own_map != 0u);
        let next = next_span(span + 1u, low | select(0u, own, here < 32u), high | select(0u, own, here >= 32u));
        zeros = ALL_ZERO;
        known = 0u;
        if next < SPANS {
            found = vec2u(own_map, before);
            if next != here {
                found = span_of(next);
            }
            let first = countTrailingZeros(found.x);
            zeros = next * 32u + first - at;
            bits = found.x >> first;
            known = 32u - first;
            rank = found.y;
        }
    }
    var zero_bytes = zeros * 4u;
    zero_bytes -= min(zero_bytes, source & 3u);
    // A period of nothing but zeros goes on for ever.
    let skipped = select(min(left, zero_bytes), left, zero_bytes >= distance);
    let start = source + skipped;
    let room = SPAN_BYTES - (output + skipped) % SPAN_BYTES;
    let bytes = min(min(min(left - skipped, distance), min(PIECE, room)), known * 4u - (start & 3u));
    var first = 0u;
    var second = 0u;
    if bytes > 0u {
        let low_word = word_of(rank);
        var middle = 0u;
        var high_word = 0u;
        if (bits & 2u) != 0u {
            middle = word_of(rank + 1u);
        }
        if (bits & 4u) != 0u {
            high_word = word_of(rank + countOneBits(bits & 3u));
        }
        let shift = (start & 3u) * 8u;
        first = keep(funnel(low_word, middle, shift), bytes);
        second = select(0u, keep(funnel(middle, high_word, shift), bytes - 4u), bytes > 4u);
    }
    if skipped > 0u {
        make_zeros(skipped);
    }
    if bytes > 0u {
        make(first, second, bytes);
    }
    return skipped + bytes;
}

// Decodes the stream of bytes `begin` to `end` to a block of `size` bytes. Gives COMPLETE or the fault.
fn decode(begin: u32, end: u32, size: u32) -> u32 {
    output = 0u;
    word = 0u;
    count = 0u;
    map = 0u;
    before = 0u;
    low = 0u;
    high = 0u;
    var input = begin;
    // 32 bytes of the stream, from a multiple of 16 on.
    var near = compressed[input >> 4u];
    var next = compressed[(input >> 4u) + 1u];
    // What is left of the literals, of the match, its offset, and the bytes from which it repeats.
    var literals = 0u;
    var left = 0u;
    var distance = 1u;
    var reach = 0u;
    // Length of the match behind the literals, as the token says it.
    var nibble = 0u;
    var state = 0u;
    for (var step = 0u; step < MAX_STEPS; step++) {
        if state != 0u {
            break;
        }
        if left == 0u {
            let window = input >> 4u;
            // 12 bytes of the stream: a token, PIECE literals, an offset and one byte more.
            let far = (input & 8u) != 0u;
            let w0 = select(near.x, near.z, far);
            let w1 = select(near.y, near.w, far);
            let w2 = select(near.z, next.x, far);
            let w3 = select(near.w, next.y, far);
            let w4 = select(next.x, next.z, far);
            let odd = (input & 4u) != 0u;
            let v1 = select(w1, w2, odd);
            let v2 = select(w2, w3, odd);
            let shift = (input & 3u) * 8u;
            let b0 = funnel(select(w0, w1, odd), v1, shift);
            let b1 = funnel(v1, v2, shift);
            let b2 = funnel(v2, select(w3, w4, odd), shift);
            var run = literals;
            var head = 0u;
            if literals == 0u {
                run = (b0 >> 4u) & 15u;
                head = 1u;
                nibble = b0 & 15u;
                if input >= end {
                    state = select(INPUT_OVERRUN, SHORT_OUTPUT, output < size);
                } else if run == 15u {
                    let length = extended(15u, input + 1u, end);
                    run = length.bytes;
                    head = length.input - input;
                    state = select(0u, INPUT_OVERRUN, length.runs_over);
                }
                if state == 0u {
                    if run > end - input - head {
                        state = INPUT_OVERRUN;
                    } else if run > size - output {
                        state = select(TRAILING_INPUT, OUTPUT_OVERRUN, output < size);
                    }
                }
            }
            if state == 0u {
                // Literals behind a longer head are made in the next step.
                let is_near = head <= 2u;
                let bytes = select(0u, min(min(run, PIECE), SPAN_BYTES - output % SPAN_BYTES), is_near);
                let by = (head & 3u) * 8u;
                let l0 = funnel(b0, b1, by);
                let l1 = funnel(b1, b2, by);
                let l2 = b2 >> by;
                if bytes > 0u {
                    make(keep(l0, bytes), select(0u, keep(l1, bytes - 4u), bytes > 4u), bytes);
                }
                input += head + bytes;
                literals = run - bytes;
                if literals == 0u && is_near {
                    if input == end {
                        state = select(SHORT_OUTPUT, COMPLETE, output == size);
                    } else if output == size {
                        state = TRAILING_INPUT;
                    } else if end - input < 2u {
                        state = INPUT_OVERRUN;
                    } else {
                        let t0 = select(select(l0, l1, bytes >= 4u), l2, bytes >= 8u);
                        let t1 = select(l1, l2, bytes >= 4u);
                        let tail = funnel(t0, t1, (bytes & 3u) * 8u);
                        let offset = tail & 0xFFFFu;
                        input += 2u;
                        var length = Length(nibble + 4u, input, false);
                        if nibble == 15u {
                            let more = (tail >> 16u) & 255u;
                            if more != 255u && input < end {
                                length = Length(19u + more, input + 1u, false);
                            } else {
                                length = extended(19u, input, end);
                            }
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
                            distance = offset;
                            reach = offset;
                        }
                    }
                }
            }
            let now = input >> 4u;
            if now != window {
                near = next;
                if now != window + 1u {
                    near = compressed[now];
                }
                next = compressed[now + 1u];
            }
        }
        if left > 0u {
            let bytes = copy(left, distance);
            left -= bytes;
            // What was copied twice repeats at twice the distance too: longer pieces.
            reach += bytes;
            if distance < PIECE && distance * 2u <= reach {
                distance *= 2u;
            }
        }
    }
    return select(state, SHORT_OUTPUT, state == 0u);
}

// Decodes a block of a slot to `size` bytes, or notes its fault. False for one that is not decoded.
fn decode_block(slot: u32, block: u32, size: u32) -> bool {
    if slot >= batch.frames {
        return false;
    }
    let found = blocks[slot * batch.lz4_blocks + block];
    if found.y == NO_BLOCK {
        return false;
    }
    let end = decode(found.x, found.x + found.y, size);
    if end != COMPLETE {
        atomicMax(&faults[slot], fault_word(end, block));
    }
    return end == COMPLETE;
}
