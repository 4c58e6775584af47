// What `work` does, with a constant that was to make this shader another one in every run, but stands in code that never
// runs: whoever compiles may drop it, and a cache then knows the rest.

@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@group(0) @binding(2) var<storage, read_write> unique: array<u32>;

override ITERATIONS: u32 = 64;
override UNIQUE: u32 = 0;
const IS_LIVE = false;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let at = id.y * groups.x * 64u + id.x;
    if at >= arrayLength(&result) {
        return;
    }
    var x = numbers[at];
    for (var i = 0u; i < ITERATIONS; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 15u;
    }
    result[at] = x;
    if IS_LIVE && at == 0u {
        unique[0] = UNIQUE;
    }
    if at == 1u {
        unique[1] = 1u;
    }
}
