// First moments of every pattern over a set of pixels: sum of value, value x row, value x column.
// One invocation takes every 32nd word of the planes of one frame; 32 of them, a team, make a frame.
// Sums are exact modulo 2^64; a lane's sum of rows in one plane stays below 2^32 (engine::frames::check_layout).

/// Number of blocks with pixels of the set, then these blocks (room for all), then the mask of every block.
@group(0) @binding(5) var<storage, read> detector: array<u32>;
/// Frame -> sum, sum x row, sum x column (low, high each).
@group(0) @binding(6) var<storage, read_write> moments: array<vec2u>;

const TEAMS = 2u;

struct Moments {
    sum: vec2u,
    row: vec2u,
    col: vec2u,
}

var<workgroup> partial: array<Moments, 64>;

fn add_moments(a: Moments, b: Moments) -> Moments {
    return Moments(add64(a.sum, b.sum), add64(a.row, b.row), add64(a.col, b.col));
}

// Number, sum of rows and sum of columns of the pixels of `word`, whose bit 0 is pixel `first` of the frame.
fn of_word(word: u32, first: u32) -> vec3u {
    let row = first / shape.cols;
    let col = first % shape.cols;
    let ones = countOneBits(word);
    let bit_sum = countOneBits(word & 0xaaaaaaaau) + 2u * countOneBits(word & 0xccccccccu)
        + 4u * countOneBits(word & 0xf0f0f0f0u) + 8u * countOneBits(word & 0xff00ff00u)
        + 16u * countOneBits(word & 0xffff0000u);
    var rows = ones * row;
    var cols = ones * col + bit_sum;
    for (var next_row = shape.cols - col; next_row < 32u; next_row += shape.cols) {
        let below = countOneBits(word >> next_row);
        rows += below;
        cols -= below * shape.cols;
    }
    return vec3u(ones, rows, cols);
}

fn weighted(counts: vec3u, plane: u32) -> Moments {
    let part = Moments(shift64(counts.x, plane), shift64(counts.y, plane), shift64(counts.z, plane));
    if is_sign(plane) {
        return Moments(negate64(part.sum), negate64(part.row), negate64(part.col));
    }
    return part;
}

fn block_moments(slot: u32, block: u32, lane: u32) -> Moments {
    let record = record_of(slot, block);
    let mask = 1u + shape.blocks + block * shape.plane_words + lane;
    let first = block * shape.block_px + 32u * lane;
    var map = record.maps;
    var at = record.data;
    var sum = Moments();
    for (var left = record.present; left != 0u; left &= left - 1u) {
        var counts = vec3u(0u);
        for (var i = 0u; i < record.map_quads; i++) {
            let found = quads[map + i];
            let four = four_words(found, at, lane);
            for (var j = 0u; j < 4u; j++) {
                let word = 128u * i + 32u * j;
                let taken = four[j] & detector[mask + word];
                if taken != 0u {
                    counts += of_word(taken, first + 32u * word);
                }
            }
            at += sum_of_four(countOneBits(found));
        }
        map += record.map_quads;
        sum = add_moments(sum, weighted(counts, countTrailingZeros(left)));
    }
    return sum;
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let slot = group_index(group, groups) * TEAMS + lane / TEAM;
    let has_data = is_decoded(slot);
    var sum = Moments();
    if has_data {
        for (var i = 0u; i < detector[0]; i++) {
            sum = add_moments(sum, block_moments(slot, detector[1u + i], lane % TEAM));
        }
    }
    partial[lane] = sum;
    for (var step = TEAM / 2u; step > 0u; step /= 2u) {
        // The sums of the round before are visible to the whole workgroup.
        workgroupBarrier();
        if lane % TEAM < step {
            partial[lane] = add_moments(partial[lane], partial[lane + step]);
        }
    }
    if has_data && lane % TEAM == 0u {
        let at = 3u * frame_of(slot);
        moments[at] = partial[lane].sum;
        moments[at + 1u] = partial[lane].row;
        moments[at + 2u] = partial[lane].col;
    }
}
