//! One HDF5 file: cached reads of its structures, checked and counted.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    ops::Range,
    rc::Rc,
};

use super::{
    checksum::lookup3,
    fields::{Fields, Widths, damaged},
    group::Link,
    superblock::{self, Superblock},
};
use crate::{Error, Kind, Result, source::ByteSource};

/// An opened file. Addresses given to its methods count from [`File::base`], as the format's own do.
pub struct File<'a> {
    source: &'a dyn ByteSource,
    superblock: Superblock,
    pages: RefCell<HashMap<u64, Rc<Vec<u8>>>>,
    /// What was read ahead, by its first byte.
    blocks: RefCell<BTreeMap<u64, Vec<u8>>>,
    /// Bytes of structure that may still be read, so that a structure that repeats itself ends.
    allowance: Cell<u64>,
    /// Large datasets are known by their outline.
    is_outlined: Cell<bool>,
    pub(super) groups: RefCell<HashMap<u64, Rc<Vec<Link>>>>,
}

impl<'a> File<'a> {
    /// Finds the superblock of `source`.
    ///
    /// # Errors
    /// `File`: `empty_file`, `not_hdf5`, `truncated` or `corrupt_metadata`; `Io` as the source says.
    pub fn open(source: &'a dyn ByteSource) -> Result<Self> {
        let superblock = superblock::find(source)?;
        let allowance = source.len_bytes().saturating_mul(8).min(MOST_BYTES).saturating_add(FREE_BYTES);
        let (pages, blocks, groups) = Default::default();
        Ok(Self {
            source,
            superblock,
            pages,
            blocks,
            allowance: Cell::new(allowance),
            is_outlined: Cell::new(false),
            groups,
        })
    }

    /// From now on [`File::outline`] outlines large datasets.
    pub fn set_outlined(&self) {
        self.is_outlined.set(true);
    }

    pub(super) fn is_outlined(&self) -> bool {
        self.is_outlined.get()
    }

    /// File name.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// Where its bytes come from.
    pub fn source(&self) -> &'a dyn ByteSource {
        self.source
    }

    /// Size of the file, bytes.
    pub fn len_bytes(&self) -> u64 {
        self.source.len_bytes()
    }

    /// Size that the superblock gives, when the file is shorter than that.
    pub fn len_announced(&self) -> Option<u64> {
        Some(self.superblock.end).filter(|&end| end > self.len_bytes())
    }

    /// True when a writer had the file open for single-writer multiple-reader access.
    pub fn is_open_for_writing(&self) -> bool {
        self.superblock.is_open_for_writing
    }

    /// Byte at which addresses begin: the length of the user block.
    pub fn base(&self) -> u64 {
        self.superblock.base
    }

    /// Address of the root group's object header.
    pub fn root(&self) -> u64 {
        self.superblock.root
    }

    pub(super) fn widths(&self) -> Widths {
        self.superblock.widths
    }

    pub(super) fn fields<'b>(&self, what: &'static str, bytes: &'b [u8]) -> Fields<'b> {
        Fields::new(what, bytes, self.widths())
    }

    /// `len` bytes of structure at `address`.
    pub(super) fn read(&self, what: &'static str, address: u64, len: u64) -> Result<Vec<u8>> {
        let place = |e: Error| e.at(format!("{}, {what} at {address}", self.name()));
        let offset = address.checked_add(self.base()).filter(|&offset| offset.checked_add(len).is_some());
        let offset = offset.ok_or_else(|| place(damaged(what).found("an address beyond 64 bits")))?;
        if offset + len > self.len_bytes() {
            let e = Error::new(Kind::File, "truncated", "The file is cut short");
            return Err(place(e).expected(format!("{} bytes", offset + len)).found(format!("{}", self.len_bytes())));
        }
        let cost = len.max(LEAST_COST);
        let left = self
            .allowance
            .get()
            .checked_sub(cost)
            .ok_or_else(|| place(damaged(what).found("a structure without end")))?;
        self.allowance.set(left);
        if let Some(bytes) = self.read_ahead(offset, len) {
            return Ok(bytes);
        }
        let mut bytes = vec![0; usize::try_from(len).map_err(|_| place(damaged(what)))?];
        match len > PAGE_BYTES * 4 {
            true => self.source.read_at(offset, &mut bytes)?,
            false => self.read_cached(offset, &mut bytes)?,
        }
        Ok(bytes)
    }

    /// The same, refused unless it begins with `signature` and, where `is_summed`, ends with its checksum.
    pub(super) fn structure(
        &self,
        what: &'static str,
        address: u64,
        len: u64,
        signature: &[u8; 4],
        is_summed: bool,
    ) -> Result<Vec<u8>> {
        let bytes = self.read(what, address, len)?;
        let place = || format!("{}, {what} at {address}", self.name());
        if !bytes.starts_with(signature) {
            let expected = String::from_utf8_lossy(signature).into_owned();
            let found = bytes.get(..4).unwrap_or_default().escape_ascii().to_string();
            return Err(damaged(what).at(place()).expected(expected).found(found));
        }
        if is_summed {
            check_sum(&bytes).map_err(|e| e.at(place()))?;
        }
        Ok(bytes)
    }

    /// Reads all of `places` (address, bytes) in one go, so that scattered nodes do not cost a read each;
    /// [`most_preloaded`] says how many. A place that cannot be read is left to [`File::read`], which says why.
    pub(super) fn preload(&self, places: impl IntoIterator<Item = (u64, u64)>) {
        let ranges = places.into_iter().filter_map(|(address, len)| {
            let start = address.checked_add(self.base()).filter(|&start| start < self.len_bytes())?;
            let range = start..start.saturating_add(len).min(self.len_bytes());
            (!self.is_at_hand(&range)).then_some(range)
        });
        let ranges = joined(ranges.collect());
        let len: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        let left = self.allowance.get().checked_sub(len);
        let (Some(left), 1..=MOST_PRELOADED) = (left, len) else { return };
        self.allowance.set(left);
        let Ok(read) = self.source.read_many(&ranges) else { return };
        let mut blocks = self.blocks.borrow_mut();
        let kept: u64 = blocks.values().map(|block| block.len() as u64).sum();
        if kept + len > MOST_PRELOADED {
            blocks.clear();
        }
        // A block that begins inside another one would hide the rest of it.
        for range in &ranges {
            let hiding: Vec<u64> = blocks.range(range.clone()).map(|(&start, _)| start).collect();
            hiding.iter().for_each(|start| drop(blocks.remove(start)));
        }
        blocks.extend(ranges.iter().map(|range| range.start).zip(read));
    }

    fn is_at_hand(&self, range: &Range<u64>) -> bool {
        let pages = self.pages.borrow();
        let mut touched = range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES);
        touched.all(|number| pages.contains_key(&number))
    }

    /// A part of one of the blocks read ahead.
    fn read_ahead(&self, offset: u64, len: u64) -> Option<Vec<u8>> {
        let blocks = self.blocks.borrow();
        let (start, block) = blocks.range(..=offset).next_back()?;
        let from = usize::try_from(offset - start).ok()?;
        let to = from.checked_add(usize::try_from(len).ok()?)?;
        block.get(from..to).map(<[u8]>::to_vec)
    }

    fn read_cached(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            let page = self.page(at / PAGE_BYTES)?;
            let start = (at % PAGE_BYTES) as usize;
            let len = (page.len() - start).min(buffer.len() - done);
            buffer[done..done + len].copy_from_slice(&page[start..start + len]);
            done += len;
        }
        Ok(())
    }

    fn page(&self, number: u64) -> Result<Rc<Vec<u8>>> {
        if let Some(page) = self.pages.borrow().get(&number) {
            return Ok(page.clone());
        }
        let start = number * PAGE_BYTES;
        let mut page = vec![0; PAGE_BYTES.min(self.len_bytes() - start) as usize];
        self.source.read_at(start, &mut page)?;
        let mut pages = self.pages.borrow_mut();
        if pages.len() >= PAGES_KEPT {
            pages.clear();
        }
        let page = Rc::new(page);
        pages.insert(number, page.clone());
        Ok(page)
    }
}

