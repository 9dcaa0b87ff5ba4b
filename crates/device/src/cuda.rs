//! The NVIDIA binding: the driver's own interface, from `libcuda.so.1` alone. Kernels are PTX text, which
//! the driver compiles and caches; buffers come from its memory pool where it has one.
//!
//! Launches, fills and downloads go in one stream, uploads into fresh buffers in a second one, so that
//! they overlap what is computed; a launch waits for its own operands only. Nothing waits after a launch.
//! `driver` binds the functions, `context` owns what was opened, `open` finds a card.

mod context;
mod driver;
mod open;
mod queue;
mod transfer;

pub(crate) use open::{ABSENT, Card, HIDDEN, cards, hidden, is_broken, no_such, open, why_none};

use crate::device::{Buffer, Device, Failure, FailureCode, Info, Outcome, check_launch, lock};
use crate::self_test::Unsettled;
use context::{Context, Memory};
use driver::{Address, ERROR_LOG, ERROR_LOG_BYTES, Handle};
use queue::Queue;
use rung_kernel::kernel::PARAMETER_WORDS;
use rung_kernel::{ENTRY_POINT, Kernel, Launch, compile_ptx};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard};
use transfer::Staging;

/// Bytes for what the driver's compiler says.
const LOG: usize = 4096;

/// A card that passed the probe.
pub(crate) struct CudaDevice {
    pub info: Info,
    context: Arc<Context>,
    state: Mutex<State>,
}

/// What calls from several threads share.
#[derive(Default)]
struct State {
    functions: HashMap<String, Function>,
    staging: Staging,
    queue: Queue,
    /// Why the device is gone.
    retired: Option<String>,
}

/// A compiled kernel.
struct Function {
    kernel: Arc<Kernel>,
    function: Handle,
    module: Handle,
    /// Groups along the first axis beyond which more do no good: of a kernel that walks its elements.
    most_groups: u32,
}

// SAFETY: the handles are used only under the state's lock, with their context current.
unsafe impl Send for Function {}

