// One workgroup a frame, which takes its blocks one after another.
const FRAME_BLOCKS = 9u;

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    for (var i = 0u; i < FRAME_BLOCKS; i++) {
        let block = group.x * FRAME_BLOCKS + i;
        if block < arrayLength(&blocks) {
            unpack(block, lane);
        }
    }
}
