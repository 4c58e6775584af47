//! Patterns mirrored on the way from the files to the page and back: shown as the detector saw them, stored as they
//! are.
//!
//! Mirroring twice gives what was there before, so the same functions lead both ways.

use serde::{Deserialize, Serialize};

use super::DetectorShape;
use crate::{
    engine::{Moments, PatternSum, PixelSet},
    shape::Detector,
};

/// How patterns are shown, compared with how they are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flip {
    #[default]
    None,
    /// Columns in reverse: left and right exchanged.
    Columns,
    /// Rows in reverse: up and down exchanged.
    Rows,
}

impl Flip {
    pub const ALL: [Self; 3] = [Self::None, Self::Columns, Self::Rows];

    pub fn words(self) -> &'static str {
        match self {
            Self::None => "as stored",
            Self::Columns => "flipped left–right",
            Self::Rows => "flipped up–down",
        }
    }

    /// A position [row, col], px.
    pub fn position(self, detector: Detector, [row, col]: [f64; 2]) -> [f64; 2] {
        let last = |sides: u32| f64::from(sides) - 1.0;
        match self {
            Self::None => [row, col],
            Self::Columns => [row, last(detector.cols) - col],
            Self::Rows => [last(detector.rows) - row, col],
        }
    }

    fn pixel(self, detector: Detector, row: u32, col: u32) -> usize {
        let (row, col) = match self {
            Self::None => (row, col),
            Self::Columns => (row, detector.cols - 1 - col),
            Self::Rows => (detector.rows - 1 - row, col),
        };
        (row * detector.cols + col) as usize
    }

    pub fn pixels(self, pixels: &PixelSet) -> PixelSet {
        let detector = pixels.detector;
        match self {
            Self::None => pixels.clone(),
            _ => PixelSet::of(detector, |row, col| pixels.contains(self.pixel(detector, row, col) as u32)),
        }
    }

    /// One value per pixel, row-major; those of no pixel stay where they are.
    pub fn values<T: Copy>(self, detector: Detector, values: &mut [T]) {
        let cols = detector.cols.max(1) as usize;
        match self {
            Self::None => {}
            Self::Columns => values.chunks_exact_mut(cols).for_each(<[T]>::reverse),
            Self::Rows => {
                let rows = values.len() / cols;
                for (upper, lower) in (0..rows / 2).map(|row| (row, rows - 1 - row)) {
                    (0..cols).for_each(|col| values.swap(upper * cols + col, lower * cols + col));
                }
            }
        }
    }

    pub fn sums(self, detector: Detector, sums: &mut PatternSum) {
        self.values(detector, &mut sums.sum);
    }

    /// Moments about the other end of the axis, in the same exact integers.
    pub fn moments(self, detector: Detector, moments: &mut Moments) {
        let (along, side) = match self {
            Self::None => return,
            Self::Columns => (&mut moments.sum_col, detector.cols),
            Self::Rows => (&mut moments.sum_row, detector.rows),
        };
        let last = u64::from(side.max(1) - 1);
        for (moment, sum) in along.iter_mut().zip(&moments.sum) {
            *moment = sum.wrapping_mul(last).wrapping_sub(*moment);
        }
    }

    /// The detector that takes in the mirrored pixels.
    pub fn shape(self, detector: Detector, shape: &DetectorShape) -> DetectorShape {
        let mut shape = shape.clone();
        if self == Self::None {
            return shape;
        }
        let flip = |at: &mut [f64; 2]| *at = self.position(detector, *at);
        match &mut shape {
            DetectorShape::Disc { centre, .. }
            | DetectorShape::Annulus { centre, .. }
            | DetectorShape::Rect { centre, .. }
            | DetectorShape::Point { centre } => flip(centre),
            DetectorShape::Wedge { centre, from, to, .. } => {
                flip(centre);
                let mirrored = |angle: f64| if self == Self::Columns { 180.0 - angle } else { -angle };
                (*from, *to) = (mirrored(*to), mirrored(*from));
            }
            DetectorShape::Ellipse { centre, angle, .. } => {
                flip(centre);
                *angle = -*angle;
            }
            DetectorShape::Polygon { points } => points.iter_mut().for_each(flip),
            DetectorShape::Mask { data } => {
                data.resize(detector.pixels() as usize, 0);
                self.values(detector, data);
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETECTOR: Detector = Detector { rows: 9, cols: 12 };

    fn shapes() -> Vec<DetectorShape> {
        let centre = [3.0, 4.5];
        vec![
            DetectorShape::Disc { centre, inner: 1.0, outer: 3.2 },
            DetectorShape::Rect { centre, height: 3.0, width: 5.0 },
            DetectorShape::Point { centre: [2.2, 7.9] },
            DetectorShape::Wedge { centre, inner: 0.5, outer: 5.0, from: 20.0, to: 130.0 },
            DetectorShape::Ellipse { centre, half_rows: 1.5, half_cols: 4.0, angle: 30.0 },
            DetectorShape::Polygon { points: vec![[0.2, 0.3], [1.1, 8.2], [7.3, 2.1]] },
            DetectorShape::Mask { data: (0..108).map(|pixel| u8::from(pixel % 5 == 1)).collect() },
        ]
    }

    #[test]
    fn a_mirrored_shape_takes_in_the_mirrored_pixels() {
        for (shape, flip) in shapes().iter().flat_map(|shape| Flip::ALL.map(|flip| (shape, flip))) {
            let mirrored = flip.shape(DETECTOR, shape).pixels(DETECTOR);
            assert_eq!(mirrored, flip.pixels(&shape.pixels(DETECTOR)), "{shape:?} {flip:?}");
            assert!(flip == Flip::None || mirrored != shape.pixels(DETECTOR), "{shape:?} is lopsided");
        }
    }

    #[test]
    fn values_go_with_their_pixels_and_back() {
        for flip in Flip::ALL {
            let numbers: Vec<u32> = (0..108).collect();
            let mut flipped = numbers.clone();
            flip.values(DETECTOR, &mut flipped);
            let some = PixelSet::of(DETECTOR, |row, col| (row * 12 + col) % 7 == 3);
            let mirrored = flip.pixels(&some);
            let is_same = |pixel: u32| some.contains(flipped[pixel as usize]) == mirrored.contains(pixel);
            assert!((0..108).all(is_same), "{flip:?}");
            flip.values(DETECTOR, &mut flipped);
            assert_eq!(flipped, numbers);
        }
    }

    #[test]
    fn moments_are_those_of_the_mirrored_pattern() {
        let pattern: Vec<i64> = (0..108).map(|pixel| (pixel * 37 % 23) - 3).collect();
        let of = |values: &[i64]| {
            let at = |pixel: usize| (pixel as i64 / 12, pixel as i64 % 12);
            let sum = |weight: &dyn Fn((i64, i64)) -> i64| {
                vec![values.iter().enumerate().map(|(pixel, value)| value * weight(at(pixel))).sum::<i64>() as u64]
            };
            Moments { sum: sum(&|_| 1), sum_row: sum(&|(row, _)| row), sum_col: sum(&|(_, col)| col), valid: vec![1] }
        };
        for flip in Flip::ALL {
            let (mut mirrored, mut moments) = (pattern.clone(), of(&pattern));
            flip.values(DETECTOR, &mut mirrored);
            flip.moments(DETECTOR, &mut moments);
            assert_eq!(moments, of(&mirrored), "{flip:?}");
        }
    }
}
