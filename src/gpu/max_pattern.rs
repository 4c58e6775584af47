//! Maximum of every pixel over the chosen frames.

use super::{
    context::Context,
    pass::{Pass, PassSpec},
    planes::{BINDINGS, FrameShape, Request, map_quads},
};
use crate::shape::FrameLayout;

pub const SPEC: PassSpec = PassSpec {
    name: "max_pattern",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/planes.wgsl"),
        include_str!("../../shaders/shared/lane_words.wgsl"),
        include_str!("../../shaders/shared/chosen.wgsl"),
        include_str!("../../shaders/shared/pixel_places.wgsl"),
        include_str!("../../shaders/max_pattern.wgsl"),
    ),
    workgroup: 64,
    bindings: BINDINGS,
    uniform: Some(FrameShape::UNIFORM),
};

/// Slots that one team goes through.
const CHUNK: u32 = 512;

#[derive(Debug)]
pub struct MaxPattern(Pass);

impl MaxPattern {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Records one batch. Input: bit set of chosen frames; output: for each place of
    /// [`super::planes::pixel_places`] the maxima (signed types: with the sign bit flipped), raised from what is there.
    pub fn record(
        &self,
        context: &Context,
        encoder: &mut wgpu::ComputePass<'_>,
        request: Request<'_>,
        layout: &FrameLayout,
    ) {
        let frame_teams = layout.blocks() * map_quads(layout);
        request.run_chunks(context, &self.0, encoder, frame_teams, CHUNK);
    }
}
