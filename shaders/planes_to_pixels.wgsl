// Decoded frames from their bit planes to dense pixels, slot after slot. A workgroup makes a block, an invocation 32
// pixels at a time: it takes their word of each plane and transposes 8 planes at once. Needs blocks of whole words.

/// Pixels, little-endian; those of failed frames are left as they were.
@group(0) @binding(5) var<storage, read_write> pixels: array<vec4u>;
/// Pixels outside 0 to 255, where 8 bits are written.
@group(0) @binding(6) var<storage, read_write> outside: atomic<u32>;

const WORKGROUP = 128u;
/// Quads of four words that 32 pixels become.
const QUADS = select(2u, PLANES / 4u, OUTPUT == EXACT);

/// Where the next plane that is not empty lies: first quad of its bitmap, first of its words.
struct Cursor {
    map: u32,
    start: u32,
}

// Word `word` of `plane`, 0 where the plane is empty; else the cursor moves on.
fn next_word(cursor: ptr<function, Cursor>, record: Record, plane: u32, word: u32) -> u32 {
    if !has_plane(record, plane) {
        return 0u;
    }
    let map = (*cursor).map;
    let start = (*cursor).start;
    (*cursor).map = map + record.map_quads;
    if record.map_quads != 1u {
        (*cursor).start = start + count_words(map, map + record.map_quads);
        return plane_word(map, start, word);
    }
    let quad = quads[map];
    let counts = countOneBits(quad);
    (*cursor).start = start + sum_of_four(counts);
    let part = word / 32u;
    let found = select(select(quad.x, quad.y, part == 1u), select(quad.z, quad.w, part == 3u), part >= 2u);
    let bit = 1u << (word % 32u);
    if (found & bit) == 0u {
        return 0u;
    }
    let before = select(vec3u(0u), counts.xyz, vec3u(part) > vec3u(0u, 1u, 2u));
    return words[start + before.x + before.y + before.z + countOneBits(found & (bit - 1u))];
}

/// Eight words: planes of 32 pixels each, or, transposed, in byte j of word i pixel 8 j + i.
struct Eight {
    low: vec4u,
    high: vec4u,
}

// Planes `plane` to `plane` + 7.
fn eight_planes(cursor: ptr<function, Cursor>, record: Record, plane: u32, word: u32) -> Eight {
    var planes = Eight(vec4u(0u), vec4u(0u));
    if ((record.present >> plane) & 255u) == 0u {
        return planes;
    }
    planes.low.x = next_word(cursor, record, plane, word);
    planes.low.y = next_word(cursor, record, plane + 1u, word);
    planes.low.z = next_word(cursor, record, plane + 2u, word);
    planes.low.w = next_word(cursor, record, plane + 3u, word);
    planes.high.x = next_word(cursor, record, plane + 4u, word);
    planes.high.y = next_word(cursor, record, plane + 5u, word);
    planes.high.z = next_word(cursor, record, plane + 6u, word);
    planes.high.w = next_word(cursor, record, plane + 7u, word);
    return planes;
}

// Exchanges the bits of `b` under `mask` with those of `a` that are `shift` above.
fn exchange(a: ptr<function, vec4u>, b: ptr<function, vec4u>, shift: u32, mask: u32) {
    let both = ((*a >> vec4u(shift)) ^ *b) & vec4u(mask);
    *b ^= both;
    *a ^= both << vec4u(shift);
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
fn to_8_bits(cursor: ptr<function, Cursor>, record: Record, word: u32) -> Eight {
    var lower = eight_planes(cursor, record, 0u, word);
    var over = 0u;
    var top = lower.high.w;
    for (var plane = 8u; plane < PLANES; plane += 8u) {
        let upper = eight_planes(cursor, record, plane, word);
        over |= any_of_seven(upper);
        top = upper.high.w;
        if plane + 8u < PLANES {
            over |= top;
        }
    }
    var sign = 0u;
    if shape.is_signed == 1u {
        sign = top;
    } else if PLANES > 8u {
        over |= top;
    }
    let all = over | sign;
    if all != 0u {
        atomicAdd(&outside, countOneBits(all));
    }
    if OUTPUT == U8_CLIP {
        lower.low = (lower.low | vec4u(over)) & vec4u(~sign);
        lower.high = (lower.high | vec4u(over)) & vec4u(~sign);
    }
    return lower;
}

// Writes the 32 pixels of word `word` of a block from quad `to` on.
fn write_word(record: Record, word: u32, to: u32) {
    var cursor = Cursor(record.maps, record.data);
    if OUTPUT != EXACT {
        write8(to, transposed(to_8_bits(&cursor, record, word)));
        return;
    }
    let x = transposed(eight_planes(&cursor, record, 0u, word));
    if PLANES == 8u {
        write8(to, x);
        return;
    }
    let y = transposed(eight_planes(&cursor, record, 8u, word));
    if PLANES == 16u {
        write16(to, 0u, x, y);
        write16(to, 1u, x, y);
        write16(to, 2u, x, y);
        write16(to, 3u, x, y);
        return;
    }
    let z = transposed(eight_planes(&cursor, record, 16u, word));
    let w = transposed(eight_planes(&cursor, record, 24u, word));
    write32(to, 0u, x, y, z, w);
    write32(to, 1u, x, y, z, w);
    write32(to, 2u, x, y, z, w);
    write32(to, 3u, x, y, z, w);
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let part = group_index(group, groups);
    let slot = part / shape.blocks;
    let block = part % shape.blocks;
    if !is_decoded(slot) {
        return;
    }
    let record = record_of(slot, block);
    let first = (slot * (shape.pixels / 32u) + block * (shape.block_px / 32u)) * QUADS;
    for (var word = lane; word < plane_words_of(block); word += WORKGROUP) {
        write_word(record, word, first + word * QUADS);
    }
}
