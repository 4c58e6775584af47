// Sum and maximum of every pixel over the chosen frames. 32 invocations take 4 neighbouring plane words, each
// the same bit of all of them, so 4 pixels, of SLOTS frames, and add what they found to the totals: the maps of
// non-zero words are looked at once for 128 pixels.
// Sums are 64 bits wide; the totals' carries are counted as they happen, so that the order of the additions
// does not matter.

/// Pixel x 3: sum low, sum high, maximum (signed types: with the sign bit flipped).
@group(0) @binding(6) var<storage, read_write> totals: array<atomic<u32>>;

const TEAM = 32u;
const TEAMS = 2u;
const WORDS = 4u;
const SLOTS = 128u;

struct Four {
    low: vec4u,
    high: vec4u,
    most: vec4u,
}

// The pixels at `bit` of the 4 words from `first` on, sign-extended; `first` is a multiple of 4.
fn four_pixels(record: Record, first: u32, bit: u32) -> vec4u {
    var value = vec4u(0u);
    var map = record.maps;
    var start = record.data;
    for (var left = record.present; left != 0u; left &= left - 1u) {
        let found = words[4u * map + first / 32u];
        let here = (vec4u(found >> (first % 32u)) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u);
        if any(here != vec4u(0u)) {
            var at = start + countOneBits(found & ((1u << (first % 32u)) - 1u));
            for (var i = 0u; i < first / 32u; i++) {
                at += countOneBits(words[4u * map + i]);
            }
            // A word that is not there is read as the next one, and not counted.
            let two = at + here.x;
            let three = two + here.y;
            let found_words = vec4u(words[at], words[two], words[three], words[three + here.z]);
            value += weight(countTrailingZeros(left)) * ((found_words >> vec4u(bit)) & here);
        }
        start += count_words(map, map + record.map_quads);
        map += record.map_quads;
    }
    return value;
}

fn add_pixels(total: Four, value: vec4u) -> Four {
    let low = total.low + value;
    // All ones above a negative value.
    let sign = vec4u(0u) - (value >> vec4u(31u)) * shape.is_signed;
    let carry = select(vec4u(0u), vec4u(1u), low < value);
    return Four(low, total.high + sign + carry, max(total.most, value ^ vec4u(shape.is_signed << 31u)));
}

fn add_to_totals(pixel: u32, low: u32, high: u32, most: u32) {
    let before = atomicAdd(&totals[3u * pixel], low);
    let carry = u32(before + low < before);
    if (high + carry) != 0u {
        atomicAdd(&totals[3u * pixel + 1u], high + carry);
    }
    atomicMax(&totals[3u * pixel + 2u], most);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let block_teams = (shape.plane_words + WORDS - 1u) / WORDS;
    let team = group_index(group, groups) * TEAMS + lane / TEAM;
    let frame_team = team % (block_teams * shape.blocks);
    let first_slot = team / (block_teams * shape.blocks) * SLOTS;
    let block = frame_team / block_teams;
    let first = frame_team % block_teams * WORDS;
    if first_slot >= arrayLength(&slots) || first >= plane_words_of(block) {
        return;
    }
    var total = Four();
    for (var slot = first_slot; slot < first_slot + SLOTS; slot++) {
        if is_chosen(slot) {
            total = add_pixels(total, four_pixels(record_of(slot, block), first, lane % TEAM));
        }
    }
    for (var i = 0u; i < WORDS; i++) {
        let pixel = 32u * (first + i) + lane % TEAM;
        let at = block * shape.block_px + pixel;
        if pixel < shape.block_px && at < shape.pixels {
            add_to_totals(at, total.low[i], total.high[i], total.most[i]);
        }
    }
}
