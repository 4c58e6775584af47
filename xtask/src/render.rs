//! `cargo xtask render`: builds the native renderer, which has wgpu in it and this tool has not, and runs it.

use std::{
    ffi::OsString,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};

use crate::{paths, setup::check};

#[derive(clap::Args)]
pub struct Options {
    /// What the renderer takes
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Ends as the renderer ends.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut build = Command::new(paths::cargo());
    build.current_dir(paths::root()).args(["build", "--quiet", "--release", "--package", "render"]);
    check(&mut build, "the renderer's build")?;
    let program =
        paths::target().join("release").join(if cfg!(windows) { "planescope-render.exe" } else { "planescope-render" });
    let status = Command::new(&program).args(&options.arguments).status();
    let status = status.with_context(|| format!("{} did not start", program.display()))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)))
}
