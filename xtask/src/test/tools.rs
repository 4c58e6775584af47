//! What the tests need and the machine may lack: Chrome, software Vulkan drivers, an X server, Python.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::{
    chrome, paths,
    setup::{check, install, runs, say},
};

/// Chrome, installed from Debian's packages where there is none.
pub fn chrome() -> Result<PathBuf> {
    if chrome::find().is_none() {
        install("Chromium, to test the page in", &["chromium", "fonts-dejavu-core"])?;
    }
    chrome::find().context("Chromium was installed but is not found; CHROME=PATH names it")
}

/// Mesa's software Vulkan driver, as the file that the Vulkan loader reads.
pub fn lavapipe() -> Result<PathBuf> {
    let find = || {
        let entries = std::fs::read_dir("/usr/share/vulkan/icd.d").into_iter().flatten().flatten();
        let is_lavapipe =
            |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lvp_icd"));
        entries.map(|entry| entry.path()).find(is_lavapipe)
    };
    if find().is_none() {
        install("Mesa's software Vulkan driver, to run the shaders natively", &["mesa-vulkan-drivers", "libvulkan1"])?;
    }
    find().context("Mesa's Vulkan drivers were installed but lavapipe is not among them")
}

/// SwiftShader's Vulkan driver, which comes with Chrome.
pub fn swiftshader(chrome: &Path) -> Option<PathBuf> {
    let program = chrome.canonicalize().unwrap_or_else(|_| chrome.to_owned());
    let beside = program.parent().map(Path::to_owned);
    let usual = ["/usr/lib/chromium", "/opt/google/chrome", "/usr/lib/chromium-browser"].map(PathBuf::from);
    let folders = beside.into_iter().chain(usual);
    folders.map(|folder| folder.join("vk_swiftshader_icd.json")).find(|path| path.is_file())
}

/// The Python with which test data are made: `$PLANESCOPE_VENV`, else an environment in `target/venv`.
pub fn python() -> Result<PathBuf> {
    let given = env::var_os("PLANESCOPE_VENV").map(PathBuf::from);
    let home = given.clone().unwrap_or_else(|| paths::target().join("venv"));
    let python = home.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let ready = || {
        let mut question = Command::new(&python);
        question.args(["-c", "import h5py, hdf5plugin, numpy"]).stdout(Stdio::null()).stderr(Stdio::null());
        question.status().is_ok_and(|status| status.success())
    };
    if ready() {
        return Ok(python);
    }
    ensure!(given.is_none(), "{} cannot import h5py, hdf5plugin and numpy", python.display());
    let python3 = if cfg!(windows) { "python" } else { "python3" };
    let has_venv = || {
        let mut question = Command::new(python3);
        question.args(["-c", "import venv, ensurepip"]).stdout(Stdio::null()).stderr(Stdio::null());
        question.status().is_ok_and(|status| status.success())
    };
    if !has_venv() {
        install("Python's venv, to make test data", &["python3", "python3-venv"])?;
    }
    say(&format!("installing h5py, hdf5plugin and numpy from PyPI into {}", home.display()));
    check(Command::new(python3).args(["-m", "venv", "--clear"]).arg(&home), "python3 -m venv")?;
    let requirements = paths::root().join("tests/data/fixtures/requirements.txt");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    check(Command::new(&python).args(pip).arg(requirements), "pip install")?;
    ensure!(ready(), "{} still cannot import h5py, hdf5plugin and numpy", python.display());
    Ok(python)
}

/// The source of axe-core, installed from its lock file by npm where it is not there yet.
pub fn axe() -> Result<String> {
    let folder = paths::target().join("axe");
    let source = folder.join("node_modules/axe-core/axe.min.js");
    if !source.is_file() {
        let lock = paths::root().join("xtask/axe");
        if !runs("npm", "--version") {
            install("npm, to install axe-core", &["npm"])?;
        }
        std::fs::create_dir_all(&folder)?;
        for name in ["package.json", "package-lock.json"] {
            std::fs::copy(lock.join(name), folder.join(name))?;
        }
        say(&format!("installing axe-core from npm into {}", folder.display()));
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]).current_dir(&folder);
        check(&mut npm, "npm ci")?;
    }
    std::fs::read_to_string(&source).with_context(|| source.display().to_string())
}

/// An X server without a screen, for a headed Chrome.
pub struct Display {
    process: Child,
    /// The display's name, as in `$DISPLAY`.
    pub name: String,
}

impl Display {
    /// Starts Xvfb on the first free display; its screen takes the largest window of the tests.
    pub fn start() -> Result<Self> {
        if !runs("Xvfb", "-help") {
            install("Xvfb, to test the page in a window", &["xvfb"])?;
        }
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "2560x1440x24", "-nolisten", "tcp"]);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().context("Xvfb did not start")?;
        let mut number = String::new();
        if let Some(output) = process.stdout.as_mut() {
            std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut number)?;
        }
        let name = format!(":{}", number.trim());
        let display = Display { process, name };
        ensure!(!number.trim().is_empty(), "Xvfb found no free display");
        Ok(display)
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        // Neither can fail in a way that matters: the server is then gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
