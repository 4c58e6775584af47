//! What the master and the sidecar tell of detector, mask, scales and circumstances.
//!
//! Field names are those of NXmx (<https://manual.nexusformat.org/classes/applications/NXmx.html>) and of
//! DECTRIS' file writer (<https://github.com/dectris/documentation>).

use super::{
    BadPixels, Calibration, Fact,
    scan::{ScanHints, shape_of},
    values::Metadata,
};
use crate::{
    Error, Kind,
    hdf5::Target,
    shape::{Detector, Scan},
};

/// `nimages` and `ntrigger` of the master.
pub fn announced(master: &Metadata) -> ScanHints {
    let count = |name: &str| master.count(&format!("{SPECIFIC}/{name}"));
    ScanHints { nimages: count("nimages"), ntrigger: count("ntrigger"), ..Default::default() }
}

/// All masks of the detector, OR-ed; for a set of channels only those of `channel`. A mask of another shape
/// is told, not used.
pub fn bad_pixels(master: &Metadata, detector: Detector, channel: Option<&str>, notices: &mut Vec<Error>) -> BadPixels {
    let mut found = BadPixels::default();
    let mut from = Vec::new();
    for path in mask_paths(master, channel) {
        let Some(dataset) = master.dataset(&path) else { continue };
        let dims = &dataset.space.dims;
        let pixels = detector.pixels() as usize;
        let is_frame =
            dims.len() >= 2 && dims[dims.len() - 2..] == [u64::from(detector.rows), u64::from(detector.cols)];
        // One of another shape is not read: it may claim any size.
        let elements = if is_frame { master.elements(&path) } else { None };
        if is_frame && elements.is_none() {
            continue;
        }
        let values = elements.map(|(_, bytes)| dataset.datatype.little_endian().integers(&bytes)).unwrap_or_default();
        if !is_frame || values.is_empty() || pixels == 0 {
            notices.push(
                Error::new(Kind::File, "mask_shape", "A pixel mask does not fit the detector")
                    .at(format!("{}, {path}", master.file.name()))
                    .expected(format!("{} × {} integers", detector.rows, detector.cols))
                    .found(format!("{dims:?} of {}", dataset.datatype.numpy()))
                    .action("It is not used"),
            );
            continue;
        }
        found.mask.resize(pixels, 0);
        for frame in values.chunks_exact(pixels) {
            found.mask.iter_mut().zip(frame).for_each(|(mask, value)| *mask |= *value as u32);
        }
        from.push(path.trim_start_matches("/entry/instrument/").trim_start_matches("detector/").to_owned());
    }
    found.from = (!from.is_empty()).then(|| from.join(", "));
    found
}

/// Masks stand in the detector, in its vendor's part, or in each channel; further ones are `pixel_mask_N`.
fn mask_paths(master: &Metadata, channel: Option<&str>) -> Vec<String> {
    let mut groups = vec![DETECTOR.to_owned(), SPECIFIC.to_owned()];
    let channels = channel_groups(master);
    let own = channel.map(|channel| format!("{channel}{CHANNEL}")).filter(|own| channels.contains(own));
    groups.extend(
        channels
            .into_iter()
            .filter(|name| own.is_none() || own.as_ref() == Some(name))
            .map(|name| format!("{DETECTOR}/{name}")),
    );
    let is_mask = |name: &&str| {
        name.strip_prefix("pixel_mask")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_') && rest != "_applied")
    };
    let mut paths = Vec::new();
    for group in groups {
        let links = master.file.object(&group).ok().flatten().and_then(|address| master.file.links(address).ok());
        let links = links.iter().flat_map(|links| links.iter());
        let mut names: Vec<&str> = links.map(|link| link.name.as_str()).filter(is_mask).collect();
        names.sort_unstable();
        paths.extend(names.into_iter().take(MOST_MASKS).map(|name| format!("{group}/{name}")));
    }
    paths
}

/// Groups such as `threshold_1_channel` of the detector, by name.
pub fn channel_groups(master: &Metadata) -> Vec<String> {
    let links = master.file.object(DETECTOR).ok().flatten().and_then(|address| master.file.links(address).ok());
    let links =
        links.iter().flat_map(|links| links.iter()).filter(|link| !matches!(link.target, Target::External { .. }));
    let mut names: Vec<String> = links.map(|link| link.name.clone()).filter(|name| name.ends_with(CHANNEL)).collect();
    names.sort_unstable();
    names
}

/// The first of the places that hold it; the count rate cut-off is the last count that is *not* saturated.
pub fn saturation(master: &Metadata, channel: Option<&str>) -> Option<u64> {
    let own = channel.map(|channel| format!("{DETECTOR}/{channel}{CHANNEL}/saturation_value"));
    let places =
        own.into_iter().chain([format!("{DETECTOR}/saturation_value"), format!("{SPECIFIC}/saturation_value")]);
    let told = places.filter_map(|path| master.count(&path)).next();
    let cutoff = || {
        let places = [SPECIFIC.to_owned(), format!("{SPECIFIC}/detectorModule_000")];
        places
            .iter()
            .find_map(|group| master.count(&format!("{group}/countrate_correction_count_cutoff")))
            .map(|cutoff| cutoff + 1)
    };
    told.or_else(cutoff).filter(|&value| value > 0)
}

