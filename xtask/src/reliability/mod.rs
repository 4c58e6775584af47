//! `cargo xtask reliability`: what was done to planescope, and what became of it.
//!
//! `--run PART` does a part's worst and writes what came of it into `tests/reliability/PART.json`; without it, or
//! afterwards, `docs/reliability.md` is written from all of these files. Everything in that page comes from a run.

mod browser;
mod chunks;
mod document;
mod page;

use std::{path::PathBuf, process::Command, process::ExitCode};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{bench::rig::Rig, fuzz, paths, setup::say};

#[derive(clap::Args)]
pub struct Options {
    /// Parts to run before the page is written; several may be given
    #[arg(long = "run", value_name = "PART")]
    parts: Vec<Part>,
    /// Inputs for each fuzzing part, in place of 10^7 for files and filters and 10^6 for the others
    #[arg(long)]
    executions: Option<u64>,
    /// Another seed gives other inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Changed chunks that each decoder gets, and that the page gets
    #[arg(long, default_value_t = 10_000)]
    chunks: u32,
    /// Where the records go, in place of tests/reliability
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// For the part `page`: a record of its own under this name, for example of another graphics card
    #[arg(long, default_value = "page")]
    name: String,
    /// For the part `page`: also on a software adapter
    #[arg(long)]
    allow_software: bool,
    #[command(flatten)]
    rig: Rig,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// HDF5 files, from the superblock to lists of chunks
    Walker,
    /// Every filter
    Filters,
    /// What a set of files means
    Meaning,
    /// Session files
    Session,
    /// Addresses of the page
    Address,
    /// Files cut at every byte of their metadata
    Cut,
    /// Changed chunks on the software Vulkan drivers
    Chunks,
    /// Changed chunks in a set that Chrome opens
    Page,
    /// Files in motion, workers and GPUs that fail, in Chrome
    Faults,
}

/// 0 when nothing was lost, 1 when something was.
pub fn run(options: &Options) -> Result<ExitCode> {
    let folder = options.out.clone().unwrap_or_else(records);
    std::fs::create_dir_all(&folder)?;
    let mut is_fine = true;
    for part in &options.parts {
        let name = clap::ValueEnum::to_possible_value(part).context("every part has a name")?.get_name().to_owned();
        let (mut record, fine) = execute(*part, &name, options).with_context(|| name.clone())?;
        record["commit"] = commit();
        let file = if *part == Part::Page { &options.name } else { &name };
        let path = folder.join(file).with_extension("json");
        std::fs::write(&path, serde_json::to_string_pretty(&record)? + "\n")?;
        say(&format!("{name}: {} ({})", if fine { "nothing was lost" } else { "SOMETHING WAS LOST" }, path.display()));
        is_fine &= fine;
    }
    if options.out.is_none() {
        let page = paths::root().join("docs/reliability.md");
        std::fs::write(&page, document::of(&folder)?)?;
        say(&format!("wrote {}", page.display()));
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn execute(part: Part, name: &str, options: &Options) -> Result<(Value, bool)> {
    let executions = |usual| options.executions.unwrap_or(usual);
    match part {
        Part::Walker | Part::Filters => fuzz::feed(name, executions(10_000_000), options.seed, None),
        Part::Meaning | Part::Session | Part::Address => fuzz::feed(name, executions(1_000_000), options.seed, None),
        Part::Cut => fuzz::feed(name, 0, 0, None),
        Part::Chunks => chunks::run(options.chunks),
        Part::Page => page::run(&options.rig, options.chunks, options.seed, options.allow_software),
        Part::Faults => browser::run(&options.rig),
    }
}

/// Where records are kept.
fn records() -> PathBuf {
    paths::root().join("tests/reliability")
}

/// The commit of this tree, with a mark where it was changed since; null outside a repository.
fn commit() -> Value {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").current_dir(paths::root()).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(head) = git(&["rev-parse", "--short=12", "HEAD"]) else { return Value::Null };
    let is_changed =
        git(&["status", "--porcelain", "--", "src", "shaders", "fuzz"]).is_some_and(|text| !text.is_empty());
    json!(if is_changed { format!("{head} and changes") } else { head })
}
