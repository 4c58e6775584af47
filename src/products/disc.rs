//! Where the bright-field disc is: centre and radius from a mean (or sum) pattern.
//!
//! The disc is the connected area around the brightest place that is brighter than half way between its own
//! level and its surroundings. Centre and radius are the area's centroid and sqrt(area / pi), as py4DSTEM's
//! `get_probe_size` finds them from a threshold
//! (<https://github.com/py4dstem/py4DSTEM/blob/dev/py4DSTEM/process/calibration/probe.py>); there many thresholds are
//! tried and the radius is taken where it hardly changes, here the threshold settles at the half level, where
//! a blurred edge has the radius of the sharp one. A disc cut off by the detector's edge is fitted by a circle
//! through its outline (I. Kasa, IEEE Trans. Instrum. Meas. 25, 1976, 8-14) instead.
//!
//! Hot pixels are cut down to their neighbours first. Where counts are so few that the disc falls apart into
//! single counts, box means show it: the least smoothing is taken whose disc stands out as well as any other's,
//! as excess counts over the square root of counts.

use serde::{Deserialize, Serialize};

use crate::{
    engine::{PatternSum, PixelSet},
    shape::Detector,
};

/// The bright-field disc, detector px, [row, column].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disc {
    pub centre: [f64; 2],
    pub radius: f64,
}

/// The disc of a summed pattern; `bad` pixels are left out. `None` where nothing stands out: no counts, or the
/// same everywhere.
pub fn find_disc(pattern: &PatternSum, bad: &PixelSet) -> Option<Disc> {
    let values: Vec<f64> = pattern.sum.iter().map(|&sum| sum as i64 as f64).collect();
    find_in(&values, bad)
}

/// As [`find_disc`], of counts row-major.
pub fn find_in(values: &[f64], bad: &PixelSet) -> Option<Disc> {
    if values.len() != bad.detector.pixels() as usize {
        return None;
    }
    let picture = Picture { detector: bad.detector, values: values.to_vec() }.despeckled(bad);
    let smooth = BOXES_PX.iter().filter_map(|&reach| picture.box_mean(reach).disc());
    let rated: Vec<_> = smooth.map(|disc| (disc, picture.contrast(disc))).collect();
    let best = rated.iter().map(|(_, contrast)| *contrast).fold(0.0, f64::max);
    rated.into_iter().find(|(_, contrast)| *contrast >= LEAST_CONTRAST.max(ALIKE * best)).map(|(disc, _)| disc)
}

/// Box means that are tried: pixels on each side of the middle.
const BOXES_PX: [usize; 4] = [0, 1, 2, 5];

/// A disc with this part of the best contrast stands out as well.
const ALIKE: f64 = 0.7;

/// Five standard deviations of the counts inside: less is an accident of counting.
const LEAST_CONTRAST: f64 = 5.0;

/// Times the level of the disc is measured again inside its last outline.
const ROUNDS: usize = 8;

struct Picture {
    detector: Detector,
    values: Vec<f64>,
}

/// Rows and columns of a picture, ends excluded.
#[derive(Clone, Copy)]
struct Window {
    rows: [usize; 2],
    cols: [usize; 2],
}

/// A connected area without holes.
struct Area {
    pixels: Vec<usize>,
    /// By pixel of the picture.
    is_inside: Vec<bool>,
    /// It reaches the edge of the picture.
    is_cut: bool,
}

impl Picture {
    fn disc(&self) -> Option<Disc> {
        let (seed, &most) = self.values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        let mut threshold = 0.5 * (most + self.background(None));
        let mut disc = None;
        for _ in 0..ROUNDS {
            // Rounding of sums is no disc.
            if most - threshold <= 1e-9 * most.abs() {
                return None;
            }
            let area = self.area(seed, threshold);
            let found = self.outline(&area, threshold)?;
            let level = median(area.pixels.iter().map(|&pixel| self.values[pixel]));
            let settled = disc.replace(found) == Some(found);
            threshold = 0.5 * (level? + self.background(Some(found)));
            if settled {
                break;
            }
        }
        disc
    }

