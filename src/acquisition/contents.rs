//! What is in the picked files: every group and dataset, with shape, type and filters, and why a dataset cannot be
//! shown.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{AxisOrder, names, set::sizes, words};
use crate::{
    Error, Kind, Result, filter,
    hdf5::{Dataset, File, Found, Layout, Target},
    source::ByteSource,
};

/// One picked file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contents {
    pub file: String,
    pub len_bytes: u64,
    /// Why nothing in it can be listed.
    pub error: Option<Error>,
    /// In the order of a tree that is open: each group before what it holds.
    pub entries: Vec<Entry>,
    /// The list ends here, though the file holds more.
    pub is_cut_off: bool,
}

/// A group, a dataset or links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// From the root of its file on.
    pub path: String,
    /// 0 for what lies in the root group.
    pub depth: u32,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum What {
    Group,
    Dataset(Described),
    /// Links of a group into other files: how many, and how many of these files were picked.
    Links {
        count: u32,
        picked: u32,
        /// Base name of the first linked file.
        first: String,
    },
    /// It cannot be read.
    Broken(Error),
}

/// A dataset as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Described {
    pub dims: Vec<u64>,
    /// numpy's short name of the element type.
    pub dtype: String,
    /// "contiguous", "chunks of 1 × 192 × 192", "virtual, 3 parts".
    pub layout: String,
    /// Names of its filters, in the order of writing.
    pub filters: Vec<String>,
    /// Why it cannot be shown as patterns; `None` when it can.
    pub refusal: Option<Error>,
}

/// Lists the files in the order given. Nothing is decoded.
pub fn contents(sources: &[&dyn ByteSource]) -> Vec<Contents> {
    let names: HashSet<String> = sources.iter().map(|source| names::folded(source.name())).collect();
    let one = |source: &&dyn ByteSource| {
        let empty = Contents {
            file: source.name().to_owned(),
            len_bytes: source.len_bytes(),
            error: None,
            entries: vec![],
            is_cut_off: false,
        };
        match File::open(*source) {
            Err(e) => Contents { error: Some(e), ..empty },
            Ok(file) => {
                let mut list = List { file: &file, picked: &names, seen: HashSet::new(), entries: Vec::new() };
                let error = list.group(file.root(), "", 0).err();
                let is_cut_off = list.entries.len() >= MOST_ENTRIES;
                Contents { error, entries: list.entries, is_cut_off, ..empty }
            }
        }
    };
    sources.iter().map(one).collect()
}

/// Why `dataset` cannot be shown as patterns, in whatever order of its axes.
///
/// # Errors
/// What was found, and what is read.
pub fn check(place: &str, dataset: &Dataset) -> Result<()> {
    let dims = &dataset.space.dims;
    let Some(order) = AxisOrder::usual(dims.len()) else {
        let found = format!("{} {}", dims.len(), if dims.len() == 1 { "axis" } else { "axes" });
        return Err(Error::new(Kind::File, "no_image_data", "Not patterns")
            .at(place)
            .expected("2 to 4 axes, or chunks that follow one another")
            .found(found));
    };
    if dataset.datatype.pixel().is_none() {
        return Err(words::unsupported_dtype(place.to_owned(), &dataset.datatype.numpy()));
    }
    if dataset.space.elements() == Some(0) {
        return Err(Error::new(Kind::File, "no_image_data", "No elements").at(place).found(words::sides(dims)));
    }
    let sides = order.spread(dims);
    if sizes(sides, sides[0].saturating_mul(sides[1])).is_none() {
        return Err(words::too_large(place.to_owned(), dims));
    }
    filter::check(&dataset.filters)
}

/// A walk over one file.
struct List<'a, 'b> {
    file: &'a File<'b>,
    /// Names of all picked files, folded.
    picked: &'a HashSet<String>,
    seen: HashSet<u64>,
    entries: Vec<Entry>,
}

impl List<'_, '_> {
    fn group(&mut self, address: u64, path: &str, depth: u32) -> Result<()> {
        if depth > DEEPEST || !self.seen.insert(address) {
            return Ok(());
        }
        let links = self.file.links(address)?;
        let mut links: Vec<_> = links.iter().collect();
        links.sort_by(|a, b| a.name.cmp(&b.name));
        let outside: Vec<&str> = links
            .iter()
            .filter_map(|link| match &link.target {
                Target::External { file, .. } => Some(names::base(file)),
                _ => None,
            })
            .collect();
        if let Some(first) = outside.first() {
            let picked = outside.iter().filter(|name| self.picked.contains(&names::folded(name))).count() as u32;
            let what = What::Links { count: outside.len() as u32, picked, first: (*first).to_owned() };
            self.add(path, depth, what);
        }
        for link in links {
            if self.entries.len() >= MOST_ENTRIES {
                break;
            }
            if let Ok(Some(Found::Object(child))) = self.file.follow(address, link) {
                self.object(child, &format!("{path}/{}", link.name), depth);
            }
        }
        Ok(())
    }

    fn object(&mut self, address: u64, path: &str, depth: u32) {
        if self.seen.contains(&address) {
            return;
        }
        match self.file.dataset(address) {
            Ok(Some(dataset)) => {
                self.seen.insert(address);
                let described = self.describe(path, &dataset);
                self.add(path, depth, What::Dataset(described));
            }
            Ok(None) => {
                let at = self.entries.len();
                self.add(path, depth, What::Group);
                if let (Err(e), Some(entry)) = (self.group(address, path, depth + 1), self.entries.get_mut(at)) {
                    entry.what = What::Broken(e);
                }
            }
            Err(e) => {
                self.seen.insert(address);
                self.add(path, depth, What::Broken(e));
            }
        }
    }

    fn add(&mut self, path: &str, depth: u32, what: What) {
        self.entries.push(Entry { path: path.to_owned(), depth, what });
    }

    fn describe(&self, path: &str, dataset: &Dataset) -> Described {
        Described {
            dims: dataset.stored_dims().to_vec(),
            dtype: dataset.datatype.numpy(),
            layout: match &dataset.layout {
                Layout::Contiguous { .. } => "contiguous".to_owned(),
                Layout::Chunked(chunking) => format!("chunks of {}", words::sides(&chunking.dims)),
                Layout::Virtual(parts) => format!("virtual, {}", words::counted(parts.len() as u64, "part")),
            },
            filters: dataset.filters.iter().map(filter::name).collect(),
            refusal: check(&format!("{}, {path}", self.file.name()), dataset).err(),
        }
    }
}

const DEEPEST: u32 = 32;
/// A list that is longer helps nobody to choose.
const MOST_ENTRIES: usize = 5_000;
