// Sentinels: values that are no counts. Unsigned: all planes 1; signed: the top plane 1.
// One invocation takes every 32nd plane word of one frame; 32 of them, a team, make a frame.

/// The good pixels (outside the mask) of every block.
@group(0) @binding(5) var<storage, read> good: array<u32>;
/// For every block the pixels that are no sentinel in some frame; then frame -> sentinels among its good
/// pixels. (A frame whose good pixels are all sentinel adds nothing to the former.)
@group(0) @binding(6) var<storage, read_write> found: array<atomic<u32>>;

const TEAM = 32u;
const TEAMS = 2u;

var<workgroup> partial: array<u32, 64>;

// True when a pixel of the block may be a sentinel: none of the planes it needs is empty.
fn has_sentinels(record: Record) -> bool {
    let all = 0xffffffffu >> (32u - shape.bits);
    return select(record.present == all, has_plane(record, shape.bits - 1u), shape.is_signed == 1u);
}

fn sentinels(record: Record, word: u32) -> u32 {
    if !has_sentinels(record) {
        return 0u;
    }
    let lowest = select(0u, shape.bits - 1u, shape.is_signed == 1u);
    var here = 0xffffffffu;
    for (var plane = shape.bits; plane > lowest && here != 0u; plane--) {
        here &= word_of(record, plane - 1u, word);
    }
    return here;
}

fn count_frame(slot: u32, lane: u32) -> u32 {
    var count = 0u;
    for (var block = 0u; block < shape.blocks; block++) {
        let record = record_of(slot, block);
        if !has_sentinels(record) {
            continue;
        }
        for (var word = lane; word < plane_words_of(block); word += TEAM) {
            let here = sentinels(record, word);
            count += countOneBits(here & good[block * shape.plane_words + word]);
        }
    }
    return count;
}

// After the first frames nearly every word is full, so this costs one load a word.
fn note_counts(slot: u32, lane: u32) {
    for (var block = 0u; block < shape.blocks; block++) {
        let record = record_of(slot, block);
        for (var word = lane; word < plane_words_of(block); word += TEAM) {
            let at = block * shape.plane_words + word;
            if atomicLoad(&found[at]) != 0xffffffffu {
                atomicOr(&found[at], ~sentinels(record, word));
            }
        }
    }
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let slot = group_index(group, groups) * TEAMS + lane / TEAM;
    let has_data = is_decoded(slot);
    var count = 0u;
    if has_data {
        count = count_frame(slot, lane % TEAM);
        note_counts(slot, lane % TEAM);
    }
    partial[lane] = count;
    for (var step = TEAM / 2u; step > 0u; step /= 2u) {
        // The counts of the round before are visible to the whole workgroup.
        workgroupBarrier();
        if lane % TEAM < step {
            partial[lane] += partial[lane + step];
        }
    }
    if has_data && lane % TEAM == 0u {
        atomicStore(&found[shape.blocks * shape.plane_words + frame_of(slot)], partial[lane]);
    }
}
