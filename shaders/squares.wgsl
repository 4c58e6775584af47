// Sum and sum of squares of every pattern over a set of pixels. A square is a sum over pairs of planes:
// v^2 = sum over j <= k of 2^(j + k) (j = k) or 2^(j + k + 1) (j < k), times bit j and bit k of v.
// One invocation takes 4 of every 128 words of the planes of one frame; 32 of them, a team, make a frame.
// Sums are exact modulo 2^64, squares have 96 bits: u32 pixels of the largest detector (2^25 px) reach 2^89.

/// Frame -> sum (low, high), sum of squares (low, middle, high).
@group(0) @binding(6) var<storage, read_write> spreads: array<u32>;

const LANES = 32u;
const TEAMS = 2u;

struct Spread {
    sum: vec2u,
    square: vec3u,
}

var<workgroup> partial: array<Spread, 64>;

fn add_spreads(a: Spread, b: Spread) -> Spread {
    return Spread(add64(a.sum, b.sum), add96(a.square, b.square));
}

// The wanted pixels of a lane's four words.
fn four_masks(block: u32, quad: u32, lane: u32) -> vec4u {
    let first = (4u + shape.blocks) / 4u + 32u * (block * map_quads_of(0u) + quad) + lane / 4u;
    let word = lane % 4u;
    return vec4u(detector[first][word], detector[first + 8u][word], detector[first + 16u][word],
        detector[first + 24u][word]);
}

fn quad_spread(record: Record, block: u32, quad: u32, lane: u32) -> Spread {
    let mask = four_masks(block, quad, lane);
    var spread = Spread();
    var planes = hold_planes(record, quad, lane);
    for (var left = planes; left != 0u; left &= left - 1u) {
        let plane = countTrailingZeros(left);
        held[plane] &= mask;
        let part = shift64(sum_of_four(countOneBits(held[plane])), plane);
        spread.sum = add64(spread.sum, select(part, negate64(part), is_sign(plane)));
    }
    planes = make_positive(planes);
    for (; planes != 0u; planes &= planes - 1u) {
        let low = countTrailingZeros(planes);
        let word = held[low];
        if all(word == vec4u(0u)) {
            continue;
        }
        spread.square = add96(spread.square, shift96(sum_of_four(countOneBits(word)), 2u * low));
        for (var left = planes & (planes - 1u); left != 0u; left &= left - 1u) {
            let high = countTrailingZeros(left);
            let ones = sum_of_four(countOneBits(word & held[high]));
            spread.square = add96(spread.square, shift96(ones, low + high + 1u));
        }
    }
    return spread;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) invocation: u32,
) {
    let lane = invocation % LANES;
    let slot = group_index(group, groups) * TEAMS + invocation / LANES;
    let has_data = is_decoded(slot);
    var spread = Spread();
    if has_data {
        for (var i = 0u; i < detector[0].x; i++) {
            let block = detector_block(i);
            let record = record_of(slot, block);
            for (var quad = 0u; quad < record.map_quads; quad++) {
                spread = add_spreads(spread, quad_spread(record, block, quad, lane));
            }
        }
    }
    partial[invocation] = spread;
    for (var step = LANES / 2u; step > 0u; step /= 2u) {
        // The sums of the round before are visible to the whole workgroup.
        workgroupBarrier();
        if lane < step {
            partial[invocation] = add_spreads(partial[invocation], partial[invocation + step]);
        }
    }
    if has_data && lane == 0u {
        let at = 5u * frame_of(slot);
        let all = partial[invocation];
        spreads[at] = all.sum.x;
        spreads[at + 1u] = all.sum.y;
        spreads[at + 2u] = all.square.x;
        spreads[at + 3u] = all.square.y;
        spreads[at + 4u] = all.square.z;
    }
}
