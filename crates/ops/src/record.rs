//! The record of one array operation: everything that is known about it, in one place.
//!
//! Names, argument list, documentation, checks, every rung's kernel, samples and example stand
//! together; the Lisp function, the ladder, the tests and the reference pages are read from here.
//! Records are plain constants in one file per family; `table` lists them.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Outputs, Prepared};
use crate::decline::Answer;
use crate::gradient::Gradient;
pub use crate::package::{INTERNAL, LINALG, Package, USER, VEC};
pub use crate::parameter::{Kind, Parameter, Place, Range, keyword, optional, required, rest};
use crate::round_trip::RoundTrip;
use crate::samples::Sample;
use crate::solver::{Command, Mistake, Named};
use crate::user_kernel::UserKernel;
use crate::value::Value;
use rung_array::{Array, Convert, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result};
use rung_lanes::compiled::Lanewise;
use rung_lanes::fused::Step;
use rung_lanes::{Cost, Lanes};
use rung_library::Library;
use rung_math::{Graph, Width};
use smallvec::smallvec;
use std::cmp::Ordering;

/// One array operation.
pub struct Op {
    /// The name and its aliases in its package.
    pub names: &'static [&'static str],
    pub package: &'static Package,
    /// What it computes, in one or two sentences.
    pub doc: &'static str,
    pub parameters: &'static [Parameter],
    /// What it means for numbers alone, where a front end has an arithmetic of its own.
    pub numbers: Option<Arithmetic>,
    /// What it means for whole arrays of rational numbers, where a front end keeps them exact.
    pub rational: Option<RationalFold>,
    /// What comes back: shape and element type in words.
    pub result: &'static str,
    /// Element types of operands that it takes; the tests run each.
    pub types: &'static [ElementType],
    pub exact: Exactness,
    /// Checks shapes and types, and lays the operands out; a view is finished here.
    pub prepare: Prepare,
    pub rungs: Rungs,
    /// Argument lists that serve tests and benchmarks.
    pub samples: fn() -> Vec<Sample>,
    /// `(la:erf 0.5d0) => 0.5204998778130465`; the tests run it.
    pub example: &'static str,
    /// Parameters whose arrays a front end replaces by the results, in order: an operation that
    /// writes. Its value is then the first array written. One in place changes them where they stand.
    pub writes: &'static [usize],
    /// An assignment: `prepare` gives a write into the array of `writes`, which is changed where it
    /// stands, and the call's value is this parameter's.
    pub assigned: Option<usize>,
    /// Bytes that its rungs on the processor take at most beside operands and results, with so many
    /// threads: asked for before they begin.
    pub beside: Option<fn(&Call, usize) -> u64>,
    /// Small calls of the commonest kind, done at once.
    pub quick: Quick,
    /// Its part in a chain of element-wise operations that the lanes do in one pass.
    pub chain: Option<Link>,
    /// Its part in a kernel of a program's own, where nested calls of it are no chain.
    pub link: Option<Link>,
    /// How gradients come back through it.
    pub gradient: Gradient,
    /// The value is true or false: whether the number that the rungs write is not zero.
    pub predicate: bool,
    /// `prepare`, and what it makes of other operations, looks at headers alone or asks
    /// `Array::home` first: operands may be on a device. Where there is a device kernel it does.
    pub resident: bool,
    /// Written as the place of an assignment: `(setf (la:row a i) b)` calls it with (b a i).
    pub setf: bool,
    /// What a kernel of a program's own computes; none of the table.
    pub user: Option<&'static UserKernel>,
    /// The results by name, where a front end hands them out one by one.
    pub results: &'static [Named],
    /// The mistakes that a call of it may make, those that several operations share in groups.
    pub errors: &'static [&'static [Mistake]],
    /// How a shell offers it.
    pub command: Option<&'static Command>,
    /// A solver's products under `--precision`: an operation that has some says how they run there.
    pub rounded: Option<&'static Rounded>,
}

