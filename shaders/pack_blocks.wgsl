// Writes the record of each block: starts of the planes, bitmaps, and the words that are not zero.
// One workgroup takes one block.

@group(0) @binding(0) var<uniform> batch: Batch;
/// The chunks' bytes, for raw tails.
@group(0) @binding(1) var<storage, read> compressed: array<u32>;
/// Slot: frame, first byte, bytes, first byte of the raw tail.
@group(0) @binding(2) var<storage, read> chunks: array<vec4u>;
/// Decoded blocks.
@group(0) @binding(3) var<storage, read> decoded: array<u32>;
/// (Slot x blocks + block) x map_stride: bitmaps, plane by plane.
@group(0) @binding(4) var<storage, read> maps: array<u32>;
/// Slot x blocks + block: first word of the record, or NO_RECORD.
@group(0) @binding(5) var<storage, read> table: array<u32>;
/// The records.
@group(0) @binding(6) var<storage, read_write> words: array<u32>;

const WORKGROUP = 64u;
const NO_RECORD = 0xFFFFFFFFu;

/// Bitmaps of a tile, and of each the words that are not zero before it.
var<workgroup> tile: array<u32, WORKGROUP>;
var<workgroup> before: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let id = group_index(group, groups);
    let slot = id / batch.blocks;
    if slot >= batch.frames || table[id] == NO_RECORD {
        return;
    }
    let source = source_of(slot, id % batch.blocks);
    let planes = batch.pixel_bytes * 8u;
    let plane_maps = (source.plane_words + 31u) >> 5u;
    let map_words = planes * plane_maps;
    let starts = table[id];
    let record_maps = starts + planes + 1u;
    let record_words = record_maps + map_words;

    // Words of the tiles before.
    var packed = 0u;
    for (var first = 0u; first < map_words; first += WORKGROUP) {
        var map = 0u;
        if first + lane < map_words {
            map = maps[id * batch.map_stride + first + lane];
            words[record_maps + first + lane] = map;
        }
        let mine = countOneBits(map);
        tile[lane] = map;
        before[lane] = mine;
        // Every lane's count is there.
        workgroupBarrier();
        for (var step = 1u; step < WORKGROUP; step <<= 1u) {
            var sum = before[lane];
            if lane >= step {
                sum += before[lane - step];
            }
            // Every lane has read the sums of this step.
            workgroupBarrier();
            before[lane] = sum;
            // Every lane sees the sums over twice as many bitmaps.
            workgroupBarrier();
        }
        let total = before[WORKGROUP - 1u];
        let rank = packed + before[lane] - mine;
        if first + lane < map_words && (first + lane) % plane_maps == 0u {
            words[starts + (first + lane) / plane_maps] = rank;
        }
        // Every lane has read its sum and the total.
        workgroupBarrier();
        before[lane] = rank;
        // Every lane sees every rank.
        workgroupBarrier();
        for (var i = lane; i < min(WORKGROUP, map_words - first) * 32u; i += WORKGROUP) {
            let bits = tile[i >> 5u];
            let bit = 1u << (i & 31u);
            if (bits & bit) != 0u {
                let position = first + (i >> 5u);
                let place = record_words + before[i >> 5u] + countOneBits(bits & (bit - 1u));
                words[place] = plane_word(source, position / plane_maps, (position % plane_maps) * 32u + (i & 31u));
            }
        }
        packed += total;
        // The tile has been read and may be written again.
        workgroupBarrier();
    }
    if lane == 0u {
        words[starts + planes] = packed;
    }
}
