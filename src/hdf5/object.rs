//! Object headers [IV.A.1]: the messages that make an object a group or a dataset.

use std::collections::HashSet;

use super::{
    fields::{Fields, damaged, unsupported},
    file::{File, check_sum},
};
use crate::Result;

/// One header message.
#[derive(Clone, Debug)]
pub struct Message {
    pub kind: u16,
    pub data: Vec<u8>,
    /// Address of `data` in the file.
    pub address: u64,
}

/// The messages of one object, continuation blocks included, shared ones resolved.
#[derive(Debug)]
pub struct Object {
    messages: Vec<Message>,
}

impl Object {
    pub fn read(file: &File, address: u64) -> Result<Self> {
        Ok(Self { messages: read_messages(file, address, true)? })
    }

    pub fn message(&self, kind: u16) -> Option<&Message> {
        self.messages.iter().find(|message| message.kind == kind)
    }

    pub fn messages(&self, kind: u16) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(move |message| message.kind == kind)
    }
}

/// Numbers of the header messages [IV.A.2].
pub mod kind {
    pub const DATASPACE: u16 = 0x01;
    pub const LINK_INFO: u16 = 0x02;
    pub const DATATYPE: u16 = 0x03;
    pub const FILL_VALUE_OLD: u16 = 0x04;
    pub const FILL_VALUE: u16 = 0x05;
    pub const LINK: u16 = 0x06;
    pub const EXTERNAL_FILES: u16 = 0x07;
    pub const LAYOUT: u16 = 0x08;
    pub const PIPELINE: u16 = 0x0b;
    pub const ATTRIBUTE: u16 = 0x0c;
    pub const CONTINUATION: u16 = 0x10;
    pub const SYMBOL_TABLE: u16 = 0x11;
    pub const ATTRIBUTE_INFO: u16 = 0x15;
}

/// The address in a shared message [IV.A.2, "shared message"] that names a committed object.
pub fn shared_address(mut fields: Fields) -> Result<u64> {
    let version = fields.version(1..=3)?;
    let place = fields.u8()?;
    if version == 1 {
        fields.skip(6)?;
    }
    match version == 3 && place == 1 {
        true => Err(unsupported("message shared through the file's table")),
        false => fields.defined_address(),
    }
}

fn read_messages(file: &File, address: u64, follows_shared: bool) -> Result<Vec<Message>> {
    let start = file.read(HEADER, address, 4)?;
    let mut parts = match start.as_slice() {
        b"OHDR" => Parts::begin_new(file, address)?,
        [1, ..] => Parts::begin_old(file, address)?,
        other => {
            return Err(damaged(HEADER).at(format!("{HEADER} at {address}")).found(other.escape_ascii().to_string()));
        }
    };
    let mut seen = HashSet::new();
    while let Some((at, len)) = parts.continuations.pop() {
        if !seen.insert(at) {
            return Err(damaged(HEADER).found(format!("continuation {at} twice")));
        }
        parts.read_continuation(file, at, len)?;
    }
    let shared = std::mem::take(&mut parts.shared);
    if follows_shared {
        for message in shared {
            let other = shared_address(file.fields("shared message", &message.data))?;
            let found = read_messages(file, other, false)?.into_iter().find(|there| there.kind == message.kind);
            parts.messages.push(found.ok_or_else(|| damaged("shared message").found("no such message"))?);
        }
    }
    Ok(parts.messages)
}

/// A header while its blocks are read.
struct Parts {
    is_new: bool,
    has_order: bool,
    messages: Vec<Message>,
    shared: Vec<Message>,
    continuations: Vec<(u64, u64)>,
}

impl Parts {
    /// Version 1 [IV.A.1.a]: a prefix of 16 bytes, then messages aligned to 8 bytes.
    fn begin_old(file: &File, address: u64) -> Result<Self> {
        let prefix = file.read(HEADER, address, 16)?;
        let mut fields = file.fields(HEADER, &prefix);
        fields.skip(8)?;
        let len = u64::from(fields.u32()?);
        let mut parts =
            Self { is_new: false, has_order: false, messages: vec![], shared: vec![], continuations: vec![] };
        let body = file.read(HEADER, address + 16, len)?;
        parts.collect(file, &body, address + 16)?;
        Ok(parts)
    }

