//! Where the beam went at every scan position: a vector field, and its divergence and curl.
//!
//! With x along a scan row (columns) and y down the rows, divergence is dx/dx + dy/dy and curl is dy/dx - dx/dy.
//! In a thin sample of atoms the mean deflection is the gradient of the phase, blurred by the probe (Lazić, Bosch,
//! Lazar, Ultramicroscopy 160, 2016, 265-280, <https://doi.org/10.1016/j.ultramic.2015.10.011>): its curl vanishes, and
//! its divergence is the charge density, up to sign and scale.

use super::CentreOfMass;
use crate::shape::Scan;

/// A vector per scan position, row-major; NaN where nothing is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Deflection {
    pub scan: Scan,
    /// Along the columns, to the right.
    pub x: Vec<f64>,
    /// Along the rows, downwards.
    pub y: Vec<f64>,
}

/// How detector axes lie to the scan's: transposed first, then turned.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Orientation {
    /// From the detector's axes to the scan's, degrees, from +x towards +y: clockwise on the screen.
    pub angle: f64,
    /// Rows and columns of the detector change places before.
    pub transposed: bool,
}

impl Deflection {
    /// Centres of mass less `about`, [row, column], px. Positions beyond the frames are not known.
    pub fn of(com: &CentreOfMass, scan: Scan, about: [f64; 2]) -> Self {
        let positions = scan.positions() as usize;
        let less = |values: &[f64], about: f64| {
            let mut values: Vec<f64> = values.iter().take(positions).map(|value| value - about).collect();
            values.resize(positions, f64::NAN);
            values
        };
        Self { scan, x: less(&com.col, about[1]), y: less(&com.row, about[0]) }
    }

    /// The same vectors along the scan's axes.
    pub fn turned(&self, Orientation { angle, transposed }: Orientation) -> Self {
        let (sin, cos) = angle.to_radians().sin_cos();
        let (x, y) = if transposed { (&self.y, &self.x) } else { (&self.x, &self.y) };
        let each = |by: &dyn Fn(f64, f64) -> f64| x.iter().zip(y).map(|(&x, &y)| by(x, y)).collect();
        Self { scan: self.scan, x: each(&|x, y| cos * x - sin * y), y: each(&|x, y| sin * x + cos * y) }
    }

    /// Length of every vector.
    pub fn magnitude(&self) -> Vec<f64> {
        self.x.iter().zip(&self.y).map(|(x, y)| x.hypot(*y)).collect()
    }

    /// Direction of every vector, radians from +x towards +y.
    pub fn direction(&self) -> Vec<f64> {
        self.x.iter().zip(&self.y).map(|(x, y)| y.atan2(*x)).collect()
    }

    /// Per scan step.
    pub fn divergence(&self) -> Vec<f64> {
        let (dx, dy) = (self.along_cols(&self.x), self.along_rows(&self.y));
        dx.iter().zip(&dy).map(|(dx, dy)| dx + dy).collect()
    }

    /// Per scan step.
    pub fn curl(&self) -> Vec<f64> {
        let (dy, dx) = (self.along_cols(&self.y), self.along_rows(&self.x));
        dy.iter().zip(&dx).map(|(dy, dx)| dy - dx).collect()
    }

    fn along_cols(&self, values: &[f64]) -> Vec<f64> {
        let cols = self.scan.cols as usize;
        (0..values.len()).map(|at| slope(values, at, 1, at % cols > 0, at % cols + 1 < cols)).collect()
    }

    fn along_rows(&self, values: &[f64]) -> Vec<f64> {
        let (cols, last) = (self.scan.cols as usize, values.len());
        (0..last).map(|at| slope(values, at, cols, at >= cols, at + cols < last)).collect()
    }
}

/// Central difference; one-sided at an edge and beside a position that is not known; NaN without neighbours.
fn slope(values: &[f64], at: usize, step: usize, has_before: bool, has_after: bool) -> f64 {
    let here = values[at];
    let before = if has_before { values[at - step] } else { f64::NAN };
    let after = if has_after { values[at + step] } else { f64::NAN };
    match (before.is_nan(), after.is_nan()) {
        _ if here.is_nan() => f64::NAN,
        (false, false) => (after - before) / 2.0,
        (true, false) => after - here,
        (false, true) => here - before,
        (true, true) => f64::NAN,
    }
}

/// A finding of [`find_orientation`], with what it was found from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    pub orientation: Orientation,
    /// How curl and divergence depend on the angle, as the detector is and transposed.
    pub curls: [AngleCurve; 2],
    /// The other half turn has as little curl; the skew of the divergence decided, or could not.
    pub sign_is_sure: bool,
}

