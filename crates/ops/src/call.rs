//! A checked call: operands laid out and converted, result shape and types decided, nothing
//! computed yet. Every rung gets the same `Call`, so an error is the same on every rung and the
//! result's type never depends on where it ran (spec linalg 1.3).

use crate::arguments::number_array;
use crate::generator::Generator;
use crate::record::{Family, Op};
use crate::value::Value;
use rung_array::{Array, Quantized};
use rung_base::{Bool, ElementType, Result, Shape, Strides, bf16, f16, memory, with_element};
use rung_math::philox;
use rung_math::random::{Fill, State};
use rung_math::windows::Windows;
use smallvec::SmallVec;
use std::any::Any;
use std::sync::{Mutex, MutexGuard, PoisonError};

mod types;

use types::converted_view;
pub use types::{Types, at_type, laid, lay_out, types_of, waiting};

/// What `prepare` may read and change beside its arguments.
#[derive(Default)]
pub struct Context {
    /// The three-congruential generator of the process.
    pub generator: State,
    /// The counter-based one, for what is not drawn from the other.
    pub counter: Generator,
    /// What is worth saying about the call, told to its caller before a rung is asked.
    pub remarks: Vec<Remark>,
}

/// A sentence about a call that is no error, without a full stop.
#[derive(Clone, Debug, PartialEq)]
pub enum Remark {
    Note(String),
    Warning(String),
}

impl Context {
    pub fn note(&mut self, text: impl Into<String>) {
        self.remarks.push(Remark::Note(text.into()));
    }

    pub fn warn(&mut self, text: impl Into<String>) {
        self.remarks.push(Remark::Warning(text.into()));
    }
}

/// What `prepare` gives.
pub enum Prepared {
    /// A view, a header or a number: no rung runs.
    Done(Vec<Value>),
    Call(Box<Call>),
    /// Other operations of the table, one after another.
    Steps(Steps),
    /// The last step of an assignment, after every check: the write into the array assigned to.
    Write(Write),
}

/// An operation made of others; explain shows each of them.
pub type Steps = Box<dyn FnOnce(&mut dyn Run) -> Result<Vec<Value>>>;

/// Writes into an array; it fails only where there is no memory to separate shared storage, and
/// then writes nothing.
pub type Write = Box<dyn FnOnce(&mut Array) -> Result<()>>;

/// Runs operations of the table for one that is made of them.
pub trait Run {
    /// The values of the operation of this name.
    fn call(&mut self, name: &str, values: Vec<Value>) -> Result<Vec<Value>>;

