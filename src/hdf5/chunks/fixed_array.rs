//! Fixed array of chunks [VII.C]: datasets without an endless axis.

use super::{
    super::{fields::damaged, file::check_sum},
    ElementKind, Walk,
};
use crate::Result;

impl Walk<'_, '_> {
    pub(super) fn fixed_array(&mut self, address: u64) -> Result<()> {
        let widths = self.file.widths();
        let len = 8 + widths.length + widths.address + 4;
        let head = self.file.structure(ARRAY, address, len as u64, b"FAHD", true)?;
        let mut fields = self.file.fields(ARRAY, &head);
        fields.skip(4)?;
        fields.version(0..=0)?;
        let (client, element_len, page_bits) = (fields.u8()?, fields.u8()?, fields.u8()?);
        let kind = ElementKind::of(client, element_len, widths.address, ARRAY)?;
        let elements = fields.length()?;
        let Some(block) = fields.address()? else { return Ok(()) };
        let prefix = 6 + widths.address as u64;
        let page = 1_u64.checked_shl(page_bits.into()).ok_or_else(|| damaged(ARRAY))?;
        let element_len = u64::from(element_len);
        if elements <= page {
            let len = elements.checked_mul(element_len).and_then(|len| len.checked_add(prefix + 4));
            let bytes = self.file.structure(ARRAY, block, len.ok_or_else(|| damaged(ARRAY))?, b"FADB", true)?;
            return self.fixed_elements(&bytes[prefix as usize..bytes.len() - 4], 0, kind);
        }
        // Paged: which pages were written, then the pages, each with its checksum.
        let pages = elements.div_ceil(page);
        let bitmap_len = pages.div_ceil(8);
        let head = self.file.structure(ARRAY, block, prefix + bitmap_len + 4, b"FADB", true)?;
        let bitmap = &head[prefix as usize..head.len() - 4];
        let page_len =
            page.checked_mul(element_len).and_then(|len| len.checked_add(4)).ok_or_else(|| damaged(ARRAY))?;
        for number in (0..pages).filter(|&number| is_set(bitmap, number)) {
            let first = number * page;
            let len = (elements - first).min(page) * element_len + 4;
            let place =
                number.checked_mul(page_len).and_then(|skipped| block.checked_add(prefix + bitmap_len + 4 + skipped));
            let bytes = place.ok_or_else(|| damaged(ARRAY)).and_then(|place| self.file.read(ARRAY, place, len));
            match bytes.and_then(|bytes| check_sum(&bytes).map(|()| bytes)) {
                Ok(bytes) => self.fixed_elements(&bytes[..bytes.len() - 4], first, kind)?,
                Err(e) => self.fault(e),
            }
        }
        Ok(())
    }

    fn fixed_elements(&mut self, bytes: &[u8], first: u64, kind: ElementKind) -> Result<()> {
        let mut fields = self.file.fields(ARRAY, bytes);
        let mut index = first;
        while fields.left() > 0 {
            self.add_element(&mut fields, index, kind)?;
            index += 1;
        }
        Ok(())
    }
}

/// Bit `number`, the first one being the highest of the first byte (`H5VM_bit_get`).
pub(super) fn is_set(bitmap: &[u8], number: u64) -> bool {
    bitmap.get((number / 8) as usize).is_some_and(|byte| byte << (number % 8) & 0x80 != 0)
}

const ARRAY: &str = "fixed array";