    /// Version 2 [IV.A.1.b]: signature, flags, optional times and limits, size, messages, checksum.
    fn begin_new(file: &File, address: u64) -> Result<Self> {
        let start = file.read(HEADER, address, 6)?;
        let mut fields = file.fields(HEADER, &start);
        fields.skip(4)?;
        fields.version(2..=2)?;
        let flags = fields.u8()?;
        let skipped = if flags & 0x20 != 0 { 16 } else { 0 } + if flags & 0x10 != 0 { 4 } else { 0 };
        let size_len = 1 << (flags & 3);
        let size = file.read(HEADER, address + 6 + skipped, size_len)?;
        let len = file.fields(HEADER, &size).uint(size_len as usize)?;
        let prefix = 6 + skipped + size_len;
        let whole = len.checked_add(prefix + 4).ok_or_else(|| damaged(HEADER))?;
        let bytes = file.structure(HEADER, address, whole, b"OHDR", true)?;
        let has_order = flags & 4 != 0;
        let mut parts = Self { is_new: true, has_order, messages: vec![], shared: vec![], continuations: vec![] };
        parts.collect(file, &bytes[prefix as usize..bytes.len() - 4], address + prefix)?;
        Ok(parts)
    }

    fn read_continuation(&mut self, file: &File, address: u64, len: u64) -> Result<()> {
        let bytes = file.read(HEADER, address, len)?;
        if !self.is_new {
            return self.collect(file, &bytes, address);
        }
        if !bytes.starts_with(b"OCHK") || bytes.len() < 8 {
            return Err(damaged("object header continuation").found(format!("{len} bytes at {address}")));
        }
        check_sum(&bytes)?;
        self.collect(file, &bytes[4..bytes.len() - 4], address + 4)
    }

    fn collect(&mut self, file: &File, bytes: &[u8], address: u64) -> Result<()> {
        let prefix = if self.is_new { 4 + if self.has_order { 2 } else { 0 } } else { 8 };
        let mut fields = file.fields(HEADER, bytes);
        // What is shorter than a prefix is a gap.
        while fields.left() >= prefix {
            let kind = if self.is_new { fields.u8()?.into() } else { fields.u16()? };
            let (len, flags) = (fields.u16()?, fields.u8()?);
            fields.skip(prefix - if self.is_new { 4 } else { 5 })?;
            let place = address + fields.at() as u64;
            let message = Message { kind, data: fields.take(len.into())?.to_vec(), address: place };
            match kind {
                kind::CONTINUATION => {
                    let mut fields = file.fields("object header continuation", &message.data);
                    self.continuations.push((fields.defined_address()?, fields.length()?));
                }
                _ if flags & 2 != 0 => self.shared.push(message),
                _ => self.messages.push(message),
            }
        }
        Ok(())
    }
}

const HEADER: &str = "object header";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Bytes;

    /// A superblock 0 whose root is a version 1 header at byte 96, with one continuation to `next`.
    fn file_with_continuation(next: u64) -> Bytes {
        let mut bytes = b"\x89HDF\r\n\x1a\n".to_vec();
        bytes.extend([0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16, 0, 0, 0, 0, 0]);
        for field in [0, u64::MAX, 160, u64::MAX, 0, 96, 0, 0, 0] {
            bytes.extend(field.to_le_bytes());
        }
        // Version, messages, references, length of the messages; then the continuation message.
        bytes.extend([1, 0, 1, 0, 1, 0, 0, 0, 24, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend([0x10, 0, 16, 0, 0, 0, 0, 0]);
        bytes.extend(next.to_le_bytes());
        bytes.extend(24_u64.to_le_bytes());
        bytes.resize(160, 0);
        Bytes { name: "x.h5".into(), bytes }
    }

    #[test]
    fn a_continuation_that_leads_to_itself_ends() {
        let bytes = file_with_continuation(112);
        let file = File::open(&bytes).expect("the superblock is sound");
        let error = Object::read(&file, file.root()).expect_err("a header without end");
        assert_eq!((error.key.as_ref(), error.found.as_str()), ("corrupt_metadata", "continuation 112 twice"));
    }

    #[test]
    fn a_continuation_beyond_the_file_is_told_as_cut_short() {
        let bytes = file_with_continuation(150);
        let file = File::open(&bytes).expect("the superblock is sound");
        assert_eq!(Object::read(&file, file.root()).expect_err("it is not there").key, "truncated");
    }
}
