// Sum of every pixel over the chosen frames. 32 invocations, a team, take one plane of 128 words of a block, each 4 of
// the words, through CHUNK slots: first they list the slots in which the plane is not empty, then they add up its words
// bit by bit, each word in 32 counters that lie across ten words.
// Sums are 64 bits wide; carries are counted as they happen, so that the order of the additions does not matter.

/// Low words, then high words of the sums, in the order of pixel_place.
@group(0) @binding(6) var<storage, read_write> totals: array<atomic<u32>>;

const TEAM = 32u;
const TEAMS = 2u;
const LOOKS = 128u;
/// 7 x 128 slots: ten bits count up to 1023.
const ROUNDS = 7u;
const CHUNK = LOOKS * ROUNDS;

/// The bitmaps of 128 words, in quads, and the first of the words that they stand for.
struct Place {
    map: u32,
    at: u32,
}

var<workgroup> list: array<Place, 256>;
/// Places in the list of each team, round by round.
var<workgroup> listed: array<atomic<u32>, 14>;

/// What a team adds up.
struct Task {
    team: u32,
    block: u32,
    quad: u32,
    plane: u32,
}

fn list_slot(task: Task, round: u32, slot: u32) {
    if !is_chosen(slot) {
        return;
    }
    let record = record_of(slot, task.block);
    if !has_plane(record, task.plane) {
        return;
    }
    let map = map_of(record, task.plane) + task.quad;
    let at = record.data + count_words(record.maps, map);
    list[task.team * LOOKS + atomicAdd(&listed[task.team * ROUNDS + round], 1u)] = Place(map, at);
}

fn listed_words(task: Task, i: u32, count: u32, lane: u32) -> vec4u {
    if i >= count {
        return vec4u(0u);
    }
    let place = list[task.team * LOOKS + i];
    return four_words(quads[place.map], place.at, lane);
}

/// Bit k of the counters of a word lies in c(k); a counter for each of its 32 pixels.
struct Counters {
    c0: vec4u,
    c1: vec4u,
    c2: vec4u,
    c3: vec4u,
    c4: vec4u,
    c5: vec4u,
    c6: vec4u,
    c7: vec4u,
    c8: vec4u,
    c9: vec4u,
}

fn carry_of(a: vec4u, b: vec4u, c: vec4u) -> vec4u {
    return (a & b) | (c & (a ^ b));
}

fn count_four(n: Counters, a: vec4u, b: vec4u, c: vec4u, d: vec4u) -> Counters {
    let two = n.c0 ^ a ^ b;
    let carry2 = carry_of(n.c0, a, b);
    let carry4 = carry_of(two, c, d);
    let k2 = carry_of(n.c1, carry2, carry4);
    let k3 = n.c2 & k2;
    let k4 = n.c3 & k3;
    let k5 = n.c4 & k4;
    let k6 = n.c5 & k5;
    let k7 = n.c6 & k6;
    let k8 = n.c7 & k7;
    let k9 = n.c8 & k8;
    return Counters(two ^ c ^ d, n.c1 ^ carry2 ^ carry4, n.c2 ^ k2, n.c3 ^ k3, n.c4 ^ k4, n.c5 ^ k5, n.c6 ^ k6,
        n.c7 ^ k7, n.c8 ^ k8, n.c9 ^ k9);
}

// The counters of pixel `bit` of each word.
fn counts_of(n: Counters, bit: u32) -> vec4u {
    let by = vec4u(bit);
    let one = vec4u(1u);
    let low = ((n.c0 >> by) & one) + 2u * ((n.c1 >> by) & one) + 4u * ((n.c2 >> by) & one) + 8u * ((n.c3 >> by) & one)
        + 16u * ((n.c4 >> by) & one);
    let high = ((n.c5 >> by) & one) + 2u * ((n.c6 >> by) & one) + 4u * ((n.c7 >> by) & one)
        + 8u * ((n.c8 >> by) & one) + 16u * ((n.c9 >> by) & one);
    return low + 32u * high;
}

fn add_to_totals(place: u32, count: u32, plane: u32) {
    if count == 0u {
        return;
    }
    let plain = shift64(count, plane);
    let part = select(plain, negate64(plain), is_sign(plane));
    let before = atomicAdd(&totals[place], part.x);
    let high = part.y + u32(before + part.x < before);
    if high != 0u {
        atomicAdd(&totals[pixel_places() + place], high);
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
    let column = id / shape.bits % columns;
    let task = Task(invocation / TEAM, column / map_quads_of(0u), column % map_quads_of(0u), id % shape.bits);
    let first_slot = id / shape.bits / columns * CHUNK;
    let has_words = task.quad < map_quads_of(task.block);
    var counters = Counters();
    for (var round = 0u; round < ROUNDS; round++) {
        if has_words {
            for (var i = lane; i < LOOKS; i += TEAM) {
                list_slot(task, round, first_slot + round * LOOKS + i);
            }
        }
        // The list of this round is complete.
        workgroupBarrier();
        let count = atomicLoad(&listed[task.team * ROUNDS + round]);
        for (var i = 0u; i < count; i += 4u) {
            counters = count_four(counters, listed_words(task, i, count, lane), listed_words(task, i + 1u, count, lane),
                listed_words(task, i + 2u, count, lane), listed_words(task, i + 3u, count, lane));
        }
        // The list has been read and may be written again.
        workgroupBarrier();
    }
    for (var bit = 0u; bit < 32u; bit++) {
        let counts = counts_of(counters, bit);
        let place = pixel_place(task.block, 128u * task.quad + lane, bit);
        add_to_totals(place, counts.x, task.plane);
        add_to_totals(place + 32u, counts.y, task.plane);
        add_to_totals(place + 64u, counts.z, task.plane);
        add_to_totals(place + 96u, counts.w, task.plane);
    }
}
