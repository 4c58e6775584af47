//! Rust to WebAssembly: one binary of the package becomes `NAME.js` and `NAME_bg.wasm`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::{paths, setup};

/// How much time the build may take for how fast a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// What users get.
    Release,
    /// Quick to build; bounds and overflow are checked at run time.
    Dev,
}

/// Compiles the binaries `names` of the package for wasm32, with further `features`, and returns the folder that holds
/// `NAME.wasm`.
pub fn compile(names: &[&str], features: &[&str], profile: Profile) -> Result<PathBuf> {
    setup::wasm_target()?;
    let mut command = Command::new(paths::cargo());
    command.current_dir(paths::root());
    command.args(["build", "--package", "planescope", "--target", "wasm32-unknown-unknown"]);
    if profile == Profile::Release {
        command.arg("--release");
    }
    for feature in features {
        command.args(["--features", feature]);
    }
    for name in names {
        command.args(["--bin", name]);
    }
    ensure!(command.status().context("cargo did not start")?.success(), "the page did not compile");
    let folder = if profile == Profile::Release { "release" } else { "debug" };
    Ok(paths::target().join("wasm32-unknown-unknown").join(folder))
}

/// Writes `NAME.js` (an ES module) and `NAME_bg.wasm` for a compiled binary into `out`.
pub fn bind(compiled: &Path, name: &str, out: &Path) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(compiled.join(format!("{name}.wasm"))).out_name(name).typescript(false).web(true)?;
    bindgen.generate(out).with_context(|| format!("wasm-bindgen of {name}"))
}

/// Shrinks and speeds up `NAME_bg.wasm` in place.
pub fn optimise(wasm_opt: &Path, arguments: &[String], name: &str, out: &Path) -> Result<()> {
    let wasm = out.join(format!("{name}_bg.wasm"));
    let mut command = setup::node_tool(wasm_opt);
    command.arg(&wasm).arg("-o").arg(&wasm).args(arguments);
    ensure!(command.status().context("wasm-opt did not start")?.success(), "wasm-opt refused {}", wasm.display());
    Ok(())
}
