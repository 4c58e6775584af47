//! The sets of a bundle: which files belong to each, what they are called there, and how they get there.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use launcher::manifest::Set;
use planescope::acquisition::beside;

use crate::setup::say;

/// A set, its files, and their names in the bundle.
pub struct Source {
    name: String,
    files: Vec<(PathBuf, String)>,
}

/// The sets of these masters, in their order.
pub fn sets(masters: &[PathBuf], is_anonymous: bool) -> Result<Vec<Source>> {
    let digits = masters.len().to_string().len().max(2);
    let mut taken = BTreeSet::new();
    let mut sets = Vec::new();
    for (place, master) in masters.iter().enumerate() {
        let found = beside(master).with_context(|| master.display().to_string())?;
        for missing in &found.missing {
            say(&format!("{}: {missing} is not beside it; the bundle lacks it", master.display()));
        }
        let stem = stem(&file_name(master)?);
        let name = if is_anonymous { format!("set-{:0digits$}", place + 1) } else { stem.clone() };
        let mut files = Vec::new();
        for file in found.files {
            let old = file_name(&file)?;
            let new = if is_anonymous { renamed(&old, &stem, &name) } else { old };
            ensure!(taken.insert(new.clone()), "two files of the bundle would be called {new}: pass --anonymous");
            files.push((file, new));
        }
        sets.push(Source { name, files });
    }
    Ok(sets)
}

/// Puts all files into `folder`.
pub fn place(folder: &Path, sets: Vec<Source>) -> Result<Vec<Set>> {
    fs::create_dir_all(folder)?;
    let (mut linked, mut copied) = (0, 0);
    for (from, name) in sets.iter().flat_map(|set| &set.files) {
        // What a link in a folder points to is meant, not the link.
        let from = from.canonicalize().with_context(|| from.display().to_string())?;
        let to = folder.join(name);
        match fs::hard_link(&from, &to) {
            Ok(()) => linked += 1,
            Err(_) => {
                fs::copy(&from, &to).with_context(|| from.display().to_string())?;
                copied += 1;
            }
        }
    }
    say(&format!("{linked} files of the sets are hard links, {copied} are copies"));
    let set = |set: Source| Set { name: set.name, files: set.files.into_iter().map(|(_, name)| name).collect() };
    Ok(sets.into_iter().map(set).collect())
}

/// A file of a set under its new name: the set's own name goes, the numbers of its files stay.
fn renamed(file: &str, stem: &str, name: &str) -> String {
    match file.strip_prefix(stem) {
        Some(rest) => format!("{name}{rest}"),
        // A data file may be called otherwise than its master.
        None => match file.rsplit_once("_data_") {
            Some((_, number)) => format!("{name}_data_{number}"),
            None => format!("{name}_{}", file.len()),
        },
    }
}

fn stem(name: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.strip_suffix("_master").unwrap_or(stem).to_owned()
}

fn file_name(path: &Path) -> Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(name.with_context(|| format!("{} has no name that is text", path.display()))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_files_keep_what_tells_them_apart_and_nothing_of_their_name() {
        assert_eq!(renamed("secret_master.h5", "secret", "set-01"), "set-01_master.h5");
        assert_eq!(renamed("secret_data_000002.h5", "secret", "set-01"), "set-01_data_000002.h5");
        assert_eq!(renamed("secret.h5", "secret", "set-01"), "set-01.h5");
        assert_eq!(renamed("older_data_000002.h5", "secret", "set-01"), "set-01_data_000002.h5");
    }

    #[test]
    fn sets_are_found_from_their_masters_in_their_order() -> Result<()> {
        let demo = crate::paths::root().join("www/demo/demo_master.h5");
        let found = sets(&[demo.clone(), demo.clone()], true)?;
        let names: Vec<&str> = found.iter().flat_map(|set| &set.files).map(|(_, name)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "set-01_master.h5",
                "set-01_data_000001.h5",
                "set-01.h5",
                "set-02_master.h5",
                "set-02_data_000001.h5",
                "set-02.h5"
            ]
        );
        let refused = sets(&[demo.clone(), demo], false).err().context("two files have one name")?;
        assert!(refused.to_string().contains("demo_master.h5"), "{refused}");
        Ok(())
    }
}
