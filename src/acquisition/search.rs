//! From picked files to sets: which file is a master, a sidecar, a data file, or stands alone.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{
    Acquisition, AxisOrder, Opened, Refused, Storage, Store,
    linked::{self, Links},
    metadata::is_sidecar,
    names, neighbour, single,
    values::Metadata,
    virtual_set, words,
};
use crate::{
    Error, Kind, Result,
    hdf5::{Dataset, File, Found, Layout},
    source::ByteSource,
};

/// What the user may choose before reading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// Channel of sets [images, channels, y, x]; the last one when there are fewer.
    pub channel: u32,
    /// The dataset to show; `None`: what the files are most likely about.
    pub dataset: Option<Place>,
    /// Which axis of the dataset is which; `None`, or one for another number of axes: as it is guessed.
    pub axes: Option<AxisOrder>,
    /// Name of the set that was chosen among several; [`open`] gives all of them all the same.
    pub set: Option<String>,
}

/// What the user chooses anew, for the same files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another dataset; `None`: what the files are most likely about. Channel and axes are then found anew.
    Dataset(Option<Place>),
    Channel(u32),
    Axes(AxisOrder),
}

impl Options {
    /// The same, but for `change`.
    pub fn with(&self, change: Change) -> Self {
        match change {
            Change::Dataset(dataset) => Self { dataset, ..Self::default() },
            Change::Channel(channel) => Self { channel, ..self.clone() },
            Change::Axes(axes) => Self { axes: Some(axes), ..self.clone() },
        }
    }
}

/// A dataset among the picked files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Base name of the file.
    pub file: String,
    pub path: String,
}

/// The sets in a drop of files, by name; several are a choice for the user. See [`open`].
///
/// # Errors
/// Why nothing can be shown, when no set has a frame that can be read.
pub fn read(sources: &[&dyn ByteSource]) -> Result<Vec<Acquisition>> {
    let opened = open(sources, &Options::default());
    let nothing = || Error::new(Kind::File, "no_image_data", "No file was given");
    match opened.sets.is_empty() {
        true => Err(opened.refused.into_iter().next().map_or_else(nothing, |refused| refused.error)),
        false => Ok(opened.sets),
    }
}

/// Finds the sets in a drop of files. Nothing is decoded but masks and other small datasets.
pub fn open(sources: &[&dyn ByteSource], options: &Options) -> Opened {
    find_sets(sources, options, false)
}

/// The same, where the chunks of large datasets are left to whoever reads them: their storage has sections. What
/// stands in the leaves of their indexes is not checked, so that reading may show that [`open`] is needed.
pub fn outline(sources: &[&dyn ByteSource], options: &Options) -> Opened {
    let opened = find_sets(sources, options, true);
    let is_outlined = |set: &Acquisition| match &set.storage {
        Storage::Decoded(tiles) => tiles.stores.iter().any(Store::is_outlined),
        Storage::BitshuffleLz4 { .. } => false,
    };
    let refused = opened.refused.iter().filter_map(|refused| refused.meaning.as_deref());
    // What is decoded frame by frame needs to know each of them.
    match opened.sets.iter().chain(refused).any(is_outlined) {
        true => open(sources, options),
        false => opened,
    }
}

