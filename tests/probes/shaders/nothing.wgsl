// Binds what `work` binds, and makes nothing of it.

@group(0) @binding(0) var<storage, read> numbers: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x > 0xFFFFFFF0u {
        result[id.x % arrayLength(&result)] = numbers[0];
    }
}
