//! Several sets as a series: which belong together, in which order, and what each is called for short: the angle by
//! which the sample was tilted, where metadata or names tell it.

use std::{cmp::Ordering, collections::BTreeMap};

use super::Acquisition;

/// One set of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its place among the sets that were given.
    pub place: usize,
    /// What its name shares with those of its kin.
    pub group: String,
    /// What it is called: "−12.5°", "tilt 03", or what tells its name from the others.
    pub label: String,
    pub tilt_deg: Option<f64>,
    pub from: TiltFrom,
}

/// Where an angle comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TiltFrom {
    /// There is none.
    #[default]
    Nowhere,
    Metadata,
    Name,
}

/// Sets in order: those of one group together, by angle, by number, by name.
pub fn arranged(sets: &[&Acquisition]) -> Vec<Listed> {
    let names: Vec<(&str, Option<f64>)> =
        sets.iter().map(|set| (set.name.as_str(), set.calibration.tilt_deg)).collect();
    arranged_names(&names)
}

/// The same for names of masters, with the angles of their metadata, degrees.
fn arranged_names(sets: &[(&str, Option<f64>)]) -> Vec<Listed> {
    let stems: Vec<String> = sets.iter().map(|(name, _)| stem(name)).collect();
    let parts: Vec<Parts> = stems.iter().map(|stem| Parts::of(stem)).collect();
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, parts) in parts.iter().enumerate() {
        groups.entry(&parts.group).or_default().push(place);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by(|(a, _), (b, _)| natural(a, b));
    let mut listed = Vec::with_capacity(sets.len());
    for (group, mut places) in groups {
        // A goniometer that nobody reads stands at the same angle in every file.
        let told: Vec<f64> = places.iter().filter_map(|&place| sets[place].1).collect();
        let is_told = told.len() == places.len() && told.iter().any(|angle| *angle != told[0]);
        // "tilt_03" beside "tilt_-3" is an angle; where all are plain numbers, they only count.
        let is_named = places.iter().any(|&place| parts[place].number.as_ref().is_some_and(|number| number.is_angle));
        let number = |place: usize| parts[place].number.as_ref().map(|number| number.value);
        let angle = |place: usize| match (is_told, is_named) {
            (true, _) => sets[place].1,
            (_, true) => number(place),
            _ => None,
        };
        places.sort_by(|&a, &b| {
            let key = |place| angle(place).or(number(place)).unwrap_or(f64::NEG_INFINITY);
            key(a).total_cmp(&key(b)).then_with(|| natural(&stems[a], &stems[b]))
        });
        let from = match (is_told, is_named) {
            (true, _) => TiltFrom::Metadata,
            (_, true) => TiltFrom::Name,
            _ => TiltFrom::Nowhere,
        };
        let decimals = places.iter().filter_map(|&place| angle(place)).map(decimals).max().unwrap_or(0);
        listed.extend(places.into_iter().map(|place| {
            let tilt_deg = angle(place);
            let number = parts[place].number.as_ref();
            let label = match (tilt_deg, number) {
                (Some(angle), _) => degrees(angle, decimals),
                (None, Some(number)) => format!("tilt {}", number.digits),
                _ => stems[place].clone(),
            };
            let from = if tilt_deg.is_some() { from } else { TiltFrom::Nowhere };
            Listed { place, group: group.to_owned(), label, tilt_deg, from }
        }));
    }
    tell_apart(&mut listed, &stems);
    listed
}

/// Groups are named where there are several; what names without a number begin with alike is left out.
fn tell_apart(listed: &mut [Listed], stems: &[String]) {
    let has_groups = listed.iter().any(|set| set.group != listed[0].group);
    let shared = if listed.len() > 1 { shared_start(stems) } else { 0 };
    for set in listed {
        let stem = &stems[set.place];
        if set.label == *stem {
            set.label = stem.get(shared..).filter(|rest| !rest.is_empty()).unwrap_or(stem).to_owned();
        } else if has_groups && !set.group.is_empty() {
            set.label = format!("{} {}", set.group, set.label);
        }
    }
}

/// Bytes that all names have in common at their beginning, up to the last mark between words.
fn shared_start(stems: &[String]) -> usize {
    let Some(first) = stems.first() else { return 0 };
    let alike = |other: &String| {
        let same = first.char_indices().zip(other.chars()).take_while(|((_, a), b)| a == b);
        same.last().map_or(0, |((at, c), _)| at + c.len_utf8())
    };
    let end = stems.iter().map(alike).min().unwrap_or(0);
    first[..end].rfind(SEPARATORS).map_or(0, |at| at + 1)
}

