//! One table of several whose records were put behind one another.

use super::planes::NO_RECORD;

/// The tables one after another, each with the words of records that lie before its own.
pub fn joined(tables: &[(&[u32], u32)]) -> Vec<u32> {
    let shifted = |&(table, words): &(&[u32], u32)| {
        let entry = move |&at: &u32| if at == NO_RECORD { at } else { at + words };
        table.iter().map(entry).collect::<Vec<_>>()
    };
    tables.iter().flat_map(shifted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_without_records_stays_without() {
        assert_eq!(joined(&[(&[0, 8], 0), (&[NO_RECORD, 4], 24)]), [0, 8, NO_RECORD, 28]);
    }
}
