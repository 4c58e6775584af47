//! Sets whose master links to data files: DECTRIS' "legacy nxmx" layout.

use super::{
    AxesFrom, AxisChoice, AxisOrder, DataPart, Refused, names,
    search::{Outcome, Picked, told_as_cut_short},
    set::Draft,
    store::Store,
    tiles::{Placement, Tiles},
    words,
};
use crate::{
    Error, Kind,
    hdf5::{Dataset, File, Target},
};

/// The links of a master, in the order of their numbers.
#[derive(Debug, Default)]
pub struct Links(Vec<DataLink>);

#[derive(Debug)]
struct DataLink {
    /// File name as written.
    file: String,
    path: String,
    /// Place among the picked files.
    place: Option<usize>,
}

/// The external links in `/entry/data`; `None` where that is no group.
pub fn links_of(file: &File) -> Option<Links> {
    let group = file.object("/entry/data").ok()??;
    let mut numbered: Vec<(u64, String, DataLink)> = Vec::new();
    for link in file.links(group).ok()?.iter() {
        if let Target::External { file, path } = &link.target {
            let number = names::trailing_number(&link.name).unwrap_or(0);
            numbered.push((
                number,
                link.name.clone(),
                DataLink { file: file.clone(), path: path.clone(), place: None },
            ));
        }
    }
    numbered.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    Some(Links(numbered.into_iter().map(|(_, _, link)| link).collect()))
}

impl Links {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Looks for the linked files among the picked ones; `is_master` are no data files.
    pub fn find(&mut self, picked: &Picked, master: usize, is_master: impl Fn(usize) -> bool) {
        let targets: Vec<&str> = self.0.iter().map(|link| link.file.as_str()).collect();
        let places = names::pick(&targets, &picked.names(is_master), picked.sources[master].name());
        self.0.iter_mut().zip(places).for_each(|(link, place)| link.place = place);
    }

    /// Places of the files that were found.
    pub fn picked(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter_map(|link| link.place)
    }
}

/// A linked dataset that was opened.
pub struct Part {
    pub place: usize,
    pub path: String,
    pub dataset: Dataset,
    /// `image_nr_low` - 1.
    pub first: Option<u64>,
    /// Number of its link, from 0 on.
    pub number: u64,
}

/// Reads the set of `master`.
pub fn read(picked: &Picked, master: usize, links: &Links, sidecar: Option<usize>) -> Outcome {
    let name = picked.sources[master].name();
    let linked = links.0.len() as u32;
    let mut missing = Vec::new();
    let mut notices = Vec::new();
    let mut parts: Vec<Part> = Vec::new();
    for (number, link) in links.0.iter().enumerate() {
        match open_part(picked, link, number as u64) {
            Ok(part) => parts.push(part),
            Err(fault) => {
                missing.push(names::base(&link.file).to_owned());
                notices.extend(fault);
            }
        }
    }
    drop_strangers(picked, &mut parts, &mut missing, &mut notices);
    if parts.is_empty() {
        let error = notices.into_iter().next().unwrap_or_else(|| words::master_alone(name, &missing, linked));
        return Err(Box::new(Refused {
            name: name.to_owned(),
            error,
            files_linked: linked,
            files_missing: missing,
            meaning: None,
        }));
    }
    let mut draft = assemble(picked, master, sidecar, &parts, notices)?;
    draft.files_linked = linked;
    draft.files_missing = missing;
    draft.finish(picked)
}

/// Opens the dataset that `link` means. An error without a reason is a file that was not picked.
fn open_part(picked: &Picked, link: &DataLink, number: u64) -> Result<Part, Option<Error>> {
    let place = link.place.ok_or(None)?;
    let file = picked.metadata(place).ok_or(None)?.file;
    let fault = |e: Error| Some(told_as_cut_short(e, file));
    let address = file.object(&link.path).map_err(fault)?;
    let dataset = address.map(|address| file.dataset(address)).transpose().map_err(fault)?.flatten();
    let nothing = || words::no_image(file.name(), format!("no dataset at {}", link.path));
    let dataset = dataset.ok_or_else(|| Some(nothing()))?;
    if !(3..=4).contains(&dataset.space.dims.len()) {
        return Err(Some(nothing()));
    }
    Ok(Part { place, path: link.path.clone(), first: first_frame(file, &dataset), dataset, number })
}

/// `image_nr_low`, counted from 0.
pub fn first_frame(file: &File, dataset: &Dataset) -> Option<u64> {
    let attributes = file.attributes(dataset.address).ok()?;
    let low = attributes.iter().find(|attribute| attribute.name == "image_nr_low")?.number()?;
    (low >= 1.0 && low <= f64::from(u32::MAX)).then(|| low as u64 - 1)
}

