//! Virtual detectors: shapes in detector space, and exactly the pixels they take in.
//!
//! A pixel belongs to a shape when its centre does, edges in; the centre of pixel (row, col) is at
//! (row, col), not at (row + 1/2, col + 1/2). All lengths in detector px, index order (row, column).

use serde::{Deserialize, Serialize};

use crate::{engine::PixelSet, shape::Detector};

/// A virtual detector as the hooks and the page's address tell it: `{"shape": "annulus", "centre": [96, 96],
/// "inner": 20.5, "outer": 80.5}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
pub enum DetectorShape {
    /// inner <= r <= outer; `inner` is 0 unless told.
    #[serde(alias = "disk", alias = "circle")]
    Disc {
        centre: [f64; 2],
        #[serde(default)]
        inner: f64,
        outer: f64,
    },
    Annulus {
        centre: [f64; 2],
        #[serde(default)]
        inner: f64,
        outer: f64,
    },
    /// |row - centre| <= height / 2 and |col - centre| <= width / 2.
    Rect { centre: [f64; 2], height: f64, width: f64 },
    /// The pixel nearest to the centre.
    Point { centre: [f64; 2] },
    /// An annulus between two directions, degrees from the +column axis towards +row (clockwise on the screen),
    /// from `from` on in growing angle to `to`; `from` = `to` is the whole ring.
    Wedge {
        centre: [f64; 2],
        #[serde(default)]
        inner: f64,
        outer: f64,
        from: f64,
        to: f64,
    },
    /// Half axes along its own row and column directions, turned by `angle` degrees as in `Wedge`.
    Ellipse {
        centre: [f64; 2],
        half_rows: f64,
        half_cols: f64,
        #[serde(default)]
        angle: f64,
    },
    /// Corners (row, column) in order; closed by itself, even-odd where it crosses itself.
    Polygon { points: Vec<[f64; 2]> },
    /// Detector row-major, one entry per pixel: 0 is out, anything else in. A wrong length takes in nothing
    /// beyond its end.
    Mask { data: Vec<u8> },
}

impl DetectorShape {
    /// The pixels of `detector` that the shape takes in; none for lengths that are not numbers.
    pub fn pixels(&self, detector: Detector) -> PixelSet {
        PixelSet::of(detector, |row, col| match self {
            Self::Mask { data } => data.get((row * detector.cols + col) as usize).is_some_and(|&value| value != 0),
            _ => self.holds(f64::from(row), f64::from(col)),
        })
    }

    fn holds(&self, row: f64, col: f64) -> bool {
        match self {
            Self::Disc { centre, inner, outer } | Self::Annulus { centre, inner, outer } => {
                in_ring(offset(row, col, *centre), *inner, *outer)
            }
            Self::Rect { centre, height, width } => {
                let [down, right] = offset(row, col, *centre);
                2.0 * down.abs() <= *height && 2.0 * right.abs() <= *width
            }
            Self::Point { centre } => row == centre[0].round() && col == centre[1].round(),
            Self::Wedge { centre, inner, outer, from, to } => {
                let offset = offset(row, col, *centre);
                in_ring(offset, *inner, *outer) && in_directions(offset, *from, *to)
            }
            Self::Ellipse { centre, half_rows, half_cols, angle } => {
                let [down, right] = turned_back(offset(row, col, *centre), *angle);
                let (a, b) = (down / half_rows, right / half_cols);
                a * a + b * b <= 1.0
            }
            Self::Polygon { points } => in_polygon([row, col], points),
            Self::Mask { .. } => false,
        }
    }

    /// The same shape moved by (rows, columns); a mask stays.
    pub fn moved(&self, by: [f64; 2]) -> Self {
        let mut shape = self.clone();
        let shift = |point: &mut [f64; 2]| *point = [point[0] + by[0], point[1] + by[1]];
        match &mut shape {
            Self::Disc { centre, .. }
            | Self::Annulus { centre, .. }
            | Self::Rect { centre, .. }
            | Self::Point { centre }
            | Self::Wedge { centre, .. }
            | Self::Ellipse { centre, .. } => shift(centre),
            Self::Polygon { points } => points.iter_mut().for_each(shift),
            Self::Mask { .. } => {}
        }
        shape
    }
}

fn offset(row: f64, col: f64, [centre_row, centre_col]: [f64; 2]) -> [f64; 2] {
    [row - centre_row, col - centre_col]
}

/// Compared by squares, so that whole and half pixel radii are exact.
fn in_ring([down, right]: [f64; 2], inner: f64, outer: f64) -> bool {
    let square = down * down + right * right;
    outer >= 0.0 && square <= outer * outer && (inner <= 0.0 || square >= inner * inner)
}

fn in_directions([down, right]: [f64; 2], from: f64, to: f64) -> bool {
    let span = (to - from).rem_euclid(360.0);
    if span == 0.0 || (down, right) == (0.0, 0.0) {
        return true;
    }
    (down.atan2(right).to_degrees() - from).rem_euclid(360.0) <= span
}

fn turned_back([down, right]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sin, cos) = angle.to_radians().sin_cos();
    [down * cos - right * sin, right * cos + down * sin]
}

