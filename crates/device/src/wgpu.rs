//! The wgpu binding: buffers, launches and reads; kernels as SPIR-V that goes to the driver untouched.
//!
//! No kernel waits for the host. wgpu orders dispatches that touch the same buffer by itself.
//! Errors never panic: the uncaptured-error handler leaves them where the next check finds them.
//! How an adapter is chosen is in `probe`, how it is opened in `open`, what is submitted when in
//! `queue`; Vulkan only so far.

use crate::device::{
    Buffer, Device, Failure, FailureCode, Info, Outcome, check_launch, lock, owned_by, sized,
};
use crate::self_test::Unsettled;
use rung_kernel::Launch;
use std::sync::{Arc, Mutex, MutexGuard};

/// Launches in one submission.
const BATCH: usize = 64;
/// Bytes of one launch's parameters, also the largest alignment of a dynamic offset in use.
const PARAMETER_BYTES: usize = 4 * rung_kernel::kernel::PARAMETER_WORDS;
mod belt;
mod cache;
mod open;
mod pipeline;
mod queue;
mod vulkan;

pub(crate) use open::open;
use pipeline::Pipeline;
use queue::State;
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
    /// Compiled kernels on disk, where there is a place for them.
    cache: Option<cache::Cache>,
}

/// What callbacks leave for the next check.
#[derive(Default)]
struct Trouble {
    error: Mutex<Option<Failure>>,
    lost: Mutex<Option<String>>,
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

impl WgpuDevice {
    /// The state, where the device can still be used by this process.
    fn enter(&self) -> Outcome<MutexGuard<'_, State>> {
        owned_by(self.process)?;
        let state = lock(&self.state);
        self.retire_if_failed(&state)?;
        Ok(state)
    }

    /// The first trouble that a callback left since the last check.
    fn check(&self) -> Outcome<()> {
        owned_by(self.process)?;
        if let Some(text) = lock(&self.trouble.lost).as_ref() {
            return Err(Failure::retired(text));
        }
        lock(&self.trouble.error).take().map_or(Ok(()), Err)
    }

    fn create(&self, bytes: usize, usage: wgpu::BufferUsages) -> Outcome<wgpu::Buffer> {
        let size = size_of_buffer(bytes);
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
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset: buffers[i].start as u64,
                    size: std::num::NonZeroU64::new(match buffers[i].start {
                        0 => size_of_buffer(buffers[i].bytes()),
                        _ => (buffers[i].bytes() as u64).next_multiple_of(4).max(4),
                    }),
                }),
            })
            .collect();
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.layout,
            entries: &entries,
        });
        self.check().map(|()| group)
    }
}

impl Unsettled for WgpuDevice {
    fn info_mut(&mut self) -> &mut Info {
        &mut self.info
    }

    fn forget_kernels(&mut self) {
        lock(&self.state).pipelines.clear();
    }
}

impl Device for WgpuDevice {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, bytes: usize) -> Outcome<Buffer> {
        let _state = self.enter()?;
        Ok(Buffer::new(Arc::new(self.create(bytes, STORAGE)?), bytes))
    }

    fn upload(&self, bytes: &[u8]) -> Outcome<Buffer> {
        let mut state = self.enter()?;
        let buffer = self.create(bytes.len(), STORAGE)?;
        self.fill(&mut state, &buffer, bytes)?;
        Ok(Buffer::new(Arc::new(buffer), bytes.len()))
    }

    fn write(&self, buffer: &Buffer, bytes: &[u8]) -> Outcome<()> {
        let mut state = self.enter()?;
        if bytes.len() > buffer.bytes() {
            return Err(Failure::new(FailureCode::Driver, "write beyond the buffer"));
        }
        self.fill(&mut state, self.inner(buffer)?, bytes)
    }

    fn free_memory(&self) -> Option<u64> {
        vulkan::free_memory(&self.device)
    }

    fn launch(&self, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()> {
        check_launch(&self.info, launch, buffers)?;
        if launch.groups.contains(&0) {
            return Ok(());
        }
        let mut state = self.enter()?;
        let pipeline = self.pipeline(&mut state, &launch.kernel)?;
        let group = self.group(&pipeline, buffers)?;
        self.enqueue(&mut state, pipeline, group, launch)
    }

    fn download(&self, buffer: &Buffer, into: &mut [u8]) -> Outcome<()> {
        let mut state = self.enter()?;
        if into.len() > buffer.bytes() {
            return Err(Failure::new(FailureCode::Driver, "read beyond the buffer"));
        }
        self.bring(&mut state, self.inner(buffer)?, into)
    }

    fn synchronize(&self) -> Outcome<()> {
        owned_by(self.process)?;
        let mut state = lock(&self.state);
        self.submit(&mut state, |_| ())?;
        self.wait(&mut state, 0)
    }
}

/// A buffer of at least 16 bytes (an empty binding is refused), a multiple of 4 long.
fn size_of_buffer(bytes: usize) -> u64 {
    (bytes as u64).next_multiple_of(4).max(16)
}

const STORAGE: wgpu::BufferUsages = wgpu::BufferUsages::STORAGE
    .union(wgpu::BufferUsages::COPY_SRC)
    .union(wgpu::BufferUsages::COPY_DST);
