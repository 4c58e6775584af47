//! Little-endian fields of one structure, read in order, never past its end.

use crate::{Error, Kind, Result};

/// Bytes of addresses and of lengths in a file, from its superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    pub address: usize,
    pub length: usize,
}

/// A structure's bytes and the place reached in them.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    /// What is being read, for messages: "object header".
    what: &'static str,
    bytes: &'a [u8],
    at: usize,
    widths: Widths,
}

impl<'a> Fields<'a> {
    pub fn new(what: &'static str, bytes: &'a [u8], widths: Widths) -> Self {
        Self { what, bytes, at: 0, widths }
    }

    /// The same fields with the widths that the superblock gives.
    pub fn with(self, widths: Widths) -> Self {
        Self { widths, ..self }
    }

    pub fn widths(&self) -> Widths {
        self.widths
    }

    /// Bytes read so far.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(len).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| damaged(self.what).found(format!("{} of {len} bytes", self.left())))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    pub fn skip(&mut self, len: usize) -> Result<()> {
        self.take(len).map(|_| ())
    }

    /// Skips to a multiple of `to` bytes from the structure's start.
    pub fn align(&mut self, to: usize) -> Result<()> {
        self.skip(self.at.next_multiple_of(to) - self.at)
    }

    /// The bytes up to a NUL, which is consumed.
    pub fn text(&mut self) -> Result<String> {
        let rest = &self.bytes[self.at..];
        let len =
            rest.iter().position(|&byte| byte == 0).ok_or_else(|| damaged(self.what).expected("text that ends"))?;
        self.at += len + 1;
        Ok(String::from_utf8_lossy(&rest[..len]).into_owned())
    }

    /// An unsigned integer of `len` <= 8 bytes.
    pub fn uint(&mut self, len: usize) -> Result<u64> {
        if len > 8 {
            return Err(damaged(self.what).expected("at most 8 bytes to a number").found(format!("{len}")));
        }
        Ok(self.take(len)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.uint(1)? as u8)
    }

    pub fn u16(&mut self) -> Result<u16> {
        Ok(self.uint(2)? as u16)
    }

    pub fn u32(&mut self) -> Result<u32> {
        Ok(self.uint(4)? as u32)
    }

    pub fn u64(&mut self) -> Result<u64> {
        self.uint(8)
    }

    /// A size or count as wide as the file's lengths.
    pub fn length(&mut self) -> Result<u64> {
        self.uint(self.widths.length)
    }

    /// A largest extent; `None` when it is unlimited (all ones).
    pub fn limit(&mut self) -> Result<Option<u64>> {
        let unlimited = u64::MAX >> (64 - 8 * self.widths.length);
        Ok(Some(self.length()?).filter(|&limit| limit != unlimited))
    }

    /// An address; `None` when it is undefined (all ones).
    pub fn address(&mut self) -> Result<Option<u64>> {
        let undefined = u64::MAX >> (64 - 8 * self.widths.address);
        Ok(Some(self.uint(self.widths.address)?).filter(|&address| address != undefined))
    }

    /// An address that has to be there.
    pub fn defined_address(&mut self) -> Result<u64> {
        let what = self.what;
        self.address()?.ok_or_else(|| damaged(what).expected("an address").found("none"))
    }

    /// Refuses a version that is not among `known`.
    pub fn version(&mut self, known: std::ops::RangeInclusive<u8>) -> Result<u8> {
        let version = self.u8()?;
        if known.contains(&version) {
            return Ok(version);
        }
        let expected = format!("version {} to {}", known.start(), known.end());
        Err(unsupported(self.what).expected(expected).found(format!("version {version}")))
    }
}

/// The content of a structure is not what its format allows.
pub fn damaged(what: &str) -> Error {
    Error::new(Kind::File, "corrupt_metadata", "The structure of the HDF5 file is damaged").at(what)
}

/// A correct structure that is not read here.
pub fn unsupported(what: &str) -> Error {
    Error::new(Kind::Unsupported, "unsupported_structure", "This kind of HDF5 structure cannot be read").at(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: Widths = Widths { address: 8, length: 8 };

    #[test]
    fn fields_end_where_the_structure_ends() {
        let mut fields = Fields::new("test", &[1, 2, 3], WIDTHS);
        assert_eq!(fields.u16().expect("two bytes are there"), 0x0201);
        assert_eq!(fields.u16().expect_err("one byte is left").key, "corrupt_metadata");
        assert_eq!(fields.u8().expect("the last byte is there"), 3);
    }

    #[test]
    fn an_address_of_all_ones_is_undefined_at_any_width() {
        let mut fields = Fields::new("test", &[0xff; 12], Widths { address: 4, length: 8 });
        assert_eq!(fields.address().expect("four bytes are there"), None);
        assert_eq!(fields.length().expect("eight bytes are there"), u64::MAX);
    }
}
