//! Which order of axes a dataset most likely has: who wrote it, and how its chunks lie.

use super::{
    AxesFrom, AxisChoice, AxisOrder,
    search::{Picked, USUAL},
    set::channel_names,
    values::Metadata,
};
use crate::hdf5::{Dataset, Layout};

/// The order that the user chose, or the one that is most likely, with the others; `None` for a dataset of fewer
/// than 2 or more than 4 axes.
pub fn choose(picked: &Picked, file: &Metadata, path: &str, dataset: &Dataset) -> Option<AxisChoice> {
    let rank = dataset.space.dims.len();
    let (likely, why) = match likely(file, path, dataset) {
        Some(found) => found,
        None => (AxisOrder::usual(rank)?, AxesFrom::Usual),
    };
    let chosen = picked.axes.filter(|order| order.rank() == rank && *order != likely);
    let (order, from) = chosen.map_or((likely, why), |order| (order, AxesFrom::Entered));
    let others = AxisOrder::all(rank).into_iter().filter(|other| *other != likely);
    let alternatives = std::iter::once(likely).chain(others).filter(|other| *other != order).collect();
    Some(AxisChoice { order, from, alternatives })
}

fn likely(file: &Metadata, path: &str, dataset: &Dataset) -> Option<(AxisOrder, AxesFrom)> {
    let dims = dataset.space.dims.as_slice();
    let told = |code: &str, from| AxisOrder::of_code(code).map(|order| (order, from));
    if !channel_names(file, path, dataset).is_empty() {
        return Some((AxisOrder::channels(), AxesFrom::Channels));
    }
    if is_matlab(file, dataset) {
        return told(matlab(dims, &whole_axes(dataset))?, AxesFrom::Matlab);
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match (dims.len(), parts.as_slice()) {
        // <https://prism-em.com/docs-outputs/>: probe positions and angles, x before y.
        (4, ["4DSTEM_simulation", ..]) => return told("crxy", AxesFrom::Prismatic),
        // Thermo Fisher's Velox stores stacks of images with the image number last.
        (3, ["Data", "Image", _, "Data"]) => return told("yxn", AxesFrom::Velox),
        _ => {}
    }
    match *whole_axes(dataset) {
        _ if path == USUAL => None,
        [true, true, false] => told("yxn", AxesFrom::Chunks),
        [true, true, false, false] => told("yxrc", AxesFrom::Chunks),
        _ => None,
    }
}

/// MATLAB marks every array of a v7.3 file.
fn is_matlab(file: &Metadata, dataset: &Dataset) -> bool {
    let attributes = file.file.attributes(dataset.address).unwrap_or_default();
    attributes.iter().any(|attribute| attribute.name == "MATLAB_class")
}

/// MATLAB's first axis is the fastest, so its arrays are stored back to front. Which axes are the detector's is told
/// by the chunks, else by which sides are equal.
fn matlab(dims: &[u64], whole: &[bool]) -> Option<&'static str> {
    let is_square = |a: usize, b: usize| dims.get(a).is_some() && dims.get(a) == dims.get(b);
    match (dims.len(), whole) {
        (2, _) => Some("xy"),
        (3, [true, true, false]) => Some("xyn"),
        (3, [false, true, true]) => Some("nxy"),
        (3, _) if is_square(0, 1) && !is_square(1, 2) => Some("xyn"),
        (3, _) => Some("nxy"),
        (4, [true, true, false, false]) => Some("xycr"),
        (4, [false, false, true, true]) => Some("crxy"),
        (4, _) if is_square(2, 3) && !is_square(0, 1) => Some("crxy"),
        (4, _) => Some("xycr"),
        _ => None,
    }
}

/// Along which axes a chunk is as long as the dataset, where it is one element long along all others.
fn whole_axes(dataset: &Dataset) -> Vec<bool> {
    let Layout::Chunked(chunking) = &dataset.layout else { return Vec::new() };
    let sides: Vec<(u64, u64)> = chunking.dims.iter().copied().zip(dataset.space.dims.iter().copied()).collect();
    match sides.iter().all(|&(chunk, dim)| chunk == dim || chunk == 1) {
        true => sides.iter().map(|&(chunk, dim)| chunk == dim && dim > 1).collect(),
        false => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matlab_arrays_are_read_back_to_front() {
        assert_eq!(matlab(&[64, 64, 10, 12], &[]), Some("xycr"));
        assert_eq!(matlab(&[10, 12, 64, 64], &[]), Some("crxy"));
        assert_eq!(matlab(&[16, 16, 16, 16], &[false, false, true, true]), Some("crxy"));
        assert_eq!(matlab(&[64, 64, 100], &[]), Some("xyn"));
        assert_eq!(matlab(&[100, 64, 64], &[]), Some("nxy"));
    }
}
