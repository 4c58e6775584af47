// The order of what is kept for every pixel: the same bit of neighbouring words lies side by side, because neighbouring
// invocations have neighbouring words.

// Pixel `bit` of plane word `word` of a block.
fn pixel_place(block: u32, word: u32, bit: u32) -> u32 {
    return (block * 32u + bit) * shape.plane_words + word;
}

// Number of places.
fn pixel_places() -> u32 {
    return shape.blocks * 32u * shape.plane_words;
}
