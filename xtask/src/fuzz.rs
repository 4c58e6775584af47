//! `cargo xtask fuzz`: builds the fuzzer with counters in its code, runs one of its targets, and says how much of the
//! code under test was reached.

use std::{
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{
    paths,
    setup::{check, say},
    test::data,
};

#[derive(clap::Args)]
pub struct Options {
    /// walker, filters, meaning, session, address, or cut
    target: String,
    /// How many inputs are fed
    #[arg(long, default_value_t = 100_000)]
    executions: u64,
    /// Another seed gives other inputs, the same one the same
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the smallest inputs go that together reach all code that was reached
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Where the report goes; without it, to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// 0 when nothing broke, 1 when something did.
pub fn run(options: &Options) -> Result<ExitCode> {
    let Options { executions, seed, keep, .. } = options;
    let (report, is_fine) = feed(&options.target, *executions, *seed, keep.as_deref())?;
    let text = serde_json::to_string_pretty(&report)? + "\n";
    match &options.out {
        Some(path) => std::fs::write(path, text).with_context(|| path.display().to_string())?,
        None => print!("{text}"),
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a target; its report with the coverage, and whether nothing broke.
pub fn feed(target: &str, executions: u64, seed: u64, keep: Option<&Path>) -> Result<(Value, bool)> {
    let home = paths::target().join("fuzz");
    let mut build = Command::new(paths::cargo());
    build.current_dir(paths::root()).args(["build", "--quiet", "--profile", "fuzz", "--package", "fuzz"]);
    build.args(["--features", "guided", "--target-dir"]).arg(&home).env("RUSTFLAGS", "-C instrument-coverage");
    check(&mut build, "the fuzzer's build")?;
    let program = home.join("fuzz").join(if cfg!(windows) { "planescope-fuzz.exe" } else { "planescope-fuzz" });
    let (raw, out) = (home.join(format!("{target}.profraw")), home.join(format!("{target}.json")));
    let fixtures = Some(data::fixtures_folder()).filter(|folder| folder.is_dir());
    let mut command = Command::new(&program);
    // It takes its corpus from where Cargo says that its package lies; Cargo says so of this program.
    command.current_dir(paths::root()).env("CARGO_MANIFEST_DIR", paths::root().join("fuzz"));
    command.env("LLVM_PROFILE_FILE", &raw);
    if target == "cut" {
        command.arg("cut").arg(paths::root().join("tests/data/robustness")).args(&fixtures).arg("--out").arg(&out);
    } else {
        command.args(["run", target, "--executions", &executions.to_string(), "--seed", &seed.to_string()]);
        command.arg("--out").arg(&out).arg("--findings").arg(home.join("findings"));
        if let Some(folder) = &fixtures {
            command.arg("--seeds").arg(folder);
        }
        if let Some(folder) = keep {
            command.arg("--keep").arg(folder);
        }
    }
    let status = command.status().with_context(|| format!("{} did not start", program.display()))?;
    let text = std::fs::read_to_string(&out).with_context(|| format!("the fuzzer left no report ({status})"))?;
    let mut report: Value = serde_json::from_str(&text)?;
    report["coverage"] = coverage(&program, &raw, sources(target))?.unwrap_or(Value::Null);
    Ok((report, status.success()))
}

/// The code that a target is about.
fn sources(target: &str) -> &'static [&'static str] {
    match target {
        "walker" => &["src/hdf5"],
        "filters" => &["src/filter", "src/cpu/lz4.rs", "src/cpu/frame_headers.rs"],
        "session" => &["src/export/session.rs", "src/app/state.rs"],
        "address" => &["src/app/state.rs"],
        _ => &["src/hdf5", "src/acquisition"],
    }
}

/// Lines of `sources` that were run and lines that could be; `None`, said so, without LLVM's tools.
fn coverage(program: &Path, raw: &Path, sources: &[&str]) -> Result<Option<Value>> {
    let (Some(profdata), Some(cov)) = (tool("llvm-profdata")?, tool("llvm-cov")?) else {
        say("coverage is not measured: `rustup component add llvm-tools` brings what it takes");
        return Ok(None);
    };
    let merged = raw.with_extension("profdata");
    check(Command::new(profdata).args(["merge", "--sparse", "-o"]).arg(&merged).arg(raw), "llvm-profdata")?;
    let mut export = Command::new(cov);
    export.args(["export", "--summary-only", "--instr-profile"]).arg(&merged).arg(program);
    let output = export.output().context("llvm-cov did not start")?;
    let all: Value = serde_json::from_slice(&output.stdout).context("llvm-cov export")?;
    let (mut lines, mut covered) = (0, 0);
    for file in all["data"][0]["files"].as_array().into_iter().flatten() {
        let name = file["filename"].as_str().unwrap_or_default();
        let place = Path::new(name).strip_prefix(paths::root()).unwrap_or(Path::new(name));
        if sources.iter().any(|source| place.starts_with(source)) {
            lines += file["summary"]["lines"]["count"].as_u64().unwrap_or(0);
            covered += file["summary"]["lines"]["covered"].as_u64().unwrap_or(0);
        }
    }
    Ok(Some(json!({"of": sources, "lines": lines, "covered": covered})))
}

/// A tool of rustup's component `llvm-tools`, which reads what this rustc writes.
fn tool(name: &str) -> Result<Option<PathBuf>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir"]).output().context("rustc did not start")?;
    let library = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let path = library.with_file_name("bin").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    Ok(path.is_file().then_some(path))
}
