//! In how many words two buffers differ.

use super::{Binding, Context, Pass, PassSpec};
use crate::{error::Result, uniform};

uniform! {
    /// What is compared; see shaders/compare_words.wgsl.
    pub struct Span {
        words: u32,
    }
}

pub const SPEC: PassSpec = PassSpec {
    name: "compare_words",
    source: concat!(include_str!("../../shaders/shared/grid.wgsl"), include_str!("../../shaders/compare_words.wgsl"),),
    workgroup: 64,
    bindings: &[Binding::Uniform, Binding::Read, Binding::Read, Binding::Write],
    uniform: Some(Span::UNIFORM),
};

/// Words of an invocation.
const WORDS: u64 = 16;

#[derive(Debug)]
pub struct CompareWords(Pass);

impl CompareWords {
    pub fn new(context: &Context) -> Self {
        Self(Pass::new(context, &SPEC))
    }

    /// How many words of `found` are not those of `expected`; all of them where one is longer.
    ///
    /// # Errors
    /// As [`Context::submit`].
    pub async fn count(&self, context: &Context, found: &wgpu::Buffer, expected: &wgpu::Buffer) -> Result<u64> {
        let words = found.size() / 4;
        if expected.size() != found.size() {
            return Ok(words.max(expected.size() / 4));
        }
        let differing = context.storage_of("compare_words.differing", &[0])?;
        let span = context.uniform_of("compare_words.span", &Span { words: words as u32 })?;
        context
            .submit("compare_words", |encoder| {
                let bindings = self.0.bind(context, &[&span, found, expected, &differing]);
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                let groups = words.div_ceil(WORDS * u64::from(SPEC.workgroup)) as u32;
                self.0.dispatch(&mut pass, &bindings, groups);
                Ok(())
            })
            .await?;
        let count = context.read_words(&differing, 0, 1).await?;
        Ok(count.first().copied().map_or(words, u64::from))
    }
}
