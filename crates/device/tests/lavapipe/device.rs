//! Probe, buffers, queue and failures.

use crate::support::{device, run};
use rung_base::{DeviceChoice, ElementType};
use rung_device::{FailureCode, adapters, probe, probe_with};
use rung_kernel::fold::{Fold, Kernels, Slices};
use rung_kernel::{Binding, Kernel, Launch, Variants, map};
use rung_math::{Square, Width, trace_unary};
use std::sync::Arc;

fn reason(choice: DeviceChoice) -> String {
    probe(&choice).err().expect("no device").to_string()
}

#[test]
fn a_software_adapter_is_taken_only_by_name() {
    let info = device().info();
    assert!(info.software && info.f64 && info.i64);
    assert_eq!((info.binding, info.backend.as_str()), ("wgpu", "vulkan"));
    let (passed, all) = info.self_test;
    assert!(passed == all && all == 37);
    // lavapipe's own fused multiply-add rounds twice.
    assert!(info.variants.software_fma_f32 && info.variants.software_fma_f64);
    if adapters().adapters.iter().all(|a| a.software) {
        let text = "only a software adapter (llvmpipe); name it with --device";
        assert_eq!(reason(DeviceChoice::Auto), text);
    }
}

#[test]
fn names_that_do_not_fit() {
    let text = reason(DeviceChoice::Named("Geforce 9".to_string()));
    assert!(text.starts_with("no adapter named Geforce 9; found: "), "{text}");
    assert!(text.contains("llvmpipe"), "{text}");
    let text = reason(DeviceChoice::Named("cuda:0".to_string()));
    assert_eq!(text, "libcuda.so.1 not found (no NVIDIA driver)");
}

#[test]
fn a_device_without_doubles_runs_singles_and_declines_doubles() {
    let variants = Variants { without_f64: true, software_fma_f32: true, ..Variants::default() };
    let device = probe_with("llvmpipe", variants).unwrap();
    assert!(!device.info().f64);
    assert_eq!(device.info().self_test, (18, 18));
    let buffer = device.upload(bytemuck::cast_slice(&[2.0f32, 3.0])).unwrap();
    let single = Arc::new(map::kernel("single", &trace_unary::<Square>(Width::F32)));
    let output = device.allocate(8).unwrap();
    device.launch(&map::launch(&single, 2).unwrap(), &[&buffer, &output]).unwrap();
    let mut back = [0.0f32; 2];
    device.download(&output, bytemuck::cast_slice_mut(&mut back)).unwrap();
    assert_eq!(back, [4.0, 9.0]);
    let sums = Kernels::new(Fold::Sum, ElementType::F32).unwrap();
    let plan = sums.plan(&Slices { length: 2, outer: 1, inner: 1, ..Slices::default() }).unwrap();
    let failure = device.launch(&plan[0].launch, &[&buffer, &output]).unwrap_err();
    assert_eq!(
        (failure.code, failure.text.as_str()),
        (FailureCode::NoDouble, "no f64 on this adapter")
    );
}

#[test]
fn a_device_that_cannot_be_made_exact_declines() {
    // Without doubles and 64-bit integers there is no software fused multiply-add.
    let variants = Variants { without_i64: true, ..Variants::default() };
    let reason = probe_with("llvmpipe", variants).err().expect("no device").to_string();
    assert!(reason.starts_with("self-test: f32 fused multiply-add "), "{reason}");
    assert!(reason.ends_with("is not correctly rounded and no variant helps"), "{reason}");
}

