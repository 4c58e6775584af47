//! What every compute pass is made of: a shader, its bindings, its workgroup, its pipeline.

use std::borrow::Cow;

use super::context::Context;

/// What the shader of a pass declares; `tests/shaders.rs` compares it with the WGSL itself.
#[derive(Clone, Copy, Debug)]
pub struct PassSpec {
    /// File stem of the shader, of the gpu file and of the CPU twin.
    pub name: &'static str,
    /// The shared pieces the shader needs, then the shader.
    pub source: &'static str,
    /// Invocations of a workgroup (x; y and z are 1).
    pub workgroup: u32,
    /// Bindings 0, 1, 2 ... of group 0.
    pub bindings: &'static [Binding],
    /// Struct behind the uniform binding, if there is one.
    pub uniform: Option<Uniform>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    Uniform,
    /// Storage buffer that the pass only reads.
    Read,
    /// Storage buffer that the pass writes.
    Write,
}

/// Layout of a uniform struct: its WGSL name, bytes, and each field's name and byte offset.
#[derive(Clone, Copy, Debug)]
pub struct Uniform {
    pub name: &'static str,
    pub bytes: usize,
    pub fields: &'static [(&'static str, usize)],
}

/// Declares a plain struct of a uniform buffer together with the layout that is compared with WGSL.
#[macro_export]
macro_rules! uniform {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        #[repr(C)]
        $vis struct $name { $($(#[$field_meta])* pub $field: $ty,)* }

        impl $name {
            pub const UNIFORM: $crate::gpu::Uniform = $crate::gpu::Uniform {
                name: stringify!($name),
                bytes: std::mem::size_of::<$name>(),
                fields: &[$((stringify!($field), std::mem::offset_of!($name, $field)),)*],
            };
        }
    };
}

/// A pass ready to run; made once.
#[derive(Debug)]
pub struct Pass {
    name: &'static str,
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// Most workgroups in one dimension of a dispatch.
    row_groups: u32,
}

impl Pass {
    pub fn new(context: &Context, spec: &PassSpec) -> Self {
        Self::of_source(context, spec, spec.source.into())
    }

    /// With other values of constants of its shader: name, value as written there, value here.
    pub fn with_constants(context: &Context, spec: &PassSpec, constants: &[(&str, u32, u32)]) -> Self {
        let constant = |name: &str, value: u32| format!("const {name} = {value}u;");
        let source = constants.iter().fold(spec.source.to_owned(), |source, &(name, written, value)| {
            debug_assert!(source.contains(&constant(name, written)), "{}: no {name} of {written}", spec.name);
            source.replace(&constant(name, written), &constant(name, value))
        });
        Self::of_source(context, spec, source.into())
    }

    fn of_source(context: &Context, spec: &PassSpec, source: Cow<'static, str>) -> Self {
        let device = &context.device;
        let label = |part: &str| format!("{}.{part}", spec.name);
        let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some(&label("shader")),
            source: wgpu::ShaderSource::Wgsl(source),
        });
        let entries = spec.bindings.iter().zip(0..).map(|(binding, index)| wgpu::BindGroupLayoutEntry {
            binding: index,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match binding {
                    Binding::Uniform => wgpu::BufferBindingType::Uniform,
                    Binding::Read => wgpu::BufferBindingType::Storage { read_only: true },
                    Binding::Write => wgpu::BufferBindingType::Storage { read_only: false },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        });
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(&label("layout")),
            entries: &entries.collect::<Vec<_>>(),
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(&label("pipeline_layout")),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(&label("pipeline")),
            layout: Some(&pipeline_layout),
            module: &module,
            entry_point: Some("main"),
            compilation_options: Default::default(),
            cache: None,
        });
        Self { name: spec.name, pipeline, layout, row_groups: context.limits.max_compute_workgroups_per_dimension }
    }

    /// Binds whole buffers to bindings 0, 1, 2 ...
    pub fn bind(&self, context: &Context, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let parts: Vec<_> = buffers.iter().map(|buffer| buffer.as_entire_buffer_binding()).collect();
        self.bind_parts(context, &parts)
    }

    /// The same for parts of buffers.
    pub fn bind_parts(&self, context: &Context, parts: &[wgpu::BufferBinding<'_>]) -> wgpu::BindGroup {
        let entries = parts.iter().zip(0..).map(|(part, binding)| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(part.clone()),
        });
        context.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&format!("{}.bindings", self.name)),
            layout: &self.layout,
            entries: &entries.collect::<Vec<_>>(),
        })
    }

    /// Runs `groups` workgroups; the shader numbers them with `group_index` of shared/grid.wgsl.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, bindings: &wgpu::BindGroup, groups: u32) {
        if groups == 0 {
            return;
        }
        let [columns, rows] = grid(groups, self.row_groups);
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, bindings, &[]);
        pass.dispatch_workgroups(columns, rows, 1);
    }
}

/// Columns and rows, at most `row_groups` each, of a dispatch of at least `groups` workgroups; less than a
/// row of them is idle.
pub fn grid(groups: u32, row_groups: u32) -> [u32; 2] {
    let rows = groups.div_ceil(row_groups).max(1);
    [groups.div_ceil(rows), rows]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_holds_all_groups_and_no_idle_row() {
        for groups in [1, 65_535, 65_536, 131_071, 2_359_296, 4_000_000_000] {
            let [columns, rows] = grid(groups, 65_535).map(u64::from);
            assert!(columns <= 65_535 && rows <= 65_535);
            assert!(columns * rows >= u64::from(groups) && columns * (rows - 1) < u64::from(groups), "{groups}");
        }
    }
}
