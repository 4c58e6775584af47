//! Units of scales, as the programs of electron microscopy write them.

/// What a scale of an axis is a scale of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Distance on the sample, nm.
    Length(f64),
    /// Scattering angle, mrad.
    Angle(f64),
    /// Scattering vector without 2π, 1/nm.
    Inverse(f64),
}

/// `value` of `unit`; `None` for what is no positive length, angle or inverse length.
///
/// Units come as "nm", "[n_m]", "Å", "A", "A^-1", "1/nm", "Å⁻¹", "$nm^{-1}$", "mrad" ...
pub fn scale(value: f64, unit: &str) -> Option<Scale> {
    let plain: String = unit.chars().filter(|c| !c.is_whitespace() && !"[]{}()$_^\\*".contains(*c)).collect();
    let plain = plain.replace('⁻', "-").replace('¹', "1").replace('μ', "µ").replace('\u{212b}', "Å");
    let value = Some(value.abs()).filter(|value| *value > 0.0 && value.is_finite())?;
    let inverse = plain.strip_prefix("1/").or_else(|| plain.strip_suffix("-1"));
    if let Some(of) = inverse {
        return Some(Scale::Inverse(value / nanometres(of)?));
    }
    let milliradians = match plain.as_str() {
        "mrad" | "milliradian" | "milliradians" => Some(1.0),
        "rad" | "radian" | "radians" => Some(1e3),
        "µrad" | "urad" => Some(1e-3),
        "deg" | "degree" | "degrees" | "°" => Some(1e3 * std::f64::consts::PI / 180.0),
        _ => None,
    };
    match milliradians {
        Some(factor) => Some(Scale::Angle(value * factor)),
        None => Some(Scale::Length(value * nanometres(&plain)?)),
    }
}

fn nanometres(unit: &str) -> Option<f64> {
    Some(match unit {
        "m" | "meter" | "metre" => 1e9,
        "mm" => 1e6,
        "µm" | "um" | "micron" | "microns" | "micrometer" => 1e3,
        "nm" | "nanometer" | "nanometers" | "nanometre" => 1.0,
        "Å" | "å" | "A" | "Angstrom" | "angstrom" | "Angstroms" | "angstroms" | "AA" | "Ang" => 0.1,
        "pm" => 1e-3,
        _ => return None,
    })
}

/// Wavelength of electrons of that energy, nm: h c / sqrt(E (E + 2 m c²)).
pub fn wavelength_nm(energy_ev: f64) -> f64 {
    const HC_EV_NM: f64 = 1_239.841_984;
    const ELECTRON_EV: f64 = 510_998.95;
    HC_EV_NM / (energy_ev * (energy_ev + 2.0 * ELECTRON_EV)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_in_every_spelling() {
        let cases = [
            ("nm", Scale::Length(2.0)),
            ("[n_m]", Scale::Length(2.0)),
            ("Å", Scale::Length(0.2)),
            ("A", Scale::Length(0.2)),
            ("µm", Scale::Length(2000.0)),
            ("m", Scale::Length(2e9)),
            ("mrad", Scale::Angle(2.0)),
            ("rad", Scale::Angle(2000.0)),
            ("A^-1", Scale::Inverse(20.0)),
            ("1/nm", Scale::Inverse(2.0)),
            ("[1/n_m]", Scale::Inverse(2.0)),
            ("Å⁻¹", Scale::Inverse(20.0)),
            ("$nm^{-1}$", Scale::Inverse(2.0)),
        ];
        for (unit, expected) in cases {
            assert_eq!(scale(2.0, unit), Some(expected), "{unit}");
        }
        let none = [scale(1.0, "pixels"), scale(0.0, "nm"), scale(f64::NAN, "nm"), scale(1.0, ""), scale(1.0, "s")];
        assert_eq!(none, [None; 5]);
    }

    #[test]
    fn electrons_of_300_kev_have_1_97_pm() {
        assert!((wavelength_nm(300e3) - 1.968_75e-3).abs() < 1e-8, "{}", wavelength_nm(300e3));
    }
}
