//! What has to be told of a set, in the page's words.

use super::{Acquisition, AxesFrom, Fact, Opened, ScanFrom, search::USUAL};
use crate::{Error, Kind, shape::Scan};

/// True for what makes a set partial or unreadable, in contrast to a remark.
pub fn is_fault(key: &str) -> bool {
    gravity(key) < REMARK
}

/// Sorts what has to be told: the gravest first.
pub fn by_gravity(notices: &mut [Error]) {
    notices.sort_by_key(|notice| gravity(&notice.key));
}

/// Place in the order of gravity; what is no fault comes last.
pub fn gravity(key: &str) -> usize {
    let order = [
        "unreadable",
        "truncated",
        "missing_source",
        "corrupt_chunk",
        "unsupported",
        "corrupt_metadata",
        "unwritten",
        "not_hdf5",
        "empty_file",
        "no_image_data",
        "too_large",
    ];
    order.iter().position(|known| key.starts_with(known)).unwrap_or(REMARK)
}

/// The sentence that the page shows first: the gravest fault, or what was read.
pub fn message(opened: &Opened) -> String {
    match (opened.sets.first(), opened.refused.first()) {
        (Some(set), _) => match set.notices.iter().find(|notice| is_fault(&notice.key)) {
            Some(fault) => fault.to_string(),
            None => summary(set),
        },
        (None, Some(refused)) => refused.error.to_string(),
        (None, None) => "No file was given.".to_owned(),
    }
}

/// One line about a set: patterns, detector, scan and its reason.
pub fn summary(set: &Acquisition) -> String {
    let Scan { rows, cols } = set.scan.shape;
    let reason = match set.scan.from {
        ScanFrom::Sidecar => "from the sidecar",
        ScanFrom::Stored => "as stored",
        ScanFrom::Ntrigger => "one trigger per line",
        ScanFrom::Square => "square",
        ScanFrom::Guess => "a guess",
        ScanFrom::Entered => "as entered",
    };
    let surplus = match set.scan.surplus(set.frames) {
        0 => String::new(),
        left @ 1.. => format!(", {} left over at the end", counted(left.unsigned_abs(), "pattern")),
        lacking => format!(", {} without a pattern", counted(lacking.unsigned_abs(), "position")),
    };
    let detector = set.detector;
    format!(
        "{} of {} × {} px, {}, scan {rows} × {cols} ({reason}){surplus}.",
        counted(set.frames.into(), "pattern"),
        detector.rows,
        detector.cols,
        set.dtype.name()
    )
}

/// "1 pattern", "1,050 patterns".
pub fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// 62441880 as 62,441,880.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let first = digits.len() % 3;
    let groups = digits.as_bytes()[first..].chunks(3).map(|group| String::from_utf8_lossy(group).into_owned());
    let head = (first > 0).then(|| digits[..first].to_owned());
    head.into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

/// 60 × 192 × 192.
pub fn sides(dims: &[u64]) -> String {
    dims.iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}

/// Names in a list that stays short.
pub fn listed(names: &[String]) -> String {
    match names.len() {
        0..=6 => names.join(", "),
        more => format!("{} and {} more", names[..5].join(", "), thousands(more as u64 - 5)),
    }
}

pub fn missing_files(missing: &[String], linked: u32, readable: u64, expected: u64) -> Error {
    let what = format!("{} of {} missing", thousands(missing.len() as u64), counted(linked.into(), "data file"));
    let e = Error::new(Kind::File, "missing_source", what).at(listed(missing));
    e.expected(counted(expected, "pattern"))
        .found(format!("{}; the rest is left out of every sum", thousands(readable)))
        .action("Add the files, or go on without them")
}

pub fn master_alone(name: &str, missing: &[String], linked: u32) -> Error {
    let e = Error::new(Kind::File, "missing_source", "Only the master was given").at(name);
    e.expected(format!("its {}: {}", counted(linked.into(), "data file"), listed(missing)))
        .found("none of them")
        .action("Open the whole folder, or add the files")
}

pub fn cut_short(name: &str, expected_bytes: u64, found_bytes: u64, whole: Option<(u64, u64)>) -> Error {
    let e = Error::new(Kind::File, "truncated", "The file is cut short").at(name);
    let found = match whole {
        Some((whole, of)) => {
            format!("{}; {} of {} whole", thousands(found_bytes), thousands(whole), counted(of, "pattern"))
        }
        None => thousands(found_bytes),
    };
    e.expected(format!("{} bytes", thousands(expected_bytes)))
        .found(found)
        .action("Use the whole patterns, or copy the file again")
}

pub fn unwritten(place: String, unwritten: u64, of: u64) -> Error {
    let what = if unwritten == 1 {
        "1 pattern was never written".to_owned()
    } else {
        format!("{} were never written", counted(unwritten, "pattern"))
    };
    let e = Error::new(Kind::File, "unwritten", what).at(place);
    e.expected(counted(of, "pattern")).found(thousands(of - unwritten)).action("They are left out of every sum")
}