/// How calls that are more than one product run where `--precision` asks for less than strict. A device
/// does as `RoundTrip` is asked; what is said here holds for all rungs.
pub struct Rounded {
    /// Why a call stays strict, in words that follow the operation's name; `None` where its products take
    /// operands that are rounded.
    pub strict: fn(&Call) -> Option<&'static str>,
    /// The depth of those products.
    pub inner: fn(&Call) -> usize,
    /// The lanes with operands rounded to bf16.
    pub lanes: fn(&Call, &Lanes) -> Result<Answer>,
    /// The least and the greatest results that such products may give, each cell of them off by so much of
    /// sum |a b|.
    pub bounds: fn(&Call, f64) -> Result<[Vec<Array>; 2]>,
}

/// A whole call, without keywords, for operands that need no laying out: small packed arrays of one
/// float type, or a number beside one. It is what asking the rungs would end in, as no other rung
/// wants a small call, and `None` where the operands are of another kind or the call is an error.
#[derive(Clone, Copy)]
pub enum Quick {
    None,
    One(fn(&Lanes, Part) -> Option<Value>),
    Two(fn(&Lanes, Part, Part) -> Option<Value>),
}

/// An operation as a step of a fused chain, for operands of one float type; the result has it too.
#[derive(Clone, Copy)]
pub struct Link {
    /// How many operands it takes.
    pub arity: usize,
    pub cost: Cost,
    pub step: LinkStep,
}

/// What a link is.
#[derive(Clone, Copy)]
pub enum LinkStep {
    /// A function of single elements: its step of a chain on the lanes, and its recording for a
    /// device's kernel of the chain.
    Elements(Step, fn(Width) -> Graph),
    /// A matrix product: a device makes what follows in the same launch.
    Product,
}

impl Link {
    pub const fn one<F: Lanewise<1>>(cost: Cost, trace: fn(Width) -> Graph) -> Option<Link> {
        Some(Link { arity: 1, cost, step: LinkStep::Elements(Step::one::<F>(), trace) })
    }

    pub const fn two<F: Lanewise<2>>(cost: Cost, trace: fn(Width) -> Graph) -> Option<Link> {
        Some(Link { arity: 2, cost, step: LinkStep::Elements(Step::two::<F>(), trace) })
    }

    /// Three operands.
    pub const fn three<F: Lanewise<3>>(cost: Cost, trace: fn(Width) -> Graph) -> Option<Link> {
        Some(Link { arity: 3, cost, step: LinkStep::Elements(Step::three::<F>(), trace) })
    }

    /// Two matrices, of which nothing is taken in.
    pub const PRODUCT: Option<Link> =
        Some(Link { arity: 2, cost: Cost::Light, step: LinkStep::Product });

    /// Whether the calls among its arguments are left out of a chain.
    pub fn is_first(&self) -> bool {
        matches!(self.step, LinkStep::Product)
    }
}

/// An operand of a small call.
#[derive(Clone, Copy)]
pub enum Part<'a> {
    Array(&'a Array),
    Number(Number),
}

/// The most elements of a small call: below every threshold of threads and devices.
pub const SMALL: usize = 4096;

impl<'a> Part<'a> {
    /// Whether it is a number or a small array.
    pub fn is_small(self) -> bool {
        match self {
            Part::Array(a) => a.size() <= SMALL,
            Part::Number(_) => true,
        }
    }

    /// The array, if it is small.
    #[inline]
    pub fn small(self) -> Option<&'a Array> {
        match self {
            Part::Array(a) if a.size() <= SMALL => Some(a),
            _ => None,
        }
    }

    /// The elements of a small packed array of this type.
    #[inline]
    pub fn few<T: Element>(self) -> Option<&'a [T]> {
        self.small()?.as_slice::<T>()
    }

    /// The elements, or a number rounded once to their type.
    #[inline]
    pub fn elements<T: Element + Convert>(self, number: &'a mut [T; 1]) -> Option<&'a [T]> {
        match self {
            Part::Array(a) => a.as_slice::<T>(),
            Part::Number(n) => {
                number[0] = T::from_number(n)?;
                Some(&number[..])
            }
        }
    }
}

