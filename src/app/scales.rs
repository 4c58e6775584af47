//! What a pixel and a step measure: as the files say, as entered, or from the known semi-angle of the probe; and the
//! units of everything that is made of them.

use super::{
    App,
    open_set::OpenSet,
    state::{ComSource, Product, Scales, ViewState},
};
use crate::acquisition::Calibration;

/// Where a scale comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Nobody says it.
    #[default]
    Unknown,
    File,
    /// The file's, from a nominal camera length.
    Nominal,
    Entered,
    /// From the semi-angle of the probe and the radius of its disc.
    Alpha,
}

impl Origin {
    pub fn words(self) -> &'static str {
        match self {
            Self::Unknown => "not known",
            Self::File => "file",
            Self::Nominal => "nominal: from the camera length",
            Self::Entered => "entered",
            Self::Alpha => "from α and the disc",
        }
    }

    /// In one word.
    pub fn brief(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Nominal => "nominal",
            Self::Alpha => "from α",
            other => other.words(),
        }
    }
}

/// The scales that hold, and where each comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    pub step_nm: Option<f64>,
    pub step_from: Origin,
    pub mrad_per_px: Option<f64>,
    pub angle_from: Origin,
    pub energy_ev: Option<f64>,
    pub energy_from: Origin,
}

impl Measures {
    /// What is entered goes before what the file says. `disc_px` is the radius of the bright-field disc.
    pub fn of(file: Calibration, entered: Scales, disc_px: Option<f64>) -> Self {
        let from = |entered: Option<f64>, file: Option<f64>, is_nominal: bool| match (entered, file) {
            (Some(_), _) => (entered, Origin::Entered),
            (None, Some(_)) => (file, if is_nominal { Origin::Nominal } else { Origin::File }),
            (None, None) => (None, Origin::Unknown),
        };
        let (step_nm, step_from) = from(entered.step_nm, file.scan_step_nm, false);
        let (energy_ev, energy_from) = from(entered.energy_ev, file.energy_ev, false);
        let by_alpha = entered.alpha_mrad.zip(disc_px.filter(|px| *px > 0.0)).map(|(alpha, px)| alpha / px);
        let (mrad_per_px, angle_from) = match by_alpha {
            Some(_) => (by_alpha, Origin::Alpha),
            None => from(entered.mrad_per_px, file.detector_mrad_per_px, file.detector_is_nominal),
        };
        Self { step_nm, step_from, mrad_per_px, angle_from, energy_ev, energy_from }
    }

    /// De Broglie's wavelength of the electrons, nm: hc / sqrt(E (E + 2 m c^2)), constants of CODATA 2022
    /// (<https://physics.nist.gov/cuu/Constants/>).
    pub fn wavelength_nm(&self) -> Option<f64> {
        const HC_EV_NM: f64 = 1_239.841_984_332;
        const REST_EV: f64 = 510_998.950_69;
        self.energy_ev.filter(|ev| *ev > 0.0).map(|ev| HC_EV_NM / (ev * (ev + 2.0 * REST_EV)).sqrt())
    }

    /// Spatial frequency per px of the detector, 1/nm: the angle over the wavelength.
    pub fn per_nm_per_px(&self) -> Option<f64> {
        Some(self.mrad_per_px? * 1e-3 / self.wavelength_nm()?)
    }

    /// How deflections, their slopes and their integral are told: the factor from px and steps, and the unit.
    pub fn deflection(&self, product: Product, source: ComSource) -> (f64, &'static str) {
        let is_pure = source != ComSource::Pixels;
        match (product, self.mrad_per_px.filter(|_| !is_pure), self.step_nm) {
            (Product::Divergence | Product::Curl, Some(mrad), Some(nm)) => (mrad / nm, "mrad/nm"),
            (Product::Divergence | Product::Curl, Some(mrad), None) => (mrad, "mrad/step"),
            (Product::Divergence | Product::Curl, None, _) if is_pure => (1.0, "per step"),
            (Product::Divergence | Product::Curl, None, _) => (1.0, "px/step"),
            (Product::Phase, Some(mrad), Some(nm)) => match self.wavelength_nm() {
                Some(wavelength_nm) => (mrad * 1e-3 * nm * std::f64::consts::TAU / wavelength_nm, "rad"),
                None => (mrad * nm, "mrad nm"),
            },
            (Product::Phase, Some(mrad), None) => (mrad, "mrad step"),
            (Product::Phase, None, _) if is_pure => (1.0, "step"),
            (Product::Phase, None, _) => (1.0, "px step"),
            (_, Some(mrad), _) => (mrad, "mrad"),
            (_, None, _) if is_pure => (1.0, ""),
            (_, None, _) => (1.0, "px"),
        }
    }
}

impl OpenSet {
    pub fn measures(&self, state: &ViewState) -> Measures {
        Measures::of(self.acquisition.calibration, state.scales, state.disc.map(|disc| disc.radius))
    }
}

impl App {
    /// The scales that hold.
    pub fn measures(&self) -> Measures {
        self.set.as_ref().map(|set| set.measures(&self.state)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Calibration = Calibration {
        scan_step_nm: Some(0.02),
        detector_mrad_per_px: Some(0.5),
        detector_is_nominal: true,
        energy_ev: Some(200_000.0),
        tilt_deg: None,
    };

    #[test]
    fn what_is_entered_goes_before_the_file_and_alpha_before_both() {
        let plain = Measures::of(FILE, Scales::default(), Some(32.0));
        assert_eq!((plain.mrad_per_px, plain.angle_from), (Some(0.5), Origin::Nominal));
        let entered = Scales { mrad_per_px: Some(0.6), step_nm: Some(0.1), ..Scales::default() };
        let found = Measures::of(FILE, entered, Some(32.0));
        assert_eq!((found.mrad_per_px, found.angle_from, found.step_nm), (Some(0.6), Origin::Entered, Some(0.1)));
        let alpha = Measures::of(FILE, Scales { alpha_mrad: Some(16.0), ..entered }, Some(32.0));
        assert_eq!((alpha.mrad_per_px, alpha.angle_from), (Some(0.5), Origin::Alpha));
        assert_eq!(Measures::of(Calibration::default(), Scales::default(), None), Measures::default());
    }

    #[test]
    fn the_wavelength_is_that_of_the_tables() {
        let at = |ev| Measures { energy_ev: Some(ev), ..Measures::default() }.wavelength_nm().expect("an energy");
        // Williams, Carter, Transmission Electron Microscopy, table 1.2: 3.70, 2.51 and 1.97 pm.
        for (ev, pm) in [(100e3, 3.701_44), (200e3, 2.507_93), (300e3, 1.968_75)] {
            assert!((at(ev) * 1e3 - pm).abs() < 2e-5, "{ev}: {}", at(ev) * 1e3);
        }
    }

    #[test]
    fn a_phase_is_in_radians_where_everything_is_known() {
        let all = Measures::of(FILE, Scales::default(), None);
        let (factor, unit) = all.deflection(Product::Phase, ComSource::Pixels);
        assert_eq!(unit, "rad");
        assert!((factor - 0.5e-3 * 0.02 * std::f64::consts::TAU / 0.002_507_93).abs() < 1e-6);
        assert_eq!(all.deflection(Product::Curl, ComSource::Pixels), (25.0, "mrad/nm"));
        assert_eq!(Measures::default().deflection(Product::Divergence, ComSource::Pixels), (1.0, "px/step"));
        assert_eq!(all.deflection(Product::ComX, ComSource::Segments(4)), (1.0, ""));
    }
}
