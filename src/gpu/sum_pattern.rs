//! Sum of every pixel over the chosen frames.

use super::{
    context::Context,
    pass::{Pass, PassSpec},
    planes::{BINDINGS, FrameShape, Request, map_quads},
};
use crate::shape::FrameLayout;

pub const SPEC: PassSpec = PassSpec {
    name: "sum_pattern",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/u64.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/shared/lane_words.wgsl"),
        include_str!("../../shaders/shared/chosen.wgsl"),
        include_str!("../../shaders/shared/pixel_places.wgsl"),
        include_str!("../../shaders/sum_pattern.wgsl"),
    ),
    workgroup: 64,
    bindings: BINDINGS,
    uniform: Some(FrameShape::UNIFORM),
};

/// Slots that one team goes through.
const CHUNK: u32 = 7 * 128;

#[derive(Debug)]
pub struct SumPattern(Pass);

impl SumPattern {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Records one batch. Input: bit set of chosen frames; output: low, then high words of the sums, each in the order
    /// of [`super::planes::pixel_places`], added to what is there.
    pub fn record(
        &self,
        context: &Context,
        encoder: &mut wgpu::ComputePass<'_>,
        request: Request<'_>,
        layout: &FrameLayout,
    ) {
        let frame_teams = layout.dtype.bits() * layout.blocks() * map_quads(layout);
        request.run_chunks(context, &self.0, encoder, frame_teams, CHUNK);
    }
}
