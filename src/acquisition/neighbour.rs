//! HDF5 files that are no set of patterns, but lie beside one or are made from one.

use super::{
    metadata::{DETECTOR, is_sidecar},
    values::Metadata,
};
use crate::{Error, Kind};

/// What a file without a dataset of patterns is, where it can be told.
pub fn told(file: &Metadata) -> Option<Error> {
    let has = |path: &str| file.file.object(path).ok().flatten().is_some();
    let name = file.file.name();
    if has("/electron_events/frames") || has("/electron_events/scan_positions") {
        let e = Error::new(Kind::Unsupported, "unsupported_sparse", "Lists of electron events cannot be read").at(name);
        return Some(e.expected("whole patterns").found("a counted set of a 4D Camera (stempy)").action(
            "Make a dense set of it, in Python with stempy: SparseArray.from_hdf5(...), then write its array with h5py",
        ));
    }
    let nothing = |found: &str, action: &str| {
        let e = Error::new(Kind::File, "no_image_data", "Not a 4D-STEM set").at(name);
        Some(e.expected("a dataset of patterns").found(found).action(action))
    };
    if is_sidecar(file) {
        return nothing("the microscope's sidecar of a set", "Open it together with the master and its data files");
    }
    if has("/Data/Image") || has("/Data/SpectrumStream") || has("/Data/SpectrumImage") {
        return nothing("a Velox file without a series of patterns", "Open a file with diffraction patterns");
    }
    if has(DETECTOR) {
        let action = "Wait until the detector has written its data files, and open them together with it";
        return nothing("a master that links to no data", action);
    }
    let is_emd = has("/4DSTEM_experiment") || !file.attribute_texts("", "emd_group_type").is_empty();
    if is_emd || !file.attribute_numbers("", "emd_group_type").is_empty() {
        return nothing("an EMD file without a datacube: results of an analysis", "Open the file with the datacube");
    }
    None
}
