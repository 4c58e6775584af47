//! Sentinels, per frame and per pixel.

use super::{
    context::Context,
    pass::{Pass, PassSpec},
    planes::{BINDINGS, FrameShape, Request, TEAMS},
};

pub const SPEC: PassSpec = PassSpec {
    name: "census",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/census.wgsl"),
    ),
    workgroup: 64,
    bindings: BINDINGS,
    uniform: Some(FrameShape::UNIFORM),
};

#[derive(Debug)]
pub struct SentinelCensus(Pass);

impl SentinelCensus {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Records one batch. Input: the good pixels in the order of plane words; output: pixels that were no
    /// sentinel in some frame, in the same order, then frame -> sentinels among the good ones.
    pub fn record(&self, context: &Context, encoder: &mut wgpu::ComputePass<'_>, request: Request<'_>) {
        request.run(context, &self.0, encoder, request.batch.slots().div_ceil(TEAMS));
    }
}
