//! On a disk: the files that belong to a master.

use std::path::{Path, PathBuf};

use super::{Opened, Options, open};
use crate::{
    Result,
    source::{ByteSource, Disk},
};

/// The files of one set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Beside {
    /// The master first.
    pub files: Vec<PathBuf>,
    /// Names of linked files that lie nowhere.
    pub missing: Vec<String>,
}

/// What lies beside `master` and belongs to it: the files that it links to, those of a set that was renamed, and its
/// sidecar. A file that links to nothing is a set by itself.
///
/// # Errors
/// `Io` when a file cannot be opened.
pub fn beside(master: &Path) -> Result<Beside> {
    let folder = master.parent().map(Path::to_owned).unwrap_or_default();
    let name = master.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix("_master.h5");
    let mut files = vec![master.to_owned()];
    let mut linked = missing(&opened(&files)?);
    linked.extend(stem.map(|stem| format!("{stem}.h5")));
    let there = linked.iter().map(|name| folder.join(name)).filter(|path| path.is_file());
    files.extend(there);
    let mut left = missing(&opened(&files)?);
    if let Some(stem) = stem.filter(|_| !left.is_empty()) {
        files.extend(data_files(&folder, stem).into_iter().filter(|path| !files.contains(path)).collect::<Vec<_>>());
        left = missing(&opened(&files)?);
    }
    Ok(Beside { files, missing: left })
}

/// `STEM_data_*.h5`, as the detector numbers them.
fn data_files(folder: &Path, stem: &str) -> Vec<PathBuf> {
    let start = format!("{stem}_data_");
    let is_data = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with(&start) && name.ends_with(".h5")
    };
    let entries = std::fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
    let mut files: Vec<PathBuf> =
        entries.into_iter().flatten().flatten().map(|entry| folder.join(entry.file_name())).filter(is_data).collect();
    files.sort();
    files
}

fn opened(files: &[PathBuf]) -> Result<Opened> {
    let disks = files.iter().map(|path| Disk::open(path)).collect::<Result<Vec<_>>>()?;
    let sources: Vec<&dyn ByteSource> = disks.iter().map(|disk| disk as &dyn ByteSource).collect();
    Ok(open(&sources, &Options::default()))
}

fn missing(opened: &Opened) -> Vec<String> {
    let of_sets = opened.sets.iter().flat_map(|set| set.files_missing.clone());
    of_sets.chain(opened.refused.iter().flat_map(|refused| refused.files_missing.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_files_and_sidecar_of_the_demo_set_are_found_from_its_master() -> Result<()> {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/demo");
        let found = beside(&demo.join("demo_master.h5"))?;
        let names = ["demo_master.h5", "demo_data_000001.h5", "demo.h5"].map(|name| demo.join(name));
        assert_eq!(found, Beside { files: names.to_vec(), missing: Vec::new() });
        Ok(())
    }

    #[test]
    fn a_renamed_set_is_found_by_its_numbers_and_a_missing_file_is_named() -> Result<()> {
        let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/demo");
        let folder = std::env::temp_dir().join(format!("planescope-beside-{}", std::process::id()));
        let copy = |from: &str, to: &str| std::fs::copy(demo.join(from), folder.join(to)).expect("a copy of our own");
        std::fs::create_dir_all(&folder).expect("a folder of our own");
        copy("demo_master.h5", "gold_master.h5");
        assert_eq!(beside(&folder.join("gold_master.h5"))?.missing, ["demo_data_000001.h5"]);
        copy("demo_data_000001.h5", "gold_data_000001.h5");
        let found = beside(&folder.join("gold_master.h5"))?;
        std::fs::remove_dir_all(&folder).expect("it was made above");
        assert_eq!((found.files.len(), found.missing.len()), (2, 0));
        Ok(())
    }
}
