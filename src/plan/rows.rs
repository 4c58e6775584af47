//! In which order the rows of the scan are read: coarsely first.

use crate::shape::Scan;

/// Rows of the scan by the turn in which they are read.
pub struct Rows {
    cols: u32,
    /// Distance of the rows of the first turn.
    step: u32,
}

impl Rows {
    /// Every sixteenth row first; of a small scan so many that each eighth of it has one.
    pub fn of(scan: Scan) -> Self {
        Self { cols: scan.cols.max(1), step: (scan.rows / 8).clamp(1, 16) }
    }

    /// 0 for what has a frame in a row of the first turn, 1 for the rows in the middle between those, 2 for the rest.
    pub fn turn(&self, frame: u32, frames: u32) -> usize {
        let (first, last) = (frame / self.cols, frame.saturating_add(frames.max(1) - 1) / self.cols);
        let has = |offset: u32| (last + self.step - offset) / self.step > (first + self.step - 1 - offset) / self.step;
        match (has(0), self.step > 1 && has(self.step / 2)) {
            (true, _) => 0,
            (_, true) => 1,
            _ => 2,
        }
    }
}

/// Turns in which a scan is read.
pub const TURNS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_turn_of_a_small_scan_reaches_every_eighth_of_it() {
        for rows in [1, 7, 8, 16, 31, 64, 512, 1000] {
            let of = Rows::of(Scan { rows, cols: 3 });
            let first: Vec<u32> = (0..rows).filter(|row| of.turn(row * 3, 3) == 0).collect();
            let eighth = |row: &u32| row * 8 / rows;
            let mut reached: Vec<u32> = first.iter().map(eighth).collect();
            reached.dedup();
            assert_eq!(reached.len() as u32, rows.min(8), "{rows} rows: {first:?}");
            assert!(first.len() * 20 >= rows as usize, "{rows} rows");
        }
    }

    #[test]
    fn a_section_that_touches_a_row_of_an_earlier_turn_is_read_then() {
        let rows = Rows::of(Scan { rows: 128, cols: 10 });
        assert_eq!([rows.turn(155, 5), rows.turn(155, 6), rows.turn(169, 30)], [2, 0, 0]);
        assert_eq!([rows.turn(170, 5), rows.turn(79, 1), rows.turn(79, 2), rows.turn(85, 70)], [2, 2, 1, 1]);
    }
}
