//! New inputs from old ones.

use std::ops::Range;

use planescope::hdf5::lookup3;

use crate::{corpus::Input, random::Random};

/// What kind of bytes an input is, and so how it may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// An HDF5 file: bytes keep their places, and checksums are put right mostly.
    Hdf5,
    Binary,
    Text,
}

/// Makes `out` of `parent`, sometimes with parts of `other`.
pub fn mutate(random: &mut Random, form: Form, parent: &Input, other: &Input, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&parent.bytes);
    // A text that is changed in many places is no JSON any more.
    let most = if form == Form::Text { 2 } else { 3 };
    let mut changes = 1 + random.below(most) + if random.is_one_in(8) { random.below(24) } else { 0 };
    while changes > 0 {
        match form {
            Form::Hdf5 => change_in_place(random, parent, other, out),
            Form::Binary if random.is_one_in(3) => change_length(random, other, out),
            Form::Binary => change_in_place(random, parent, other, out),
            Form::Text => change_text(random, other, out),
        }
        changes -= 1;
    }
    if form == Form::Hdf5 {
        if random.is_one_in(24) {
            out.truncate(random.below(out.len() + 1));
        }
        // One in eight stays as it is: checksums that are wrong are met as well.
        if !random.is_one_in(8) {
            parent.seals.iter().for_each(|&seal| reseal(out, seal));
        }
    }
}

fn change_in_place(random: &mut Random, parent: &Input, other: &Input, out: &mut [u8]) {
    // Most of a file is zeros, which mean little: three of four changes are made where something stands.
    let at = match parent.marks.is_empty() || random.is_one_in(4) {
        true => random.below(out.len()),
        false => parent.marks[random.below(parent.marks.len())] as usize,
    };
    let Some(rest) = out.get_mut(at..).filter(|rest| !rest.is_empty()) else { return };
    match random.below(9) {
        0 => rest[0] ^= 1 << random.below(8),
        1 => rest[0] = random.word() as u8,
        2 => rest[0] = rest[0].wrapping_add(1 + random.below(16) as u8),
        3 => rest[0] = rest[0].wrapping_sub(1 + random.below(16) as u8),
        4 => put_number(random, rest),
        5 => {
            let len = (1 << random.below(5)).min(rest.len());
            rest[..len].fill(if random.is_one_in(2) { 0xFF } else { 0 });
        }
        6 => copy_into(rest, SIGNATURES[random.below(SIGNATURES.len())]),
        7 => {
            let from = random.below(other.bytes.len());
            let len = 1 + random.below(64);
            copy_into(rest, other.bytes.get(from..).map_or(&[], |bytes| &bytes[..len.min(bytes.len())]));
        }
        // The number that stands elsewhere: addresses then lead to other structures, or in circles.
        _ => {
            let len = [2, 4, 8][random.below(3)];
            let from = match parent.marks.is_empty() {
                true => random.below(parent.bytes.len()),
                false => parent.marks[random.below(parent.marks.len())] as usize,
            };
            copy_into(rest, parent.bytes.get(from..from + len).unwrap_or_default());
        }
    }
}

/// A number at which something changes, as wide as fields are, in either order.
fn put_number(random: &mut Random, rest: &mut [u8]) {
    let edges =
        [0_u64, 1, 2, 7, 8, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000];
    let wide = [0xFFFF_FFFE_u64, 0xFFFF_FFFF, 0x1_0000_0000, 1 << 40, 1 << 62, 1 << 63, u64::MAX - 1, u64::MAX];
    let number = if random.is_one_in(2) { edges[random.below(edges.len())] } else { wide[random.below(wide.len())] };
    let number = number.wrapping_add(if random.is_one_in(3) { random.below(32) as u64 } else { 0 });
    let len = [1, 2, 4, 8][random.below(4)];
    match random.is_one_in(3) {
        true => copy_into(rest, &number.to_be_bytes()[8 - len..]),
        false => copy_into(rest, &number.to_le_bytes()[..len]),
    }
}

fn change_length(random: &mut Random, other: &Input, out: &mut Vec<u8>) {
    let at = random.below(out.len() + 1);
    let power = random.below(8);
    let len = 1 + random.below(1 << power);
    match random.below(5) {
        0 => out.truncate(at),
        1 => drop(out.drain(at..(at + len).min(out.len()))),
        2 => insert(out, at, &vec![random.word() as u8; len]),
        3 => {
            let end = (at + len).min(out.len());
            let copy = out[at..end].to_vec();
            insert(out, random.below(out.len() + 1), &copy);
        }
        // The head of this one, the tail of another.
        _ => {
            out.truncate(at);
            out.extend_from_slice(&other.bytes[random.below(other.bytes.len() + 1)..]);
        }
    }
    out.truncate(LONGEST_BYTES);
}

