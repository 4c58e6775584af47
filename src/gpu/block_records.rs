//! Decodes LZ4 blocks straight to the records of the resident form.

use super::{
    Binding, Buffer, Context, Pass, PassSpec,
    decode::{Batch, Framing},
    planes::Store,
};

pub const SPEC: PassSpec = PassSpec {
    name: "block_records",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/batch.wgsl"),
        include_str!("../../shaders/shared/lz4_sequence.wgsl"),
        include_str!("../../shaders/shared/block.wgsl"),
        include_str!("../../shaders/block_records.wgsl"),
    ),
    workgroup: 64,
    bindings: &[
        Binding::Uniform,
        Binding::Read,
        Binding::Read,
        Binding::Write,
        Binding::Write,
        Binding::Write,
        Binding::Write,
        Binding::Write,
    ],
    uniform: Some(Batch::UNIFORM),
};

/// Invocations of a workgroup that the shader can do with, the usual number first.
pub const WORKGROUPS: [u32; 3] = [SPEC.workgroup, 32, 128];

/// A lane: LANE_WORDS of shaders/shared/block.wgsl.
pub const LANE_BYTES: u64 = 4 * (2 * 64 + 2048);

#[derive(Debug)]
pub struct BlockRecords {
    pass: Pass,
    workgroup: u32,
}

impl BlockRecords {
    /// With `workgroup` invocations in a workgroup, one of [`WORKGROUPS`].
    pub fn new(context: &Context, workgroup: u32) -> Self {
        Self { pass: Pass::with_constants(context, &SPEC, &[("WORKGROUP", SPEC.workgroup, workgroup)]), workgroup }
    }

    pub fn workgroup(&self) -> u32 {
        self.workgroup
    }

    /// Decodes the blocks that `framing` knows, by `groups` workgroups with a lane for each invocation in `lanes`, to
    /// records in `store`, behind the words that `totals` counts; notes the fault of a frame's lowest bad block. Counts
    /// the words of the records, also of those for which there is no room; these have no place in the table.
    #[expect(clippy::too_many_arguments, reason = "the buffers of one batch")]
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        groups: u32,
        compressed: &wgpu::Buffer,
        framing: &Framing,
        lanes: &Buffer,
        totals: &Buffer,
        store: &Store,
    ) {
        let Store { table, words, .. } = store;
        let buffers: [&wgpu::Buffer; 8] =
            [&framing.batch, compressed, &framing.lz4_blocks, lanes, &framing.faults, totals, table, words];
        self.pass.dispatch(pass, &self.pass.bind(context, &buffers), groups);
    }
}
