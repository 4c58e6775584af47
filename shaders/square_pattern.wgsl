// Sum of the squares of every pixel over the chosen frames. 32 invocations, a team, take 128 words of a block, each 4 of
// the words, through as many slots as a chunk has. Squares are sums of products of planes (see squares.wgsl), and the
// products of 128 pixels are added at once: bit k of all sums lies in one word of each of the four.

/// Behind two words for each place of pixel_place (sum_pattern.wgsl): low, then middle, then high
/// words of the sums.
@group(0) @binding(6) var<storage, read_write> totals: array<atomic<u32>>;

const TEAM = 32u;
const TEAMS = 2u;
/// Chunk x bits of a pixel: 32 slots of 8 bits. A software driver ends loops after 65,535 turns, and a slot has about
/// bits^2 / 2 products of some turns each.
const CHUNK_BITS = 256u;
/// Bits of a sum: squares below 2^64, at most 32 of them.
const PLANES = 70u;

/// Bit k of the sums of the pixels of four words.
var<private> sums: array<vec4u, 70>;
/// Bits from here on are 0 in all sums.
var<private> top: u32;

// Adds 2^first to the sum of each of the pixels `ones`.
fn add_at(first: u32, ones: vec4u) {
    var carry = ones;
    var plane = first;
    for (; plane < PLANES && any(carry != vec4u(0u)); plane++) {
        let before = sums[plane];
        sums[plane] = before ^ carry;
        carry &= before;
    }
    top = max(top, plane);
}

fn add_squares(record: Record, quad: u32, lane: u32) {
    for (var planes = make_positive(hold_planes(record, quad, lane)); planes != 0u; planes &= planes - 1u) {
        let low = countTrailingZeros(planes);
        add_at(2u * low, held[low]);
        for (var left = planes & (planes - 1u); left != 0u; left &= left - 1u) {
            let high = countTrailingZeros(left);
            add_at(low + high + 1u, held[low] & held[high]);
        }
    }
}

// Word `part` of the sums of the pixels `bit` of the four words.
fn word_of_sums(part: u32, bit: u32) -> vec4u {
    var value = vec4u(0u);
    for (var plane = 32u * part; plane < min(top, 32u * part + 32u); plane++) {
        value |= ((sums[plane] >> vec4u(bit)) & vec4u(1u)) << vec4u(plane % 32u);
    }
    return value;
}

// Carries are counted as they happen, so that the order of the additions does not matter.
fn add_to_totals(place: u32, sum: vec3u) {
    if all(sum == vec3u(0u)) {
        return;
    }
    let low = atomicAdd(&totals[2u * pixel_places() + place], sum.x);
    let carried = u32(low + sum.x < low);
    let middle = sum.y + carried;
    var high = sum.z + u32(middle < carried);
    if middle != 0u {
        let before = atomicAdd(&totals[3u * pixel_places() + place], middle);
        high += u32(before + middle < before);
    }
    if high != 0u {
        atomicAdd(&totals[4u * pixel_places() + place], high);
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
    let block = (id % columns) / map_quads_of(0u);
    let quad = (id % columns) % map_quads_of(0u);
    let chunk = CHUNK_BITS / shape.bits;
    let first_slot = id / columns * chunk;
    if quad >= map_quads_of(block) {
        return;
    }
    for (var slot = first_slot; slot < first_slot + chunk; slot++) {
        if is_chosen(slot) {
            add_squares(record_of(slot, block), quad, lane);
        }
    }
    if top == 0u {
        return;
    }
    for (var bit = 0u; bit < 32u; bit++) {
        let low = word_of_sums(0u, bit);
        let middle = word_of_sums(1u, bit);
        let high = word_of_sums(2u, bit);
        let place = pixel_place(block, 128u * quad + lane, bit);
        add_to_totals(place, vec3u(low.x, middle.x, high.x));
        add_to_totals(place + 32u, vec3u(low.y, middle.y, high.y));
        add_to_totals(place + 64u, vec3u(low.z, middle.z, high.z));
        add_to_totals(place + 96u, vec3u(low.w, middle.w, high.w));
    }
}
