//! Two-dimensional Fourier transforms in slices, so that a page stays alive meanwhile.
//!
//! F(k) = sum f(r) exp(-2 pi i k r / n), as numpy's; the inverse carries 1/n. `rustfft` does the lines.

use rustfft::{FftPlanner, num_complex::Complex};

/// One transform: `rows` x `cols` values, row-major.
pub struct Plane {
    pub rows: usize,
    pub cols: usize,
    pub values: Vec<Complex<f64>>,
}

/// How many values are transformed between two rests.
const SLICE: usize = 1 << 14;

impl Plane {
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Self { rows, cols, values: vec![Complex::default(); rows * cols] }
    }

    /// The transform; `rest` is awaited between slices.
    pub async fn forward(&mut self, rest: &impl AsyncFn()) {
        self.transform(false, rest).await;
    }

    /// The inverse transform, 1 / (rows x cols) included.
    pub async fn inverse(&mut self, rest: &impl AsyncFn()) {
        self.transform(true, rest).await;
        let scale = 1.0 / self.values.len().max(1) as f64;
        self.values.iter_mut().for_each(|value| *value *= scale);
    }

    async fn transform(&mut self, is_inverse: bool, rest: &impl AsyncFn()) {
        for _ in 0..2 {
            self.lines(is_inverse, rest).await;
            self.transpose();
            rest().await;
        }
    }

    async fn lines(&mut self, is_inverse: bool, rest: &impl AsyncFn()) {
        if self.values.is_empty() {
            return;
        }
        let mut planner = FftPlanner::new();
        let fft = if is_inverse { planner.plan_fft_inverse(self.cols) } else { planner.plan_fft_forward(self.cols) };
        let mut scratch = vec![Complex::default(); fft.get_inplace_scratch_len()];
        let lines = (SLICE / self.cols).max(1);
        for slice in self.values.chunks_mut(lines * self.cols) {
            fft.process_with_scratch(slice, &mut scratch);
            rest().await;
        }
    }

    fn transpose(&mut self) {
        let (rows, cols) = (self.rows, self.cols);
        let turned = (0..cols).flat_map(|col| (0..rows).map(move |row| row * cols + col));
        self.values = turned.map(|at| self.values[at]).collect();
        (self.rows, self.cols) = (cols, rows);
    }
}

/// The size of every frequency of a picture, with frequency 0 at (rows / 2, cols / 2). The mean is taken away first, and
/// a Hann window (sin^2 over each side) where `is_windowed`, so that edges make no cross. Values that are NaN count as
/// the mean.
pub async fn spectrum(values: &[f64], rows: u32, cols: u32, is_windowed: bool, rest: &impl AsyncFn()) -> Vec<f64> {
    let (rows, cols) = (rows as usize, cols as usize);
    let known = || values.iter().filter(|value| value.is_finite());
    let mean = known().sum::<f64>() / known().count().max(1) as f64;
    let window = |at: usize, n: usize| {
        let sine = (std::f64::consts::PI * (at as f64 + 0.5) / n as f64).sin();
        if is_windowed { sine * sine } else { 1.0 }
    };
    let mut plane = Plane::zeros(rows, cols);
    for (at, (to, value)) in plane.values.iter_mut().zip(values).enumerate() {
        if value.is_finite() {
            to.re = (value - mean) * window(at / cols, rows) * window(at % cols, cols);
        }
    }
    rest().await;
    plane.forward(rest).await;
    let shifted = |at: usize, n: usize| (at + n - n / 2) % n;
    let size = |at: usize| plane.values[shifted(at / cols, rows) * cols + shifted(at % cols, cols)].norm();
    (0..rows * cols).map(size).collect()
}

/// Frequency of line `at` of `n`, cycles per sample, in [-1/2, 1/2), as numpy's `fftfreq`.
pub fn frequency(at: usize, n: usize) -> f64 {
    let whole = if 2 * at < n { at as f64 } else { at as f64 - n as f64 };
    whole / n as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_is_one_point_and_comes_back() {
        let (rows, cols) = (6, 15);
        let mut plane = Plane::zeros(rows, cols);
        let wave = |row: usize, col: usize| {
            let turn = 2.0 * row as f64 / rows as f64 + 4.0 * col as f64 / cols as f64;
            Complex::from_polar(1.0, std::f64::consts::TAU * turn)
        };
        for at in 0..rows * cols {
            plane.values[at] = wave(at / cols, at % cols);
        }
        let before = plane.values.clone();
        pollster::block_on(plane.forward(&async || {}));
        for (at, value) in plane.values.iter().enumerate() {
            let expected = if at == 2 * cols + 4 { 90.0 } else { 0.0 };
            assert!((value - expected).norm() < 1e-10, "{at}: {value}");
        }
        pollster::block_on(plane.inverse(&async || {}));
        assert!(plane.values.iter().zip(&before).all(|(a, b)| (a - b).norm() < 1e-12));
    }

    #[test]
    fn a_lattice_is_a_spot_at_its_frequency_and_a_window_keeps_it_there() {
        let (rows, cols) = (32, 48);
        let lattice: Vec<f64> = (0..rows * cols)
            .map(|at| {
                7.0 + (std::f64::consts::TAU * (f64::from(at / cols) * 4.0 / 32.0 + f64::from(at % cols) * 6.0 / 48.0))
                    .cos()
            })
            .collect();
        for is_windowed in [false, true] {
            let sizes = pollster::block_on(spectrum(&lattice, rows, cols, is_windowed, &async || {}));
            let most = sizes.iter().copied().fold(0.0, f64::max);
            let spots: Vec<usize> = (0..sizes.len()).filter(|at| sizes[*at] > 0.999 * most).collect();
            assert_eq!(spots, [12 * 48 + 18, 20 * 48 + 30], "{is_windowed}");
            let expected = f64::from(rows * cols) / if is_windowed { 8.0 } else { 2.0 };
            assert!((most / expected - 1.0).abs() < 0.02, "{most} {expected}");
        }
    }

    #[test]
    fn frequencies_are_those_of_numpy() {
        let all = |n| (0..n).map(|at| frequency(at, n) * n as f64).collect::<Vec<_>>();
        assert_eq!(all(4), [0.0, 1.0, -2.0, -1.0]);
        assert_eq!(all(5), [0.0, 1.0, 2.0, -2.0, -1.0]);
    }

    #[test]
    fn a_long_transform_rests_between_slices() {
        let rests = std::cell::Cell::new(0);
        let mut plane = Plane::zeros(256, 256);
        pollster::block_on(plane.forward(&async || rests.set(rests.get() + 1)));
        assert_eq!(rests.get(), 2 * (65_536 / SLICE + 1));
    }
}
