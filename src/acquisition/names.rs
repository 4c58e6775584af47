//! File names: which picked file a link means.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use unicode_normalization::UnicodeNormalization;

/// The form in which names are compared: composed and without case.
pub fn folded(name: &str) -> String {
    name.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// The last part of a path of any style.
pub fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What `name` is called before `_data_NNNNNN.h5`, and `_data_NNNNNN` (folded); `None` for other names.
pub fn data_suffix(name: &str) -> Option<(String, String)> {
    let name = folded(name);
    let name = without_ending(&name)?;
    let at = name.rfind("_data_")?;
    let digits = name[at..].strip_prefix("_data_")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (name[..at].to_owned(), name[at..].to_owned()))
}

/// What a set is called: the name of its master, sidecar or data file without what follows the stem (folded).
pub fn stem(name: &str) -> String {
    if let Some((stem, _)) = data_suffix(name) {
        return stem;
    }
    let name = folded(name);
    let name = without_ending(&name).unwrap_or(&name);
    name.strip_suffix("_master").unwrap_or(name).to_owned()
}

/// The number at the end of a link's name.
pub fn trailing_number(name: &str) -> Option<u64> {
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    name[digits..].parse().ok()
}

/// For each of `targets` (paths as written) the place among `picked` names, or `None`.
///
/// Names are matched by their last part, written as such, as a web address, or with what browsers and file managers
/// add to a second copy. When no target is found like that, the set may have been renamed: then targets are matched
/// by what stays, `_data_NNNNNN` or at least a number at the end, if all names that have one are of one stem (of
/// several stems, that of `master`). A number alone has to match twice, or have the master's stem.
pub fn pick(targets: &[&str], picked: &[(usize, &str)], master: &str) -> Vec<Option<usize>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for name_of in [folded, |name: &str| without_copy_mark(&folded(name)).into_owned()] {
        places.extend(picked.iter().rev().map(|(place, name)| (name_of(name), *place)));
        let wanted = |target: &&str| {
            let exact = folded(base(target));
            places.get(&exact).or_else(|| places.get(&folded(base(&unescaped(target))))).copied()
        };
        let found: Vec<_> = targets.iter().map(wanted).collect();
        if found.iter().any(Option::is_some) {
            return found;
        }
    }
    let own = stem(master);
    let found = by_part(targets, picked, &own, data_suffix);
    if found.iter().any(Option::is_some) {
        return found;
    }
    let found = by_part(targets, picked, &own, numbered);
    let count = found.iter().flatten().count();
    let has_own_stem = || picked.iter().any(|(_, name)| numbered(name).is_some_and(|(stem, _)| stem == own));
    if count > 1 || has_own_stem() { found } else { vec![None; targets.len()] }
}

/// Matches by the second of the two parts of a name; all matched names have the same first one.
fn by_part(
    targets: &[&str],
    picked: &[(usize, &str)],
    own_stem: &str,
    parts: fn(&str) -> Option<(String, String)>,
) -> Vec<Option<usize>> {
    let candidates: Vec<(usize, (String, String))> =
        picked.iter().filter_map(|(place, name)| Some((*place, parts(name)?))).collect();
    let stems: BTreeSet<&str> = candidates.iter().map(|(_, (stem, _))| stem.as_str()).collect();
    let chosen = if stems.len() == 1 { stems.first().copied() } else { stems.get(own_stem).copied() };
    let of_stem = candidates.iter().filter(|(_, (stem, _))| Some(stem.as_str()) == chosen);
    let places: HashMap<&str, usize> = of_stem.rev().map(|(place, (_, part))| (part.as_str(), *place)).collect();
    targets.iter().map(|target| places.get(parts(base(target))?.1.as_str()).copied()).collect()
}

/// What `name` is called before the number at its end, and that number without leading zeros (folded).
fn numbered(name: &str) -> Option<(String, String)> {
    let name = folded(name);
    let name = without_ending(&name)?;
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = trailing_number(name)?;
    let stem = stem.trim_end_matches(['_', '-', '.', ' ']);
    Some((stem.strip_suffix("_data").unwrap_or(stem).to_owned(), number.to_string()))
}

