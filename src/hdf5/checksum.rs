//! The checksum of version 2 structures: Bob Jenkins' lookup3 `hashlittle` with initial value 0
//! (<https://burtleburtle.net/bob/c/lookup3.c>), as the specification asks in [IV.A.1.b].

/// Checksum of `bytes`.
pub fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    let mut rest = bytes;
    while let Some((words, after)) = rest.split_first_chunk::<12>().filter(|(_, after)| !after.is_empty()) {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *words;
        for (state, word) in state.iter_mut().zip([[a, b, c, d], [e, f, g, h], [i, j, k, l]]) {
            *state = state.wrapping_add(u32::from_le_bytes(word));
        }
        mix(&mut state);
        rest = after;
    }
    if !rest.is_empty() {
        add(&mut state, rest);
        finish(&mut state);
    }
    state[2]
}

fn add(state: &mut [u32; 3], bytes: &[u8]) {
    for (i, &byte) in bytes.iter().enumerate() {
        state[i / 4] = state[i / 4].wrapping_add(u32::from(byte) << (8 * (i % 4)));
    }
}

fn mix([a, b, c]: &mut [u32; 3]) {
    let step = |x: &mut u32, y: u32, z: &mut u32, bits: u32| {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(bits);
        *z = z.wrapping_add(y);
    };
    step(a, *b, c, 4);
    step(b, *c, a, 6);
    step(c, *a, b, 8);
    step(a, *b, c, 16);
    step(b, *c, a, 19);
    step(c, *a, b, 4);
}

fn finish(state: &mut [u32; 3]) {
    for (x, y, bits) in [(2, 1, 14), (0, 2, 11), (1, 0, 25), (2, 1, 16), (0, 2, 4), (1, 0, 14), (2, 1, 24)] {
        state[x] = (state[x] ^ state[y]).wrapping_sub(state[y].rotate_left(bits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_the_published_self_test() {
        // driver5() of lookup3.c: hashlittle("", 0) and hashlittle("Four score and seven years ago", 0).
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }
}
