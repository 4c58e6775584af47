//! Decodes LZ4 blocks to dense pixels by a workgroup for each frame, the named baseline, or for each block.

use super::{
    Binding, Buffer, Context, Pass, PassSpec,
    decode::{Batch, Framing},
};
use crate::{cpu::block_pixels::PixelOutput, shape::Dtype};

pub const SPEC: PassSpec = PassSpec {
    name: "frame_coop",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/shared/compressed.wgsl"),
        include_str!("../../shaders/shared/pixel_output.wgsl"),
        include_str!("../../shaders/frame_coop.wgsl"),
    ),
    workgroup: 64,
    bindings: &[Binding::Uniform, Binding::Read, Binding::Read, Binding::Write, Binding::Write, Binding::Write],
    uniform: Some(Batch::UNIFORM),
};

/// Invocations of a workgroup that the shader can do with.
pub const WORKGROUPS: [u32; 4] = [SPEC.workgroup, 16, 32, 128];

#[derive(Debug)]
pub struct FrameCoop {
    pass: Pass,
    is_block_each: bool,
}

impl FrameCoop {
    /// With `workgroup` invocations in a workgroup, one of [`WORKGROUPS`], and a workgroup for each block where
    /// `is_block_each`, else for each frame.
    pub fn new(context: &Context, workgroup: u32, dtype: Dtype, output: PixelOutput, is_block_each: bool) -> Self {
        let constants = [
            ("WORKGROUP", SPEC.workgroup, workgroup),
            ("OUTPUT", 0, output as u32),
            ("PLANES", 16, dtype.bits()),
            ("BLOCKS_EACH", 0, u32::from(is_block_each)),
        ];
        Self { pass: Pass::with_constants(context, &SPEC, &constants), is_block_each }
    }

    /// As [`super::block_pixels::BlockPixels::record`].
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        batch: &Batch,
        compressed: &wgpu::Buffer,
        framing: &Framing,
        pixels: &Buffer,
    ) {
        let buffers: [&wgpu::Buffer; 6] =
            [&framing.batch, compressed, &framing.lz4_blocks, &framing.faults, &framing.totals, pixels];
        let groups = if self.is_block_each { batch.frames * batch.lz4_blocks } else { batch.frames };
        self.pass.dispatch(pass, &self.pass.bind(context, &buffers), groups);
    }
}
