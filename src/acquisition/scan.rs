//! The scan shape, and why it is believed.

use super::{ScanChoice, ScanFrom, words};
use crate::shape::Scan;

/// What the files say of the scan.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScanHints {
    /// `NumPixelsY` x `NumPixelsX` of the sidecar.
    pub sidecar: Option<Scan>,
    /// The first two axes of a 4-D dataset.
    pub stored: Option<Scan>,
    pub nimages: Option<u64>,
    pub ntrigger: Option<u64>,
}

impl ScanHints {
    /// `nimages` x `ntrigger`.
    pub fn announced(&self) -> Option<u64> {
        self.nimages?.checked_mul(self.ntrigger?)
    }

    /// The first that applies: sidecar, stored, `ntrigger` rows of `nimages`, square, best factors.
    pub fn choose(&self, frames: u32) -> ScanChoice {
        let announced = self.announced().and_then(|announced| u32::try_from(announced).ok());
        let counted = announced.filter(|&announced| announced <= words::MOST_FRAMES).unwrap_or(0).max(frames);
        let alternatives = |shape: Scan| others(counted, shape);
        let told = |shape, from| ScanChoice { shape, from, alternatives: alternatives(shape) };
        if let Some(shape) = self.sidecar {
            return told(shape, ScanFrom::Sidecar);
        }
        if let Some(shape) = self.stored {
            return told(shape, ScanFrom::Stored);
        }
        if let (Some(cols @ 2..), Some(rows @ 2..)) = (self.nimages, self.ntrigger)
            && let Some(shape) = shape_of(rows, cols)
        {
            return told(shape, ScanFrom::Ntrigger);
        }
        let shape = nearest_to_square(counted);
        told(shape, if shape.rows == shape.cols { ScanFrom::Square } else { ScanFrom::Guess })
    }
}

/// A scan of a size that can be; `None` for others.
pub fn shape_of(rows: u64, cols: u64) -> Option<Scan> {
    let positions = rows.checked_mul(cols)?;
    let is_possible = (1..=u64::from(words::MOST_FRAMES)).contains(&positions);
    is_possible.then_some(Scan { rows: rows as u32, cols: cols as u32 })
}

/// The factor pair nearest to a square, rows <= columns.
fn nearest_to_square(count: u32) -> Scan {
    let rows = (1..=count.isqrt()).rev().find(|rows| count.is_multiple_of(*rows)).unwrap_or(0);
    Scan { rows, cols: count.checked_div(rows).unwrap_or(0) }
}

/// Other factor pairs, nearest to a square first, and the largest square inside.
fn others(count: u32, chosen: Scan) -> Vec<Scan> {
    let root = count.isqrt();
    let pairs = (1..=root).rev().filter(|rows| count.is_multiple_of(*rows)).map(|rows| (rows, count / rows));
    let mut shapes: Vec<Scan> = Vec::new();
    for (rows, cols) in pairs.take(MOST_ALTERNATIVES) {
        shapes.extend([Scan { rows, cols }, Scan { rows: cols, cols: rows }]);
    }
    if root > 0 && root * root != count {
        shapes.insert(shapes.len().min(2), Scan { rows: root, cols: root });
    }
    shapes.dedup();
    shapes.retain(|shape| *shape != chosen);
    shapes.truncate(MOST_ALTERNATIVES);
    shapes
}

const MOST_ALTERNATIVES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(hints: ScanHints, frames: u32) -> (u32, u32, ScanFrom) {
        let choice = hints.choose(frames);
        (choice.shape.rows, choice.shape.cols, choice.from)
    }

    #[test]
    fn a_count_alone_gives_a_square_or_a_guess() {
        assert_eq!(shape(ScanHints::default(), 64), (8, 8, ScanFrom::Square));
        assert_eq!(shape(ScanHints::default(), 60), (6, 10, ScanFrom::Guess));
        assert_eq!(shape(ScanHints::default(), 13), (1, 13, ScanFrom::Guess));
        assert_eq!(shape(ScanHints::default(), 0), (0, 0, ScanFrom::Square));
    }

    #[test]
    fn announced_frames_count_where_files_are_missing() {
        let hints = ScanHints { nimages: Some(1), ntrigger: Some(81), ..Default::default() };
        assert_eq!(shape(hints, 60), (9, 9, ScanFrom::Square));
    }

    #[test]
    fn triggers_are_lines_when_both_numbers_exceed_one() {
        let hints = ScanHints { nimages: Some(12), ntrigger: Some(5), ..Default::default() };
        assert_eq!(shape(hints, 60), (5, 12, ScanFrom::Ntrigger));
        let sidecar = Some(Scan { rows: 4, cols: 15 });
        assert_eq!(shape(ScanHints { sidecar, ..hints }, 60), (4, 15, ScanFrom::Sidecar));
    }

    #[test]
    fn a_guess_comes_with_what_else_fits() {
        let choice = ScanHints::default().choose(60);
        assert_eq!(choice.alternatives[..2], [Scan { rows: 10, cols: 6 }, Scan { rows: 7, cols: 7 }]);
    }

    #[test]
    fn counts_beyond_reason_do_not_decide() {
        let hints = ScanHints { nimages: Some(u64::MAX), ntrigger: Some(3), ..Default::default() };
        assert_eq!(shape(hints, 9), (3, 3, ScanFrom::Square));
    }
}
