//! The buffers of an experiment with one choice of contents, and the arms' pipelines on them.

use std::collections::BTreeMap;

use wgpu::BufferUsages as Usage;

use super::{Files, Stop, unknown};
use crate::{
    ab::{
        Clause, Experiment, Void,
        experiment::{Arm, Buffer as Spec, Contents, Role, Step},
    },
    error::Result,
    gpu::{Buffer, Context, compare_words::CompareWords},
};

/// One engine: buffers, what the inputs must stay, what the outputs must become.
pub struct Scene {
    buffers: Vec<Held>,
}

struct Held {
    spec: Spec,
    buffer: Buffer,
    /// An input as it was uploaded; an output as the baseline left it, or as the experiment says.
    other: Option<Buffer>,
}

impl Scene {
    /// # Errors
    /// Void where a content is not there or not as long as was said.
    pub async fn new(
        context: &Context,
        experiment: &Experiment,
        instead: &BTreeMap<String, Contents>,
        files: &Files,
    ) -> Result<Self, Stop> {
        if let Some(name) = instead.keys().find(|name| experiment.buffers.iter().all(|spec| spec.name != **name)) {
            return Err(unknown("buffer", name));
        }
        let has_output = experiment.buffers.iter().any(|spec| spec.role == Role::Output);
        Void::unless(has_output, Clause::Identical, || "no buffer is an output".to_owned())?;
        let mut buffers = Vec::new();
        for spec in &experiment.buffers {
            let mut spec = spec.clone();
            if let Some(contents) = instead.get(&spec.name) {
                spec.contents = contents.clone();
            }
            buffers.push(Held::new(context, spec, files).await?);
        }
        Ok(Self { buffers })
    }

    pub fn buffer(&self, name: &str) -> Option<&wgpu::Buffer> {
        self.buffers.iter().find(|held| held.spec.name == name).map(|held| &*held.buffer)
    }

    /// Records that outputs and scratch become zero.
    pub fn clear(&self, encoder: &mut wgpu::CommandEncoder) {
        for held in self.buffers.iter().filter(|held| held.spec.role != Role::Input) {
            encoder.clear_buffer(&held.buffer, 0, None);
        }
    }

    /// Records that the outputs are what the other arms' outputs must be, but for those that the experiment knows.
    pub fn keep_reference(&self, encoder: &mut wgpu::CommandEncoder) {
        for held in self.buffers.iter().filter(|held| held.spec.role == Role::Output && held.spec.truth.is_none()) {
            if let Some(other) = &held.other {
                encoder.copy_buffer_to_buffer(&held.buffer, 0, other, 0, held.buffer.size());
            }
        }
    }

    /// Words of all outputs, and those that are wrong.
    pub async fn compare_outputs(&self, context: &Context, compare: &CompareWords) -> Result<[u64; 2]> {
        let (mut compared, mut wrong) = (0, 0);
        for held in self.buffers.iter().filter(|held| held.spec.role == Role::Output) {
            compared += held.buffer.size() / 4;
            wrong += held.differing(context, compare).await?;
        }
        Ok([compared, wrong])
    }

    /// How the inputs differ from what was uploaded, in words.
    pub async fn state(&self, context: &Context, compare: &CompareWords) -> Result<String> {
        let mut changes = Vec::new();
        for held in self.buffers.iter().filter(|held| held.spec.role == Role::Input) {
            match held.differing(context, compare).await? {
                0 => {}
                words => changes.push(format!("{words} words of {} changed", held.spec.name)),
            }
        }
        Ok(if changes.is_empty() { "as uploaded".to_owned() } else { changes.join(", ") })
    }
}

impl Held {
    async fn new(context: &Context, spec: Spec, files: &Files) -> Result<Self, Stop> {
        let bytes = spec.contents.len_bytes();
        Void::unless(bytes > 0 && bytes.is_multiple_of(4), Clause::Content, || {
            format!("{} has {bytes} bytes: whole words are needed, one at least", spec.name)
        })?;
        let other_bytes = spec.truth.as_ref().map_or(bytes, Contents::len_bytes);
        Void::unless(other_bytes == bytes, Clause::Content, || {
            format!("{} has {bytes} bytes, and its truth {other_bytes}", spec.name)
        })?;
        let mut usage = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        if spec.role == Role::Input {
            usage |= Usage::UNIFORM;
        }
        let needs_other = spec.role != Role::Scratch;
        let (buffer, other) = context
            .guarded(&spec.name, || {
                let buffer = context.buffer(&spec.name, bytes, usage)?;
                let other = needs_other.then(|| context.buffer(&spec.name, bytes, usage)).transpose()?;
                Ok((buffer, other))
            })
            .await?;
        let held = Self { spec, buffer, other };
        if held.spec.role == Role::Input {
            fill(context, &held.buffer, &held.spec, &held.spec.contents, files)?;
        }
        let kept = if held.spec.role == Role::Input { Some(&held.spec.contents) } else { held.spec.truth.as_ref() };
        if let (Some(other), Some(contents)) = (&held.other, kept) {
            fill(context, other, &held.spec, contents, files)?;
        }
        Ok(held)
    }

