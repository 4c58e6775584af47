//! The outline of a set against the walk of its whole index, on the set that `cargo xtask test` makes.

#[path = "help/counted.rs"]
mod counted;

use std::{fs, path::Path};

use counted::Counted;
use planescope::{
    acquisition::{Acquisition, FrameChunk, Options, Section, Storage, open, outline},
    plan::{Budget, IRREGULAR, Plan, locate},
    source::{ByteSource, Bytes},
};

const BUDGET: Budget = Budget {
    batch_bytes: 16 << 20,
    first_batch_bytes: 4 << 20,
    batch_frames: 2000,
    slice_bytes: 4 << 20,
    gap_bytes: 16 << 10,
};

/// Bytes before the first entry of a node of the index, and of an entry with the key that leads it.
const HEAD_BYTES: usize = 24;
const ENTRY_BYTES: usize = 48;

#[test]
fn frames_are_located_by_the_outline_where_the_whole_index_says_they_lie() {
    let Some(files) = files() else { return };
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let whole = only(open(&sources, &Options::default()).sets);
    let walked: Vec<usize> = files.iter().map(|file| file.reads.take()).collect();
    let outlined = only(outline(&sources, &Options::default()).sets);
    for (file, walked) in files.iter().zip(walked).filter(|(file, _)| file.name().contains("_data_")) {
        assert!(file.reads.get() <= 4.min(walked), "{} reads of {}, {walked} to walk", file.reads.get(), file.name());
    }
    let (expected, none) = storage(&whole);
    let (chunks, sections) = storage(&outlined);
    assert_eq!((none.len(), chunks.len()), (0, 280), "a small file is walked");
    assert_eq!(sections.iter().map(|section| section.frames).sum::<u32>(), 1000, "large ones are outlined");
    assert_eq!((outlined.readable(), outlined.block_px()), (whole.readable(), whole.block_px()));
    let mut found = chunks.to_vec();
    let mut strays = 0;
    for batch in Plan::new(&[], sections, outlined.scan.shape, BUDGET) {
        for (slice, sections) in batch.slices.iter().zip(&batch.sections) {
            let source = sources[outlined.files[usize::from(slice.file)].picked as usize];
            let leaves: Vec<Vec<u8>> = sections.iter().map(|section| leaf(section, source)).collect();
            let located = locate(slice, sections, &leaves, source.len_bytes()).expect("a regular set");
            strays += located.strays.len();
            found.extend(located.strays);
            found.extend(located.slots.iter().map(|slot| FrameChunk {
                frame: slot.frame,
                file: slice.file,
                len_bytes: slot.len_bytes,
                offset: slice.offset + u64::from(slot.offset - slice.dest),
            }));
        }
    }
    found.sort_by_key(|chunk| chunk.frame);
    assert_eq!(found, expected);
    assert!(strays * 100 <= found.len(), "{strays} of {} patterns had to be read by themselves", found.len());
}

#[test]
fn bytes_to_read_are_those_of_the_patterns_and_of_what_lies_among_them() {
    let Some(files) = files() else { return };
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let outlined = only(outline(&sources, &Options::default()).sets);
    let (chunks, sections) = storage(&outlined);
    let plan = Plan::new(chunks, sections, outlined.scan.shape, BUDGET);
    let told = plan.bytes_per_file(outlined.files.len());
    let wanted = plan.map(|batch| batch.wanted.iter().sum::<u64>()).sum::<u64>();
    assert_eq!(wanted as f64, told.iter().sum::<f64>());
    for (file, told) in outlined.files.iter().zip(told).filter(|(file, _)| file.name.contains("_data_")) {
        let len_bytes = file.len_bytes as f64;
        assert!((0.98 * len_bytes..1.01 * len_bytes).contains(&told), "{told} of {len_bytes} bytes of {}", file.name);
    }
}

