//! Datasets whose axes stand in every order, against what h5py wrote.
//!
//! The files are made by `tests/data/axes/make_axes.py OUTDIR`; `PLANESCOPE_AXES=OUTDIR` tells where. Without it
//! nothing is compared, and the test says so (`cargo xtask test` makes them).

#[path = "help/counted.rs"]
mod counted;

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use counted::Counted;
use planescope::{
    acquisition::{self, Acquisition, AxesFrom, AxisOrder, Options, Place, Storage, contents, frames},
    source::{ByteSource, Disk},
};
use serde::Deserialize;
use sha2::{Digest, Sha256};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

#[derive(Deserialize)]
struct Case {
    file: String,
    more: Vec<String>,
    path: Option<String>,
    axes: String,
    guess: Option<String>,
    frames: u32,
    rows: u32,
    cols: u32,
    scan: Option<[u32; 2]>,
    chunks: Option<usize>,
    sha256: String,
}

fn folder() -> Option<PathBuf> {
    let folder = env::var_os("PLANESCOPE_AXES").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: PLANESCOPE_AXES is not set");
    }
    folder
}

fn cases(folder: &Path) -> Outcome<Vec<Case>> {
    Ok(serde_json::from_slice(&fs::read(folder.join("cases.json"))?)?)
}

/// The set of a case, read with `options`, and its files.
fn open(folder: &Path, case: &Case, options: &Options) -> Outcome<(Acquisition, Vec<Counted>)> {
    let names = std::iter::once(&case.file).chain(&case.more);
    let files = names.map(|name| Counted::open(&folder.join(name))).collect::<Result<Vec<_>, _>>()?;
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let opened = acquisition::open(&sources, options);
    let refused = || opened.refused.first().map(|refused| refused.error.to_string()).unwrap_or_default();
    let set = opened.sets.first().cloned().ok_or_else(|| format!("{}: {}", case.file, refused()))?;
    Ok((set, files))
}

/// What is wrong with the set as read; nothing when it is what h5py wrote.
fn fault(case: &Case, set: &Acquisition, files: &[Counted]) -> Outcome<Option<String>> {
    let shape = (set.frames, set.detector.rows, set.detector.cols);
    if shape != (case.frames, case.rows, case.cols) {
        return Ok(Some(format!("{shape:?}")));
    }
    if let Some([rows, cols]) = case.scan.filter(|scan| *scan != [set.scan.shape.rows, set.scan.shape.cols]) {
        return Ok(Some(format!("a scan of {:?}, not {rows} x {cols}", set.scan.shape)));
    }
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    files.iter().for_each(|file| file.reads.set(0));
    let decoded = frames::decode(set, &sources, 0..set.frames)?;
    let hash: String = Sha256::digest(&decoded.pixels).iter().map(|byte| format!("{byte:02x}")).collect();
    let reads: usize = files.iter().map(|file| file.reads.get()).sum();
    match case.chunks {
        _ if !decoded.failed.is_empty() || !decoded.missing.is_empty() => Ok(Some("frames without data".into())),
        _ if hash != case.sha256 => Ok(Some("other counts".into())),
        Some(chunks) if chunks != reads => Ok(Some(format!("{chunks} chunks, {reads} reads"))),
        _ => Ok(None),
    }
}