/// A set's name without what follows its stem.
fn stem(name: &str) -> String {
    let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let end = name.len().saturating_sub(MASTER.len());
    match name.get(end..) {
        Some(ending) if ending.eq_ignore_ascii_case(MASTER) && end > 0 => name[..end].to_owned(),
        _ => name.to_owned(),
    }
}

/// A name as its group and a number in it.
struct Parts {
    group: String,
    number: Option<Number>,
}

struct Number {
    value: f64,
    digits: String,
    /// Its sign, its decimals or its unit say that it is an angle.
    is_angle: bool,
}

impl Parts {
    /// Finds a number before "deg" or "°", or behind "tilt", "alpha" or "angle".
    fn of(stem: &str) -> Self {
        let runs = || number_runs(stem);
        let found =
            runs().find_map(|run| with_unit(stem, run)).or_else(|| runs().find_map(|run| behind_word(stem, run)));
        match found {
            Some((number, start, end)) => {
                let (before, after) =
                    (stem[..start].trim_end_matches(SEPARATORS), stem[end..].trim_matches(SEPARATORS));
                let between = if before.is_empty() || after.is_empty() { "" } else { "_" };
                Self { group: format!("{before}{between}{after}"), number: Some(number) }
            }
            None => {
                let group = stem.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(SEPARATORS);
                Self { group: group.to_owned(), number: None }
            }
        }
    }
}

/// Where runs of digits, with at most one point between them, begin and end.
fn number_runs(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes.get(at..)?.iter().position(u8::is_ascii_digit)?;
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut end = start + digits(start);
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            end += 1 + digits(end + 1);
        }
        at = end;
        Some((start, end))
    })
}

/// "+20deg", "-5.0°", "20 deg": with its sign, and where all of it begins and ends.
fn with_unit(stem: &str, (start, end): (usize, usize)) -> Option<(Number, usize, usize)> {
    let rest = &stem[end..];
    let blank = rest.len() - rest.trim_start_matches([' ', '_']).len();
    let unit = ["°", "deg", "Deg", "DEG"].into_iter().find(|unit| rest[blank..].starts_with(unit))?;
    let (sign, start) = signed(stem, start);
    let digits = &stem[start..end];
    let value = digits.trim_start_matches(SIGNS).parse::<f64>().ok()? * sign;
    // "degrees" too.
    let word = rest[blank + unit.len()..].chars().take_while(char::is_ascii_alphabetic).count();
    let is_word = unit == "°" || word == 0 || rest[blank..].to_lowercase().starts_with("degree");
    let number = Number { value, digits: digits.to_owned(), is_angle: true };
    is_word.then_some((number, start, end + blank + unit.len() + if unit == "°" { 0 } else { word }))
}

