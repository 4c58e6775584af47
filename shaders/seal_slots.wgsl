// Writes what the resident form knows of each slot, once all its blocks are decoded: its frame, its status, and that
// a failed frame has no record. One invocation takes one slot.

@group(0) @binding(0) var<uniform> batch: Batch;
/// Slot: frame, first byte, bytes, first byte of the raw tail.
@group(0) @binding(1) var<storage, read> chunks: array<vec4u>;
/// Slot: 0, or its fault.
@group(0) @binding(2) var<storage, read> faults: array<u32>;
/// Slot of the store x blocks + block: first word of the record, or NO_RECORD.
@group(0) @binding(3) var<storage, read_write> table: array<u32>;
/// Slot of the store: frame, 0 or fault | block << 8.
@group(0) @binding(4) var<storage, read_write> slots: array<vec2u>;
/// Words of all records; failed frames so far.
@group(0) @binding(5) var<storage, read_write> totals: array<atomic<u32>, 2>;

const WORKGROUP = 64u;
const NO_RECORD = 0xFFFFFFFFu;

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
    let fault = faults[slot];
    let at = batch.first_slot + slot;
    slots[at] = vec2u(chunks[slot].x, select(~fault, 0u, fault == 0u));
    if fault != 0u {
        atomicAdd(&totals[1], 1u);
        for (var block = 0u; block < batch.blocks; block++) {
            table[at * batch.blocks + block] = NO_RECORD;
        }
    }
}
