//! Sum and maximum of every pixel over the chosen frames.

use super::{
    context::Context,
    pass::{Pass, PassSpec},
    planes::{BINDINGS, FrameShape, Request, TEAMS},
};
use crate::shape::FrameLayout;

pub const SPEC: PassSpec = PassSpec {
    name: "sum_pattern",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/u64.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/shared/chosen.wgsl"),
        include_str!("../../shaders/sum_pattern.wgsl"),
    ),
    workgroup: 64,
    bindings: BINDINGS,
    uniform: Some(FrameShape::UNIFORM),
};

/// Slots that one invocation adds up before it touches the totals.
const SLOTS: u32 = 128;
/// Plane words that a team takes.
const WORDS: u32 = 4;

#[derive(Debug)]
pub struct SumPattern(Pass);

impl SumPattern {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Records one batch. Input: bit set of chosen frames; output: pixel -> sum (low, high) and maximum (signed
    /// types: with the sign bit flipped), added to what is there.
    pub fn record(
        &self,
        context: &Context,
        encoder: &mut wgpu::ComputePass<'_>,
        request: Request<'_>,
        layout: &FrameLayout,
    ) {
        let frame_teams = layout.blocks() * layout.plane_words(0).div_ceil(WORDS);
        let teams = frame_teams * request.batch.slots().div_ceil(SLOTS);
        request.run(context, &self.0, encoder, teams.div_ceil(TEAMS));
    }
}
