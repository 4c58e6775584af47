//! Hot pixels: single detector pixels that count what their neighbours do not.

use crate::{engine::PixelSet, shape::Detector};

/// The hot pixels of a sum over many patterns, row-major indices in order.
///
/// `sums` has one value per detector pixel (two's complement, so that sums of signed counts do as well);
/// pixels outside `good` are neither judged nor asked.
///
/// Like py4DSTEM's `filter_hot_pixels` (<https://github.com/py4dstem/py4DSTEM>), a pixel is compared with the second
/// highest of its eight neighbours, so that two hot pixels side by side do not hide each other. What it may exceed
/// that by follows from the pattern itself: 10 standard deviations of the counts (of Poisson, or as the
/// surroundings scatter where that is more: patterns that repeat do so), and 8 times
/// as much as that neighbour rises above the median of the wider surroundings. The first lets noise pass, the second
/// the point of a sharp Bragg peak, which never stands alone. A hot pixel beside a much brighter disc can be missed;
/// what is found is for the user to accept.
pub fn hot_pixels(sums: &[u64], good: &PixelSet) -> Vec<u32> {
    let Detector { rows, cols } = good.detector;
    if sums.len() != good.detector.pixels() as usize {
        return Vec::new();
    }
    let value = |row: u32, col: u32| sums[(row * cols + col) as usize] as i64;
    // The second highest of the eight neighbours, if there are enough.
    let second_near = |row: u32, col: u32| {
        let (mut most, mut second, mut count) = (i64::MIN, i64::MIN, 0);
        for r in row.saturating_sub(1)..(row + 2).min(rows) {
            for c in col.saturating_sub(1)..(col + 2).min(cols) {
                if (r, c) != (row, col) && good.contains(r * cols + c) {
                    let near = value(r, c);
                    count += 1;
                    (most, second) = if near > most { (near, most) } else { (most, second.max(near)) };
                }
            }
        }
        (count >= FEWEST).then_some(second as f64)
    };
    let is_hot = |&(row, col): &(u32, u32)| {
        let Some(second) = second_near(row, col) else { return false };
        let rise = value(row, col) as f64 - second;
        // Nearly all pixels are settled by their neighbours alone.
        if rise <= noise_of(second) {
            return false;
        }
        let places = around(row, rows).flat_map(|r| around(col, cols).map(move |c| (r, c)));
        let wide = places.filter(|&(r, c)| (r, c) != (row, col) && good.contains(r * cols + c));
        rise > least_rise(second, wide.map(|(r, c)| value(r, c)).collect())
    };
    let pixels = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
    let judged = pixels.filter(|&(row, col)| good.contains(row * cols + col));
    judged.filter(is_hot).map(|(row, col)| row * cols + col).collect()
}

/// Coordinates up to [`REACH`] away on an axis of `len`.
fn around(at: u32, len: u32) -> std::ops::RangeInclusive<u32> {
    at.saturating_sub(REACH)..=(at + REACH).min(len - 1)
}

/// What counting alone makes of `second` counts.
fn noise_of(second: f64) -> f64 {
    SIGMAS * (second.max(0.0) + 1.0).sqrt()
}

/// By how much a hot pixel exceeds the second highest of its neighbours, in the wider surroundings `wide`.
fn least_rise(second: f64, mut wide: Vec<i64>) -> f64 {
    wide.sort_unstable();
    let median = wide[wide.len() / 2] as f64;
    let mut apart: Vec<f64> = wide.iter().map(|sum| (*sum as f64 - median).abs()).collect();
    apart.sort_unstable_by(f64::total_cmp);
    let scatter = MAD_SIGMAS * apart[apart.len() / 2];
    noise_of(second).max(SIGMAS * scatter).max(PEAK * (second - median))
}

