// One LZ4 block by one invocation, byte by byte into a word that is stored when it is full. WORKGROUP blocks side by
// side. No barriers, since nobody else reads or writes the block.

@group(0) @binding(0) var<storage, read> compressed: array<u32>;
@group(0) @binding(1) var<storage, read> blocks: array<vec2u>;
@group(0) @binding(2) var<storage, read_write> planes: array<u32>;

override WORKGROUP: u32 = 64;
const BLOCK_BYTES = 8192u;

fn byte_at(at: u32) -> u32 {
    return (compressed[at >> 2u] >> ((at & 3u) * 8u)) & 255u;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3u) {
    let block = id.x;
    if block >= arrayLength(&blocks) {
        return;
    }
    let base = block * 2048u;
    let place = blocks[block];
    let end = place.x + place.y;
    var input = place.x;
    var output = 0u;
    // The bytes of the word that `output` lies in.
    var word = 0u;
    loop {
        if input >= end || output >= BLOCK_BYTES {
            break;
        }
        let token = byte_at(input);
        input += 1u;
        var run = token >> 4u;
        if run == 15u {
            loop {
                let more = byte_at(input);
                input += 1u;
                run += more;
                if more != 255u || input >= end {
                    break;
                }
            }
        }
        for (var i = 0u; i < run; i++) {
            word |= byte_at(input + i) << ((output & 3u) * 8u);
            output += 1u;
            if (output & 3u) == 0u {
                planes[base + (output >> 2u) - 1u] = word;
                word = 0u;
            }
        }
        input += run;
        if input >= end {
            break;
        }
        let offset = byte_at(input) | (byte_at(input + 1u) << 8u);
        input += 2u;
        var length = (token & 15u) + 4u;
        if length == 19u {
            loop {
                let more = byte_at(input);
                input += 1u;
                length += more;
                if more != 255u || input >= end {
                    break;
                }
            }
        }
        for (var i = 0u; i < length; i++) {
            let at = output - offset;
            var source = planes[base + (at >> 2u)];
            if (at >> 2u) == (output >> 2u) {
                source = word;
            }
            word |= ((source >> ((at & 3u) * 8u)) & 255u) << ((output & 3u) * 8u);
            output += 1u;
            if (output & 3u) == 0u {
                planes[base + (output >> 2u) - 1u] = word;
                word = 0u;
            }
        }
    }
}
