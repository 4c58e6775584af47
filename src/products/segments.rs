//! A segmented detector: a ring cut into equal parts, and the deflection that differences between them tell.
//!
//! With the first segment towards +x and segment i at the angle phi_i = 360 i / n, the deflection is
//! sum(I_i (cos phi_i, sin phi_i)) / sum(I_i): of four segments, the differences of opposite quadrants over the total,
//! as in differential phase contrast (Dekkers, de Lang, Optik 41, 1974, 452-456; Shibata et al., Nature Physics 8, 2012,
//! 611-615, <https://doi.org/10.1038/nphys2337>). It is a pure number.

use super::CentreOfMass;
use crate::{
    engine::{PixelSet, ScanSums},
    shape::Detector,
};

/// The pixels of each of `n` segments within `radius` px of `centre`: no pixel is in two, and the one at the centre in
/// none.
pub fn segments(centre: [f64; 2], radius: f64, n: u8, detector: Detector) -> Vec<PixelSet> {
    let part = 360.0 / f64::from(n);
    let place = |row: u32, col: u32| {
        let (down, right) = (f64::from(row) - centre[0], f64::from(col) - centre[1]);
        let is_in = down * down + right * right <= radius * radius && (down, right) != (0.0, 0.0);
        let angle = (down.atan2(right).to_degrees() + part / 2.0).rem_euclid(360.0);
        is_in.then(|| ((angle / part) as u8).min(n - 1))
    };
    (0..n).map(|segment| PixelSet::of(detector, |row, col| place(row, col) == Some(segment))).collect()
}

/// The deflection of every frame, about nothing; NaN where there are no counts.
pub fn deflection(sums: &[ScanSums], is_signed: bool) -> CentreOfMass {
    let frames = sums.first().map_or(0, |first| first.sum.len());
    let number = |sum: u64| if is_signed { sum as i64 as f64 } else { sum as f64 };
    let mut found = CentreOfMass::default();
    for frame in 0..frames {
        let (mut total, mut row, mut col) = (0.0, 0.0, 0.0);
        for (segment, of) in sums.iter().enumerate() {
            let is_valid = of.valid.get(frame) == Some(&1);
            let counts = of.sum.get(frame).filter(|_| is_valid).map_or(f64::NAN, |&sum| number(sum));
            let (sin, cos) = (std::f64::consts::TAU * segment as f64 / sums.len() as f64).sin_cos();
            (total, row, col) = (total + counts, row + counts * sin, col + counts * cos);
        }
        let has_counts = total > 0.0;
        found.row.push(if has_counts { row / total } else { f64::NAN });
        found.col.push(if has_counts { col / total } else { f64::NAN });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETECTOR: Detector = Detector { rows: 9, cols: 9 };

    #[test]
    fn segments_share_the_disc_without_overlap() {
        for n in [4, 8, 16] {
            let all = segments([4.0, 4.0], 4.0, n, DETECTOR);
            let total: u32 = all.iter().map(PixelSet::count).sum();
            let union = all.iter().skip(1).fold(all[0].clone(), |union, one| union.with(one));
            assert_eq!((all.len() as u8, total, union.count()), (n, 48, 48), "49 pixels less the centre");
        }
        let four = segments([4.0, 4.0], 4.0, 4, DETECTOR);
        let holds = |row: u32, col: u32| four.iter().position(|set| set.contains(row * 9 + col));
        assert_eq!([holds(4, 7), holds(7, 4), holds(4, 1), holds(1, 4)], [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!((holds(4, 4), holds(0, 0)), (None, None));
    }

    #[test]
    fn four_segments_give_the_differences_of_opposite_quadrants() {
        let sums = |counts: [u64; 3]| ScanSums { sum: counts.to_vec(), valid: vec![1, 1, 0] };
        let found = deflection(&[sums([6, 0, 1]), sums([1, 0, 1]), sums([2, 0, 1]), sums([1, 0, 1])], false);
        assert!((found.col[0] - 0.4).abs() < 1e-12 && found.row[0].abs() < 1e-12);
        assert!(found.col[1].is_nan() && found.row[2].is_nan());
    }
}
