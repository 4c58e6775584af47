//! What a bundle holds: `manifest.json`, written when it was made and checked whenever it is opened.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Its name in the bundle.
pub const NAME: &str = "manifest.json";
/// The folder of the data.
pub const DATA: &str = "data";
/// The folder of the page.
pub const VIEWER: &str = "viewer";

/// A bundle's table of contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of this table's form.
    pub version: u32,
    /// The series, in order.
    pub sets: Vec<Set>,
    /// Every file but this one.
    pub files: Vec<Entry>,
}

/// One acquisition: names of files in the folder `data`, the master first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Set {
    pub name: String,
    pub files: Vec<String>,
}

/// A file, by its path in the bundle ("data/x_master.h5").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub path: String,
    pub bytes: u64,
    /// SHA-256, hexadecimal.
    pub sha256: String,
}

/// The form of today.
pub const VERSION: u32 = 1;

impl Manifest {
    /// Reads the one in `folder`.
    ///
    /// # Errors
    /// In words, with what to do.
    pub fn read(folder: &Path) -> Result<Self, String> {
        let path = folder.join(NAME);
        let bytes = std::fs::read(&path)
            .map_err(|cause| format!("{} cannot be read ({cause}). Copy the bundle again", path.display()))?;
        let manifest: Self = serde_json::from_slice(&bytes)
            .map_err(|cause| format!("{} is damaged ({cause}). Copy the bundle again", path.display()))?;
        if manifest.version != VERSION {
            return Err(format!(
                "{} has version {}, this launcher knows {VERSION}. Take the launcher that came with it",
                path.display(),
                manifest.version
            ));
        }
        // Nothing outside the bundle is ever read or served.
        match manifest.files.iter().find(|entry| !is_inside(&entry.path)) {
            Some(entry) => Err(format!("{} names {}, which is no file of a bundle", path.display(), entry.path)),
            None => Ok(manifest),
        }
    }

    /// Files of a set, as paths in the bundle.
    pub fn paths<'a>(&'a self, set: &'a Set) -> impl Iterator<Item = String> + 'a {
        set.files.iter().map(|name| format!("{DATA}/{name}"))
    }

    /// Files that are not there, or not as long as they were: what tells a copy that was broken off, at once.
    pub fn lengths(&self, folder: &Path) -> Vec<Fault> {
        self.files.iter().filter_map(|entry| entry.length_fault(folder)).collect()
    }
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// In the bundle.
    pub path: String,
    /// In words.
    pub words: String,
}

impl Entry {
    /// The entry of a file, which is read to its end.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(folder: &Path, path: &str) -> io::Result<Self> {
        let (bytes, sha256) = digest(&place(folder, path))?;
        Ok(Self { path: path.to_owned(), bytes, sha256 })
    }

    fn length_fault(&self, folder: &Path) -> Option<Fault> {
        let words = match std::fs::metadata(place(folder, &self.path)) {
            Err(_) => "is missing".to_owned(),
            Ok(found) if found.len() != self.bytes => {
                format!("has {} bytes instead of {}: it was copied in part, or has changed", found.len(), self.bytes)
            }
            Ok(_) => return None,
        };
        Some(Fault { path: self.path.clone(), words })
    }

    /// Whether the file is still what it was, to its last byte.
    pub fn fault(&self, folder: &Path) -> Option<Fault> {
        if let Some(fault) = self.length_fault(folder) {
            return Some(fault);
        }
        let words = match digest(&place(folder, &self.path)) {
            Err(cause) => format!("cannot be read ({cause})"),
            Ok((_, sha256)) if sha256 != self.sha256 => "has changed since the bundle was made".to_owned(),
            Ok(_) => return None,
        };
        Some(Fault { path: self.path.clone(), words })
    }
}

/// Where a path of the bundle lies.
pub fn place(folder: &Path, path: &str) -> PathBuf {
    path.split('/').fold(folder.to_owned(), |folder, part| folder.join(part))
}

fn is_inside(path: &str) -> bool {
    path.split('/').all(|part| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']))
}

/// Bytes of a file, and their SHA-256.
fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
        bytes += read as u64;
    }
    Ok((bytes, hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("planescope-manifest-{name}-{}", std::process::id()));
        std::fs::create_dir_all(folder.join(DATA)).expect("a folder of our own");
        folder
    }

    #[test]
    fn a_file_that_is_missing_cut_or_changed_is_named() {
        let folder = folder("faults");
        let path = "data/a.h5";
        let write = |bytes: &[u8]| std::fs::write(place(&folder, path), bytes).expect("a file of our own");
        write(b"0123456789");
        let entry = Entry::of(&folder, path).expect("it was written");
        assert_eq!(entry.sha256, "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882");
        assert_eq!(entry.fault(&folder), None);
        write(b"0123456788");
        assert!(entry.length_fault(&folder).is_none());
        assert!(entry.fault(&folder).is_some_and(|fault| fault.path == path && fault.words.contains("changed")));
        write(b"012");
        assert!(entry.length_fault(&folder).is_some_and(|fault| fault.words.contains("3 bytes instead of 10")));
        std::fs::remove_dir_all(&folder).expect("it was made above");
        assert!(entry.fault(&folder).is_some_and(|fault| fault.words == "is missing"));
    }

    #[test]
    fn a_manifest_that_points_out_of_its_folder_is_refused() {
        let folder = folder("inside");
        for path in ["../x", "/etc/passwd", "data/../../x", "C:/x", "data\\x", ""] {
            let files = vec![Entry { path: path.to_owned(), ..Entry::default() }];
            let manifest = Manifest { version: VERSION, files, ..Manifest::default() };
            std::fs::write(folder.join(NAME), serde_json::to_vec(&manifest).expect("plain")).expect("our own");
            assert!(Manifest::read(&folder).is_err(), "{path}");
        }
        std::fs::write(folder.join(NAME), b"{\"version\": 9, \"sets\": [], \"files\": []}").expect("our own");
        assert!(Manifest::read(&folder).is_err_and(|words| words.contains("version 9")));
        std::fs::remove_dir_all(&folder).expect("it was made above");
    }
}
