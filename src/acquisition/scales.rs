//! Scales that programs other than a detector's own writer keep beside the patterns.
//!
//! Which axis a scale is of follows from its unit: a length is a distance between probe positions, an angle or an
//! inverse length is one on the detector. So the order of axes does not matter. Of two axes with different scales the
//! later one counts, as horizontal lengths are what a scale bar shows.

use super::{
    Calibration, Fact,
    units::{Scale, scale, wavelength_nm},
    values::Metadata,
};

/// Fills what `calibration` does not know yet from the surroundings of the dataset at `path`; what cannot be turned
/// into an angle without the beam's energy becomes a fact.
pub fn complete(calibration: &mut Calibration, file: &Metadata, path: &str, facts: &mut Vec<Fact>) {
    let group = path.rsplit_once('/').map_or("", |(group, _)| group);
    let readers: [Reader; 6] = [py4dstem, old_py4dstem, hyperspy, dims, nexus, abtem];
    let found = readers.iter().map(|read| read(file, group)).find(|found| !found.is_empty()).unwrap_or_default();
    calibration.energy_ev = calibration.energy_ev.or_else(|| energy_ev(file, group));
    for scale in found.into_iter().rev() {
        match scale {
            Scale::Length(nm) => calibration.scan_step_nm = calibration.scan_step_nm.or(Some(nm)),
            Scale::Angle(mrad) => note_angle(calibration, mrad),
            Scale::Inverse(per_nm) => {
                let name = "Diffraction pixel";
                if !facts.iter().any(|fact| fact.name == name) {
                    facts.push(Fact { name: name.to_owned(), value: format!("{} 1/nm", rounded(per_nm)) });
                }
                // Angles are small: sin 2θ is 2θ.
                if let Some(energy) = calibration.energy_ev {
                    note_angle(calibration, 1e3 * wavelength_nm(energy) * per_nm);
                }
            }
        }
    }
}

fn note_angle(calibration: &mut Calibration, mrad: f64) {
    // What follows from a nominal camera length gives way to what was calibrated.
    if calibration.detector_mrad_per_px.is_none() || calibration.detector_is_nominal {
        calibration.detector_mrad_per_px = Some(mrad);
        calibration.detector_is_nominal = false;
    }
}

/// Six digits, as measured scales have no more.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// py4DSTEM 0.14 and later, EMD 1.0: `metadatabundle/calibration` of the data or of one of its roots
/// (<https://emdatasets.com/format>).
fn py4dstem(file: &Metadata, group: &str) -> Vec<Scale> {
    roots(group)
        .find_map(|root| some(in_group(file, &format!("{root}/metadatabundle/calibration"))))
        .unwrap_or_default()
}

/// py4DSTEM up to 0.13: attributes of `metadata/calibration`, by version also one group deeper.
fn old_py4dstem(file: &Metadata, group: &str) -> Vec<Scale> {
    let places = ["metadata/calibration", "metadata/metadata_0/calibration", "calibration"];
    roots(group)
        .flat_map(|root| places.map(|place| format!("{root}/{place}")))
        .find_map(|place| some(in_group(file, &place)))
        .unwrap_or_default()
}

fn in_group(file: &Metadata, group: &str) -> Vec<Scale> {
    let value = |name: &str| file.numbers_or_attribute(group, name).last().copied();
    let unit = |name: &str| file.texts_or_attribute(group, name).pop();
    let pairs = [
        ("R_pixel_size", ["R_pixel_units", "R_pixel_size_units"]),
        ("Q_pixel_size", ["Q_pixel_units", "Q_pixel_size_units"]),
        ("K_pixel_size", ["K_pixel_size_units", "K_units"]),
        ("R_pix_size", ["R_units", "R_pix_units"]),
        ("K_pix_size", ["K_units", "K_pix_units"]),
    ];
    let of = |(size, units): (&str, [&str; 2])| scale(value(size)?, &units.into_iter().find_map(unit)?);
    pairs.into_iter().filter_map(of).collect()
}

