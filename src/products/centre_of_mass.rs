//! The centre of mass of every pattern, from its exact first moments.

use crate::engine::Moments;

/// Centre of mass per frame, detector px; NaN where there are no counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CentreOfMass {
    pub row: Vec<f64>,
    pub col: Vec<f64>,
}

impl CentreOfMass {
    /// `is_signed` tells that the sums are two's complement.
    pub fn of(moments: &Moments, is_signed: bool) -> Self {
        let all = || 0..moments.sum.len();
        Self {
            row: all().map(|frame| position(moments, frame, is_signed).map_or(f64::NAN, |[row, _]| row)).collect(),
            col: all().map(|frame| position(moments, frame, is_signed).map_or(f64::NAN, |[_, col]| col)).collect(),
        }
    }

    /// Mean over those of the first `frames` frames that have counts, [row, column]; `None` without any.
    pub fn mean(&self, frames: usize) -> Option<[f64; 2]> {
        let [row, col] = [&self.row, &self.col].map(|axis| {
            let (sum, n) =
                axis.iter().take(frames).filter(|x| x.is_finite()).fold((0.0, 0u32), |(sum, n), x| (sum + x, n + 1));
            (n > 0).then(|| sum / f64::from(n))
        });
        Some([row?, col?])
    }

    /// Distance from `origin` ([row, column]) in every frame, px; NaN where there are no counts.
    pub fn magnitude(&self, origin: [f64; 2]) -> Vec<f64> {
        self.row.iter().zip(&self.col).map(|(row, col)| (row - origin[0]).hypot(col - origin[1])).collect()
    }
}

/// [row, column] of frame `frame`; `None` means "no counts": an invalid frame, or a sum that is not positive.
pub fn position(moments: &Moments, frame: usize, is_signed: bool) -> Option<[f64; 2]> {
    let number = |sum: u64| if is_signed { sum as i64 as f64 } else { sum as f64 };
    let at = |sums: &[u64]| sums.get(frame).map(|&sum| number(sum));
    let is_valid = moments.valid.get(frame) == Some(&1);
    let sum = at(&moments.sum).filter(|&sum| is_valid && sum > 0.0)?;
    Some([at(&moments.sum_row)? / sum, at(&moments.sum_col)? / sum])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments() -> Moments {
        Moments {
            sum: vec![4, 0, 2, 2, (-1i64) as u64],
            sum_row: vec![10, 0, 6, 6, 3],
            sum_col: vec![2, 0, 8, 8, 3],
            valid: vec![1, 1, 1, 0, 1],
        }
    }

    #[test]
    fn a_pattern_without_counts_has_no_centre() {
        assert_eq!(position(&moments(), 0, false), Some([2.5, 0.5]));
        assert_eq!([1, 3, 9].map(|frame| position(&moments(), frame, false)), [None; 3]);
        assert_eq!(position(&moments(), 4, true), None);
    }

    #[test]
    fn mean_and_magnitude_leave_out_patterns_without_counts() {
        let centre = CentreOfMass::of(&moments(), true);
        assert_eq!(centre.mean(usize::MAX), Some([2.75, 2.25]));
        let magnitude = centre.magnitude([2.5, 0.5]);
        assert_eq!((magnitude[0], magnitude[2]), (0.0, 0.5f64.hypot(3.5)));
        assert!(magnitude[1].is_nan() && centre.row[3].is_nan());
        assert_eq!(CentreOfMass::default().mean(9), None);
    }
}
