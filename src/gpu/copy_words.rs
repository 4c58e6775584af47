//! Copies the first words of a buffer.

use super::{Binding, Buffer, Context, Pass, PassSpec};

pub const SPEC: PassSpec = PassSpec {
    name: "copy_words",
    source: concat!(include_str!("../../shaders/shared/grid.wgsl"), include_str!("../../shaders/copy_words.wgsl"),),
    workgroup: 256,
    bindings: &[Binding::Read, Binding::Write],
    uniform: None,
};

#[derive(Debug)]
pub struct CopyWords(Pass);

impl CopyWords {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// Copies as many bytes as `to` has, a multiple of 16, from the begin of `from`.
    pub fn record(&self, context: &Context, pass: &mut wgpu::ComputePass<'_>, from: &Buffer, to: &Buffer) {
        let groups = to.size().div_ceil(16 * u64::from(SPEC.workgroup)) as u32;
        if to.size() >= 16 {
            self.0.dispatch(pass, &self.0.bind(context, &[from, to]), groups);
        }
    }
}
