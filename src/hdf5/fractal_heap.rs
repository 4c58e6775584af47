//! Fractal heaps [III.G]: where links and attributes lie once an object has many of them.

use super::{
    btree2,
    fields::{Fields, damaged, unsupported},
    file::File,
};
use crate::Result;

/// A heap's header.
pub struct FractalHeap {
    huge_tree: Option<u64>,
    width: u64,
    first_block: u64,
    largest_direct: u64,
    offset_len: usize,
    length_len: usize,
    root: Option<u64>,
    root_rows: u64,
}

impl FractalHeap {
    pub fn read(file: &File, address: u64) -> Result<Self> {
        let widths = file.widths();
        let len = 22 + 12 * widths.length + 3 * widths.address + 4;
        // A filtered heap's header is longer and its checksum lies elsewhere.
        let bytes = file.structure(HEAP, address, len as u64, b"FRHP", false)?;
        let mut fields = file.fields(HEAP, &bytes);
        fields.skip(4)?;
        fields.version(0..=0)?;
        fields.u16()?;
        if fields.u16()? != 0 {
            return Err(unsupported("filtered fractal heap"));
        }
        super::file::check_sum(&bytes)?;
        fields.u8()?;
        let largest_object = fields.u32()?;
        fields.length()?;
        let huge_tree = fields.address()?;
        fields.length()?;
        fields.address()?;
        fields.skip(8 * widths.length)?;
        let width = u64::from(fields.u16()?);
        let (first_block, largest_direct) = (fields.length()?, fields.length()?);
        let offset_bits = fields.u16()?;
        fields.u16()?;
        let root = fields.address()?;
        let root_rows = u64::from(fields.u16()?);
        let is_sound = width > 0 && first_block.is_power_of_two() && largest_direct.is_power_of_two();
        if !is_sound || largest_direct < first_block || !(1..=64).contains(&offset_bits) {
            return Err(damaged(HEAP).at(format!("{HEAP} at {address}")));
        }
        let offset_len = usize::from(offset_bits).div_ceil(8);
        // As wide as an offset inside the largest direct block, or as the largest managed object's length.
        let length_len = (largest_direct.ilog2() as usize).div_ceil(8).min(width_of(largest_object.into()));
        Ok(Self { huge_tree, width, first_block, largest_direct, offset_len, length_len, root, root_rows })
    }

    /// The object that `id` names: managed, huge or tiny, by bits 4 and 5 of its first byte.
    pub fn object(&self, file: &File, id: &[u8]) -> Result<Vec<u8>> {
        let mut fields = file.fields("fractal heap id", id);
        let first = fields.u8()?;
        match first >> 4 & 3 {
            0 => {
                let (offset, len) = (fields.uint(self.offset_len)?, fields.uint(self.length_len)?);
                self.managed(file, offset, len)
            }
            1 => self.huge(file, fields),
            2 => Ok(fields.take(usize::from(first & 15) + 1)?.to_vec()),
            other => Err(damaged(HEAP).found(format!("object of type {other}"))),
        }
    }

    fn managed(&self, file: &File, offset: u64, len: u64) -> Result<Vec<u8>> {
        let root = self.root.ok_or_else(|| damaged(HEAP).found("no block"))?;
        let (block, start) = match self.root_rows {
            0 => (root, 0),
            rows => self.direct_block(file, root, rows, 0, offset)?,
        };
        let inside = offset.checked_sub(start).and_then(|inside| block.checked_add(inside));
        file.read(HEAP, inside.ok_or_else(|| damaged(HEAP))?, len)
    }

    /// Address and heap offset of the direct block that holds `offset`, below the indirect block at `address`.
    fn direct_block(&self, file: &File, address: u64, rows: u64, start: u64, offset: u64) -> Result<(u64, u64)> {
        let widths = file.widths();
        let direct_rows = u64::from(self.largest_direct.ilog2() - self.first_block.ilog2()) + 2;
        let (row, row_start) = self.row_of(rows, offset.checked_sub(start).ok_or_else(|| damaged(HEAP))?)?;
        let block_len = self.block_len(row);
        let column = (offset - start - row_start) / block_len;
        let entries = rows.saturating_mul(self.width);
        let len = (5 + widths.address + self.offset_len + 4) as u64 + entries.saturating_mul(widths.address as u64);
        let bytes = file.structure(HEAP, address, len, b"FHIB", true)?;
        let mut fields = file.fields(HEAP, &bytes);
        fields.skip(5 + widths.address + self.offset_len + (row * self.width + column) as usize * widths.address)?;
        let child = fields.defined_address()?;
        let child_start = start + row_start + column * block_len;
        if row < direct_rows {
            return Ok((child, child_start));
        }
        let child_rows = u64::from(block_len.ilog2() - self.first_block.ilog2()).checked_sub(self.width.ilog2().into());
        let child_rows = child_rows.ok_or_else(|| damaged(HEAP))? + 1;
        self.direct_block(file, child, child_rows, child_start, offset)
    }

    /// The row of a doubling table that holds `inside`, and where the row starts.
    fn row_of(&self, rows: u64, inside: u64) -> Result<(u64, u64)> {
        let mut start = 0_u64;
        for row in 0..rows.min(64) {
            let end = self.block_len(row).checked_mul(self.width).and_then(|len| start.checked_add(len));
            let end = end.ok_or_else(|| damaged(HEAP))?;
            if inside < end {
                return Ok((row, start));
            }
            start = end;
        }
        Err(damaged(HEAP).found(format!("object at {inside}")))
    }

    /// Rows 0 and 1 have blocks of the first size; from then on sizes double.
    fn block_len(&self, row: u64) -> u64 {
        let doublings = row.saturating_sub(1).min(63) as u32;
        self.first_block.saturating_mul(1 << doublings)
    }

    /// Huge objects lie by themselves; the id gives their key in a tree, or their place.
    fn huge(&self, file: &File, mut fields: Fields) -> Result<Vec<u8>> {
        let widths = file.widths();
        if fields.left() >= widths.address + widths.length {
            let (address, len) = (fields.defined_address()?, fields.length()?);
            return file.read(HEAP, address, len);
        }
        let key = fields.uint(fields.left())?;
        let mut found = None;
        let tree = self.huge_tree.ok_or_else(|| damaged(HEAP).found("no huge objects"))?;
        btree2::for_each(file, tree, &[1], &mut |record| {
            let mut fields = file.fields(HEAP, record);
            let place = (fields.defined_address()?, fields.length()?);
            found = found.or((fields.length()? == key).then_some(place));
            Ok(())
        })?;
        let (address, len) = found.ok_or_else(|| damaged(HEAP).found(format!("no huge object {key}")))?;
        file.read(HEAP, address, len)
    }
}

/// Bytes that hold numbers up to `most`.
fn width_of(most: u64) -> usize {
    most.max(1).ilog2() as usize / 8 + 1
}

const HEAP: &str = "fractal heap";
