//! Sets without links: one dataset in one file, or data files without their master.

use super::{
    axis_guess,
    linked::{self, Part},
    search::{Image, Outcome, Picked, refusal, told_as_cut_short},
    set::{Draft, channel_names},
    store::Store,
    tiles::{Placement, Tiles},
    words,
};
use crate::shape::Scan;

/// Reads the set of `images`, which are files of one stem.
pub fn read(picked: &Picked, images: &[Image], sidecar: Option<usize>) -> Outcome {
    let Some(first) = images.first() else {
        return Err(Box::new(refusal("", words::no_image("", "nothing".to_owned()))));
    };
    if images.len() == 1 {
        return read_one(picked, first, sidecar);
    }
    let mut parts: Vec<Part> = Vec::new();
    for image in images.iter().filter(|image| image.dataset.space.dims.len() == first.dataset.space.dims.len()) {
        let is_alike = image.dataset.space.dims[1..] == first.dataset.space.dims[1..]
            && image.dataset.datatype == first.dataset.datatype;
        let Some(file) = picked.metadata(image.place).filter(|_| is_alike && image.dataset.space.dims.len() > 2) else {
            continue;
        };
        let number = super::names::data_suffix(file.file.name())
            .and_then(|(_, suffix)| super::names::trailing_number(suffix.trim_end_matches(".h5")));
        let number = number.unwrap_or(0);
        let first = linked::first_frame(file.file, &image.dataset);
        parts.push(Part {
            place: image.place,
            path: image.path.clone(),
            dataset: image.dataset.clone(),
            first,
            number,
        });
    }
    if parts.len() < 2 {
        return read_one(picked, first, sidecar);
    }
    parts.sort_by_key(|part| part.number);
    // Without a master nothing tells what came before the first file.
    let lowest = |of: &dyn Fn(&Part) -> Option<u64>| parts.iter().filter_map(of).min().unwrap_or(0);
    let (first, number) = (lowest(&|part| part.first), lowest(&|part| Some(part.number)));
    for part in &mut parts {
        part.first = part.first.map(|own| own - first);
        part.number -= number;
    }
    let master = parts[0].place;
    linked::assemble(picked, master, sidecar, &parts, Vec::new())?.finish(picked)
}

fn read_one(picked: &Picked, image: &Image, sidecar: Option<usize>) -> Outcome {
    let name = picked.sources[image.place].name();
    let refuse = |e| Box::new(refusal(name, e));
    let Some(file) = picked.metadata(image.place) else {
        return Err(refuse(words::no_image(name, "nothing".to_owned())));
    };
    let no_image = |found: String| words::no_image(&format!("{name}, {}", image.path), found);
    let rank = image.dataset.space.dims.len();
    let Some(axes) = axis_guess::choose(picked, &file, &image.path, &image.dataset) else {
        return Err(refuse(no_image(format!("a dataset of {rank} axes"))));
    };
    let order = axes.order;
    let store = Store::with_axes(file.file, &image.dataset, image.place as u16, order.in_store())
        .map_err(|e| refuse(told_as_cut_short(e, file.file)))?;
    let Some((store, faults)) = store else {
        return Err(refuse(no_image("a virtual dataset inside another".to_owned())));
    };
    let dims = store.dims;
    let channels = if order.has_channels() { channel_names(&file, &image.path, &image.dataset) } else { Vec::new() };
    let is_scan = order.has_scan();
    let columns = if is_scan { dims[1] } else { 1 };
    let tiles =
        Tiles { columns, placements: vec![Placement::whole(0, dims, 0)], stores: vec![store], ..Tiles::default() };
    let faults = faults.into_iter().map(|e| (image.place, e)).collect();
    let stored_scan = is_scan
        .then(|| Some(Scan { rows: u32::try_from(dims[0]).ok()?, cols: u32::try_from(dims[1]).ok()? }))
        .flatten();
    let frames = dims[0].saturating_mul(columns);
    let draft = Draft {
        frames,
        faults,
        stored_scan,
        channels,
        axes,
        rivals: image.rivals.clone(),
        ..Draft::new(image.place, sidecar, image.path.clone(), image.dataset.clone(), tiles)
    };
    draft.finish(picked)
}
