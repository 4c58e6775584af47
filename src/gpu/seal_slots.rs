//! Writes what the resident form knows of each slot, once all its blocks are decoded.

use super::{
    Binding, Buffer, Context, Pass, PassSpec,
    decode::{Batch, Framing},
    planes::Store,
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

    /// Writes the slots of `store` and takes the records of failed frames out of its table; counts the failed frames in
    /// `totals`.
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        batch: &Batch,
        framing: &Framing,
        totals: &Buffer,
        store: &Store,
    ) {
        let Store { table, slots, .. } = store;
        let buffers: [&wgpu::Buffer; 6] = [&framing.batch, &framing.chunks, &framing.faults, table, slots, totals];
        self.0.dispatch(pass, &self.0.bind(context, &buffers), batch.frames.div_ceil(SPEC.workgroup));
    }
}
