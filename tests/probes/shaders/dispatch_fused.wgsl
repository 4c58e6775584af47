// One workgroup a block: its planes, then at once its pixels.
@group(0) @binding(3) var<storage, read_write> pixels: array<u32>;

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let block = group.y * groups.x + group.x;
    if block < arrayLength(&blocks) {
        unpack(block, lane);
        meet();
        for (var g = lane; g < PLANE_WORDS; g += LANES) {
            to_pixels(block, g);
        }
    }
}
