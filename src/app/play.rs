//! Patterns one after another: the cursor moves on by itself, as fast as patterns come and pictures are drawn.

use super::{
    App,
    open_set::{OpenSet, Want},
    state::{Line, PatternOf, PlayOrder, ViewState},
};
use crate::shape::Scan;

impl App {
    /// The next pattern, once the one before is shown.
    pub(super) fn play_on(&mut self) {
        let Some(set) = self.set.as_ref().filter(|_| self.playing && self.hold.is_none()) else { return };
        self.state.pattern = PatternOf::Cursor;
        if matches!(set.want_pattern(&self.state), want @ Want::Pattern { .. } if !set.has(&want)) {
            return;
        }
        let random = random_after(self.random);
        self.state.cursor = Some(after(set, &self.state, set.cursor(&self.state), random));
        self.random = random;
        self.stale.pattern = true;
    }
}

/// The position after `at` in the order of playing.
pub(super) fn after(set: &OpenSet, state: &ViewState, at: [u32; 2], random: u32) -> [u32; 2] {
    match (state.play, state.line) {
        (PlayOrder::Line, Some(line)) => along(line, set.shape(), at),
        (order, _) => next(order, set.shape(), at, random),
    }
}

/// xorshift: any order that visits all will do (Marsaglia, J. Stat. Software 8, 2003, 14).
pub(super) fn random_after(random: u32) -> u32 {
    let mut random = random.max(1);
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    random
}

/// The position on `line` after the one nearest to `[row, col]`; from its end to its beginning.
fn along(line: Line, scan: Scan, at: [u32; 2]) -> [u32; 2] {
    let steps = (line.to[0] - line.from[0]).abs().max((line.to[1] - line.from[1]).abs()).round().max(1.0) as u32;
    let place = |step: u32| {
        let part = f64::from(step) / f64::from(steps);
        [0, 1].map(|axis| {
            let last = [scan.rows, scan.cols][axis].max(1) - 1;
            (line.from[axis] + part * (line.to[axis] - line.from[axis])).round().clamp(0.0, f64::from(last)) as u32
        })
    };
    match (0..=steps).find(|step| place(*step) == at) {
        Some(step) if step < steps => place(step + 1),
        _ => place(0),
    }
}

/// The position after `[row, col]`.
fn next(order: PlayOrder, scan: Scan, [row, col]: [u32; 2], random: u32) -> [u32; 2] {
    let (rows, cols) = (scan.rows.max(1), scan.cols.max(1));
    let below = [(row + 1) % rows, 0];
    match order {
        PlayOrder::Raster | PlayOrder::Line if col + 1 < cols => [row, col + 1],
        PlayOrder::Raster | PlayOrder::Line => below,
        PlayOrder::Snake if row % 2 == 0 && col + 1 < cols => [row, col + 1],
        PlayOrder::Snake if row % 2 == 1 && col > 0 => [row, col - 1],
        // From the last line to the first: even lines begin at their left end.
        PlayOrder::Snake if row + 1 == rows => [0, 0],
        PlayOrder::Snake => [row + 1, col],
        PlayOrder::Random => {
            let at = (u64::from(random) * (u64::from(rows) * u64::from(cols))) >> 32;
            [(at / u64::from(cols)) as u32, (at % u64::from(cols)) as u32]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raster_and_snake_visit_every_position_once() {
        let scan = Scan { rows: 3, cols: 4 };
        for order in [PlayOrder::Raster, PlayOrder::Snake] {
            let (mut at, mut seen) = ([0, 0], vec![]);
            for _ in 0..12 {
                seen.push(at);
                at = next(order, scan, at, 0);
            }
            assert_eq!(at, [0, 0], "{order:?}");
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen.len(), 12, "{order:?}");
        }
        assert_eq!(next(PlayOrder::Snake, scan, [0, 3], 0), [1, 3], "no jump at the end of a line");
    }

    #[test]
    fn a_line_is_walked_from_end_to_end_and_again() {
        let (scan, line) = (Scan { rows: 5, cols: 9 }, Line { from: [1.0, 1.0], to: [3.0, 5.0], width: 1 });
        let mut at = [0, 0];
        let walked: Vec<[u32; 2]> = (0..6)
            .map(|_| {
                at = along(line, scan, at);
                at
            })
            .collect();
        assert_eq!(walked, [[1, 1], [2, 2], [2, 3], [3, 4], [3, 5], [1, 1]]);
    }

    #[test]
    fn random_stays_on_the_scan() {
        let scan = Scan { rows: 3, cols: 4 };
        assert_eq!(next(PlayOrder::Random, scan, [0, 0], u32::MAX), [2, 3]);
        assert_eq!(next(PlayOrder::Random, scan, [0, 0], 0), [0, 0]);
    }
}
