//! Decoded frames from their bit planes to dense pixels.

use super::{
    Binding, Buffer, Context, Pass, PassSpec,
    planes::{FrameShape, Store},
};
use crate::{cpu::planes_to_pixels::PixelOutput, shape::Dtype};

pub const SPEC: PassSpec = PassSpec {
    name: "planes_to_pixels",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/shared/pixel_output.wgsl"),
        include_str!("../../shaders/planes_to_pixels.wgsl"),
    ),
    workgroup: 128,
    bindings: &[
        Binding::Uniform,
        Binding::Read,
        Binding::Read,
        Binding::Read,
        Binding::Read,
        Binding::Write,
        Binding::Write,
    ],
    uniform: Some(FrameShape::UNIFORM),
};

/// For layouts whose blocks are whole words of 32 pixels.
#[derive(Debug)]
pub struct PlanesToPixels(Pass);

impl PlanesToPixels {
    pub fn new(context: &Context, dtype: Dtype, output: PixelOutput) -> Self {
        let constants = [("OUTPUT", 0, output as u32), ("PLANES", 16, dtype.bits())];
        Self(Pass::with_constants(context, &SPEC, &constants))
    }

    /// The frames in the first `slots` slots of `store`, of `blocks` blocks each, to `pixels`, one after another; those
    /// that failed are left out. `shape` holds a [`FrameShape`]. Adds the pixels outside 0 to 255, where 8 bits are
    /// written, to the first word of `outside`.
    #[expect(clippy::too_many_arguments, reason = "the buffers of one batch")]
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        shape: &Buffer,
        store: &Store,
        [slots, blocks]: [u32; 2],
        pixels: &Buffer,
        outside: &Buffer,
    ) {
        let Store { words, table, slots: states } = store;
        let buffers: [&wgpu::Buffer; 7] = [shape, words, words, table, states, pixels, outside];
        self.0.dispatch(pass, &self.0.bind(context, &buffers), slots * blocks);
    }
}
