//! From the engine's exact answers to fields that can be drawn.

use crate::{
    display::{Cell, Field},
    engine::{FrameState, Pattern, PatternMax, PatternSquares, PatternSum, PixelSet, ScanSquares, ScanSums},
    products::spread::variance,
    shape::{Detector, Dtype, Scan},
};

use super::state::{PatternOf, Product};

/// Sums laid out as the scan.
pub fn sums(sums: &ScanSums, states: &[FrameState], scan: Scan, signed: bool) -> Field {
    let value = |frame: usize| sums.sum.get(frame).map(|&sum| number(sum, signed));
    let valid = |frame: usize| sums.valid.get(frame) == Some(&1);
    scan_field(scan, states, true, |frame| if valid(frame) { value(frame) } else { None })
}

/// Variance or standard deviation of the counts of `pixels` pixels, laid out as the scan.
pub fn squares(
    of: Product,
    pixels: u32,
    squares: &ScanSquares,
    states: &[FrameState],
    scan: Scan,
    signed: bool,
) -> Field {
    let value = |frame: usize| {
        let (&sum, &square) = (squares.sum.get(frame)?, squares.square.get(frame)?);
        let variance = variance(pixels, whole(sum, signed), square);
        Some(if of == Product::Std { variance.sqrt() } else { variance })
    };
    let is_valid = |frame: usize| squares.valid.get(frame) == Some(&1);
    let field = scan_field(scan, states, false, |frame| if is_valid(frame) { value(frame) } else { None });
    Field { unit: spread_unit(of == Product::Std), ..field }
}

/// Variance or standard deviation of every pixel over patterns.
pub fn square_pattern(of: PatternOf, patterns: &PatternSquares, bad: &PixelSet, signed: bool) -> Field {
    let total = &patterns.total;
    let field = detector_field(bad, false, |pixel| match (total.sum.get(pixel), patterns.square.get(pixel)) {
        _ if total.frames == 0 => Err(Cell::Unread),
        (Some(&sum), Some(&square)) => {
            let variance = variance(total.frames, whole(sum, signed), square);
            Ok(if of == PatternOf::Std { variance.sqrt() } else { variance })
        }
        _ => Err(Cell::Gap),
    });
    Field { unit: spread_unit(of == PatternOf::Std), ..field }
}

fn spread_unit(is_root: bool) -> String {
    if is_root { "counts".into() } else { "counts²".into() }
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

/// The maximum over patterns.
pub fn max_pattern(patterns: &PatternMax, bad: &PixelSet, signed: bool) -> Field {
    detector_field(bad, true, |pixel| match patterns.max.get(pixel) {
        _ if patterns.frames == 0 => Err(Cell::Unread),
        Some(&max) => Ok(if signed { f64::from(max as i32) } else { f64::from(max) }),
        None => Err(Cell::Gap),
    })
}

/// Mean or sum of patterns.
pub fn patterns(of: PatternOf, sums: &PatternSum, bad: &PixelSet, signed: bool) -> Field {
    let frames = f64::from(sums.frames.max(1));
    let absent = if sums.frames == 0 { Some(Cell::Unread) } else { None };
    let value = |pixel: usize| match of {
        PatternOf::Sum => sums.sum.get(pixel).map(|&sum| number(sum, signed)),
        _ => sums.sum.get(pixel).map(|&sum| number(sum, signed) / frames),
    };
    detector_field(bad, of == PatternOf::Sum, |pixel| match absent {
        Some(cell) => Err(cell),
        None => value(pixel).ok_or(Cell::Gap),
    })
}

fn whole(sum: u64, signed: bool) -> i128 {
    if signed { i128::from(sum as i64) } else { i128::from(sum) }
}

/// A 64-bit sum as a number; two's complement for signed types.
fn number(sum: u64, signed: bool) -> f64 {
    if signed { sum as i64 as f64 } else { sum as f64 }
}

/// Values laid out as the scan: NaN is void, `None` a gap or not read yet.
pub fn scan_field(scan: Scan, states: &[FrameState], counts: bool, value: impl Fn(usize) -> Option<f64>) -> Field {
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
