//! The wgpu binding: one queue, launches batched into a submission until a read or 64 launches,
//! kernels as SPIR-V that goes to the driver untouched.
//!
//! No kernel waits for the host. wgpu orders dispatches that touch the same buffer by itself.
//! Errors never panic: the uncaptured-error handler leaves them where the next check finds them.
//! How an adapter is chosen is in `probe`, how it is opened in `open`; Vulkan only so far.

use crate::device::{Buffer, Device, Failure, FailureCode, Info, Outcome};
use rung_kernel::{Access, Launch};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};

/// Launches in one submission (spec: a read, 64 launches or 2 ms; the time is not watched).
const BATCH: usize = 64;
/// Bytes of one launch's parameters, also the largest alignment of a dynamic offset in use.
const PARAMETER_BYTES: usize = 4 * rung_kernel::kernel::PARAMETER_WORDS;
/// Uploads and downloads are cut into pieces of this size.
const STAGING: usize = 16 << 20;
/// Bytes of uploads after which they are submitted, so that their staging memory is freed.
const MOST_WRITTEN: usize = 2 * STAGING;

mod open;
mod pipeline;
mod vulkan;

pub(crate) use open::open;
use pipeline::Pipeline;
pub(crate) use vulkan::instance;

pub(crate) struct WgpuDevice {
    pub info: Info,
    device: wgpu::Device,
    queue: wgpu::Queue,
    state: Mutex<State>,
    trouble: Arc<Trouble>,
    /// The process that opened it: after a fork the child declines.
    process: u32,
    parameters: wgpu::Buffer,
    parameter_layout: wgpu::BindGroupLayout,
    parameter_group: wgpu::BindGroup,
}

/// What callbacks leave for the next check.
#[derive(Default)]
struct Trouble {
    error: Mutex<Option<Failure>>,
    lost: Mutex<Option<String>>,
}

#[derive(Default)]
struct State {
    pipelines: HashMap<String, Arc<Pipeline>>,
    queued: Vec<Queued>,
    parameter_bytes: Vec<u8>,
    /// Bytes written since the last submission, whose staging memory is held until the next.
    written: usize,
    /// Where downloads land; kept, because a new one costs more than a small copy.
    landing: Option<wgpu::Buffer>,
}

struct Queued {
    pipeline: Arc<Pipeline>,
    buffers: wgpu::BindGroup,
    groups: [u32; 3],
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves no half-made state here that the error checks would not find.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs a future that wgpu completes without an executor.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::yield_now();
    }
}

fn layout(
    device: &wgpu::Device,
    types: impl IntoIterator<Item = wgpu::BindingType>,
) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = types
        .into_iter()
        .enumerate()
        .map(|(i, ty)| wgpu::BindGroupLayoutEntry {
            binding: i as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty,
            count: None,
        })
        .collect();
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &entries,
    })
}

pub(crate) fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().trim().to_string()
}