/// Runs one test of this binary again with these environment variables set or removed; nothing but
/// the test harness may print.
fn again(test: &str, variables: &[(&str, Option<&str>)]) {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env("RUNG_AGAIN", "1");
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

fn is_again() -> bool {
    std::env::var_os("RUNG_AGAIN").is_some()
}

#[test]
fn mesa_prints_nothing_on_a_machine_without_a_window_system() {
    if is_again() {
        device();
        return;
    }
    let test = "device::mesa_prints_nothing_on_a_machine_without_a_window_system";
    again(test, &[("XDG_RUNTIME_DIR", None), ("WAYLAND_DISPLAY", None), ("DISPLAY", None)]);
}

#[test]
fn a_machine_without_any_adapter_gives_a_reason() {
    if !is_again() {
        let test = "device::a_machine_without_any_adapter_gives_a_reason";
        let nothing = Some("/nonexistent");
        return again(test, &[("VK_ICD_FILENAMES", nothing), ("VK_DRIVER_FILES", nothing)]);
    }
    let step = if adapters().loader { "" } else { ": no Vulkan loader, or no driver for it" };
    let card = "libcuda.so.1 not found (no NVIDIA driver)";
    assert_eq!(reason(DeviceChoice::Auto), format!("{card}; no GPU adapter{step}"));
    let named = reason(DeviceChoice::Named("llvmpipe".to_string()));
    let why = match adapters().loader {
        true => "no driver for Vulkan, or none that could start",
        false => "no Vulkan loader, or no driver for it",
    };
    assert_eq!(named, format!("no adapter named llvmpipe; found: none ({why})"));
    assert!(adapters().adapters.is_empty());
}

#[test]
fn buffers_of_any_size_come_back() {
    let device = device();
    for size in [0, 1, 2, 3, 4, 5, 1000, (16 << 20) + 5] {
        let bytes: Vec<u8> = (0..size).map(|i| (i * 7) as u8).collect();
        let buffer = device.upload(&bytes).unwrap();
        assert_eq!(buffer.bytes(), size);
        let mut back = vec![0; size];
        device.download(&buffer, &mut back).unwrap();
        assert_eq!(back, bytes, "{size} bytes");
    }
    let zeros = device.allocate(64).unwrap();
    let mut back = [1; 64];
    device.download(&zeros, &mut back).unwrap();
    assert_eq!(back, [0; 64]);
}

#[test]
fn launches_queue_up_and_keep_their_order_and_parameters() {
    let device = device();
    let kernel = Arc::new(map::kernel("chain", &trace_unary::<Square>(Width::F64)));
    let mut buffer = device.upload(bytemuck::cast_slice(&[1.0f64 + 1e-9, 1.0, 3.0])).unwrap();
    // 3 launches square everything, 197 more only the first two elements; 200 fill three batches.
    for i in 0..200 {
        let next = device.allocate(24).unwrap();
        let count = if i < 3 { 3 } else { 2 };
        device.launch(&map::launch(&kernel, count).unwrap(), &[&buffer, &next]).unwrap();
        if i <= 20 {
            buffer = next;
        }
    }
    let mut back = [0.0f64; 3];
    device.download(&buffer, bytemuck::cast_slice_mut(&mut back)).unwrap();
    let mut want = 1.0f64 + 1e-9;
    for _ in 0..21 {
        want *= want;
    }
    assert_eq!(back, [want, 1.0, 0.0]);
    device.synchronize().unwrap();
}

#[test]
fn threads_share_the_queue() {
    let kernel = Arc::new(map::kernel("threads", &trace_unary::<Square>(Width::F32)));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let kernel = &kernel;
            scope.spawn(move || {
                for i in 0..50 {
                    let operand = [(thread * 100 + i) as f32; 64];
                    let launch = map::launch(kernel, 64).unwrap();
                    let got = run(&launch, &[&operand], 64);
                    assert_eq!(got, [operand[0] * operand[0]; 64]);
                }
            });
        }
    });
}

/// The only file of the cache, if there is one.
fn cache_file(folder: &std::path::Path) -> Option<std::path::PathBuf> {
    let mut files = std::fs::read_dir(folder.join("rung/kernels")).ok()?;
    let file = files.next()?.unwrap().path();
    assert!(files.next().is_none());
    Some(file)
}

