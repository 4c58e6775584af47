// First moments of every pattern over a set of pixels: sum of value, value x row, value x column.
// One invocation takes 4 of every 32 words of the planes of one frame; 8 of them, a team, make a frame. Its 4
// neighbouring words of a bitmap are a run of 128 pixels: the moments of a run are those of its first pixel, times its
// sum, and what its pixels are further on. Sums are exact modulo 2^64.

/// Frame -> sum, sum x row, sum x column (low, high each).
@group(0) @binding(6) var<storage, read_write> moments: array<vec2u>;

const TEAMS = 8u;

struct Moments {
    sum: vec2u,
    row: vec2u,
    col: vec2u,
}

var<workgroup> partial: array<Moments, 64>;

fn add_moments(a: Moments, b: Moments) -> Moments {
    return Moments(add64(a.sum, b.sum), add64(a.row, b.row), add64(a.col, b.col));
}

// Sums over the planes of a group, so that 16 bits are the most of a pixel: below 2^25 for the 512 pixels of 16 words.
struct Runs {
    /// Of each word.
    values: Sixteen,
    /// Of value x bit in its word: below 2^30.
    bits: u32,
    /// Of value x rows begun inside of its word: below 2^30.
    rows: u32,
}

/// The first pixel of the run of a bitmap.
struct Start {
    row: vec4u,
    col: vec4u,
}

// Starts of the 4 runs, which lie 1024 pixels apart.
fn starts_of(first: u32) -> Start {
    let far = vec2u(1024u / shape.cols, 1024u % shape.cols);
    var at = vec2u(first / shape.cols, first % shape.cols);
    var start = Start();
    for (var i = 0u; i < 4u; i++) {
        start.row[i] = at.x;
        start.col[i] = at.y;
        at += far;
        if at.y >= shape.cols {
            at += vec2u(1u, 0u - shape.cols);
        }
    }
    return start;
}

// Bit index, summed over the pixels of `word`.
fn bit_sum(word: u32) -> u32 {
    return countOneBits(word & 0xaaaaaaaau) + 2u * countOneBits(word & 0xccccccccu)
        + 4u * countOneBits(word & 0xf0f0f0f0u) + 8u * countOneBits(word & 0xff00ff00u)
        + 16u * countOneBits(word & 0xffff0000u);
}

// Sum and carry of three bits, 32 x 4 times over.
fn carry_of(a: vec4u, b: vec4u, c: vec4u) -> vec4u {
    return (a & b) | (c & (a ^ b));
}

// The bit sums of 16 words: they are added up bit by bit first, which leaves five words.
fn bit_sums(words: Sixteen) -> u32 {
    let three = words.a ^ words.b ^ words.c;
    let two = carry_of(words.a, words.b, words.c);
    let one = three ^ words.d;
    let more = three & words.d;
    return sum_in_columns(one) + 2u * sum_in_columns(two ^ more) + 4u * sum_in_columns(two & more);
}

fn sum_in_columns(words: vec4u) -> u32 {
    let three = words.x ^ words.y ^ words.z;
    let two = (words.x & words.y) | (words.z & (words.x ^ words.y));
    let one = three ^ words.w;
    let more = three & words.w;
    return bit_sum(one) + 2u * bit_sum(two ^ more) + 4u * bit_sum(two & more);
}

// Pixels behind the ends of rows that lie inside of the words of a run which begins in column `col`.
fn rows_inside(run: vec4u, col: u32) -> u32 {
    var rows = 0u;
    for (var end = shape.cols - col; end < 128u; end += shape.cols) {
        if end % 32u != 0u {
            rows += countOneBits(run[end / 32u] >> (end % 32u));
        }
    }
    return rows;
}

// Values behind the ends of rows of a run which begins in column `col`, word by word.
fn rows_behind(values: vec4u, col: u32) -> u32 {
    var rows = 0u;
    for (var end = shape.cols - col; end < 128u; end += shape.cols) {
        rows += sum_of_four(select(vec4u(0u), values, vec4u(0u, 32u, 64u, 96u) >= vec4u(end)));
    }
    return rows;
}

