// Bit planes in 8 KiB of workgroup memory, copied to a storage buffer at the end.

@group(0) @binding(0) var<storage, read> compressed: array<u32>;
/// First byte and bytes of each LZ4 block.
@group(0) @binding(1) var<storage, read> blocks: array<vec2u>;
/// 2048 words a block.
@group(0) @binding(2) var<storage, read_write> planes: array<u32>;

var<workgroup> unpacked: array<u32, 2048>;

fn plane_word(block: u32, word: u32) -> u32 {
    return unpacked[word];
}

fn add_bits(block: u32, word: u32, bits: u32) {
    unpacked[word] |= bits;
}

// What any lane has written is visible to all lanes afterwards.
fn meet() {
    workgroupBarrier();
}

fn begin(block: u32, lane: u32) {
    for (var word = lane; word < 2048u; word += LANES) {
        unpacked[word] = 0u;
    }
    workgroupBarrier();
}

fn finish(block: u32, lane: u32) {
    workgroupBarrier();
    for (var word = lane; word < 2048u; word += LANES) {
        planes[block * 2048u + word] = unpacked[word];
    }
    workgroupBarrier();
}
