// What becomes of counts on their way to dense pixels.

/// As they are stored.
const EXACT = 0u;
/// 8 bits: below 0 becomes 0, above 255 becomes 255.
const U8_CLIP = 1u;
/// The lower 8 bits.
const U8_LOW = 2u;
const OUTPUT = 0u;
/// Bits of a stored pixel.
const PLANES = 16u;

// Bytes of a pixel that is written.
fn output_bytes() -> u32 {
    return select(1u, PLANES / 8u, OUTPUT == EXACT);
}

// Words that are written for so many bytes of planes.
fn output_words(bytes: u32) -> u32 {
    return bytes * 8u / PLANES * output_bytes() / 4u;
}
