//! Detectors that scale with the bright-field disc of radius a (the probe's semi-angle on the detector).

use serde::{Deserialize, Serialize};

use super::{DetectorShape, Disc};
use crate::{engine::PixelSet, shape::Detector};

/// The usual detectors. Radii in units of the disc's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Bright field: r <= 1.
    Bf,
    /// Annular bright field: 0.5 <= r <= 1.
    Abf,
    /// Annular dark field: 1.1 <= r <= 2.2.
    Adf,
    /// High-angle annular dark field: 2.2 to the farthest corner of the detector.
    Haadf,
    /// Dark field: everything outside the disc, r > 1.
    Df,
}

impl Preset {
    pub const ALL: [Self; 5] = [Self::Bf, Self::Abf, Self::Adf, Self::Haadf, Self::Df];

    /// The outline to draw; that of `Df` is the disc which it leaves out.
    pub fn shape(self, disc: Disc, detector: Detector) -> DetectorShape {
        let Disc { centre, radius } = disc;
        let ring =
            |inner: f64, outer: f64| DetectorShape::Annulus { centre, inner: inner * radius, outer: outer * radius };
        match self {
            Self::Bf | Self::Df => DetectorShape::Disc { centre, inner: 0.0, outer: radius },
            Self::Abf => ring(0.5, 1.0),
            Self::Adf => ring(1.1, 2.2),
            Self::Haadf => {
                let outer = farthest_px(centre, detector).max(2.2 * radius);
                DetectorShape::Annulus { centre, inner: 2.2 * radius, outer }
            }
        }
    }

    /// The pixels that count.
    pub fn pixels(self, disc: Disc, detector: Detector) -> PixelSet {
        let inside = self.shape(disc, detector).pixels(detector);
        match self {
            Self::Df => PixelSet::of(detector, |_, _| true).without(&inside),
            _ => inside,
        }
    }
}

/// Distance from `centre` to the farthest pixel, rounded up to a whole px.
fn farthest_px(centre: [f64; 2], detector: Detector) -> f64 {
    let reach = |centre: f64, last: u32| centre.abs().max((f64::from(last) - 1.0 - centre).abs());
    reach(centre[0], detector.rows).hypot(reach(centre[1], detector.cols)).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETECTOR: Detector = Detector { rows: 32, cols: 48 };
    const DISC: Disc = Disc { centre: [16.0, 20.0], radius: 5.0 };

    #[test]
    fn bright_field_and_dark_field_share_the_detector_between_them() {
        let [bf, df] = [Preset::Bf, Preset::Df].map(|preset| preset.pixels(DISC, DETECTOR));
        assert_eq!((bf.count(), df.count()), (81, 32 * 48 - 81));
        assert!(bf.words.iter().zip(&df.words).all(|(bf, df)| bf & df == 0));
    }

    #[test]
    fn rings_are_as_wide_as_their_names_say() {
        let radii = |preset: Preset| match preset.shape(DISC, DETECTOR) {
            DetectorShape::Annulus { inner, outer, .. } => [inner, outer],
            other => panic!("{other:?} is no annulus"),
        };
        assert_eq!(radii(Preset::Abf), [2.5, 5.0]);
        assert_eq!(radii(Preset::Adf), [5.5, 11.0]);
        assert_eq!(radii(Preset::Haadf), [11.0, 32.0]);
    }

    #[test]
    fn the_high_angle_ring_reaches_every_corner() {
        let pixels = Preset::Haadf.pixels(DISC, DETECTOR);
        assert!([0, 47, 31 * 48, 32 * 48 - 1].into_iter().all(|corner| pixels.contains(corner)));
    }
}
