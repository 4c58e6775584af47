//! The checksum of version 2 structures: Bob Jenkins' lookup3 `hashlittle` with initial value 0
//! (<https://burtleburtle.net/bob/c/lookup3.c>), as the specification asks in [IV.A.1.b].

/// Checksum of `bytes`.
pub fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let mut state = [start; 3];
    let mut rest = bytes;
    while rest.len() > 12 {
        add(&mut state, &rest[..12]);
        mix(&mut state);
        rest = &rest[12..];
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

fn mix(state: &mut [u32; 3]) {
    for (x, y, z, bits) in [(0, 1, 2, 4), (1, 2, 0, 6), (2, 0, 1, 8), (0, 1, 2, 16), (1, 2, 0, 19), (2, 0, 1, 4)] {
        state[x] = state[x].wrapping_sub(state[z]) ^ state[z].rotate_left(bits);
        state[z] = state[z].wrapping_add(state[y]);
    }
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
