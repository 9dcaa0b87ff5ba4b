//! Compiled kernels: one pipeline for each key, made at the first launch and kept.

use super::queue::State;
use super::{WgpuDevice, layout};
use crate::device::{Failure, FailureCode, Outcome};
use rung_kernel::{Access, ENTRY_POINT, Kernel, compile};
use std::sync::Arc;

/// A compiled kernel with the layout of its buffers.
pub(super) struct Pipeline {
    kernel: Arc<Kernel>,
    pub layout: wgpu::BindGroupLayout,
    pub pipeline: wgpu::ComputePipeline,
}

impl WgpuDevice {
    pub(super) fn pipeline(
        &self,
        state: &mut State,
        kernel: &Arc<Kernel>,
    ) -> Outcome<Arc<Pipeline>> {
        if let Some(known) = state.pipelines.get(&kernel.key) {
            if Arc::ptr_eq(&known.kernel, kernel) || *known.kernel == **kernel {
                return Ok(known.clone());
            }
            let text = format!("two kernels are called {}", kernel.key);
            return Err(Failure::new(FailureCode::Compile, text));
        }
        if kernel.needs_f64() && !self.info.f64 {
            return Err(Failure::new(FailureCode::NoDouble, "no f64 on this adapter"));
        }
        let pipeline = Arc::new(self.build(kernel)?);
        state.pipelines.insert(kernel.key.clone(), pipeline.clone());
        Ok(pipeline)
    }

    fn build(&self, kernel: &Arc<Kernel>) -> Outcome<Pipeline> {
        let refused = |text: String| Failure::new(FailureCode::Compile, text);
        let words =
            compile(kernel, &self.info.variants).map_err(|e| refused(e.message().to_string()))?;
        let module = self.module(kernel, words);
        let buffers = layout(&self.device, kernel.bindings.iter().map(|b| storage(b.access)));
        let all = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&buffers), Some(&self.parameter_layout)],
            immediate_size: 0,
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: Some(&all),
            module: &module,
            entry_point: Some(ENTRY_POINT),
            compilation_options: Default::default(),
            cache: self.cache.as_ref().map(|cache| &cache.pipelines),
        });
        self.check().map_err(|f| refused(format!("kernel {}: {}", kernel.key, f.text)))?;
        if let Some(cache) = &self.cache {
            cache.made();
        }
        Ok(Pipeline { kernel: kernel.clone(), layout: buffers, pipeline })
    }

    fn module(&self, kernel: &Kernel, words: Vec<u32>) -> wgpu::ShaderModule {
        let [x, y, z] = kernel.workgroup;
        let descriptor = wgpu::ShaderModuleDescriptorPassthrough {
            label: None,
            entry_points: vec![wgpu::PassthroughShaderEntryPoint {
                name: ENTRY_POINT.into(),
                workgroup_size: (x, y, z),
            }]
            .into(),
            spirv: Some(words.into()),
            ..Default::default()
        };
        // SAFETY: the words were written by naga from a validated module and only decorated; the
        // bindings declared in them are those of the layout that `build` makes from the same
        // kernel, and wgpu turns robust buffer access on, so an index out of range cannot reach
        // other memory.
        unsafe { self.device.create_shader_module_passthrough(descriptor) }
    }
}

fn storage(access: Access) -> wgpu::BindingType {
    wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Storage { read_only: access == Access::Read },
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}
