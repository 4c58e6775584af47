// Bit planes in a storage buffer that is zero before.

@group(0) @binding(0) var<storage, read> compressed: array<u32>;
/// First byte and bytes of each LZ4 block.
@group(0) @binding(1) var<storage, read> blocks: array<vec2u>;
/// 2048 words a block.
@group(0) @binding(2) var<storage, read_write> planes: array<u32>;

fn plane_word(block: u32, word: u32) -> u32 {
    return planes[block * 2048u + word];
}

fn add_bits(block: u32, word: u32, bits: u32) {
    planes[block * 2048u + word] |= bits;
}

// What any lane has written is visible to all lanes afterwards.
fn meet() {
    storageBarrier();
}

fn begin(block: u32, lane: u32) {}

fn finish(block: u32, lane: u32) {}