#[test]
fn an_index_that_is_damaged_above_its_leaves_is_walked() {
    let Some(mut files) = in_memory() else { return };
    let data = data_file(&mut files);
    let root = nodes(data, 1)[0];
    for (what, place, value) in [("its root", root, b'X'), ("its first leaf's address", root + 64, 0xff)] {
        let sound = std::mem::replace(&mut data_file(&mut files)[place], value);
        let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
        let whole = open(&sources, &Options::default());
        let outlined = outline(&sources, &Options::default());
        let frames = |set: &Acquisition| set.readable().iter().map(|run| run.end - run.start).sum::<u32>();
        let all = |sets: &[Acquisition]| sets.iter().map(frames).collect::<Vec<_>>();
        assert!(all(&whole.sets)[0] < 1280, "{what} was damaged in vain");
        assert_eq!(all(&outlined.sets), all(&whole.sets), "{what}");
        data_file(&mut files)[place] = sound;
    }
}

#[test]
fn a_leaf_that_lacks_a_pattern_asks_for_a_walk() {
    let Some(mut files) = in_memory() else { return };
    let data = data_file(&mut files);
    let entry = nodes(data, 0)[6] + HEAD_BYTES + 7 * ENTRY_BYTES;
    data[entry + 40..entry + 48].fill(0xff);
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let outlined = only(outline(&sources, &Options::default()).sets);
    let irregular = |slice: &planescope::plan::Slice, sections: &[Section]| {
        let source = sources[outlined.files[usize::from(slice.file)].picked as usize];
        let leaves: Vec<Vec<u8>> = sections.iter().map(|section| leaf(section, source)).collect();
        locate(slice, sections, &leaves, source.len_bytes()).err()
    };
    let (chunks, sections) = storage(&outlined);
    let batches: Vec<_> = Plan::new(chunks, sections, outlined.scan.shape, BUDGET).collect();
    let slices = batches.iter().flat_map(|batch| batch.slices.iter().zip(&batch.sections));
    let errors: Vec<_> = slices.filter_map(|(slice, sections)| irregular(slice, sections)).collect();
    assert_eq!(errors.iter().map(|error| &*error.key).collect::<Vec<_>>(), [IRREGULAR]);
    let whole = only(open(&sources, &Options::default()).sets);
    assert_eq!(whole.readable().len(), 2, "one pattern is missing");
}

/// The set's files, `None` (said so) where they were not made.
fn files() -> Option<Vec<Counted>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench/rows");
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "h5"));
    paths.sort();
    if paths.is_empty() {
        eprintln!("skipped: `cargo xtask test native` makes the set");
        return None;
    }
    Some(paths.iter().map(|path| Counted::open(path).expect("a file of the set")).collect())
}

fn in_memory() -> Option<Vec<Bytes>> {
    let read = |file: &Counted| {
        let mut bytes = vec![0; file.len_bytes() as usize];
        file.read_at(0, &mut bytes).expect("a file of the set");
        Bytes { name: file.name().to_owned(), bytes }
    };
    Some(files()?.iter().map(read).collect())
}

fn data_file(files: &mut [Bytes]) -> &mut Vec<u8> {
    &mut files.iter_mut().find(|file| file.name.ends_with("data_000001.h5")).expect("a data file").bytes
}

/// Places of the nodes of this level of all chunk indexes.
fn nodes(bytes: &[u8], level: u8) -> Vec<usize> {
    let head = [b"TREE".as_slice(), &[1, level]].concat();
    bytes.windows(head.len()).enumerate().filter(|(_, window)| *window == head).map(|(place, _)| place).collect()
}

fn leaf(section: &Section, source: &dyn ByteSource) -> Vec<u8> {
    let mut bytes = vec![0; section.leaf.len_bytes as usize];
    source.read_at(section.leaf.offset, &mut bytes).expect("a leaf");
    bytes
}

fn only(sets: Vec<Acquisition>) -> Acquisition {
    let [set] = <[Acquisition; 1]>::try_from(sets).expect("one set");
    set
}

fn storage(set: &Acquisition) -> (&[FrameChunk], &[Section]) {
    let Storage::BitshuffleLz4 { chunks, sections, .. } = &set.storage else { panic!("bitshuffle LZ4") };
    (chunks, sections)
}
