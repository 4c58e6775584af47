// A hash of every chosen pattern that lanes can sum in any order (defined in src/cpu/hash_frames.rs).
// One invocation takes every 32nd word of the planes of one frame; 32 of them, a team, make a frame.
// All sums are modulo 2^32.

/// Bit f % 32 of word f / 32: frame f is chosen.
@group(0) @binding(4) var<storage, read> chosen: array<u32>;
/// Frame -> low word, high word.
@group(0) @binding(5) var<storage, read_write> hashes: array<vec2u>;

const TEAM = 32u;
const TEAMS = 2u;

var<workgroup> partial: array<vec2u, 64>;

fn is_chosen(slot: u32) -> bool {
    if !is_decoded(slot) {
        return false;
    }
    let frame = frame_of(slot);
    return ((chosen[frame / 32u] >> (frame % 32u)) & 1u) == 1u;
}

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
    let map_words = map_words_of(block);
    let below = (1u << lane) - 1u;
    var hash = vec2u(0u);
    for (var plane = 0u; plane < shape.bits; plane++) {
        var at = data_at(record, map_words) + words[record + plane];
        let map = map_at(record, plane, map_words);
        for (var i = 0u; i < map_words; i++) {
            let found = words[map + i];
            if ((found >> lane) & 1u) == 1u {
                let word = words[at + countOneBits(found & below)];
                hash += weight(plane) * hash_word(word, block * shape.block_px + 32u * (32u * i + lane));
            }
            at += countOneBits(found);
        }
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