// The moments of 4 runs, in units of 2^shift.
fn moments_of(runs: Runs, start: Start, shift: u32) -> Moments {
    let values = runs.values;
    let sums = vec4u(sum_of_four(values.a), sum_of_four(values.b), sum_of_four(values.c), sum_of_four(values.d));
    let rows = runs.rows + rows_behind(values.a, start.col.x) + rows_behind(values.b, start.col.y)
        + rows_behind(values.c, start.col.z) + rows_behind(values.d, start.col.w);
    let words = values.a + values.b + values.c + values.d;
    let bits = runs.bits + 32u * (words.y + 2u * words.z + 3u * words.w);
    // Rows and columns stay below 2^14 (engine::frames::check_layout): four products of 16 bits fit.
    let low = sums & vec4u(0xffffu);
    let high = sums >> vec4u(16u);
    let row = add64(shift64(sum_of_four(high * start.row), 16u), vec2u(sum_of_four(low * start.row), 0u));
    let col = add64(shift64(sum_of_four(high * start.col), 16u), vec2u(sum_of_four(low * start.col), 0u));
    return Moments(
        times_power(vec2u(sum_of_four(sums), 0u), shift),
        times_power(add64(row, vec2u(rows, 0u)), shift),
        times_power(add64(add64(col, vec2u(bits, 0u)), negate64(multiply64(rows, shape.cols))), shift),
    );
}

fn add_words(runs: Runs, taken: Sixteen, start: Start, shift: u32) -> Runs {
    let by = vec4u(shift);
    let values = Sixteen(
        runs.values.a + (countOneBits(taken.a) << by), runs.values.b + (countOneBits(taken.b) << by),
        runs.values.c + (countOneBits(taken.c) << by), runs.values.d + (countOneBits(taken.d) << by),
    );
    var rows = 0u;
    // Else rows end where words do.
    if (shape.cols | shape.block_px) % 32u != 0u {
        rows = rows_inside(taken.a, start.col.x) + rows_inside(taken.b, start.col.y)
            + rows_inside(taken.c, start.col.z) + rows_inside(taken.d, start.col.w);
    }
    return Runs(values, runs.bits + (bit_sums(taken) << shift), runs.rows + (rows << shift));
}

// Planes whose weights are added up in 32 bits: 16 of them, or the sign.
fn plane_group(plane: u32) -> u32 {
    return select(plane / 16u, 2u, is_sign(plane));
}

// The moments of the 128 words of quad `quad` of the bitmaps.
fn quad_moments(record: Record, block: u32, quad: u32, lane: u32) -> Moments {
    let mask = masks_of(block, quad, lane);
    let start = starts_of(block * shape.block_px + 4096u * quad + 128u * lane);
    var map = record.maps;
    var at = record.data;
    var sum = Moments();
    var left = record.present;
    while left != 0u {
        let group = plane_group(countTrailingZeros(left));
        let lowest = countTrailingZeros(left) & 16u;
        var runs = Runs();
        for (; left != 0u && plane_group(countTrailingZeros(left)) == group; left &= left - 1u) {
            let first = at + count_words(map, map + quad);
            let found = quads[map + quad];
            let taken = masked(sixteen_words(found, first, lane), mask);
            runs = add_words(runs, taken, start, countTrailingZeros(left) - lowest);
            at = first + count_words(map + quad, map + record.map_quads);
            map += record.map_quads;
        }
        let part = moments_of(runs, start, lowest);
        if group == 2u {
            sum = add_moments(sum, Moments(negate64(part.sum), negate64(part.row), negate64(part.col)));
        } else {
            sum = add_moments(sum, part);
        }
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
        for (var i = 0u; i < detector[0].x; i++) {
            let block = detector_block(i);
            let record = record_of(slot, block);
            for (var quad = 0u; quad < record.map_quads; quad++) {
                sum = add_moments(sum, quad_moments(record, block, quad, lane % TEAM));
            }
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