/// A file's name without its ending and without the mark of a second copy; `None` where the ending is not that of an
/// HDF5 file.
fn without_ending(name: &str) -> Option<&str> {
    let name = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))?;
    Some(name.strip_suffix(copy_mark(name)).unwrap_or(name))
}

/// "x (1).h5" and "x - copy.h5" as "x.h5".
fn without_copy_mark(name: &str) -> Cow<'_, str> {
    let ending = ENDINGS.iter().find(|ending| name.ends_with(**ending)).copied().unwrap_or("");
    match without_ending(name) {
        Some(rest) if rest.len() + ending.len() < name.len() => Cow::Owned(format!("{rest}{ending}")),
        _ => Cow::Borrowed(name),
    }
}

/// What a browser or file manager put at the end of the name of a second copy; empty for other names.
fn copy_mark(name: &str) -> &str {
    let in_brackets = || {
        let at = name.strip_suffix(')')?.rfind(" (")?;
        let digits = &name[at + 2..name.len() - 1];
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| &name[at..])
    };
    let in_words = || [" - copy", " copy"].into_iter().find(|mark| name.ends_with(mark));
    in_brackets().or_else(in_words).unwrap_or("")
}

/// A path in which `%20` stands for a blank.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How names of HDF5 files end.
const ENDINGS: [&str; 4] = [".h5", ".hdf5", ".hdf", ".nxs"];

#[cfg(test)]
mod tests {
    use super::*;

    const PICKED: [(usize, &str); 3] =
        [(4, "B_data_000001.h5"), (7, "B_data_000002.h5"), (9, "Gr\u{e4}phen_data_000001.h5")];

    #[test]
    fn a_link_finds_its_file_by_the_last_part_of_any_path() {
        let targets = ["raw/b_data_000002.h5", "C:\\x\\Gra\u{308}phen_data_000001.h5", "b_data_000003.h5"];
        assert_eq!(pick(&targets, &PICKED, "B_master.h5"), [Some(7), Some(9), None]);
    }

    #[test]
    fn a_renamed_set_is_found_by_its_numbers_unless_two_sets_could_be_meant() {
        let targets = ["old_data_000001.h5", "old_data_000002.h5"];
        assert_eq!(pick(&targets, &PICKED[..2], "B_master.h5"), [Some(4), Some(7)]);
        assert_eq!(pick(&targets, &PICKED, "B_master.h5"), [Some(4), Some(7)]);
        assert_eq!(pick(&targets, &PICKED, "other_master.h5"), [None, None]);
    }

    #[test]
    fn second_copies_and_web_addresses_are_the_files_that_they_name() {
        let picked = [(0, "my set_data_000001 (1).h5"), (1, "my set_data_000002 - Copy.h5"), (2, "dark (0001).h5")];
        let targets = ["file:///raw/my%20set_data_000001.h5", "My Set_data_000002.h5", "my%zzset_data_000003.h5"];
        assert_eq!(pick(&targets, &picked, "my set_master.h5"), [Some(0), Some(1), None]);
    }

    #[test]
    fn names_that_keep_only_their_numbers_are_matched_when_several_do_so() {
        let picked = [(3, "lamella_0001.hdf5"), (5, "lamella_0002.hdf5")];
        let targets = ["series_7_000001.h5", "series_7_000002.h5", "series_7_000003.h5"];
        assert_eq!(pick(&targets, &picked, "run_master.h5"), [Some(3), Some(5), None]);
        assert_eq!(pick(&targets, &picked[..1], "run_master.h5"), [None; 3]);
        assert_eq!(pick(&targets, &picked[..1], "lamella_master.h5"), [Some(3), None, None]);
    }

    #[test]
    fn one_file_of_the_right_name_forbids_guessing_the_others() {
        assert_eq!(pick(&["B_data_000001.h5", "old_data_000002.h5"], &PICKED, "x.h5"), [Some(4), None]);
    }

    #[test]
    fn stems_and_numbers_are_found() {
        assert_eq!((stem("x_master.h5"), stem("x_data_000012.h5"), stem("x.h5")), ("x".into(), "x".into(), "x".into()));
        assert_eq!((trailing_number("data_000012"), trailing_number("data")), (Some(12), None));
    }
}
