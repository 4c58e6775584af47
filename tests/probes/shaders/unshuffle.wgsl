// A pass of its own from planes to pixels: 32 pixels an invocation.
@group(0) @binding(0) var<storage, read> planes: array<u32>;
@group(0) @binding(1) var<storage, read_write> pixels: array<u32>;

fn plane_word(block: u32, word: u32) -> u32 {
    return planes[block * 2048u + word];
}

@compute @workgroup_size(128)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = group.y * groups.x + group.x;
    if block * 2048u < arrayLength(&planes) {
        to_pixels(block, lane);
    }
}