impl CudaDevice {
    /// The state, where the device can still be used by this process.
    fn enter(&self) -> Outcome<MutexGuard<'_, State>> {
        self.context.is_ours()?;
        let state = lock(&self.state);
        if let Some(text) = &state.retired {
            return Err(Failure::retired(text));
        }
        self.context.enter()?;
        Ok(state)
    }

    /// After a failure from which the driver does not recover, nothing is asked of it again.
    fn judged<T>(&self, state: &mut State, outcome: Outcome<T>) -> Outcome<T> {
        match outcome {
            Err(failure) if failure.code == FailureCode::Lost => {
                let queued =
                    state.queue.last.take().map(|kernel| format!(" (queued: {})", kernel.key));
                let text = format!("{}{}", failure.text, queued.unwrap_or_default());
                state.retired = Some(text.clone());
                self.context.give_up();
                Err(Failure::retired(text))
            }
            other => other,
        }
    }

    fn memory<'a>(&self, buffer: &'a Buffer) -> Outcome<&'a Memory> {
        let memory: Option<&Memory> = buffer.inner.downcast_ref();
        memory
            .filter(|memory| memory.is_of(&self.context))
            .ok_or_else(|| Failure::new(FailureCode::Driver, "buffer of another device"))
    }

    /// Where a buffer begins, for what follows in the stream of work.
    fn settled(&self, buffer: &Buffer) -> Outcome<Address> {
        let memory = self.memory(buffer)?;
        memory.settle()?;
        Ok(memory.address + buffer.start as Address)
    }

    /// The compiled kernel; compiled at its first launch.
    fn function(&self, state: &mut State, kernel: &Arc<Kernel>) -> Outcome<(Handle, u32)> {
        if let Some(known) = state.functions.get(&kernel.key) {
            if Arc::ptr_eq(&known.kernel, kernel) || *known.kernel == **kernel {
                return Ok((known.function, known.most_groups));
            }
            let text = format!("two kernels are called {}", kernel.key);
            return Err(Failure::new(FailureCode::Compile, text));
        }
        let text = compile_ptx(kernel, &self.info.variants)
            .map_err(|e| Failure::new(FailureCode::Compile, e.message().to_string()))?;
        let made = self.load(kernel, text)?;
        let known = (made.function, made.most_groups);
        state.functions.insert(kernel.key.clone(), made);
        Ok(known)
    }

    /// How many groups of a kernel the card runs at a time, where the kernel walks its elements with
    /// the stride of the launch: each of these groups then reads its parameters once and goes on, where
    /// more groups would follow each other. Without limit where the driver does not tell.
    fn most_groups(&self, kernel: &Kernel, function: Handle) -> u32 {
        let Some(processors) = self.info.multiprocessors.filter(|_| kernel.walks()) else {
            return u32::MAX;
        };
        let threads: u32 = kernel.workgroup.iter().product();
        let mut groups = 0;
        // SAFETY: the context is current, the function its own; the driver writes one number.
        let told =
            unsafe { self.context.driver.occupancy(&mut groups, function, threads as i32, 0) };
        match (told, u32::try_from(groups)) {
            (Ok(()), Ok(groups @ 1..)) => groups.saturating_mul(processors),
            _ => u32::MAX,
        }
    }

    /// Hands a text to the driver's compiler; a refusal has the compiler's own words.
    fn load(&self, kernel: &Arc<Kernel>, text: String) -> Outcome<Function> {
        let refused = |text: &str| {
            Failure::new(FailureCode::Compile, format!("kernel {}: {text}", kernel.key))
        };
        let text = CString::new(text).map_err(|_| refused("a zero in its text"))?;
        let mut log = vec![0u8; LOG];
        let mut options = [ERROR_LOG, ERROR_LOG_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), LOG as *mut c_void];
        let mut module = null_mut();
        // SAFETY: the context is current; the text ends in a zero, the two options are an address and
        // the number of bytes there, and the driver writes one handle.
        let loaded = unsafe {
            let (count, options) = (2, options.as_mut_ptr());
            let image = text.as_ptr().cast();
            self.context.driver.module_load(&mut module, image, count, options, values.as_mut_ptr())
        };
        loaded.map_err(Failure::from).map_err(|failure| match failure.code {
            FailureCode::Compile => refused(&with_words(&failure.text, &log)),
            _ => failure,
        })?;
        self.entry(kernel, module)
    }

    /// The function of a module that was loaded just now.
    fn entry(&self, kernel: &Arc<Kernel>, module: Handle) -> Outcome<Function> {
        let mut function = null_mut();
        let name = CString::new(ENTRY_POINT).unwrap_or_default();
        // SAFETY: the module is this context's; the name ends in a zero.
        let found =
            unsafe { self.context.driver.module_function(&mut function, module, name.as_ptr()) };
        let made = Function { kernel: kernel.clone(), function, module, most_groups: u32::MAX };
        match found {
            Ok(()) => Ok(Function { most_groups: self.most_groups(kernel, function), ..made }),
            Err(error) => {
                self.unload(&made);
                Err(error.into())
            }
        }
    }

    fn unload(&self, function: &Function) {
        // SAFETY: the context is current, the module its own, and no launch of it is ahead.
        let _ = unsafe { self.context.driver.module_unload(function.module) };
    }

    fn forget(&self) {
        if self.context.enter().is_ok() {
            let functions = std::mem::take(&mut lock(&self.state).functions);
            functions.values().for_each(|function| self.unload(function));
        }
    }

    fn queue(&self, state: &mut State, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()> {
        let (function, most_groups) = self.function(state, &launch.kernel)?;
        // The addresses, then the bytes of each.
        let mut numbers = Vec::with_capacity(2 * buffers.len());
        for buffer in buffers {
            numbers.push(self.settled(buffer)?);
        }
        // A kernel sees whole words, as the memory is.
        numbers.extend(buffers.iter().map(|b| (b.bytes() as u64).next_multiple_of(4)));
        let mut words = [0u32; PARAMETER_WORDS];
        words[..launch.parameters.len()].copy_from_slice(&launch.parameters);
        let mut arguments: Vec<*mut c_void> =
            numbers.iter_mut().map(|number| (&raw mut *number).cast()).collect();
        arguments.push(words.as_mut_ptr().cast());
        let ([x, y, z], [i, j, k]) = (launch.groups, launch.kernel.workgroup);
        let x = x.min(most_groups);
        state.queue.last = Some(launch.kernel.clone());
        // SAFETY: the context is current, the function's; it takes an address and a number of
        // bytes for each of its buffers and then the words, as `ptx` wrote it, and the driver copies them before it returns. The
        // buffers are memory of this context, and a kernel does not reach beyond them.
        unsafe {
            let (work, arguments) = (self.context.work, arguments.as_mut_ptr());
            self.context.driver.launch(function, x, y, z, i, j, k, 0, work, arguments, null_mut())
        }?;
        state.queue.bound(&self.context)
    }
}

