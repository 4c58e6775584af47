//! Which sets are kept, and which have to go when room is needed. Pure: no clock, no browser.

use serde::{Deserialize, Serialize};

use crate::{Error, Kind, display::bytes};

/// All copies of this browser.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    pub entries: Vec<Entry>,
}

/// The copy of one set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Folder of its files.
    pub folder: String,
    pub files: Vec<Copied>,
    /// When it was made or read last, ms since 1970.
    pub used_ms: f64,
}

/// A file that was copied, as it was then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Copied {
    pub name: String,
    pub len_bytes: u64,
    /// When the file was changed last, ms since 1970.
    pub modified_ms: f64,
    /// [`super::probe`] of it; empty as long as it is not known.
    pub probe: String,
}

/// How room is made for a copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Room {
    /// After these folders are gone there is enough.
    After(Vec<String>),
    /// There is not, whatever goes.
    None(Error),
}

impl Copied {
    fn is_same_file(&self, other: &Self) -> bool {
        (&self.name, self.len_bytes, self.modified_ms) == (&other.name, other.len_bytes, other.modified_ms)
    }
}

impl Entry {
    pub fn len_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.len_bytes).sum()
    }

    /// Whether these are its files by name, size and time, in any order; what they contain has still to be looked at.
    pub fn is_of(&self, files: &[Copied]) -> bool {
        let has = |file: &Copied| self.files.iter().any(|other| other.is_same_file(file));
        self.files.len() == files.len() && files.iter().all(has)
    }
}

impl Catalogue {
    pub fn find(&self, files: &[Copied]) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.is_of(files))
    }

    pub fn len_bytes(&self) -> u64 {
        self.entries.iter().map(Entry::len_bytes).sum()
    }

    /// Notes that a copy was read.
    pub fn touch(&mut self, folder: &str, now_ms: f64) {
        self.entries.iter_mut().filter(|entry| entry.folder == folder).for_each(|entry| entry.used_ms = now_ms);
    }

    pub fn remove(&mut self, folder: &str) {
        self.entries.retain(|entry| entry.folder != folder);
    }

    /// Room for `needed` bytes where the browser had room for `free`, which are fewer: the copies that were used longest ago go first.
    pub fn room_for(&self, needed: u64, free: u64) -> Room {
        let needed_with_rest = needed.saturating_add(needed / 100).saturating_add(REST_BYTES);
        let mut by_use: Vec<&Entry> = self.entries.iter().collect();
        by_use.sort_by(|a, b| a.used_ms.total_cmp(&b.used_ms));
        let (mut room, mut gone) = (free, Vec::new());
        for entry in by_use {
            if room >= needed_with_rest {
                break;
            }
            room = room.saturating_add(entry.len_bytes());
            gone.push(entry.folder.clone());
        }
        if room >= needed_with_rest { Room::After(gone) } else { Room::None(no_room(needed_with_rest, room)) }
    }
}

fn no_room(needed: u64, room: u64) -> Error {
    Error::new(Kind::Io, "no_room", "The browser has no room for a copy of this set")
        .expected(bytes(needed))
        .found(format!("{}, other copies included", bytes(room)))
        .action("Free space on the disk of the browser's profile; the set opens from its files as before")
}

/// Bytes that stay free beside a copy, for the file system's own use.
const REST_BYTES: u64 = 128 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, len_bytes: u64, modified_ms: f64) -> Copied {
        Copied { name: name.to_owned(), len_bytes, modified_ms, probe: String::new() }
    }

    fn entry(folder: &str, megabytes: u64, used_ms: f64) -> Entry {
        Entry { folder: folder.to_owned(), files: vec![file(folder, megabytes << 20, 1.0)], used_ms }
    }

    #[test]
    fn a_copy_is_found_by_all_names_sizes_and_times_in_any_order() {
        let files = [file("a", 1, 10.0), file("b", 2, 20.0)];
        let entry = Entry { folder: "f".to_owned(), files: files.to_vec(), used_ms: 0.0 };
        let catalogue = Catalogue { entries: vec![entry.clone()] };
        assert_eq!(catalogue.find(&[files[1].clone(), files[0].clone()]), Some(&entry));
        for other in [
            vec![files[0].clone()],
            vec![files[0].clone(), file("b", 2, 21.0)],
            vec![files[0].clone(), file("b", 3, 20.0)],
            vec![files[0].clone(), file("c", 2, 20.0)],
            vec![files[0].clone(), files[1].clone(), file("c", 0, 0.0)],
        ] {
            assert_eq!(catalogue.find(&other), None, "{other:?}");
        }
    }

    #[test]
    fn the_copies_used_longest_ago_make_room_and_no_more_of_them_than_needed() {
        let mut catalogue =
            Catalogue { entries: vec![entry("new", 100, 3.0), entry("old", 100, 1.0), entry("mid", 100, 2.0)] };
        let after = |folders: &[&str]| Room::After(folders.iter().map(|&folder| folder.to_owned()).collect());
        assert_eq!(catalogue.room_for(50 << 20, 60 << 20), after(&[]));
        assert_eq!(catalogue.room_for(50 << 20, 0), after(&["old"]));
        assert_eq!(catalogue.room_for(150 << 20, 0), after(&["old", "mid"]));
        catalogue.touch("old", 4.0);
        assert_eq!(catalogue.room_for(50 << 20, 0), after(&["mid"]));
        catalogue.remove("mid");
        assert_eq!(catalogue.room_for(50 << 20, 0), after(&["new"]));
        assert_eq!(catalogue.len_bytes(), 200 << 20);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_sizes() {
        let catalogue = Catalogue { entries: vec![entry("old", 100, 1.0)] };
        let Room::None(error) = catalogue.room_for(200 << 20, 50 << 20) else { panic!("it does not fit") };
        assert_eq!(error.key, "no_room");
        assert!(error.to_string().contains("157\u{202f}MB"), "{error}");
    }
}
