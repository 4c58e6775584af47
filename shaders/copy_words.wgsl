// Copies the first words of a buffer, as many as the other holds. A compute pass does it several times faster than the
// copy command of the drivers. One invocation takes four words.

@group(0) @binding(0) var<storage, read> from_words: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> to_words: array<vec4u>;

const WORKGROUP = 256u;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let quad = group_index(group, groups) * WORKGROUP + lane;
    if quad < arrayLength(&to_words) {
        to_words[quad] = from_words[quad];
    }
}
