//! Hashes of decoded frames, as automation compares them.

/// FNV-1a, 64 bit, over `bytes`: the definition at <http://www.isthe.com/chongo/tech/comp/fnv/>.
pub fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// One hash for all frames that changes when two are exchanged: the sum of hash(i) x (2 i + 1) mod 2^64
/// over the frames that have data.
pub fn digest(hashes: &[Option<u64>]) -> u64 {
    let weighted = |(frame, hash): (u64, &Option<u64>)| hash.unwrap_or(0).wrapping_mul(2 * frame + 1);
    (0..).zip(hashes).map(weighted).fold(0, u64::wrapping_add)
}

pub fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a64_gives_the_published_values() {
        assert_eq!(fnv1a64(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a64(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_digest_notices_exchanged_frames_and_leaves_missing_ones_out() {
        assert_eq!(digest(&[Some(5), None, Some(7)]), 5 + 7 * 5);
        assert_ne!(digest(&[Some(5), Some(7)]), digest(&[Some(7), Some(5)]));
    }
}
