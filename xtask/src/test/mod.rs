//! `cargo xtask test`: every test, with all that it needs. The last line of its output is `N passed, N failed`.

pub mod data;
mod native;
mod tally;
pub mod tools;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{
    ab, browser, page, paths,
    setup::{self, say},
    wasm::Profile,
};
pub use tally::Tally;

#[derive(clap::Args)]
pub struct Options {
    /// Only these parts; all where none is named
    parts: Vec<Part>,
    /// Test the pages as they were built last
    #[arg(long)]
    no_build: bool,
    /// Of the small A/B experiments those that have this in their name; of the browser tests only this one, headless:
    /// viewer, hands, accessibility, choices, loading, keeping, series, security, faults, screenshots, single or bundle
    #[arg(long)]
    only: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Unit and integration tests, shaders on software Vulkan drivers
    Native,
    /// The page in headless and headed Chrome
    Browser,
    /// Small versions of the A/B experiments of tests/probes in Chrome: everything but their times
    Ab,
}

pub fn run(options: &Options) -> Result<ExitCode> {
    let wanted = |part| options.parts.is_empty() || options.parts.contains(&part);
    let start = Instant::now();
    // First all that may be missing, so that nobody waits for a build only to learn it.
    setup::wasm_target()?;
    let python = tools::python()?;
    let chrome = tools::chrome()?;
    data::make(&python)?;

    let mut tally = Tally::default();
    if wanted(Part::Native) {
        let (first, second) = (tools::lavapipe()?, tools::swiftshader(&chrome));
        tally.add(&native::run(&python, &first, second.as_deref())?);
        say(&format!("native tests done after {}", seconds(start.elapsed())));
    }
    if (wanted(Part::Browser) || wanted(Part::Ab)) && !options.no_build {
        page::build(Profile::Release, &paths::dist())?;
    }
    if wanted(Part::Ab) {
        tally.add(&ab::software::checks(&chrome, &browser::software_flags().join(" "), options.only.as_deref())?);
        say(&format!("the small A/B experiments are done after {}", seconds(start.elapsed())));
    }
    if wanted(Part::Browser) {
        if !options.no_build {
            page::build_twins()?;
        }
        say(&format!("the page is built after {}", seconds(start.elapsed())));
        tally.add(&browser::run(&chrome, &python, options.only.as_deref())?);
    }
    say(&format!("all done after {}", seconds(start.elapsed())));
    println!("{}", tally.in_one_line());
    Ok(if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}
