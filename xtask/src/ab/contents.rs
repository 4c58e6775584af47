//! What a probe's buffers hold, and the files that the page then asks for.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use planescope::{
    ab::{Clause, Void, experiment},
    acquisition::{self, Options, Storage},
    cpu::{frame_headers, frame_headers::ChunkLayout, lz4},
    shape::FrameLayout,
    source::{ByteSource, Disk},
};
use serde::{Deserialize, Serialize};

/// Words of a buffer, as a probe says it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Contents {
    /// Zero.
    Zero {
        words: u64,
    },
    Words {
        values: Vec<u32>,
    },
    Random {
        random: u64,
        seed: u32,
    },
    /// A file beside the probe, `repeat` times over.
    File {
        file: PathBuf,
        #[serde(default = "once")]
        repeat: u64,
    },
    /// Of the bitshuffle-LZ4 chunks of an HDF5 file beside the probe, all of them `repeat` times over.
    Chunks {
        chunks: PathBuf,
        part: Part,
        #[serde(default = "once")]
        repeat: u64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The chunks as they are stored, one after another.
    Bytes,
    /// First byte and bytes of each LZ4 block among them, two words a block.
    Blocks,
    /// What the blocks decode to: bit planes, by the CPU.
    Planes,
    /// The pixels: two 16-bit ones a word, by the CPU.
    Pixels,
}

fn once() -> u64 {
    1
}

impl Contents {
    pub fn has_chunks(&self) -> bool {
        matches!(self, Self::Chunks { .. })
    }
}

/// Files made for the page, in a folder of their own.
pub struct Assets {
    folder: PathBuf,
    /// By what is in them: name and bytes.
    made: BTreeMap<Contents, (String, u64)>,
    /// Chunks of a file that are taken, and once only: for small versions.
    most_chunks: Option<usize>,
}

impl Assets {
    /// Into `folder`, which is made.
    pub fn new(folder: PathBuf) -> Result<Self> {
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self { folder, made: BTreeMap::new(), most_chunks: None })
    }

    /// Takes only the first chunks of a file, once.
    pub fn with_most_chunks(self, count: usize) -> Self {
        Self { most_chunks: Some(count), ..self }
    }

    /// Where they lie.
    pub fn files(&self) -> Vec<PathBuf> {
        self.made.values().map(|(name, _)| self.folder.join(name)).collect()
    }

    /// Makes the file of `contents`, where it needs one; `address` of what it is called.
    ///
    /// # Errors
    /// [`Void`] where a probe's own content is not there.
    pub fn contents(&mut self, contents: &Contents, beside: &Path) -> Result<experiment::Contents> {
        let (bytes, repeat) = match contents {
            Contents::Zero { words } => return Ok(experiment::Contents::Zero { words: *words }),
            Contents::Words { values } => return Ok(experiment::Contents::Words { values: values.clone() }),
            Contents::Random { random, seed } => {
                return Ok(experiment::Contents::Random { random: *random, seed: *seed });
            }
            Contents::File { file, repeat } => match std::fs::read(beside.join(file)) {
                Ok(bytes) => (bytes, *repeat),
                // The page asks for it in vain, and has to say so.
                Err(_) => {
                    let url = file.display().to_string();
                    return Ok(experiment::Contents::File { url, bytes: 4, repeat: *repeat });
                }
            },
            Contents::Chunks { chunks, part, repeat } => {
                let path = beside.join(chunks);
                let missing = || Void::new(Clause::Content, format!("{} is not there", path.display()));
                path.is_file().then_some(()).ok_or_else(missing)?;
                let seed = Seed::read(&path, self.most_chunks).with_context(|| path.display().to_string())?;
                let repeat = if self.most_chunks.is_some() { 1 } else { *repeat };
                match part {
                    Part::Bytes => (seed.bytes, repeat),
                    // Addresses go on, so the table holds them all.
                    Part::Blocks => (seed.table(repeat), 1),
                    Part::Planes => (seed.planes()?, repeat),
                    Part::Pixels => (seed.pixels()?, repeat),
                }
            }
        };
        let count = self.made.len();
        let len = bytes.len() as u64;
        let (name, _) = self.made.entry(contents.clone()).or_insert((format!("content-{count}.bin"), len));
        let path = self.folder.join(&name);
        std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        Ok(experiment::Contents::File { url: name.clone(), bytes: len, repeat })
    }
}

/// The chunks of an acquisition of 16-bit frames.
struct Seed {
    layout: ChunkLayout,
    frame: FrameLayout,
    /// Each chunk from a multiple of 16 on, with 16 zero bytes behind the last.
    bytes: Vec<u8>,
    /// First byte and bytes.
    blocks: Vec<[u32; 2]>,
}

