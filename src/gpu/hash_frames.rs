//! A hash of every chosen frame; see [`crate::cpu::hash_frames`].

use super::{
    context::Context,
    pass::{Pass, PassSpec},
    planes::{BINDINGS, FrameShape, Request, TEAMS},
};

pub const SPEC: PassSpec = PassSpec {
    name: "hash_frames",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/shared/lane_words.wgsl"),
        include_str!("../../shaders/shared/chosen.wgsl"),
        include_str!("../../shaders/hash_frames.wgsl"),
    ),
    workgroup: 64,
    bindings: BINDINGS,
    uniform: Some(FrameShape::UNIFORM),
};

#[derive(Debug)]
pub struct HashFrames(Pass);

impl HashFrames {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Records one batch. Input: bit set of chosen frames; output: frame -> hash (low, high).
    pub fn record(&self, context: &Context, encoder: &mut wgpu::ComputePass<'_>, request: Request<'_>) {
        request.run(context, &self.0, encoder, request.batch.slots().div_ceil(TEAMS));
    }
}
