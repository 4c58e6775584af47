//! Byte ranges of a file, whatever it is stored on: disk, a picked file, a URL, or memory in a test.
//!
//! Reads are synchronous: in the browser they run in a worker, where `FileReaderSync` is allowed.

use std::ops::Range;

use crate::{Error, Kind, Result};

/// A file that can be read at any place. Implementations never return fewer bytes than asked for.
pub trait ByteSource {
    /// Base name of the file, without folders.
    fn name(&self) -> &str;

    /// Size in bytes.
    fn len_bytes(&self) -> u64;

    /// Fills `buffer` from byte `offset` on.
    ///
    /// # Errors
    /// `Io` when the range cannot be read, `File` (key `truncated`) when it ends past the file.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// The bytes of every range, in the order of `ranges`; in one go where the file allows it, as a read may cost
    /// far more than its bytes. All are in memory at once, so the caller bounds their sum.
    ///
    /// # Errors
    /// As [`ByteSource::read_at`], for any of the ranges.
    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>> {
        ranges.iter().map(|range| read_range(self, range)).collect()
    }
}

/// The bytes of one range.
fn read_range(source: &(impl ByteSource + ?Sized), range: &Range<u64>) -> Result<Vec<u8>> {
    let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
    if range.end > source.len_bytes() {
        return Err(past_the_end(source.name(), range.start, len, source.len_bytes()));
    }
    let mut bytes = vec![0; len];
    source.read_at(range.start, &mut bytes)?;
    Ok(bytes)
}

/// The error of a range that ends past the file.
pub fn past_the_end(name: &str, offset: u64, len: usize, len_bytes: u64) -> Error {
    Error::new(Kind::File, "truncated", "The file is cut short")
        .at(name)
        .expected(format!("{len} bytes at {offset}"))
        .found(format!("{len_bytes} bytes in all"))
        .action("Copy the file again")
}

/// Bytes in memory.
pub struct Bytes {
    pub name: String,
    pub bytes: Vec<u8>,
}

impl ByteSource for Bytes {
    fn name(&self) -> &str {
        &self.name
    }

    fn len_bytes(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let end = || usize::try_from(offset).ok().and_then(|start| Some(start..start.checked_add(buffer.len())?));
        let range = end().and_then(|range| self.bytes.get(range));
        let bytes = range.ok_or_else(|| past_the_end(&self.name, offset, buffer.len(), self.len_bytes()))?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub use disk::Disk;
#[cfg(not(target_arch = "wasm32"))]
mod disk;
#[cfg(target_arch = "wasm32")]
pub use kept::{Access, Kept};
#[cfg(target_arch = "wasm32")]
mod kept;
#[cfg(target_arch = "wasm32")]
pub use picked::{Picked, PickedSource, range_header, unreadable};
#[cfg(target_arch = "wasm32")]
mod picked;
