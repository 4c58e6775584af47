//! Rust to WebAssembly: one binary of the package becomes `NAME.js` and `NAME_bg.wasm`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::{paths, setup, stamp};

/// How much time the build may take for how fast a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// What users get.
    Release,
    /// Quick to build; bounds and overflow are checked at run time.
    Dev,
}

/// Compiles the binary `name` of the package for wasm32, with `features` as cargo's arguments say them.
pub fn compile(name: &str, features: &[&str], profile: Profile) -> Result<()> {
    setup::wasm_target()?;
    let mut command = Command::new(paths::cargo());
    command.current_dir(paths::root());
    command.args(["build", "--package", "planescope", "--target", "wasm32-unknown-unknown", "--bin", name]);
    if profile == Profile::Release {
        command.arg("--release");
    }
    let status = command.args(features).status().context("cargo did not start")?;
    ensure!(status.success(), "{name} did not compile");
    Ok(())
}

/// `NAME.js` (an ES module) and `NAME_bg.wasm` of a compiled binary, optimised with these arguments where there is a
/// wasm-opt; the folder that holds them. It is kept until the binary changes: wasm-opt is slow.
pub fn bind(name: &str, profile: Profile, wasm_opt: Option<(&Path, &[String])>) -> Result<PathBuf> {
    let compiled = if profile == Profile::Release { "release" } else { "debug" };
    let input = paths::target().join("wasm32-unknown-unknown").join(compiled).join(format!("{name}.wasm"));
    let folder = bound(name);
    let arguments = wasm_opt.map_or_else(String::new, |(tool, arguments)| format!("{tool:?} {arguments:?}"));
    let sources = stamp::Sources::default().add_file(&input)?.add(&arguments);
    stamp::made_from(sources, &folder, || {
        let mut bindgen = Bindgen::new();
        bindgen.input_path(&input).out_name(name).typescript(false).omit_default_module_path(false).web(true)?;
        bindgen.generate(&folder).with_context(|| format!("wasm-bindgen of {name}"))?;
        let Some((tool, arguments)) = wasm_opt else { return Ok(()) };
        let wasm = folder.join(format!("{name}_bg.wasm"));
        let mut command = setup::node_tool(tool);
        command.arg(&wasm).arg("-o").arg(&wasm).args(arguments);
        setup::check(&mut command, &format!("wasm-opt on {name}"))
    })?;
    Ok(folder)
}

/// The folder of a binary's module.
pub fn bound(name: &str) -> PathBuf {
    paths::target().join("bound").join(name)
}
