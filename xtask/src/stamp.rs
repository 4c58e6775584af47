//! Folders that are made from something, and made again only when that has changed.

use std::{fmt::Write as _, fs, path::Path};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// What a folder is made from: SHA-256 over all that was added.
#[derive(Default)]
pub struct Sources(Sha256);

impl Sources {
    pub fn add(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.update(bytes);
        self
    }

    /// The contents of a file.
    pub fn add_file(self, path: &Path) -> Result<Self> {
        Ok(self.add(fs::read(path).with_context(|| path.display().to_string())?))
    }

    fn in_words(self) -> String {
        self.0.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// Empties `folder` and runs `make`, unless the folder was made from these very sources before.
pub fn made_from(sources: Sources, folder: &Path, make: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = folder.join("made-from.txt");
    let wanted = sources.in_words();
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(folder)?;
    make()?;
    fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_again_only_from_other_sources() -> Result<()> {
        let folder = std::env::temp_dir().join(format!("planescope-stamp-{}", std::process::id()));
        let mut made = 0;
        for source in ["a", "a", "b"] {
            made_from(Sources::default().add(source), &folder, || {
                made += 1;
                Ok(())
            })?;
        }
        fs::remove_dir_all(&folder)?;
        assert_eq!(made, 2);
        Ok(())
    }
}