    /// Level around the disc, at 1.3 to 2 radii; of the whole picture without a disc or without room for it.
    fn background(&self, disc: Option<Disc>) -> f64 {
        let around = disc.and_then(|disc| {
            let ring = self
                .positions_near(disc, 2.0)
                .filter(move |(at, _)| (1.3..2.0).contains(&(distance(*at, disc.centre) / disc.radius)));
            median(ring.map(|(_, value)| value))
        });
        around.or_else(|| median(self.values.iter().copied())).unwrap_or(0.0)
    }

    /// The connected pixels above `threshold` around `seed`, holes filled.
    fn area(&self, seed: usize, threshold: f64) -> Area {
        let mut is_inside = vec![false; self.values.len()];
        let reached = self.spread(vec![seed], &mut is_inside, |pixel| self.values[pixel] > threshold);
        let window = self.window_of(&reached);
        // What is not reached from the window's border lies in a hole.
        let mut is_outside = vec![false; self.values.len()];
        let (is_border, is_in) = (|pixel| self.is_border(window, pixel), |pixel| self.is_in(window, pixel));
        let border: Vec<_> = self.pixels_of(window).filter(|&pixel| is_border(pixel) && !is_inside[pixel]).collect();
        self.spread(border, &mut is_outside, |pixel| is_in(pixel) && !is_inside[pixel]);
        let pixels: Vec<_> = self.pixels_of(window).filter(|&pixel| !is_outside[pixel]).collect();
        pixels.iter().for_each(|&pixel| is_inside[pixel] = true);
        let is_cut = pixels.iter().any(|&pixel| self.neighbours(pixel).count() < 4);
        Area { pixels, is_inside, is_cut }
    }

    /// Marks everything that can be reached from `front` over pixels for which `holds`, and lists it.
    fn spread(&self, front: Vec<usize>, reached: &mut [bool], holds: impl Fn(usize) -> bool) -> Vec<usize> {
        front.iter().for_each(|&pixel| reached[pixel] = true);
        let mut found = front;
        let mut next = 0;
        while let Some(&pixel) = found.get(next) {
            next += 1;
            for near in self.neighbours(pixel) {
                if !reached[near] && holds(near) {
                    reached[near] = true;
                    found.push(near);
                }
            }
        }
        found
    }

    /// The smallest window around `pixels`, with a margin of one pixel where there is one.
    fn window_of(&self, pixels: &[usize]) -> Window {
        let cols = self.detector.cols as usize;
        let mut window = Window { rows: [usize::MAX, 0], cols: [usize::MAX, 0] };
        for pixel in pixels {
            for (range, at) in [(&mut window.rows, pixel / cols), (&mut window.cols, pixel % cols)] {
                *range = [range[0].min(at), range[1].max(at)];
            }
        }
        let wider = |[from, to]: [usize; 2], len: u32| [from.saturating_sub(1), (to + 2).min(len as usize)];
        Window { rows: wider(window.rows, self.detector.rows), cols: wider(window.cols, self.detector.cols) }
    }

    fn pixels_of(&self, window: Window) -> impl Iterator<Item = usize> + use<> {
        let (Window { rows, cols }, width) = (window, self.detector.cols as usize);
        (rows[0]..rows[1]).flat_map(move |row| row * width + cols[0]..row * width + cols[1])
    }

    fn is_in(&self, window: Window, pixel: usize) -> bool {
        let cols = self.detector.cols as usize;
        (window.rows[0]..window.rows[1]).contains(&(pixel / cols))
            && (window.cols[0]..window.cols[1]).contains(&(pixel % cols))
    }

    fn is_border(&self, window: Window, pixel: usize) -> bool {
        let cols = self.detector.cols as usize;
        let ends = |[from, to]: [usize; 2], at: usize| at == from || at + 1 == to;
        ends(window.rows, pixel / cols) || ends(window.cols, pixel % cols)
    }

    fn outline(&self, area: &Area, threshold: f64) -> Option<Disc> {
        if area.is_cut {
            return fit_circle(&self.crossings(area, threshold));
        }
        let inside = area.pixels.iter().map(|&pixel| self.position(pixel));
        let (pixels, rows, cols) =
            inside.fold((0.0, 0.0, 0.0), |(n, rows, cols), [r, c]| (n + 1.0, rows + r, cols + c));
        let radius = f64::sqrt(pixels / std::f64::consts::PI);
        (pixels > 0.0).then_some(Disc { centre: [rows / pixels, cols / pixels], radius })
    }