    /// The values of an operation that may not be the table's.
    fn operate(&mut self, op: &'static Op, values: Vec<Value>) -> Result<Vec<Value>>;

    /// The array that an operation of one result gives; a number counts as one of rank 0.
    fn array(&mut self, name: &str, values: Vec<Value>) -> Result<Array> {
        match self.call(name, values)?.into_iter().next() {
            Some(Value::Array(a)) => Ok(a),
            Some(Value::Number(n)) => number_array(n),
            _ => {
                let text = format!("{name} gave no array");
                Err(rung_base::Error::new(rung_base::ErrorKind::Internal, text))
            }
        }
    }
}

/// What the rungs write: most operations one array.
pub type Outputs = SmallVec<[Array; 1]>;

/// A result after the first.
pub struct Output {
    pub shape: Shape,
    /// The element type in which the rungs write.
    pub raw: ElementType,
    /// The element type to which it is narrowed, once.
    pub result: ElementType,
    pub to_number: bool,
}

/// The arrays that a call changes where they stand. They are the caller's own while it runs, so that
/// storage which nobody else shares is written in place.
#[derive(Default)]
pub struct Targets {
    arrays: Mutex<Outputs>,
    /// As they were, where somebody will compare.
    before: Option<Outputs>,
}

/// One checked call.
pub struct Call {
    pub op: &'static Op,
    /// At the type in which the rungs compute, but for what is `wanted`; broadcast to a common shape
    /// where the family says so.
    pub operands: SmallVec<[Array; 3]>,
    /// The types at which the operands are computed with, where one is on a device and converted
    /// there; else empty.
    pub wanted: SmallVec<[ElementType; 3]>,
    /// The shapes in which the operands were given, for reports.
    pub given: SmallVec<[Shape; 3]>,
    /// The shape of the result.
    pub shape: Shape,
    /// The element type in which the rungs write.
    pub raw: ElementType,
    /// The element type to which the result is narrowed, once.
    pub result: ElementType,
    /// A result of rank 0 that comes back as a number.
    pub to_number: bool,
    /// The results after the first.
    pub more: Vec<Output>,
    /// What an operation in place changes.
    pub targets: Targets,
    pub detail: Detail,
    pub family: Family,
    /// The call's work in the family's unit.
    pub units: u64,
}

/// What a family needs beside operands and shapes.
pub enum Detail {
    None,
    /// The axes of the only operand that are folded, ascending.
    Fold {
        axes: SmallVec<[usize; 4]>,
    },
    /// The same, with a variance's ddof or a norm's order.
    Statistic {
        axes: SmallVec<[usize; 4]>,
        parameter: i64,
    },
    /// The axis along which slices are worked on whole, and the numbers that go with them.
    Rowwise {
        axis: usize,
        numbers: SmallVec<[f64; 2]>,
    },
    /// How near two numbers must be.
    Close(rung_math::Close),
    /// The word that chose among formulas.
    Choice(&'static str),
    Product(Product),
    /// Positions along the first axis, all in range.
    Rows(Vec<usize>),
    /// Positions along an axis, all in range.
    Take {
        axis: usize,
        positions: Vec<usize>,
    },
    /// Which indices of an axis are kept.
    Mask {
        axis: usize,
        mask: Vec<bool>,
    },
    /// The slices along an axis, the largest first where it matters.
    Slices {
        axis: usize,
        descending: bool,
    },
    /// Places after equal elements instead of before them; or edges of one width.
    Flag(bool),
    /// Values before the first and after the last sample.
    Outside {
        left: f64,
        right: f64,
    },
    /// The distance between samples.
    Spacing(f64),
    /// Each operand is copied into a box of a grid, which the boxes cover. The grid has the
    /// result's elements in their order, and may have more axes.
    Parts {
        grid: Shape,
        /// The index of each box's first element.
        starts: Vec<SmallVec<[usize; 4]>>,
    },
    /// The elements (i, j) of the last two axes that are kept: from diagonal `k` on upwards, or
    /// up to it.
    Triangle {
        upper: bool,
        k: i64,
    },
    Fill {
        state: State,
        fill: Fill,
    },
    /// The matrix of a product whose vector is the operand.
    Quantized(Quantized),
    Counter {
        state: philox::State,
        fill: philox::Fill,
    },
    /// A step over arrays in place.
    Update(crate::update::Step),
    /// Windows over planes.
    Windows(Windows),
    /// Elements of the operand at these strides from an offset.
    Strided {
        strides: Strides,
        offset: usize,
    },
    Matrices(Box<crate::matrices::Matrices>),
    Transform(Box<crate::transform::Transform>),
    /// What a solver's own rungs need.
    Solver(Box<dyn Any + Send + Sync>),
    /// start + i * step, and the last element where it is given.
    Sequence {
        start: f64,
        step: f64,
        last: Option<f64>,
    },
}

/// A stack of products: each a (rows, inner) times b (inner, columns). The operands have the axes
/// of the stack, `batch` slabs in all, and then these two, with stride 0 along what they do not
/// have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    pub batch: usize,
    pub rows: usize,
    pub columns: usize,
    pub inner: usize,
    pub form: Form,
}

/// Which order of additions a product has (DESIGN 3.4 and 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Blocks of 512 at the operand width.
    Cells,
    /// A fold in f64 for each result element: matrix times vector, vector times matrix, vectors.
    Folds,
}

impl Call {
    /// A call of one operand whose result has its shape and type.
    pub fn like(op: &'static Op, x: Array, result: ElementType, family: Family) -> Call {
        let (shape, raw, units) = (x.shape().clone(), x.element_type(), x.size() as u64);
        Call {
            op,
            given: SmallVec::from_iter([shape.clone()]),
            operands: SmallVec::from_iter([x]),
            shape,
            raw,
            result,
            to_number: false,
            wanted: Default::default(),
            more: Vec::new(),
            targets: Default::default(),
            detail: Detail::None,
            family,
            units,
        }
    }

    /// A call that changes `target`, and whatever else the record writes, where it stands.
    pub fn changing(op: &'static Op, target: &Array, read: &[Array], detail: Detail) -> Call {
        let (shape, t) = (target.shape().clone(), target.element_type());
        let given = std::iter::once(target).chain(read).map(|a| a.shape().clone()).collect();
        Call {
            op,
            given,
            operands: read.iter().cloned().collect(),
            units: shape.size() as u64,
            shape,
            raw: t,
            result: t,
            to_number: false,
            wanted: Default::default(),
            more: Vec::new(),
            targets: Targets::default(),
            detail,
            family: Family::Wide,
        }
    }

    /// The type at which an operand is computed with.
    pub fn wanted(&self, operand: usize) -> ElementType {
        let own = || self.operands[operand].element_type();
        self.wanted.get(operand).copied().unwrap_or_else(own)
    }

    /// With operands that are computed with at these types.
    pub fn at_types(mut self, types: &[ElementType]) -> Call {
        if self.operands.iter().zip(types).any(|(x, t)| x.element_type() != *t) {
            self.wanted = SmallVec::from_slice(types);
        }
        self
    }

