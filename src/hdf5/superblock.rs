//! The superblock [II.A]: where addresses begin, how wide they are, where the root group lies.

use super::{
    fields::{Fields, Widths, damaged},
    file::check_sum,
    foreign,
};
use crate::{Error, Kind, Result, source::ByteSource};

pub struct Superblock {
    pub base: u64,
    pub widths: Widths,
    /// Address of the root group's object header.
    pub root: u64,
    /// One past the file's last byte, as it was when closed.
    pub end: u64,
    pub is_open_for_writing: bool,
}

/// Looks for the signature at bytes 0, 512, 1024, 2048 ..., and reads what follows it.
pub fn find(source: &dyn ByteSource) -> Result<Superblock> {
    let len_bytes = source.len_bytes();
    if len_bytes == 0 {
        let e = Error::new(Kind::File, "empty_file", "The file is empty").at(source.name());
        return Err(e.expected("an HDF5 file").found("0 bytes").action("Copy the file again"));
    }
    let mut place = 0;
    while place + 8 <= len_bytes {
        let mut bytes = vec![0; (len_bytes - place).min(LONGEST) as usize];
        source.read_at(place, &mut bytes)?;
        if let Some(body) = bytes.strip_prefix(&SIGNATURE) {
            return read(&bytes, body, place).map_err(|e| cut_short(e, source));
        }
        place = (place * 2).max(512);
    }
    let mut head = vec![0; len_bytes.min(foreign::HEAD_BYTES as u64) as usize];
    source.read_at(0, &mut head)?;
    let found = foreign::of(source.name(), &head);
    let kind = if found.holds_patterns { Kind::Unsupported } else { Kind::File };
    let e = Error::new(kind, "not_hdf5", "Not an HDF5 file").at(source.name());
    Err(e.expected("the signature of HDF5").found(found.what).action(found.action))
}

fn read(whole: &[u8], body: &[u8], place: u64) -> Result<Superblock> {
    let mut fields = Fields::new("superblock", body, Widths { address: 8, length: 8 });
    match fields.version(0..=3)? {
        version @ 0..=1 => read_old(fields, version, place),
        version => read_new(whole, fields, version, place),
    }
}

/// Versions 0 and 1.
fn read_old(mut fields: Fields, version: u8, place: u64) -> Result<Superblock> {
    fields.skip(4)?;
    let mut fields = with_widths(fields)?;
    // Reserved, leaf and internal node sizes of the group trees, consistency flags (not used).
    fields.skip(1 + 2 + 2 + 4 + if version == 1 { 4 } else { 0 })?;
    let base = fields.length()?;
    fields.address()?;
    let end = fields.length()?;
    fields.address()?;
    // The root group's symbol table entry [III.C]: name, then the object header.
    fields.length()?;
    let root = fields.defined_address()?;
    Ok(Superblock {
        base: place,
        widths: fields.widths(),
        root,
        end: moved(end, base, place),
        is_open_for_writing: false,
    })
}

/// Versions 2 and 3.
fn read_new(whole: &[u8], fields: Fields, version: u8, place: u64) -> Result<Superblock> {
    let mut fields = with_widths(fields)?;
    let flags = fields.u8()?;
    let base = fields.length()?;
    fields.address()?;
    let end = fields.length()?;
    let root = fields.defined_address()?;
    fields.u32()?;
    check_sum(&whole[..SIGNATURE.len() + fields.at()])?;
    let is_open_for_writing = version == 3 && flags & OPEN_FOR_WRITING != 0;
    Ok(Superblock { base: place, widths: fields.widths(), root, end: moved(end, base, place), is_open_for_writing })
}

fn with_widths(mut fields: Fields) -> Result<Fields> {
    let (address, length) = (fields.u8()?, fields.u8()?);
    match [address, length].iter().all(|width| [2, 4, 8].contains(width)) {
        true => Ok(fields.with(Widths { address: address.into(), length: length.into() })),
        false => {
            Err(damaged("superblock").expected("addresses of 2, 4 or 8 bytes").found(format!("{address} and {length}")))
        }
    }
}

/// The end of the file when the user block has another length than it had when the file was written.
fn moved(end: u64, base: u64, place: u64) -> u64 {
    end.saturating_sub(base).saturating_add(place)
}

fn cut_short(e: Error, source: &dyn ByteSource) -> Error {
    let is_short = source.len_bytes() < LONGEST && e.key == "corrupt_metadata";
    let e = if is_short { Error::new(Kind::File, "truncated", "The file is cut short").found(e.found) } else { e };
    e.at(format!("{}, superblock", source.name()))
}

const SIGNATURE: [u8; 8] = [0x89, b'H', b'D', b'F', b'\r', b'\n', 0x1a, b'\n'];
/// No superblock is longer (version 1 with 8-byte addresses has 100 bytes).
const LONGEST: u64 = 128;
/// Bit 0: open for writing; bit 2: by a single writer with many readers. A clean close clears both.
const OPEN_FOR_WRITING: u8 = 0b101;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Bytes;

    #[test]
    fn what_is_not_hdf5_is_named() {
        let text = Bytes { name: "notes_master.h5".into(), bytes: b"this is not HDF5\n".repeat(100) };
        let error = find(&text).err().expect("text is no HDF5 file");
        assert_eq!((error.key.as_ref(), error.found.as_str()), ("not_hdf5", "text"));
        let empty = Bytes { name: "x.h5".into(), bytes: Vec::new() };
        assert_eq!(find(&empty).err().expect("nothing is no HDF5 file").key, "empty_file");
    }
}
