//! The queue: copies and launches in the order in which they were asked for, submitted together at
//! a read, after 64 launches, or when the first of them is 2 ms old.
//!
//! Nothing here waits but `poll`. A failure that shows only at or after a submission makes every
//! result since the last wait doubtful, so it retires the device, with the kernels it was about.

use super::belt::{Belt, STAGING};
use super::{BATCH, PARAMETER_BYTES, WgpuDevice, lock};
use crate::device::{Failure, FailureCode, Outcome};
use rung_kernel::{Kernel, Launch};
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The age of the first queued launch from which the next one submits.
const OLDEST: Duration = Duration::from_millis(2);
/// Submissions on their way before the older half is waited for: 1024 launches.
const MOST_SUBMITTED: usize = 1024 / BATCH;
/// Kernels that a failure names.
const NAMED: usize = 4;

#[derive(Default)]
pub(super) struct State {
    pub pipelines: HashMap<String, Arc<super::Pipeline>>,
    steps: Vec<Step>,
    /// Launches among the steps, and when the first came.
    launches: usize,
    since: Option<Instant>,
    parameter_bytes: Vec<u8>,
    belt: Belt,
    submitted: VecDeque<wgpu::SubmissionIndex>,
    /// What was launched since the last wait, for the text of a failure.
    running: VecDeque<Arc<Kernel>>,
    /// Where downloads land; kept, because a new one costs more than a small copy.
    landing: Option<wgpu::Buffer>,
}

enum Step {
    Copy { from: super::belt::Piece, to: wgpu::Buffer, start: u64 },
    Launch(Queued),
}

struct Queued {
    pipeline: Arc<super::Pipeline>,
    buffers: wgpu::BindGroup,
    groups: [u32; 3],
    /// Where its parameters begin.
    offset: u32,
}

impl State {
    /// What is on its way, as a failure names it.
    fn named(&self) -> String {
        let mut keys: Vec<&str> = Vec::new();
        for kernel in self.running.iter().rev() {
            if !keys.contains(&kernel.key.as_str()) && keys.len() < NAMED {
                keys.push(&kernel.key);
            }
        }
        if keys.is_empty() { String::new() } else { format!(" (queued: {})", keys.join(", ")) }
    }
}

impl WgpuDevice {
    /// Queues a copy of `bytes` into a buffer, in pieces that fit a staging buffer.
    pub(super) fn fill(
        &self,
        state: &mut State,
        buffer: &wgpu::Buffer,
        bytes: &[u8],
    ) -> Outcome<()> {
        for (piece, start) in bytes.chunks(STAGING).zip((0u64..).step_by(STAGING)) {
            loop {
                if let Some(from) = state.belt.put(&self.device, piece)? {
                    state.steps.push(Step::Copy { from, to: buffer.clone(), start });
                    break;
                }
                self.submit(state, |_| ())?;
                if !state.belt.is_ready() {
                    self.poll(state, wgpu::PollType::Poll)?;
                }
                // Both buffers are on their way: the older one comes back first.
                for left in [1, 0] {
                    if !state.belt.is_ready() {
                        self.wait(state, left)?;
                    }
                }
                if !state.belt.is_ready() {
                    let text = "a staging buffer did not come back";
                    return Err(Failure::new(FailureCode::Driver, text));
                }
            }
        }
        self.check()
    }

    /// Queues a launch.
    pub(super) fn enqueue(
        &self,
        state: &mut State,
        pipeline: Arc<super::Pipeline>,
        buffers: wgpu::BindGroup,
        launch: &Launch,
    ) -> Outcome<()> {
        let offset = state.launches * PARAMETER_BYTES;
        state.parameter_bytes.resize(offset + PARAMETER_BYTES, 0);
        let bytes: &[u8] = bytemuck::cast_slice(&launch.parameters);
        state.parameter_bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        let (groups, offset) = (launch.groups, offset as u32);
        state.steps.push(Step::Launch(Queued { pipeline, buffers, groups, offset }));
        if state.running.len() == MOST_SUBMITTED * BATCH {
            state.running.pop_front();
        }
        state.running.push_back(launch.kernel.clone());
        state.launches += 1;
        let since = *state.since.get_or_insert_with(Instant::now);
        if state.launches == BATCH || since.elapsed() >= OLDEST {
            self.submit(state, |_| ())?;
        }
        Ok(())
    }

