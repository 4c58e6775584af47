// Makes one table of several that were copied behind one another: the records of each lie behind those of the
// tables before. One invocation takes one entry.

/// Table -> its first entry, words of the records before its own; at least one table.
@group(0) @binding(0) var<storage, read> parts: array<vec2u>;
/// Slot x blocks + block -> first word of the record, or NO_RECORD.
@group(0) @binding(1) var<storage, read_write> table: array<u32>;

const LANES = 64u;
const NO_RECORD = 0xFFFFFFFFu;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let entry = group_index(group, groups) * LANES + lane;
    if entry >= arrayLength(&table) || table[entry] == NO_RECORD {
        return;
    }
    var part = arrayLength(&parts) - 1u;
    while part > 0u && entry < parts[part].x {
        part--;
    }
    table[entry] += parts[part].y;
}
