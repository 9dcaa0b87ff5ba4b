//! Definitions at every element of operands on the device, and copies: kernels of the broadcasting
//! template for whatever element types the operands and the result have.

use super::{Bind, Made, Placed, Pointwise, RoundTrip, Work};
use crate::call::Call;
use crate::decline::{Answer, Decline};
use rung_array::{Array, Number};
use rung_base::{ElementType, Result, Shape};
use rung_kernel::broadcast::{self, Read, Signature, View};
use rung_kernel::cells::{Computed, number_words};
use rung_kernel::{Kernel, Launch};
use rung_math::{
    Choose, Graph, Itself, Width, trace_ternary, trace_unary, trace_whole_ternary,
    trace_whole_unary,
};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// The recordings of a definition, by what it computes in.
#[derive(Clone, Copy)]
pub struct Traces {
    floats: Option<fn(Width) -> Graph>,
    wholes: Option<fn() -> Graph>,
}

impl Traces {
    /// Of floats alone.
    pub fn floats(trace: fn(Width) -> Graph) -> Traces {
        Traces { floats: Some(trace), wholes: None }
    }

    /// Of integers alone.
    pub fn wholes(trace: fn() -> Graph) -> Traces {
        Traces { floats: None, wholes: Some(trace) }
    }

    /// Of floats and of integers.
    pub fn both(floats: fn(Width) -> Graph, wholes: fn() -> Graph) -> Traces {
        Traces { floats: Some(floats), wholes: Some(wholes) }
    }

    fn at(&self, computed: Computed) -> Option<Graph> {
        match computed {
            Computed::Whole => self.wholes.map(|trace| trace()),
            Computed::Single => self.floats.map(|trace| trace(Width::F32)),
            Computed::Double => self.floats.map(|trace| trace(Width::F64)),
        }
    }
}

/// The element itself.
const COPY: Traces =
    Traces { floats: Some(trace_unary::<Itself>), wholes: Some(trace_whole_unary::<Itself>) };

/// One of two elements.
const CHOOSE: Traces =
    Traces { floats: Some(trace_ternary::<Choose>), wholes: Some(trace_whole_ternary::<Choose>) };

/// An array that is copied into a box of a result.
pub struct Piece<'x> {
    pub array: &'x Array,
    /// Of the result, the element at which the box begins.
    pub first: usize,
}

/// An operand as a kernel gets it.
pub(crate) enum Given<'x> {
    Array(Placed<'x>),
    /// The bits of a number.
    Number(u64),
}

