//! Walks the header and the block lengths of each chunk of a batch.

use super::{
    Binding, Context, Pass, PassSpec,
    decode::{Batch, Framing},
};

pub const SPEC: PassSpec = PassSpec {
    name: "frame_headers",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/shared/compressed.wgsl"),
        include_str!("../../shaders/frame_headers.wgsl"),
    ),
    workgroup: 64,
    bindings: &[Binding::Uniform, Binding::Read, Binding::Write, Binding::Write, Binding::Write],
    uniform: Some(Batch::UNIFORM),
};

#[derive(Debug)]
pub struct FrameHeaders(Pass);

impl FrameHeaders {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Notes where the blocks of each chunk lie, or its fault.
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        compressed: &wgpu::Buffer,
        batch: &Batch,
        framing: &Framing,
    ) {
        let buffers: [&wgpu::Buffer; 5] =
            [&framing.batch, compressed, &framing.chunks, &framing.lz4_blocks, &framing.faults];
        self.0.dispatch(pass, &self.0.bind(context, &buffers), batch.frames.div_ceil(SPEC.workgroup));
    }
}
