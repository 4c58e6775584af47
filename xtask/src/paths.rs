//! Where things lie in the repository.

use std::path::PathBuf;

/// The repository's root. Cargo says at run time where the package lies, so a moved checkout needs no new build.
pub fn root() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let xtask = PathBuf::from(manifest);
    xtask.parent().map_or_else(|| xtask.clone(), PathBuf::from)
}

/// Everything that is built or made: `$CARGO_TARGET_DIR`, else `target/`.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |path| root().join(path))
}

/// The page as Chrome gets it.
pub fn dist() -> PathBuf {
    root().join("dist")
}

/// The page of the twin tests.
pub fn twins_page() -> PathBuf {
    target().join("twins-page")
}

/// The cargo that runs this, so that nested builds use the same toolchain.
pub fn cargo() -> std::ffi::OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}
