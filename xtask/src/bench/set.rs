//! The set that is measured: its files, and what its hashes must come to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::test::data::hdf5_files;

/// Files of one set, and the answer that makes a measurement of it count.
pub struct Set {
    pub name: String,
    /// Absolute, as Chrome wants them.
    pub files: Vec<PathBuf>,
    /// `digest` of `__planescope.hashAll()`, hexadecimal.
    pub digest: String,
    /// Frames with data; `None` where only the digest is known.
    pub frames: Option<u64>,
    /// Which data these are: preset, seed and jitter of a benchmark acquisition, else null.
    pub made_as: Value,
}

impl Set {
    /// A set of these files, or of the HDF5 files in these folders. What its hashes must come to is `digest`, else
    /// what `table` says or the table that lies beside the master (`NAME.expected.json`, see tests/data/bench).
    pub fn of(paths: &[PathBuf], digest: Option<&str>, table: Option<&Path>) -> Result<Self> {
        let mut files = Vec::new();
        for path in paths {
            match path.is_dir() {
                true => files.append(&mut hdf5_files(path)?),
                false => files.push(path.clone()),
            }
        }
        let files = files.iter().map(|path| std::path::absolute(path).map_err(Into::into));
        let files = files.collect::<Result<Vec<_>>>()?;
        for file in &files {
            ensure!(file.is_file(), "{} is not there", file.display());
        }
        let name = name_of(&files).with_context(|| format!("no HDF5 files in {}", shown(paths)))?;
        if let Some(digest) = digest {
            return Ok(Self { name, files, digest: digest.to_lowercase(), frames: None, made_as: Value::Null });
        }
        let beside = files.iter().filter_map(|file| Some(file.parent()?.join(format!("{name}.expected.json"))));
        let Some(table) = table.map(Path::to_owned).or_else(|| beside.into_iter().find(|table| table.is_file())) else {
            bail!(
                "nothing tells what the hashes of {name} must come to: give --digest or --expected, or put \
                 {name}.expected.json beside the master"
            )
        };
        Self::by_table(name, files, &table).with_context(|| table.display().to_string())
    }

    fn by_table(name: String, files: Vec<PathBuf>, table: &Path) -> Result<Self> {
        let table: Value = serde_json::from_str(&std::fs::read_to_string(table)?)?;
        let acquisition = &table["acquisition"];
        let digest = acquisition["totals"]["digest"].as_str().context("no acquisition.totals.digest")?.to_owned();
        let made_as = json!({
            "preset": table["preset"], "seed": table["seed"], "jitter": acquisition["jitter"],
            "scan": acquisition["scan"], "detector": table["detector_shape"],
        });
        Ok(Self { name, files, digest, frames: acquisition["frames"].as_u64(), made_as })
    }

    /// Reads every byte once, so that the files are in the page cache as far as it holds them.
    pub fn warm(&self) -> Result<()> {
        for path in &self.files {
            let mut file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
            std::io::copy(&mut file, &mut std::io::sink()).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// The stem of the master, or of the first file where there is none.
fn name_of(files: &[PathBuf]) -> Option<String> {
    let stems: Vec<String> =
        files.iter().filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned())).collect();
    let master = stems.iter().find_map(|stem| stem.strip_suffix("_master"));
    master.map(str::to_owned).or_else(|| stems.first().cloned())
}

fn shown(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_without_a_known_answer_is_refused_with_what_to_do() {
        let demo = crate::paths::root().join("www/demo");
        let refused =
            Set::of(std::slice::from_ref(&demo), None, None).err().expect("the demo set has no table beside it");
        assert!(refused.to_string().contains("demo.expected.json"), "{refused}");
        let set = Set::of(&[demo], Some("00FF"), None).expect("its digest is given");
        assert_eq!((&*set.name, &*set.digest, set.files.len()), ("demo", "00ff", 3));
    }
}
