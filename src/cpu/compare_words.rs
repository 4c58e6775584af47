//! In how many words two buffers differ.

/// Words of `found` that are not those of `expected`; both are as long.
pub fn compare_words(found: &[u32], expected: &[u32]) -> u32 {
    found.iter().zip(expected).map(|(found, expected)| u32::from(found != expected)).sum()
}