/// "tilt_-12.5", "tilt+3", "alpha 7": a dash directly behind the word only parts it from the number.
fn behind_word(stem: &str, (start, end): (usize, usize)) -> Option<(Number, usize, usize)> {
    let (sign, from) = signed(stem, start);
    let before = &stem[..from];
    let trimmed = before.trim_end_matches(['_', ' ', '=']);
    let is_word = |word: &&str| {
        let at = trimmed.len().checked_sub(word.len());
        at.and_then(|at| trimmed.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    let word = ["tilt", "alpha", "angle"].into_iter().find(is_word)?;
    let is_signed = from < start && (trimmed.len() < before.len() || stem[from..].starts_with('+'));
    let digits = &stem[start..end];
    let value = digits.parse::<f64>().ok()? * if is_signed { sign } else { 1.0 };
    let number = Number { value, digits: digits.to_owned(), is_angle: is_signed || digits.contains('.') };
    Some((number, trimmed.len() - word.len(), end))
}

/// The sign before a number, and where the number begins with it.
fn signed(stem: &str, start: usize) -> (f64, usize) {
    let before = &stem[..start];
    match before.chars().next_back() {
        Some('+') => (1.0, start - 1),
        // "10-20deg" is a range.
        Some(c @ ('-' | MINUS)) if !before[..start - c.len_utf8()].ends_with(|c: char| c.is_ascii_digit()) => {
            (-1.0, start - c.len_utf8())
        }
        _ => (1.0, start),
    }
}

/// Decimals that an angle needs, at most two.
fn decimals(angle: f64) -> usize {
    (0..2).find(|&n| ((angle * 10f64.powi(n)).round() - angle * 10f64.powi(n)).abs() < 1e-6).unwrap_or(2) as usize
}

/// "−12.5°".
fn degrees(angle: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", angle.abs());
    let is_negative = angle < 0.0 && text.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    format!("{}{text}°", if is_negative { "−" } else { "" })
}

/// By name as people count: "a2" before "a10".
fn natural(a: &str, b: &str) -> Ordering {
    let (mut rest_a, mut rest_b) = (a, b);
    loop {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (digits_a, digits_b) = (digits(rest_a), digits(rest_b));
        if digits_a > 0 && digits_b > 0 {
            let (a, b) = (rest_a[..digits_a].trim_start_matches('0'), rest_b[..digits_b].trim_start_matches('0'));
            let order = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
            if order != Ordering::Equal {
                return order;
            }
            (rest_a, rest_b) = (&rest_a[digits_a..], &rest_b[digits_b..]);
            continue;
        }
        match (rest_a.chars().next(), rest_b.chars().next()) {
            (Some(a), Some(b)) if a == b => (rest_a, rest_b) = (&rest_a[a.len_utf8()..], &rest_b[b.len_utf8()..]),
            (a, b) => return a.cmp(&b).then_with(|| rest_a.cmp(rest_b)),
        }
    }
}

const MASTER: &str = "_master";
const MINUS: char = '−';
const SIGNS: [char; 3] = ['+', '-', MINUS];
const SEPARATORS: [char; 5] = ['_', '-', ' ', '.', '+'];

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> Vec<String> {
        let names: Vec<_> = names.iter().map(|name| (*name, None)).collect();
        arranged_names(&names).into_iter().map(|set| set.label).collect()
    }

    #[test]
    fn angles_in_names_order_the_sets_and_are_their_labels() {
        let names = ["au_tilt_10_master.h5", "au_tilt_-12.5_master.h5", "au_tilt_0_master.h5"];
        assert_eq!(labels(&names), ["−12.5°", "0.0°", "10.0°"]);
        assert_eq!(labels(&["x_+20deg.h5", "x_-5deg.h5", "x_0deg.h5"]), ["−5°", "0°", "20°"]);
        assert_eq!(labels(&["x+20deg.h5", "x-5deg.h5"]), ["−5°", "20°"]);
        assert_eq!(labels(&["a 3°.h5", "a −3°.h5", "a -4 degrees.h5"]), ["−4°", "−3°", "3°"]);
    }

    #[test]
    fn plain_numbers_count_and_are_no_angles() {
        let found = arranged_names(&[("s_tilt_10_master.h5", None), ("s_tilt_02_master.h5", None)]);
        let facts: Vec<_> = found.iter().map(|set| (set.place, set.label.as_str(), set.tilt_deg)).collect();
        assert_eq!(facts, [(1, "tilt 02", None), (0, "tilt 10", None)]);
        assert_eq!(labels(&["s_tilt-10.h5", "s_tilt-9.h5"]), ["tilt 9", "tilt 10"], "a dash, no sign");
        assert_eq!(labels(&["s_20degas.h5", "s_3degas.h5"]), ["3degas", "20degas"], "no unit");
        assert_eq!(labels(&["r_10-20deg_a.h5"]), ["20°"], "a range has no sign");
    }

    #[test]
    fn metadata_go_before_names_unless_they_say_the_same_of_all() {
        let of = |angles: [Option<f64>; 2]| {
            let sets = [("a_tilt_+1_master.h5", angles[0]), ("a_tilt_+2_master.h5", angles[1])];
            arranged_names(&sets).into_iter().map(|set| (set.label, set.from)).collect::<Vec<_>>()
        };
        let named = [("1°".to_owned(), TiltFrom::Name), ("2°".to_owned(), TiltFrom::Name)];
        let told = [("−2.25°".to_owned(), TiltFrom::Metadata), ("7.00°".to_owned(), TiltFrom::Metadata)];
        assert_eq!(of([Some(7.0), Some(-2.25)]), told);
        assert_eq!(of([Some(0.0), Some(0.0)]), named);
        assert_eq!(of([Some(7.0), None]), named);
    }

    #[test]
    fn sets_of_a_kind_stand_together_and_others_by_their_names() {
        let names = ["b_tilt_+5_master.h5", "a_tilt_+5_master.h5", "b_tilt_-5_master.h5", "a_tilt_-5_master.h5"];
        assert_eq!(labels(&names), ["a −5°", "a 5°", "b −5°", "b 5°"]);
        assert_eq!(labels(&["lamella_10_master.h5", "lamella_9_master.h5"]), ["9", "10"]);
        assert_eq!(labels(&["gold_master.h5", "carbon_master.h5"]), ["carbon", "gold"]);
        assert_eq!(labels(&["x_master.h5", "x_master.h5"]), ["x", "x"], "two of one name");
        assert_eq!(labels(&["_master.h5", "ß_master.h5"]), ["_master", "ß"]);
    }
}
