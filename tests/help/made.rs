//! Files that a script makes for one test.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The folder with the files that `tests/data/NAME/make_files.py FOLDER ARGUMENTS` makes with the Python that
/// `PLANESCOPE_PYTHON` names (it has h5py and hdf5plugin); `None`, said so, where none is named.
///
/// # Errors
/// When the script cannot be run, or fails.
pub fn made(name: &str, arguments: &[String]) -> Result<Option<PathBuf>, Box<dyn std::error::Error>> {
    let Some(python) = env::var_os("PLANESCOPE_PYTHON") else {
        eprintln!("skipped: PLANESCOPE_PYTHON is not set");
        return Ok(None);
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name).join("make_files.py");
    let status = Command::new(python).arg(script).arg(&folder).args(arguments).status()?;
    if !status.success() {
        return Err(format!("{name}/make_files.py {} failed", arguments.join(" ")).into());
    }
    Ok(Some(folder))
}
