// Work by content: each word of `counts` that is not 0 costs its invocation some 1000 steps. SPIN steps come on top
// whatever the content is, and leave no trace but for one word in 2^32, which the contents do not have.

@group(0) @binding(0) var<storage, read> counts: array<u32>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;

override SPIN: u32 = 0;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let at = id.y * groups.x * 64u + id.x;
    if at >= arrayLength(&result) {
        return;
    }
    var spun = counts[at];
    for (var i = 0u; i < SPIN; i++) {
        spun = spun * 1664525u + 1013904223u;
        spun ^= spun >> 15u;
    }
    var x = at;
    let steps = select(0u, 1000u + (counts[at] & 127u), counts[at] != 0u);
    for (var i = 0u; i < steps; i++) {
        x = x * 1664525u + 1013904223u;
        x ^= x >> 15u;
    }
    if SPIN > 0u && spun == 0x5A5A5A5Au {
        x = 0u;
    }
    result[at] = x;
}
