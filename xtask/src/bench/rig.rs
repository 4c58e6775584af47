//! What a measurement runs on: Chrome, its flags, the page, and what the host says of its GPU.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, ensure};

use super::visit::Setup;
use crate::{
    chrome, page, paths,
    serve::{self, Served},
    setup::say,
    wasm::Profile,
};

#[derive(clap::Args, Clone, Debug)]
pub struct Rig {
    /// A page that was built before; without it, it is built first
    #[arg(long, value_name = "DIR")]
    pub dist: Option<PathBuf>,
    /// Chrome or Chromium, where it is not at its usual place or in $CHROME
    #[arg(long, value_name = "FILE")]
    pub chrome: Option<PathBuf>,
    /// All of Chrome's flags, separated by blanks, in place of those that are right for most GPUs
    #[arg(long, allow_hyphen_values = true)]
    pub flags: Option<String>,
    /// In a window
    #[arg(long, conflicts_with = "flags")]
    pub headed: bool,
    /// The longest that one answer of the page may take, s
    #[arg(long, default_value_t = 300)]
    pub limit: u64,
}

impl Rig {
    /// The folder of the page; builds it where none was named.
    pub fn page(&self) -> Result<PathBuf> {
        let dist = match &self.dist {
            Some(dist) => dist.clone(),
            None => {
                page::build(Profile::Release, &paths::dist())?;
                paths::dist()
            }
        };
        ensure!(dist.join("index.html").is_file(), "{} holds no page", dist.display());
        Ok(dist)
    }

    /// Serves the page, with `files` beside it.
    pub async fn setup(&self, dist: &Path, files: &[PathBuf], allows_software: bool) -> Result<(Setup, Served)> {
        let program = self.chrome.clone().or_else(chrome::find);
        let scratch = std::env::temp_dir().join(format!("planescope-bench-{}", std::process::id()));
        let served = serve::serve(dist, files, 0)?;
        let setup = Setup {
            program: program.context("no Chrome or Chromium was found: --chrome FILE names one")?,
            flags: self.flags(),
            url: served.page.clone(),
            scratch,
            limit: Duration::from_secs(self.limit),
            allows_software,
        };
        Ok((setup, served))
    }

    fn flags(&self) -> Vec<String> {
        if let Some(flags) = &self.flags {
            return flags.split_whitespace().map(str::to_owned).collect();
        }
        let mut flags = vec![chrome::FINE_TIMESTAMPS];
        flags.extend(chrome::sandbox());
        flags.extend(if self.headed { &[] } else { chrome::HEADLESS.as_slice() });
        if cfg!(target_os = "linux") {
            flags.extend(chrome::LINUX_WEBGPU.iter().filter(|flag| self.headed || !flag.starts_with("--ozone")));
        }
        flags.into_iter().map(str::to_owned).collect()
    }
}

impl Setup {
    /// Removes the profiles of the browsers, unless something went wrong that Chrome's log may explain.
    pub fn tidy(&self, keeps_log: bool) {
        match keeps_log {
            true => say(&format!("Chrome's log is in {}", self.scratch.display())),
            // Nothing depends on it: the name is this process's own.
            false => drop(std::fs::remove_dir_all(&self.scratch)),
        }
    }
}

/// Driver, clock and temperature as the host's own tool gives them: name, driver, SM clock, its maximum, temperature,
/// reasons for a lowered clock. `None` where there is no such tool.
pub fn host_gpu() -> Option<String> {
    let query =
        "--query-gpu=name,driver_version,clocks.sm,clocks.max.sm,temperature.gpu,clocks_throttle_reasons.active";
    let output = Command::new("nvidia-smi").args([query, "--format=csv,noheader"]).output().ok()?;
    let line = String::from_utf8_lossy(&output.stdout).lines().next()?.trim().to_owned();
    (output.status.success() && !line.is_empty()).then_some(line)
}
