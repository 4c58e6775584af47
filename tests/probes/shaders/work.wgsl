// Work of known size: ITERATIONS dependent multiply-adds on each word of the input. Invocations beyond the last word
// begin again at the first and write the same once more.

@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;

override ITERATIONS: u32 = 64;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let at = (id.y * groups.x * 64u + id.x) % arrayLength(&result);
    var x = numbers[at];
    for (var i = 0u; i < ITERATIONS; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 15u;
    }
    result[at] = x;
}
