//! Decodes LZ4 blocks straight to dense pixels, by an invocation for each block.

use super::{
    Binding, Buffer, Context, Pass, PassSpec,
    decode::{Batch, Framing},
};
use crate::{cpu::block_pixels::PixelOutput, shape::Dtype};

pub const SPEC: PassSpec = PassSpec {
    name: "block_pixels",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/shared/lz4_sequence.wgsl"),
        include_str!("../../shaders/shared/block.wgsl"),
        include_str!("../../shaders/shared/pixel_output.wgsl"),
        include_str!("../../shaders/block_pixels.wgsl"),
    ),
    workgroup: 64,
    bindings: &[
        Binding::Uniform,
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
pub struct BlockPixels(Pass);

impl BlockPixels {
    /// With `workgroup` invocations in a workgroup, one of [`super::block_records::WORKGROUPS`].
    pub fn new(context: &Context, workgroup: u32, dtype: Dtype, output: PixelOutput) -> Self {
        let constants =
            [("WORKGROUP", SPEC.workgroup, workgroup), ("OUTPUT", 0, output as u32), ("PLANES", 16, dtype.bits())];
        Self(Pass::with_constants(context, &SPEC, &constants))
    }

    /// Decodes the blocks that `framing` knows, by `groups` workgroups with a lane for each invocation in `lanes`, to
    /// frames of pixels one after another; notes the fault of a frame's lowest bad block. Adds up the pixels outside
    /// 0 to 255, which must be zero before, where 8 bits are written.
    #[expect(clippy::too_many_arguments, reason = "the buffers of one batch")]
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        groups: u32,
        compressed: &wgpu::Buffer,
        framing: &Framing,
        lanes: &Buffer,
        pixels: &Buffer,
    ) {
        let buffers: [&wgpu::Buffer; 7] =
            [&framing.batch, compressed, &framing.lz4_blocks, lanes, &framing.faults, &framing.totals, pixels];
        self.0.dispatch(pass, &self.0.bind(context, &buffers), groups);
    }
}
