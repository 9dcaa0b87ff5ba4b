//! What Vulkan is asked beside wgpu: which float behaviours a kernel may demand, and how much
//! memory there is. Also the one connection to its loader.
//!
//! Everything unsafe about talking to Vulkan directly is in this file; nothing here runs work.

use rung_kernel::{Demands, Variants};
use std::sync::OnceLock;

/// What wgpu does not tell of an adapter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extras {
    pub demands_f32: Demands,
    pub demands_f64: Demands,
    /// Bytes of the largest heap that is local to the device.
    pub memory: Option<u64>,
}

impl Extras {
    /// These variants, demanding what the adapter offers.
    pub fn demanded(self, variants: Variants) -> Variants {
        let Extras { demands_f32, demands_f64, .. } = self;
        Variants { demands_f32, demands_f64, ..variants }
    }
}

/// The connection to the Vulkan loader; `None` when there is no loader.
pub(crate) fn instance() -> Option<&'static wgpu::Instance> {
    static INSTANCE: OnceLock<Option<wgpu::Instance>> = OnceLock::new();
    INSTANCE.get_or_init(connect).as_ref()
}

#[cfg(not(target_vendor = "apple"))]
fn connect() -> Option<wgpu::Instance> {
    use wgpu::hal::vulkan::{CreateInstanceCallbackArgs, Instance};
    let descriptor = wgpu::hal::InstanceDescriptor {
        name: "rung",
        // No validation layers: they are slow, absent on most machines, and print.
        flags: wgpu::InstanceFlags::empty(),
        memory_budget_thresholds: Default::default(),
        backend_options: Default::default(),
        telemetry: None,
        display: None,
    };
    // With a window system's extension enabled, Mesa's device-select layer connects to it and
    // prints an error on a machine without one.
    let without_windows = |arguments: CreateInstanceCallbackArgs<'_, '_, '_>| {
        arguments.extensions.retain(|name| {
            let name = name.to_bytes();
            !name.ends_with(b"_surface") || name == b"VK_KHR_surface"
        });
    };
    // SAFETY: the callback changes nothing but the list of extensions, and those it removes serve
    // only to make surfaces, which this program never does.
    let instance =
        unsafe { Instance::init_with_callback(&descriptor, Some(Box::new(without_windows))) };
    // SAFETY: the instance is fresh and nothing else holds it.
    instance.ok().map(|i| unsafe { wgpu::Instance::from_hal::<wgpu::hal::api::Vulkan>(i) })
}

/// Metal is not built into this version.
#[cfg(target_vendor = "apple")]
fn connect() -> Option<wgpu::Instance> {
    None
}

#[cfg(target_vendor = "apple")]
pub(crate) fn free_memory(_: &wgpu::Device) -> Option<u64> {
    None
}

/// Bytes of the largest local heap that this process may still take, where the driver tells.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn free_memory(device: &wgpu::Device) -> Option<u64> {
    use ash::vk;
    // SAFETY: the device is only asked, and only while `device` lives.
    let hal = unsafe { device.as_hal::<wgpu::hal::api::Vulkan>() }?;
    if !hal.enabled_device_extensions().contains(&ash::ext::memory_budget::NAME) {
        return None;
    }
    let mut budget = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut memory = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut budget);
    // SAFETY: the handle came from this instance, which `hal` keeps alive; both structures are
    // valid across the call, and the extension that defines the inner one is enabled.
    unsafe {
        let instance = hal.shared_instance().raw_instance();
        instance.get_physical_device_memory_properties2(hal.raw_physical_device(), &mut memory);
    }
    let memory = memory.memory_properties;
    let heaps = memory.memory_heaps[..memory.memory_heap_count as usize].iter().enumerate();
    let local = heaps.filter(|(_, h)| h.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    let largest = local.max_by_key(|(_, heap)| heap.size)?.0;
    Some(budget.heap_budget[largest].saturating_sub(budget.heap_usage[largest]))
}

#[cfg(target_vendor = "apple")]
pub(crate) fn extras(_: &wgpu::Adapter) -> Extras {
    Extras::default()
}

#[cfg(not(target_vendor = "apple"))]
pub(crate) fn extras(adapter: &wgpu::Adapter) -> Extras {
    use ash::vk;
    // SAFETY: the adapter is only read, and only while `adapter` lives.
    let Some(hal) = (unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }) else {
        return Extras::default();
    };
    let (raw, physical) = (hal.shared_instance().raw_instance(), hal.raw_physical_device());
    // SAFETY: the handle came from this instance, which `hal` keeps alive.
    let memory = unsafe { raw.get_physical_device_memory_properties(physical) };
    let heaps = &memory.memory_heaps[..memory.memory_heap_count as usize];
    let local = heaps.iter().filter(|h| h.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    let memory = local.map(|heap| heap.size).max();
    // Float controls, and the call that asks for them, are part of Vulkan 1.2.
    // SAFETY: as above.
    let version = unsafe { raw.get_physical_device_properties(physical) }.api_version;
    if version < vk::API_VERSION_1_2 {
        return Extras { memory, ..Extras::default() };
    }
    let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut controls);
    // SAFETY: as above; both structures are valid and live across the call.
    unsafe { raw.get_physical_device_properties2(physical, &mut properties) };
    let [demands_f32, demands_f64] = demands(&controls);
    Extras { demands_f32, demands_f64, memory }
}

/// What may be demanded at 32 and at 64 bits: what the device offers, and where it wants one
/// setting for all widths, only what it offers at both.
#[cfg(not(target_vendor = "apple"))]
fn demands(controls: &ash::vk::PhysicalDeviceFloatControlsProperties<'_>) -> [Demands; 2] {
    use ash::vk::ShaderFloatControlsIndependence;
    let pair = |single: u32, double: u32, independence| match (single != 0, double != 0) {
        (true, true) => (true, true),
        _ if independence == ShaderFloatControlsIndependence::NONE => (false, false),
        offered => offered,
    };
    let subnormals = pair(
        controls.shader_denorm_preserve_float32,
        controls.shader_denorm_preserve_float64,
        controls.denorm_behavior_independence,
    );
    let specials = pair(
        controls.shader_signed_zero_inf_nan_preserve_float32,
        controls.shader_signed_zero_inf_nan_preserve_float64,
        ShaderFloatControlsIndependence::ALL,
    );
    let nearest = pair(
        controls.shader_rounding_mode_rte_float32,
        controls.shader_rounding_mode_rte_float64,
        controls.rounding_mode_independence,
    );
    let demand = |keep_subnormals, keep_specials, nearest_even| Demands {
        keep_subnormals,
        keep_specials,
        nearest_even,
    };
    [demand(subnormals.0, specials.0, nearest.0), demand(subnormals.1, specials.1, nearest.1)]
}

#[cfg(all(test, not(target_vendor = "apple")))]
mod tests {
    use super::*;
    use ash::vk;

    #[test]
    fn one_setting_for_all_widths_is_demanded_only_where_both_offer_it() {
        let mut controls = vk::PhysicalDeviceFloatControlsProperties::default()
            .shader_denorm_preserve_float32(true)
            .denorm_behavior_independence(vk::ShaderFloatControlsIndependence::ALL);
        assert!(demands(&controls)[0].keep_subnormals);
        controls.denorm_behavior_independence = vk::ShaderFloatControlsIndependence::NONE;
        assert_eq!(demands(&controls), [Demands::default(); 2]);
    }
}
