//! The lanes of kernels in which one invocation decodes one block (shaders/shared/block.wgsl).

use std::{cell::RefCell, rc::Rc};

use super::{
    super::{Buffer, Context, block_records::LANE_BYTES},
    batch::{Batch, MAX_SCRATCH_BYTES},
    framing::storage,
};
use crate::error::Result;

/// Lanes of all decodes, which the GPU runs one after another.
#[derive(Debug)]
pub struct Lanes {
    /// Invocations of a workgroup.
    workgroup: u32,
    buffer: RefCell<Option<Rc<Buffer>>>,
}

impl Lanes {
    pub fn new(workgroup: u32) -> Self {
        Self { workgroup, buffer: RefCell::default() }
    }

    /// A lane for each invocation of the workgroups that decode `batch`, and the number of these.
    ///
    /// # Errors
    /// As [`Context::buffer`].
    pub fn of(&self, context: &Context, batch: &Batch) -> Result<(Rc<Buffer>, u32)> {
        let groups = self.groups(context, batch);
        let bytes = u64::from(groups * self.workgroup) * LANE_BYTES;
        let kept = self.buffer.borrow().clone();
        if let Some(lanes) = kept.filter(|lanes| lanes.size() >= bytes) {
            return Ok((lanes, groups));
        }
        // The old ones go first: work under way keeps them alive.
        self.buffer.replace(None);
        let lanes = Rc::new(storage(context, "decode.lanes", bytes / 4)?);
        self.buffer.replace(Some(lanes.clone()));
        Ok((lanes, groups))
    }

    /// Workgroups for a batch, which take its parts in turn.
    fn groups(&self, context: &Context, batch: &Batch) -> u32 {
        let parts = batch.frames.div_ceil(self.workgroup) * batch.lz4_blocks;
        let most = scratch_bytes(context) / (u64::from(self.workgroup) * LANE_BYTES);
        parts.min(most.max(1) as u32)
    }
}

/// Bytes of all lanes: 1 GiB, an eighth of what there is, and no more than a binding holds. A software adapter gains
/// nothing from many.
fn scratch_bytes(context: &Context) -> u64 {
    let most = if context.adapter.is_software { SOFTWARE_SCRATCH_BYTES } else { MAX_SCRATCH_BYTES };
    most.min(context.ledger().budget_bytes() / 8).min(context.max_binding_bytes())
}

const SOFTWARE_SCRATCH_BYTES: u64 = 64 << 20;
