//! `cargo xtask bench` from end to end: it measures what is right, and nothing else.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::software_flags;
use crate::{
    paths,
    test::{Tally, data},
};

/// Measures a small set in a software browser: as it is, with a wrong digest, and without leave to take a software
/// adapter.
pub fn measures(chrome: &Path) -> Result<Tally> {
    let mut tally = Tally::default();
    let out = paths::target().join("chrome/bench.json");
    let _ = std::fs::remove_file(&out);

    let wrong = bench(chrome, &out, &["--allow-software", "--digest", "0123456789abcdef"])?;
    let is_void = wrong.status.code() == Some(1) && wrong.stdout.is_empty() && !out.exists();
    judge(&mut tally, "bench: a wrong digest voids the run", is_void, &wrong);

    let refused = bench(chrome, &out, &[])?;
    let is_refused = refused.status.code() == Some(2) && refused.stdout.is_empty() && !out.exists();
    judge(&mut tally, "bench: a software adapter is refused", is_refused, &refused);

    let right = bench(chrome, &out, &["--allow-software"])?;
    let written: Value = match std::fs::read_to_string(&out) {
        Ok(text) => serde_json::from_str(&text).with_context(|| out.display().to_string())?,
        Err(_) => Value::Null,
    };
    let is_figure = |name: &str| {
        let figure = &written[name];
        let positive = |value: &Value| value.as_f64().is_some_and(|value| value > 0.0);
        let raw = figure["raw"].as_array().is_some_and(|raw| !raw.is_empty() && raw.iter().all(positive));
        raw && positive(&figure["median"]) && figure["hash_ok"] == true
    };
    let figures =
        ["load_ms", "first_image_ms", "resident_gb", "mask_change_ms", "com_ms", "mean_pattern_ms", "reopen_ms"];
    let is_measured =
        right.status.success() && written["software_adapter"] == true && figures.into_iter().all(is_figure);
    judge(
        &mut tally,
        "bench: a load, its products and opening it again from its copy are measured",
        is_measured,
        &right,
    );
    Ok(tally)
}

/// One cycle of `cargo xtask soak` on four small sets with memory for three; and one on a set whose table says something
/// else.
pub fn soaks(chrome: &Path) -> Result<Tally> {
    let mut tally = Tally::default();
    let out = paths::target().join("chrome/soak.json");
    let _ = std::fs::remove_file(&out);
    let files = data::SMALL_TILTS.files()?;
    let masters: Vec<_> = files.into_iter().filter(|file| file.to_string_lossy().ends_with("_master.h5")).collect();
    let right = soak(chrome, &out, &masters)?;
    let report: Value = serde_json::from_slice(&std::fs::read(&out).unwrap_or_default()).unwrap_or_default();
    let positive = |value: &Value| value.as_f64().is_some_and(|value| value > 0.0);
    let figures = ["recomputes", "cursorMoves", "scrubs", "cycles"].iter().all(|name| positive(&report[name]));
    let of_series =
        [&report["visible"], &report["budgetSets"], &report["leftBytes"]] == [&json!(4), &json!(3), &json!([0.0])];
    let lists = ["heapBytes", "bufferBytes", "gpuBytes", "loadMs"].iter().all(|name| positive(&report[name][0]));
    let frames = ["n", "p50", "p95", "max"].iter().all(|name| positive(&report["framesMs"][name]));
    let is_right = right.status.success() && of_series && figures && lists && frames && report["wrong"] == json!([]);
    judge(&mut tally, "soak: a cycle without anything wrong, and its figures", is_right, &right);

    let other = paths::target().join("chrome/soak-set");
    let _ = std::fs::remove_dir_all(&other);
    std::fs::create_dir_all(&other)?;
    for file in data::BENCH[0].files()? {
        std::fs::copy(&file, other.join(file.file_name().context("a name")?))?;
    }
    let table = std::fs::read_to_string(data::BENCH[0].table())?;
    let mut table: Value = serde_json::from_str(&table)?;
    table["acquisition"]["totals"]["digest"] = "0123456789abcdef".into();
    std::fs::write(other.join("seed.expected.json"), table.to_string())?;
    let wrong = soak(chrome, &out, std::slice::from_ref(&other))?;
    let report: Value = serde_json::from_slice(&std::fs::read(&out).unwrap_or_default()).unwrap_or_default();
    let is_told = report["wrong"].to_string().contains("0123456789abcdef");
    judge(
        &mut tally,
        "soak: a wrong digest is told and is a failure",
        is_told && wrong.status.code() == Some(1),
        &wrong,
    );
    Ok(tally)
}

fn soak(chrome: &Path, out: &Path, sets: &[PathBuf]) -> Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("soak").args(sets).args(["--minutes", "0", "--allow-software"]).arg("--out").arg(out);
    command.arg("--dist").arg(paths::dist()).arg("--chrome").arg(chrome);
    command.arg("--flags").arg(software_flags().join(" ")).output().context("xtask did not start")
}

/// Runs `bench --loads` on the smallest acquisition, once.
fn bench(chrome: &Path, out: &Path, more: &[&str]) -> Result<Output> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("bench").arg(data::bench_folder().join(data::BENCH[0].name)).args(["--loads", "--repeats", "1"]);
    command.arg("--dist").arg(paths::dist()).arg("--chrome").arg(chrome).arg("--out").arg(out);
    command.arg("--flags").arg(software_flags().join(" ")).args(more);
    command.output().context("xtask did not start")
}

fn judge(tally: &mut Tally, name: &str, is_right: bool, output: &Output) {
    match is_right {
        true => tally.pass(name),
        false => tally.fail(
            name,
            &format!(
                "{}\n{}{}",
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ),
        ),
    }
}