/// The wider surroundings: this many pixels to each side.
const REACH: u32 = 2;
/// Neighbours without which nothing can be said of a pixel.
const FEWEST: usize = 3;
/// 10 of a Poisson distribution: none by chance on any detector.
const SIGMAS: f64 = 10.0;
/// Standard deviations of a normal distribution in a median absolute deviation.
const MAD_SIGMAS: f64 = 1.4826;
/// A Gaussian spot of 1 px (full width at half maximum), binned into pixels, rises 5.4 times from its second highest
/// neighbour to its point as it does from the surroundings to that neighbour; one of 1.5 px 1.7 times.
const PEAK: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    const DETECTOR: Detector = Detector { rows: 24, cols: 20 };

    /// Sums of a bright disc of `bright` counts with a sharp edge on a background of `dark`, with the spread that
    /// counting gives (here from a fixed sequence).
    fn disc(bright: f64, dark: f64) -> Vec<u64> {
        let mut state = 7_u64;
        let mut normal = move || {
            let mut sum = 0.0;
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                sum += (state >> 40) as f64 / f64::from(1 << 24);
            }
            sum - 6.0
        };
        let pixels = (0..24_i32).flat_map(|row| (0..20_i32).map(move |col| (row, col)));
        let mean = |(row, col): (i32, i32)| if (row - 12).pow(2) + (col - 9).pow(2) <= 25 { bright } else { dark };
        pixels.map(mean).map(|mean| (mean + mean.sqrt() * normal()).max(0.0).round() as u64).collect()
    }

    fn all() -> PixelSet {
        PixelSet::of(DETECTOR, |_, _| true)
    }

    /// A Gaussian spot, `fwhm` px wide, averaged over each pixel.
    fn spot(fwhm: f64, at: (f64, f64)) -> Vec<u64> {
        let pixels = (0..24).flat_map(|row| (0..20).map(move |col| (f64::from(row), f64::from(col))));
        let parts = || (0..11).map(|i| (f64::from(i) - 5.0) / 11.0);
        let value = |(row, col): (f64, f64)| -> f64 {
            let falls = |row: f64, col: f64| {
                (-4.0 * 2_f64.ln() * ((row - at.0).powi(2) + (col - at.1).powi(2)) / fwhm.powi(2)).exp()
            };
            parts().flat_map(|y| parts().map(move |x| falls(row + y, col + x))).sum::<f64>() / 121.0
        };
        pixels.map(|pixel| (1e6 * value(pixel) + 50.0) as u64).collect()
    }

    #[test]
    fn single_and_paired_hot_pixels_are_found_wherever_they_lie() {
        let mut sums = disc(40_000.0, 300.0);
        // In the disc, outside, in a corner, and two side by side.
        let hot = [12 * 20 + 9, 3 * 20 + 3, 0, 20 * 20 + 15, 20 * 20 + 16];
        hot.iter().for_each(|&pixel| sums[pixel] = sums[pixel] * 2 + 5_000);
        let mut expected = hot.map(|pixel| pixel as u32);
        expected.sort_unstable();
        assert_eq!(hot_pixels(&sums, &all()), expected);
    }

    #[test]
    fn noise_edges_and_sharp_peaks_are_no_hot_pixels() {
        for (bright, dark) in [(40_000.0, 300.0), (1e6, 0.0), (90.0, 2.0), (1.0, 0.0)] {
            assert_eq!(hot_pixels(&disc(bright, dark), &all()), Vec::<u32>::new(), "{bright} on {dark}");
        }
        for (fwhm, at) in [(1.0, (10.0, 10.0)), (1.5, (10.0, 10.0)), (2.0, (10.3, 9.8)), (4.0, (10.5, 9.5))] {
            assert_eq!(hot_pixels(&spot(fwhm, at), &all()), Vec::<u32>::new(), "a spot of {fwhm} px");
        }
    }

    #[test]
    fn masked_pixels_are_neither_found_nor_asked() {
        let mut sums = disc(40_000.0, 300.0);
        // The masked ones are brighter than the hot one between them.
        let (hot, masked) = (5 * 20 + 5, [5 * 20 + 4, 5 * 20 + 6, 4 * 20 + 5]);
        sums[hot] = 100_000;
        masked.iter().for_each(|&pixel| sums[pixel] = u64::from(u32::MAX));
        let good = PixelSet::of(DETECTOR, |row, col| !masked.contains(&((row * 20 + col) as usize)));
        assert_eq!(hot_pixels(&sums, &good), [hot as u32]);
    }

    #[test]
    fn sums_below_zero_and_of_another_detector_are_no_fault() {
        let mut sums = vec![(-40_i64) as u64; 480];
        sums[100] = 900;
        assert_eq!(hot_pixels(&sums, &all()), [100]);
        assert_eq!(hot_pixels(&sums[1..], &all()), Vec::<u32>::new());
    }

    #[test]
    fn patterns_that_repeat_make_no_hot_pixels_but_do_not_hide_one() {
        // Each pattern sixteen times: the sum scatters four times as much as its counts would.
        let mut sums: Vec<u64> = disc(9000.0, 40.0).iter().map(|sum| 16 * sum).collect();
        assert_eq!(hot_pixels(&sums, &all()), [0; 0]);
        sums[3 * 20 + 4] = 16 * 400;
        assert_eq!(hot_pixels(&sums, &all()), [3 * 20 + 4]);
    }
}
