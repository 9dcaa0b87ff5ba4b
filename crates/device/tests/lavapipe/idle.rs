//! A device that executes nothing, in the time that a test gives it: what the host itself pays for a
//! launch, and what measurements make of a slow kernel. Nothing is downloaded: what was there stays.
//! The tests of `rung-ops` include this file too.

use rung_device::{Buffer, Device, Info, Outcome, TensorDoubles};
use rung_kernel::{Kernel, Launch, Variants};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a launch over these buffers takes.
type Taking = fn(&Launch, &[&Buffer]) -> Duration;

pub struct Idle {
    info: Info,
    takes: Taking,
    launches: AtomicU64,
    kernels: Mutex<Vec<Arc<Kernel>>>,
}

impl Idle {
    pub fn new(takes: Taking) -> Idle {
        let info = Info {
            binding: "none",
            name: "idle".into(),
            driver: "1".into(),
            backend: "none".into(),
            software: true,
            integrated: true,
            f64: true,
            i64: true,
            f16: true,
            subgroups: true,
            tensor_cores: false,
            tensor_doubles: TensorDoubles::Absent,
            multiprocessors: None,
            most_turns: None,
            max_binding: 1 << 30,
            max_buffer: 1 << 30,
            max_buffers: 8,
            max_groups: 65_535,
            pooled: true,
            max_invocations: 256,
            memory: Some(4 << 30),
            variants: Variants::default(),
            self_test: (0, 0),
        };
        Idle { info, takes, launches: AtomicU64::new(0), kernels: Mutex::default() }
    }

    /// Launches so far.
    pub fn launches(&self) -> u64 {
        self.launches.load(Ordering::Relaxed)
    }

    /// Kernels launched so far, each text that was made anew counted again.
    pub fn kernels(&self) -> usize {
        self.kernels.lock().unwrap().len()
    }
}

impl Device for Idle {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, bytes: usize) -> Outcome<Buffer> {
        Ok(Buffer::new(Arc::new(()), bytes))
    }

    fn upload(&self, bytes: &[u8]) -> Outcome<Buffer> {
        self.allocate(bytes.len())
    }

    fn write(&self, _: &Buffer, _: &[u8]) -> Outcome<()> {
        Ok(())
    }

    fn launch(&self, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()> {
        let (start, time) = (Instant::now(), (self.takes)(launch, buffers));
        self.launches.fetch_add(1, Ordering::Relaxed);
        let mut kernels = self.kernels.lock().unwrap();
        if !kernels.iter().any(|kernel| Arc::ptr_eq(kernel, &launch.kernel)) {
            kernels.push(launch.kernel.clone());
        }
        drop(kernels);
        while start.elapsed() < time {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn download(&self, _: &Buffer, _: &mut [u8]) -> Outcome<()> {
        Ok(())
    }

    fn synchronize(&self) -> Outcome<()> {
        Ok(())
    }
}
