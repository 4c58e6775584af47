// 96-bit unsigned integers as (low, middle, high) words.
fn add96(a: vec3u, b: vec3u) -> vec3u {
    let low = a.x + b.x;
    let upper = add64(add64(a.yz, b.yz), vec2u(u32(low < a.x), 0u));
    return vec3u(low, upper);
}

// count x 2^shift, shift 0 to 63.
fn shift96(count: u32, shift: u32) -> vec3u {
    let part = shift64(count, shift % 32u);
    return select(vec3u(part, 0u), vec3u(0u, part), shift >= 32u);
}
