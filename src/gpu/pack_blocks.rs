//! Writes the records of the decoded blocks.

use super::{
    Binding, Context, Pass, PassSpec,
    decode::{Batch, Scratch},
};

pub const SPEC: PassSpec = PassSpec {
    name: "pack_blocks",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/shared/compressed.wgsl"),
        include_str!("../../shaders/shared/plane_word.wgsl"),
        include_str!("../../shaders/pack_blocks.wgsl"),
    ),
    workgroup: 64,
    bindings: &[
        Binding::Uniform,
        Binding::Read,
        Binding::Read,
        Binding::Read,
        Binding::Read,
        Binding::Read,
        Binding::Write,
    ],
    uniform: Some(Batch::UNIFORM),
};

#[derive(Debug)]
pub struct PackBlocks(Pass);

impl PackBlocks {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Writes every record at the place that `table` gives it.
    #[expect(clippy::too_many_arguments, reason = "the inputs of one batch, each a buffer of its own")]
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        compressed: &wgpu::Buffer,
        batch: &Batch,
        scratch: &Scratch,
        table: &wgpu::Buffer,
        words: &wgpu::Buffer,
    ) {
        let buffers: [&wgpu::Buffer; 7] = [
            &scratch.framing.batch,
            compressed,
            &scratch.framing.chunks,
            &scratch.decoded,
            &scratch.maps,
            table,
            words,
        ];
        self.0.dispatch(pass, &self.0.bind(context, &buffers), batch.frames * batch.blocks);
    }
}