/// Checks a call, and finishes a view.
pub type Prepare = fn(&'static Op, Arguments, &mut Context) -> Result<Prepared>;

/// Why most operations have no library kernel.
pub const NO_LIBRARY: &str = "no CBLAS routine computes it";

/// Operations over floats alone.
pub const FLOATS: &[ElementType] = &ElementType::FLOATS;
/// Operations over every element type.
pub const ALL: &[ElementType] = &ElementType::ALL;

/// An operation on two numbers, which a front end computes by its own rules: in Lisp ratios and
/// integers of any size stay exact (spec linalg 1.2).
#[derive(Clone, Copy)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Larger,
    Smaller,
    /// The quotient rounded down, and what it leaves: for exact numbers only, and a divisor that
    /// is not zero.
    FloorDivide,
    Modulo,
    /// Whether the relation holds for this order; `None` with NaN.
    Compare(fn(Option<Ordering>) -> bool),
}

/// A fold of rational numbers, which a front end computes by its own arithmetic: the result is
/// exact (spec linalg 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RationalFold {
    Sum,
    Mean,
    Product,
    Largest,
    Smallest,
    /// The row-major position of the largest, the lowest on ties.
    FirstLargest,
    FirstSmallest,
    /// The sum of a matrix's diagonal.
    Trace,
    /// The sum of the products of two vectors.
    Dot,
}

/// How an operation is computed on each rung; an absent kernel carries its reason.
#[derive(Clone, Copy)]
pub struct Rungs {
    /// The definition: the plainest loop. It calls neither lanes nor kernels.
    pub portable: Definition,
    pub lanes: Entry<fn(&Call, &Lanes) -> Result<Answer>>,
    pub library: Entry<fn(&Call, &Library) -> Result<Answer>>,
    pub device: Entry<Member>,
}

/// The definition of an operation of one result, or of several.
#[derive(Clone, Copy)]
pub enum Definition {
    One(fn(&Call) -> Result<Array>),
    Several(fn(&Call) -> Result<Vec<Array>>),
    /// It changes the call's targets where they stand.
    InPlace(fn(&Call) -> Result<()>),
    /// `prepare` finishes every call, or makes it of other operations.
    None,
}

impl Definition {
    pub fn run(&self, call: &Call) -> Result<Outputs> {
        match self {
            Definition::One(f) => Ok(smallvec![f(call)?]),
            Definition::Several(f) => Ok(f(call)?.into()),
            Definition::InPlace(f) => f(call).map(|()| call.changed()),
            Definition::None => {
                let text = format!("{} computes nothing", call.op.name());
                Err(Error::new(ErrorKind::Internal, text))
            }
        }
    }
}

impl Rungs {
    /// Computed on the processor: no library has it, and a device would gain nothing.
    pub const fn processor(
        portable: Definition,
        lanes: fn(&Call, &Lanes) -> Result<Answer>,
        device: &'static str,
    ) -> Rungs {
        Rungs {
            portable,
            lanes: Entry::Has(lanes),
            library: Entry::None(NO_LIBRARY),
            device: Entry::None(device),
        }
    }

    /// Computed on the processor, and on a device that is offered it as said.
    pub const fn with_device(
        portable: Definition,
        lanes: fn(&Call, &Lanes) -> Result<Answer>,
        offer: Offer,
        run: fn(&Call, &RoundTrip) -> Result<Answer>,
    ) -> Rungs {
        let device = Entry::Has(Member { offer, run });
        Rungs { device, ..Rungs::processor(portable, lanes, "") }
    }

    /// Changes arrays where they stand.
    pub const fn in_place(
        portable: fn(&Call) -> Result<()>,
        lanes: fn(&Call, &Lanes) -> Result<Answer>,
        library: &'static str,
        device: Entry<Member>,
    ) -> Rungs {
        Rungs {
            portable: Definition::InPlace(portable),
            lanes: Entry::Has(lanes),
            library: Entry::None(library),
            device,
        }
    }

    /// No rung is asked, for one reason.
    pub const fn none(reason: &'static str) -> Rungs {
        Rungs {
            portable: Definition::None,
            lanes: Entry::None(reason),
            library: Entry::None(reason),
            device: Entry::None(reason),
        }
    }

    /// An operation made of others, each of which is asked for by itself.
    pub const STEPS: Rungs = Rungs::none("it is made of other operations, which are asked");
}

