//! From deflections to the phase whose gradient they are: iCoM (of centres of mass) and iDPC (of segments).
//!
//! The integral is taken in Fourier space, F(phase) = k . F(deflection) / (2 pi i k^2) (Lazić, Bosch, Lazar,
//! Ultramicroscopy 160, 2016, eq. 17, <https://doi.org/10.1016/j.ultramic.2015.10.011>), which is the least-squares
//! solution of gradient = deflection: what is curl drops out. Two settings damp slow drifts, which the integral makes
//! large: Tikhonov's regularisation with length L solves least squares with (2 pi / L)^2 |phase|^2 added, that is k^2
//! becomes k^2 + 1 / L^2; a high-pass with cutoff length H multiplies by 1 - exp(-(k H)^2 / 2). The mean is 0.

use serde::{Deserialize, Serialize};

use super::{
    Deflection,
    fft::{Plane, frequency},
};
use rustfft::num_complex::Complex;

/// How the phase is integrated. Lengths in scan steps; 0 is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Integration {
    /// Periods much longer than this are left out.
    pub high_pass: f64,
    /// Periods much longer than this fade.
    pub regularisation: f64,
    pub edges: Edges,
}

/// What lies beyond the edges of the scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edges {
    /// The phase mirrored: no jump where opposite edges differ.
    #[default]
    Mirrored,
    /// The scan again, as the plain Fourier transform has it.
    Periodic,
}

impl Edges {
    pub const ALL: [Self; 2] = [Self::Mirrored, Self::Periodic];

    pub fn name(self) -> &'static str {
        match self {
            Self::Mirrored => "Mirrored",
            Self::Periodic => "Periodic",
        }
    }
}

/// The phase in units of the deflection times a scan step, one value per position, mean 0. Unknown positions count as
/// no deflection from the mean, and are NaN in the answer. `rest` is awaited often.
pub async fn integrate(field: &Deflection, how: Integration, rest: &impl AsyncFn()) -> Vec<f64> {
    let (rows, cols) = (field.scan.rows as usize, field.scan.cols as usize);
    let mut plane = extended(field, how.edges);
    rest().await;
    plane.forward(rest).await;
    divide(&mut plane, how);
    rest().await;
    plane.inverse(rest).await;
    let phase = |at: usize| plane.values[at / cols * plane.cols + at % cols].re;
    let known = |at: usize| field.x[at].is_finite() && field.y[at].is_finite();
    let (sum, n) = (0..rows * cols).fold((0.0, 0u32), |(sum, n), at| (sum + phase(at), n + 1));
    let mean = sum / f64::from(n.max(1));
    (0..rows * cols).map(|at| if known(at) { phase(at) - mean } else { f64::NAN }).collect()
}

/// x + i y of every position, mirrored to twice the size where the edges want it: as the gradient of a phase that is
/// even about every edge, x is odd along the columns and y odd along the rows.
fn extended(field: &Deflection, edges: Edges) -> Plane {
    let (rows, cols) = (field.scan.rows as usize, field.scan.cols as usize);
    let mean = mean_of(field);
    let vector = |row: usize, col: usize| {
        let at = row * cols + col;
        let known = field.x[at].is_finite() && field.y[at].is_finite();
        if known { Complex::new(field.x[at], field.y[at]) } else { mean }
    };
    let times = if edges == Edges::Mirrored { 2 } else { 1 };
    let mut plane = Plane::zeros(times * rows, times * cols);
    for row in 0..plane.rows {
        for col in 0..plane.cols {
            let (is_below, is_right) = (row >= rows, col >= cols);
            let from_row = if is_below { 2 * rows - 1 - row } else { row };
            let from_col = if is_right { 2 * cols - 1 - col } else { col };
            let mut value = vector(from_row, from_col);
            if is_right {
                value.re = -value.re;
            }
            if is_below {
                value.im = -value.im;
            }
            plane.values[row * plane.cols + col] = value;
        }
    }
    plane
}

fn mean_of(field: &Deflection) -> Complex<f64> {
    let known = field.x.iter().zip(&field.y).filter(|(x, y)| x.is_finite() && y.is_finite());
    let (sum, n) = known.fold((Complex::default(), 0u32), |(sum, n), (x, y)| (sum + Complex::new(*x, *y), n + 1));
    sum / f64::from(n.max(1))
}

