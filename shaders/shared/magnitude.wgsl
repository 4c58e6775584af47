// Planes of magnitudes: what is squared has no sign, so that the squares are sums of products of planes and nothing is
// ever taken away.

/// Plane k of 128 pixels, each word of a lane's four.
var<private> held: array<vec4u, 32>;

// Holds the planes of quad `quad` of a block's bitmaps; gives those that may have a 1.
fn hold_planes(record: Record, quad: u32, lane: u32) -> u32 {
    var map = record.maps;
    var at = record.data;
    for (var left = record.present; left != 0u; left &= left - 1u) {
        let first = at + count_words(map, map + quad);
        held[countTrailingZeros(left)] = four_words(quads[map + quad], first, lane);
        at = first + count_words(map + quad, map + record.map_quads);
        map += record.map_quads;
    }
    return record.present;
}

// Negates the held pixels that are negative, bit by bit with a carry; gives the planes that may have a 1.
fn make_positive(present: u32) -> u32 {
    let top = shape.bits - 1u;
    if shape.is_signed == 0u || ((present >> top) & 1u) == 0u {
        return present;
    }
    let negative = held[top];
    var carry = negative;
    for (var plane = 0u; plane <= top; plane++) {
        var word = negative;
        if ((present >> plane) & 1u) == 1u {
            word ^= held[plane];
        }
        held[plane] = word ^ carry;
        carry &= word;
    }
    return 0xffffffffu >> (31u - top);
}
