//! The launcher for the systems that this machine can build for.

use std::{path::PathBuf, process::Command};

use anyhow::Result;

use crate::{
    paths,
    setup::{self, check, say},
};

/// Names in the bundle, and the programs.
pub fn build() -> Result<Vec<(String, PathBuf)>> {
    let mut binaries = Vec::new();
    let own = compiled(None)?;
    if cfg!(target_os = "linux") {
        binaries.push(("planescope-linux".to_owned(), own));
        match setup::windows_target() {
            Ok(()) => binaries.push(("planescope.exe".to_owned(), compiled(Some(setup::WINDOWS))?)),
            Err(why) => say(&format!("no launcher for Windows, where the page in one file is opened instead: {why:#}")),
        }
        say("no launcher for macOS, where the page in one file is opened instead: bundle there to have one");
    } else if cfg!(target_os = "macos") {
        binaries.push(("planescope-macos".to_owned(), own));
    } else if cfg!(windows) {
        binaries.push(("planescope.exe".to_owned(), own));
    }
    Ok(binaries)
}

/// The launcher for `target`, else for this system.
pub fn compiled(target: Option<&str>) -> Result<PathBuf> {
    let mut command = Command::new(paths::cargo());
    command.current_dir(paths::root()).args(["build", "--quiet", "--release", "--package", "launcher"]);
    let mut folder = paths::target();
    if let Some(target) = target {
        command.args(["--target", target]);
        folder.push(target);
    }
    check(&mut command, "the launcher's build")?;
    let name = match target.map_or(cfg!(windows), |target| target.contains("windows")) {
        true => "planescope-launcher.exe",
        false => "planescope-launcher",
    };
    Ok(folder.join("release").join(name))
}
