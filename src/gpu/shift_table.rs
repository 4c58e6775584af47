//! Makes one table of several that lie behind one another.

use super::{
    context::Context,
    pass::{Binding, Pass, PassSpec},
};

pub const SPEC: PassSpec = PassSpec {
    name: "shift_table",
    source: concat!(include_str!("../../shaders/shared/grid.wgsl"), include_str!("../../shaders/shift_table.wgsl")),
    workgroup: 64,
    bindings: &[Binding::Read, Binding::Write],
    uniform: None,
};

#[derive(Debug)]
pub struct ShiftTable(Pass);

impl ShiftTable {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// `parts` holds the first entry of each table and the words of the records before its own.
    pub fn record(
        &self,
        context: &Context,
        pass: &mut wgpu::ComputePass<'_>,
        parts: &wgpu::Buffer,
        table: &wgpu::Buffer,
    ) {
        let groups = (table.size() / 4).div_ceil(u64::from(SPEC.workgroup)) as u32;
        self.0.dispatch(pass, &self.0.bind(context, &[parts, table]), groups);
    }
}
