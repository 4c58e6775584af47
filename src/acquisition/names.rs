//! File names: which picked file a link means.

use unicode_normalization::UnicodeNormalization;

/// The form in which names are compared: composed and without case.
pub fn folded(name: &str) -> String {
    name.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// The last part of a path of any style.
pub fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What `name` is called before `_data_NNNNNN.h5`, and that suffix (folded); `None` for other names.
pub fn data_suffix(name: &str) -> Option<(String, String)> {
    let name = folded(name);
    let at = name.rfind("_data_")?;
    let digits = name[at..].strip_prefix("_data_")?.strip_suffix(".h5")?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (name[..at].to_owned(), name[at..].to_owned()))
}

/// What a set is called: the name of its master, sidecar or data file without what follows the stem (folded).
pub fn stem(name: &str) -> String {
    if let Some((stem, _)) = data_suffix(name) {
        return stem;
    }
    let name = folded(name);
    let name = [".h5", ".hdf5", ".nxs"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    name.strip_suffix("_master").unwrap_or(name).to_owned()
}

/// The number at the end of a link's name.
pub fn trailing_number(name: &str) -> Option<u64> {
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    name[digits..].parse().ok()
}

/// For each of `targets` (paths as written) the place among `picked` names, or `None`.
///
/// Names are matched by their last part. When no target is found like that, the set may have been renamed:
/// then targets are matched by `_data_NNNNNN.h5`, if all that match have one stem in common (of several, the
/// one of `master`).
pub fn pick(targets: &[&str], picked: &[(usize, &str)], master: &str) -> Vec<Option<usize>> {
    let names: Vec<(usize, String)> = picked.iter().map(|(place, name)| (*place, folded(name))).collect();
    let exact = |target: &&str| {
        let wanted = folded(base(target));
        names.iter().find(|(_, name)| *name == wanted).map(|(place, _)| *place)
    };
    let found: Vec<_> = targets.iter().map(exact).collect();
    if found.iter().any(Option::is_some) {
        return found;
    }
    let candidates: Vec<(usize, (String, String))> =
        picked.iter().filter_map(|(place, name)| Some((*place, data_suffix(name)?))).collect();
    let mut stems: Vec<&String> = candidates.iter().map(|(_, (stem, _))| stem).collect();
    stems.sort();
    stems.dedup();
    let own = stem(master);
    let chosen =
        if stems.len() == 1 { stems.first().copied() } else { stems.iter().find(|stem| ***stem == own).copied() };
    let by_suffix = |target: &&str| {
        let (_, wanted) = data_suffix(base(target))?;
        candidates.iter().find(|(_, (stem, suffix))| Some(stem) == chosen && *suffix == wanted).map(|(place, _)| *place)
    };
    targets.iter().map(by_suffix).collect()
}

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
    fn one_file_of_the_right_name_forbids_guessing_the_others() {
        assert_eq!(pick(&["B_data_000001.h5", "old_data_000002.h5"], &PICKED, "x.h5"), [Some(4), None]);
    }

    #[test]
    fn stems_and_numbers_are_found() {
        assert_eq!((stem("x_master.h5"), stem("x_data_000012.h5"), stem("x.h5")), ("x".into(), "x".into(), "x".into()));
        assert_eq!((trailing_number("data_000012"), trailing_number("data")), (Some(12), None));
    }
}
