//! `cargo xtask run`: builds the page, serves it, and opens Chrome on it.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use anyhow::{Context, Result};

use crate::{chrome, page, paths, serve, setup::say, wasm::Profile};

#[derive(clap::Args)]
pub struct Options {
    /// Files of one set (master, data files, sidecar), or folders of them, to open at once
    files: Vec<PathBuf>,
    /// The port on 127.0.0.1; another one is taken where this is in use
    #[arg(long, default_value_t = 8747)]
    port: u16,
    /// Quick to build, slow to run
    #[arg(long)]
    dev: bool,
    /// Only print the address and the flags
    #[arg(long)]
    no_browser: bool,
}

pub fn run(options: &Options) -> Result<()> {
    page::build(if options.dev { Profile::Dev } else { Profile::Release }, &paths::dist())?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let served = serve::serve(&paths::dist(), &options.files, options.port)?;
        println!("planescope: {}", served.url);
        if options.no_browser || !open_chrome(&served.url)? {
            println!("Open this address in Chrome 121 or newer. {}", flags_in_words());
        }
        println!("Ctrl-C ends it.");
        tokio::signal::ctrl_c().await.context("Ctrl-C cannot be heard")
    })
}

/// Opens Chrome on the page; false, with a word why, where it cannot be.
fn open_chrome(url: &str) -> Result<bool> {
    if !chrome::has_display() {
        say("there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set)");
        return Ok(false);
    }
    let Some(program) = chrome::find() else {
        say("no Chrome or Chromium was found; CHROME=PATH names one");
        return Ok(false);
    };
    let profile = chrome::profile("chrome");
    std::fs::create_dir_all(&profile).with_context(|| profile.display().to_string())?;
    let mut command = Command::new(&program);
    command.args(chrome::webgpu()).args(chrome::QUIET).args(chrome::sandbox());
    command.arg(format!("--user-data-dir={}", profile.display())).arg(url);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().with_context(|| format!("{} did not start", program.display()))?;
    say(&format!("opened {} with the profile {}", program.display(), profile.display()));
    Ok(true)
}

fn flags_in_words() -> String {
    if chrome::webgpu().is_empty() {
        return "It needs no flags.".to_owned();
    }
    format!("On Linux it needs: {}", chrome::webgpu().join(" "))
}
