//! One diffraction pattern as it was stored.

use super::{
    context::Context,
    pass::{Pass, PassSpec},
    planes::{BINDINGS, FrameShape, Request},
};

pub const SPEC: PassSpec = PassSpec {
    name: "pattern",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/pattern.wgsl"),
    ),
    workgroup: 64,
    bindings: BINDINGS,
    uniform: Some(FrameShape::UNIFORM),
};

#[derive(Debug)]
pub struct SinglePattern(Pass);

impl SinglePattern {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Records one frame of `pixels` pixels. Input: its slot; output: pixels, sign-extended.
    pub fn record(&self, context: &Context, encoder: &mut wgpu::ComputePass<'_>, request: Request<'_>, pixels: u32) {
        request.run(context, &self.0, encoder, pixels.div_ceil(SPEC.workgroup));
    }
}
