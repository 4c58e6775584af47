//! `cargo xtask`: everything about planescope that is not the page itself.
//!
//! - `run`: builds the page, serves it and opens Chrome on it.
//! - `test`: makes the test data and runs every test, natively and in Chrome.
//! - `build`: only builds the page into `dist/`.
//! - `inspect`: tells what files hold, for people or as JSON.
//! - `bench`: measures loads, decodes and products in Chrome.
//! - `ab`: A/B experiments on the GPU, by rules that void a run rather than print a doubtful number.
//! - `bundle`: makes a folder, or one file, that opens by a double click on machines without any of this.
//! - `render`: virtual images and patterns as files, without a browser.
//! - `soak`: works on the page for minutes and looks for what grows, breaks or slows.
//! - `fuzz`: hostile input for all that reads files, sessions and addresses.
//! - `reliability`: hostile input, changed chunks and faults in their full numbers, and the page that tells what came of
//!   them.
//! - `demo`: makes the page's demo set anew.
//! - `screenshots`: takes the pictures of docs/screenshots.

mod ab;
mod bench;
mod browser;
mod bundle;
mod fuzz;
mod inspect;
mod page;
mod paths;
mod reliability;
mod render;
mod run;
mod serve;
mod setup;
mod single;
mod soak;
mod stamp;
mod test;
mod wasm;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Parser, Subcommand};
use launcher::chrome;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Build, run and test planescope")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the page, serve it on this machine and open Chrome on it
    Run(run::Options),
    /// Make the test data and run every test, natively and in Chrome; installs what is missing
    Test(test::Options),
    /// Build the page into dist/
    Build {
        /// Quick to build, slow to run: for work on the page's looks
        #[arg(long)]
        dev: bool,
        /// The folder to build into
        #[arg(long, default_value = "dist")]
        out: PathBuf,
    },
    /// Tell what files hold: what was read, what it means, what is wrong
    Inspect(inspect::Options),
    /// Measure loads, decodes and products of a set in Chrome, once every frame is right
    Bench(Box<bench::Options>),
    /// Run an A/B experiment of tests/probes, characterise the GPU's clock, or list what was found
    Ab(Box<ab::Options>),
    /// Make a folder with viewer, data and launcher, or the viewer in one file, that opens by a double click
    Bundle(bundle::Options),
    /// Render virtual images and patterns into files, without a browser (`cargo xtask render --help` tells how)
    #[command(disable_help_flag = true)]
    Render(render::Options),
    /// Work on the page for minutes: what grows, breaks or slows is reported as JSON
    Soak(Box<soak::Options>),
    /// Feed what reads bytes from outside with hostile ones, guided by the coverage of the code
    Fuzz(fuzz::Options),
    /// Do planescope's worst and write docs/reliability.md from what came of it
    Reliability(Box<reliability::Options>),
    /// Make the page's demo set in www/demo anew
    Demo,
    /// Take the pictures of docs/screenshots of the page in dist/
    Screenshots,
}

fn main() -> ExitCode {
    match execute(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn execute(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(options) => run::run(&options)?,
        Command::Test(options) => return test::run(&options),
        Command::Bench(options) => return bench::run(&options),
        Command::Ab(options) => return ab::run(&options),
        Command::Bundle(options) => bundle::run(&options)?,
        Command::Render(options) => return render::run(&options),
        Command::Fuzz(options) => return fuzz::run(&options),
        Command::Reliability(options) => return reliability::run(&options),
        Command::Soak(options) => return soak::run(&options),
        Command::Inspect(options) => return inspect::run(&options),
        Command::Screenshots => {
            let (python, chrome) = (test::tools::python()?, test::tools::chrome()?);
            test::data::make(&python)?;
            browser::pictures::take(&chrome, &python)?;
        }
        Command::Demo => test::data::make_demo(&test::tools::python()?)?,
        Command::Build { dev, out } => {
            let profile = if dev { wasm::Profile::Dev } else { wasm::Profile::Release };
            page::build(profile, &paths::root().join(out))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