    /// Submits what is queued, then `last` in the same submission.
    pub(super) fn submit(
        &self,
        state: &mut State,
        last: impl FnOnce(&mut wgpu::CommandEncoder),
    ) -> Outcome<()> {
        let mut encoder = self.device.create_command_encoder(&Default::default());
        if state.launches > 0 {
            self.queue.write_buffer(&self.parameters, 0, &state.parameter_bytes);
            state.parameter_bytes.clear();
        }
        (state.launches, state.since) = (0, None);
        self.record(&mut encoder, std::mem::take(&mut state.steps));
        last(&mut encoder);
        let closed = state.belt.close();
        state.submitted.push_back(self.queue.submit([encoder.finish()]));
        closed.reopen();
        self.retire_if_failed(state)?;
        if state.submitted.len() > MOST_SUBMITTED {
            self.wait(state, MOST_SUBMITTED / 2)?;
        }
        Ok(())
    }

    /// Copies and launches in their order; launches that follow one another share a pass.
    fn record(&self, encoder: &mut wgpu::CommandEncoder, steps: Vec<Step>) {
        let mut steps = steps.into_iter().peekable();
        while steps.peek().is_some() {
            while let Some(Step::Copy { from, to, start }) =
                steps.next_if(|step| matches!(step, Step::Copy { .. }))
            {
                encoder.copy_buffer_to_buffer(&from.buffer, from.start, &to, start, from.size);
            }
            if steps.peek().is_none() {
                break;
            }
            let mut pass = encoder.begin_compute_pass(&Default::default());
            while let Some(Step::Launch(queued)) =
                steps.next_if(|step| matches!(step, Step::Launch(_)))
            {
                let [x, y, z] = queued.groups;
                pass.set_pipeline(&queued.pipeline.pipeline);
                pass.set_bind_group(0, &queued.buffers, &[]);
                pass.set_bind_group(1, &self.parameter_group, &[queued.offset]);
                pass.dispatch_workgroups(x, y, z);
            }
        }
    }

    /// Waits for all but the newest `left` submissions.
    pub(super) fn wait(&self, state: &mut State, left: usize) -> Outcome<()> {
        let count = state.submitted.len().saturating_sub(left);
        let Some(index) = state.submitted.drain(..count).next_back() else { return Ok(()) };
        let how = wgpu::PollType::Wait { submission_index: Some(index), timeout: None };
        self.poll(state, how)?;
        if left == 0 {
            state.running.clear();
            if let Some(cache) = &self.cache {
                cache.save_sometimes();
            }
        }
        Ok(())
    }

    /// wgpu panics when a wait fails, which happens only when the device is gone.
    fn poll(&self, state: &State, how: wgpu::PollType) -> Outcome<()> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.device.poll(how)));
        if !matches!(polled, Ok(Ok(_))) {
            lock(&self.trouble.lost).get_or_insert_with(|| format!("wait failed{}", state.named()));
        }
        self.retire_if_failed(state)
    }

    /// An error that nobody's own call made: whatever was queued may not have run.
    pub(super) fn retire_if_failed(&self, state: &State) -> Outcome<()> {
        if let Some(failure) = lock(&self.trouble.error).take() {
            let text = format!("{}{}", failure.text, state.named());
            lock(&self.trouble.lost).get_or_insert(text);
        }
        self.check()
    }

    /// Copies the first bytes of a buffer home, after everything queued.
    pub(super) fn bring(
        &self,
        state: &mut State,
        from: &wgpu::Buffer,
        into: &mut [u8],
    ) -> Outcome<()> {
        for (piece, start) in into.chunks_mut(STAGING).zip((0u64..).step_by(STAGING)) {
            let landing = self.landing(state, piece.len())?;
            let size = (piece.len() as u64).next_multiple_of(4);
            self.submit(state, |encoder| {
                encoder.copy_buffer_to_buffer(from, start, &landing, 0, size);
            })?;
            landing.map_async(wgpu::MapMode::Read, 0..size, |_| ());
            self.wait(state, 0)?;
            match landing.get_mapped_range(0..size) {
                Ok(view) => piece.copy_from_slice(&view[..piece.len()]),
                Err(e) => return Err(Failure::new(FailureCode::Driver, e.to_string())),
            }
            landing.unmap();
        }
        Ok(())
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
}

