/// Bit f % 32 of word f / 32: frame f is chosen.
@group(0) @binding(5) var<storage, read> chosen: array<u32>;

fn is_chosen(slot: u32) -> bool {
    if !is_decoded(slot) {
        return false;
    }
    let frame = frame_of(slot);
    return ((chosen[frame / 32u] >> (frame % 32u)) & 1u) == 1u;
}
