//! Status of a slot from the fault word that its blocks have left.

/// 0, or fault | block << 8. A fault word counts downwards, so that the largest is that of the lowest block.
pub fn status(fault_word: u32) -> u32 {
    if fault_word == 0 { 0 } else { !fault_word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_block_wins() {
        let fault_word = |fault: u32, block: u32| !(block << 8 | fault);
        let words = [fault_word(6, 4), fault_word(9, 2), fault_word(5, 7)];
        assert_eq!(words.into_iter().max().map(status), Some(9 | 2 << 8));
        assert_eq!(status(0), 0);
    }
}
