// Counts the words in which two buffers differ. One invocation compares WORDS of them.

@group(0) @binding(0) var<uniform> span: Span;
@group(0) @binding(1) var<storage, read> found: array<u32>;
@group(0) @binding(2) var<storage, read> expected: array<u32>;
/// One counter.
@group(0) @binding(3) var<storage, read_write> differing: array<atomic<u32>>;

struct Span {
    /// Words of both buffers.
    words: u32,
}

const WORKGROUP = 64u;
/// Words of an invocation, WORKGROUP apart.
const WORDS = 16u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let first = group_index(group, groups) * WORKGROUP * WORDS + lane;
    // At most WORDS an invocation: the counter cannot overflow, since there are at most 2^30 words.
    var count = 0u;
    for (var i = 0u; i < WORDS; i++) {
        let word = first + i * WORKGROUP;
        if word < span.words && found[word] != expected[word] {
            count += 1u;
        }
    }
    if count > 0u {
        atomicAdd(&differing[0], count);
    }
}
