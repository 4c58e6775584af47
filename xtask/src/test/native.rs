//! The tests that run without a browser: cargo's test programs, those with shaders once on each software driver.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{data, tally::Tally};
use crate::{paths, setup::say};

/// A test program that cargo built.
struct Program {
    name: String,
    path: PathBuf,
    /// The library's own tests; those of its shaders are in modules `gpu::`.
    is_library: bool,
}

/// Builds and runs all native tests. `python` has h5py. Those that need a GPU run on both drivers; `second` is `None`
/// where Chrome brings no SwiftShader for Vulkan.
pub fn run(python: &Path, first: &Path, second: Option<&Path>) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut programs = build(&["xtask"])?;
    // Together, so that they share one build of wgpu.
    programs.extend(build(&["planescope", "launcher", "render"])?);
    for program in &programs {
        tally.add(&run_one(program, python, first, "lavapipe", None)?);
    }
    let Some(second) = second else {
        tally.skip("shaders on SwiftShader", "this Chrome brings no Vulkan driver of SwiftShader");
        return Ok(tally);
    };
    for program in programs.iter().filter(|program| program.is_library || runs_shaders(&program.name)) {
        let filter = program.is_library.then_some("gpu::");
        tally.add(&run_one(program, python, second, "SwiftShader", filter)?);
    }
    Ok(tally)
}

/// Whether a test program in `tests/` compares shaders with their CPU twins.
fn runs_shaders(name: &str) -> bool {
    name.contains("twin")
}

/// Builds the test programs of these packages.
fn build(packages: &[&str]) -> Result<Vec<Program>> {
    let names = packages.join(", ");
    say(&format!("building the tests of {names}"));
    let mut command = Command::new(paths::cargo());
    command.current_dir(paths::root()).args(["test", "--no-run"]);
    command.args(packages.iter().flat_map(|package| ["--package", package]));
    command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
    let output = command.output().context("cargo did not start")?;
    ensure!(output.status.success(), "the tests of {names} did not compile");
    let messages = String::from_utf8_lossy(&output.stdout);
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(messages.filter_map(|message| program(&message)).collect())
}

fn program(message: &Value) -> Option<Program> {
    let is_test = message["reason"] == "compiler-artifact" && message["profile"]["test"] == true;
    let path = PathBuf::from(message["executable"].as_str().filter(|_| is_test)?);
    let is_library = message["target"]["kind"].as_array()?.iter().any(|kind| kind == "lib");
    Some(Program { name: message["target"]["name"].as_str()?.to_owned(), path, is_library })
}

/// Runs one program to its end; its output is shown where a test fails.
fn run_one(program: &Program, python: &Path, driver: &Path, driver_name: &str, filter: Option<&str>) -> Result<Tally> {
    let mut command = Command::new(&program.path);
    command.current_dir(paths::root()).args(filter).arg("--show-output");
    command.env("VK_ICD_FILENAMES", driver).env("VK_DRIVER_FILES", driver);
    command.env("PLANESCOPE_FIXTURES", data::fixtures_folder()).env("PLANESCOPE_PYTHON", python);
    command.env("PLANESCOPE_AXES", data::axes_folder()).env("PLANESCOPE_BENCH", data::bench_folder());
    match data::arina_folder().filter(|folder| folder.join("expected.json").is_file()) {
        Some(folder) => command.env("PLANESCOPE_ARINA", folder),
        None => command.env_remove("PLANESCOPE_ARINA"),
    };
    let output = command.output().with_context(|| program.path.display().to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut tally = Tally::of_libtest(&text);
    println!("{} on {driver_name}: {}", program.name, tally.in_one_line());
    // What repeats a run of random files.
    text.lines().filter(|line| line.starts_with("PLANESCOPE_SEED=")).for_each(|line| println!("    {line}"));
    if !output.status.success() {
        println!("{text}{}", String::from_utf8_lossy(&output.stderr));
        if tally.failed == 0 {
            tally.fail(&program.name, &format!("ended with {}", output.status));
        }
    }
    Ok(tally)
}