impl Seed {
    fn read(path: &Path, most: Option<usize>) -> Result<Self> {
        let disk = Disk::open(path)?;
        let mut opened = acquisition::open(&[&disk], &Options::default());
        let set = if opened.sets.is_empty() { bail!("no frames") } else { opened.sets.remove(0) };
        let Storage::BitshuffleLz4 { block_px, chunks, .. } = &set.storage else {
            bail!("its chunks are not bitshuffle LZ4")
        };
        let frame = FrameLayout { detector: set.detector, dtype: set.dtype, block_px: *block_px };
        let layout = ChunkLayout::of(&frame);
        let (mut bytes, mut blocks) = (Vec::new(), Vec::new());
        for chunk in chunks.iter().take(most.unwrap_or(usize::MAX)) {
            let mut stored = vec![0; chunk.len_bytes as usize];
            disk.read_at(chunk.offset, &mut stored)?;
            let parts = frame_headers::walk(&layout, &stored)
                .map_err(|(fault, block)| anyhow::anyhow!("frame {}, block {block}: {fault:?}", chunk.frame))?;
            let first = bytes.len();
            blocks.extend(parts.blocks.iter().map(|block| [(first + block.start) as u32, block.len() as u32]));
            bytes.extend(stored);
            bytes.resize(bytes.len().next_multiple_of(16), 0);
        }
        bytes.resize(bytes.len() + 16, 0);
        Ok(Self { layout, frame, bytes, blocks })
    }

    /// The table for `repeat` copies of the bytes, one behind another.
    fn table(&self, repeat: u64) -> Vec<u8> {
        let copies = (0..repeat as u32).map(|copy| copy * self.bytes.len() as u32);
        let words = copies.flat_map(|first| self.blocks.iter().flat_map(move |[at, len]| [at + first, *len]));
        words.flat_map(u32::to_le_bytes).collect()
    }

    fn planes(&self) -> Result<Vec<u8>> {
        let per_frame = self.layout.lz4_blocks as usize;
        let mut planes = Vec::new();
        for (i, &[at, len]) in self.blocks.iter().enumerate() {
            let mut block = vec![0; self.layout.bytes_of((i % per_frame) as u32) as usize];
            let input = self.bytes.get(at as usize..(at + len) as usize).context("a block lies outside")?;
            lz4::decode(input, &mut block).map_err(|fault| anyhow::anyhow!("block {i}: {fault:?}"))?;
            planes.extend(block);
        }
        Ok(planes)
    }

    fn pixels(&self) -> Result<Vec<u8>> {
        let planes = self.planes()?;
        let pixel_bytes = self.frame.dtype.bytes() as usize;
        let block_bytes = self.layout.block_bytes as usize;
        if self.layout.tail_bytes > 0 || self.layout.last_bytes != self.layout.block_bytes {
            bail!("its frames are not whole blocks")
        }
        let mut pixels = vec![0; planes.len()];
        for (block, out) in planes.chunks_exact(block_bytes).zip(pixels.chunks_exact_mut(block_bytes)) {
            planescope::filter::unshuffle(block, pixel_bytes, out);
        }
        Ok(pixels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed() -> Seed {
        Seed::read(&crate::paths::root().join("tests/data/bench/seed_frames.h5"), None).expect("the seed file is there")
    }

    #[test]
    fn the_seed_file_gives_chunks_tables_planes_and_pixels_that_belong_together() {
        let seed = seed();
        assert_eq!((seed.blocks.len(), seed.bytes.len() % 16), (256 * 9, 0));
        let table = seed.table(2);
        let last = table.last_chunk::<8>().expect("a table");
        let first_byte = u32::from_le_bytes([last[0], last[1], last[2], last[3]]) as usize;
        assert_eq!(first_byte - seed.bytes.len(), seed.blocks[256 * 9 - 1][0] as usize);
        let (planes, pixels) = (seed.planes().expect("planes"), seed.pixels().expect("pixels"));
        assert_eq!((planes.len(), pixels.len()), (256 * 9 * 8192, 256 * 9 * 8192));
        // Plane 0 of the first block holds the lowest bits of its pixels.
        let lowest = |pixel: usize| pixels[2 * pixel] & 1;
        assert!((0..4096).all(|pixel| planes[pixel / 8] >> (pixel % 8) & 1 == lowest(pixel)));
    }

    #[test]
    fn missing_chunks_void_the_run_and_a_missing_file_is_left_to_the_page() {
        let folder = crate::paths::target().join("ab-test-assets");
        let mut assets = Assets::new(folder).expect("a folder");
        let chunks = Contents::Chunks { chunks: "nowhere.h5".into(), part: Part::Bytes, repeat: 1 };
        let error = assets.contents(&chunks, Path::new("/")).expect_err("there is no such file");
        assert_eq!(error.downcast_ref::<Void>().map(|void| void.clause), Some(Clause::Content), "{error}");
        let file = Contents::File { file: "nowhere.bin".into(), repeat: 1 };
        let asked = assets.contents(&file, Path::new("/")).expect("the page is asked");
        assert_eq!(asked, experiment::Contents::File { url: "nowhere.bin".into(), bytes: 4, repeat: 1 });
        assert!(assets.files().is_empty(), "nothing is served in its place");
    }
}
