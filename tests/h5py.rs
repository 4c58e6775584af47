//! Files of random shape, chunking, index, filters and element type, written through h5py and read back: every count,
//! every missing frame and every chunk's place are compared. Chunk lists are compared with a second reader as well,
//! those of the fixtures too.
//!
//! The files are made by `tests/data/random/make_files.py`; `PLANESCOPE_PYTHON` is a Python with h5py and hdf5plugin,
//! without it nothing is compared, and the test says so. `PLANESCOPE_SEED` repeats a run.

#[path = "help/made.rs"]
mod made;

use std::{
    env, fs,
    ops::Range,
    path::{Path, PathBuf},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use hdf5_reader::{
    Hdf5File, btree_v1, chunk_index, extensible_array, fixed_array,
    messages::{
        HdfMessage,
        layout::{ChunkIndexing, DataLayout},
    },
};
use planescope::{
    acquisition::{self, Acquisition, AxisOrder, Options},
    hdf5::{self, Dataset, Found, Layout},
    source::{ByteSource, Disk},
};
use serde_json::Value;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Files a run, and how long they may take to make and to read on a slow machine.
const FILES: u32 = 300;
const PATIENCE_S: u64 = 60;

#[test]
fn random_files_are_read_as_they_were_written() -> Outcome {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let seed = env::var("PLANESCOPE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(now);
    println!("PLANESCOPE_SEED={seed}");
    let started = Instant::now();
    let Some(folder) = made::made("random", &[seed.to_string(), FILES.to_string()])? else { return Ok(()) };
    let cases: Value = serde_json::from_slice(&fs::read(folder.join("cases.json"))?)?;
    let mut differences = Vec::new();
    for (name, case) in cases.as_object().ok_or("cases.json holds no object")? {
        let path = folder.join(name).with_extension("h5");
        match compare(&path, case) {
            Ok(found) => differences.extend(found.map(|found| format!("{name}: {found}; {case}"))),
            Err(e) => differences.push(format!("{name}: {e}; {case}")),
        }
    }
    let elapsed = started.elapsed();
    assert!(
        differences.is_empty(),
        "PLANESCOPE_SEED={seed}, {} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(elapsed.as_secs() < PATIENCE_S, "{elapsed:?} for {FILES} files");
    fs::remove_dir_all(&folder)?;
    Ok(())
}

#[test]
fn chunk_lists_of_the_fixtures_are_those_of_a_second_reader() -> Outcome {
    let Some(folder) = env::var_os("PLANESCOPE_FIXTURES").map(PathBuf::from) else {
        eprintln!("skipped: PLANESCOPE_FIXTURES is not set");
        return Ok(());
    };
    let mut compared = 0;
    let mut differences = Vec::new();
    for case in fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()? {
        if !case.path().is_dir() {
            continue;
        }
        for file in fs::read_dir(case.path())?.collect::<Result<Vec<_>, _>>()? {
            let path = file.path();
            let Ok(second) = Hdf5File::open(&path) else { continue };
            let disk = Disk::open(&path)?;
            let Ok(own) = hdf5::File::open(&disk) else { continue };
            for dataset in datasets(&own) {
                // What the second reader refuses (cut files, damaged headers) cannot be compared.
                let Some(expected) = second_list(&second, &own, &dataset) else { continue };
                compared += 1;
                let found = own_list(&own, &dataset)?;
                if found != expected {
                    let (own, other) = (found.len(), expected.len());
                    differences.push(format!(
                        "{}, object at {}: {own} chunks, {other}",
                        path.display(),
                        dataset.address
                    ));
                }
            }
        }
    }
    println!("{compared} chunk lists");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 140, "only {compared} chunk lists could be compared");
    Ok(())
}

/// What differs, in words.
fn compare(path: &Path, case: &Value) -> Outcome<Option<String>> {
    let disk = Disk::open(path)?;
    let sources: [&dyn ByteSource; 1] = [&disk];
    let own = hdf5::File::open(&disk)?;
    let dataset = dataset_at(&own, case["dataset"].as_str().unwrap_or_default())?;
    // Chunks of random shape look like those of other orders of axes.
    let axes = AxisOrder::usual(dataset.space.dims.len());
    let opened = acquisition::open(&sources, &Options { axes, ..Options::default() });
    let written: Vec<u32> = serde_json::from_value(case["written"].clone())?;
    let Some(set) = opened.sets.first() else {
        let told = opened.refused.first().map(|refused| refused.error.to_string());
        return Ok((!written.is_empty()).then(|| format!("refused: {told:?}")));
    };
    Ok(pixels_differ(set, &sources, path, &written, case)?.or(chunks_differ(path, &own, &dataset, case)?))
}

fn pixels_differ(
    set: &Acquisition,
    sources: &[&dyn ByteSource],
    path: &Path,
    written: &[u32],
    case: &Value,
) -> Outcome<Option<String>> {
    let meaning = serde_json::json!({
        "dataset": set.dataset, "frames": set.frames, "detector": [set.detector.rows, set.detector.cols],
        "dtype": set.dtype.name(),
    });
    for (key, found) in meaning.as_object().into_iter().flatten() {
        if case[key] != *found {
            return Ok(Some(format!("{key} {found}")));
        }
    }
    let readable: Vec<u32> = set.readable().into_iter().flat_map(Range::into_iter).collect();
    if readable != written {
        return Ok(Some(format!("{} readable frames", readable.len())));
    }
    let decoded = acquisition::decode(set, sources, 0..set.frames)?;
    if !decoded.failed.is_empty() {
        return Ok(Some(format!("failed: {:?}", decoded.failed)));
    }
    let expected = fs::read(path.with_extension("raw"))?;
    let bytes = set.frame_bytes();
    let found: Vec<u8> =
        written.iter().flat_map(|&frame| &decoded.pixels[frame as usize * bytes..][..bytes]).copied().collect();
    let first = found.iter().zip(&expected).position(|(a, b)| a != b);
    Ok(match (first, found.len() == expected.len()) {
        (None, true) => None,
        (at, _) => Some(format!("{} bytes for {}, first other byte {at:?}", found.len(), expected.len())),
    })
}

/// The library's own list, and that of the second reader.
fn chunks_differ(path: &Path, own: &hdf5::File, dataset: &Dataset, case: &Value) -> Outcome<Option<String>> {
    if !matches!(dataset.layout, Layout::Chunked(_)) {
        return Ok(None);
    }
    if case["shape"].as_array().is_some_and(|shape| shape.len() > 4) {
        // Its place is another one once axes are folded; the pixels were compared.
        return Ok(None);
    }
    let found = own_list(own, dataset)?;
    let expected: Option<Vec<Vec<u64>>> = serde_json::from_value(case["list"].clone())?;
    if let Some(expected) = expected {
        let mut where_found: Vec<&[u64]> = found.iter().map(|chunk| &chunk[chunk.len() - 3..]).collect();
        where_found.sort_unstable();
        if where_found != expected {
            return Ok(Some(format!("{} chunks, {} of the library", found.len(), expected.len())));
        }
    }
    let second = Hdf5File::open(path).ok().and_then(|second| second_list(&second, own, dataset));
    Ok(second.filter(|second| *second != found).map(|second| format!("{} chunks of the second reader", second.len())))
}

/// Place in chunks, offset, length and filter mask of every chunk, sorted.
fn own_list(file: &hdf5::File, dataset: &Dataset) -> Outcome<Vec<Vec<u64>>> {
    let rank = dataset.space.dims.len();
    let list = file.chunks(dataset)?;
    if let Some(fault) = list.faults.first() {
        return Err(fault.to_string().into());
    }
    let line = |chunk: &hdf5::Chunk| {
        let place = chunk.at[..rank].iter().map(|&at| u64::from(at));
        place.chain([chunk.offset, chunk.len_bytes, chunk.filter_mask.into()]).collect()
    };
    let mut lines: Vec<Vec<u64>> = list.chunks.iter().map(line).collect();
    lines.sort_unstable();
    Ok(lines)
}

/// The same by hdf5-reader; `None` where it refuses, or the dataset has no chunks.
fn second_list(second: &Hdf5File, own: &hdf5::File, dataset: &Dataset) -> Option<Vec<Vec<u64>>> {
    let header = second.get_or_parse_header(dataset.address).ok()?;
    let layout = header.messages.iter().find_map(|message| match message {
        HdfMessage::DataLayout(layout) => Some(&layout.layout),
        _ => None,
    })?;
    let DataLayout::Chunked { address, dims, chunk_indexing, .. } = layout else { return None };
    let (storage, sizes) = (second.storage(), second.superblock());
    let (offset, length) = (sizes.offset_size, sizes.length_size);
    let shape = &dataset.space.dims;
    let largest: Vec<u64> = dataset.space.max_dims.iter().map(|dim| dim.unwrap_or(u64::MAX)).collect();
    let bounded: Vec<u64> =
        largest.iter().zip(shape).map(|(&most, &now)| if most == u64::MAX { now } else { most }).collect();
    let rank = shape.len();
    if *address == u64::MAX || dataset.folded.is_some() {
        return None;
    }
    let dims = &dims[..rank.min(dims.len())];
    let plain = dims.iter().map(|&dim| u64::from(dim)).product::<u64>() * u64::from(dataset.datatype.bytes());
    let entries = match chunk_indexing {
        None => {
            let leaves = btree_v1::collect_btree_v1_leaves_storage(
                storage,
                *address,
                offset,
                length,
                Some(rank as u32),
                dims,
                None,
            );
            let entry = |(key, address): (btree_v1::BTreeV1Key, u64)| match key {
                btree_v1::BTreeV1Key::RawData { chunk_size, filter_mask, offsets } => {
                    Some((offsets, address, u64::from(chunk_size), filter_mask))
                }
                btree_v1::BTreeV1Key::Group { .. } => None,
            };
            return Some(lines(own, dataset, leaves.ok()?.into_iter().filter_map(entry), plain));
        }
        Some(ChunkIndexing::SingleChunk { filtered_size, filters }) => {
            Ok(vec![chunk_index::single_chunk_entry(*address, *filtered_size, *filters, rank)])
        }
        Some(ChunkIndexing::BTreeV2) => {
            chunk_index::collect_v2_chunk_entries_storage(storage, *address, offset, length, rank as u32, dims, None)
        }
        Some(ChunkIndexing::Implicit) => chunk_index::collect_implicit_chunk_entries(
            *address,
            &bounded,
            dims,
            dataset.datatype.bytes() as usize,
            None,
            storage.len(),
        ),
        Some(ChunkIndexing::FixedArray { .. }) => fixed_array::collect_fixed_array_chunk_entries_storage(
            storage, *address, offset, length, &bounded, dims, None,
        ),
        Some(ChunkIndexing::ExtensibleArray { .. }) => {
            extensible_array::collect_extensible_array_chunk_entries_storage(
                storage,
                *address,
                offset,
                length,
                shape,
                Some(&largest),
                dims,
                None,
            )
        }
    };
    let entries = entries.ok()?.into_iter().map(|entry| (entry.offsets, entry.address, entry.size, entry.filter_mask));
    Some(lines(own, dataset, entries, plain))
}

/// Entries as [`own_list`] gives them; those outside the present extent are left out.
fn lines(
    own: &hdf5::File,
    dataset: &Dataset,
    entries: impl Iterator<Item = (impl AsRef<[u64]>, u64, u64, u32)>,
    plain_len: u64,
) -> Vec<Vec<u64>> {
    let Layout::Chunked(chunking) = &dataset.layout else { return Vec::new() };
    let shape = &dataset.space.dims;
    let mut lines: Vec<Vec<u64>> = entries
        .filter(|(at, ..)| at.as_ref().iter().zip(shape).all(|(at, dim)| at < dim))
        .map(|(at, address, len, mask)| {
            let place = at.as_ref().iter().zip(&chunking.dims).map(|(at, dim)| at / dim);
            let len = if len == 0 { plain_len } else { len };
            place.chain([address + own.base(), len, mask.into()]).collect()
        })
        .collect();
    lines.sort_unstable();
    lines
}

fn dataset_at(file: &hdf5::File, path: &str) -> Outcome<Dataset> {
    let address = file.object(path)?.ok_or("no such dataset")?;
    Ok(file.dataset(address)?.ok_or("no dataset")?)
}

/// All chunked datasets of a file.
fn datasets(file: &hdf5::File) -> Vec<Dataset> {
    let mut found = Vec::new();
    let mut groups = vec![file.root()];
    let mut seen = std::collections::HashSet::new();
    while let Some(group) = groups.pop().filter(|_| seen.len() < 10_000) {
        if !seen.insert(group) {
            continue;
        }
        for link in file.links(group).iter().flat_map(|links| links.iter()) {
            let Ok(Some(Found::Object(address))) = file.follow(group, link) else { continue };
            match file.dataset(address) {
                Ok(Some(dataset)) if matches!(dataset.layout, Layout::Chunked(_)) => found.push(dataset),
                Ok(None) => groups.push(address),
                _ => {}
            }
        }
    }
    found
}
