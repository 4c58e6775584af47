//! From the engine's exact answers to fields that can be drawn.

use crate::{
    display::{Cell, Field},
    engine::{FrameState, Moments, Pattern, PatternSum, PixelSet, ScanSums},
    shape::{Detector, Dtype, Scan},
};

use super::state::{PatternOf, Product};

/// Sums laid out as the scan.
pub fn sums(sums: &ScanSums, states: &[FrameState], scan: Scan, signed: bool) -> Field {
    let value = |frame: usize| sums.sum.get(frame).map(|&sum| number(sum, signed));
    let valid = |frame: usize| sums.valid.get(frame) == Some(&1);
    scan_field(scan, states, true, |frame| if valid(frame) { value(frame) } else { None })
}

/// Mean centre of mass of the positions that have counts: (row, col) px, and how many have none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComReference {
    pub centre: Option<[f64; 2]>,
    pub without_counts: u32,
}

impl ComReference {
    pub fn of(moments: &Moments, signed: bool) -> Self {
        let (mut row, mut col, mut n, mut without_counts) = (0.0, 0.0, 0u32, 0);
        for frame in (0..moments.sum.len()).filter(|&frame| moments.valid.get(frame) == Some(&1)) {
            match centre(moments, frame, signed) {
                Some([r, c]) => (row, col, n) = (row + r, col + c, n + 1),
                None => without_counts += 1,
            }
        }
        let centre = (n > 0).then(|| [row / f64::from(n), col / f64::from(n)]);
        Self { centre, without_counts }
    }
}

/// Centre of mass of one frame, px; `None` of nothing: no counts.
pub fn centre(moments: &Moments, frame: usize, signed: bool) -> Option<[f64; 2]> {
    let sum = number(*moments.sum.get(frame)?, signed);
    let along = |sums: &[u64]| sums.get(frame).map(|&moment| number(moment, signed) / sum);
    (sum != 0.0).then(|| Some([along(&moments.sum_row)?, along(&moments.sum_col)?])).flatten()
}

/// A centre-of-mass map in px: along x, along y, or its length, about the scan's mean.
pub fn com(product: Product, moments: &Moments, states: &[FrameState], scan: Scan, signed: bool) -> Field {
    let [row0, col0] = ComReference::of(moments, signed).centre.unwrap_or_default();
    scan_field(scan, states, false, |frame| {
        if moments.valid.get(frame) != Some(&1) {
            return None;
        }
        let shift = centre(moments, frame, signed).map(|[row, col]| match product {
            Product::ComX => col - col0,
            Product::ComY => row - row0,
            _ => (row - row0).hypot(col - col0),
        });
        Some(shift.unwrap_or(f64::NAN))
    })
}

/// One pattern; bad pixels are void.
pub fn pattern(pattern: &Pattern, bad: &PixelSet, dtype: Dtype) -> Field {
    let value = |pixel: usize| {
        let raw = *pattern.pixels.get(pixel)?;
        Some(if dtype.is_signed() { f64::from(raw as i32) } else { f64::from(raw) })
    };
    let absent = if pattern.state == FrameState::Unread { Cell::Unread } else { Cell::Gap };
    detector_field(bad, true, |pixel| value(pixel).ok_or(absent))
}

/// Mean or maximum of all patterns.
pub fn patterns(of: PatternOf, sums: &PatternSum, bad: &PixelSet, signed: bool) -> Field {
    let frames = f64::from(sums.frames.max(1));
    let absent = if sums.frames == 0 { Some(Cell::Unread) } else { None };
    let value = |pixel: usize| match of {
        PatternOf::Max => sums.max.get(pixel).map(|&max| if signed { f64::from(max as i32) } else { f64::from(max) }),
        _ => sums.sum.get(pixel).map(|&sum| number(sum, signed) / frames),
    };
    detector_field(bad, of == PatternOf::Max, |pixel| match absent {
        Some(cell) => Err(cell),
        None => value(pixel).ok_or(Cell::Gap),
    })
}

/// A 64-bit sum as a number; two's complement for signed types.
fn number(sum: u64, signed: bool) -> f64 {
    if signed { sum as i64 as f64 } else { sum as f64 }
}

fn scan_field(scan: Scan, states: &[FrameState], counts: bool, value: impl Fn(usize) -> Option<f64>) -> Field {
    let positions = scan.positions() as usize;
    let mut field = Field { rows: scan.rows, cols: scan.cols, counts, ..Field::default() };
    field.values.reserve(positions);
    field.cells.reserve(positions);
    for frame in 0..positions {
        let (value, cell) = match (value(frame), states.get(frame)) {
            (Some(value), _) if value.is_nan() => (0.0, Cell::Void),
            (Some(value), _) => (value, Cell::Value),
            (None, Some(FrameState::Unread | FrameState::Valid)) => (0.0, Cell::Unread),
            (None, _) => (0.0, Cell::Gap),
        };
        field.values.push(value);
        field.cells.push(cell);
    }
    field
}

fn detector_field(bad: &PixelSet, counts: bool, value: impl Fn(usize) -> Result<f64, Cell>) -> Field {
    let Detector { rows, cols } = bad.detector;
    let mut field = Field { rows, cols, counts, ..Field::default() };
    for pixel in 0..bad.detector.pixels() {
        let (value, cell) = match value(pixel as usize) {
            Ok(_) if bad.contains(pixel) => (0.0, Cell::Void),
            Ok(value) => (value, Cell::Value),
            Err(cell) => (0.0, cell),
        };
        field.values.push(value);
        field.cells.push(cell);
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCAN: Scan = Scan { rows: 2, cols: 2 };

    #[test]
    fn a_centre_of_mass_of_nothing_is_void_and_leaves_the_mean_alone() {
        let moments = Moments {
            sum: vec![4, 0, 2, 9],
            sum_row: vec![8, 0, 8, 9],
            sum_col: vec![4, 0, 2, 9],
            valid: vec![1, 1, 1, 0],
        };
        let states = [FrameState::Valid, FrameState::Valid, FrameState::Valid, FrameState::Failed];
        assert_eq!(ComReference::of(&moments, false), ComReference { centre: Some([3.0, 1.0]), without_counts: 1 });
        let map = com(Product::ComY, &moments, &states, SCAN, false);
        assert_eq!(map.cells, [Cell::Value, Cell::Void, Cell::Value, Cell::Gap]);
        assert_eq!(map.values, [-1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn positions_beyond_the_frames_are_gaps_and_unread_ones_are_not() {
        let answer = ScanSums { sum: vec![7, 0], valid: vec![1, 0] };
        let field = sums(&answer, &[FrameState::Valid, FrameState::Unread], SCAN, false);
        assert_eq!(field.cells, [Cell::Value, Cell::Unread, Cell::Gap, Cell::Gap]);
    }

    #[test]
    fn sums_of_signed_types_keep_their_sign() {
        let answer = ScanSums { sum: vec![u64::MAX; 4], valid: vec![1; 4] };
        assert_eq!(sums(&answer, &[FrameState::Valid; 4], SCAN, true).values, [-1.0; 4]);
    }

    #[test]
    fn a_bad_pixel_of_a_pattern_is_void() {
        let detector = Detector { rows: 1, cols: 2 };
        let bad = PixelSet::of(detector, |_, col| col == 1);
        let answer = Pattern { pixels: vec![3, u32::MAX], state: FrameState::Valid };
        let field = pattern(&answer, &bad, Dtype::U32);
        assert_eq!((field.cells.as_slice(), field.values[0]), (&[Cell::Value, Cell::Void][..], 3.0));
    }
}
