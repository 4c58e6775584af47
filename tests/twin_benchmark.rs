//! The distinct frames of the benchmark (`tests/data/bench`, written by the reference filter): every number of
//! their table, through the file, the decoders and both engines.

use std::{collections::BTreeMap, error::Error, path::Path, rc::Rc};

use planescope::{
    acquisition::{self, Acquisition, Storage, frames},
    cpu,
    engine::{Engine, Frames, PixelSet, Slot},
    gpu::{self, Context, Decoder, Method, PADDING_BYTES},
    products::{DetectorShape, find_disc},
    shape::FrameLayout,
    source::{ByteSource, Disk},
};
use serde::Deserialize;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Frames that are decoded on the GPU of a test: a software one.
const FRAMES_ON_GPU: u32 = 24;

#[derive(Deserialize)]
struct Table {
    detectors: BTreeMap<String, Ring>,
    frames: Columns,
}

#[derive(Deserialize)]
struct Ring {
    centre: [f64; 2],
    inner: f64,
    outer: f64,
}

#[derive(Deserialize)]
struct Columns {
    sum: Vec<u64>,
    sum_row: Vec<u64>,
    sum_col: Vec<u64>,
    bf: Vec<u64>,
    adf: Vec<u64>,
    max_raw: Vec<u32>,
    weighted64: Vec<String>,
}

#[test]
fn the_cpu_engine_gives_every_number_of_the_benchmarks_table() -> Outcome {
    pollster::block_on(async {
        let (set, disk) = seed_frames()?;
        let engine = cpu::Engine::new(layout(&set), set.frames, Box::new(|| Box::pin(async {})))?;
        let decoded = frames::decode(&set, &[&disk], 0..set.frames)?;
        let all: Vec<u32> = (0..set.frames).collect();
        engine.add_pixels(&all, &vec![0; all.len()], &decoded.pixels).await?;
        compare(&Engine::Cpu(engine), set.frames).await
    })
}

#[test]
fn the_gpu_decodes_chunks_of_the_reference_filter_to_the_benchmarks_table() -> Outcome {
    pollster::block_on(async {
        let (set, disk) = seed_frames()?;
        let Storage::BitshuffleLz4 { chunks, .. } = &set.storage else { return Err("not bitshuffle LZ4".into()) };
        let (mut bytes, mut slots) = (Vec::new(), Vec::new());
        for chunk in chunks.iter().take(FRAMES_ON_GPU as usize) {
            slots.push(Slot { frame: chunk.frame, offset: bytes.len() as u32, len_bytes: chunk.len_bytes });
            bytes.resize(bytes.len() + chunk.len_bytes as usize, 0);
            let start = slots.last().map_or(0, |slot| slot.offset as usize);
            disk.read_at(chunk.offset, &mut bytes[start..])?;
        }
        bytes.resize((bytes.len() + PADDING_BYTES as usize).next_multiple_of(4), 0);
        let context = Rc::new(Context::new().await?);
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
        let compressed = context.storage_of("test.compressed", &words)?;
        let decoder = Decoder::new(&context, layout(&set), FRAMES_ON_GPU, Method::default()).await?;
        let decoded = decoder.decode(&context, &compressed, &slots).await?;
        let engine = gpu::Engine::new(context, layout(&set), FRAMES_ON_GPU).await?;
        let frames: Vec<u32> = slots.iter().map(|slot| slot.frame).collect();
        engine.add(&decoded, &frames, &decoded.status(&slots))?;
        compare(&Engine::Gpu(engine), FRAMES_ON_GPU).await
    })
}

/// The first `frames` rows of the table against the engine.
async fn compare(engine: &Engine, frames: u32) -> Outcome {
    let table: Table = serde_json::from_slice(&std::fs::read(bench("seed_frames.expected.json"))?)?;
    let (columns, detector) = (&table.frames, engine.layout().detector);
    let rows = frames as usize;
    for (name, expected) in [("bf", &columns.bf), ("adf", &columns.adf)] {
        let Ring { centre, inner, outer } = table.detectors[name];
        let pixels = DetectorShape::Annulus { centre, inner, outer }.pixels(detector);
        assert_eq!(engine.virtual_image(&pixels).await?.sum, expected[..rows], "{name}");
    }
    let moments = engine.moments(&PixelSet::of(detector, |_, _| true)).await?;
    assert_eq!(moments.sum, columns.sum[..rows]);
    assert_eq!(moments.sum_row, columns.sum_row[..rows]);
    assert_eq!(moments.sum_col, columns.sum_col[..rows]);
    let all: Vec<u32> = (0..frames).collect();
    let hashes = engine.hash_frames(&all).await?.into_iter().map(|hash| format!("{:016x}", hash.unwrap_or(0)));
    assert_eq!(hashes.collect::<Vec<_>>(), columns.weighted64[..rows]);

    let total = engine.sum_pattern(&Frames::All).await?;
    assert_eq!(total.sum.iter().sum::<u64>(), columns.sum[..rows].iter().sum::<u64>());
    let most = engine.max_pattern(&Frames::All).await?;
    assert_eq!(most.max.iter().max(), columns.max_raw[..rows].iter().max());
    // The generator's disc of 4.4 px moves by up to 3 px from frame to frame.
    let disc = find_disc(&total, &PixelSet::of(detector, |_, _| false)).ok_or("no disc")?;
    let off = (disc.centre[0] - 96.0).hypot(disc.centre[1] - 96.0);
    assert!(off < 2.0 && (disc.radius - 4.4).abs() < 0.8, "{disc:?}");
    let one = engine.pattern(0).await?;
    assert_eq!(one.pixels.iter().map(|&value| u64::from(value)).sum::<u64>(), columns.sum[0]);
    Ok(())
}

fn seed_frames() -> Outcome<(Acquisition, Disk)> {
    let disk = Disk::open(&bench("seed_frames.h5"))?;
    let sources: [&dyn ByteSource; 1] = [&disk];
    let set = acquisition::read(&sources)?.pop().ok_or("no set in the seed file")?;
    Ok((set, disk))
}

fn layout(set: &Acquisition) -> FrameLayout {
    let block_px = match &set.storage {
        Storage::BitshuffleLz4 { block_px, .. } => *block_px,
        Storage::Decoded(_) => 4096,
    };
    FrameLayout { detector: set.detector, dtype: set.dtype, block_px }
}

fn bench(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/bench").join(name)
}