/// From the transform Z of x + i y to that of the phase. x and y are real, so X(k) = (Z(k) + Z*(-k)) / 2 and
/// Y(k) = (Z(k) - Z*(-k)) / 2i.
fn divide(plane: &mut Plane, how: Integration) {
    let (rows, cols) = (plane.rows, plane.cols);
    let inverse_square = |length: f64| if length > 0.0 { 1.0 / (length * length) } else { 0.0 };
    let (fade, cutoff) = (inverse_square(how.regularisation), inverse_square(how.high_pass));
    let z = std::mem::take(&mut plane.values);
    let at = |row: usize, col: usize| z[row * cols + col];
    let mut phase = Vec::with_capacity(z.len());
    for row in 0..rows {
        let ky = frequency(row, rows);
        for col in 0..cols {
            let kx = frequency(col, cols);
            let (here, there) = (at(row, col), at((rows - row) % rows, (cols - col) % cols).conj());
            let x = (here + there) / 2.0;
            let y = (here - there) / Complex::new(0.0, 2.0);
            let square = kx * kx + ky * ky;
            let passed = if cutoff > 0.0 { -(-square / (2.0 * cutoff)).exp_m1() } else { 1.0 };
            let below = Complex::new(0.0, std::f64::consts::TAU * (square + fade));
            phase.push(if square > 0.0 { (x * kx + y * ky) * passed / below } else { Complex::default() });
        }
    }
    plane.values = phase;
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{PI, TAU};

    use super::*;
    use crate::shape::Scan;

    fn field(scan: Scan, gradient: impl Fn(f64, f64) -> [f64; 2]) -> Deflection {
        let all = (0..scan.rows).flat_map(|row| (0..scan.cols).map(move |col| [f64::from(row), f64::from(col)]));
        let vectors: Vec<[f64; 2]> = all.map(|[row, col]| gradient(row, col)).collect();
        let part = |axis: usize| vectors.iter().map(|vector| vector[axis]).collect();
        Deflection { scan, x: part(0), y: part(1) }
    }

    fn phase(scan: Scan, value: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let all = (0..scan.rows).flat_map(|row| (0..scan.cols).map(move |col| [f64::from(row), f64::from(col)]));
        all.map(|[row, col]| value(row, col)).collect()
    }

    fn integrated(field: &Deflection, how: Integration) -> Vec<f64> {
        pollster::block_on(integrate(field, how, &async || {}))
    }

    fn apart(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).fold(0.0, |most, (a, b)| most.max((a - b).abs()))
    }

    const PERIODIC: Integration = Integration { high_pass: 0.0, regularisation: 0.0, edges: Edges::Periodic };

    #[test]
    fn waves_that_fit_the_scan_are_integrated_exactly() {
        let scan = Scan { rows: 24, cols: 40 };
        let (a, b) = (TAU * 3.0 / 40.0, TAU * 2.0 / 24.0);
        let truth = phase(scan, |row, col| (a * col + b * row + 0.4).sin() + 0.5 * (2.0 * a * col).cos());
        let field = field(scan, |row, col| {
            let slope = (a * col + b * row + 0.4).cos();
            [a * slope - a * (2.0 * a * col).sin(), b * slope]
        });
        assert!(apart(&integrated(&field, PERIODIC), &truth) < 1e-12);
    }

    #[test]
    fn mirrored_edges_are_exact_where_opposite_edges_differ() {
        let scan = Scan { rows: 20, cols: 31 };
        let (a, b) = (PI / 31.0, PI * 3.0 / 20.0);
        let truth = phase(scan, |row, col| (a * (col + 0.5)).cos() * (b * (row + 0.5)).cos());
        let field = field(scan, |row, col| {
            [
                -a * (a * (col + 0.5)).sin() * (b * (row + 0.5)).cos(),
                -b * (a * (col + 0.5)).cos() * (b * (row + 0.5)).sin(),
            ]
        });
        assert!(apart(&integrated(&field, Integration::default()), &truth) < 1e-12);
        assert!(apart(&integrated(&field, PERIODIC), &truth) > 0.1, "the plain transform is not");
    }

    #[test]
    fn what_is_curl_leaves_no_phase() {
        let scan = Scan { rows: 16, cols: 16 };
        let a = TAU * 2.0 / 16.0;
        let field = field(scan, |row, col| [(a * row).cos(), -(a * col).sin()]);
        assert!(integrated(&field, PERIODIC).iter().all(|value| value.abs() < 1e-12));
    }

    #[test]
    fn both_settings_damp_each_wave_by_their_formula() {
        let scan = Scan { rows: 8, cols: 32 };
        let k = 2.0 / 32.0;
        let truth = phase(scan, |_, col| (TAU * k * col).sin());
        let field = field(scan, |_, col| [TAU * k * (TAU * k * col).cos(), 0.0]);
        let damped = |by: f64| truth.iter().map(|value| value * by).collect::<Vec<_>>();
        let faded = integrated(&field, Integration { regularisation: 10.0, ..PERIODIC });
        assert!(apart(&faded, &damped(k * k / (k * k + 0.01))) < 1e-12);
        let passed = integrated(&field, Integration { high_pass: 12.0, ..PERIODIC });
        assert!(apart(&passed, &damped(1.0 - (-(k * 12.0) * (k * 12.0) / 2.0).exp())) < 1e-12);
    }

    #[test]
    fn unknown_positions_are_unknown_in_the_phase_and_leave_the_rest_finite() {
        let scan = Scan { rows: 6, cols: 7 };
        let mut field = field(scan, |row, col| [row, col]);
        field.x[10] = f64::NAN;
        let phase = integrated(&field, Integration::default());
        assert!(phase[10].is_nan() && phase.iter().filter(|value| value.is_finite()).count() == 41);
    }
}
