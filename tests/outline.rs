//! The outline of a set against the walk of its whole index, on the sets that `cargo xtask test` makes.

use std::{cell::Cell, fs, ops::Range, path::Path};

use planescope::{
    Result,
    acquisition::{Acquisition, FrameChunk, Options, Storage, open, outline},
    plan::{Budget, Plan, locate},
    source::{ByteSource, Disk},
};

/// A file that counts its reads.
struct Counted {
    disk: Disk,
    reads: Cell<u32>,
    places: Cell<u32>,
}

impl ByteSource for Counted {
    fn name(&self) -> &str {
        self.disk.name()
    }

    fn len_bytes(&self) -> u64 {
        self.disk.len_bytes()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.reads.set(self.reads.get() + 1);
        self.disk.read_at(offset, buffer)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        self.reads.set(self.reads.get() + 1);
        self.places.set(self.places.get() + ranges.len() as u32);
        self.disk.read_many(ranges)
    }
}

fn files_of(folder: &str) -> Vec<Counted> {
    let folder = match std::env::var_os("PLANESCOPE_OUTLINE") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench").join(folder),
    };
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "h5"));
    paths.sort();
    let file = |path: &std::path::PathBuf| Disk::open(path).expect("a file of the set");
    paths.iter().map(|path| Counted { disk: file(path), reads: Cell::new(0), places: Cell::new(0) }).collect()
}

fn only(sets: Vec<Acquisition>) -> Acquisition {
    let [set] = <[Acquisition; 1]>::try_from(sets).expect("one set");
    set
}

#[test]
fn frames_are_located_by_the_outline_where_the_whole_index_says_they_lie() {
    let files = files_of("rows");
    if files.is_empty() {
        return eprintln!("skipped: `cargo xtask test native` makes the set");
    }
    let sources: Vec<&dyn ByteSource> = files.iter().map(|file| file as &dyn ByteSource).collect();
    let whole = only(open(&sources, &Options::default()).sets);
    files.iter().for_each(|file| file.reads.set(0));
    files.iter().for_each(|file| file.places.set(0));
    let outlined = only(outline(&sources, &Options::default()).sets);
    let (reads, places): (Vec<u32>, Vec<u32>) = files.iter().map(|file| (file.reads.get(), file.places.get())).unzip();
    println!("reads of each file {reads:?}, places in them {places:?}");
    assert!(reads.iter().zip(&places).all(|(reads, &places)| places == 0 || *reads <= 8), "{reads:?}");
    let Storage::BitshuffleLz4 { chunks: expected, .. } = &whole.storage else { panic!("bitshuffle LZ4") };
    let Storage::BitshuffleLz4 { sections, chunks, .. } = &outlined.storage else { panic!("bitshuffle LZ4") };
    assert!(sections.len() > 32 && chunks.len() < expected.len() / 2, "a small file is walked, large ones are not");
    assert_eq!((outlined.readable(), outlined.block_px()), (whole.readable(), whole.block_px()));
    let budget = Budget {
        batch_bytes: 16 << 20,
        first_batch_bytes: 4 << 20,
        batch_frames: 2000,
        slice_bytes: 4 << 20,
        gap_bytes: 16 << 10,
    };
    let mut found: Vec<FrameChunk> = chunks.clone();
    let mut strays = 0;
    for batch in Plan::new(&[], sections, outlined.scan.shape, budget) {
        for (slice, sections) in batch.slices.iter().zip(&batch.sections) {
            let source = sources[outlined.files[usize::from(slice.file)].picked as usize];
            let leaves = sections.iter().map(|section| {
                let mut bytes = vec![0; section.leaf.len_bytes as usize];
                source.read_at(section.leaf.offset, &mut bytes).expect("a leaf");
                bytes
            });
            let leaves: Vec<Vec<u8>> = leaves.collect();
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
    assert_eq!(&found, expected);
    assert!(strays * 100 <= found.len(), "{strays} of {} patterns had to be read by themselves", found.len());
}
