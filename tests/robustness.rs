//! No input makes the reader panic, hang or allocate without end: files cut at every byte, and with bytes
//! changed at random. The files are made by `tests/data/robustness/make_files.py`.

use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

use planescope::{
    acquisition::{
        self, AxisOrder, Options,
        contents::contents,
        report::{Report, Request, inspect},
    },
    source::{ByteSource, Bytes},
};
use proptest::prelude::*;

const OLD: &[u8] = include_bytes!("data/robustness/old.h5");
const MASTER: &[u8] = include_bytes!("data/robustness/master.h5");
const NEW: &[u8] = include_bytes!("data/robustness/new.h5");

/// What one report may take, on a slow machine without optimisation.
const PATIENCE: Duration = Duration::from_secs(5);
/// Sets of more bytes are not decoded in other orders of their axes.
const LARGE: u64 = 1 << 24;

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

/// Bytes that remember where frames were read from.
struct Watched {
    bytes: Bytes,
    reads: RefCell<Vec<u64>>,
}

impl ByteSource for Watched {
    fn name(&self) -> &str {
        self.bytes.name()
    }

    fn len_bytes(&self) -> u64 {
        self.bytes.len_bytes()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> planescope::Result<()> {
        self.reads.borrow_mut().push(offset);
        self.bytes.read_at(offset, buffer)
    }
}

#[test]
fn each_chunk_is_decoded_once_and_batches_begin_with_chunks() {
    let bytes = Bytes { name: "new.h5".to_owned(), bytes: NEW.to_vec() };
    let watched = Watched { bytes, reads: RefCell::default() };
    let sources: [&dyn ByteSource; 1] = [&watched];
    let sets = acquisition::read(&sources).expect("the file is sound");
    watched.reads.borrow_mut().clear();
    let decoded = acquisition::decode(&sets[0], &sources, 0..16).expect("bytes in memory can be read");
    assert_eq!((decoded.pixels.len(), decoded.failed.len(), decoded.missing.len()), (16 * 8 * 9 * 2, 0, 0));
    let mut reads = watched.reads.take();
    let count = reads.len();
    reads.sort_unstable();
    reads.dedup();
    // 4 chunks of a frame, 8 halves of frames, 4 of two half frames, 1 of all.
    assert_eq!((reads.len(), count), (17, 17));
    // The tree's chunks hold two frames each, the single chunk four.
    let batches = sets[0].batches(1);
    let lens: Vec<u32> = batches.iter().map(|batch| batch.end - batch.start).collect();
    assert_eq!(lens, [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 4]);
}

#[test]
fn a_mask_that_claims_to_be_large_is_not_read() {
    let mut bytes = OLD.to_vec();
    // Makes its 9 columns 2,490,377.
    bytes[8466] = 38;
    let report = report(&[("old.h5", &bytes)]);
    assert_eq!((report.json["outcome"].as_str(), report.json["masked_pixels"].as_u64()), (Some("ok"), Some(0)));
    assert!(report.text.contains("[8, 2490377]"), "{}", report.text);
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
    let files: Vec<Bytes> =
        files.iter().map(|(name, bytes)| Bytes { name: (*name).to_owned(), bytes: bytes.to_vec() }).collect();
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let started = Instant::now();
    let report = inspect(&sources, Request { has_hashes: true }).expect("bytes in memory can be read");
    contents(&sources);
    for order in ["xyn", "yxcr"] {
        let turned = acquisition::open(&sources, &Options { axes: AxisOrder::of_code(order), ..Options::default() });
        for set in turned.sets.iter().filter(|set| u64::from(set.frames) * (set.frame_bytes() as u64) < LARGE) {
            acquisition::decode(set, &sources, 0..set.frames).expect("bytes in memory can be read");
        }
    }
    assert!(started.elapsed() < PATIENCE, "{:?} for {}", started.elapsed(), report.json);
    report
}