    /// Points between a pixel inside and its neighbour outside where the value passes `threshold`.
    fn crossings(&self, area: &Area, threshold: f64) -> Vec<[f64; 2]> {
        let outside = |pixel: usize| self.neighbours(pixel).filter(|&next| !area.is_inside[next]);
        let edges = area.pixels.iter().flat_map(|&pixel| outside(pixel).map(move |next| (pixel, next)));
        let crossing = |(inside, outside): (usize, usize)| {
            let (high, low) = (self.values[inside], self.values[outside]);
            let way = if high > low { ((high - threshold) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
            let (a, b) = (self.position(inside), self.position(outside));
            [a[0] + way * (b[0] - a[0]), a[1] + way * (b[1] - a[1])]
        };
        edges.map(crossing).collect()
    }

    /// Bad pixels as the median of their neighbours, others no higher than the highest of theirs.
    fn despeckled(&self, bad: &PixelSet) -> Self {
        let value = |pixel: usize| {
            let around = || self.around(pixel).filter(|&near| !bad.contains(near as u32)).map(|near| self.values[near]);
            match bad.contains(pixel as u32) {
                true => median(around()).unwrap_or(0.0),
                // Without a neighbour it stays.
                false => match around().fold(f64::NEG_INFINITY, f64::max) {
                    f64::NEG_INFINITY => self.values[pixel],
                    most => self.values[pixel].min(most),
                },
            }
        };
        Self { detector: self.detector, values: (0..self.values.len()).map(value).collect() }
    }

    /// Mean over a square of 2 `reach` + 1 px, cut off at the edge.
    fn box_mean(&self, reach: usize) -> Self {
        let (rows, cols) = (self.detector.rows as usize, self.detector.cols as usize);
        let by_col = running_means(&self.values, rows, cols, 1, reach);
        Self { detector: self.detector, values: running_means(&by_col, cols, rows, cols, reach) }
    }

    /// Excess counts inside the disc, over the square root of all counts there.
    fn contrast(&self, disc: Disc) -> f64 {
        let background = self.background(Some(disc));
        let inside = self.positions_near(disc, 1.0).filter(|(at, _)| distance(*at, disc.centre) <= disc.radius);
        let (excess, all) =
            inside.fold((0.0, 0.0), |(excess, all), (_, value)| (excess + value - background, all + value));
        if all > 0.0 { excess / f64::sqrt(all) } else { 0.0 }
    }

    fn position(&self, pixel: usize) -> [f64; 2] {
        let cols = self.detector.cols as usize;
        [(pixel / cols) as f64, (pixel % cols) as f64]
    }

    /// All pixels within so many radii of the disc's centre, and some more.
    fn positions_near(&self, disc: Disc, radii: f64) -> impl Iterator<Item = ([f64; 2], f64)> {
        let range = |at: f64, len: u32| {
            let reach = radii * disc.radius + 1.0;
            let [from, to] = [at - reach, at + reach + 1.0].map(|end| end.clamp(0.0, f64::from(len)) as usize);
            [from, to]
        };
        let Detector { rows, cols } = self.detector;
        let window = Window { rows: range(disc.centre[0], rows), cols: range(disc.centre[1], cols) };
        self.pixels_of(window).map(|pixel| (self.position(pixel), self.values[pixel]))
    }

    /// The up to 8 pixels around `pixel`.
    fn around(&self, pixel: usize) -> impl Iterator<Item = usize> + use<> {
        let (rows, cols) = (self.detector.rows as usize, self.detector.cols as usize);
        let (row, col) = (pixel / cols, pixel % cols);
        let near_rows = row.saturating_sub(1)..(row + 2).min(rows);
        let near_cols = col.saturating_sub(1)..(col + 2).min(cols);
        near_rows
            .flat_map(move |row| near_cols.clone().map(move |col| row * cols + col))
            .filter(move |&near| near != pixel)
    }

    fn neighbours(&self, pixel: usize) -> impl Iterator<Item = usize> + use<> {
        let (rows, cols) = (self.detector.rows as usize, self.detector.cols as usize);
        let (row, col) = (pixel / cols, pixel % cols);
        let steps = [
            (row > 0).then(|| pixel - cols),
            (col > 0).then(|| pixel - 1),
            (col + 1 < cols).then_some(pixel + 1),
            (row + 1 < rows).then_some(pixel + cols),
        ];
        steps.into_iter().flatten()
    }
}

/// Means over 2 `reach` + 1 elements along lines of `len` elements that lie `step` apart; `lines` lines.
fn running_means(values: &[f64], lines: usize, len: usize, step: usize, reach: usize) -> Vec<f64> {
    let mut means = vec![0.0; values.len()];
    for line in 0..lines {
        let first = if step == 1 { line * len } else { line };
        let sums: Vec<f64> = std::iter::once(0.0)
            .chain((0..len).scan(0.0, |sum, i| {
                *sum += values[first + i * step];
                Some(*sum)
            }))
            .collect();
        for i in 0..len {
            let (from, to) = (i.saturating_sub(reach), (i + reach + 1).min(len));
            means[first + i * step] = (sums[to] - sums[from]) / (to - from) as f64;
        }
    }
    means
}

/// The circle of least squares in r^2: x^2 + y^2 = 2 a x + 2 b y + c.
fn fit_circle(points: &[[f64; 2]]) -> Option<Disc> {
    let n = points.len() as f64;
    let mean = |f: &dyn Fn(&[f64; 2]) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (row, col) = (mean(&|p| p[0]), mean(&|p| p[1]));
    let centred = |f: &dyn Fn(f64, f64) -> f64| mean(&|p| f(p[0] - row, p[1] - col));
    let (rr, cc, rc) = (centred(&|r, _| r * r), centred(&|_, c| c * c), centred(&|r, c| r * c));
    let (r3, c3) = (centred(&|r, c| r * (r * r + c * c)), centred(&|r, c| c * (r * r + c * c)));
    let determinant = rr * cc - rc * rc;
    if points.len() < 3 || determinant <= 1e-9 * (rr + cc) * (rr + cc) {
        return None;
    }
    let (a, b) = ((r3 * cc - c3 * rc) / (2.0 * determinant), (c3 * rr - r3 * rc) / (2.0 * determinant));
    Some(Disc { centre: [row + a, col + b], radius: (a * a + b * b + rr + cc).sqrt() })
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    // Without `hypot`'s care for overflow, which cannot occur here and took 34 ms of a load.
    f64::sqrt((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<_> = values.collect();
    let middle = values.len() / 2;
    (!values.is_empty()).then(|| *values.select_nth_unstable_by(middle, f64::total_cmp).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETECTOR: Detector = Detector { rows: 192, cols: 192 };

    /// Mean counts of the benchmark's generator: a disc with an edge of 0.7 px, fringes and a dark field.
    fn picture(centre: [f64; 2], radius: f64, bright: f64, dark: f64, tail: f64) -> Vec<f64> {
        let value = |(row, col): (f64, f64)| {
            let r = distance([row, col], centre);
            let disc = 1.0 / (1.0 + ((r - radius) / 0.7).clamp(-60.0, 60.0).exp());
            let fringe = 1.0 + 0.25 * (3.83 / radius * (row - centre[0]) + 1.0).cos();
            bright * disc * fringe + dark * (1.0 - disc) / (1.0 + ((r - radius).max(0.0) / tail).powi(2))
        };
        (0..192 * 192).map(|pixel| value((f64::from(pixel / 192), f64::from(pixel % 192)))).collect()
    }

    /// Poisson counts by inversion, from a fixed sequence.
    fn counted(means: &[f64]) -> Vec<f64> {
        let mut state = 7u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        means
            .iter()
            .map(|&mean| {
                let (mut left, mut count, mut term) = (random(), 0.0, (-mean).exp());
                while left > term && count < 1e4 {
                    left -= term;
                    count += 1.0;
                    term *= mean / count;
                }
                count
            })
            .collect()
    }

    fn none_bad() -> PixelSet {
        PixelSet::of(DETECTOR, |_, _| false)
    }

    #[track_caller]
    fn assert_near(found: Option<Disc>, centre: [f64; 2], radius: f64, tolerance_px: f64) {
        let disc = found.expect("a disc");
        let off = distance(disc.centre, centre).max((disc.radius - radius).abs());
        assert!(off <= tolerance_px, "{disc:?} instead of {centre:?}, {radius}");
    }

    #[test]
    fn the_small_disc_of_preset_seed_is_found() {
        let means = picture([96.0, 96.0], 4.4, 1440.0, 1.0, 30.0);
        assert_near(find_in(&means, &none_bad()), [96.0, 96.0], 4.4, 0.3);
    }

    #[test]
    fn the_mean_of_discs_that_moved_by_2_px_has_their_mean_place_and_radius() {
        let mut sum = vec![0.0; 192 * 192];
        for step in 0..32 {
            let (sin, cos) = f64::from(step).sin_cos();
            let moved = picture([96.0 + 2.0 * sin, 96.0 + 2.0 * cos * cos], 4.4, 1440.0, 1.0, 30.0);
            sum.iter_mut().zip(moved).for_each(|(sum, value)| *sum += value);
        }
        assert_near(find_in(&sum, &none_bad()), [96.0, 97.0], 4.4, 0.4);
    }

    #[test]
    fn the_large_discs_of_presets_bright_and_low_are_found_in_one_frames_counts() {
        let bright = counted(&picture([96.0, 96.0], 40.0, 21.0, 1.1, 35.0));
        assert_near(find_in(&bright, &none_bad()), [96.0, 96.0], 40.0, 0.5);
        let low = counted(&picture([96.0, 96.0], 40.0, 2.1, 0.1, 35.0));
        assert_near(find_in(&low, &none_bad()), [96.0, 96.0], 40.0, 1.5);
    }

    #[test]
    fn an_off_centre_disc_is_found_and_one_cut_off_by_the_edge_is_completed() {
        let off = counted(&picture([40.3, 131.6], 22.0, 100.0, 4.0, 30.0));
        assert_near(find_in(&off, &none_bad()), [40.3, 131.6], 22.0, 0.3);
        let cut = counted(&picture([10.0, 90.0], 30.0, 100.0, 4.0, 30.0));
        assert_near(find_in(&cut, &none_bad()), [10.0, 90.0], 30.0, 0.6);
    }

    #[test]
    fn hot_and_bad_pixels_do_not_move_the_disc() {
        let mut values = picture([96.0, 96.0], 12.0, 50.0, 1.0, 30.0);
        for hot in [3 * 192 + 5, 180 * 192 + 20, 96 * 192 + 98] {
            values[hot] = 1e9;
        }
        let dead = |row: u32, col: u32| row == 95 || (row, col) == (3, 5);
        (0..192).for_each(|col| values[95 * 192 + col] = 65535.0);
        assert_near(find_in(&values, &PixelSet::of(DETECTOR, dead)), [96.0, 96.0], 12.0, 0.3);
    }

    #[test]
    fn a_disc_of_a_few_pixels_is_found() {
        let sharp = PixelSet::of(DETECTOR, |row, col| row.abs_diff(50) + col.abs_diff(60) <= 1);
        let values: Vec<_> = (0..192 * 192).map(|pixel| if sharp.contains(pixel) { 9.0 } else { 0.0 }).collect();
        assert_near(find_in(&values, &none_bad()), [50.0, 60.0], 1.26, 0.01);
    }

    #[test]
    fn nothing_is_found_without_counts_or_in_the_same_everywhere() {
        assert_eq!(find_in(&[0.0; 192 * 192], &none_bad()), None);
        assert_eq!(find_in(&[5.1; 192 * 192], &none_bad()), None);
        assert_eq!(find_in(&counted(&[5.1; 192 * 192]), &none_bad()), None);
        assert_eq!(find_in(&[5.0; 9], &none_bad()), None);
        let all_bad = PixelSet::of(DETECTOR, |_, _| true);
        assert_eq!(find_in(&picture([96.0, 96.0], 40.0, 21.0, 1.1, 35.0), &all_bad), None);
    }

    #[test]
    fn a_summed_pattern_of_negative_values_is_no_disc() {
        let sum = vec![(-3i64) as u64; 192 * 192];
        assert_eq!(find_disc(&PatternSum { sum, frames: 3 }, &none_bad()), None);
    }
}