fn change_text(random: &mut Random, other: &Input, out: &mut Vec<u8>) {
    let numbers =
        ["0", "-0", "-1", "1e308", "-1e308", "1e-320", "4294967295", "4294967296", "18446744073709551616", "0.5"];
    let words =
        ["null", "true", "{}", "[]", "[[[[", "\"\"", "%", "%7B", "%FF", "\\u0000", "\\ud800", "é", ":", ",", "NaN"];
    match random.below(10) {
        // A number in place of one that stands there.
        0..=3 => {
            let is_digit = |byte: &u8| byte.is_ascii_digit() || b"-.e+".contains(byte);
            let start = random.below(out.len());
            let Some(start) = out[start..].iter().position(u8::is_ascii_digit).map(|found| start + found) else {
                return;
            };
            let end = out[start..].iter().position(|byte| !is_digit(byte)).map_or(out.len(), |found| start + found);
            let number = random.one_of(&numbers).unwrap_or_default();
            out.splice(start..end, number.bytes());
        }
        // A word in quotes in place of another one.
        4..=6 => {
            if let (Some(place), Some(word)) = (quoted(random, out), quoted(random, &other.bytes)) {
                out.splice(place, other.bytes[word].iter().copied());
            }
        }
        7 => {
            let word = random.one_of(&words).unwrap_or_default();
            insert(out, random.below(out.len() + 1), word.as_bytes());
        }
        8 if !out.is_empty() => {
            let at = random.below(out.len());
            out[at] = random.word() as u8;
        }
        _ => change_length(random, other, out),
    }
}

/// What stands between two quotation marks, somewhere; those of addresses are percent-encoded.
fn quoted(random: &mut Random, text: &[u8]) -> Option<Range<usize>> {
    let mark: &[u8] = if text.contains(&b'"') { b"\"" } else { b"%22" };
    let from = random.below(text.len());
    let next = |from: usize| text.get(from..)?.windows(mark.len()).position(|at| at == mark).map(|at| from + at);
    let start = next(from)? + mark.len();
    Some(start..next(start)?)
}

fn insert(out: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    out.splice(at..at, bytes.iter().copied());
}

fn copy_into(rest: &mut [u8], bytes: &[u8]) {
    let len = bytes.len().min(rest.len());
    rest[..len].copy_from_slice(&bytes[..len]);
}

/// A structure that ends with its checksum: first byte, and bytes before the sum.
pub type Seal = (usize, usize);

/// The sealed structures of a file, found by their signatures and by sums that are right.
pub fn seals(bytes: &[u8]) -> Vec<Seal> {
    let starts = (0..bytes.len()).filter(|&at| SIGNATURES.iter().any(|signature| bytes[at..].starts_with(signature)));
    let is_sealed = |start: usize, len: usize| {
        let sum = bytes.get(start + len..start + len + 4)?;
        (u32::from_le_bytes(sum.try_into().ok()?) == lookup3(&bytes[start..start + len])).then_some((start, len))
    };
    starts.filter_map(|start| (8..LONGEST_STRUCTURE).find_map(|len| is_sealed(start, len))).collect()
}

fn reseal(out: &mut [u8], (start, len): Seal) {
    let Some(structure) = out.get_mut(start..start + len + 4) else { return };
    let sum = lookup3(&structure[..len]);
    structure[len..].copy_from_slice(&sum.to_le_bytes());
}

/// How structures begin; all but the first four of them end with their checksum.
const SIGNATURES: [&[u8]; 19] = [
    b"TREE", b"SNOD", b"HEAP", b"GCOL", b"\x89HDF", b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"FHIB", b"BTHD", b"BTIN",
    b"BTLF", b"EAHD", b"EAIB", b"EASB", b"EADB", b"FAHD", b"FADB",
];
/// Inputs that grow are cut here.
const LONGEST_BYTES: usize = 1 << 14;
/// A node of the trees of small files is shorter.
const LONGEST_STRUCTURE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_files_keep_their_checksums_mostly() {
        let new = Input::of(include_bytes!("../../tests/data/robustness/new.h5").to_vec(), Form::Hdf5);
        assert!(new.seals.len() > 8, "{:?}", new.seals);
        let (mut random, mut out, mut sealed) = (Random::new(1), Vec::new(), 0);
        for _ in 0..200 {
            mutate(&mut random, Form::Hdf5, &new, &new, &mut out);
            sealed += usize::from(seals(&out).len() == new.seals.len());
        }
        assert!((100..200).contains(&sealed), "{sealed}");
    }
}
