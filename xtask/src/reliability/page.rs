//! A set in which every second chunk was changed, in Chrome, by each decoder: frame by frame what the codec of the CPU
//! makes of it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use planescope::{
    acquisition::{self, Acquisition, Storage},
    cpu::{hash_frames::weighted64, pixels_to_planes::planes, planes::Batch},
    shape::FrameLayout,
    source::{ByteSource, Disk},
};
use serde_json::{Map, Value, json};

use crate::{
    bench::{
        rig::Rig,
        visit::{Setup, Visit},
    },
    paths,
    setup::{check, say},
    test::tools,
};

/// `chunks` changed ones among as many that are not.
pub fn run(rig: &Rig, chunks: u32, seed: u64, allows_software: bool) -> Result<(Value, bool)> {
    let file = make(2 * chunks, seed)?;
    let expected = expected(&file)?;
    let failing = expected.iter().filter(|hash| hash.is_none()).count();
    say(&format!("{} frames, of which {failing} cannot be decoded", expected.len()));
    tokio::runtime::Runtime::new()?.block_on(async {
        let dist = rig.page()?;
        let (setup, _served) = rig.setup(&dist, &[], allows_software).await?;
        let mut record = json!({"frames": expected.len(), "changed": chunks, "failed": failing, "seed": seed});
        let mut is_fine = true;
        let mut decoders = Map::new();
        for variant in ["lane", "team", "frame-coop", "block-coop"] {
            let found = decode(&setup, &file, variant, &expected, &mut record).await;
            let found = found.unwrap_or_else(|error| json!({"error": format!("{error:#}")}));
            let is_right = found["different"] == 0 && found["gpuErrors"] == json!([]);
            say(&format!("{variant}: {}", if is_right { "every frame is as it should be" } else { "WRONG" }));
            is_fine &= is_right;
            decoders.insert(variant.to_owned(), found);
        }
        setup.tidy(!is_fine);
        record["decoders"] = decoders.into();
        Ok((record, is_fine))
    })
}

fn make(frames: u32, seed: u64) -> Result<PathBuf> {
    let folder = paths::target().join("hostile");
    let script = paths::root().join("tests/data/hostile/make_files.py");
    // A machine that only runs a page has its own Python with h5py, and nothing can be installed there.
    let own = std::process::Command::new("python3").args(["-c", "import h5py, numpy"]).output();
    let python = match own.is_ok_and(|output| output.status.success()) {
        true => PathBuf::from("python3"),
        false => tools::python()?,
    };
    let mut command = std::process::Command::new(python);
    command.arg(script).arg(&folder).args(["--frames", &frames.to_string(), "--seed", &seed.to_string()]);
    check(&mut command, "hostile/make_files.py")?;
    Ok(folder.join("hostile.h5"))
}

/// The hash of every frame; `None` where the codec of the CPU refuses it.
fn expected(file: &Path) -> Result<Vec<Option<u64>>> {
    let disk = Disk::open(file)?;
    let sources: [&dyn ByteSource; 1] = [&disk];
    let set = acquisition::read(&sources)?.into_iter().next().context("no set")?;
    let layout = layout(&set).context("no bitshuffle LZ4")?;
    let mut hashes = vec![None; set.frames as usize];
    acquisition::frames::for_each(&set, &sources, 0..set.frames, &mut |frame, outcome| {
        if let acquisition::frames::Frame::Pixels(pixels) = outcome {
            let mut batch = Batch::default();
            batch.push(&layout, frame, &planes(&layout, pixels));
            hashes[frame as usize] = batch.planes(&layout, 0).map(|frame| weighted64(&frame));
        }
    })?;
    Ok(hashes)
}

fn layout(set: &Acquisition) -> Option<FrameLayout> {
    let Storage::BitshuffleLz4 { block_px, .. } = set.storage else { return None };
    Some(FrameLayout { detector: set.detector, dtype: set.dtype, block_px })
}

async fn decode(
    setup: &Setup,
    file: &Path,
    variant: &str,
    expected: &[Option<u64>],
    record: &mut Value,
) -> Result<Value> {
    let tuning = Map::from_iter([("variant".to_owned(), json!(variant)), ("chooseVariant".to_owned(), json!(false))]);
    let mut visit = Visit::start(setup, &tuning).await?;
    let profile = visit.open(&[std::path::absolute(file)?]).await?;
    ensure!(profile["error"].is_null(), "the set was not opened: {}", profile["error"]);
    let all = visit.evaluate("the hashes", "__planescope.hashAll().then(({ weighted64 }) => weighted64)").await?;
    let all = all.as_array().context("no hashes")?;
    let hash = |value: &Value| value.as_str().and_then(|text| u64::from_str_radix(text, 16).ok());
    let different: Vec<usize> = (0..expected.len()).filter(|&i| all.get(i).and_then(hash) != expected[i]).collect();
    record["adapter"] = visit.facts.adapter.clone().into();
    record["browser"] = visit.facts.browser.clone().into();
    record["softwareAdapter"] = visit.facts.is_software.into();
    let found = json!({
        "used": profile["decodeVariant"], "different": different.len(), "first": different.first(),
        "framesFailed": profile["framesFailed"], "gpuErrors": profile["gpuErrors"],
    });
    visit.end().await;
    Ok(found)
}
