//! The sets that the tests read: generated ones, and a real one where it is to be had.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};

use crate::{
    paths,
    setup::{check, say},
    stamp,
};

/// A benchmark acquisition of 16 x 16 positions with a known answer for every frame.
pub struct Bench {
    pub name: &'static str,
    /// The illumination (`make_seed_frames.py --preset`).
    preset: &'static str,
    /// Further arguments of `expand_acquisition.py`.
    expand: &'static [&'static str],
    /// Rows and columns of the scan.
    pub scan: [u64; 2],
}

/// One set for each illumination with one data file, and one that was stopped early: three files, 56 frames missing,
/// neighbours that differ.
pub const BENCH: [Bench; 4] = [
    Bench { name: "seed", preset: "seed", expand: &[], scan: [16, 16] },
    Bench { name: "bright", preset: "bright", expand: &[], scan: [16, 16] },
    Bench { name: "badpix", preset: "badpix", expand: &[], scan: [16, 16] },
    Bench { name: "aborted", preset: "seed", expand: &ABORTED, scan: [16, 16] },
];

const ABORTED: [&str; 6] = ["--jitter", "2", "--limit", "200", "--frames-per-file", "80"];

/// Large enough that the leaves of its chunk indexes are read along with the frames.
pub const ROWS: Bench =
    Bench { name: "rows", preset: "seed", expand: &["--jitter", "2", "--frames-per-file", "1000"], scan: [20, 64] };

/// A tilt series of four sets.
pub const TILTS: Bench = Bench { name: "tilts", preset: "seed", expand: &["--tilts", "4"], scan: [64, 64] };

/// A smaller one, which is read again and again.
pub const SMALL_TILTS: Bench = Bench { name: "small", preset: "seed", expand: &["--tilts", "4"], scan: [32, 32] };

impl Bench {
    /// The table of right answers, `NAME.expected.json`.
    pub fn table(&self) -> PathBuf {
        bench_folder().join(self.name).join(format!("{}.expected.json", self.name))
    }

    /// Master, data files and sidecar.
    pub fn files(&self) -> Result<Vec<PathBuf>> {
        hdf5_files(&bench_folder().join(self.name))
    }

    /// Its distinct frames.
    pub fn seed_file(&self) -> PathBuf {
        match self.preset {
            "seed" => paths::root().join("tests/data/bench/seed_frames.h5"),
            preset => bench_folder().join(format!("{preset}_frames.h5")),
        }
    }
}

/// Where the fixtures lie, one folder a case, with `expected.json`.
pub fn fixtures_folder() -> PathBuf {
    paths::target().join("fixtures")
}

/// Where the files lie whose axes stand in every order, with `cases.json`.
pub fn axes_folder() -> PathBuf {
    paths::target().join("axes")
}

/// Where the benchmark acquisitions lie, one folder a set.
pub fn bench_folder() -> PathBuf {
    paths::target().join("bench")
}

/// Makes all test data that are missing or older than their generators.
pub fn make(python: &Path) -> Result<()> {
    let sources = paths::root().join("tests/data");
    let out = fixtures_folder();
    stamp::made_from(scripts(&sources.join("fixtures"))?, &out, || {
        say(&format!("making the fixtures in {}", out.display()));
        check(Command::new(python).arg(sources.join("fixtures/make_fixtures.py")).arg(&out), "make_fixtures.py")
    })?;
    let out = axes_folder();
    stamp::made_from(scripts(&sources.join("axes"))?, &out, || {
        say(&format!("making the files with axes in every order in {}", out.display()));
        check(Command::new(python).arg(sources.join("axes/make_axes.py")).arg(&out), "make_axes.py")
    })?;
    let out = bench_folder();
    let bench = sources.join("bench");
    stamp::made_from(scripts(&bench)?, &out, || {
        say(&format!("making the benchmark acquisitions in {}", out.display()));
        make_bench(python, &bench, &out)
    })
}

/// Makes the demo set of the page anew: `www/demo`.
pub fn make_demo(python: &Path) -> Result<()> {
    let sources = paths::root().join("tests/data/bench");
    let work = paths::target().join("demo");
    std::fs::create_dir_all(&work)?;
    make_frames(python, &sources, &work.join("demo_frames.h5"), "demo", "1024")?;
    let mut expand = Command::new(python);
    expand.arg(sources.join("expand_acquisition.py")).arg(work.join("demo_frames.h5")).arg(&work);
    check(expand.args(["--name", "demo", "--scan", "32", "32"]), "expand_acquisition.py")?;
    let folder = paths::root().join("www/demo");
    std::fs::create_dir_all(&folder)?;
    for file in ["demo_master.h5", "demo_data_000001.h5", "demo.h5"] {
        std::fs::copy(work.join(file), folder.join(file))?;
    }
    say(&format!("the demo set is in {}", folder.display()));
    Ok(())
}

/// The folder of the real ARINA set, which is not ours to ship: `$PLANESCOPE_ARINA`, else where the project keeps it
/// beside the repository.
pub fn arina_folder() -> Option<PathBuf> {
    let beside = || Some(paths::root().parent()?.join("shared/fixtures/arina-real"));
    let folder = env::var_os("PLANESCOPE_ARINA").map(PathBuf::from).or_else(beside)?;
    hdf5_files(&folder).is_ok_and(|files| !files.is_empty()).then_some(folder)
}

/// The files of a folder that end in `.h5`, by name.
pub fn hdf5_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "h5"));
    files.sort();
    Ok(files)
}

fn make_bench(python: &Path, sources: &Path, out: &Path) -> Result<()> {
    for bench in BENCH.iter().chain([&ROWS, &TILTS, &SMALL_TILTS]) {
        let seed = bench.seed_file();
        if !seed.exists() {
            make_frames(python, sources, &seed, bench.preset, "256")?;
        }
        let mut expand = Command::new(python);
        expand.arg(sources.join("expand_acquisition.py")).arg(seed).arg(out.join(bench.name));
        let scan = bench.scan.map(|side| side.to_string());
        expand.args(["--name", bench.name, "--scan"]).args(scan).args(bench.expand);
        check(&mut expand, "expand_acquisition.py")?;
    }
    Ok(())
}

fn make_frames(python: &Path, sources: &Path, seed: &Path, preset: &str, frames: &str) -> Result<()> {
    let mut make = Command::new(python);
    make.arg(sources.join("make_seed_frames.py")).arg(seed).args(["--preset", preset, "--frames", frames]);
    check(&mut make, "make_seed_frames.py")
}

/// The Python sources in a folder, and this file, which says what is made with them.
fn scripts(folder: &Path) -> Result<stamp::Sources> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    files.sort();
    let this_file = stamp::Sources::default().add(include_bytes!("data.rs"));
    files.iter().try_fold(this_file, |sources, file| sources.add_file(file))
}