/// HyperSpy: groups `axis-0` ... beside the data
/// (<https://hyperspy.org/rosettasciio/user_guide/supported_formats/hspy.html>).
fn hyperspy(file: &Metadata, group: &str) -> Vec<Scale> {
    let of = |axis: usize| {
        let axis = format!("{group}/axis-{axis}");
        scale(file.attribute_numbers(&axis, "scale").first().copied()?, &file.attribute_texts(&axis, "units").pop()?)
    };
    (0..MOST_AXES).filter_map(of).collect()
}

/// EMD 0.2 and 1.0, Prismatic, fpd: datasets `dim1` ... (EMD 1.0: `dim0` ...) beside the data, with the coordinates of
/// the first two elements, or of all (<https://emdatasets.com/format>).
fn dims(file: &Metadata, group: &str) -> Vec<Scale> {
    let of = |axis: usize| along(file, &format!("{group}/dim{axis}"));
    (0..=MOST_AXES).filter_map(of).collect()
}

/// NeXus: the group's `axes` are datasets with the coordinates
/// (<https://manual.nexusformat.org/classes/base_classes/NXdata.html>).
fn nexus(file: &Metadata, group: &str) -> Vec<Scale> {
    let axes = file.attribute_texts(group, "axes");
    axes.iter().take(MOST_AXES).filter_map(|axis| along(file, &format!("{group}/{axis}"))).collect()
}

/// abTEM up to 1.0: datasets `sampling` and `units`, an element for each axis.
fn abtem(file: &Metadata, group: &str) -> Vec<Scale> {
    let sampling = file.numbers(&format!("{group}/sampling"));
    let units = file.texts(&format!("{group}/units"));
    sampling.iter().zip(&units).filter_map(|(&value, unit)| scale(value, unit)).collect()
}

/// The distance of the first two of the coordinates at `path`; one number alone is a distance.
fn along(file: &Metadata, path: &str) -> Option<Scale> {
    let unit = file.attribute_texts(path, "units").pop()?;
    match file.numbers(path)[..] {
        [] => None,
        [step] => scale(step, &unit),
        [first, second, ..] => scale(second - first, &unit),
    }
}

/// Beam energy: HyperSpy's in keV, that of EMD files in the unit that they give.
fn energy_ev(file: &Metadata, group: &str) -> Option<f64> {
    let number = |path: &str, name: &str| {
        let found = file.numbers_or_attribute(path, name).first().copied();
        found.filter(|value| *value > 0.0 && value.is_finite())
    };
    let hyperspy =
        || number(&format!("{group}/metadata/Acquisition_instrument/TEM"), "beam_energy").map(|kev| kev * 1e3);
    let volts = |place: &str| {
        let unit = || file.texts_or_attribute(place, "voltage_units").pop();
        let voltage = || {
            number(place, "voltage")
                .map(|value| if unit().is_some_and(|u| u.contains('k')) { value * 1e3 } else { value })
        };
        // Nobody images with electrons of less than 1 keV: a smaller number is in kV.
        number(place, "accelerating_voltage")
            .or_else(voltage)
            .map(|value| if value < 1e3 { value * 1e3 } else { value })
    };
    let places =
        || roots(group).flat_map(|root| ["microscope", "metadata/microscope"].map(|at| format!("{root}/{at}")));
    hyperspy().or_else(|| places().find_map(|place| volts(&place)))
}

/// `group`, its parents, and the root (as "").
fn roots(group: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(group), |group| group.rsplit_once('/').map(|(parent, _)| parent))
}

fn some(scales: Vec<Scale>) -> Option<Vec<Scale>> {
    Some(scales).filter(|scales| !scales.is_empty())
}

/// The scales that one kind of file keeps for the dataset in a group.
type Reader = fn(&Metadata, &str) -> Vec<Scale>;

const MOST_AXES: usize = 6;