/// Scan shape of a sidecar.
pub fn sidecar_scan(sidecar: &Metadata) -> Option<Scan> {
    let side = |name| sidecar_number(sidecar, name).filter(|&side| side >= 1.0 && side.fract() == 0.0);
    shape_of(side("NumPixelsY")? as u64, side("NumPixelsX")? as u64)
}

/// True when the file holds what a microscope's software tells of a scan.
pub fn is_sidecar(file: &Metadata) -> bool {
    file.file.object(SIDECAR).ok().flatten().is_some()
}

fn sidecar_number(sidecar: &Metadata, name: &str) -> Option<f64> {
    let address = sidecar.file.object(SIDECAR).ok()??;
    let attributes = sidecar.file.attributes(address).ok()?;
    attributes.iter().find(|attribute| attribute.name == name)?.number().filter(|value| value.is_finite())
}

/// Scales of sidecar and master. The camera length is nominal, and so is the angle that follows from it.
pub fn calibration(master: &Metadata, sidecar: Option<&Metadata>) -> Calibration {
    let positive = |value: Option<f64>| value.filter(|&value| value > 0.0 && value.is_finite());
    let told = |name| positive(sidecar.and_then(|sidecar| sidecar_number(sidecar, name)));
    let pixel_m = positive(master.number(&format!("{DETECTOR}/x_pixel_size")));
    let angle = told("Camera Length").zip(pixel_m).map(|(length_m, pixel_m)| 1e3 * pixel_m / length_m);
    let energies = [format!("{SPECIFIC}/photon_energy"), "/entry/instrument/beam/incident_energy".to_owned()];
    let energy = || energies.iter().find_map(|path| positive(master.number(path)));
    Calibration {
        scan_step_nm: told("Pixel Size"),
        detector_mrad_per_px: positive(angle),
        detector_is_nominal: angle.is_some(),
        energy_ev: told("High Tension").or_else(energy),
        tilt_deg: tilt(master),
    }
}

/// The goniometer's angle of a DECTRIS master, degrees: of its scan's start, else of the first pattern.
fn tilt(master: &Metadata) -> Option<f64> {
    let angle = |name: &str| master.number(&format!("{GONIOMETER}/{name}"));
    angle("omega_start").or_else(|| angle("omega"))
}

/// Lines of the information panel.
pub fn facts(master: &Metadata) -> Vec<Fact> {
    let text = |name: &str, path: String| master.text(&path).map(|value| Fact { name: name.to_owned(), value });
    let seconds = |name: &str, path: String| {
        master
            .number(&path)
            .filter(|&value| value > 0.0)
            .map(|value| Fact { name: name.to_owned(), value: format!("{} ms", value * 1e3) })
    };
    let detector = |name: &str| format!("{DETECTOR}/{name}");
    let specific = |name: &str| format!("{SPECIFIC}/{name}");
    let pixel = master.number(&detector("x_pixel_size")).filter(|&size| size > 0.0);
    [
        text("Detector", detector("description")),
        text("Serial number", detector("detector_number")),
        text("Sensor", detector("sensor_material")),
        text("Firmware", specific("eiger_fw_version")),
        text("Software", specific("software_version")),
        text("Trigger mode", specific("trigger_mode")),
        text("Compression", specific("compression")),
        seconds("Exposure", detector("count_time")),
        seconds("Frame time", detector("frame_time")),
        pixel.map(|size| Fact {
            name: "Detector pixel".to_owned(),
            value: format!("{} µm", (size * 1e9).round() / 1e3),
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// ARINA frames written before release 2024.1 are mirrored (DECTRIS' release notes).
pub fn mirrored(facts: &[Fact]) -> Option<Error> {
    let value = |name: &str| facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str());
    let firmware =
        value("Firmware").filter(|_| value("Detector").is_some_and(|detector| detector.contains("ARINA")))?;
    let (year, minor) = firmware.trim_start_matches("release-").split_once('.')?;
    let minor: String = minor.chars().take_while(char::is_ascii_digit).collect();
    let is_old = (year.parse::<u32>().ok()?, minor.parse::<u32>().ok()?) < (2024, 1);
    is_old.then(|| {
        Error::new(Kind::File, "mirrored_firmware", "Patterns of this firmware are mirrored")
            .at(format!("firmware {firmware}"))
            .expected("release-2024.1 or later")
            .action("Flip the patterns if orientation matters")
    })
}

pub const DETECTOR: &str = "/entry/instrument/detector";
const SPECIFIC: &str = "/entry/instrument/detector/detectorSpecific";
const GONIOMETER: &str = "/entry/sample/goniometer";
const SIDECAR: &str = "/STEM Metadata";
const CHANNEL: &str = "_channel";
const MOST_MASKS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_firmware_of_an_arina_mirrors() {
        let facts = |detector: &str, firmware: &str| {
            [("Detector", detector), ("Firmware", firmware)]
                .map(|(name, value)| Fact { name: name.into(), value: value.into() })
        };
        assert!(mirrored(&facts("Dectris ARINA Si", "release-2023.1.2")).is_some());
        assert!(mirrored(&facts("Dectris ARINA Si", "release-2024.1")).is_none());
        assert!(mirrored(&facts("Dectris EIGER2", "release-2022.1")).is_none());
    }
}
