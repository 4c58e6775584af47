// One LZ4 block by LANES lanes of a workgroup. Every lane parses every sequence, so that control flow is uniform; a
// lane writes only words whose index is its own number modulo LANES, so that bytes of a word need no atomics.

const LANES = 32u;
const BLOCK_BYTES = 8192u;
// 1: meet before a match only where it reads what has not been made visible yet; 0: before every match.
override TRACKING: u32 = 1;
// 1: a long match whose period is all zero is skipped, the planes being zero already; 0: it is copied.
override ZERO_SKIP: u32 = 0;
// Bytes of a long match.
const LONG = 64u;

var<workgroup> found: atomic<u32>;

fn byte_at(at: u32) -> u32 {
    return (compressed[at >> 2u] >> ((at & 3u) * 8u)) & 255u;
}

// Four bytes from any byte on.
fn word_at(at: u32) -> u32 {
    let shift = (at & 3u) * 8u;
    let low = compressed[at >> 2u];
    let high = compressed[(at >> 2u) + 1u];
    return select((low >> shift) | (high << (32u - shift)), low, shift == 0u);
}

fn plane_byte(block: u32, at: u32) -> u32 {
    return (plane_word(block, at >> 2u) >> ((at & 3u) * 8u)) & 255u;
}

fn plane_word_at(block: u32, at: u32) -> u32 {
    let shift = (at & 3u) * 8u;
    let low = plane_word(block, at >> 2u);
    if shift == 0u {
        return low;
    }
    let high = plane_word(block, min((at >> 2u) + 1u, BLOCK_BYTES / 4u - 1u));
    return (low >> shift) | (high << (32u - shift));
}

// The bytes of word `word` that lie in [begin_byte, end_byte).
fn inside(word: u32, begin_byte: u32, end_byte: u32) -> u32 {
    let first = word * 4u;
    var mask = 0xFFFFFFFFu;
    if first < begin_byte {
        mask <<= (begin_byte - first) * 8u;
    }
    if first + 4u > end_byte {
        mask &= 0xFFFFFFFFu >> ((first + 4u - end_byte) * 8u);
    }
    return mask;
}

// First word from `word` on that belongs to `lane`.
fn own(word: u32, lane: u32) -> u32 {
    return word + ((lane - word) & (LANES - 1u));
}

fn copy_literals(block: u32, lane: u32, input: u32, output: u32, run: u32) {
    for (var word = own(output >> 2u, lane); word * 4u < output + run; word += LANES) {
        let at = word * 4u;
        var piece = 0u;
        if at < output {
            piece = word_at(input) << ((output - at) * 8u);
        } else {
            piece = word_at(input + at - output);
        }
        piece &= inside(word, output, output + run);
        if piece != 0u {
            add_bits(block, word, piece);
        }
    }
}

fn copy_match(block: u32, lane: u32, output: u32, offset: u32, length: u32) {
    let source = output - offset;
    for (var word = own(output >> 2u, lane); word * 4u < output + length; word += LANES) {
        let at = word * 4u;
        var piece = 0u;
        if offset >= length && at >= output {
            piece = plane_word_at(block, source + at - output);
        } else {
            for (var i = 0u; i < 4u; i++) {
                if at + i >= output && at + i < output + length {
                    piece |= plane_byte(block, source + (at + i - output) % offset) << (i * 8u);
                }
            }
        }
        piece &= inside(word, output, output + length);
        if piece != 0u {
            add_bits(block, word, piece);
        }
    }
}

// Whether any of the `count` bytes from `source` on is not zero; the same answer for all lanes.
fn has_bits(block: u32, lane: u32, source: u32, count: u32) -> bool {
    workgroupBarrier();
    if lane == 0u {
        atomicStore(&found, 0u);
    }
    workgroupBarrier();
    for (var word = own(source >> 2u, lane); word * 4u < source + count; word += LANES) {
        if (plane_word(block, word) & inside(word, source, source + count)) != 0u {
            atomicStore(&found, 1u);
        }
    }
    return workgroupUniformLoad(&found) != 0u;
}

fn unpack(block: u32, lane: u32) {
    begin(block, lane);
    let place = blocks[block];
    let end = place.x + place.y;
    var input = place.x;
    var output = 0u;
    // Bytes before are visible to all lanes.
    var visible = 0u;
    loop {
        if input >= end || output >= BLOCK_BYTES {
            break;
        }
        let token = byte_at(input);
        input += 1u;
        var run = token >> 4u;
        if run == 15u {
            loop {
                let more = byte_at(input);
                input += 1u;
                run += more;
                if more != 255u || input >= end {
                    break;
                }
            }
        }
        copy_literals(block, lane, input, output, run);
        input += run;
        output += run;
        if input >= end {
            break;
        }
        let offset = word_at(input) & 0xFFFFu;
        input += 2u;
        var length = (token & 15u) + 4u;
        if length == 19u {
            loop {
                let more = byte_at(input);
                input += 1u;
                length += more;
                if more != 255u || input >= end {
                    break;
                }
            }
        }
        let period = min(offset, length);
        if TRACKING == 0u || output - offset + period > visible {
            meet();
            visible = output;
        }
        if ZERO_SKIP == 0u || length < LONG || has_bits(block, lane, output - offset, period) {
            copy_match(block, lane, output, offset, length);
        }
        output += length;
    }
    finish(block, lane);
}