/// A failure's text with the first line of what the driver's compiler said.
fn with_words(text: &str, log: &[u8]) -> String {
    let said = String::from_utf8_lossy(log);
    match said.trim_end_matches('\0').lines().next().unwrap_or_default().trim() {
        "" => text.to_string(),
        said => format!("{text}: {said}"),
    }
}

impl Drop for CudaDevice {
    fn drop(&mut self) {
        self.forget();
    }
}

impl Unsettled for CudaDevice {
    fn info_mut(&mut self) -> &mut Info {
        &mut self.info
    }

    fn forget_kernels(&mut self) {
        self.forget();
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &Info {
        &self.info
    }

    fn allocate(&self, bytes: usize) -> Outcome<Buffer> {
        let mut state = self.enter()?;
        let outcome = self.zeros(bytes);
        self.judged(&mut state, outcome).map(|memory| Buffer::new(Arc::new(memory), bytes))
    }

    fn upload(&self, bytes: &[u8]) -> Outcome<Buffer> {
        let mut state = self.enter()?;
        let outcome = self.fresh(&mut state.staging, bytes);
        self.judged(&mut state, outcome).map(|memory| Buffer::new(Arc::new(memory), bytes.len()))
    }

    fn write(&self, buffer: &Buffer, bytes: &[u8]) -> Outcome<()> {
        let mut state = self.enter()?;
        if bytes.len() > buffer.bytes() {
            return Err(Failure::new(FailureCode::Driver, "write beyond the buffer"));
        }
        let outcome = self
            .settled(buffer)
            .and_then(|to| self.up(&mut state.staging, to, bytes, self.context.work));
        self.judged(&mut state, outcome)
    }

    fn free_memory(&self) -> Option<u64> {
        self.context.free_memory()
    }

    fn trim(&self) {
        self.context.trim();
    }

    fn launch(&self, launch: &Launch, buffers: &[&Buffer]) -> Outcome<()> {
        check_launch(&self.info, launch, buffers)?;
        if launch.groups.contains(&0) {
            return Ok(());
        }
        let mut state = self.enter()?;
        let outcome = self.queue(&mut state, launch, buffers);
        self.judged(&mut state, outcome)
    }

    fn download(&self, buffer: &Buffer, into: &mut [u8]) -> Outcome<()> {
        let mut state = self.enter()?;
        if into.len() > buffer.bytes() {
            return Err(Failure::new(FailureCode::Driver, "read beyond the buffer"));
        }
        let outcome =
            self.settled(buffer).and_then(|from| self.down(&mut state.staging, from, into));
        self.judged(&mut state, outcome)
    }

    fn synchronize(&self) -> Outcome<()> {
        let mut state = self.enter()?;
        let outcome = self.context.drained();
        self.judged(&mut state, outcome)
    }
}
