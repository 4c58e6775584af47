// Sum of every pattern over a set of pixels: 2^plane x popcount(plane word & mask word).
// One invocation takes 4 of every 32 words of the planes of one frame; 8 of them, a team, make a frame.
// A team's sum is exact modulo 2^64: u32 pixels of the largest detector (2^25 px) reach 2^57.

/// Frame -> sum (low, high).
@group(0) @binding(6) var<storage, read_write> sums: array<vec2u>;

const TEAMS = 8u;

var<workgroup> partial: array<vec2u, 64>;

fn block_sum(slot: u32, block: u32, lane: u32) -> vec2u {
    let record = record_of(slot, block);
    let first_mask = masks_of(block, 0u, lane);
    var map = record.maps;
    var at = record.data;
    var sum = vec2u(0u);
    for (var left = record.present; left != 0u; left &= left - 1u) {
        // At most an eighth of the 2^25 pixels.
        var ones = vec4u(0u);
        for (var i = 0u; i < record.map_quads; i++) {
            var mask = first_mask;
            if i != 0u {
                mask = masks_of(block, i, lane);
            }
            let found = quads[map + i];
            let taken = masked(sixteen_words(found, at, lane), mask);
            ones += countOneBits(taken.a) + countOneBits(taken.b) + countOneBits(taken.c) + countOneBits(taken.d);
            at += sum_of_four(countOneBits(found));
        }
        map += record.map_quads;
        let plane = countTrailingZeros(left);
        let part = shift64(sum_of_four(ones), plane);
        sum = add64(sum, select(part, negate64(part), is_sign(plane)));
    }
    return sum;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let slot = group_index(group, groups) * TEAMS + lane / TEAM;
    let has_data = is_decoded(slot);
    var sum = vec2u(0u);
    if has_data {
        for (var i = 0u; i < detector[0].x; i++) {
            sum = add64(sum, block_sum(slot, detector_block(i), lane % TEAM));
        }
    }
    partial[lane] = sum;
    for (var step = TEAM / 2u; step > 0u; step /= 2u) {
        // The sums of the round before are visible to the whole workgroup.
        workgroupBarrier();
        if lane % TEAM < step {
            partial[lane] = add64(partial[lane], partial[lane + step]);
        }
    }
    if has_data && lane % TEAM == 0u {
        sums[frame_of(slot)] = partial[lane];
    }
}
