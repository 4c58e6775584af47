//! Decodes the LZ4 blocks of a batch.

use super::{
    Binding, Context, Pass, PassSpec,
    decode::{Batch, Scratch},
};

pub const SPEC: PassSpec = PassSpec {
    name: "lz4",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/shared/compressed.wgsl"),
        include_str!("../../shaders/shared/lz4_sequence.wgsl"),
        include_str!("../../shaders/lz4.wgsl"),
    ),
    workgroup: 64,
    bindings: &[Binding::Uniform, Binding::Read, Binding::Read, Binding::Write, Binding::Write],
    uniform: Some(Batch::UNIFORM),
};

/// Blocks side by side in a workgroup: 4 invocations each.
pub const SIDE: u32 = SPEC.workgroup / 4;

#[derive(Debug)]
pub struct Lz4(Pass);

impl Lz4 {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Decodes into `scratch.decoded`, which must be zero; notes the fault of a frame's lowest bad block.
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        compressed: &wgpu::Buffer,
        batch: &Batch,
        scratch: &Scratch,
    ) {
        let buffers: [&wgpu::Buffer; 5] = [
            &scratch.framing.batch,
            compressed,
            &scratch.framing.lz4_blocks,
            &scratch.decoded,
            &scratch.framing.faults,
        ];
        let groups = batch.frames.div_ceil(SIDE) * batch.lz4_blocks;
        self.0.dispatch(pass, &self.0.bind(context, &buffers), groups);
    }
}
