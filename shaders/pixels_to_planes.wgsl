// Frames of little-endian pixels, as the workers decode them, shuffled into bit planes as LZ4 would have left
// them: planes back to back, n / 8 bytes each; the last n % 8 pixels of a frame stay where they are.
// One invocation makes one word.

@group(0) @binding(0) var<uniform> batch: Batch;
/// Pixels, frame after frame.
@group(0) @binding(1) var<storage, read> compressed: array<u32>;
/// Slot x frame_words: shuffled blocks, each from a word on.
@group(0) @binding(2) var<storage, read_write> decoded: array<u32>;

const WORKGROUP = 64u;

// Byte j of a plane: one bit of each of 8 pixels; `start` is the first byte of the first.
fn plane_byte(start: u32, plane: u32) -> u32 {
    var byte = 0u;
    for (var i = 0u; i < 8u; i++) {
        let part = compressed_byte(start + i * batch.pixel_bytes + plane / 8u);
        byte |= ((part >> (plane % 8u)) & 1u) << i;
    }
    return byte;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let id = group_index(group, groups) * WORKGROUP + lane;
    if batch.lz4_blocks == 0u || id / batch.frame_words >= batch.frames {
        return;
    }
    let slot = id / batch.frame_words;
    let block_words = batch.block_bytes / 4u;
    let block = min(id % batch.frame_words / block_words, batch.lz4_blocks - 1u);
    let first = 4u * (id % batch.frame_words - block * block_words);
    let bytes = select(batch.block_bytes, batch.last_bytes, block + 1u == batch.lz4_blocks);
    if first >= bytes {
        return;
    }
    let plane_bytes = bytes / (8u * batch.pixel_bytes);
    let start = slot * batch.frame_bytes + block * batch.block_bytes;
    var word = 0u;
    for (var i = 0u; i < 4u; i++) {
        let at = first + i;
        let pixel = at % plane_bytes * 8u;
        word |= plane_byte(start + pixel * batch.pixel_bytes, at / plane_bytes) << (8u * i);
    }
    decoded[id] = word;
}