/// Even-odd rule (<https://www.w3.org/TR/SVG2/painting.html#FillRuleProperty>), with the edges themselves in.
fn in_polygon([row, col]: [f64; 2], points: &[[f64; 2]]) -> bool {
    let mut inside = false;
    for (&[row_a, col_a], &[row_b, col_b]) in points.iter().zip(points.iter().cycle().skip(1)) {
        let cross = (col_b - col_a) * (row - row_a) - (row_b - row_a) * (col - col_a);
        let along_rows = (row - row_a) * (row - row_b) <= 0.0;
        let along_cols = (col - col_a) * (col - col_b) <= 0.0;
        if cross == 0.0 && along_rows && along_cols {
            return true;
        }
        // The edge crosses the ray from the pixel towards +column.
        if (row_a > row) != (row_b > row) && (cross < 0.0) == (row_b > row_a) {
            inside = !inside;
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETECTOR: Detector = Detector { rows: 9, cols: 11 };

    fn picture(shape: &DetectorShape) -> Vec<String> {
        let set = shape.pixels(DETECTOR);
        let pixel = |row, col| if set.contains(row * DETECTOR.cols + col) { '#' } else { '.' };
        (0..DETECTOR.rows).map(|row| (0..DETECTOR.cols).map(|col| pixel(row, col)).collect()).collect()
    }

    #[test]
    fn pixels_at_exactly_the_inner_and_the_outer_radius_are_in() {
        let ring = DetectorShape::Annulus { centre: [4.0, 5.0], inner: 2.0, outer: 3.0 };
        let expected = [
            "...........",
            ".....#.....",
            "...#####...",
            "...#...#...",
            "..##...##..",
            "...#...#...",
            "...#####...",
            ".....#.....",
            "...........",
        ];
        assert_eq!(picture(&ring), expected);
    }

    #[test]
    fn a_disc_of_radius_5_takes_in_81_pixels_and_its_clipped_rest_less() {
        let disc = |centre| DetectorShape::Disc { centre, inner: 0.0, outer: 5.0 };
        let detector = Detector { rows: 192, cols: 192 };
        assert_eq!(disc([96.0, 96.0]).pixels(detector).count(), 81);
        assert_eq!(disc([0.0, 0.0]).pixels(detector).count(), 26);
        assert_eq!(disc([-9.0, 0.0]).pixels(detector).count(), 0);
        assert_eq!(disc([f64::NAN, 0.0]).pixels(detector).count(), 0);
    }

    #[test]
    fn the_annulus_of_the_benchmark_has_the_pixels_numpy_counts() {
        let detector = Detector { rows: 192, cols: 192 };
        let bf = DetectorShape::Disc { centre: [96.0, 96.0], inner: 0.0, outer: 8.5 };
        let adf = DetectorShape::Annulus { centre: [96.0, 96.0], inner: 20.5, outer: 80.5 };
        assert_eq!((bf.pixels(detector).count(), adf.pixels(detector).count()), (225, 19040));
    }

    #[test]
    fn rectangle_point_wedge_polygon_and_mask() {
        let count = |shape: DetectorShape| shape.pixels(DETECTOR).count();
        assert_eq!(count(DetectorShape::Rect { centre: [4.0, 5.0], height: 2.0, width: 4.0 }), 15);
        assert_eq!(count(DetectorShape::Point { centre: [3.6, 5.4] }), 1);
        let wedge = DetectorShape::Wedge { centre: [4.0, 5.0], inner: 1.0, outer: 3.0, from: 0.0, to: 90.0 };
        let expected = ["......###..", ".....###...", ".....###...", ".....#....."];
        assert_eq!(picture(&wedge)[4..8], expected);
        let triangle = DetectorShape::Polygon { points: vec![[0.0, 0.0], [0.0, 4.0], [4.0, 0.0]] };
        assert_eq!(count(triangle), 15);
        assert_eq!(count(DetectorShape::Mask { data: vec![1; 12] }), 12);
    }

    #[test]
    fn an_ellipse_turned_by_90_degrees_swaps_its_axes() {
        let ellipse =
            |half_rows, half_cols, angle| DetectorShape::Ellipse { centre: [4.0, 5.0], half_rows, half_cols, angle };
        assert_eq!(picture(&ellipse(1.2, 3.2, 90.0)), picture(&ellipse(3.2, 1.2, 0.0)));
        assert_ne!(picture(&ellipse(1.2, 3.2, 0.0)), picture(&ellipse(3.2, 1.2, 0.0)));
    }

    #[test]
    fn a_shape_reads_as_the_hooks_write_it() {
        let shape = serde_json::from_str(r#"{"shape": "disc", "centre": [96, 95.5], "outer": 8.5}"#);
        let expected = DetectorShape::Disc { centre: [96.0, 95.5], inner: 0.0, outer: 8.5 };
        assert_eq!(shape.ok(), Some(expected.clone()));
        let moved = expected.moved([1.0, 0.5]);
        assert_eq!(moved, DetectorShape::Disc { centre: [97.0, 96.0], inner: 0.0, outer: 8.5 });
    }
}
