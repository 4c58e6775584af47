// Writes the record of each block: its head, the bitmaps of its planes, and the words that are not zero.
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
/// Words before the bitmaps.
const HEAD = 4u;
const NO_RECORD = 0xFFFFFFFFu;

/// Bitmaps of a run that is summed up by one invocation.
const RUN = 8u;

/// Bitmaps of a tile, the number of their bits, of those of each run, and the number of bits before each.
var<workgroup> tile: array<u32, WORKGROUP>;
var<workgroup> counts: array<u32, WORKGROUP>;
var<workgroup> runs: array<u32, WORKGROUP / RUN>;
var<workgroup> before: array<u32, WORKGROUP>;
/// Bit k: plane k has a word that is not zero.
var<workgroup> present: atomic<u32>;

// Place of the bit of `bits` that has `rank` others below it.
fn nth_bit(bits: u32, rank: u32) -> u32 {
    var place = 0u;
    var below = rank;
    for (var width = 16u; width > 0u; width >>= 1u) {
        let low = countOneBits((bits >> place) & ((1u << width) - 1u));
        if below >= low {
            below -= low;
            place += width;
        }
    }
    return place;
}

// The bitmap of the tile that holds its bit number `rank`: the last with at most `rank` bits before it.
fn map_of(rank: u32) -> u32 {
    var map = 0u;
    for (var step = WORKGROUP / 2u; step > 0u; step >>= 1u) {
        if before[map + step] <= rank {
            map += step;
        }
    }
    return map;
}

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
    let first_map = id * batch.map_stride;
    for (var i = lane; i < map_words; i += WORKGROUP) {
        if maps[first_map + i] != 0u {
            atomicOr(&present, 1u << (i / plane_maps));
        }
    }
    // Every plane that is not empty is noted.
    workgroupBarrier();
    let record = table[id];
    let found = atomicLoad(&present);
    let room = (plane_maps + 3u) / 4u * 4u;
    let kept_maps = countOneBits(found) * room;
    for (var i = lane; i < kept_maps; i += WORKGROUP) {
        let j = i % room;
        var map = 0u;
        if j < plane_maps {
            map = maps[first_map + nth_bit(found, i / room) * plane_maps + j];
        }
        words[record + HEAD + i] = map;
    }
    let record_words = record + HEAD + kept_maps;

    // Words of the tiles before.
    var packed = 0u;
    for (var first = 0u; first < map_words; first += WORKGROUP) {
        var map = 0u;
        if first + lane < map_words {
            map = maps[first_map + first + lane];
        }
        tile[lane] = map;
        counts[lane] = countOneBits(map);
        // Every lane's bitmap and count are there.
        workgroupBarrier();
        if lane < WORKGROUP / RUN {
            var sum = 0u;
            for (var i = 0u; i < RUN; i++) {
                sum += counts[lane * RUN + i];
            }
            runs[lane] = sum;
        }
        // Every run's sum is there.
        workgroupBarrier();
        let run = lane / RUN;
        var rank = 0u;
        for (var i = 0u; i < WORKGROUP / RUN; i++) {
            rank += select(0u, runs[i], i < run);
        }
        for (var i = run * RUN; i < lane; i++) {
            rank += counts[i];
        }
        before[lane] = rank;
        // Every lane's rank is there.
        workgroupBarrier();
        let total = before[WORKGROUP - 1u] + counts[WORKGROUP - 1u];
        for (var i = lane; i < total; i += WORKGROUP) {
            let map = map_of(i);
            let bit = nth_bit(tile[map], i - before[map]);
            let position = first + map;
            let word = plane_word(source, position / plane_maps, (position % plane_maps) * 32u + bit);
            words[record_words + packed + i] = word;
        }
        packed += total;
        // The tile has been read and may be written again.
        workgroupBarrier();
    }
    if lane < HEAD {
        words[record + lane] = select(select(0u, packed, lane == 1u), found, lane == 0u);
    }
    // Zeros up to a multiple of 4 words.
    if packed + lane < (packed + 3u) / 4u * 4u {
        words[record_words + packed + lane] = 0u;
    }
}
