//! `cargo xtask render`.

use std::process::ExitCode;

use clap::Parser;
use render::{Options, Outcome, run};

/// Renders virtual images and patterns of 4D-STEM sets into files.
///
/// Ends with 0 when all was rendered from whole sets; with 1 when something of a set is missing or could not be
/// decoded (what is there was rendered, and what is not was told); with 2 when a set could not be rendered at all.
#[derive(Parser)]
#[command(name = "cargo xtask render")]
struct Arguments {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    match run(&Arguments::parse().options) {
        Ok(Outcome::Whole) => ExitCode::SUCCESS,
        Ok(Outcome::Partial) => ExitCode::from(1),
        Err(words) => {
            eprintln!("error: {words}");
            ExitCode::from(2)
        }
    }
}
