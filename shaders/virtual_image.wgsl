// Sum of every pattern over a set of pixels: 2^plane x popcount(plane word & mask word).
// One invocation takes every 32nd word of the planes of one frame; 32 of them, a team, make a frame.
// A team's sum is exact modulo 2^64: u32 pixels of the largest detector (2^25 px) reach 2^57.

/// Number of blocks with pixels of the set, then these blocks (room for all), then the mask of every block.
@group(0) @binding(4) var<storage, read> detector: array<u32>;
/// Frame -> sum (low, high).
@group(0) @binding(5) var<storage, read_write> sums: array<vec2u>;

const TEAM = 32u;
const TEAMS = 2u;

var<workgroup> partial: array<vec2u, 64>;

fn block_sum(slot: u32, block: u32, lane: u32) -> vec2u {
    let record = record_of(slot, block);
    let map_words = map_words_of(block);
    let data = data_at(record, map_words);
    let mask = 1u + shape.blocks + block * shape.plane_words;
    let below = (1u << lane) - 1u;
    var sum = vec2u(0u);
    var start = words[record];
    for (var plane = 0u; plane < shape.bits; plane++) {
        let end = words[record + plane + 1u];
        if start != end {
            // At most a 32nd of the 2^25 pixels.
            var ones = 0u;
            var at = data + start;
            let map = map_at(record, plane, map_words);
            for (var i = 0u; i < map_words; i++) {
                let found = words[map + i];
                if ((found >> lane) & 1u) == 1u {
                    let wanted = detector[mask + 32u * i + lane];
                    if wanted != 0u {
                        ones += countOneBits(words[at + countOneBits(found & below)] & wanted);
                    }
                }
                at += countOneBits(found);
            }
            let part = shift64(ones, plane);
            sum = add64(sum, select(part, negate64(part), is_sign(plane)));
        }
        start = end;
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
        for (var i = 0u; i < detector[0]; i++) {
            sum = add64(sum, block_sum(slot, detector[1u + i], lane % TEAM));
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
