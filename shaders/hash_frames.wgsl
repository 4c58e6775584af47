// A hash of every chosen pattern that lanes can sum in any order (defined in src/cpu/hash_frames.rs).
// One invocation takes every 32nd word of the planes of one frame; 32 of them, a team, make a frame.
// All sums are modulo 2^32.

/// Frame -> low word, high word.
@group(0) @binding(6) var<storage, read_write> hashes: array<vec2u>;

const TEAM = 32u;
const TEAMS = 2u;

var<workgroup> partial: array<vec2u, 64>;

fn mix(seed: u32) -> u32 {
    var x = (seed ^ (seed >> 16u)) * 0x85ebca6bu;
    x = (x ^ (x >> 13u)) * 0xc2b2ae35u;
    return x ^ (x >> 16u);
}

fn hash_word(word: u32, first: u32) -> vec2u {
    var hash = vec2u(0u);
    var rest = word;
    // At most 32 turns: each clears a bit.
    while rest != 0u {
        let pixel = first + countTrailingZeros(rest);
        hash += vec2u(mix(2u * pixel + 1u) | 1u, mix(2u * pixel) | 1u);
        rest &= rest - 1u;
    }
    return hash;
}

fn hash_block(slot: u32, block: u32, lane: u32) -> vec2u {
    let record = record_of(slot, block);
    var map = record.maps;
    var at = record.data;
    var hash = vec2u(0u);
    for (var left = record.present; left != 0u; left &= left - 1u) {
        let factor = weight(countTrailingZeros(left));
        for (var i = 0u; i < record.map_quads; i++) {
            let found = quads[map + i];
            let four = four_words(found, at, lane);
            let first = block * shape.block_px + 32u * (128u * i + lane);
            hash += factor * (hash_word(four.x, first) + hash_word(four.y, first + 1024u)
                + hash_word(four.z, first + 2048u) + hash_word(four.w, first + 3072u));
            at += sum_of_four(countOneBits(found));
        }
        map += record.map_quads;
    }
    return hash;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let slot = group_index(group, groups) * TEAMS + lane / TEAM;
    let has_data = is_chosen(slot);
    var hash = vec2u(0u);
    if has_data {
        for (var block = 0u; block < shape.blocks; block++) {
            hash += hash_block(slot, block, lane % TEAM);
        }
    }
    partial[lane] = hash;
    for (var step = TEAM / 2u; step > 0u; step /= 2u) {
        // The hashes of the round before are visible to the whole workgroup.
        workgroupBarrier();
        if lane % TEAM < step {
            partial[lane] += partial[lane + step];
        }
    }
    if has_data && lane % TEAM == 0u {
        hashes[frame_of(slot)] = partial[lane];
    }
}
