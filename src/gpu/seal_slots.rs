//! Writes what the resident form knows of each slot, once all its blocks are decoded.

use super::{
    Binding, Buffer, Context, Pass, PassSpec,
    decode::{Batch, Framing},
};

pub const SPEC: PassSpec = PassSpec {
    name: "seal_slots",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/seal_slots.wgsl"),
    ),
    workgroup: 64,
    bindings: &[Binding::Uniform, Binding::Read, Binding::Read, Binding::Write, Binding::Write, Binding::Write],
    uniform: Some(Batch::UNIFORM),
};

#[derive(Debug)]
pub struct SealSlots(Pass);

impl SealSlots {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Writes `slots` and takes the records of failed frames out of `table`; adds up the failed frames, which must be
    /// zero before.
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        batch: &Batch,
        framing: &Framing,
        table: &Buffer,
        slots: &Buffer,
    ) {
        let buffers: [&wgpu::Buffer; 6] =
            [&framing.batch, &framing.chunks, &framing.faults, table, slots, &framing.totals];
        self.0.dispatch(pass, &self.0.bind(context, &buffers), batch.frames.div_ceil(SPEC.workgroup));
    }
}
