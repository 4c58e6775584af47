//! No input makes the reader panic, hang or allocate without end: files cut at every byte, and with bytes
//! changed at random. The files are made by `tests/data/robustness/make_files.py`.

use std::time::{Duration, Instant};

use planescope::{
    acquisition::report::{Report, Request, inspect},
    source::{ByteSource, Bytes},
};
use proptest::prelude::*;

const OLD: &[u8] = include_bytes!("data/robustness/old.h5");
const MASTER: &[u8] = include_bytes!("data/robustness/master.h5");
const NEW: &[u8] = include_bytes!("data/robustness/new.h5");

/// What one report may take, on a slow machine without optimisation.
const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn the_files_are_read_when_they_are_whole() {
    let old = report(&[("old.h5", OLD)]);
    assert_eq!((old.json["outcome"].as_str(), old.json["shape"].to_string()), (Some("ok"), "[4,8,9]".to_owned()));
    assert_eq!((old.json["masked_pixels"].as_u64(), old.json["scan_from"].as_str()), (Some(8), Some("sidecar")));
    let linked = report(&[("master.h5", MASTER), ("old.h5", OLD)]);
    assert_eq!((linked.json["files_linked"].as_u64(), linked.json["frames_readable"].as_u64()), (Some(10), Some(40)));
    let new = report(&[("new.h5", NEW)]);
    assert_eq!((new.json["outcome"].as_str(), new.json["frames_readable"].as_u64()), (Some("ok"), Some(16)));
    // Four times the numbers 0 .. 287.
    assert_eq!(new.json["sum_good"].as_u64(), Some(4 * 287 * 288 / 2));
}

#[test]
fn every_truncation_ends_in_words() {
    for (name, bytes) in [("old.h5", OLD), ("new.h5", NEW), ("master.h5", MASTER)] {
        for len in 0..bytes.len() {
            let report = report(&[(name, &bytes[..len])]);
            assert!(!report.json["error"].is_null(), "{name} cut to {len} bytes: {}", report.json);
            assert!(report.text.len() > 20, "{name} cut to {len} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_end_in_words_or_in_frames(
        which in 0..3_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let name = ["old.h5", "new.h5", "master.h5"][which];
        let mut bytes = [OLD, NEW, MASTER][which].to_vec();
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let report = report(&[(name, &bytes), ("old.h5", OLD)]);
        prop_assert!(!report.text.is_empty());
    }
}

fn report(files: &[(&str, &[u8])]) -> Report {
    let files: Vec<Bytes> = files.iter().map(|(name, bytes)| Bytes { name: (*name).to_owned(), bytes: bytes.to_vec() }).collect();
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let started = Instant::now();
    let report = inspect(&sources, Request { has_hashes: true }).expect("bytes in memory can be read");
    assert!(started.elapsed() < PATIENCE, "{:?} for {}", started.elapsed(), report.json);
    report
}
