//! How far numbers lie apart: variance and standard deviation from exact sums of values and of squares.

/// Population variance of `n` values: (n Σv² − (Σv)²) / n². The numerator is exact and below 2^128 (`n` below 2^32, sums
/// of squares below 2^96, as the engine gives them); NaN without any value.
pub fn variance(n: u32, sum: i128, square: u128) -> f64 {
    if n == 0 {
        return f64::NAN;
    }
    let n = u128::from(n);
    let numerator = (n * square).saturating_sub(sum.unsigned_abs().saturating_mul(sum.unsigned_abs()));
    numerator as f64 / (n * n) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variances_are_those_of_numpy() {
        assert_eq!(variance(4, 10, 30), 1.25, "np.var([1, 2, 3, 4])");
        assert_eq!(variance(2, -4, 26), 9.0, "np.var([1, -5])");
        assert_eq!(variance(1, 7, 49), 0.0);
        assert!(variance(0, 0, 0).is_nan());
    }

    #[test]
    fn a_small_spread_on_a_large_mean_is_not_lost() {
        // 2^31 and 2^31 + 1, 2^24 times each: in f64 both terms of the numerator would round to the same.
        let (half, low, high) = (1u128 << 24, 1u128 << 31, (1u128 << 31) + 1);
        let (sum, square) = (half * (low + high), half * (low * low + high * high));
        assert_eq!(variance(1 << 25, sum as i128, square), 0.25);
    }
}