/// Mean squares of curl and divergence at angle 0, and their mean product: all that is needed at any angle, because
/// curl(angle) = curl cos + divergence sin and divergence(angle) = divergence cos - curl sin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AngleCurve {
    pub curl_square: f64,
    pub divergence_square: f64,
    pub product: f64,
}

impl AngleCurve {
    pub fn of(field: &Deflection) -> Self {
        let (mut curve, mut n) = (Self::default(), 0.0);
        for (curl, divergence) in field.curl().iter().zip(field.divergence()) {
            if curl.is_finite() && divergence.is_finite() {
                curve.curl_square += curl * curl;
                curve.divergence_square += divergence * divergence;
                curve.product += curl * divergence;
                n += 1.0;
            }
        }
        let mean = |sum: f64| if n > 0.0 { sum / n } else { 0.0 };
        Self {
            curl_square: mean(curve.curl_square),
            divergence_square: mean(curve.divergence_square),
            product: mean(curve.product),
        }
    }

    /// Root mean square of the curl after a turn by `angle` degrees.
    pub fn curl(&self, angle: f64) -> f64 {
        let (sin, cos) = angle.to_radians().sin_cos();
        let square = cos * cos * self.curl_square + 2.0 * sin * cos * self.product + sin * sin * self.divergence_square;
        square.max(0.0).sqrt()
    }

    /// Root mean square of the divergence after a turn by `angle` degrees.
    pub fn divergence(&self, angle: f64) -> f64 {
        self.curl(angle + 90.0)
    }

    /// The angle of least curl in (-90, 90]; `None` where every angle is as good.
    ///
    /// The mean square is a + b cos(2 angle) + c sin(2 angle): its minimum is known, nothing is searched.
    pub fn least(&self) -> Option<f64> {
        let (b, c) = ((self.curl_square - self.divergence_square) / 2.0, self.product);
        let swing = b.hypot(c);
        let is_flat = swing <= 1e-12 * (self.curl_square + self.divergence_square);
        (!is_flat).then(|| folded((-c).atan2(-b).to_degrees() / 2.0))
    }
}

/// Transposing is chosen only where it leaves clearly less curl than the best angle without it.
const CLEARLY_LESS: f64 = 0.9;

/// Rotation and handedness between scan and detector: the ones that leave least curl, as LiberTEM's `guess_corrections`
/// (<https://libertem.github.io/LiberTEM/reference/udf.html#libertem.udf.com.guess_corrections>). Half a turn more leaves
/// as little; of both the one is taken whose divergence has its long tail below 0, as at atoms that attract the beam.
/// `None` where nothing can be told: no known neighbours, or every angle alike.
pub fn find_orientation(field: &Deflection) -> Option<Found> {
    let flipped = field.turned(Orientation { angle: 0.0, transposed: true });
    let curls = [AngleCurve::of(field), AngleCurve::of(&flipped)];
    let least = curls.map(|curve| curve.least().map(|angle| (angle, curve.curl(angle))));
    let (angle, transposed) = match least {
        [Some((_, kept)), Some((angle, curl))] if curl < CLEARLY_LESS * kept => (angle, true),
        [Some((angle, _)), _] => (angle, false),
        [None, Some((angle, _))] => (angle, true),
        [None, None] => return None,
    };
    let skew = skewness(&field.turned(Orientation { angle, transposed }).divergence());
    let angle = if skew > SURE_SKEW { folded_whole(angle + 180.0) } else { angle };
    let orientation = Orientation { angle, transposed };
    Some(Found { orientation, curls, sign_is_sure: skew.abs() > SURE_SKEW })
}

/// A skewness nearer to 0 tells nothing.
const SURE_SKEW: f64 = 0.1;

/// Third moment about the mean, over the cube of the standard deviation.
fn skewness(values: &[f64]) -> f64 {
    let known = || values.iter().copied().filter(|value| value.is_finite());
    let n = known().count().max(1) as f64;
    let mean = known().sum::<f64>() / n;
    let moment = |power: i32| known().map(|value| (value - mean).powi(power)).sum::<f64>() / n;
    let deviation = moment(2).sqrt();
    if deviation > 0.0 { moment(3) / deviation.powi(3) } else { 0.0 }
}

/// Degrees in (-90, 90].
fn folded(angle: f64) -> f64 {
    90.0 - (90.0 - angle).rem_euclid(180.0)
}