fn find_sets(sources: &[&dyn ByteSource], options: &Options, is_outlined: bool) -> Opened {
    if sources.len() > usize::from(u16::MAX) {
        let error = Error::new(Kind::Unsupported, "too_large", "Too many files").found(format!("{}", sources.len()));
        return Opened { sets: vec![], refused: vec![refusal("", error)] };
    }
    let files: Vec<Result<File>> = sources.iter().map(|source| File::open(*source)).collect();
    if is_outlined {
        files.iter().flatten().for_each(File::set_outlined);
    }
    let picked = Picked { sources, files: &files, channel: options.channel, axes: options.axes };
    let mut opened = Opened::default();
    for (place, file) in files.iter().enumerate() {
        if let Err(e) = file {
            opened.refused.push(refusal(sources[place].name(), e.clone()));
        }
    }
    let plans = match &options.dataset {
        None => plan(&picked, &mut opened.refused),
        Some(chosen) => match chosen_image(&picked, chosen) {
            Ok(image) => vec![plan_of(image)],
            Err(e) => return Opened { sets: vec![], refused: vec![refusal(&chosen.file, e)] },
        },
    };
    let sidecars: Vec<usize> = picked.all().filter(|(_, file)| is_sidecar(file)).map(|(place, _)| place).collect();
    for plan in &plans {
        let own = names::stem(sources[plan.master()].name());
        let by_name = sidecars.iter().find(|&&place| names::stem(sources[place].name()) == own);
        let sidecar = by_name.or(sidecars.first().filter(|_| sidecars.len() == 1 && plans.len() == 1)).copied();
        let outcome = match plan {
            Plan::Linked { master, links } => linked::read(&picked, *master, links, sidecar),
            Plan::Virtual { image } => virtual_set::read(&picked, image, sidecar),
            Plan::Plain { images } => single::read(&picked, images, sidecar),
        };
        match outcome {
            Ok(set) => opened.sets.push(set),
            Err(refused) => opened.refused.push(*refused),
        }
    }
    opened.sets.sort_by(|a, b| a.name.cmp(&b.name));
    // A file that cannot be opened is told by the set that would need it, if there is one.
    // Of files of other kinds those with patterns come first.
    opened.refused.sort_by_key(|refused| (words::gravity(&refused.error.key), refused.error.kind != Kind::Unsupported));
    opened
}

/// The picked files, as opened.
pub struct Picked<'a> {
    pub sources: &'a [&'a dyn ByteSource],
    pub files: &'a [Result<File<'a>>],
    pub channel: u32,
    pub axes: Option<AxisOrder>,
}

impl<'a> Picked<'a> {
    pub fn metadata(&self, place: usize) -> Option<Metadata<'a>> {
        let file = self.files.get(place)?.as_ref().ok()?;
        Some(Metadata { file, source: self.sources[place] })
    }

    /// The files that are HDF5, with their places.
    fn all(&self) -> impl Iterator<Item = (usize, Metadata<'a>)> + '_ {
        (0..self.files.len()).filter_map(|place| Some((place, self.metadata(place)?)))
    }

    /// Names of the files that are HDF5, with their places, but for `without`.
    pub fn names(&self, without: impl Fn(usize) -> bool) -> Vec<(usize, &'a str)> {
        let places = (0..self.files.len()).filter(|&place| self.files[place].is_ok() && !without(place));
        places.map(|place| (place, self.sources[place].name())).collect()
    }
}

/// An image dataset of a picked file.
pub struct Image {
    pub place: usize,
    pub path: String,
    pub dataset: Dataset,
    /// Paths of other datasets of the file that may be meant as well.
    pub rivals: Vec<String>,
}

enum Plan {
    Linked {
        master: usize,
        links: Links,
    },
    Virtual {
        image: Box<Image>,
    },
    /// Data files without a master; several of one stem are one set.
    Plain {
        images: Vec<Image>,
    },
}

impl Plan {
    fn master(&self) -> usize {
        match self {
            Self::Linked { master, .. } => *master,
            Self::Virtual { image } => image.place,
            Self::Plain { images } => images.first().map_or(0, |image| image.place),
        }
    }
}

