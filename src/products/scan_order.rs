//! Which pattern belongs to which scan position: patterns may begin before or after the scan does, and every other line
//! may be scanned backwards.

use serde::{Deserialize, Serialize};

use crate::shape::Scan;

/// How the patterns lie on the scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScanOrder {
    /// Patterns before that of the first position; below 0 so many positions come before the first pattern.
    pub offset: i64,
    /// Lines 1, 3, 5 … run from right to left.
    pub snake: bool,
}

impl ScanOrder {
    /// Patterns and positions have the same numbers.
    pub fn is_plain(self) -> bool {
        self == Self::default()
    }

    /// The pattern of a position [row, col]; `None` before the first.
    pub fn frame(self, scan: Scan, [row, col]: [u32; 2]) -> Option<u32> {
        let col = if self.snake && row % 2 == 1 { (scan.cols.max(1) - 1).saturating_sub(col) } else { col };
        let step = i64::from(row) * i64::from(scan.cols) + i64::from(col);
        u32::try_from(step.checked_add(self.offset)?).ok()
    }

    /// The position of a pattern; `None` for one beside the scan.
    pub fn position(self, scan: Scan, frame: u32) -> Option<[u32; 2]> {
        let step = u64::try_from(i64::from(frame).checked_sub(self.offset)?).ok()?;
        if step >= scan.positions() {
            return None;
        }
        let cols = u64::from(scan.cols.max(1));
        let (row, col) = ((step / cols) as u32, (step % cols) as u32);
        Some([row, if self.snake && row % 2 == 1 { scan.cols - 1 - col } else { col }])
    }

    /// Values of patterns as values of positions, row-major; `nothing` where there is no pattern.
    pub fn laid_out<T: Copy>(self, scan: Scan, values: &[T], nothing: T) -> Vec<T> {
        let rows = 0..scan.rows;
        let frames = rows.flat_map(|row| (0..scan.cols).map(move |col| self.frame(scan, [row, col])));
        frames.map(|frame| frame.and_then(|frame| values.get(frame as usize)).copied().unwrap_or(nothing)).collect()
    }

    /// Positions, bit p % 32 of word p / 32 for position p, as patterns, of which there are `frames`.
    pub fn frames_of(self, scan: Scan, positions: &[u32], frames: u32) -> Vec<u32> {
        let mut words = vec![0; frames.div_ceil(32) as usize];
        for frame in 0..frames {
            let place = self.position(scan, frame).map(|[row, col]| row as usize * scan.cols as usize + col as usize);
            let is_in =
                place.is_some_and(|place| positions.get(place / 32).is_some_and(|word| word >> (place % 32) & 1 == 1));
            words[frame as usize / 32] |= u32::from(is_in) << (frame % 32);
        }
        words
    }

    /// In words; empty for the plain order.
    pub fn words(self) -> String {
        let offset = match self.offset {
            0 => String::new(),
            1 => "the first pattern is left out".into(),
            2.. => format!("the first {} patterns are left out", self.offset),
            -1 => "the first position has no pattern".into(),
            _ => format!("the first {} positions have no pattern", self.offset.unsigned_abs()),
        };
        match (self.snake, offset.as_str()) {
            (false, _) => offset,
            (true, "") => "every other line backwards".into(),
            (true, offset) => format!("every other line backwards; {offset}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCAN: Scan = Scan { rows: 3, cols: 4 };

    #[test]
    fn a_snake_turns_every_other_line() {
        let snake = ScanOrder { offset: 0, snake: true };
        let numbers: Vec<u32> = (0..12).collect();
        assert_eq!(snake.laid_out(SCAN, &numbers, 99), [0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11]);
    }

    #[test]
    fn an_offset_leaves_patterns_or_positions_out() {
        let shifted = |offset| ScanOrder { offset, snake: false }.laid_out(SCAN, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0);
        assert_eq!(shifted(2), [3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0]);
        assert_eq!(shifted(-3), [0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(shifted(i64::MAX), [0; 12]);
        assert_eq!(shifted(i64::MIN), [0; 12]);
    }

    #[test]
    fn every_pattern_finds_back_to_its_position() {
        for order in [ScanOrder { offset: 5, snake: true }, ScanOrder { offset: -4, snake: true }, ScanOrder::default()]
        {
            for frame in 0..20 {
                if let Some(at) = order.position(SCAN, frame) {
                    assert_eq!(order.frame(SCAN, at), Some(frame), "{order:?}");
                }
            }
            let there = (0..20).filter(|frame| order.position(SCAN, *frame).is_some()).count();
            assert_eq!(there, if order.offset < 0 { 8 } else { 12 }, "{order:?}");
        }
    }

    #[test]
    fn positions_are_told_as_patterns() {
        // Position 4 is the first of the second line: the last pattern of the snake's line.
        let words = ScanOrder { offset: 1, snake: true }.frames_of(SCAN, &[1 << 4], 14);
        assert_eq!(words, [1 << 8]);
    }
}
