// Bytes of `compressed`, which goes on behind the last chunk; they lie at any address.
fn compressed_word(at: u32) -> u32 {
    let word = at >> 2u;
    let shift = (at & 3u) * 8u;
    let low = compressed[word];
    if shift == 0u {
        return low;
    }
    return (low >> shift) | (compressed[word + 1u] << (32u - shift));
}

fn compressed_byte(at: u32) -> u32 {
    return (compressed[at >> 2u] >> ((at & 3u) * 8u)) & 255u;
}

fn compressed_big_endian(at: u32) -> u32 {
    let word = compressed_word(at);
    return (word << 24u) | ((word & 0xFF00u) << 8u) | ((word >> 8u) & 0xFF00u) | (word >> 24u);
}
