// Finds which plane words of each block are not zero, and gives its record a place of just that size.
// One workgroup takes one block; blocks of failed frames get no place.

@group(0) @binding(0) var<uniform> batch: Batch;
/// The chunks' bytes, for raw tails.
@group(0) @binding(1) var<storage, read> compressed: array<u32>;
/// Slot: frame, first byte, bytes, first byte of the raw tail.
@group(0) @binding(2) var<storage, read> chunks: array<vec4u>;
/// Slot: 0, or its fault.
@group(0) @binding(3) var<storage, read> faults: array<u32>;
/// Decoded blocks.
@group(0) @binding(4) var<storage, read> decoded: array<u32>;
/// (Slot x blocks + block) x map_stride: bitmaps, plane by plane; bit i of word j = plane word 32 j + i
/// is not zero.
@group(0) @binding(5) var<storage, read_write> maps: array<u32>;
/// Slot x blocks + block: first word of the record, or NO_RECORD.
@group(0) @binding(6) var<storage, read_write> table: array<u32>;
/// Slot: frame, 0 or fault | block << 8.
@group(0) @binding(7) var<storage, read_write> slots: array<vec2u>;
/// Words of all records so far; failed frames.
@group(0) @binding(8) var<storage, read_write> totals: array<atomic<u32>, 2>;

const WORKGROUP = 64u;
const NO_RECORD = 0xFFFFFFFFu;

var<workgroup> tile: array<atomic<u32>, WORKGROUP>;
var<workgroup> count: atomic<u32>;
/// Bit k: plane k has a word that is not zero.
var<workgroup> present: atomic<u32>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let id = group_index(group, groups);
    let slot = id / batch.blocks;
    if slot >= batch.frames {
        return;
    }
    let block = id % batch.blocks;
    let fault = faults[slot];
    if block == 0u && lane == 0u {
        slots[slot] = vec2u(chunks[slot].x, select(~fault, 0u, fault == 0u));
        if fault != 0u {
            atomicAdd(&totals[1], 1u);
        }
    }
    let source = source_of(slot, block);
    let planes = batch.pixel_bytes * 8u;
    let plane_maps = (source.plane_words + 31u) >> 5u;
    let map_words = planes * plane_maps;
    let linear = (source.plane_words & 31u) == 0u && is_dense(source);

    for (var first = 0u; first < map_words; first += WORKGROUP) {
        atomicStore(&tile[lane], 0u);
        // The tile is zero for every lane.
        workgroupBarrier();
        let positions = min(WORKGROUP, map_words - first) * 32u;
        if linear {
            let start = source.base + first * 32u;
            for (var i = lane; i < positions; i += WORKGROUP) {
                if decoded[start + i] != 0u {
                    atomicOr(&tile[i >> 5u], 1u << (i & 31u));
                }
            }
        } else {
            for (var i = lane; i < positions; i += WORKGROUP) {
                let map = first + (i >> 5u);
                let index = (map % plane_maps) * 32u + (i & 31u);
                if index < source.plane_words && plane_word(source, map / plane_maps, index) != 0u {
                    atomicOr(&tile[i >> 5u], 1u << (i & 31u));
                }
            }
        }
        // The bits that any lane has set are there.
        workgroupBarrier();
        if first + lane < map_words {
            let map = atomicLoad(&tile[lane]);
            maps[id * batch.map_stride + first + lane] = map;
            if map != 0u {
                atomicAdd(&count, countOneBits(map));
                atomicOr(&present, 1u << ((first + lane) / plane_maps));
            }
        }
    }
    // The counts and planes of all lanes have been added.
    workgroupBarrier();
    if lane == 0u {
        var place = NO_RECORD;
        if fault == 0u {
            let map_room = countOneBits(atomicLoad(&present)) * ((plane_maps + 3u) / 4u);
            place = atomicAdd(&totals[0], 4u * (1u + map_room + (atomicLoad(&count) + 3u) / 4u));
        }
        table[id] = place;
    }
}
