//! Extensible array of chunks [VII.D]: datasets with one endless axis.
//!
//! The index block holds the first elements and the addresses of data blocks; further data blocks hang on
//! super blocks. Super block s has 2^(s/2) data blocks of `smallest * 2^((s+1)/2)` elements; the first
//! `direct` super blocks exist only as data block addresses in the index block.

use super::{
    super::{
        fields::{Fields, damaged},
        file::check_sum,
    },
    ElementKind, Walk,
    fixed_array::is_set,
};
use crate::Result;

/// The array's creation parameters.
struct Array {
    kind: ElementKind,
    element_len: u64,
    in_index: u64,
    smallest: u64,
    /// Super blocks whose data blocks hang on the index block.
    direct: u32,
    super_blocks: u32,
    page: u64,
    /// Bytes of a block's own offset.
    offset_len: u64,
    /// Elements that were ever set.
    used: u64,
}

impl Array {
    fn blocks_of(super_block: u32) -> u64 {
        1 << (super_block / 2)
    }

    fn elements_of(&self, super_block: u32) -> u64 {
        self.smallest << super_block.div_ceil(2)
    }
}

impl Walk<'_, '_> {
    pub(super) fn extensible_array(&mut self, address: u64) -> Result<()> {
        let widths = self.file.widths();
        let len = 12 + 6 * widths.length + widths.address + 4;
        let head = self.file.structure(ARRAY, address, len as u64, b"EAHD", true)?;
        let mut fields = self.file.fields(ARRAY, &head);
        fields.skip(4)?;
        fields.version(0..=0)?;
        let array = read_parameters(&mut fields, widths.address)?;
        match fields.address()? {
            Some(index_block) => self.index_block(&array, index_block),
            None => Ok(()),
        }
    }

    fn index_block(&mut self, array: &Array, address: u64) -> Result<()> {
        let widths = self.file.widths();
        let blocks: u64 = (0..array.direct).map(Array::blocks_of).sum();
        let super_blocks = u64::from(array.super_blocks - array.direct);
        let len = (6 + widths.address) as u64
            + array.in_index * array.element_len
            + (blocks + super_blocks) * widths.address as u64
            + 4;
        let bytes = self.file.structure(ARRAY, address, len, b"EAIB", true)?;
        let mut fields = self.file.fields(ARRAY, &bytes);
        fields.skip(6 + widths.address)?;
        for index in 0..array.in_index {
            self.add_element(&mut fields, index, array.kind)?;
        }
        let mut first = array.in_index;
        for super_block in 0..array.direct {
            let elements = array.elements_of(super_block);
            for _ in 0..Array::blocks_of(super_block) {
                if let Some(block) = fields.address()? {
                    self.data_block_or_fault(array, block, elements, first, None);
                }
                first += elements;
            }
        }
        for super_block in array.direct..array.super_blocks {
            let address = fields.address()?;
            if first >= array.used {
                break;
            }
            if let Some(address) = address
                && let Err(e) = self.super_block(array, address, super_block, first)
            {
                self.fault(e);
            }
            let elements = Array::blocks_of(super_block).saturating_mul(array.elements_of(super_block));
            first = first.saturating_add(elements);
        }
        Ok(())
    }

    fn super_block(&mut self, array: &Array, address: u64, super_block: u32, first: u64) -> Result<()> {
        let widths = self.file.widths();
        let (blocks, elements) = (Array::blocks_of(super_block), array.elements_of(super_block));
        let pages = if elements > array.page { elements / array.page } else { 0 };
        let bitmap_len = blocks.saturating_mul(pages.div_ceil(8));
        let prefix = (6 + widths.address) as u64 + array.offset_len;
        let len = blocks.saturating_mul(widths.address as u64).saturating_add(bitmap_len).saturating_add(prefix + 4);
        let bytes = self.file.structure(ARRAY, address, len, b"EASB", true)?;
        let mut fields = self.file.fields(ARRAY, &bytes);
        fields.skip(prefix as usize)?;
        let bitmap = fields.take(bitmap_len as usize)?;
        for block in 0..blocks {
            let start = first.saturating_add(block.saturating_mul(elements));
            if let Some(address) = fields.address()? {
                let written = (pages > 0).then_some((bitmap, block * pages));
                self.data_block_or_fault(array, address, elements, start, written);
            }
        }
        Ok(())
    }

