// Products of 64-bit integers as (low, high) words.

// a x 2^shift, shift 0 to 31.
fn times_power(a: vec2u, shift: u32) -> vec2u {
    return vec2u(a.x << shift, (a.y << shift) | ((a.x >> 1u) >> (31u - shift)));
}

fn multiply64(a: u32, b: u32) -> vec2u {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let middle = vec2u((a >> 16u) * (b & 0xffffu), (a & 0xffffu) * (b >> 16u));
    let high = (a >> 16u) * (b >> 16u);
    let sum = add64(vec2u(low, high), add64(shift64(middle.x, 16u), shift64(middle.y, 16u)));
    return sum;
}
