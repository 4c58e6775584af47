//! Profiles and figures of a picture: over the distance from a centre, along a line, and of a part of it. Values that
//! are not known are left out everywhere.

use crate::{
    display::{Cell, Field},
    engine::PixelSet,
};

/// The mean of a ring: radii from its place in the list to one more, px.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ring {
    /// NaN where no pixel is known.
    pub mean: f64,
    pub pixels: u32,
}

/// Means over rings one px wide about `centre` ([row, column]): ring n holds the pixels whose centres are at
/// n - 1/2 <= r < n + 1/2, out to the farthest corner.
pub fn radial(field: &Field, centre: [f64; 2]) -> Vec<Ring> {
    let mut sums: Vec<(f64, u32)> = Vec::new();
    for (at, (value, cell)) in field.values.iter().zip(&field.cells).enumerate() {
        let (row, col) = (at as u32 / field.cols.max(1), at as u32 % field.cols.max(1));
        let ring = (f64::from(row) - centre[0]).hypot(f64::from(col) - centre[1]).round() as usize;
        if ring >= sums.len() {
            sums.resize(ring + 1, (0.0, 0));
        }
        if *cell == Cell::Value {
            sums[ring] = (sums[ring].0 + value, sums[ring].1 + 1);
        }
    }
    let mean =
        |(sum, pixels): (f64, u32)| Ring { mean: if pixels > 0 { sum / f64::from(pixels) } else { f64::NAN }, pixels };
    sums.into_iter().map(mean).collect()
}

/// Values along a line, one a px, each the mean over `width` px across it; between pixels bilinear. NaN where one of the
/// pixels is not known, or outside. Ends are [row, column], pixel centres at whole numbers.
pub fn along(field: &Field, from: [f64; 2], to: [f64; 2], width: u32) -> Vec<f64> {
    let length = (to[0] - from[0]).hypot(to[1] - from[1]);
    if length == 0.0 {
        return vec![at(field, from)];
    }
    let step = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    let across = [step[1], -step[0]];
    let width = width.max(1);
    let sample = |n: u32| {
        let middle = [from[0] + step[0] * f64::from(n), from[1] + step[1] * f64::from(n)];
        let sum: f64 = (0..width)
            .map(|lane| f64::from(lane) - f64::from(width - 1) / 2.0)
            .map(|off| at(field, [middle[0] + across[0] * off, middle[1] + across[1] * off]))
            .sum();
        sum / f64::from(width)
    };
    (0..=length.round() as u32).map(sample).collect()
}

/// The value at a place between pixels.
fn at(field: &Field, [row, col]: [f64; 2]) -> f64 {
    let value = |row: f64, col: f64| {
        let inside = row >= 0.0 && col >= 0.0;
        match inside.then(|| field.at(row as u32, col as u32)).flatten() {
            Some((value, Cell::Value)) => value,
            _ => f64::NAN,
        }
    };
    let (top, left) = (row.floor(), col.floor());
    let (down, right) = (row - top, col - left);
    let mut sum = 0.0;
    for (r, weight) in [(top, 1.0 - down), (top + 1.0, down)] {
        for (c, share) in [(left, 1.0 - right), (left + 1.0, right)] {
            // A pixel without weight may be unknown.
            if weight * share > 0.0 {
                sum += weight * share * value(r, c);
            }
        }
    }
    sum
}

/// What is said of the values of a part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    pub values: u32,
    pub sum: f64,
    pub mean: f64,
    /// Of the values, not of a sample: divided by their number.
    pub deviation: f64,
    pub least: f64,
    pub most: f64,
}

/// Of the known values within `part`; of all without one. `None` where none is known.
pub fn figures(field: &Field, part: Option<&PixelSet>) -> Option<Figures> {
    let is_in = |at: usize| part.is_none_or(|part| part.contains(at as u32));
    let known = || {
        let all = field.values.iter().zip(&field.cells).enumerate();
        all.filter(|(at, (_, cell))| **cell == Cell::Value && is_in(*at)).map(|(_, (value, _))| *value)
    };
    let values = known().count() as u32;
    if values == 0 {
        return None;
    }
    let sum: f64 = known().sum();
    let mean = sum / f64::from(values);
    let square: f64 = known().map(|value| (value - mean) * (value - mean)).sum();
    let (least, most) =
        known().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), v| (least.min(v), most.max(v)));
    Some(Figures { values, sum, mean, deviation: (square / f64::from(values)).sqrt(), least, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Detector;

    fn field(rows: u32, cols: u32, value: impl Fn(f64, f64) -> f64) -> Field {
        let all = (0..rows).flat_map(|row| (0..cols).map(move |col| [f64::from(row), f64::from(col)]));
        let values: Vec<f64> = all.map(|[row, col]| value(row, col)).collect();
        Field { rows, cols, cells: vec![Cell::Value; values.len()], values, ..Field::default() }
    }

    #[test]
    fn rings_of_a_cone_rise_by_one_and_leave_bad_pixels_out() {
        let mut cone = field(21, 21, |row, col| (row - 10.0).hypot(col - 10.0));
        cone.values[10 * 21 + 13] = 1e9;
        cone.cells[10 * 21 + 13] = Cell::Void;
        let rings = radial(&cone, [10.0, 10.0]);
        assert_eq!((rings[0], rings[1].pixels, rings[3].pixels), (Ring { mean: 0.0, pixels: 1 }, 8, 15));
        assert!(rings.iter().enumerate().skip(1).all(|(r, ring)| (ring.mean - r as f64).abs() < 0.3));
        assert_eq!(rings.len(), 15, "to the corner at 14.1 px");
        assert_eq!(rings.iter().map(|ring| ring.pixels).sum::<u32>(), 440);
    }

    #[test]
    fn a_line_over_a_plane_is_straight_whatever_its_direction_and_width() {
        let plane = field(30, 40, |row, col| 3.0 * row - 2.0 * col);
        let line = along(&plane, [5.0, 5.0], [17.0, 21.0], 5);
        assert_eq!(line.len(), 21);
        for (n, value) in line.iter().enumerate() {
            let (row, col) = (5.0 + 0.6 * n as f64, 5.0 + 0.8 * n as f64);
            assert!((value - (3.0 * row - 2.0 * col)).abs() < 1e-9, "{n}");
        }
        assert!(along(&plane, [5.0, 5.0], [5.0, 45.0], 1)[36].is_nan(), "outside");
        assert_eq!(along(&plane, [29.0, 39.0], [29.0, 39.0], 3), [9.0]);
    }

    #[test]
    fn figures_are_of_the_part_and_of_known_values() {
        let mut numbers = field(1, 5, |_, col| col + 1.0);
        numbers.cells[4] = Cell::Gap;
        let all = figures(&numbers, None).expect("known");
        assert_eq!((all.values, all.sum, all.mean, all.least, all.most), (4, 10.0, 2.5, 1.0, 4.0));
        assert!((all.deviation - 1.25f64.sqrt()).abs() < 1e-12);
        let part = PixelSet::of(Detector { rows: 1, cols: 5 }, |_, col| col >= 3);
        assert_eq!(figures(&numbers, Some(&part)).map(|part| (part.values, part.sum)), Some((1, 4.0)));
        let none = PixelSet::of(Detector { rows: 1, cols: 5 }, |_, col| col == 4);
        assert_eq!(figures(&numbers, Some(&none)), None);
    }
}