/// Bytes as a decline text says them.
fn sized(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) if bytes.is_multiple_of(*unit) => format!("{} {name}", bytes / unit),
        Some((unit, name)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

impl WgpuDevice {
    /// The first trouble that a callback left since the last check.
    fn check(&self) -> Outcome<()> {
        if self.process != std::process::id() {
            let text = "device belongs to the parent process";
            return Err(Failure::new(FailureCode::Lost, text));
        }
        if let Some(text) = lock(&self.trouble.lost).as_ref() {
            return Err(Failure::new(FailureCode::Lost, format!("device retired: {text}")));
        }
        lock(&self.trouble.error).take().map_or(Ok(()), Err)
    }

    /// A buffer of at least 16 bytes (an empty binding is refused), a multiple of 4 long.
    fn create(&self, bytes: usize, usage: wgpu::BufferUsages) -> Outcome<wgpu::Buffer> {
        let size = (bytes as u64).next_multiple_of(4).max(16);
        if size > self.info.max_buffer {
            let text = format!("needs {}, {} a buffer", sized(size), sized(self.info.max_buffer));
            return Err(Failure::new(FailureCode::Memory, text));
        }
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size,
            usage,
            mapped_at_creation: false,
        });
        match self.check() {
            Err(f) if f.code == FailureCode::Memory => {
                Err(Failure::new(FailureCode::Memory, format!("needs {}", sized(size))))
            }
            other => other.map(|()| buffer),
        }
    }

    fn write(&self, state: &mut State, buffer: &wgpu::Buffer, bytes: &[u8]) -> Outcome<()> {
        for (piece, start) in bytes.chunks(STAGING).zip((0u64..).step_by(STAGING)) {
            let whole = piece.len() & !3;
            self.queue.write_buffer(buffer, start, &piece[..whole]);
            if whole < piece.len() {
                let mut tail = [0; 4];
                tail[..piece.len() - whole].copy_from_slice(&piece[whole..]);
                self.queue.write_buffer(buffer, start + whole as u64, &tail);
            }
            state.written += piece.len();
            if state.written >= MOST_WRITTEN {
                self.submit(state, |_| ());
                self.poll(wgpu::PollType::Poll)?;
            }
        }
        self.check()
    }

    /// wgpu panics when a wait fails, which happens only when the device is gone.
    fn poll(&self, how: wgpu::PollType) -> Outcome<()> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.device.poll(how)));
        if !matches!(polled, Ok(Ok(_))) {
            lock(&self.trouble.lost).get_or_insert("wait failed".to_string());
        }
        self.check()
    }

    /// After a change of variants.
    pub fn forget_pipelines(&mut self) {
        lock(&self.state).pipelines.clear();
    }

    /// Submits what is queued, then `last` in the same submission.
    fn submit(&self, state: &mut State, last: impl FnOnce(&mut wgpu::CommandEncoder)) {
        state.written = 0;
        let mut encoder = self.device.create_command_encoder(&Default::default());
        if !state.queued.is_empty() {
            self.queue.write_buffer(&self.parameters, 0, &state.parameter_bytes);
            state.parameter_bytes.clear();
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for (i, queued) in state.queued.drain(..).enumerate() {
                let [x, y, z] = queued.groups;
                pass.set_pipeline(&queued.pipeline.pipeline);
                pass.set_bind_group(0, &queued.buffers, &[]);
                pass.set_bind_group(1, &self.parameter_group, &[(i * PARAMETER_BYTES) as u32]);
                pass.dispatch_workgroups(x, y, z);
            }
        }
        last(&mut encoder);
        self.queue.submit([encoder.finish()]);
    }

    fn inner<'a>(&self, buffer: &'a Buffer) -> Outcome<&'a wgpu::Buffer> {
        buffer
            .inner
            .downcast_ref()
            .ok_or_else(|| Failure::new(FailureCode::Driver, "buffer of another device"))
    }

    fn group(&self, pipeline: &Pipeline, buffers: &[&Buffer]) -> Outcome<wgpu::BindGroup> {
        let inner: Vec<&wgpu::Buffer> =
            buffers.iter().map(|b| self.inner(b)).collect::<Outcome<_>>()?;
        let entries: Vec<_> = inner
            .iter()
            .enumerate()
            .map(|(i, buffer)| wgpu::BindGroupEntry {
                binding: i as u32,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.layout,
            entries: &entries,
        });
        self.check().map(|()| group)
    }

    fn landing(&self, state: &mut State, bytes: usize) -> Outcome<wgpu::Buffer> {
        if let Some(landing) = state.landing.as_ref().filter(|b| b.size() >= bytes as u64) {
            return Ok(landing.clone());
        }
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let landing = self.create(bytes.next_power_of_two().max(4096), usage)?;
        state.landing = Some(landing.clone());
        Ok(landing)
    }

    fn check_launch(&self, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()> {
        let kernel = &launch.kernel;
        if buffers.len() != kernel.bindings.len()
            || launch.parameters.len() != kernel.parameter_words
            || launch.parameters.len() > rung_kernel::kernel::PARAMETER_WORDS
        {
            let text = format!("kernel {}: wrong number of buffers or parameters", kernel.key);
            return Err(Failure::new(FailureCode::Compile, text));
        }
        if launch.groups.iter().any(|&g| g > self.info.max_groups) {
            return Err(Failure::new(FailureCode::Grid, "launch exceeds the device's grid"));
        }
        let overlaps = |i: usize| {
            kernel.bindings[i].access == Access::ReadWrite
                && buffers.iter().enumerate().any(|(j, b)| {
                    i != j
                        && Arc::as_ptr(&b.inner).cast::<()>()
                            == Arc::as_ptr(&buffers[i].inner).cast()
                })
        };
        if (0..buffers.len()).any(overlaps) {
            let text = format!("kernel {}: a buffer is written and bound twice", kernel.key);
            return Err(Failure::new(FailureCode::Compile, text));
        }
        let largest = buffers.iter().map(|b| b.bytes() as u64).max().unwrap_or(0);
        if largest > self.info.max_binding {
            let text = format!(
                "buffer of {} exceeds the device's {} binding",
                sized(largest),
                sized(self.info.max_binding)
            );
            return Err(Failure::new(FailureCode::Binding, text));
        }
        Ok(())
    }
}

