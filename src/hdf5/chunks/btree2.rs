//! Version 2 B-tree of chunks: record types 10 and 11 [III.A.2], for datasets with several endless axes.

use super::{
    super::{btree2, fields::damaged},
    Walk,
};
use crate::Result;

impl Walk<'_, '_> {
    pub(super) fn btree2(&mut self, address: u64) -> Result<()> {
        let mut records = Vec::new();
        let mut record_len = 0;
        let file = self.file;
        let kind = btree2::for_each(file, address, &[10, 11], &mut |record| {
            record_len = record.len();
            records.extend_from_slice(record);
            Ok(())
        });
        // Records found before a fault are good.
        let fault = kind.as_ref().err().cloned();
        let rank = self.grid.rank;
        let plain_len = file.widths().address + 8 * rank;
        for record in records.chunks_exact(record_len.max(1)) {
            let mut fields = file.fields("chunk record", record);
            let address = fields.address()?;
            let (len, mask) = match record_len.checked_sub(plain_len) {
                Some(0) => (self.grid.chunk_bytes, 0),
                Some(rest @ 5..=12) => (fields.uint(rest - 4)?, fields.u32()?),
                _ => return Err(damaged("chunk record").found(format!("{record_len} bytes"))),
            };
            let place = (0..rank).map(|_| fields.u64()).collect::<Result<Vec<_>>>()?;
            if let Some(address) = address {
                self.add(&place, address, len, mask)?;
            }
        }
        fault.map_or(Ok(()), Err)
    }
}
