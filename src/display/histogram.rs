//! How often each value occurs, along the displayed axis, and the range that percentiles choose.

use super::{
    field::Field,
    paint::{Axis, Limits},
    scale::Scale,
};

/// Part of the values below the low and the high limit, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentiles {
    pub low: f64,
    pub high: f64,
    /// Limits are symmetric about 0: the larger magnitude decides.
    pub symmetric: bool,
    /// The low limit is 0.
    pub from_zero: bool,
}

impl Percentiles {
    /// Images: 0.5 to 99.5 %.
    pub const IMAGE: Self = Self { low: 0.5, high: 99.5, symmetric: false, from_zero: false };
    /// Patterns and magnitudes: 0 to 99.9 %.
    pub const PATTERN: Self = Self { low: 0.0, high: 99.9, symmetric: false, from_zero: false };
    /// Lengths of vectors: 0 to the 99th percentile.
    pub const VECTORS: Self = Self { low: 0.0, high: 99.0, symmetric: false, from_zero: true };
    /// Signed maps: plus or minus the 99th percentile of the magnitude.
    pub const SIGNED: Self = Self { low: 0.0, high: 99.0, symmetric: true, from_zero: false };

    /// The limits that these percentiles choose among the known values of `field`; `None` when there
    /// is none. Exact for whole counts that span fewer than 65,536 values, else to 1/65,536 of the span.
    pub fn limits(&self, field: &Field) -> Option<Limits> {
        if self.symmetric {
            let magnitude = nth_percent(field.known().map(f64::abs), self.high, field.counts)?;
            return Some(Limits { low: -magnitude, high: magnitude }.opened());
        }
        let known = || field.known();
        let (low, high) =
            (nth_percent(known(), self.low, field.counts)?, nth_percent(known(), self.high, field.counts)?);
        Some(Limits { low: if self.from_zero { 0.0 } else { low }, high }.opened())
    }
}

const FINE_BINS: usize = 65_536;

/// The smallest value that `percent` of `values` do not exceed.
fn nth_percent(values: impl Iterator<Item = f64> + Clone, percent: f64, whole: bool) -> Option<f64> {
    let (low, high, n) = values
        .clone()
        .fold((f64::INFINITY, f64::NEG_INFINITY, 0u64), |(low, high, n), v| (low.min(v), high.max(v), n + 1));
    if n == 0 {
        return None;
    }
    if percent <= 0.0 || low == high {
        return Some(low);
    }
    let span = high - low;
    let width = if whole && span < FINE_BINS as f64 { 1.0 } else { span / (FINE_BINS - 1) as f64 };
    let mut bins = vec![0u32; FINE_BINS];
    for value in values {
        bins[(((value - low) / width) as usize).min(FINE_BINS - 1)] += 1;
    }
    let target = (percent / 100.0 * n as f64).ceil().max(1.0) as u64;
    let mut below = 0;
    let bin = bins.iter().position(|&bin| {
        below += u64::from(bin);
        below >= target
    });
    Some((low + bin.unwrap_or(FINE_BINS - 1) as f64 * width).min(high))
}

/// Counts per bin over the whole span of the known values, bins equal on the displayed axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub axis: Axis,
    pub bins: Vec<u32>,
}

impl Histogram {
    /// Bins for `n` values: enough to show a shape, few enough to hold several values each.
    fn bins_for(n: usize) -> usize {
        ((2.0 * (n as f64).sqrt()) as usize).clamp(32, 256)
    }

    /// The histogram's axis spans all known values and `limits`, with a little air at both ends.
    pub fn of(field: &Field, scale: Scale, unit: f64, limits: Limits) -> Self {
        let (low, high) = field.known().fold((limits.low, limits.high), |(low, high), v| (low.min(v), high.max(v)));
        let tight = Axis::new(Limits { low, high }, scale, unit);
        let air = 0.03;
        let axis = Axis::new(Limits { low: tight.value(-air), high: tight.value(1.0 + air) }, scale, unit);
        let n = Self::bins_for(field.values.len());
        let mut bins = vec![0; n];
        for value in field.known() {
            bins[((axis.position(value) * n as f64) as usize).min(n - 1)] += 1;
        }
        Self { axis, bins }
    }

    /// Height of each bin in 0 ..= 1. Heights are halfway between counts and their logarithm, so that a tail
    /// of few values still shows beside a peak of many.
    pub fn heights(&self) -> Vec<f64> {
        let top = f64::from(self.bins.iter().copied().max().unwrap_or(0).max(1));
        let height = |n: f64| 0.5 * (n / top + n.ln_1p() / top.ln_1p());
        self.bins.iter().map(|&n| height(n.into())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::Cell;

    fn counts(values: Vec<f64>, bad: &[usize]) -> Field {
        let mut cells = vec![Cell::Value; values.len()];
        bad.iter().for_each(|&index| cells[index] = Cell::Void);
        Field { rows: 1, cols: values.len() as u32, values, cells, counts: true, ..Field::default() }
    }

    #[test]
    fn percentiles_ignore_bad_pixels() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values[7] = 4_294_967_295.0;
        let limits = Percentiles::PATTERN.limits(&counts(values.clone(), &[7])).expect("999 values are known");
        assert_eq!((limits.low, limits.high), (0.0, 999.0));
        let spoiled = Percentiles { high: 100.0, ..Percentiles::PATTERN }.limits(&counts(values, &[])).expect("known");
        assert_eq!(spoiled.high, 4_294_967_295.0, "the same pixel does count when it is not bad");
    }

    #[test]
    fn image_percentiles_cut_half_a_percent_at_each_end() {
        let limits = Percentiles::IMAGE.limits(&counts((1..=1000).map(f64::from).collect(), &[])).expect("known");
        assert_eq!((limits.low, limits.high), (5.0, 995.0));
    }

    #[test]
    fn signed_limits_are_symmetric_about_zero() {
        let limits = Percentiles::SIGNED.limits(&counts((-50..=150).map(f64::from).collect(), &[])).expect("known");
        assert_eq!(limits.low, -limits.high);
        assert!((147.0..=150.0).contains(&limits.high), "{limits:?}");
    }

    #[test]
    fn a_field_without_known_values_has_no_limits() {
        assert_eq!(Percentiles::IMAGE.limits(&counts(vec![1.0], &[0])), None);
    }

    #[test]
    fn a_constant_field_still_has_a_range_to_draw() {
        let limits = Percentiles::IMAGE.limits(&counts(vec![0.0; 64], &[])).expect("known");
        assert!(limits.high > limits.low);
    }

    #[test]
    fn the_histogram_counts_every_known_value_once() {
        let field = counts((0..=4000).map(f64::from).collect(), &[3, 4]);
        for scale in Scale::ALL {
            let histogram = Histogram::of(&field, scale, 1.0, Limits { low: 0.0, high: 100.0 });
            assert_eq!(histogram.bins.iter().sum::<u32>(), 3999, "{scale:?}");
        }
    }
}
