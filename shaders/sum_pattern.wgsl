// Sum and maximum of every pixel over the chosen frames. One invocation takes one pixel of SLOTS frames and
// adds what it found to the totals.
// A lane's sum (SLOTS x 2^32) is 64 bits wide; so are the totals, whose carries are counted as they happen,
// so that the order of the additions does not matter.

/// Bit f % 32 of word f / 32: frame f is chosen.
@group(0) @binding(4) var<storage, read> chosen: array<u32>;
/// Pixel x 3: sum low, sum high, maximum (signed types: with the sign bit flipped).
@group(0) @binding(5) var<storage, read_write> totals: array<atomic<u32>>;

const LANES = 64u;
const SLOTS = 128u;

fn is_chosen(slot: u32) -> bool {
    if !is_decoded(slot) {
        return false;
    }
    let frame = frame_of(slot);
    return (chosen[frame / 32u] >> (frame % 32u) & 1u) == 1u;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let pixel_groups = (shape.pixels + LANES - 1u) / LANES;
    let index = group_index(group, groups);
    let pixel = index % pixel_groups * LANES + lane;
    let first = index / pixel_groups * SLOTS;
    if pixel >= shape.pixels || first >= arrayLength(&slots) {
        return;
    }
    let block = pixel / shape.block_px;
    let map_words = map_words_of(block);
    var sum = vec2u(0u);
    var most = 0u;
    for (var slot = first; slot < first + SLOTS; slot++) {
        if is_chosen(slot) {
            let value = pixel_of(record_of(slot, block), pixel % shape.block_px, map_words);
            let is_negative = shape.is_signed == 1u && (value >> 31u) == 1u;
            sum = add64(sum, vec2u(value, select(0u, 0xffffffffu, is_negative)));
            most = max(most, value ^ (shape.is_signed << 31u));
        }
    }
    let before = atomicAdd(&totals[3u * pixel], sum.x);
    let carry = u32(before + sum.x < before);
    atomicAdd(&totals[3u * pixel + 1u], sum.y + carry);
    atomicMax(&totals[3u * pixel + 2u], most);
}