/// Leaves out data of another shape or type than the first.
fn drop_strangers(picked: &Picked, parts: &mut Vec<Part>, missing: &mut Vec<String>, notices: &mut Vec<Error>) {
    let Some(first) = parts.first() else { return };
    let kind = |part: &Part| (part.dataset.space.dims[1..].to_vec(), part.dataset.datatype.clone());
    let expected = kind(first);
    parts.retain(|part| {
        let found = kind(part);
        if found == expected {
            return true;
        }
        let name = picked.sources[part.place].name();
        let words = |(dims, datatype): &(Vec<u64>, crate::hdf5::Datatype)| format!("{dims:?} of {}", datatype.numpy());
        let e = Error::new(Kind::File, "mismatched_source", "A data file does not belong to the others").at(name);
        notices.push(e.expected(words(&expected)).found(words(&found)).action("It is left out"));
        missing.push(name.to_owned());
        false
    });
}

/// Puts the parts together by their frame numbers.
pub fn assemble(
    picked: &Picked,
    master: usize,
    sidecar: Option<usize>,
    parts: &[Part],
    mut notices: Vec<Error>,
) -> Result<Draft, Box<Refused>> {
    let starts = starts(parts, &mut notices, picked.sources[master].name());
    let axes = axes_of_parts(picked, parts);
    let mut tiles = Tiles { columns: 1, ..Tiles::default() };
    let mut frames = 0;
    let mut faults = Vec::new();
    let mut data_parts = Vec::new();
    for (part, start) in parts.iter().zip(starts) {
        let file = picked.sources[part.place].name().to_owned();
        data_parts.push(DataPart { file, path: part.path.clone(), start });
        frames = frames.max(start.saturating_add(part.dataset.space.dims[0]));
        let Some(file) = picked.metadata(part.place) else { continue };
        let refuse =
            |e: Error| Box::new(super::search::refusal(picked.sources[master].name(), told_as_cut_short(e, file.file)));
        let store = Store::with_axes(file.file, &part.dataset, part.place as u16, axes.order.in_store());
        let Some((store, found)) = store.map_err(refuse)? else {
            continue;
        };
        faults.extend(found.into_iter().map(|e| (part.place, e)));
        tiles.placements.push(Placement::whole(tiles.stores.len() as u32, store.dims, start));
        tiles.stores.push(store);
    }
    let (dataset, path) = parts.first().map(|part| (part.dataset.clone(), part.path.clone())).ok_or_else(|| {
        Box::new(super::search::refusal(
            picked.sources[master].name(),
            words::no_image(picked.sources[master].name(), "nothing".to_owned()),
        ))
    })?;
    let path = if path.starts_with('/') { path } else { format!("/{path}") };
    Ok(Draft { frames, faults, notices, axes, parts: data_parts, ..Draft::new(master, sidecar, path, dataset, tiles) })
}

/// Parts follow one another along their first axis, so only the detector's axes can stand in another order.
fn axes_of_parts(picked: &Picked, parts: &[Part]) -> AxisChoice {
    let rank = parts.first().map_or(3, |part| part.dataset.space.dims.len());
    if rank == 4 {
        return AxisChoice { order: AxisOrder::channels(), from: AxesFrom::Channels, alternatives: Vec::new() };
    }
    let orders: Vec<AxisOrder> = ["nyx", "nxy"].into_iter().filter_map(AxisOrder::of_code).collect();
    let usual = orders.first().copied().unwrap_or_default();
    let order = picked.axes.filter(|order| orders.contains(order)).unwrap_or(usual);
    let from = if order == usual { AxesFrom::Usual } else { AxesFrom::Entered };
    AxisChoice { order, from, alternatives: orders.into_iter().filter(|other| *other != order).collect() }
}

/// First frame of each part: by `image_nr_low`; where that is absent or would put two parts in one place,
/// by the numbers of their links.
fn starts(parts: &[Part], notices: &mut Vec<Error>, name: &str) -> Vec<u64> {
    let len = |part: &Part| part.dataset.space.dims[0];
    let told: Option<Vec<u64>> = parts.iter().map(|part| part.first).collect();
    if let Some(told) = told {
        let mut spans: Vec<(u64, u64)> =
            told.iter().zip(parts).map(|(&start, part)| (start, start + len(part))).collect();
        spans.sort_unstable();
        if spans.windows(2).all(|pair| pair[0].1 <= pair[1].0) {
            return told;
        }
        let e = Error::new(Kind::File, "frame_numbers", "The data files number their patterns alike").at(name);
        notices.push(
            e.expected("image_nr_low in steps")
                .found("overlapping numbers")
                .action("They are placed in the order of their links"),
        );
    }
    let per_file = parts.iter().map(len).max().unwrap_or(0);
    parts.iter().map(|part| part.number.saturating_mul(per_file)).collect()
}
