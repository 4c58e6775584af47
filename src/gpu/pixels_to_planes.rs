//! Frames of little-endian pixels to the shuffled blocks that are measured and packed like those of LZ4.

use super::{
    Binding, Context, Pass, PassSpec,
    decode::{Batch, Scratch},
};

pub const SPEC: PassSpec = PassSpec {
    name: "pixels_to_planes",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/shared/compressed.wgsl"),
        include_str!("../../shaders/pixels_to_planes.wgsl"),
    ),
    workgroup: 64,
    bindings: &[Binding::Uniform, Binding::Read, Binding::Write],
    uniform: Some(Batch::UNIFORM),
};

#[derive(Debug)]
pub struct PixelsToPlanes(Pass);

impl PixelsToPlanes {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Fills `scratch.decoded` from the frames that lie in `pixels`, one after another.
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        pixels: &wgpu::Buffer,
        batch: &Batch,
        scratch: &Scratch,
    ) {
        let bindings = self.0.bind(context, &[&scratch.framing.batch, pixels, &scratch.decoded]);
        self.0.dispatch(pass, &bindings, (batch.frames * batch.frame_words).div_ceil(SPEC.workgroup));
    }
}
