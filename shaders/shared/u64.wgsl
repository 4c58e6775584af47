// 64-bit two's-complement integers as (low, high) words.
fn add64(a: vec2u, b: vec2u) -> vec2u {
    let low = a.x + b.x;
    return vec2u(low, a.y + b.y + u32(low < a.x));
}

fn negate64(a: vec2u) -> vec2u {
    return vec2u(~a.x + 1u, ~a.y + u32(a.x == 0u));
}

// count x 2^shift, shift 0 to 31.
fn shift64(count: u32, shift: u32) -> vec2u {
    return vec2u(count << shift, (count >> 1u) >> (31u - shift));
}