    fn data_block_or_fault(
        &mut self,
        array: &Array,
        address: u64,
        elements: u64,
        first: u64,
        written: Option<(&[u8], u64)>,
    ) {
        if let Err(e) = self.data_block(array, address, elements, first, written) {
            self.fault(e);
        }
    }

    /// A data block of `elements`; `written`: the bitmap of written pages and this block's first bit there.
    fn data_block(
        &mut self,
        array: &Array,
        address: u64,
        elements: u64,
        first: u64,
        written: Option<(&[u8], u64)>,
    ) -> Result<()> {
        let prefix = (6 + self.file.widths().address) as u64 + array.offset_len;
        let Some((bitmap, first_bit)) = written else {
            let len = elements.checked_mul(array.element_len).and_then(|len| len.checked_add(prefix + 4));
            let bytes = self.file.structure(ARRAY, address, len.ok_or_else(|| damaged(ARRAY))?, b"EADB", true)?;
            return self.elements(array, &bytes[prefix as usize..bytes.len() - 4], first);
        };
        self.file.structure(ARRAY, address, prefix + 4, b"EADB", true)?;
        let page_len = array.page * array.element_len + 4;
        for page in (0..elements / array.page).filter(|page| is_set(bitmap, first_bit + page)) {
            let place = page.checked_mul(page_len).and_then(|skipped| address.checked_add(prefix + 4 + skipped));
            let bytes = self.file.read(ARRAY, place.ok_or_else(|| damaged(ARRAY))?, page_len)?;
            check_sum(&bytes)?;
            self.elements(array, &bytes[..bytes.len() - 4], first.saturating_add(page * array.page))?;
        }
        Ok(())
    }

    fn elements(&mut self, array: &Array, bytes: &[u8], first: u64) -> Result<()> {
        let mut fields = self.file.fields(ARRAY, bytes);
        for index in first.. {
            if fields.left() == 0 {
                break;
            }
            self.add_element(&mut fields, index, array.kind)?;
        }
        Ok(())
    }
}

fn read_parameters(fields: &mut Fields, address_len: usize) -> Result<Array> {
    let (client, element_len) = (fields.u8()?, fields.u8()?);
    let (most_bits, in_index, smallest, pointers, page_bits) =
        (fields.u8()?, fields.u8()?, fields.u8()?, fields.u8()?, fields.u8()?);
    // Super blocks, their bytes, data blocks, their bytes; then elements used and elements with room.
    for _ in 0..4 {
        fields.length()?;
    }
    let used = fields.length()?;
    fields.length()?;
    let is_sound =
        smallest.is_power_of_two() && pointers.is_power_of_two() && (1..=64).contains(&most_bits) && page_bits < 32;
    let super_blocks = 1 + u32::from(most_bits).saturating_sub(u32::from(smallest).max(1).ilog2());
    let direct = 2 * u32::from(pointers).max(1).ilog2();
    // Beyond 2^40 elements nothing is stored in any file.
    if !is_sound || direct > super_blocks || u32::from(smallest).max(1).ilog2() + super_blocks.div_ceil(2) >= 64 {
        return Err(damaged(ARRAY).found(format!("sizes {most_bits}, {in_index}, {smallest}, {pointers}, {page_bits}")));
    }
    Ok(Array {
        kind: ElementKind::of(client, element_len, address_len, ARRAY)?,
        element_len: element_len.into(),
        in_index: in_index.into(),
        smallest: smallest.into(),
        direct,
        super_blocks,
        page: 1 << page_bits,
        offset_len: u64::from(most_bits).div_ceil(8),
        used,
    })
}

const ARRAY: &str = "extensible array";