fn plan(picked: &Picked, refused: &mut Vec<Refused>) -> Vec<Plan> {
    let mut links: Vec<(usize, Links)> = Vec::new();
    for (place, file) in picked.all() {
        if let Some(found) = linked::links_of(file.file).filter(|found| !found.is_empty()) {
            links.push((place, found));
        }
    }
    // A master whose links lead nowhere may hold the frames itself.
    let masters: HashSet<usize> = links.iter().map(|(place, _)| *place).collect();
    links.retain_mut(|(master, links)| {
        links.find(picked, *master, |place| masters.contains(&place));
        links.picked().next().is_some() || picked.metadata(*master).is_none_or(|master| !holds_frames(&master))
    });
    let masters: HashSet<usize> = links.iter().map(|(place, _)| *place).collect();
    let mut taken = masters.clone();
    links.iter().for_each(|(_, links)| taken.extend(links.picked()));
    let mut plans: Vec<Plan> = links.into_iter().map(|(master, links)| Plan::Linked { master, links }).collect();
    let mut images = Vec::new();
    for (place, file) in picked.all().filter(|(place, _)| !taken.contains(place)).collect::<Vec<_>>() {
        match find_image(file.file, place) {
            Ok(image) => images.push(image),
            Err(_) if is_sidecar(&file) && picked.files.len() > 1 => {}
            Err(e) => {
                let told = Some(&e).filter(|e| e.key == "no_image_data").and_then(|_| neighbour::told(&file));
                refused.push(refusal(file.file.name(), told_as_cut_short(told.unwrap_or(e), file.file)));
            }
        }
    }
    let (virtual_images, plain): (Vec<_>, Vec<_>) =
        images.into_iter().partition(|image| matches!(image.dataset.layout, Layout::Virtual(_)));
    let sources: HashSet<usize> = virtual_images.iter().flat_map(|image| virtual_set::sources(picked, image)).collect();
    plans.extend(virtual_images.into_iter().map(|image| Plan::Virtual { image: Box::new(image) }));
    let mut by_stem: BTreeMap<String, Vec<Image>> = BTreeMap::new();
    for image in plain.into_iter().filter(|image| !sources.contains(&image.place)) {
        let name = picked.sources[image.place].name();
        let key = names::data_suffix(name).map_or_else(|| format!("{} {name}", image.place), |(stem, _)| stem);
        by_stem.entry(key).or_default().push(image);
    }
    plans.extend(by_stem.into_values().map(|images| Plan::Plain { images }));
    plans
}

fn holds_frames(master: &Metadata) -> bool {
    master.dataset(USUAL).is_some_and(|dataset| dataset.space.dims.len() > 1)
}

/// A file that is shorter than it says explains its other faults.
pub fn told_as_cut_short(e: Error, file: &File) -> Error {
    match file.len_announced() {
        Some(len) => words::cut_short(file.name(), len, file.len_bytes(), None),
        None => e,
    }
}

pub fn refusal(name: &str, error: Error) -> Refused {
    Refused { name: name.to_owned(), error, files_linked: 0, files_missing: vec![], meaning: None }
}

/// The dataset that the user chose.
fn chosen_image(picked: &Picked, chosen: &Place) -> Result<Image> {
    let nothing = |found: &str| words::no_image(&format!("{}, {}", chosen.file, chosen.path), found.to_owned());
    let place = picked.sources.iter().position(|source| source.name() == chosen.file);
    let place = place.ok_or_else(|| nothing("no file of that name"))?;
    let file = picked.files[place].as_ref().map_err(Error::clone)?;
    let address = file.object(&chosen.path)?.ok_or_else(|| nothing("nothing of that name in the file"))?;
    let dataset = file.dataset(address)?.ok_or_else(|| nothing("no dataset"))?;
    Ok(Image { place, path: chosen.path.clone(), dataset, rivals: Vec::new() })
}

fn plan_of(image: Image) -> Plan {
    match image.dataset.layout {
        Layout::Virtual(_) => Plan::Virtual { image: Box::new(image) },
        _ => Plan::Plain { images: vec![image] },
    }
}