#[cfg(test)]
mod tests {
    use crate::device::{Device, FailureCode};
    use crate::wgpu::{WgpuDevice, block_on, instance, open};
    use rung_base::ElementType;
    use rung_kernel::{Binding, Kernel, Launch};
    use std::sync::Arc;

    fn lavapipe() -> WgpuDevice {
        let instance = instance().expect("install libvulkan1 and mesa-vulkan-drivers");
        let adapters = block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
        let named = |a: &&wgpu::Adapter| a.get_info().name.contains("llvmpipe");
        open(adapters.iter().find(named).expect("lavapipe"), crate::probe::Mask::default()).unwrap()
    }

    fn counting() -> Launch {
        let text = "@compute @workgroup_size(1)\nfn main() { b0[0] = b0[0] + 1.0; }\n";
        Launch {
            kernel: Arc::new(Kernel {
                key: "counting".into(),
                text: text.into(),
                workgroup: [1, 1, 1],
                bindings: vec![Binding::write(ElementType::F32)],
                parameter_words: 0,
            }),
            parameters: Vec::new(),
            groups: [1, 1, 1],
        }
    }

    #[test]
    fn uploads_and_launches_keep_their_order_without_a_wait() {
        let device = lavapipe();
        let (launch, buffer) = (counting(), device.upload(&5f32.to_le_bytes()).unwrap());
        let mut word = [0; 4];
        for round in 0..100 {
            device.launch(&launch, &[&buffer]).unwrap();
            device.launch(&launch, &[&buffer]).unwrap();
            if round % 3 == 0 {
                device.write(&buffer, &(round as f32).to_le_bytes()).unwrap();
            }
        }
        device.download(&buffer, &mut word).unwrap();
        // The last write of 99 came after the last launches.
        assert_eq!(f32::from_le_bytes(word), 99.0);
        // More bytes than both staging buffers hold.
        let bytes: Vec<u8> = (0..(40 << 20) + 3).map(|i| ((i * 31) >> 7) as u8).collect();
        let large = device.upload(&bytes).unwrap();
        let mut back = vec![0; bytes.len()];
        device.download(&large, &mut back).unwrap();
        assert!(back == bytes);
    }

    /// What failed in the queue leaves no result that could be read.
    #[test]
    fn a_failure_in_the_queue_retires_the_device_and_names_the_kernel() {
        let device = lavapipe();
        let (launch, buffer) = (counting(), device.allocate(4).unwrap());
        let other = device.allocate(4).unwrap();
        device.launch(&launch, &[&other]).unwrap();
        device.launch(&launch, &[&buffer]).unwrap();
        device.inner(&buffer).unwrap().destroy();
        let failure = device.download(&other, &mut [0; 4]).unwrap_err();
        assert_eq!(failure.code, FailureCode::Lost);
        assert!(failure.text.starts_with("device retired: "), "{failure}");
        assert!(failure.text.ends_with(" (queued: counting)"), "{failure}");
        let again = device.launch(&launch, &[&other]).unwrap_err();
        assert_eq!(again.code, FailureCode::Lost);
        assert!(device.synchronize().is_err() && device.upload(&[1]).is_err());
    }

    #[test]
    fn a_full_queue_waits_for_its_older_half() {
        let device = lavapipe();
        let (launch, buffer) = (counting(), device.allocate(4).unwrap());
        for _ in 0..3000 {
            device.launch(&launch, &[&buffer]).unwrap();
            let state = super::lock(&device.state);
            assert!(state.submitted.len() <= super::MOST_SUBMITTED);
        }
        let mut word = [0; 4];
        device.download(&buffer, &mut word).unwrap();
        assert_eq!(f32::from_le_bytes(word), 3000.0);
    }
}
