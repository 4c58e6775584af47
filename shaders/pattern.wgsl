// One diffraction pattern back from its bit planes. One invocation makes one pixel.

/// The slot that is wanted.
@group(0) @binding(5) var<storage, read> wanted: array<u32>;
/// Pixel, row-major -> value, sign-extended.
@group(0) @binding(6) var<storage, read_write> pixels: array<u32>;

const LANES = 64u;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let pixel = group_index(group, groups) * LANES + lane;
    if pixel >= shape.pixels || !is_decoded(wanted[0]) {
        return;
    }
    let block = pixel / shape.block_px;
    pixels[pixel] = pixel_of(record_of(wanted[0], block), pixel % shape.block_px);
}