    /// Brings the operands home and converts them, for the rungs of the processor.
    pub fn settle(&mut self) -> Result<()> {
        for (x, t) in self.operands.iter_mut().zip(std::mem::take(&mut self.wanted)) {
            if x.element_type() != t {
                *x = converted_view(x, t)?;
            }
        }
        self.operands.iter().try_for_each(Array::home)
    }

    /// Takes the arrays that the call changes; `judged`: the definition may run on them as well.
    pub fn hold(&mut self, arrays: Outputs, judged: bool) {
        self.targets.before = judged.then(|| arrays.clone());
        self.targets.arrays = Mutex::new(arrays);
    }

    /// Gives the arrays back: changed, or as they were.
    pub fn release(self, changed: bool) -> Outputs {
        match self.targets.before {
            Some(before) if !changed => before,
            _ => self.targets.arrays.into_inner().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Runs `f` on the arrays that the call changes.
    pub fn change<R>(&self, f: impl FnOnce(&mut [Array]) -> R) -> R {
        f(&mut self.own_arrays())
    }

    fn own_arrays(&self) -> MutexGuard<'_, Outputs> {
        self.targets.arrays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has these take the place of the arrays that the call changes, in order.
    pub(crate) fn replace(&self, after: Vec<Array>) -> crate::decline::Answer {
        self.change(|arrays| {
            arrays.iter_mut().zip(after).for_each(|(array, after)| *array = after);
        });
        crate::decline::Answer::Written
    }

    /// The arrays that the call changes, as they are now.
    pub fn changed(&self) -> Outputs {
        self.own_arrays().clone()
    }

    /// Runs `f` with the arrays as they were before the call, and leaves them as they are now.
    pub fn anew<R>(&self, f: impl FnOnce() -> R) -> R {
        let before = self.targets.before.clone().unwrap_or_default();
        let now = std::mem::replace(&mut *self.own_arrays(), before);
        let outcome = f();
        *self.own_arrays() = now;
        outcome
    }

    /// The shapes that explain shows: those of the arguments, else of the result.
    pub fn shown_shapes(&self) -> SmallVec<[Shape; 3]> {
        match self.given.is_empty() {
            true => SmallVec::from_iter([self.shape.clone()]),
            false => self.given.clone(),
        }
    }

    /// The same as text: `(4 256) (256)`.
    pub fn shapes(&self) -> String {
        joined(&self.shown_shapes())
    }

    /// The element type that explain shows: that of the first operand, else of the result.
    pub fn shown_type(&self) -> ElementType {
        self.operands.first().map_or(self.result, Array::element_type)
    }

    /// Narrows what a rung wrote, once, and makes numbers of what is asked as such.
    pub fn finish(&self, outputs: Outputs) -> Result<Vec<Value>> {
        let first = (self.result, self.to_number);
        let more = self.more.iter().map(|output| (output.result, output.to_number));
        let wanted = std::iter::once(first).chain(more);
        if let (true, Some(answer)) = (self.op.predicate, outputs.first()) {
            answer.home()?;
            let holds = answer.numbers().next().is_some_and(|n| n.to_f64() != 0.0);
            return Ok(vec![Value::flag(holds)]);
        }
        outputs.into_iter().zip(wanted).map(|(raw, (t, number))| finish(raw, t, number)).collect()
    }
}

/// An array of one number: what a predicate writes.
pub(crate) fn answer(holds: bool) -> Result<Array> {
    Array::build::<rung_base::Bool>(Shape::scalar(), |out| out.fill(holds.into()))
}

fn finish(raw: Array, result: ElementType, to_number: bool) -> Result<Value> {
    let narrowed = narrow(raw, result)?;
    if !to_number {
        return Ok(Value::Array(narrowed));
    }
    narrowed.home()?;
    let number = narrowed.numbers().next().map(Value::Number);
    number.ok_or_else(|| {
        rung_base::Error::new(rung_base::ErrorKind::Internal, "a number without an element")
    })
}

/// Shapes as text: `(4 256) (256)`.
pub fn joined(shapes: &[Shape]) -> String {
    shapes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// `a` at `to`: floats round once, integers wrap.
pub fn narrow(a: Array, to: ElementType) -> Result<Array> {
    let from = a.element_type();
    if from == to {
        return Ok(a);
    }
    a.home()?;
    match (from, to) {
        (ElementType::F64, ElementType::F32) => each(&a, |x: f64| x as f32),
        (ElementType::F32, ElementType::BF16) => each(&a, |x: f32| bf16::from_f32(x)),
        (ElementType::F32, ElementType::F16) => each(&a, |x: f32| f16::from_f32(x)),
        (ElementType::I64, ElementType::I32) => each(&a, |x: i64| x as i32),
        (ElementType::I64, ElementType::U8) => each(&a, |x: i64| x as u8),
        (ElementType::I64, ElementType::Bool) => each(&a, |x: i64| Bool::from(x != 0)),
        _ => a.convert(to),
    }
}

fn each<S: rung_base::Element, T: rung_base::Element>(
    a: &Array,
    f: impl Fn(S) -> T,
) -> Result<Array> {
    let view = a.view::<S>();
    Array::build::<T>(a.shape().clone(), |out| match view.contiguous() {
        Some(elements) => out.iter_mut().zip(elements).for_each(|(o, &x)| *o = f(x)),
        None => out.iter_mut().zip(view.iter()).for_each(|(o, x)| *o = f(x)),
    })
}

/// As many zeros as the call's result has cells.
pub(crate) fn cells<T: Clone + Default>(call: &Call) -> Result<Vec<T>> {
    memory::filled(call.shape.size(), T::default(), || format!("a result of shape {}", call.shape))
}

/// The bytes of the operands and of all results.
pub(crate) fn bytes_of_call(call: &Call) -> u64 {
    bytes_of(&call.operands).saturating_add(bytes_of_results(call))
}

/// The bytes of all results.
pub(crate) fn bytes_of_results(call: &Call) -> u64 {
    let bytes =
        |shape: &Shape, t: ElementType| (shape.size() as u64).saturating_mul(t.size() as u64);
    let results = std::iter::once(bytes(&call.shape, call.raw));
    let more = call.more.iter().map(|output| bytes(&output.shape, output.raw));
    results.chain(more).fold(0, u64::saturating_add)
}

/// The elements of `a` in row-major order as `T`, for the plain loops.
pub fn elements<T: rung_base::Element>(a: &Array) -> Result<Vec<T>> {
    // A broadcast view has any size.
    let wanted = || format!("the elements of an array of shape {}", a.shape());
    let mut elements = memory::room(a.size(), wanted)?;
    a.home()?;
    elements.extend(a.view::<T>().iter());
    Ok(elements)
}

/// The width of a traced kernel for this call's operands.
pub(crate) fn width_of(call: &Call) -> rung_math::Width {
    match call.shown_type() {
        ElementType::F64 => rung_math::Width::F64,
        _ => rung_math::Width::F32,
    }
}

/// An operand as the lanes read it.
pub(crate) fn lanes_operand<T: rung_base::Element>(x: &Array) -> rung_lanes::Operand<'_, T> {
    rung_lanes::Operand::new(x.view::<T>().data, x.offset(), x.strides())
}

/// The bytes of the operands and of the result, for the costs.
pub fn bytes_of(arrays: &[Array]) -> u64 {
    let bytes = |a: &Array| (a.size() as u64).saturating_mul(a.element_type().size() as u64);
    arrays.iter().map(bytes).fold(0, u64::saturating_add)
}

/// Runs `$f32` for f32 operands, `$f64` for f64 ones and `$i64` for integers.
macro_rules! at_compute_type {
    ($call:expr, $T:ident => $float:expr, $integer:expr) => {
        match $call.operands[0].element_type() {
            rung_base::ElementType::F32 => {
                type $T = f32;
                $float
            }
            rung_base::ElementType::F64 => {
                type $T = f64;
                $float
            }
            _ => $integer,
        }
    };
}
pub(crate) use at_compute_type;

/// Runs the body with the float type of this element type.
macro_rules! at_float_type {
    ($element_type:expr, $T:ident => $body:expr) => {
        match $element_type {
            rung_base::ElementType::F32 => {
                type $T = f32;
                $body
            }
            rung_base::ElementType::BF16 => {
                type $T = rung_base::bf16;
                $body
            }
            rung_base::ElementType::F16 => {
                type $T = rung_base::f16;
                $body
            }
            _ => {
                type $T = f64;
                $body
            }
        }
    };
}
pub(crate) use at_float_type;

/// A float kernel got integers: `prepare` decides types, so this is our own mistake.
pub(crate) fn integers_not_taken(call: &Call) -> Result<Array> {
    let text = format!("{} was prepared for integers", call.op.name());
    Err(rung_base::Error::new(rung_base::ErrorKind::Internal, text))
}

/// True when two arrays have the same shape, type and bits, any NaN counting as any other.
/// The first difference otherwise.
pub fn first_difference(a: &Array, b: &Array) -> Option<usize> {
    with_element!(a.element_type(), T => {
        let (x, y) = (a.view::<T>(), b.view::<T>());
        x.iter().zip(y.iter()).position(|(x, y)| {
            // x != x only for NaN, whatever the type.
            #[allow(clippy::eq_op)]
            let both_nan = x != x && y != y;
            !both_nan && bytes(&x) != bytes(&y)
        })
    })
}

fn bytes<T: rung_base::Element>(x: &T) -> &[u8] {
    bytemuck::bytes_of(x)
}
