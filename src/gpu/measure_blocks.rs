//! Finds the words of each decoded block that are not zero, and places its record.

use super::{
    Binding, Context, Pass, PassSpec,
    decode::{Batch, Scratch},
};

pub const SPEC: PassSpec = PassSpec {
    name: "measure_blocks",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/shared/compressed.wgsl"),
        include_str!("../../shaders/shared/plane_word.wgsl"),
        include_str!("../../shaders/measure_blocks.wgsl"),
    ),
    workgroup: 64,
    bindings: &[
        Binding::Uniform,
        Binding::Read,
        Binding::Read,
        Binding::Read,
        Binding::Read,
        Binding::Write,
        Binding::Write,
        Binding::Write,
        Binding::Write,
    ],
    uniform: Some(Batch::UNIFORM),
};

#[derive(Debug)]
pub struct MeasureBlocks(Pass);

impl MeasureBlocks {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Fills `scratch.maps`, `table` and `slots`; adds up `scratch.totals`, which must be zero.
    #[expect(clippy::too_many_arguments, reason = "the inputs of one batch, each a buffer of its own")]
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        compressed: &wgpu::Buffer,
        batch: &Batch,
        scratch: &Scratch,
        table: &wgpu::Buffer,
        slots: &wgpu::Buffer,
    ) {
        let buffers: [&wgpu::Buffer; 9] = [
            &scratch.framing.batch,
            compressed,
            &scratch.framing.chunks,
            &scratch.framing.faults,
            &scratch.decoded,
            &scratch.maps,
            table,
            slots,
            &scratch.framing.totals,
        ];
        self.0.dispatch(pass, &self.0.bind(context, &buffers), batch.frames * batch.blocks);
    }
}
