// Work of known size: ITERATIONS dependent multiply-adds an invocation, nothing from memory. One invocation writes one
// word.

@group(0) @binding(0) var<storage, read_write> result: array<u32>;

override ITERATIONS: u32 = 64;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let word = id.y * groups.x * 64u + id.x;
    if word >= arrayLength(&result) {
        return;
    }
    var x = word;
    for (var i = 0u; i < ITERATIONS; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 15u;
    }
    result[word] = x;
}