/// The dataset to show: `/entry/data/data`, else the largest of 3 or 4 axes that is no mask.
fn find_image(file: &File, place: usize) -> Result<Image> {
    let mut fault = None;
    let usual = file.object(USUAL).and_then(|address| address.map(|address| file.dataset(address)).transpose());
    match usual {
        Ok(Some(Some(dataset))) if (2..=4).contains(&dataset.space.dims.len()) => {
            return Ok(Image { place, path: USUAL.to_owned(), dataset, rivals: Vec::new() });
        }
        Ok(_) => {}
        Err(e) => fault = Some(e),
    }
    let mut visit = Visit { file, seen: HashSet::new(), images: Vec::new(), other: None, fault };
    visit.group(file.root(), "", 0);
    // Of equals the first found stays first.
    visit.images.sort_by_key(|(rank, ..)| std::cmp::Reverse(*rank));
    let mut images = visit.images.into_iter();
    if let Some(((is_number, elements), path, dataset)) = images.next() {
        let is_rival = |rank: &(bool, u64)| rank.0 == is_number && rank.1.saturating_mul(RIVAL) >= elements;
        let rivals = images.take_while(|(rank, ..)| is_rival(rank)).map(|(_, path, _)| path).take(MOST_RIVALS);
        return Ok(Image { place, path, dataset, rivals: rivals.collect() });
    }
    let nothing = || words::no_image(file.name(), visit.other.unwrap_or_else(|| "no dataset of that kind".to_owned()));
    Err(visit.fault.unwrap_or_else(nothing))
}

/// A walk over all groups of a file.
struct Visit<'a, 'b> {
    file: &'a File<'b>,
    seen: HashSet<u64>,
    /// Datasets that may be patterns: whether they hold numbers, and how many.
    images: Vec<((bool, u64), String, Dataset)>,
    /// The largest dataset that is no image, in words.
    other: Option<String>,
    fault: Option<Error>,
}

impl Visit<'_, '_> {
    fn group(&mut self, address: u64, path: &str, depth: u32) {
        if depth > DEEPEST || self.seen.len() > MOST_OBJECTS || !self.seen.insert(address) {
            return;
        }
        let links = match self.file.links(address) {
            Ok(links) => links,
            Err(e) => return self.note(e),
        };
        let mut links: Vec<_> = links.iter().collect();
        links.sort_by(|a, b| a.name.cmp(&b.name));
        for link in links {
            if let Ok(Some(Found::Object(child))) = self.file.follow(address, link) {
                self.object(child, &format!("{path}/{}", link.name), depth);
            }
        }
    }

    fn object(&mut self, address: u64, path: &str, depth: u32) {
        match self.file.dataset(address) {
            Ok(None) => self.group(address, path, depth + 1),
            Ok(Some(dataset)) if self.seen.insert(address) => self.consider(path, dataset),
            Ok(Some(_)) => {}
            Err(e) => self.note(e),
        }
    }

    fn consider(&mut self, path: &str, dataset: Dataset) {
        let dims = &dataset.space.dims;
        let elements = dataset.space.elements().unwrap_or(u64::MAX);
        if !(3..=4).contains(&dims.len()) || path.contains("mask") || dataset.space.is_null {
            if dims.len() > 4 {
                self.note(words::scattered_axes(format!("{}, {path}", self.file.name()), dims));
            }
            if dims.len() == 2 && self.other.is_none() {
                self.other = Some(format!("a single image of {} × {} at {path}", dims[0], dims[1]));
            }
            return;
        }
        self.images.push(((dataset.datatype.is_number(), elements), path.to_owned(), dataset));
    }

    fn note(&mut self, e: Error) {
        self.fault.get_or_insert(e);
    }
}

/// Path of the images in DECTRIS' and most NeXus files.
pub const USUAL: &str = "/entry/data/data";
/// A dataset that has at least this part of the largest one's elements may be meant instead of it.
const RIVAL: u64 = 16;
const MOST_RIVALS: usize = 64;
const DEEPEST: u32 = 32;
const MOST_OBJECTS: usize = 100_000;

/// The outcome of reading one set.
pub type Outcome = std::result::Result<Acquisition, Box<Refused>>;
