// What every walk through the sequences of an LZ4 block needs. The including shader has compressed_byte.

/// Above every length that a block can have; extended lengths stop growing here.
const ENDLESS = 0x40000000u;
/// How a block ends that is decoded; every other end but 0 is a fault.
const COMPLETE = 255u;

// The first `bytes` bytes of `value`.
fn keep(value: u32, bytes: u32) -> u32 {
    return select(value & ((1u << ((bytes & 3u) * 8u)) - 1u), value, bytes >= 4u);
}

/// A length and the input behind it.
struct Length {
    bytes: u32,
    input: u32,
    runs_over: bool,
}

// Adds the extension bytes of a length: 255 means that another one follows.
fn extended(bytes: u32, input: u32, end: u32) -> Length {
    var length = Length(bytes, input, false);
    loop {
        if length.input >= end {
            length.runs_over = true;
            break;
        }
        let more = compressed_byte(length.input);
        length.input += 1u;
        length.bytes = min(length.bytes + more, ENDLESS);
        if more != 255u {
            break;
        }
    }
    return length;
}
