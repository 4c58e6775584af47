//! Heaps of names and values: local heaps [III.D] of old groups, global heaps [III.E] of text of any
//! length and of virtual datasets.

use super::{fields::damaged, file::File};
use crate::Result;

/// The text at `offset` of the local heap at `address`.
pub struct LocalHeap {
    data: Vec<u8>,
}

impl LocalHeap {
    pub fn read(file: &File, address: u64) -> Result<Self> {
        let widths = file.widths();
        let len = 8 + 2 * widths.length as u64 + widths.address as u64;
        let bytes = file.structure("local heap", address, len, b"HEAP", false)?;
        let mut fields = file.fields("local heap", &bytes);
        fields.skip(8)?;
        let size = fields.length()?;
        fields.length()?;
        let segment = fields.defined_address()?;
        Ok(Self { data: file.read("local heap", segment, size)? })
    }

    pub fn text(&self, file: &File, offset: u64) -> Result<String> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.data.get(offset..));
        file.fields("local heap", rest.ok_or_else(|| damaged("local heap").found(format!("name at {offset}")))?).text()
    }
}

/// Object `index` of the global heap collection at `address`.
pub fn global_object(file: &File, address: u64, index: u32) -> Result<Vec<u8>> {
    let prefix = 8 + file.widths().length as u64;
    let head = file.structure(GLOBAL, address, prefix, b"GCOL", false)?;
    let mut fields = file.fields(GLOBAL, &head);
    fields.skip(8)?;
    let size = fields.length()?;
    let body = file.read(GLOBAL, address + prefix, size.checked_sub(prefix).ok_or_else(|| damaged(GLOBAL))?)?;
    let mut fields = file.fields(GLOBAL, &body);
    while fields.left() >= 8 + file.widths().length {
        let number = fields.u16()?;
        fields.skip(6)?;
        let len = fields.length()?;
        let len = usize::try_from(len).map_err(|_| damaged(GLOBAL))?;
        if number == 0 {
            break;
        }
        let data = fields.take(len)?;
        if u32::from(number) == index {
            return Ok(data.to_vec());
        }
        // Objects begin at multiples of 8; the last one may end without padding.
        fields.skip((len.next_multiple_of(8) - len).min(fields.left()))?;
    }
    Err(damaged(GLOBAL).at(format!("{GLOBAL} at {address}")).expected(format!("object {index}")))
}

const GLOBAL: &str = "global heap";
