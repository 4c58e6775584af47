// Maximum of every pixel over the chosen frames. 32 invocations, a team, take 128 words of a block, each 4 of the words,
// through CHUNK slots, and compare the planes of a frame with those of the maximum from the top down, 32 pixels a word.

/// For each place of pixel_place the maximum (signed types: with the sign bit flipped).
@group(0) @binding(6) var<storage, read_write> totals: array<atomic<u32>>;

const TEAM = 32u;
const TEAMS = 2u;
const CHUNK = 512u;

/// Planes of the maximum; the sign is flipped, so that more is more.
var<private> most: array<vec4u, 32>;
/// Bit k: plane k of the maximum may have a 1.
var<private> risen: u32;

/// A frame's planes as they are walked from the top down.
struct Walk {
    /// Planes still to come.
    left: u32,
    /// The bitmaps and words of those before end here.
    map: u32,
    at: u32,
}

fn walk_of(record: Record) -> Walk {
    let sign = shape.is_signed << (shape.bits - 1u);
    let map = record.maps + countOneBits(record.present) * record.map_quads;
    return Walk(record.present | risen | sign, map, record.data + record.count);
}

// The words of the next plane, its sign flipped; moves on.
fn next_plane(walk: ptr<function, Walk>, record: Record, quad: u32, lane: u32) -> vec4u {
    let plane = firstLeadingBit((*walk).left);
    (*walk).left ^= 1u << plane;
    var here = vec4u(0u);
    if has_plane(record, plane) {
        let end = (*walk).map;
        (*walk).map -= record.map_quads;
        let map = (*walk).map;
        (*walk).at -= count_words(map, end);
        here = four_words(quads[map + quad], (*walk).at + count_words(map, map + quad), lane);
    }
    return select(here, ~here, is_sign(plane));
}

fn raise(record: Record, quad: u32, lane: u32) {
    var greater = vec4u(0u);
    var equal = vec4u(0xffffffffu);
    var walk = walk_of(record);
    while walk.left != 0u {
        let before = most[firstLeadingBit(walk.left)];
        let here = next_plane(&walk, record, quad, lane);
        greater |= equal & here & ~before;
        equal &= ~(here ^ before);
    }
    if all(greater == vec4u(0u)) {
        return;
    }
    walk = walk_of(record);
    risen = walk.left;
    while walk.left != 0u {
        let plane = firstLeadingBit(walk.left);
        let here = next_plane(&walk, record, quad, lane);
        most[plane] ^= (most[plane] ^ here) & greater;
    }
}

fn value_of(bit: u32) -> vec4u {
    var value = vec4u(0u);
    for (var left = risen; left != 0u; left &= left - 1u) {
        let plane = countTrailingZeros(left);
        value |= ((most[plane] >> vec4u(bit)) & vec4u(1u)) << vec4u(plane);
    }
    return value;
}

fn note(word: u32, block: u32, bit: u32, value: u32) {
    if value != 0u && word < plane_words_of(block) {
        atomicMax(&totals[pixel_place(block, word, bit)], value);
    }
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) invocation: u32,
) {
    let lane = invocation % TEAM;
    let id = group_index(group, groups) * TEAMS + invocation / TEAM;
    let columns = map_quads_of(0u) * shape.blocks;
    let column = id % columns;
    let block = column / map_quads_of(0u);
    let quad = column % map_quads_of(0u);
    let first_slot = id / columns * CHUNK;
    if quad >= map_quads_of(block) {
        return;
    }
    for (var slot = first_slot; slot < first_slot + CHUNK; slot++) {
        if is_chosen(slot) {
            raise(record_of(slot, block), quad, lane);
        }
    }
    for (var bit = 0u; bit < 32u; bit++) {
        let value = value_of(bit);
        let word = 128u * quad + lane;
        note(word, block, bit, value.x);
        note(word + 32u, block, bit, value.y);
        note(word + 64u, block, bit, value.z);
        note(word + 96u, block, bit, value.w);
    }
}
