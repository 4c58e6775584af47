//! The first words of a buffer.

/// The first `len` words of `from`.
pub fn copied(from: &[u32], len: usize) -> Vec<u32> {
    from.iter().copied().take(len).collect()
}
