//! Files that are cut short, at every byte of their metadata.

use std::{collections::BTreeSet, path::PathBuf, time::Instant};

use anyhow::Result;
use planescope::{
    acquisition::{
        Storage,
        report::{Request, inspect},
    },
    source::{ByteSource, Bytes},
};
use serde::Serialize;

use crate::{
    corpus::{files, name_of},
    judge::{self, Limits, judge},
};

/// What came of all cuts.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub files: usize,
    pub cuts: u64,
    pub seconds: f64,
    pub slowest_ms: f64,
    pub peak_bytes: usize,
    /// Keys of the errors that were met.
    pub errors: BTreeSet<String>,
    /// What was wrong, in words.
    pub wrong: Vec<String>,
}

/// Cuts every HDF5 file of at most `longest` bytes in `folders` at each byte of its metadata: in words, soon and in
/// little memory.
///
/// # Errors
/// Where a file cannot be read.
pub fn run(folders: &[PathBuf], longest: u64) -> Result<Report> {
    judge::listen();
    let mut report = Report::default();
    let mut known = BTreeSet::new();
    let start = Instant::now();
    for folder in folders {
        for path in files(folder, longest)? {
            let bytes = std::fs::read(&path)?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_hdf5 = bytes.starts_with(b"\x89HDF\r\n\x1a\n") || name.ends_with(".h5");
            if is_hdf5 && known.insert(name_of(&bytes)) {
                cut(&name, &bytes, &mut report);
            }
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// One file. A file of which nothing can be shown when it is whole must say so at every length as well.
pub fn cut(name: &str, bytes: &[u8], report: &mut Report) {
    let mut is_data = vec![false; bytes.len()];
    for range in data(name, bytes) {
        is_data.get_mut(range).into_iter().for_each(|part| part.fill(true));
    }
    report.files += 1;
    for len in (0..bytes.len()).filter(|&len| !is_data[len]) {
        let verdict = judge(Limits::default(), len, || told(name, &bytes[..len]));
        report.cuts += 1;
        report.slowest_ms = report.slowest_ms.max(verdict.time.as_secs_f64() * 1e3);
        report.peak_bytes = report.peak_bytes.max(verdict.peak_bytes);
        if let Some(words) = verdict.wrong {
            report.wrong.push(format!("{name} cut to {len} bytes: {words}"));
        }
        report.errors.insert(verdict.outcome);
    }
}

fn told(name: &str, bytes: &[u8]) -> String {
    let file = Bytes { name: name.to_owned(), bytes: bytes.to_vec() };
    let report = inspect(&[&file as &dyn ByteSource], Request::default()).expect("bytes in memory can be read");
    let error = report.json["error"].as_str();
    assert!(error.is_some() && report.text.len() > 20, "nothing is said: {}", report.json);
    error.unwrap_or_default().to_owned()
}

/// Where the frames of the file lie: cuts there lose frames, and are no matter of the walker.
fn data(name: &str, bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let file = Bytes { name: name.to_owned(), bytes: bytes.to_vec() };
    let opened = planescope::acquisition::open(&[&file as &dyn ByteSource], &Default::default());
    let of = |offset: u64, len: u64| offset as usize + 1..(offset.saturating_add(len) as usize).min(bytes.len());
    let mut ranges = Vec::new();
    for set in &opened.sets {
        if let Storage::BitshuffleLz4 { chunks, .. } = &set.storage {
            ranges.extend(chunks.iter().map(|chunk| of(chunk.offset, chunk.len_bytes.into())));
        }
    }
    ranges
}