impl Device for WgpuDevice {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, bytes: usize) -> Outcome<Buffer> {
        let _serial = lock(&self.state);
        self.check()?;
        Ok(Buffer::new(Arc::new(self.create(bytes, STORAGE)?), bytes))
    }

    fn upload(&self, bytes: &[u8]) -> Outcome<Buffer> {
        let mut state = lock(&self.state);
        self.check()?;
        let buffer = self.create(bytes.len(), STORAGE)?;
        // A new buffer: nothing queued can use it, so the copy may run before what is queued.
        self.write(&mut state, &buffer, bytes)?;
        Ok(Buffer::new(Arc::new(buffer), bytes.len()))
    }

    fn launch(&self, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()> {
        self.check_launch(launch, buffers)?;
        if launch.groups.contains(&0) {
            return Ok(());
        }
        let mut state = lock(&self.state);
        self.check()?;
        let pipeline = self.pipeline(&mut state, &launch.kernel)?;
        let group = self.group(&pipeline, buffers)?;
        let start = state.queued.len() * PARAMETER_BYTES;
        state.parameter_bytes.resize(start + PARAMETER_BYTES, 0);
        let bytes: &[u8] = bytemuck::cast_slice(&launch.parameters);
        state.parameter_bytes[start..start + bytes.len()].copy_from_slice(bytes);
        state.queued.push(Queued { pipeline, buffers: group, groups: launch.groups });
        if state.queued.len() == BATCH {
            self.submit(&mut state, |_| ());
        }
        self.check()
    }

    fn download(&self, buffer: &Buffer, into: &mut [u8]) -> Outcome<()> {
        let mut state = lock(&self.state);
        self.check()?;
        if into.len() > buffer.bytes() {
            return Err(Failure::new(FailureCode::Driver, "read beyond the buffer"));
        }
        let inner = self.inner(buffer)?;
        for (piece, start) in into.chunks_mut(STAGING).zip((0u64..).step_by(STAGING)) {
            let landing = self.landing(&mut state, piece.len())?;
            let size = (piece.len() as u64).next_multiple_of(4);
            self.submit(&mut state, |encoder| {
                encoder.copy_buffer_to_buffer(inner, start, &landing, 0, size);
            });
            landing.map_async(wgpu::MapMode::Read, 0..size, |_| ());
            self.poll(wgpu::PollType::wait_indefinitely())?;
            match landing.get_mapped_range(0..size) {
                Ok(view) => piece.copy_from_slice(&view[..piece.len()]),
                Err(e) => return Err(Failure::new(FailureCode::Driver, e.to_string())),
            }
            landing.unmap();
        }
        Ok(())
    }

    fn synchronize(&self) -> Outcome<()> {
        let mut state = lock(&self.state);
        self.submit(&mut state, |_| ());
        self.poll(wgpu::PollType::wait_indefinitely())
    }
}

const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_in_the_decline_texts() {
        assert_eq!(sized(256 << 20), "256 MiB");
        assert_eq!(sized((80 << 30) + 1), "80.0 GiB");
        assert_eq!(sized(12), "12 bytes");
    }
}