#[test]
fn kernels_are_kept_on_disk_and_a_damaged_file_is_written_anew() {
    if is_again() {
        let kernel = Arc::new(map::kernel("kept", &trace_unary::<Square>(Width::F32)));
        assert_eq!(run(&map::launch(&kernel, 1).unwrap(), &[&[3.0f32]], 1), [9.0]);
        return;
    }
    let test = "device::kernels_are_kept_on_disk_and_a_damaged_file_is_written_anew";
    let folder = std::env::temp_dir().join(format!("rung-cache-{}", std::process::id()));
    let place = [("XDG_CACHE_HOME", folder.to_str())];
    again(test, &place);
    let file = cache_file(&folder).expect("a file of kernels");
    let good = std::fs::read(&file).unwrap();
    assert!(good.starts_with(b"rung kernels"));
    for damaged in [&good[..good.len() / 2], &[0; 3000], b""] {
        std::fs::write(&file, damaged).unwrap();
        again(test, &place);
        assert!(std::fs::read(&file).unwrap() == good, "written anew");
    }
    // Without a place for it everything works.
    std::fs::remove_dir_all(folder.join("rung")).unwrap();
    std::fs::write(folder.join("rung"), "in the way").unwrap();
    again(test, &place);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// What a driver has compiled is in the file: a second process that compiles nothing leaves the same
/// file under the same name.
#[test]
fn situations_25_the_second_process_finds_its_kernels_compiled() {
    if is_again() {
        for name in ["first", "second", "third"] {
            let kernel = Arc::new(map::kernel(name, &trace_unary::<Square>(Width::F32)));
            assert_eq!(run(&map::launch(&kernel, 1).unwrap(), &[&[3.0f32]], 1), [9.0]);
        }
        return;
    }
    let test = "device::situations_25_the_second_process_finds_its_kernels_compiled";
    let folder = std::env::temp_dir().join(format!("rung-second-{}", std::process::id()));
    let place = [("XDG_CACHE_HOME", folder.to_str())];
    again(test, &place);
    let first = cache_file(&folder).expect("a file of kernels");
    let compiled = std::fs::read(&first).unwrap();
    again(test, &place);
    assert_eq!(cache_file(&folder), Some(first.clone()), "the key repeats");
    assert!(std::fs::read(&first).unwrap() == compiled, "something was compiled again");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Pages of memory that this process holds.
#[cfg(target_os = "linux")]
fn resident_pages() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn buffers_that_are_dropped_unused_free_their_memory() {
    // In a process of its own: other tests hold memory as well.
    if !is_again() {
        return again("device::buffers_that_are_dropped_unused_free_their_memory", &[]);
    }
    let megabyte = vec![7u8; 1 << 20];
    let before = resident_pages();
    for _ in 0..1000 {
        drop(device().upload(&megabyte).unwrap());
    }
    // 1000 MiB went up; a page is 4 KiB at least.
    let grown = resident_pages().saturating_sub(before);
    assert!(grown < 300 << 8, "{grown} pages more");
}

#[test]
fn failures_are_values() {
    let device = device();
    let code = |outcome: Result<(), rung_device::Failure>| outcome.unwrap_err().code;
    let kernel = |text: &str, bindings: usize| Launch {
        kernel: Arc::new(Kernel {
            key: format!("failing {text}"),
            text: text.to_string(),
            workgroup: [1, 1, 1],
            bindings: vec![Binding::write(ElementType::F64); bindings],
            parameter_words: 0,
        }),
        parameters: Vec::new(),
        groups: [1, 1, 1],
    };
    let buffer = device.allocate(64).unwrap();
    assert_eq!(code(device.launch(&kernel("nonsense", 1), &[&buffer])), FailureCode::Compile);
    assert_eq!(code(device.launch(&kernel("", 2), &[&buffer])), FailureCode::Compile);
    let mut wide = kernel("", 1);
    wide.groups = [70_000, 1, 1];
    assert_eq!(code(device.launch(&wide, &[&buffer])), FailureCode::Grid);
    let square = Arc::new(map::kernel("square", &trace_unary::<Square>(Width::F32)));
    let in_place = map::launch(&square, 4).unwrap();
    assert_eq!(code(device.launch(&in_place, &[&buffer, &buffer])), FailureCode::Compile);
    let limit = device.info().max_buffer as usize;
    assert_eq!(device.allocate(limit + 8).unwrap_err().code, FailureCode::Memory);
    let large = device.allocate(device.info().max_binding as usize + 8).unwrap();
    let failure = device.launch(&kernel("", 1), &[&large]).unwrap_err();
    assert_eq!(failure.code, FailureCode::Binding);
    assert!(failure.text.ends_with("exceeds the device's 128 MiB binding"), "{failure}");
    // The device still works.
    device.synchronize().unwrap();
}
