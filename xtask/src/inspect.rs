//! `inspect`: the native view of what the page shows: what was read, what it means, what is wrong.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use planescope::{
    acquisition::report::{Request, inspect},
    source::{ByteSource, Disk},
};

#[derive(clap::Args)]
pub struct Options {
    /// One JSON object with the keys of the fixtures' expected.json, plus `message`
    #[arg(long)]
    json: bool,
    /// Decode every frame on the CPU and add hashes, sums and counts of sentinels
    #[arg(long)]
    hash: bool,
    /// The files of a set, or of several, in any order
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// 0 when something can be shown, 2 when nothing can.
pub fn run(options: &Options) -> Result<ExitCode> {
    let disks = options.files.iter().map(|path| Disk::open(path)).collect::<Result<Vec<_>, _>>()?;
    let sources: Vec<&dyn ByteSource> = disks.iter().map(|disk| disk as &dyn ByteSource).collect();
    let report = inspect(&sources, Request { has_hashes: options.hash })?;
    match options.json {
        true => println!("{}", serde_json::to_string_pretty(&report.json)?),
        false => println!("{}", report.text),
    }
    Ok(if report.is_error { ExitCode::from(2) } else { ExitCode::SUCCESS })
}
