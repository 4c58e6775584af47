//! Version 1 B-tree of chunks [III.A.1]: what DECTRIS detectors write.

use super::{super::fields::damaged, Walk};
use crate::Result;

impl Walk<'_, '_> {
    pub(super) fn btree1(&mut self, address: u64) -> Result<()> {
        self.btree1_node(address, None)
    }

    /// A subtree that cannot be read is a fault, not the end: the chunks beside it are still found.
    fn btree1_node(&mut self, address: u64, level: Option<u8>) -> Result<()> {
        let widths = self.file.widths();
        let prefix = 8 + 2 * widths.address as u64;
        let head = self.file.structure(TREE, address, prefix, b"TREE", false)?;
        let mut fields = self.file.fields(TREE, &head);
        fields.skip(4)?;
        let (kind, found) = (fields.u8()?, fields.u8()?);
        // Levels fall by one from node to child, so that no path is endless.
        if kind != 1 || level.is_some_and(|level| level != found) {
            return Err(damaged(TREE).at(format!("{TREE} at {address}")).found(format!("type {kind}, level {found}")));
        }
        let entries = u64::from(fields.u16()?);
        let rank = self.grid.rank;
        // Key: chunk length, filter mask, first element along each axis, and 0 for the element's bytes.
        let key_len = 8 + 8 * (rank as u64 + 1);
        let body = self.file.read(TREE, address + prefix, entries * (key_len + widths.address as u64))?;
        let mut fields = self.file.fields(TREE, &body);
        for _ in 0..entries {
            let (len, mask) = (fields.u32()?, fields.u32()?);
            let mut place = Vec::with_capacity(rank);
            for axis in 0..rank {
                place.push(fields.u64()? / self.grid.chunk_dims[axis]);
            }
            fields.u64()?;
            let child = fields.address()?;
            match (child, found.checked_sub(1)) {
                (Some(child), None) => self.add(&place, child, len.into(), mask)?,
                (Some(child), Some(below)) => {
                    if let Err(e) = self.btree1_node(child, Some(below)) {
                        self.fault(e);
                    }
                }
                (None, _) => {}
            }
        }
        Ok(())
    }
}

const TREE: &str = "version 1 B-tree";
