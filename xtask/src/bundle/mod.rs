//! `cargo xtask bundle`: a folder that needs no network and no installation, to be copied and opened by a double click.
//!
//! | in the folder | |
//! |---|---|
//! | `planescope.html` | the viewer in one file, for wherever the launcher does not run |
//! | `viewer/` | the viewer as the launcher serves it |
//! | `data/` | the sets, as hard links where the file system allows it, else copies |
//! | `planescope-linux`, `planescope.exe`, `planescope-macos` | the launcher, as far as this machine can build it |
//! | `planescope.desktop`, `planescope.sh`, `planescope.bat`, `planescope.command` | what is double-clicked |
//! | `manifest.json` | sets, sizes and hashes, checked whenever the bundle is opened |

mod binaries;
mod data;
mod starters;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use launcher::manifest::{DATA, Entry, Manifest, NAME, VERSION, VIEWER};

use crate::{page, paths, setup::say, single, wasm::Profile};

#[derive(clap::Args)]
pub struct Options {
    /// The folder to make; with --single and without data, the file
    out: PathBuf,
    /// Masters of the sets, in the order of the series; their data files are found beside them
    #[arg(long, num_args = 1.., value_name = "MASTER")]
    data: Vec<PathBuf>,
    /// Name the sets and their files by number only. What the files hold stays as it is
    #[arg(long, requires = "data")]
    anonymous: bool,
    /// The viewer in one file, without a launcher; with data, beside them
    #[arg(long)]
    single: bool,
    /// A page that was built before; without it, it is built first
    #[arg(long, value_name = "DIR")]
    dist: Option<PathBuf>,
}

/// Makes the bundle, or the file.
pub fn run(options: &Options) -> Result<()> {
    ensure!(
        options.single || !options.data.is_empty(),
        "a bundle wants --data MASTER...; --single is the viewer alone"
    );
    let dist = match &options.dist {
        Some(dist) => dist.clone(),
        None => {
            page::build(Profile::Release, &paths::dist())?;
            paths::dist()
        }
    };
    if options.data.is_empty() {
        let is_folder = options.out.is_dir();
        let out = if is_folder { options.out.join(PAGE) } else { options.out.clone() };
        return single::build(&dist, &out, None);
    }
    let binaries = if options.single { Vec::new() } else { binaries::build()? };
    make(&dist, options, &binaries)
}

/// Makes the folder of a bundle with these launchers: names in the bundle, and where they lie now.
fn make(dist: &Path, options: &Options, binaries: &[(String, PathBuf)]) -> Result<()> {
    let out = &options.out;
    let sets = data::sets(&options.data, options.anonymous)?;
    empty(out)?;
    single::build(dist, &out.join(PAGE), Some(DATA))?;
    if !options.single {
        copy_viewer(dist, &out.join(VIEWER))?;
        starters::write(out)?;
    }
    for (name, file) in binaries {
        fs::copy(file, out.join(name)).with_context(|| file.display().to_string())?;
    }
    let sets = data::place(&out.join(DATA), sets)?;
    let mut paths = Vec::new();
    list(out, "", &mut paths)?;
    say(&format!("hashing {} files", paths.len()));
    let entries = paths.iter().map(|path| Entry::of(out, path).with_context(|| path.clone()));
    let manifest = Manifest { version: VERSION, sets, files: entries.collect::<Result<_>>()? };
    fs::write(out.join(NAME), serde_json::to_vec_pretty(&manifest)?)?;
    let bytes: u64 = manifest.files.iter().map(|entry| entry.bytes).sum();
    say(&format!(
        "the bundle is {}: {} sets, {} files, {:.2} GB",
        out.display(),
        manifest.sets.len(),
        manifest.files.len(),
        bytes as f64 / 1e9
    ));
    Ok(())
}

/// A folder for the bundle: a new one, an empty one, or one that holds an older bundle, which goes.
fn empty(out: &Path) -> Result<()> {
    let is_bundle = out.join(NAME).is_file() && out.join(PAGE).is_file();
    if is_bundle {
        fs::remove_dir_all(out).with_context(|| out.display().to_string())?;
    } else if out.exists() && fs::read_dir(out).with_context(|| out.display().to_string())?.next().is_some() {
        bail!("{} is not empty and holds no bundle: name another folder", out.display());
    }
    fs::create_dir_all(out).with_context(|| out.display().to_string())
}

/// The page without its demo set.
fn copy_viewer(dist: &Path, viewer: &Path) -> Result<()> {
    fs::create_dir_all(viewer)?;
    for entry in fs::read_dir(dist).with_context(|| dist.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), viewer.join(entry.file_name()))
                .with_context(|| entry.path().display().to_string())?;
        }
    }
    let style = viewer.join("style.css");
    let text = fs::read_to_string(&style).with_context(|| style.display().to_string())?;
    fs::write(&style, format!("{text}\n{}\n", single::NO_DEMO))?;
    Ok(())
}

/// Paths of all files in a folder, with slashes, by name.
fn list(folder: &Path, prefix: &str, paths: &mut Vec<String>) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().into_string().ok().context("a name in the bundle is no text")?;
        match entry.file_type()?.is_dir() {
            true => list(&entry.path(), &format!("{prefix}{name}/"), paths)?,
            false => paths.push(format!("{prefix}{name}")),
        }
    }
    Ok(())
}

/// The viewer in one file.
const PAGE: &str = "planescope.html";
