//! A call on the device whose operands are carried there and whose result is wanted here.
//!
//! Operands go up, one or a few launches run one after another, the result comes down in one
//! wait. What was moved is counted for explain; a failure is a decline.

use crate::call::Call;
use crate::decline::{Answer, Decline};
use rung_array::Array;
use rung_base::{Element, ElementType, Result, Shape};
use rung_device::{Device, Failure, FailureCode};
use rung_kernel::fold::{Fold, Kernels as FoldKernels};
use rung_kernel::{Kernel, Launch};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

/// The kernels made so far: one for each operation and element type, whatever the shapes.
#[derive(Default)]
pub struct KernelCache {
    kernels: RefCell<HashMap<(&'static str, ElementType), Arc<Kernel>>>,
    folds: RefCell<HashMap<(Fold, ElementType), FoldKernels>>,
}

/// A device, the kernels made for it, and the bytes that went up to it and came down.
pub struct RoundTrip<'a> {
    device: &'a dyn Device,
    cache: &'a KernelCache,
    up: Cell<u64>,
    down: Cell<u64>,
}

/// A launch and the size of its output, which the next stage reads.
pub struct Stage {
    pub launch: Launch,
    pub output_bytes: usize,
}

impl<'a> RoundTrip<'a> {
    pub fn new(device: &'a dyn Device, cache: &'a KernelCache) -> RoundTrip<'a> {
        RoundTrip { device, cache, up: Cell::new(0), down: Cell::new(0) }
    }

    /// Bytes up, bytes down.
    pub fn moved(&self) -> (u64, u64) {
        (self.up.get(), self.down.get())
    }

    /// The kernel of this call's operation and operand type, made when it is first needed.
    pub fn kernel(
        &self,
        call: &Call,
        make: impl FnOnce() -> Result<Kernel>,
    ) -> Result<Arc<Kernel>> {
        let key = (call.op.name(), call.shown_type());
        if let Some(kernel) = self.cache.kernels.borrow().get(&key) {
            return Ok(kernel.clone());
        }
        let kernel = Arc::new(make()?);
        self.cache.kernels.borrow_mut().insert(key, kernel.clone());
        Ok(kernel)
    }

    /// The kernels of a fold, made when they are first needed.
    pub fn fold_kernels(&self, fold: Fold, element: ElementType) -> FoldKernels {
        let mut folds = self.cache.folds.borrow_mut();
        folds.entry((fold, element)).or_insert_with(|| FoldKernels::new(fold, element)).clone()
    }

    /// Runs one launch over `inputs` and one output of `shape`.
    pub fn run<I: Element, O: Element>(
        &self,
        launch: Result<Launch>,
        inputs: &[&[I]],
        shape: Shape,
    ) -> Result<Answer> {
        let output_bytes = shape.size() * size_of::<O>();
        let stages = launch.map(|launch| vec![Stage { launch, output_bytes }]);
        self.run_stages::<I, O>(stages, inputs, shape)
    }

    /// Runs stages, of which the first reads `inputs` and each later one the output before it.
    /// What the kernel layer could not plan is a decline as well.
    pub fn run_stages<I: Element, O: Element>(
        &self,
        stages: Result<Vec<Stage>>,
        inputs: &[&[I]],
        shape: Shape,
    ) -> Result<Answer> {
        let stages = match stages {
            Ok(stages) => stages,
            Err(e) => return Ok(Answer::Declined(Decline::Device(e.message().into()))),
        };
        let info = self.device.info();
        if !info.f64 && stages.iter().any(|s| s.launch.kernel.needs_f64()) {
            return Ok(Answer::Declined(Decline::NoDouble));
        }
        let mut failure = None;
        let result = Array::build::<O>(shape, |out| {
            failure = self.carry(&stages, inputs, bytemuck::cast_slice_mut(out)).err();
        })?;
        Ok(match failure {
            None => Answer::Done(result),
            Some(failure) => Answer::Declined(decline_of(&failure)),
        })
    }

    fn carry<I: Element>(
        &self,
        stages: &[Stage],
        inputs: &[&[I]],
        out: &mut [u8],
    ) -> std::result::Result<(), Failure> {
        let mut buffers = Vec::with_capacity(inputs.len() + 1);
        for input in inputs {
            buffers.push(self.device.upload(bytemuck::cast_slice(input))?);
            self.up.set(self.up.get() + size_of_val(*input) as u64);
        }
        for stage in stages {
            buffers.push(self.device.allocate(stage.output_bytes)?);
            self.device.launch(&stage.launch, &buffers.iter().collect::<Vec<_>>())?;
            // The output alone goes on to the next stage.
            buffers.drain(..buffers.len() - 1);
        }
        if let (Some(last), false) = (buffers.last(), out.is_empty()) {
            self.device.download(last, out)?;
            self.down.set(self.down.get() + out.len() as u64);
        }
        Ok(())
    }
}

fn decline_of(failure: &Failure) -> Decline {
    match failure.code {
        FailureCode::NoDouble => Decline::NoDouble,
        FailureCode::Grid => Decline::Grid,
        FailureCode::Lost => Decline::Lost(failure.text.as_str().into()),
        _ => Decline::Device(failure.text.as_str().into()),
    }
}
