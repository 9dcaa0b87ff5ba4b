//! From an adapter to a device: what is needed, what is asked for, what it then says of itself.

use super::vulkan::extras;
use super::{BATCH, PARAMETER_BYTES, Trouble, WgpuDevice, block_on, first_line, layout, lock};
use crate::device::{Failure, FailureCode, Info, TensorDoubles};
use crate::probe::Mask;
use rung_kernel::Variants;
use std::sync::{Arc, Mutex};

/// The features asked for where present.
const WANTED: wgpu::Features = wgpu::Features::SHADER_F64
    .union(wgpu::Features::SHADER_INT64)
    .union(wgpu::Features::SHADER_F16)
    .union(wgpu::Features::SUBGROUP)
    .union(wgpu::Features::PIPELINE_CACHE);

/// The invocations of a group that every kernel may have.
const LEAST_INVOCATIONS: u32 = 256;

/// Opens an adapter without what the mask takes away: features and limits are not asked for. The
/// error is a reason.
pub(crate) fn open(adapter: &wgpu::Adapter, mask: Mask) -> Result<WgpuDevice, String> {
    let variants = mask.variants;
    let mut limits = adapter.limits();
    if mask.smallest_groups {
        limits.max_compute_invocations_per_workgroup = LEAST_INVOCATIONS;
    }
    let mut wanted = WANTED;
    wanted.set(wgpu::Features::SUBGROUP, !mask.without_subgroups);
    wanted.set(wgpu::Features::SHADER_F64, !variants.without_f64);
    wanted.set(wgpu::Features::SHADER_INT64, !variants.without_i64);
    let offered = adapter.features();
    if !offered.contains(wgpu::Features::PASSTHROUGH_SHADERS) {
        return Err("the adapter takes no SPIR-V".to_string());
    }
    if let Some(reason) = too_small(&limits) {
        return Err(reason);
    }
    let features = offered & wanted | wgpu::Features::PASSTHROUGH_SHADERS;
    let request = adapter.request_device(&wgpu::DeviceDescriptor {
        label: None,
        required_features: features,
        required_limits: limits.clone(),
        experimental_features: wgpu::ExperimentalFeatures::disabled(),
        memory_hints: wgpu::MemoryHints::Performance,
        trace: wgpu::Trace::Off,
    });
    let (device, queue) = block_on(request).map_err(|e| first_line(&e.to_string()))?;
    Ok(assemble(describe(adapter, features, &limits, variants), device, queue))
}

/// What every kernel takes for granted (spec acceleration 5.1).
fn too_small(limits: &wgpu::Limits) -> Option<String> {
    let needs: [(&str, u64, u64); 4] = [
        ("storage buffers", limits.max_storage_buffers_per_shader_stage.into(), 4),
        (
            "invocations a group",
            limits.max_compute_invocations_per_workgroup.into(),
            LEAST_INVOCATIONS.into(),
        ),
        ("bytes of group memory", limits.max_compute_workgroup_storage_size.into(), 16 << 10),
        ("bytes of uniform binding", limits.max_uniform_buffer_binding_size, 256),
    ];
    let lacking = needs.iter().find(|(_, has, needed)| has < needed);
    lacking.map(|(what, has, needed)| format!("the adapter has {has} {what}, {needed} are needed"))
}

fn describe(
    adapter: &wgpu::Adapter,
    features: wgpu::Features,
    limits: &wgpu::Limits,
    variants: Variants,
) -> Info {
    let about = adapter.get_info();
    let extras = extras(adapter);
    let i64 = features.contains(wgpu::Features::SHADER_INT64);
    // Definitions at f64 work on 64-bit integers, so doubles alone are of no use.
    let f64 = i64 && features.contains(wgpu::Features::SHADER_F64);
    Info {
        binding: "wgpu",
        name: about.name,
        driver: format!("{} {}", about.driver, about.driver_info).trim().to_string(),
        backend: about.backend.to_string(),
        software: about.device_type == wgpu::DeviceType::Cpu,
        integrated: about.device_type == wgpu::DeviceType::IntegratedGpu,
        f64,
        i64,
        f16: features.contains(wgpu::Features::SHADER_F16),
        subgroups: features.contains(wgpu::Features::SUBGROUP),
        tensor_cores: false,
        tensor_doubles: TensorDoubles::Absent,
        multiprocessors: None,
        // LP_MAX_TGSI_LOOP_ITERATIONS of llvmpipe, which is what runs on processors.
        most_turns: (about.device_type == wgpu::DeviceType::Cpu).then_some(65_535),
        max_binding: limits.max_storage_buffer_binding_size,
        max_buffer: limits.max_buffer_size,
        max_buffers: limits.max_storage_buffers_per_shader_stage,
        max_groups: limits.max_compute_workgroups_per_dimension,
        max_invocations: limits.max_compute_invocations_per_workgroup,
        pooled: true,
        memory: extras.memory,
        variants: Variants { without_f64: !f64, without_i64: !i64, ..extras.demanded(variants) },
        self_test: (0, 0),
    }
}

fn assemble(info: Info, device: wgpu::Device, queue: wgpu::Queue) -> WgpuDevice {
    let trouble = watch(&device);
    let parameters = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: (BATCH * PARAMETER_BYTES) as u64,
        usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let uniform = wgpu::BindingType::Buffer {
        ty: wgpu::BufferBindingType::Uniform,
        has_dynamic_offset: true,
        min_binding_size: None,
    };
    let parameter_layout = layout(&device, [uniform]);
    let parameter_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &parameter_layout,
        entries: &[wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &parameters,
                offset: 0,
                size: std::num::NonZeroU64::new(PARAMETER_BYTES as u64),
            }),
        }],
    });
    let cache = super::cache::Cache::open(&device, &info);
    WgpuDevice {
        cache,
        info,
        device,
        queue,
        state: Mutex::default(),
        trouble,
        process: std::process::id(),
        parameters,
        parameter_layout,
        parameter_group,
    }
}

/// Has the device leave errors in the returned place instead of panicking.
fn watch(device: &wgpu::Device) -> Arc<Trouble> {
    let trouble = Arc::new(Trouble::default());
    let seen = trouble.clone();
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        lock(&seen.error).get_or_insert_with(|| failure_of(&error));
    }));
    let seen = trouble.clone();
    device.set_device_lost_callback(move |_, text| {
        lock(&seen.lost).get_or_insert(first_line(&text));
    });
    trouble
}

fn failure_of(error: &wgpu::Error) -> Failure {
    match error {
        wgpu::Error::OutOfMemory { .. } => Failure::new(FailureCode::Memory, "out of memory"),
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            let words: Vec<&str> = description.split_whitespace().collect();
            Failure::new(FailureCode::Driver, words.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_adapter_that_is_too_small_says_where() {
        let mut limits = wgpu::Limits::default();
        assert_eq!(too_small(&limits), None);
        limits.max_compute_invocations_per_workgroup = 128;
        let text = "the adapter has 128 invocations a group, 256 are needed";
        assert_eq!(too_small(&limits).as_deref(), Some(text));
    }
}