/// How many places of `len` bytes [`File::preload`] takes at once, wherever they lie.
pub(super) fn most_preloaded(len: u64) -> usize {
    (MOST_PRELOADED / len.saturating_add(GAP_BYTES)).max(1) as usize
}

/// The ranges in order, those that overlap or nearly touch as one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut().filter(|last| range.start <= last.end.saturating_add(GAP_BYTES)) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    joined
}

/// Refuses bytes that do not end with the checksum of what precedes it.
pub(super) fn check_sum(bytes: &[u8]) -> Result<()> {
    let (body, sum) = bytes.split_last_chunk::<4>().ok_or_else(|| damaged("checksum"))?;
    match (u32::from_le_bytes(*sum), lookup3(body)) {
        (stored, computed) if stored == computed => Ok(()),
        (stored, computed) => {
            Err(damaged("checksum").expected(format!("checksum {computed:08x}")).found(format!("{stored:08x}")))
        }
    }
}

/// Structure is read in pieces of this size, so that neighbours cost one read.
const PAGE_BYTES: u64 = 32 * 1024;
const PAGES_KEPT: usize = 256;
/// What is read ahead at once, and kept.
const MOST_PRELOADED: u64 = 16 << 20;
/// Bytes between two places that cost less than a read of their own.
const GAP_BYTES: u64 = 8 * 1024;
/// A read counts as at least this many bytes.
const LEAST_COST: u64 = 64;
/// Structure that may be read of any file, and of a large one.
const FREE_BYTES: u64 = 16 << 20;
const MOST_BYTES: u64 = 2 << 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_nearly_touch_are_one_range() {
        let far = 100 + GAP_BYTES;
        assert_eq!(joined(vec![far + 1..far + 2, 0..100, 50..60]), [0..100, far + 1..far + 2]);
        assert!(joined(vec![far..far + 2, 0..100, 50..60]).into_iter().eq(std::iter::once(0..far + 2)));
    }

    #[test]
    fn as_many_places_as_told_fit_at_once_wherever_they_lie() {
        for len in [1, 3096, MOST_PRELOADED / 2] {
            let most = most_preloaded(len) as u64;
            assert!((most * (len + GAP_BYTES)) <= MOST_PRELOADED && most > 0, "{len}");
        }
    }
}