/// A kernel, or why there is none.
#[derive(Clone, Copy)]
pub enum Entry<T> {
    Has(T),
    None(&'static str),
}

impl<T> Entry<T> {
    pub fn kernel(&self) -> Option<&T> {
        match self {
            Entry::Has(kernel) => Some(kernel),
            Entry::None(_) => None,
        }
    }
}

/// A device kernel and from which size a call is offered to it.
#[derive(Clone, Copy)]
pub struct Member {
    pub offer: Offer,
    pub run: fn(&Call, &RoundTrip) -> Result<Answer>,
}

/// When a device is offered a call (DESIGN 4). The threshold's unit is the family's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Wherever the operands are, from the threshold of this family.
    RoundTrip(Family),
    /// Only where an operand is on the device already.
    ResidentOnly,
}

/// What a call's work is measured in, and which costs apply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Multiply-adds.
    Product,
    /// Elements, each an elementary function.
    Map,
    /// Result elements of cheap arithmetic.
    Wide,
    /// Input elements.
    Fold,
    /// Drawn elements.
    Fill,
    /// Copied elements.
    Copy,
}

/// What is promised about an operation's bits (DESIGN 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// The definition's bits on every rung.
    Same,
    /// The definition's bits, and within this many ulp of the true value.
    Ulp(u8),
    /// The definition's bits on lanes and device; on the library rung within
    /// 2 k u sum |a b| of them (spec acceleration 8).
    LibraryOrder,
    /// A kept library's algorithm: on every rung of the processor the same function, for any number
    /// of threads the same bits; another machine may have others. A device has an algorithm of its
    /// own, if it has one, within the class's bound of the true value.
    Kept,
}

impl Op {
    /// What every record begins from.
    pub const BASE: Op = Op {
        names: &[],
        package: LINALG,
        doc: "",
        parameters: &[],
        numbers: None,
        rational: None,
        result: "",
        types: ALL,
        exact: Exactness::Same,
        prepare: |op, _, _| {
            Err(Error::new(ErrorKind::Internal, format!("{} has no definition", op.name())))
        },
        rungs: Rungs::none(""),
        samples: Vec::new,
        example: "",
        writes: &[],
        assigned: None,
        beside: None,
        quick: Quick::None,
        chain: None,
        link: None,
        gradient: Gradient::None,
        predicate: false,
        resident: false,
        setf: false,
        user: None,
        results: &[],
        errors: &[],
        command: None,
        rounded: None,
    };

    /// Whether it is made of other operations, or finished without asking a rung.
    pub fn is_composite(&self) -> bool {
        matches!(self.rungs.portable, Definition::None) && self.rungs.lanes.kernel().is_none()
    }

    /// Whether the arrays of `writes` are changed where they stand, by a rung or by an assignment.
    pub fn in_place(&self) -> bool {
        self.assigned.is_some() || matches!(self.rungs.portable, Definition::InPlace(_))
    }

    /// The arrays among a call's values that it changes where they stand.
    pub(crate) fn targets(&self, values: &[Value]) -> Outputs {
        let arrays = self.writes.iter().map(|&at| match values.get(at) {
            Some(Value::Array(a)) => Some(a.clone()),
            _ => None,
        });
        arrays.filter(|_| self.in_place()).flatten().collect()
    }

    /// Whether operands may be on a device when `prepare` gets them.
    pub fn takes_residents(&self) -> bool {
        self.resident || self.rungs.device.kernel().is_some()
    }

    /// The name by which messages and reports call it.
    pub fn name(&self) -> &'static str {
        self.names[0]
    }

    /// What its errors begin with: its package, a program's own kernel with its name.
    pub fn speaker(&self) -> &'static str {
        if self.user.is_some() { self.name() } else { self.package.name }
    }

    /// The Lisp argument list: `(a &key axis keepdims)`.
    pub fn lambda_list(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        let mut place = Place::Required;
        for p in self.parameters {
            if p.place != place {
                place = p.place;
                words.push(match place {
                    Place::Rest => "&rest",
                    Place::Keyword => "&key",
                    _ => "&optional",
                });
            }
            words.push(p.name);
        }
        format!("({})", words.join(" "))
    }
}