pub fn open_for_writing(name: &str) -> Error {
    let e = Error::new(Kind::File, "swmr_open", "The file was still being written when it was copied").at(name);
    e.action("Patterns written later are not in it; copy it again when the run has ended")
}

pub fn scan_remark(set: &Acquisition) -> Option<Error> {
    let Scan { rows, cols } = set.scan.shape;
    let surplus = set.scan.surplus(set.frames);
    let patterns = counted(set.frames.into(), "pattern");
    let remark = |key: &'static str, what: &str, found: String| {
        Some(
            Error::new(Kind::File, key, what)
                .at(patterns.clone())
                .found(found)
                .action("Keep it, or edit the scan shape"),
        )
    };
    match (set.scan.from, surplus) {
        (ScanFrom::Guess, _) => remark("scan_guess", "The scan shape is a guess", format!("{rows} × {cols}")),
        (_, 0) => None,
        (_, 1..) => remark(
            "surplus",
            "More patterns than scan positions",
            format!("{rows} × {cols} positions; {} left over at the end", thousands(surplus.unsigned_abs())),
        ),
        (_, _) => remark(
            "deficit",
            "Fewer patterns than scan positions",
            format!("{rows} × {cols} positions; {} without a pattern", thousands(surplus.unsigned_abs())),
        ),
    }
}

/// That the chunks of a dataset of more than four axes do not follow one another.
pub fn scattered_axes(place: String, dims: &[u64]) -> Error {
    let e =
        Error::new(Kind::Unsupported, "unsupported_structure", "Data of so many axes cannot be read in these chunks");
    e.at(place).expected("at most 4 axes, or chunks that follow one another").found(sides(dims)).action(
        "Rewrite the dataset with one pattern to a chunk, for example with h5repack -l DATASET:CHUNK=1x1x1xROWSxCOLS",
    )
}

/// That a dataset of more than four axes is read as one of four.
pub fn folded_axes(stored: &[u64], read: &[u64]) -> Fact {
    Fact { name: "Axes".to_owned(), value: format!("{}, read as {}", sides(stored), sides(read)) }
}

/// An order of axes that is a guess, or that the shape speaks against.
pub fn axes_remark(set: &Acquisition) -> Option<Error> {
    let axes = &set.stored.axes;
    let place = format!("{}, {}", set.dataset, sides(&set.stored.dims));
    let is_odd =
        axes.from == AxesFrom::Usual && matches!(set.stored.dims[..], [a, b, c] if a == b && b != c && a >= LEAST_SIDE);
    let what = match axes.from.is_guess() {
        true => "The order of the axes is a guess",
        false if is_odd && set.dataset != USUAL => "The axes may stand in another order",
        false => return None,
    };
    let e = Error::new(Kind::File, "axes_guess", what).at(place);
    Some(e.found(format!("{}: {}", axes.order, axes.from.words())).action("Keep it, or choose another order"))
}

pub fn no_image(name: &str, found: String) -> Error {
    let e = Error::new(Kind::File, "no_image_data", "Not a 4D-STEM set").at(name);
    let action = match found.starts_with("a single image") {
        true => "A mask, flat field or virtual image is no set by itself: open the file with the patterns",
        false => "Open another file",
    };
    e.expected("a dataset of patterns").found(found).action(action)
}

pub fn unsupported_dtype(place: String, numpy: &str) -> Error {
    let e = Error::new(Kind::Unsupported, format!("unsupported_dtype:{numpy}"), "This element type cannot be read")
        .at(place);
    e.expected("integers of 8 to 64 bits, or floats of 16 to 64")
        .found(numpy)
        .action("Convert the dataset to one of these types")
}

pub fn too_large(place: String, dims: &[u64]) -> Error {
    let e = Error::new(Kind::Unsupported, "too_large", "The dataset is larger than can be shown").at(place);
    e.expected(format!("at most {} patterns of {} pixels", thousands(MOST_FRAMES.into()), thousands(MOST_PIXELS)))
        .found(sides(dims))
}

/// Frames of a set, and positions of a scan: a scan of 4096 x 4096, for which a page has a value each.
pub const MOST_FRAMES: u32 = 1 << 24;
/// Pixels of a detector: the largest detectors that write such files have 18 million.
pub const MOST_PIXELS: u64 = 20 << 20;
const REMARK: usize = 100;
/// Two equal axes of at least so many elements look like a detector.
const LEAST_SIDE: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        let values = [0, 999, 1000, 62_441_880];
        assert_eq!(values.map(thousands), ["0", "999", "1,000", "62,441,880"]);
    }

    #[test]
    fn a_master_alone_names_what_it_needs() {
        let missing: Vec<String> = (1..=27).map(|k| format!("au_07_data_{k:06}.h5")).collect();
        let told = master_alone("au_07_master.h5", &missing, 27).to_string();
        assert!(
            told.starts_with(
                "Only the master was given: au_07_master.h5. Expected its 27 data files: au_07_data_000001.h5, "
            ),
            "{told}"
        );
    }
}
