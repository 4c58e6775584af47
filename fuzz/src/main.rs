//! `planescope-fuzz`: hostile input by the million. `cargo xtask fuzz` builds it as it has to be built and runs it.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use fuzz::{campaign, memory::Counting, truncation};
use serde::Serialize;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Parser)]
#[command(name = "planescope-fuzz", about = "Hostile input for everything that reads bytes from outside")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Feed one target with inputs that are made of others
    Run(campaign::Options),
    /// Cut HDF5 files at every byte of their metadata
    Cut {
        /// Folders with files
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// Files of more bytes are left out
        #[arg(long, default_value_t = 1 << 15)]
        longest: u64,
        /// Where the report goes; without it, to standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Feed one target with these files and tell what comes of each
    Replay {
        target: fuzz::target::Target,
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

fn main() -> Result<ExitCode> {
    let is_fine = match Arguments::parse().command {
        Command::Run(options) => {
            let report = campaign::run(&options)?;
            write(&report, options.out.as_ref())?;
            report.findings.is_empty()
        }
        Command::Cut { folders, longest, out } => {
            let report = truncation::run(&folders, longest)?;
            write(&report, out.as_ref())?;
            report.wrong.is_empty()
        }
        Command::Replay { target, files } => replay(target, &files)?,
    };
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn replay(target: fuzz::target::Target, files: &[PathBuf]) -> Result<bool> {
    fuzz::judge::listen();
    let mut is_fine = true;
    for path in files {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let verdict = fuzz::judge::judge(fuzz::judge::Limits::default(), bytes.len(), || target.feed(&bytes));
        is_fine &= verdict.wrong.is_none();
        println!("{}: {verdict:?}", path.display());
    }
    Ok(is_fine)
}

fn write(report: &impl Serialize, out: Option<&PathBuf>) -> Result<()> {
    let text = serde_json::to_string_pretty(report)? + "\n";
    match out {
        Some(path) => std::fs::write(path, text).with_context(|| path.display().to_string()),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}
