//! A call on the device: its operands may be there already, and its result stays there.
//!
//! What an operand needs goes up, one or a few launches are queued one after another, and nothing
//! waits: the result is an array that comes home when something reads it. A failure is a decline.

use crate::call::Call;
use crate::decline::{Answer, Decline};
use rung_array::Array;
use rung_base::{Element, ElementType, Result, Shape};
use rung_device::{Failure, FailureCode, Held, Layout, Residency};
use rung_kernel::fold::{Fold, Kernels as FoldKernels};
use rung_kernel::{Kernel, Launch, broadcast};
use rung_math::{Graph, Real, Unary, Width, trace_unary};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// What a kernel is made for: an operation, an element type and a template.
type Key = (&'static str, ElementType, &'static str);

/// The kernels made so far: one for each key, whatever the shapes.
#[derive(Default)]
pub struct KernelCache {
    kernels: RefCell<HashMap<Key, Arc<Kernel>>>,
    folds: RefCell<HashMap<(Fold, ElementType), FoldKernels>>,
}

impl KernelCache {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.kernels.borrow().len() + self.folds.borrow().len()
    }
}

/// A device with what is resident there, and the kernels made for it.
pub struct RoundTrip<'a> {
    residency: &'a Residency,
    cache: &'a KernelCache,
}

/// A launch and the size of its output, which the next stage reads.
pub struct Stage {
    pub launch: Launch,
    pub output_bytes: usize,
}

/// An operand and where it will lie on the device.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    array: &'a Array,
    layout: Layout,
}

impl<'a> Placed<'a> {
    /// The position of its first element in its buffer.
    pub fn offset(&self) -> usize {
        self.layout.offset
    }

    /// How a broadcasting kernel reads it.
    pub fn view(&self) -> broadcast::View<'a> {
        broadcast::View { offset: self.layout.offset, strides: self.array.strides() }
    }
}

/// The element itself, for a copy in another order.
#[derive(Clone, Copy, Default)]
struct Itself;

impl Unary for Itself {
    fn at<R: Real>(x: R) -> R {
        x
    }
}

type Outcome<T> = std::result::Result<T, Failure>;

