// Words of bit planes out of decoded bytes. A bitshuffle block holds its planes back to back, n / 8
// bytes each, so that only planes of a multiple of 32 pixels lie on words; the raw tail of a chunk
// holds whole pixels and belongs to the last block.

/// Where the planes of one block come from.
struct Source {
    /// First word of the block in `decoded`.
    base: u32,
    /// Bytes of one of its planes there; 0 for a block that is nothing but the tail.
    plane_bytes: u32,
    /// Words of one of its planes in the resident form.
    plane_words: u32,
    /// Pixels of the tail, and its first byte in `compressed`.
    tail_px: u32,
    tail: u32,
}

fn source_of(slot: u32, block: u32) -> Source {
    var bytes = batch.block_bytes;
    if block + 1u >= batch.lz4_blocks {
        bytes = select(batch.last_bytes, 0u, block >= batch.lz4_blocks);
    }
    let plane_bytes = bytes / (8u * batch.pixel_bytes);
    let tail_px = select(0u, batch.tail_bytes / batch.pixel_bytes, block + 1u == batch.blocks);
    let base = slot * batch.frame_words + block * (batch.block_bytes >> 2u);
    return Source(base, plane_bytes, (plane_bytes * 8u + tail_px + 31u) >> 5u, tail_px, chunks[slot].w);
}

// True where plane word i of plane k is simply word k x plane_words + i of the block.
fn is_dense(source: Source) -> bool {
    return (source.plane_bytes & 3u) == 0u && source.tail_px == 0u;
}

fn plane_word(source: Source, plane: u32, index: u32) -> u32 {
    if is_dense(source) {
        return decoded[source.base + plane * source.plane_words + index];
    }
    var word = 0u;
    let first = index * 4u;
    if first < source.plane_bytes {
        let at = plane * source.plane_bytes + first;
        let shift = (at & 3u) * 8u;
        word = decoded[source.base + (at >> 2u)] >> shift;
        if shift != 0u {
            // Behind the frame's last block lies a word more, see lz4.wgsl.
            word |= decoded[source.base + (at >> 2u) + 1u] << (32u - shift);
        }
        let count = source.plane_bytes - first;
        if count < 4u {
            word &= (1u << (count * 8u)) - 1u;
        }
    }
    // The tail begins at a multiple of 8 pixels and is shorter: it lies inside one word.
    let tail_px = source.plane_bytes * 8u;
    if index == tail_px >> 5u {
        for (var i = 0u; i < source.tail_px; i++) {
            let byte = compressed_byte(source.tail + i * batch.pixel_bytes + (plane >> 3u));
            word |= ((byte >> (plane & 7u)) & 1u) << ((tail_px & 31u) + i);
        }
    }
    return word;
}
