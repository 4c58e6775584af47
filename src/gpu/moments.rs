//! Sums of value, value x row and value x column over a set of pixels, for every frame.

use super::{
    context::Context,
    pass::{Pass, PassSpec},
    planes::{BINDINGS, FrameShape, Request, SMALL_TEAMS},
};

pub const SPEC: PassSpec = PassSpec {
    name: "moments",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/u64.wgsl"),
        include_str!("../../shaders/shared/u64_products.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/shared/lane_words.wgsl"),
        include_str!("../../shaders/shared/detector.wgsl"),
        include_str!("../../shaders/moments.wgsl"),
    ),
    workgroup: 64,
    bindings: BINDINGS,
    uniform: Some(FrameShape::UNIFORM),
};

#[derive(Debug)]
pub struct FirstMoments(Pass);

impl FirstMoments {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Records one batch. Input: [`super::planes::detector_words`]; output: frame -> three sums (low, high).
    pub fn record(&self, context: &Context, encoder: &mut wgpu::ComputePass<'_>, request: Request<'_>) {
        request.run(context, &self.0, encoder, request.batch.slots().div_ceil(SMALL_TEAMS));
    }
}
