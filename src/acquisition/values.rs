//! Small datasets by path: numbers, texts and masks of the metadata.

use super::store::Store;
use crate::{
    hdf5::{Attribute, Dataset, File},
    source::ByteSource,
};

/// A file with the source it is read from.
#[derive(Clone, Copy)]
pub struct Metadata<'a> {
    pub file: &'a File<'a>,
    pub source: &'a dyn ByteSource,
}

impl Metadata<'_> {
    /// The dataset at `path`, when there is one in this file.
    pub fn dataset(&self, path: &str) -> Option<Dataset> {
        self.file.object(path).ok().flatten().and_then(|address| self.file.dataset(address).ok().flatten())
    }

    /// Description and elements (little-endian numbers) of the small dataset at `path`.
    pub fn elements(&self, path: &str) -> Option<(Dataset, Vec<u8>)> {
        let dataset = self.dataset(path)?;
        let (store, _) = Store::of(self.file, &dataset, 0).ok().flatten()?;
        let elements = store.decode_all(self.source, dataset.fill.as_deref())?;
        Some((dataset, elements))
    }

    /// The first number at `path`.
    pub fn number(&self, path: &str) -> Option<f64> {
        let (dataset, elements) = self.small(path)?;
        dataset.datatype.little_endian().numbers(&elements).first().copied().filter(|value| value.is_finite())
    }

    /// The first number at `path`, when it is a count.
    pub fn count(&self, path: &str) -> Option<u64> {
        self.number(path)
            .filter(|&value| (0.0..COUNTS).contains(&value) && value.fract() == 0.0)
            .map(|value| value as u64)
    }

    /// The texts at `path`.
    pub fn texts(&self, path: &str) -> Vec<String> {
        self.small(path).map(|(dataset, elements)| dataset.datatype.texts(self.file, &elements)).unwrap_or_default()
    }

    /// The first text at `path`, if it is not empty.
    pub fn text(&self, path: &str) -> Option<String> {
        self.texts(path).into_iter().next().filter(|text| !text.is_empty())
    }

    /// The numbers at `path`, in order.
    pub fn numbers(&self, path: &str) -> Vec<f64> {
        self.small(path)
            .map(|(dataset, elements)| dataset.datatype.little_endian().numbers(&elements))
            .unwrap_or_default()
    }

    /// The numbers of an attribute of the object at `path`.
    pub fn attribute_numbers(&self, path: &str, name: &str) -> Vec<f64> {
        self.attribute(path, name).map(|attribute| attribute.datatype.numbers(&attribute.data)).unwrap_or_default()
    }

    /// The texts of an attribute of the object at `path`.
    pub fn attribute_texts(&self, path: &str, name: &str) -> Vec<String> {
        self.attribute(path, name).map(|attribute| attribute.texts(self.file)).unwrap_or_default()
    }

    /// The numbers of the dataset `name` in the group at `path`, or of its attribute of that name.
    pub fn numbers_or_attribute(&self, path: &str, name: &str) -> Vec<f64> {
        let numbers = self.numbers(&format!("{path}/{name}"));
        if numbers.is_empty() { self.attribute_numbers(path, name) } else { numbers }
    }

    /// The texts of the dataset `name` in the group at `path`, or of its attribute of that name.
    pub fn texts_or_attribute(&self, path: &str, name: &str) -> Vec<String> {
        let texts = self.texts(&format!("{path}/{name}"));
        if texts.is_empty() { self.attribute_texts(path, name) } else { texts }
    }

    fn attribute(&self, path: &str, name: &str) -> Option<Attribute> {
        let address = if path.is_empty() { self.file.root() } else { self.file.object(path).ok()?? };
        self.file.attributes(address).ok()?.into_iter().find(|attribute| attribute.name == name)
    }

    fn small(&self, path: &str) -> Option<(Dataset, Vec<u8>)> {
        let dataset = self.dataset(path)?;
        dataset.space.elements().filter(|&elements| elements <= MOST_VALUES)?;
        self.elements(path)
    }
}

/// Numbers up to here are exact as f64.
const COUNTS: f64 = (1_u64 << 53) as f64;
/// What has more elements is no list of values.
const MOST_VALUES: u64 = 4096;