#[test]
fn every_order_of_axes_gives_the_same_patterns_and_reads_each_chunk_once() -> Outcome {
    let Some(folder) = folder() else { return Ok(()) };
    let mut faults = Vec::new();
    let cases = cases(&folder)?;
    for case in &cases {
        let order = AxisOrder::of_code(&case.axes);
        let dataset = case.path.clone().map(|path| Place { file: case.file.clone(), path });
        let chosen = Options { axes: order, dataset, ..Options::default() };
        // A single picture is shown only when it is asked for.
        let found = (case.axes.len() > 2).then(|| Options { axes: order, ..Options::default() });
        for options in found.into_iter().chain([chosen]) {
            let (set, files) = open(&folder, case, &options)?;
            assert_eq!(Some(set.stored.axes.order), order, "{}", case.file);
            assert!(!set.stored.axes.alternatives.contains(&set.stored.axes.order));
            faults.extend(fault(case, &set, &files)?.map(|fault| format!("{}: {fault}", case.file)));
        }
    }
    println!("{} cases", cases.len());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

#[test]
fn known_writers_are_read_in_their_own_order_and_the_guess_is_told() -> Outcome {
    let Some(folder) = folder() else { return Ok(()) };
    for case in cases(&folder)?.iter().filter(|case| case.guess.is_some()) {
        let (set, files) = open(&folder, case, &Options::default())?;
        assert_eq!(Some(set.stored.axes.order.code()), case.guess, "{}", case.file);
        assert_eq!(fault(case, &set, &files)?, None, "{}", case.file);
        assert!(set.notices.iter().any(|notice| notice.key == "axes_guess"), "{}", case.file);
    }
    Ok(())
}

#[test]
fn frames_that_are_one_compressed_chunk_each_stay_so_unless_they_are_turned() -> Outcome {
    let Some(folder) = folder() else { return Ok(()) };
    for case in cases(&folder)?.iter().filter(|case| case.file.ends_with("_frames.h5") && case.axes.len() > 2) {
        let (set, _) = open(&folder, case, &Options { axes: AxisOrder::of_code(&case.axes), ..Options::default() })?;
        let is_upright = case.axes.find('y') < case.axes.find('x');
        assert_eq!(matches!(set.storage, Storage::BitshuffleLz4 { .. }), is_upright, "{}", case.file);
    }
    Ok(())
}

#[test]
fn an_order_for_another_number_of_axes_is_not_taken() -> Outcome {
    let Some(folder) = folder() else { return Ok(()) };
    let cases = cases(&folder)?;
    let case = cases.iter().find(|case| case.file == "nyx_contiguous.h5").ok_or("no such case")?;
    let (set, files) = open(&folder, case, &Options { axes: AxisOrder::of_code("xycr"), ..Options::default() })?;
    assert_eq!((set.stored.axes.from, fault(case, &set, &files)?), (AxesFrom::Usual, None));
    Ok(())
}

#[test]
fn all_datasets_are_listed_with_shape_type_filters_and_fitness() -> Outcome {
    let Some(folder) = folder() else { return Ok(()) };
    let disks = [Disk::open(&folder.join("several.h5"))?, Disk::open(&folder.join("turned_master.h5"))?];
    let sources: Vec<&dyn ByteSource> = disks.iter().map(|disk| disk as &dyn ByteSource).collect();
    let listed = contents::contents(&sources);
    let words: Vec<String> = listed.iter().flat_map(|file| &file.entries).map(line).collect();
    assert_eq!(
        words,
        [
            "0 /big group",
            "1 /big/cube [3, 4, 8, 8] <u2 contiguous [] fits",
            "1 /big/dark [20, 8, 8] <u2 chunks of 5 × 8 × 8 [shuffle, deflate] fits",
            "0 /bzip2 [3, 4, 5] <u2 chunks of 1 × 4 × 5 [bzip2] unsupported_filter:307",
            "0 /five [1, 1, 1, 2, 2] |u1 contiguous [] fits",
            "0 /label [] text contiguous [] no_image_data",
            "0 /names [2] |S4 contiguous [] no_image_data",
            "0 /pairs [4, 4] compound contiguous [] unsupported_dtype:compound",
            "0 /entry group",
            "1 /entry/data group",
            "2 /entry/data 2 links, 0 picked, turned_data_000001.h5",
        ]
        .map(String::from)
    );
    let set = acquisition::read(&sources[..1])?.into_iter().next().ok_or("no set")?;
    assert_eq!((set.dataset.as_str(), set.stored.rivals.as_slice()), ("/big/dark", &["/big/cube".to_owned()][..]));
    Ok(())
}

fn line(entry: &contents::Entry) -> String {
    let what = match &entry.what {
        contents::What::Group => "group".to_owned(),
        contents::What::Links { count, picked, first } => format!("{count} links, {picked} picked, {first}"),
        contents::What::Broken(e) => e.key.to_string(),
        contents::What::Dataset(found) => format!(
            "{:?} {} {} [{}] {}",
            found.dims,
            found.dtype,
            found.layout,
            found.filters.join(", "),
            found.refusal.as_ref().map_or("fits", |e| &e.key)
        ),
    };
    format!("{} {} {what}", entry.depth, entry.path)
}
