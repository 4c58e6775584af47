//! The scale bar: 1, 2 or 5 x 10^n, the largest that is at most 22 % of the visible width.

use super::number;

/// What a length on a panel is measured in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Not calibrated: scan steps or detector pixels.
    Px,
    /// Nanometres per px.
    Nm(f64),
    /// Milliradians per px.
    Mrad(f64),
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScaleBar {
    /// Length in px of the data.
    pub px: f64,
    /// "2 nm", with a narrow space.
    pub label: String,
}

impl ScaleBar {
    /// The bar of a view that shows `visible_px` of the data; `None` when nothing is visible.
    pub fn of(visible_px: f64, unit: Unit) -> Option<Self> {
        let per_px = match unit {
            Unit::Px => 1.0,
            Unit::Nm(step) | Unit::Mrad(step) => step,
        };
        let most = 0.22 * visible_px * per_px;
        if !(most.is_finite() && most > 0.0) {
            return None;
        }
        let (mantissa, exponent) = round_down(most);
        let length = mantissa * 10f64.powi(exponent);
        let label = match unit {
            Unit::Px => format!("{}\u{202f}px", number::plain(length)),
            Unit::Nm(_) => in_units(length, &[(1e-3, "pm"), (0.1, "Å"), (1.0, "nm"), (1e3, "µm"), (1e6, "mm")]),
            Unit::Mrad(_) => in_units(length, &[(1e-3, "µrad"), (1.0, "mrad"), (1e3, "rad")]),
        };
        Some(Self { px: length / per_px, label })
    }
}

/// 1, 2 or 5 and the power of ten: the largest such number not above `most`.
fn round_down(most: f64) -> (f64, i32) {
    // A bar that misses its round number by a rounding error must not fall to the next one.
    let most = most * (1.0 + 1e-9);
    let exponent = most.log10().floor() as i32;
    let mantissa = most / 10f64.powi(exponent);
    let round = [5.0, 2.0, 1.0].into_iter().find(|&step| step <= mantissa).unwrap_or(1.0);
    (round, exponent)
}

/// `length` in the largest of `units` (size, name; growing) that gives at least 1.
fn in_units(length: f64, units: &[(f64, &str)]) -> String {
    let fits = units.iter().rev().find(|(size, _)| length >= size * (1.0 - 1e-9)).or(units.first());
    fits.map(|(size, name)| format!("{}\u{202f}{name}", number::plain(length / size))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(visible_px: f64, unit: Unit) -> (f64, String) {
        let bar = ScaleBar::of(visible_px, unit).expect("something is visible");
        ((bar.px * 1e6).round() / 1e6, bar.label.replace('\u{202f}', " "))
    }

    #[test]
    fn bars_are_one_two_or_five_and_at_most_22_percent() {
        assert_eq!(label(512.0, Unit::Nm(0.02)), (100.0, "2 nm".into()));
        assert_eq!(label(192.0, Unit::Mrad(0.656)), (30.487805, "20 mrad".into()));
        assert_eq!(label(512.0, Unit::Px), (100.0, "100 px".into()));
        assert_eq!(label(16.0, Unit::Px), (2.0, "2 px".into()));
    }

    #[test]
    fn short_bars_change_to_angstrom_and_picometre() {
        assert_eq!(label(100.0, Unit::Nm(0.01)).1, "2 Å");
        assert_eq!(label(16.0, Unit::Nm(0.01)).1, "20 pm");
        assert_eq!(label(512.0, Unit::Nm(20.0)).1, "2 µm");
    }

    #[test]
    fn a_bar_that_fits_exactly_is_kept() {
        assert_eq!(label(100.0 / 0.22, Unit::Px).0, 100.0);
    }
}