impl<'a> RoundTrip<'a> {
    pub fn new(residency: &'a Residency, cache: &'a KernelCache) -> RoundTrip<'a> {
        RoundTrip { residency, cache }
    }

    /// The kernel of this call's operation and operand type in one template, made when it is first
    /// needed.
    pub fn kernel(
        &self,
        call: &Call,
        template: &'static str,
        make: impl FnOnce() -> Result<Kernel>,
    ) -> Result<Arc<Kernel>> {
        self.cached((call.op.name(), call.shown_type(), template), make)
    }

    fn cached(&self, key: Key, make: impl FnOnce() -> Result<Kernel>) -> Result<Arc<Kernel>> {
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

    /// A function of the elements of one to three operands of floats at the call's shape; only the
    /// elements that a broadcast operand has go up. `formula` tells an operation's kernels apart.
    pub fn pointwise(
        &self,
        call: &Call,
        formula: &'static str,
        trace: fn(Width) -> Graph,
    ) -> Result<Answer> {
        let width = match call.operands[0].element_type() {
            ElementType::F64 => Width::F64,
            ElementType::F32 => Width::F32,
            other => return Ok(Answer::Declined(Decline::Type(other))),
        };
        if call.shape.rank() > broadcast::MAX_RANK {
            return Ok(Answer::Declined(Decline::NoKernel("more than eight axes")));
        }
        let arity = call.operands.len();
        let kernel = self.kernel(call, formula, || {
            let name = format!("{} {formula}", call.op.name());
            Ok(broadcast::kernel(&name, &trace(width), arity))
        })?;
        let placed: SmallVec<[Placed; 3]> = call.operands.iter().map(|x| self.place(x)).collect();
        let views: SmallVec<[broadcast::View; 3]> = placed.iter().map(Placed::view).collect();
        let launch = broadcast::launch(&kernel, &call.shape, &views);
        match width {
            Width::F64 => self.run::<f64>(launch, &placed, call.shape.clone()),
            Width::F32 => self.run::<f32>(launch, &placed, call.shape.clone()),
        }
    }

    /// Where an operand will lie; nothing moves yet.
    pub fn place<'x>(&self, array: &'x Array) -> Placed<'x> {
        Placed { array, layout: self.residency.layout(array) }
    }

    /// `x` in row-major order: copied where it lies.
    pub fn packed(&self, x: &Array) -> Result<std::result::Result<Array, Decline>> {
        if x.is_contiguous() {
            return Ok(Ok(x.clone()));
        }
        if !self.residency.holds(x) {
            return crate::explain::packed(x).map(Ok);
        }
        let width = match x.element_type() {
            ElementType::F64 => Width::F64,
            ElementType::F32 => Width::F32,
            other => return Ok(Err(Decline::Type(other))),
        };
        let kernel = self.cached(("(copy)", x.element_type(), "broadcast"), || {
            Ok(broadcast::kernel("(copy)", &trace_unary::<Itself>(width), 1))
        })?;
        let placed = self.place(x);
        let launch = broadcast::launch(&kernel, x.shape(), &[placed.view()]);
        let answer = match width {
            Width::F64 => self.run::<f64>(launch, &[placed], x.shape().clone()),
            Width::F32 => self.run::<f32>(launch, &[placed], x.shape().clone()),
        }?;
        Ok(match answer {
            Answer::Done(array) => Ok(array),
            Answer::Declined(reason) => Err(reason),
            Answer::Several(_) | Answer::Written => Err(Decline::NoKernel("not one result")),
        })
    }

    /// Runs one launch over `operands` and one output of `shape`.
    pub fn run<O: Element>(
        &self,
        launch: Result<Launch>,
        operands: &[Placed],
        shape: Shape,
    ) -> Result<Answer> {
        let output_bytes = shape.size() * size_of::<O>();
        let stages = launch.map(|launch| vec![Stage { launch, output_bytes }]);
        self.run_stages::<O>(stages, operands, shape)
    }

    /// Runs stages, of which the first reads `operands` and each later one the output before it.
    /// What the kernel layer could not plan is a decline as well.
    pub fn run_stages<O: Element>(
        &self,
        stages: Result<Vec<Stage>>,
        operands: &[Placed],
        shape: Shape,
    ) -> Result<Answer> {
        let stages = match stages {
            Ok(stages) => stages,
            Err(e) => return Ok(Answer::Declined(Decline::Device(e.message().into()))),
        };
        let info = self.residency.device().info();
        if !info.f64 && stages.iter().any(|s| s.launch.kernel.needs_f64()) {
            return Ok(Answer::Declined(Decline::NoDouble));
        }
        let outputs = stages.iter().map(|stage| stage.output_bytes);
        let inputs = operands.iter().map(|x| self.residency.carried(x.array, x.layout));
        let largest = inputs.chain(outputs).max().unwrap_or(0) as u64;
        if largest > info.max_binding {
            let most = info.max_binding;
            return Ok(Answer::Declined(Decline::Binding { bytes: largest, most }));
        }
        match self.queue(&stages, operands) {
            Ok(Some(result)) => result.into_array(O::TYPE, shape).map(Answer::Done),
            Ok(None) => Array::zeros(O::TYPE, shape).map(Answer::Done),
            Err(failure) => Ok(Answer::Declined(decline_of(&failure))),
        }
    }

    /// The last stage's output, once everything is queued.
    fn queue(&self, stages: &[Stage], operands: &[Placed]) -> Outcome<Option<Held>> {
        let carry = |p: &Placed| self.residency.carry(p.array, p.layout);
        let mut inputs = operands.iter().map(carry).collect::<Outcome<Vec<Held>>>()?;
        let mut output = None;
        for (i, stage) in stages.iter().enumerate() {
            let held = match i + 1 == stages.len() {
                true => self.residency.result(stage.output_bytes)?,
                false => self.residency.workspace(stage.output_bytes)?,
            };
            let buffers: Vec<_> = inputs.iter().chain([&held]).map(Held::buffer).collect();
            self.residency.device().launch(&stage.launch, &buffers)?;
            // The output alone goes on to the next stage.
            inputs.clear();
            if i + 1 == stages.len() { output = Some(held) } else { inputs.push(held) }
        }
        Ok(output)
    }
}

pub(crate) fn decline_of(failure: &Failure) -> Decline {
    match failure.code {
        FailureCode::NoDouble => Decline::NoDouble,
        FailureCode::Grid => Decline::Grid,
        FailureCode::Lost => Decline::Lost(failure.text.as_str().into()),
        code => Decline::Failed(code.name(), failure.text.as_str().into()),
    }
}
