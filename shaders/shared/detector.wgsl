/// Number of blocks with pixels of the set, then these blocks (room for all, whole quads); then the mask of every
/// block, 128 words for each quad of its bitmaps.
@group(0) @binding(5) var<storage, read> detector: array<vec4u>;

const TEAM = 8u;

fn detector_block(i: u32) -> u32 {
    return detector[(1u + i) / 4u][(1u + i) % 4u];
}

// The wanted pixels of an invocation's words: 4 neighbours for each bitmap of quad `quad` of a block's.
fn masks_of(block: u32, quad: u32, lane: u32) -> Sixteen {
    let first = (4u + shape.blocks) / 4u + 32u * (block * map_quads_of(0u) + quad) + lane;
    return Sixteen(detector[first], detector[first + 8u], detector[first + 16u], detector[first + 24u]);
}

fn masked(words: Sixteen, mask: Sixteen) -> Sixteen {
    return Sixteen(words.a & mask.a, words.b & mask.b, words.c & mask.c, words.d & mask.d);
}
