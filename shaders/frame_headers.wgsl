// Walks the header and the block lengths of each chunk: where its blocks and its raw tail lie, and
// whether they lie inside it. One invocation takes one chunk.

/// What is decoded.
@group(0) @binding(0) var<uniform> batch: Batch;
/// The chunks' bytes.
@group(0) @binding(1) var<storage, read> compressed: array<u32>;
/// Slot: frame, first byte, bytes; the first byte of the raw tail is added here.
@group(0) @binding(2) var<storage, read_write> chunks: array<vec4u>;
/// Slot x lz4_blocks + block: first byte and bytes of the LZ4 block.
@group(0) @binding(3) var<storage, read_write> blocks: array<vec2u>;
/// Slot: 0, or its fault.
@group(0) @binding(4) var<storage, read_write> faults: array<u32>;

const WORKGROUP = 64u;

const HEADER_BYTES = 12u;

fn header_fault(chunk: vec4u) -> u32 {
    if chunk.z < HEADER_BYTES {
        return CHUNK_TOO_SHORT;
    }
    if compressed_big_endian(chunk.y) != 0u || compressed_big_endian(chunk.y + 4u) != batch.frame_bytes {
        return DECODED_SIZE;
    }
    if compressed_big_endian(chunk.y + 8u) != batch.block_bytes {
        return BLOCK_SIZE;
    }
    return 0u;
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let slot = group_index(group, groups) * WORKGROUP + lane;
    if slot >= batch.frames {
        return;
    }
    let chunk = chunks[slot];
    let first_block = slot * batch.lz4_blocks;
    var fault = header_fault(chunk);
    var block = 0u;
    // Bytes of the chunk before `at` have been walked.
    var at = HEADER_BYTES;
    for (; fault == 0u && block < batch.lz4_blocks; block++) {
        if chunk.z - at < 4u {
            fault = CHUNK_TOO_SHORT;
            break;
        }
        let len = compressed_big_endian(chunk.y + at);
        at += 4u;
        if len > chunk.z - at {
            fault = BLOCK_LENGTH;
            break;
        }
        blocks[first_block + block] = vec2u(chunk.y + at, len);
        at += len;
    }
    if fault == 0u && chunk.z - at < batch.tail_bytes {
        fault = CHUNK_TOO_SHORT;
        block = batch.blocks - 1u;
    }
    chunks[slot].w = chunk.y + at;
    faults[slot] = 0u;
    if fault != 0u {
        faults[slot] = fault_word(fault, block);
        for (var k = 0u; k < batch.lz4_blocks; k++) {
            blocks[first_block + k] = vec2u(0u, NO_BLOCK);
        }
    }
}
