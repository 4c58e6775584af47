//! Numbers as files: 32-bit floating-point TIFF, exact counts, and a picture.

use std::{fs, io, path::Path};

use planescope::{
    display::{Axis, ColourMap, Scale},
    export::{Numbers, npy::npy, png::png, tiff},
};

use crate::product::Picture;

/// Saves a picture as `STEM_NAME...` in `folder`; the names of the files.
///
/// Counts are saved a second time, exactly: as a whole 32-bit TIFF where every position has one that fits, else as
/// NPY (64-bit, NaN where there is no data).
///
/// # Errors
/// When a file cannot be written.
pub fn save(folder: &Path, stem: &str, picture: &Picture, cell: (f64, &'static str)) -> io::Result<Vec<String>> {
    let numbers = Numbers { field: &picture.field, title: &format!("{stem}: {}", picture.title), cell };
    let name = |end: &str| format!("{stem}_{}{end}", picture.name);
    let mut files = Vec::new();
    if picture.is_seen {
        files.push((name(".tif"), tiff::tiff(&numbers)));
        files.push((name(".png"), painted(picture)));
    }
    if picture.field.counts {
        files.push(match tiff::whole(&numbers) {
            Some(whole) => (name("_counts.tif"), whole),
            None => (name("_counts.npy"), npy(&numbers)),
        });
    }
    files.into_iter().map(|(name, bytes)| fs::write(folder.join(&name), bytes).map(|()| name)).collect()
}

fn painted(picture: &Picture) -> Vec<u8> {
    let field = &picture.field;
    let Some(limits) = picture.percentiles.limits(field) else {
        return png(field.rows, field.cols, &vec![0; field.values.len() * 4]);
    };
    let axis = Axis::new(limits, Scale::Linear, 1.0);
    png(field.rows, field.cols, &axis.paint(field, &ColourMap::Grey.lut()))
}