    async fn differing(&self, context: &Context, compare: &CompareWords) -> Result<u64> {
        let Some(other) = &self.other else { return Ok(0) };
        compare.count(context, &self.buffer, other).await
    }
}

fn fill(context: &Context, buffer: &wgpu::Buffer, spec: &Spec, contents: &Contents, files: &Files) -> Result<(), Stop> {
    let made;
    let (unit, repeat): (&[u8], u64) = match contents {
        Contents::Zero { .. } => return Ok(()),
        Contents::Words { values } => (bytemuck::cast_slice(values), 1),
        Contents::Random { random, seed } => {
            made = (0..*random as u32).map(|word| mixed(word.wrapping_mul(0x9E37_79B9) ^ seed)).collect::<Vec<_>>();
            (bytemuck::cast_slice(&made), 1)
        }
        Contents::File { url, bytes, repeat } => {
            let found = files.get(url).map_or(&[][..], Vec::as_slice);
            Void::unless(found.len() as u64 == *bytes, Clause::Content, || {
                format!("{url}, the content of {}, has {} bytes, not {bytes}", spec.name, found.len())
            })?;
            (found, *repeat)
        }
    };
    for at in 0..repeat {
        context.queue.write_buffer(buffer, at * unit.len() as u64, unit);
    }
    Ok(())
}

/// Well mixed bits of a number (the finaliser of MurmurHash3).
fn mixed(mut x: u32) -> u32 {
    x = (x ^ (x >> 16)).wrapping_mul(0x85EB_CA6B);
    x = (x ^ (x >> 13)).wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

/// A dispatch that is ready.
pub struct Bound {
    pipeline: wgpu::ComputePipeline,
    bindings: wgpu::BindGroup,
    workgroups: [u32; 3],
}

impl Bound {
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let [x, y, z] = self.workgroups;
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.bindings, &[]);
        pass.dispatch_workgroups(x, y, z);
    }
}

/// The pipelines of an arm's steps; `unique` is the constant of a run that no cache knows.
///
/// # Errors
/// What the browser says about a shader.
pub async fn compile(context: &Context, arm: &Arm, unique: Option<u32>) -> Result<Vec<wgpu::ComputePipeline>> {
    let mut pipelines = Vec::new();
    for step in &arm.steps {
        let mut constants: Vec<(&str, f64)> = step.constants.iter().map(|(name, &value)| (&**name, value)).collect();
        if let Some(unique) = unique {
            constants.retain(|(name, _)| *name != CONSTANT);
            constants.push((CONSTANT, f64::from(unique)));
        }
        pipelines.push(context.guarded(&arm.name, || Ok(pipeline(context, step, &constants))).await?);
    }
    Ok(pipelines)
}

/// The constant of a cold run.
const CONSTANT: &str = "UNIQUE";

fn pipeline(context: &Context, step: &Step, constants: &[(&str, f64)]) -> wgpu::ComputePipeline {
    let module = context.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("instrument.shader"),
        source: wgpu::ShaderSource::Wgsl(step.shader.as_str().into()),
    });
    context.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: Some("instrument.pipeline"),
        layout: None,
        module: &module,
        entry_point: Some(&step.entry),
        compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
        cache: None,
    })
}

/// An arm's steps on the buffers of `scene`.
///
/// # Errors
/// Where a step binds a buffer that the experiment does not have, or the shader wants another one.
pub async fn bind(
    context: &Context,
    arm: &Arm,
    pipelines: &[wgpu::ComputePipeline],
    scene: &Scene,
) -> Result<Vec<Bound>, Stop> {
    let mut all = Vec::new();
    for (step, pipeline) in arm.steps.iter().zip(pipelines) {
        let mut entries = Vec::new();
        for (binding, name) in (0..).zip(&step.bind) {
            let buffer = scene.buffer(name).ok_or_else(|| unknown("buffer", name))?;
            entries.push(wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() });
        }
        let bindings = context
            .guarded(&arm.name, || {
                let layout = pipeline.get_bind_group_layout(0);
                Ok(context.device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some("instrument.bindings"),
                    layout: &layout,
                    entries: &entries,
                }))
            })
            .await?;
        all.push(Bound { pipeline: pipeline.clone(), bindings, workgroups: step.workgroups });
    }
    Ok(all)
}
