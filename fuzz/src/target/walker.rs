//! HDF5 files: as the walker sees them, and as a set.

use std::collections::BTreeSet;

use planescope::{
    Error,
    acquisition::{
        self, AxisOrder, Opened, Options,
        contents::contents,
        report::{Request, inspect},
    },
    hdf5::{Dataset, File, Found},
    source::{ByteSource, Bytes},
};

/// Every object that links lead to, with its attributes and, of datasets, every chunk.
pub fn walk(input: &[u8]) -> String {
    let source = Bytes { name: "fuzz.h5".to_owned(), bytes: input.to_vec() };
    let file = match File::open(&source) {
        Ok(file) => file,
        Err(error) => return refused(&error),
    };
    file.set_outlined();
    let mut outcome = "accepted".to_owned();
    let mut waiting = vec![file.root()];
    let mut known = BTreeSet::new();
    while let Some(address) = waiting.pop() {
        if known.len() >= MOST_OBJECTS || !known.insert(address) {
            continue;
        }
        if let Err(error) = object(&file, address, &mut waiting) {
            outcome = refused(&error);
        }
    }
    outcome
}

fn object(file: &File, address: u64, waiting: &mut Vec<u64>) -> planescope::Result<()> {
    for attribute in file.attributes(address)? {
        attribute.number();
        attribute.texts(file);
    }
    if let Some(dataset) = file.dataset(address)? {
        return chunks(file, &dataset);
    }
    for link in file.links(address)?.iter() {
        if let Some(Found::Object(to)) = file.follow(address, link)? {
            waiting.push(to);
        }
    }
    Ok(())
}

fn chunks(file: &File, dataset: &Dataset) -> planescope::Result<()> {
    let found = file.chunks(dataset)?;
    assert!(found.chunks.is_sorted_by(|a, b| a.at < b.at), "chunks in order, one per place");
    found.faults.iter().for_each(|fault| drop(refused(fault)));
    if let Some(outline) = file.outline(dataset)? {
        for leaf in &outline.leaves {
            let mut bytes = vec![0; leaf.len_bytes as usize];
            // A leaf that is not one is an error of its own.
            let _ = file_bytes(file, leaf.offset, &mut bytes).and_then(|()| leaf.chunks(&bytes));
        }
    }
    Ok(())
}

fn file_bytes(file: &File, offset: u64, buffer: &mut [u8]) -> planescope::Result<()> {
    file.source().read_at(offset, buffer)
}

/// A master, beside a data file that is sound: sets, what is said of them, and their first frames; and, by turns, one of
/// the other ways to look at files.
pub fn mean(input: &[u8]) -> String {
    const SOUND: &[u8] = include_bytes!("../../../tests/data/robustness/old.h5");
    let files = [("fuzz_master.h5", input), ("old.h5", SOUND)]
        .map(|(name, bytes)| Bytes { name: name.to_owned(), bytes: bytes.to_vec() });
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let opened = acquisition::open(&sources, &Options::default());
    let outcome = look(&opened, &sources);
    // An inspection decodes all frames: what it takes is only hostile where these are few bytes.
    let decoded_bytes = opened
        .sets
        .iter()
        .map(|set| (set.frames as usize).saturating_mul(set.frame_bytes()))
        .fold(0, usize::saturating_add);
    match input.iter().fold(input.len(), |sum, &byte| sum.wrapping_add(byte.into())) % 4 {
        0 if decoded_bytes <= 4 * LARGEST_FRAME => {
            let report = inspect(&sources[..1], Request::default()).expect("bytes in memory can be read");
            assert!(!report.text.is_empty() && report.json["message"].is_string(), "an answer in words");
        }
        1 => drop(contents(&sources)),
        2 => {
            let axes = AxisOrder::of_code("xyn");
            drop(look(&acquisition::open(&sources, &Options { axes, ..Options::default() }), &sources));
        }
        _ => drop(acquisition::outline(&sources, &Options::default())),
    }
    outcome
}

/// Says what was opened, and decodes the first frames; "accepted", or the key of the first error.
fn look(opened: &Opened, sources: &[&dyn ByteSource]) -> String {
    for set in &opened.sets {
        set.notices.iter().for_each(|notice| drop(refused(notice)));
        acquisition::summary(set);
        if set.frame_bytes() <= LARGEST_FRAME {
            let frames = 0..set.frames.min(4);
            let decoded = acquisition::decode(set, sources, frames.clone()).expect("bytes in memory can be read");
            assert_eq!(decoded.pixels.len(), frames.len() * set.frame_bytes(), "every frame has its place");
        }
    }
    let errors: Vec<String> = opened.refused.iter().map(|file| refused(&file.error)).collect();
    errors.into_iter().next().unwrap_or_else(|| "accepted".to_owned())
}

/// The key of an error, whose words name what and where.
pub fn refused(error: &Error) -> String {
    assert!(!error.what.is_empty() && !error.key.is_empty() && error.to_string().len() > error.what.len(), "{error:?}");
    error.key.to_string()
}

/// Objects of one file that are looked at.
const MOST_OBJECTS: usize = 64;
const LARGEST_FRAME: usize = 1 << 20;
