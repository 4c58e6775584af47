// Decodes LZ4 blocks straight to the records of the resident form.
//
// An invocation decodes one block (shared/block.wgsl), the workgroup the same block of consecutive frames, whose
// streams are about as long. Then the workgroup's records get their place, and teams copy them from the lanes.

@group(0) @binding(0) var<uniform> batch: Batch;
/// The chunks' bytes.
@group(0) @binding(1) var<storage, read> compressed: array<vec4u>;
/// Slot x lz4_blocks + block: first byte and bytes of the LZ4 block.
@group(0) @binding(2) var<storage, read> blocks: array<vec2u>;
/// A lane for each invocation; see shared/block.wgsl.
@group(0) @binding(3) var<storage, read_write> lanes: array<u32>;
/// Slot: 0, or the fault of its lowest block that has one.
@group(0) @binding(4) var<storage, read_write> faults: array<atomic<u32>>;
/// Words of all records so far, earlier batches' included, more than there is room for when they do not fit; failed
/// frames; parts of this batch that were taken.
@group(0) @binding(5) var<storage, read_write> totals: array<atomic<u32>, 3>;
/// Slot of the store x blocks + block: first word of the record, or NO_RECORD.
@group(0) @binding(6) var<storage, read_write> table: array<u32>;
/// The records.
@group(0) @binding(7) var<storage, read_write> words: array<u32>;

const WORKGROUP = 64u;
/// Invocations that copy a record together.
const TEAM = 32u;
const NO_RECORD = 0xFFFFFFFFu;
const HEADER_WORDS = 4u;

/// A decoded block in its lane: words, or NO_RECORD for a failed one; spans that hold something; planes that do; the
/// place of its record.
struct Done {
    count: u32,
    low: u32,
    high: u32,
    planes: u32,
    place: u32,
}

var<workgroup> done: array<Done, WORKGROUP>;

fn whole_quads(words: u32) -> u32 {
    return (words + 3u) & ~3u;
}

// The planes of `spans` spans each that hold something, as bits.
fn planes_of(planes: u32, spans: u32) -> u32 {
    var found = 0u;
    for (var plane = 0u; plane < planes; plane++) {
        found |= u32(next_span(plane * spans, low, high) < (plane + 1u) * spans) << plane;
    }
    return found;
}

// Gives every record of the workgroup its place.
fn place_records(map_words: u32) {
    var room = 0u;
    for (var i = 0u; i < WORKGROUP; i++) {
        done[i].place = room;
        if done[i].count != NO_RECORD {
            room += HEADER_WORDS + countOneBits(done[i].planes) * map_words + whole_quads(done[i].count);
        }
    }
    let first = atomicAdd(&totals[0], room);
    let fits = first <= arrayLength(&words) && room <= arrayLength(&words) - first;
    for (var i = 0u; i < WORKGROUP; i++) {
        let has_record = fits && done[i].count != NO_RECORD;
        done[i].place = select(NO_RECORD, first + done[i].place, has_record);
    }
}

// Invocation `copier` of a team writes its part of the record of the block in the lane at `from_lane`; a plane has
// `spans` spans.
fn copy_record(record: Done, from_lane: u32, planes: u32, spans: u32, copier: u32) {
    if copier < HEADER_WORDS {
        words[record.place + copier] = select(select(0u, record.count, copier == 1u), record.planes, copier == 0u);
    }
    let maps = record.place + HEADER_WORDS;
    let map_words = whole_quads(spans);
    for (var span = copier; span < planes * spans; span += TEAM) {
        let plane = span / spans;
        if ((record.planes >> plane) & 1u) == 0u {
            continue;
        }
        let rank = countOneBits(record.planes & ((1u << plane) - 1u));
        var of_span = 0u;
        if ((select(record.low, record.high, span >= 32u) >> (span & 31u)) & 1u) == 1u {
            of_span = lanes[from_lane + 2u * span];
        }
        let at = maps + rank * map_words + span % spans;
        words[at] = of_span;
        if (span + 1u) % spans == 0u {
            for (var i = 1u; i <= map_words - spans; i++) {
                words[at + i] = 0u;
            }
        }
    }
    let data = maps + countOneBits(record.planes) * map_words;
    for (var i = copier; i < whole_quads(record.count); i += TEAM) {
        var value = 0u;
        if i < record.count {
            value = lanes[from_lane + LANE_INDEX + i];
        }
        words[data + i] = value;
    }
}

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) invocation: u32,
) {
    let id = group_index(group, groups);
    let first_lane = id * WORKGROUP;
    member = invocation;
    lane = (first_lane + invocation) * LANE_WORDS;
    let planes = batch.pixel_bytes * 8u;
    let parts = (batch.frames + WORKGROUP - 1u) / WORKGROUP * batch.lz4_blocks;
    for (var part = next_part(); part < parts; part = next_part()) {
        let block = part % batch.lz4_blocks;
        let slot = part / batch.lz4_blocks * WORKGROUP + invocation;
        let size = select(batch.block_bytes, batch.last_bytes, block + 1u == batch.lz4_blocks);
        // Spans of a plane.
        let spans = size / SPAN_BYTES / planes;
        let is_decoded = decode_block(slot, block, size);
        done[invocation] = Done(select(NO_RECORD, count, is_decoded), low, high, planes_of(planes, spans), 0u);
        // Every invocation's block is done.
        workgroupBarrier();
        if invocation == 0u {
            place_records(whole_quads(spans));
        }
        // The records have their places, and what lies in the lanes is seen by the teams.
        workgroupBarrier();
        storageBarrier();
        if slot < batch.frames {
            table[(batch.first_slot + slot) * batch.blocks + block] = done[invocation].place;
        }
        for (var i = invocation / TEAM; i < WORKGROUP; i += WORKGROUP / TEAM) {
            if done[i].place != NO_RECORD {
                copy_record(done[i], (first_lane + i) * LANE_WORDS, planes, spans, invocation % TEAM);
            }
        }
        // The lanes have been copied and may be written again.
        workgroupBarrier();
        storageBarrier();
    }
}
