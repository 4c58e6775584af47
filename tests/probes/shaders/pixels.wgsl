// 32 pixels of 16 bits: a word of each of 16 planes to 16 words of two pixels.
fn two_pixels(a: vec4u, b: vec4u, c: vec4u, d: vec4u, pixel: u32) -> u32 {
    let weight = vec4u(1u, 2u, 4u, 8u);
    var both = 0u;
    for (var i = 0u; i < 2u; i++) {
        let bit = vec4u(pixel + i);
        let value = dot((a >> bit) & vec4u(1u), weight)
            | (dot((b >> bit) & vec4u(1u), weight) << 4u)
            | (dot((c >> bit) & vec4u(1u), weight) << 8u)
            | (dot((d >> bit) & vec4u(1u), weight) << 12u);
        both |= value << (i * 16u);
    }
    return both;
}

const PLANE_WORDS = 128u;

// Pixels 32 g to 32 g + 31 of a block.
fn to_pixels(block: u32, g: u32) {
    var planes4: array<vec4u, 4>;
    for (var i = 0u; i < 4u; i++) {
        let plane = i * 4u * PLANE_WORDS + g;
        planes4[i] = vec4u(
            plane_word(block, plane),
            plane_word(block, plane + PLANE_WORDS),
            plane_word(block, plane + 2u * PLANE_WORDS),
            plane_word(block, plane + 3u * PLANE_WORDS),
        );
    }
    for (var i = 0u; i < 16u; i++) {
        pixels[block * 2048u + g * 16u + i] = two_pixels(planes4[0], planes4[1], planes4[2], planes4[3], 2u * i);
    }
}