/// Degrees in (-180, 180].
pub fn folded_whole(angle: f64) -> f64 {
    if angle > -180.0 && angle <= 180.0 {
        // Exactly as it was typed.
        return angle;
    }
    180.0 - (180.0 - angle).rem_euclid(360.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCAN: Scan = Scan { rows: 24, cols: 31 };

    /// Deflections of two blobs of phase, the second weaker.
    fn atoms() -> Deflection {
        let blob = |row: f64, col: f64, at: [f64; 2], height: f64| {
            let (dy, dx) = (row - at[0], col - at[1]);
            let bell = height * (-(dy * dy + dx * dx) / 18.0).exp() / 9.0;
            [-dx * bell, -dy * bell]
        };
        let all = (0..SCAN.rows).flat_map(|row| (0..SCAN.cols).map(move |col| (f64::from(row), f64::from(col))));
        let sum = |(row, col): (f64, f64)| {
            let (a, b) = (blob(row, col, [8.0, 9.0], 1.0), blob(row, col, [15.0, 21.0], 0.6));
            [a[0] + b[0], a[1] + b[1]]
        };
        let vectors: Vec<[f64; 2]> = all.map(sum).collect();
        let part = |axis: usize| vectors.iter().map(|vector| vector[axis]).collect();
        Deflection { scan: SCAN, x: part(0), y: part(1) }
    }

    #[test]
    fn slopes_are_those_of_numpy_gradient() {
        let scan = Scan { rows: 2, cols: 4 };
        let x = vec![1.0, 2.0, 4.0, 8.0, 0.0, 1.0, 1.0, 5.0];
        let field = Deflection { scan, y: vec![0.0; 8], x };
        // np.gradient(x, axis=1), and minus np.gradient(x, axis=0).
        assert_eq!(field.divergence(), [1.0, 1.5, 3.0, 4.0, 1.0, 0.5, 2.0, 4.0]);
        assert_eq!(field.curl(), [1.0, 1.0, 3.0, 3.0, 1.0, 1.0, 3.0, 3.0]);
    }

    #[test]
    fn an_unknown_position_makes_only_itself_unknown() {
        let scan = Scan { rows: 1, cols: 4 };
        let field = Deflection { scan, x: vec![1.0, f64::NAN, 4.0, 6.0], y: vec![0.0; 4] };
        let slopes = field.along_cols(&field.x);
        assert!(slopes[0].is_nan() && slopes[1].is_nan());
        assert_eq!(slopes[2..], [2.0, 2.0]);
    }

    #[test]
    fn a_turned_detector_is_turned_back() {
        for (angle, transposed) in [(-12.4, false), (77.0, false), (-160.0, false), (133.0, true), (0.0, true)] {
            let orientation = Orientation { angle, transposed };
            // The inverse: turn back, then transpose back.
            let back = atoms().turned(Orientation { angle: -angle, transposed: false });
            let seen = back.turned(Orientation { angle: 0.0, transposed });
            let found = find_orientation(&seen).expect("two blobs have a direction");
            assert!(found.sign_is_sure && found.orientation.transposed == transposed, "{orientation:?} {found:?}");
            // Differences at the edges leave some curl even at the true angle.
            assert!(folded_whole(found.orientation.angle - angle).abs() < 0.01, "{orientation:?} {found:?}");
            let truth = atoms();
            let again = seen.turned(found.orientation);
            let apart = again.x.iter().zip(&truth.x).chain(again.y.iter().zip(&truth.y));
            assert!(apart.fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) < 1e-4);
        }
    }

    #[test]
    fn the_curve_of_the_angle_is_the_curl_of_the_turned_field() {
        let curve = AngleCurve::of(&atoms());
        for angle in [-90.0, -33.0, 0.0, 12.5, 90.0] {
            let turned = AngleCurve::of(&atoms().turned(Orientation { angle, transposed: false }));
            assert!((curve.curl(angle) - turned.curl_square.sqrt()).abs() < 1e-12);
            assert!((curve.divergence(angle) - turned.divergence_square.sqrt()).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_is_found_in_a_field_without_a_direction() {
        let flat = Deflection { scan: SCAN, x: vec![0.5; 744], y: vec![-1.0; 744] };
        assert_eq!(find_orientation(&flat), None);
        let unknown = Deflection { scan: SCAN, x: vec![f64::NAN; 744], y: vec![f64::NAN; 744] };
        assert_eq!(find_orientation(&unknown), None);
    }

    #[test]
    fn positions_beyond_the_frames_are_unknown() {
        let com = CentreOfMass { row: vec![3.0, 4.0], col: vec![1.0, f64::NAN] };
        let field = Deflection::of(&com, Scan { rows: 1, cols: 3 }, [1.0, 1.0]);
        assert_eq!((field.y[1], field.x[0]), (3.0, 0.0));
        assert!(field.x[1].is_nan() && field.x[2].is_nan() && field.y[2].is_nan());
        assert_eq!(field.magnitude()[0], 2.0);
        assert_eq!(field.direction()[0], std::f64::consts::FRAC_PI_2);
    }
}
