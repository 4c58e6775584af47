//! Sum and sum of squares over a set of pixels, for every frame.

use super::{
    context::Context,
    pass::{Pass, PassSpec},
    planes::{BINDINGS, FrameShape, Request, TEAMS},
};

pub const SPEC: PassSpec = PassSpec {
    name: "squares",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/u64.wgsl"),
        include_str!("../../shaders/shared/u96.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/shared/lane_words.wgsl"),
        include_str!("../../shaders/shared/detector.wgsl"),
        include_str!("../../shaders/shared/magnitude.wgsl"),
        include_str!("../../shaders/squares.wgsl"),
    ),
    workgroup: 64,
    bindings: BINDINGS,
    uniform: Some(FrameShape::UNIFORM),
};

/// Words that a frame has in the output.
pub const WORDS: usize = 5;

#[derive(Debug)]
pub struct Squares(Pass);

impl Squares {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Records one batch. Input: [`super::planes::detector_words`]; output: frame -> sum (low, high), sum of squares
    /// (low, middle, high).
    pub fn record(&self, context: &Context, encoder: &mut wgpu::ComputePass<'_>, request: Request<'_>) {
        request.run(context, &self.0, encoder, request.batch.slots().div_ceil(TEAMS));
    }
}