impl RoundTrip<'_> {
    /// A function of the elements of a few operands at the call's shape, in what holds the first of
    /// them; only the elements that a broadcast operand has go up. `formula` tells an operation's
    /// kernels apart. The result is narrowed where it is computed.
    pub fn pointwise(&self, call: &Call, formula: &'static str, traces: Traces) -> Result<Answer> {
        self.pointwise_in(call, formula, traces, Computed::holding(call.wanted(0)))
    }

    /// The same in what holds another type.
    pub fn pointwise_in(
        &self,
        call: &Call,
        formula: &'static str,
        traces: Traces,
        computed: Computed,
    ) -> Result<Answer> {
        if call.shape.rank() > broadcast::MAX_RANK {
            return Ok(Answer::Declined(Decline::NoKernel("more than eight axes")));
        }
        let wanted: SmallVec<[ElementType; 4]> =
            (0..call.operands.len()).map(|i| call.wanted(i)).collect();
        let name = Cow::Borrowed(call.op.name());
        let graph = || traces.at(computed);
        let of = Formula { name, formula, computed, wanted: &wanted, writes: call.result };
        self.over(of, graph, &call.operands, call.shape.clone())
    }

    /// A definition over operands that all have this shape.
    pub(crate) fn over(
        &self,
        of: Formula,
        graph: impl FnOnce() -> Option<Graph>,
        operands: &[Array],
        shape: Shape,
    ) -> Result<Answer> {
        let given = self.given(operands, of.wanted, of.computed);
        let reads = given.iter().zip(of.wanted).map(|(x, &wanted)| match x {
            Given::Array(x) => Read::Array { stored: x.array.element_type(), wanted },
            Given::Number(_) => Read::Number,
        });
        let signature = Signature { reads: reads.collect(), writes: of.writes, placed: false };
        let key = (of.name, of.formula, of.computed, signature);
        let kernel = match self.pointwise_kernel(key, graph) {
            Ok(Some(kernel)) => kernel,
            Ok(None) => return Ok(Answer::Declined(Decline::Type(of.wanted[0]))),
            Err(e) => return Ok(Answer::Declined(Decline::Device(e.message().into()))),
        };
        let mut numbers = Vec::new();
        let mut placed: SmallVec<[Placed; 4]> = SmallVec::new();
        for x in given {
            match x {
                Given::Array(x) => placed.push(x),
                Given::Number(bits) => numbers.extend(number_words(bits, of.computed)),
            }
        }
        if let Some(work) = self.in_pieces(&kernel, &shape, &placed, &numbers, of.writes)? {
            return self.run_work(Ok(work), &placed);
        }
        let views: SmallVec<[View; 4]> = placed.iter().map(Placed::view).collect();
        let launch = broadcast::launch_of(&kernel, &shape, &views, &numbers);
        let work = launch.map(|launch| Work::one(launch, placed.len(), of.writes, shape));
        self.run_work(work, &placed)
    }

    /// The operands: arrays, and the bits of those that are one number here.
    pub(crate) fn given<'x>(
        &self,
        operands: &'x [Array],
        wanted: &[ElementType],
        computed: Computed,
    ) -> SmallVec<[Given<'x>; 4]> {
        let each = operands.iter().zip(wanted);
        each.map(|(x, &t)| {
            let here = x.is_home() && !x.is_attached() && x.element_type() == t;
            let one = here && x.reach().len() == 1;
            match one.then(|| x.numbers().next()).flatten() {
                Some(n) => Given::Number(bits_of(n, computed)),
                None => Given::Array(self.place(x)),
            }
        })
        .collect()
    }

    fn pointwise_kernel(
        &self,
        key: Pointwise,
        graph: impl FnOnce() -> Option<Graph>,
    ) -> Result<Option<Arc<Kernel>>> {
        if let Some(kernel) = self.cache.pointwise.0.borrow().get(&key) {
            return Ok(Some(kernel.clone()));
        }
        let Some(graph) = graph() else { return Ok(None) };
        // Of most operations the second part is empty.
        let text = [key.0.to_string(), key.1.to_string()].join(" ");
        let kernel = Arc::new(broadcast::kernel_of(text.trim_end(), &graph, &key.3)?);
        self.cache.pointwise.0.borrow_mut().insert(key, kernel.clone());
        Ok(Some(kernel))
    }

    /// Elements of the second operand where the first, bits, is true, of the third elsewhere; all at
    /// the call's shape and the last two of its result's type.
    pub fn chosen(&self, call: &Call, operands: &[Array; 3]) -> Result<Answer> {
        let of = Formula {
            name: Cow::Borrowed("(choose)"),
            formula: "",
            computed: Computed::holding(call.result),
            wanted: &[ElementType::Bool, call.result, call.result],
            writes: call.result,
        };
        let graph = || CHOOSE.at(Computed::holding(call.result));
        self.over(of, graph, operands, call.shape.clone())
    }

    /// Elements of `x` at these strides from one of its buffer's, packed.
    pub fn viewed(
        &self,
        x: &Array,
        strides: &[isize],
        from: isize,
        shape: &Shape,
    ) -> Result<Answer> {
        let (t, placed) = (x.element_type(), self.place(x));
        let read = Read::Array { stored: t, wanted: t };
        let signature = Signature { reads: SmallVec::from_iter([read]), writes: t, placed: false };
        let computed = Computed::holding(t);
        let key = (Cow::Borrowed("(copy)"), "", computed, signature);
        let kernel = self.pointwise_kernel(key, || COPY.at(computed))?;
        let Some(kernel) = kernel else { return Ok(Answer::Declined(Decline::Type(t))) };
        let offset = usize::try_from(placed.offset() as isize + from).unwrap_or(0);
        let launch = broadcast::launch_of(&kernel, shape, &[View { offset, strides }], &[]);
        let work = launch.map(|launch| Work::one(launch, 1, t, shape.clone()));
        self.run_work(work, &[placed])
    }

    /// `x` in row-major order: copied where it lies.
    pub fn packed(&self, x: &Array) -> Result<std::result::Result<Array, Decline>> {
        if x.is_contiguous() {
            return Ok(Ok(x.clone()));
        }
        if !self.residency.holds(x) {
            return crate::explain::packed(x).map(Ok);
        }
        self.copy(x, x.element_type())
    }

    /// A packed copy of `x` at a type that holds its elements, or narrows a wider float.
    pub fn copy(&self, x: &Array, to: ElementType) -> Result<std::result::Result<Array, Decline>> {
        let (computed, wanted) = converting(x.element_type(), to);
        let of = Formula {
            name: Cow::Borrowed("(copy)"),
            formula: "",
            computed,
            wanted: &[wanted],
            writes: to,
        };
        let answer =
            self.over(of, || COPY.at(computed), std::slice::from_ref(x), x.shape().clone())?;
        Ok(match answer {
            Answer::Done(array) => Ok(array),
            Answer::Declined(reason) => Err(reason),
            Answer::Several(_) | Answer::Written => Err(Decline::NoKernel("not one result")),
        })
    }

    /// A launch that packs elements of a buffer through a view, converted as `copy` does; `None`
    /// where there are none. Buffers: what is read, what is written.
    pub fn gathered(
        &self,
        stored: ElementType,
        to: ElementType,
        shape: &Shape,
        from: View,
    ) -> Result<Option<Launch>> {
        if shape.size() == 0 {
            return Ok(None);
        }
        let (computed, wanted) = converting(stored, to);
        let read = Read::Array { stored, wanted };
        let signature = Signature { reads: SmallVec::from_iter([read]), writes: to, placed: false };
        let key = (Cow::Borrowed("(copy)"), "", computed, signature);
        let kernel = self.pointwise_kernel(key, || COPY.at(computed))?;
        kernel.map(|kernel| broadcast::launch_of(&kernel, shape, &[from], &[])).transpose()
    }

    /// Arrays copied into boxes of a grid of `to` elements, which they cover; the result has the
    /// grid's elements under another shape.
    pub fn copies(
        &self,
        boxes: &[Piece],
        grid: &Shape,
        to: ElementType,
        shape: &Shape,
    ) -> Result<Answer> {
        let placed: Vec<Placed> = boxes.iter().map(|b| self.place(b.array)).collect();
        let strides = grid.strides();
        let mut work = Work::default();
        let result = work.make(Made::Result(to, shape.clone()));
        let planned = boxes.iter().zip(&placed).enumerate().try_for_each(|(i, (b, x))| {
            let target = View { offset: b.first, strides: &strides };
            if let Some(launch) = self.copy_launch(x, target, to)? {
                work.stage(launch, [Bind::Operand(i), result]);
            }
            Ok(())
        });
        self.run_work(planned.map(|()| work), &placed)
    }

    /// A copy through two views; `None` where there is nothing to copy.
    fn copy_launch(&self, x: &Placed, target: View, to: ElementType) -> Result<Option<Launch>> {
        let (array, stored) = (x.array, x.array.element_type());
        if array.size() == 0 {
            return Ok(None);
        }
        let computed = Computed::holding(to);
        let read = Read::Array { stored, wanted: to };
        let signature = Signature { reads: SmallVec::from_iter([read]), writes: to, placed: true };
        let key = (Cow::Borrowed("(copy)"), "", computed, signature);
        let kernel = self.pointwise_kernel(key, || COPY.at(computed))?;
        let views = [x.view(), target];
        kernel.map(|kernel| broadcast::launch_of(&kernel, array.shape(), &views, &[])).transpose()
    }
}

/// What a copy of elements computes in, and as what it reads them.
fn converting(own: ElementType, to: ElementType) -> (Computed, ElementType) {
    let computed = match to {
        ElementType::F32 if !own.is_float() => Computed::Single,
        // A half width is rounded from a double.
        _ if to.is_float() && !own.is_float() => Computed::Double,
        _ => Computed::holding(own),
    };
    let wanted = if computed == Computed::holding(own) { own } else { computed.element() };
    (computed, wanted)
}

/// A definition with the types it reads and writes.
pub(crate) struct Formula<'a> {
    pub name: Cow<'static, str>,
    pub formula: &'static str,
    pub computed: Computed,
    pub wanted: &'a [ElementType],
    pub writes: ElementType,
}

/// The bits of a number in what a kernel computes in, which holds it.
fn bits_of(n: Number, computed: Computed) -> u64 {
    match computed {
        Computed::Single => (n.to_f64() as f32).to_bits().into(),
        Computed::Double => n.to_f64().to_bits(),
        Computed::Whole => n.to_i64().unwrap_or(0) as u64,
    }
}
