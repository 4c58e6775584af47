//! Repeats of one number: all of them, and their median. Never a mean.

pub use planescope::ab::median;
use serde::Serialize;

/// What one thing came to, every time it was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// In the order of measurement.
    pub raw: Vec<f64>,
    pub median: f64,
    /// The hashes of all frames were right in each of the runs that these numbers come from.
    pub hash_ok: bool,
}

impl Figure {
    /// Numbers of runs whose hashes were right; `None` without any.
    pub fn of(raw: Vec<f64>) -> Option<Self> {
        Some(Self { median: median(&raw)?, raw, hash_ok: true })
    }

    /// How far apart the same thing comes out when it is measured twice: the medians of the even and of the odd
    /// repeats, as a part of the median of all. `None` with fewer than four repeats.
    pub fn noise(&self) -> Option<f64> {
        let every_second = |first: usize| self.raw.iter().skip(first).step_by(2).copied().collect::<Vec<_>>();
        let (even, odd) = (median(&every_second(0))?, median(&every_second(1))?);
        (self.raw.len() >= 4 && self.median != 0.0).then(|| (even - odd).abs() / self.median)
    }

    /// The smallest and the largest.
    pub fn range(&self) -> (f64, f64) {
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        self.raw.iter().fold((low, high), |(low, high), &value| (low.min(value), high.max(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outlier_moves_neither_the_median_nor_the_noise_floor() {
        let figure = Figure::of(vec![10.0, 10.0, 10.0, 10.0, 500.0, 11.0, 10.0]).expect("seven numbers");
        assert_eq!((figure.median, figure.range()), (10.0, (10.0, 500.0)));
        assert_eq!(figure.noise(), Some(0.0));
    }

    #[test]
    fn the_noise_floor_is_what_even_and_odd_repeats_differ_by() {
        let figure = Figure::of(vec![10.0, 12.0, 10.0, 12.0]).expect("four numbers");
        assert_eq!(figure.noise(), Some(2.0 / 11.0));
        assert_eq!(Figure::of(vec![10.0, 12.0]).and_then(|figure| figure.noise()), None);
    }
}
