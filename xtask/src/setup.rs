//! What a build or a test needs and the machine may lack. Every installation is said before it starts.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{chrome, paths};

/// The release of npm's `binaryen` that optimises the page. Older ones (Debian's 108 among them) silently break
/// modules with reference types.
const BINARYEN: &str = "132.0.0";

/// Says what is going on; everything that takes long is announced through here.
pub fn say(text: &str) {
    eprintln!("xtask: {text}");
}

/// Makes sure that rustc can compile for wasm32.
pub fn wasm_target() -> Result<()> {
    rust_target("wasm32-unknown-unknown")
}

fn rust_target(target: &str) -> Result<()> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = Command::new(rustc).args(["--print", "sysroot"]).output().context("rustc did not start")?;
    let sysroot = PathBuf::from(String::from_utf8_lossy(&sysroot.stdout).trim());
    if sysroot.join("lib/rustlib").join(target).join("lib").is_dir() {
        return Ok(());
    }
    say(&format!("installing rustc's {target} target with rustup"));
    let done = Command::new("rustup").args(["target", "add", target]).status();
    ensure!(
        done.is_ok_and(|status| status.success()),
        "rustc has no {target} target and `rustup target add {target}` failed"
    );
    Ok(())
}

/// The target of the launcher for Windows.
pub const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// Makes sure that rustc and a linker can build for Windows.
pub fn windows_target() -> Result<()> {
    rust_target(WINDOWS)?;
    if !runs("x86_64-w64-mingw32-gcc", "--version") {
        install("a linker for Windows, to build the launcher", &["gcc-mingw-w64-x86-64-win32"])?;
    }
    Ok(())
}

/// wasm-opt of npm's `binaryen`, installed under `target/`; `None`, said aloud, where npm is missing or cannot install.
pub fn wasm_opt() -> Option<PathBuf> {
    let home = paths::target().join("npm");
    let package = home.join("node_modules/binaryen");
    let wasm_opt = package.join("bin/wasm-opt");
    let manifest = std::fs::read_to_string(package.join("package.json")).unwrap_or_default();
    if manifest.contains(&format!("\"version\": \"{BINARYEN}\"")) && wasm_opt.is_file() {
        return Some(wasm_opt);
    }
    let skip = "the page is built without wasm-opt: it works, but is larger and somewhat slower";
    if !runs("npm", "--version") || !runs("node", "--version") {
        say(&format!("npm and node are not there; {skip}"));
        return None;
    }
    say(&format!("installing binaryen {BINARYEN} (wasm-opt) from npm into {}", home.display()));
    std::fs::create_dir_all(&home).ok()?;
    let done = npm()
        .current_dir(&home)
        .args(["install", "--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--loglevel=error"])
        .args(["--prefix", "."])
        .arg(format!("binaryen@{BINARYEN}"))
        .stdout(Stdio::null())
        .status();
    if done.is_ok_and(|status| status.success()) && wasm_opt.is_file() {
        return Some(wasm_opt);
    }
    say(&format!("npm could not install binaryen; {skip}"));
    None
}

/// Installs Debian packages, as root or with sudo.
pub fn install(what: &str, packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    if !runs("apt-get", "--version") {
        bail!("missing: {what}. Without apt-get it has to be installed by hand (Debian calls it {list})");
    }
    let apt = |arguments: &[&str]| -> Result<()> {
        let mut command = if chrome::is_root() { Command::new("apt-get") } else { Command::new("sudo") };
        if !chrome::is_root() {
            command.arg("apt-get");
        }
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()).stdout(Stdio::null());
        check(&mut command, &format!("apt-get {}", arguments.join(" ")))
    };
    say(&format!("installing {what} (apt-get install {list})"));
    apt(&["update", "-qq"])?;
    let mut arguments = vec!["install", "-y", "-qq", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments)
}

/// A command that runs a script of an npm package with node.
pub fn node_tool(script: &Path) -> Command {
    let mut command = Command::new("node");
    command.arg(script);
    command
}

/// Whether `program` can be started at all.
pub fn runs(program: &str, question: &str) -> bool {
    let mut command = if program == "npm" { npm() } else { Command::new(program) };
    command.arg(question).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs a command to its end; a failure names it.
pub fn check(command: &mut Command, what: &str) -> Result<()> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("{what} failed ({status})"),
        Err(error) => bail!("{what} did not start: {error}"),
    }
}

/// npm is a script, which Windows finds by its full name only.
fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}
