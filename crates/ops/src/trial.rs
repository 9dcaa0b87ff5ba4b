//! The trial of an operation: every rung gives the bits of its definition, or stays within its
//! exactness class, for every element type and layout of its samples; and its record says all that a
//! record must say. For tests: those of the table, and those of solvers in crates of their own. What
//! differs panics with the operation, the sample and the rung.

use crate::call::first_difference;
use crate::ladder::{Ladder, NoCaller};
use crate::record::{Entry, Exactness, Op};
use crate::solver::{Mistake, Solver};
use crate::{Decline, Generator, Rung, Value};
use rung_array::{Array, Number, SliceSpec};
use rung_base::{DeviceChoice, ElementType, Error, ErrorKind, Result, Settings};
use rung_lanes::{Grains, Lanes, Level};
use rung_library::Library;
use std::collections::HashSet;

/// The rungs of this machine, each by itself: the definition, the lanes of each level on 1, 2 and 3
/// threads, on 3 every call in pieces as small as they can be, the library, and the device that
/// every machine can have.
pub struct Trial {
    ways: Vec<Way>,
}

impl Trial {
    /// # Panics
    /// Where the library or the software device is not installed.
    #[allow(clippy::new_without_default, reason = "it panics")]
    pub fn new() -> Trial {
        Trial { ways: ways() }
    }

    /// Runs all samples of an operation on every rung that it has. `number` is the operation's own.
    ///
    /// # Panics
    /// Where a rung gives other bits than the definition, or is never run.
    pub fn every_rung(&mut self, op: &'static Op, number: usize) {
        let mut compared: HashSet<(Rung, ElementType)> = HashSet::new();
        let on_device = device_types(op, number);
        for way in &mut self.ways {
            // Steps are calls of their own, some of which the lanes leave to the definition.
            way.ladder.only = (!op.is_composite()).then_some(way.rung);
        }
        for sample in (op.samples)() {
            for &t in op.types {
                for way in self.ways.iter_mut().filter(|way| way.rung == Rung::Device) {
                    way.asked = on_device.contains(&t);
                }
                check_sample(op, &sample, t, &mut self.ways, &mut compared);
            }
        }
        let has = [
            (Rung::Lanes, op.rungs.lanes.kernel().is_some()),
            (Rung::Library, op.rungs.library.kernel().is_some()),
            (Rung::Device, op.rungs.device.kernel().is_some()),
        ];
        for (rung, has) in has {
            // A view is finished without asking a rung, so only kernels must have run.
            let ran = compared.iter().any(|(of, _)| *of == rung);
            assert!(ran || !has, "the {} kernel of {} never ran", rung.name(), op.name());
        }
        // Of some types every sample may be a mistake.
        let taken = |t: &&ElementType| compared.contains(&(Rung::Portable, **t));
        for t in op.types.iter().filter(taken).filter(|_| op.rungs.lanes.kernel().is_some()) {
            let ran = compared.contains(&(Rung::Lanes, *t));
            assert!(ran, "the lanes kernel of {} never ran for {t}", op.name());
        }
    }
}

/// What a record must say.
///
/// # Panics
/// Where it does not.
pub fn is_complete(op: &Op) {
    let name = op.name();
    assert!(op.doc.ends_with('.'), "{name}: the doc is a sentence");
    assert!(!op.result.is_empty(), "{name}: result");
    let called = format!("({}{name}", op.package.prefix);
    let called = if op.setf { format!("(setf {called}") } else { called };
    assert!(op.example.contains(&called), "{name}: example");
    assert!(op.example.contains(" => "), "{name}: example");
    assert!(!(op.samples)().is_empty(), "{name}: samples");
    for reason in absent_reasons(op) {
        assert!(!reason.is_empty(), "{name}: a missing kernel needs its reason");
    }
}

/// What the records of a solver must say: what every record does, names for the results, a text for each
/// parameter, the mistakes that calls of it make; no name stands twice.
///
/// # Panics
/// Where they do not.
pub fn all_are_complete(solver: &Solver) {
    let mut names = HashSet::new();
    for op in solver.operations {
        op.names.iter().for_each(|name| assert!(names.insert(name), "{name} stands twice"));
        is_complete(op);
        assert!(!op.results.is_empty(), "{}: its results have names", op.name());
        for parameter in op.parameters {
            assert!(!parameter.text.is_empty(), "{} {}", op.name(), parameter.name);
        }
        assert!(!op.errors.is_empty(), "{}: its mistakes have names", op.name());
        op.errors.iter().copied().flatten().for_each(|mistake| is_made(op, mistake));
    }
}

/// The sample of a mistake ends in the error that the record says.
fn is_made(op: &'static Op, mistake: &Mistake) {
    let absent = || Decline::Off("test");
    let mut ladder = Ladder::with_rungs(&Settings::default(), None, Err(absent()), Err(absent()));
    let context = format!("{}: {}", op.name(), mistake.when);
    let e = match run(&mut ladder, op, (mistake.sample)()) {
        Err(e) => e,
        Ok(_) => panic!("{context}: no error"),
    };
    assert_eq!(e.kind(), mistake.kind, "{context}: {e}");
    assert_eq!(e.hint_text().is_some(), !mistake.hint.is_empty(), "{context}: {:?}", e.hint_text());
}

fn absent_reasons(op: &Op) -> Vec<&'static str> {
    let mut reasons = Vec::new();
    if let Entry::None(reason) = op.rungs.lanes {
        reasons.push(reason);
    }
    if let Entry::None(reason) = op.rungs.library {
        reasons.push(reason);
    }
    if let Entry::None(reason) = op.rungs.device {
        reasons.push(reason);
    }
    reasons
}

/// How an argument lies in memory.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Packed,
    /// Every axis reversed in storage.
    Reversed,
    /// The axes in the other order in storage.
    Transposed,
    /// Every other element of storage along the last axis.
    Spaced,
}

const LAYOUTS: [Layout; 4] = [Layout::Packed, Layout::Reversed, Layout::Transposed, Layout::Spaced];

fn laid_out(a: &Array, layout: Layout) -> Array {
    let back = SliceSpec { start: None, end: None, step: -1 };
    let reversed: Vec<usize> = (0..a.rank()).rev().collect();
    match layout {
        Layout::Packed => a.clone(),
        Layout::Reversed => {
            let specs = vec![back; a.rank()];
            a.slice(&specs).unwrap().to_owned_copy().unwrap().slice(&specs).unwrap()
        }
        Layout::Transposed => {
            a.transpose(&reversed).unwrap().to_owned_copy().unwrap().transpose(&reversed).unwrap()
        }
        Layout::Spaced => {
            let mut extents = a.shape().to_vec();
            let Some(last) = extents.last_mut() else { return a.clone() };
            *last *= 2;
            let wide = rung_base::Shape::new(extents).unwrap();
            let mut specs = vec![SliceSpec::ALL; a.rank()];
            specs[a.rank() - 1].step = 2;
            let spaced = Array::zeros(a.element_type(), wide.clone()).unwrap();
            // Write a into the even places by interleaving it with zeros.
            let joined = interleave(a, &spaced);
            joined.slice(&specs).unwrap()
        }
    }
}

/// An array of twice the last extent whose even columns are `a`.
fn interleave(a: &Array, like: &Array) -> Array {
    rung_base::with_element!(a.element_type(), T => {
        let elements: Vec<T> = a.view::<T>().iter().collect();
        Array::build::<T>(like.shape().clone(), |out| {
            out.fill(T::default());
            out.iter_mut().step_by(2).zip(elements).for_each(|(o, x)| *o = x);
        })
        .unwrap()
    })
}

/// The array at `t`; where not all of its numbers are of this type, whole ones below 100 in their place.
fn at(a: &Array, t: ElementType) -> Option<Array> {
    a.convert(t).ok().or_else(|| {
        let whole = |x: Number| (x.to_f64() * 8.0).round().abs() % 100.0;
        let whole: Vec<f64> =
            a.numbers().map(whole).map(|x| if x.is_nan() { 0.0 } else { x }).collect();
        Array::from_slice(&whole, a.shape().clone()).ok()?.convert(t).ok()
    })
}

/// The value with every array in it at `t` and laid out; `None` when a number does not fit.
fn prepared(value: &Value, t: ElementType, layout: Layout) -> Option<Value> {
    match value {
        Value::Array(a) => Some(Value::Array(laid_out(&at(a, t)?, layout))),
        Value::List(items) => {
            let items: Option<Vec<Value>> = items.iter().map(|v| prepared(v, t, layout)).collect();
            items.map(Value::List)
        }
        other => Some(other.clone()),
    }
}

/// One way to run: its name and the ladder that asks nothing else.
struct Way {
    name: String,
    rung: Rung,
    ladder: Ladder,
    /// Whether it is asked for this element type.
    asked: bool,
}

fn way(name: String, rung: Rung, ladder: Ladder) -> Way {
    Way {
        name,
        rung,
        asked: true,
        ladder: {
            let mut l = ladder;
            l.only = Some(rung);
            l
        },
    }
}

fn ways() -> Vec<Way> {
    let settings = Settings::default();
    let absent = || Decline::Off("test");
    let with_lanes = |lanes| Ladder::with_rungs(&settings, lanes, Err(absent()), Err(absent()));
    let mut ways = vec![way("portable".into(), Rung::Portable, with_lanes(None))];
    for level in Level::available() {
        for threads in [1, 2, 3] {
            let mut lanes = Lanes::with(level, threads);
            if threads == 3 {
                lanes.set_grains(Grains::FINEST);
            }
            let name = format!("{level:?} lanes on {threads} threads");
            ways.push(way(name, Rung::Lanes, with_lanes(Some(lanes))));
        }
    }
    let library = Library::discover(None)
        .expect("the library rung is tested with OpenBLAS: install libopenblas0-pthread");
    let ladder = Ladder::with_rungs(&settings, None, Ok(library), Err(absent()));
    ways.push(way("library".into(), Rung::Library, ladder));
    let device = rung_device::probe(&DeviceChoice::Named("llvmpipe".into()))
        .expect("the device rung is tested on lavapipe: install mesa-vulkan-drivers libvulkan1");
    let ladder = Ladder::with_rungs(&settings, None, Err(absent()), Ok(device));
    ways.push(way("device".into(), Rung::Device, ladder));
    ways
}

/// A foreign order of additions: compared with the bound by the ladder's own `verify`.
fn assert_within_bound(ladder: &mut Ladder, op: &'static Op, values: Vec<Value>, context: &str) {
    ladder.verify(true);
    if let Err(e) = run(ladder, op, values) {
        assert_ne!(e.kind(), ErrorKind::BitsDiffer, "{context}: {e}");
    }
    ladder.verify(false);
}

fn check_sample(
    op: &'static Op,
    sample: &[Value],
    t: ElementType,
    ways: &mut [Way],
    compared: &mut HashSet<(Rung, ElementType)>,
) {
    let arguments =
        |layout| -> Option<Vec<Value>> { sample.iter().map(|v| prepared(v, t, layout)).collect() };
    let packed = arguments(Layout::Packed).expect("every array is one of each type");
    let (portable, others) = ways.split_first_mut().unwrap();
    let wanted = match run(&mut portable.ladder, op, packed.clone()) {
        Ok(wanted) => wanted,
        Err(mistake) => return assert_refused(op, &packed, others, &mistake),
    };
    compared.insert((Rung::Portable, t));
    for layout in LAYOUTS {
        let values = arguments(layout).expect("every array is one of each type");
        let context = |name: &str| format!("{} of {t} {sample:?}, {layout:?}, {name}", op.name());
        let here = run(&mut portable.ladder, op, values.clone()).unwrap();
        assert_same(&wanted, &here, &context("portable"));
        for way in others.iter_mut().filter(|way| way.asked) {
            let got = match run(&mut way.ladder, op, values.clone()) {
                Ok(got) => got,
                Err(e) if e.kind() == ErrorKind::Declined => continue,
                Err(e) => panic!("{}: {e}", context(&way.name)),
            };
            compared.insert((way.rung, t));
            let loose = match op.exact {
                Exactness::LibraryOrder => way.rung == Rung::Library,
                Exactness::Kept => way.rung == Rung::Device,
                _ => false,
            };
            match loose {
                true => {
                    assert_within_bound(&mut way.ladder, op, values.clone(), &context(&way.name))
                }
                false => assert_same(&wanted, &got, &context(&way.name)),
            }
            assert_laid_alike(&here, &got, &context(&way.name));
        }
    }
}

/// A mistake is the same on every rung that takes such a call.
fn assert_refused(op: &'static Op, values: &[Value], ways: &mut [Way], wanted: &Error) {
    for way in ways.iter_mut().filter(|way| way.asked) {
        let context = format!("{} of {values:?}, {}", op.name(), way.name);
        match run(&mut way.ladder, op, values.to_vec()) {
            Ok(_) => panic!("{context}: no error, where the definition has {wanted}"),
            Err(got) if got.kind() == ErrorKind::Declined => {}
            Err(got) => assert_eq!(got.to_string(), wanted.to_string(), "{context}"),
        }
    }
}

/// Results lie in memory alike, for that decides the order in which a file holds them.
fn assert_laid_alike(a: &[Value], b: &[Value], context: &str) {
    for (a, b) in a.iter().zip(b) {
        if let (Value::Array(a), Value::Array(b)) = (a, b) {
            assert_eq!(a.is_contiguous(), b.is_contiguous(), "{context}: another order in memory");
        }
    }
}

/// All of the operation's types, or in a build without optimisation both whole widths and by turns one
/// half width and one of the integers: the kernels are many, and a software driver takes a tenth of a
/// second for each. `number` is the operation's own.
pub fn device_types(op: &Op, number: usize) -> Vec<ElementType> {
    if !cfg!(debug_assertions) {
        return op.types.to_vec();
    }
    let whole = [ElementType::F64, ElementType::F32];
    let of = |kind: &dyn Fn(&ElementType) -> bool| -> Vec<ElementType> {
        op.types.iter().filter(|t| kind(t)).copied().collect()
    };
    let turn = |of: Vec<ElementType>| of.get(number % of.len().max(1)).copied();
    let half = turn(of(&|t| t.is_float() && !whole.contains(t)));
    let integer = turn(of(&|t| !t.is_float()));
    of(&|t| whole.contains(t)).into_iter().chain(half).chain(integer).collect()
}

/// What a call gives, with the generators at a fixed state.
pub fn run(ladder: &mut Ladder, op: &'static Op, values: Vec<Value>) -> Result<Vec<Value>> {
    ladder.context.generator = rung_math::random::State::seeded(7);
    ladder.context.counter = Generator::new(7, 0);
    ladder.call(op, values, &mut NoCaller)
}

pub fn assert_same(wanted: &[Value], got: &[Value], context: &str) {
    assert_eq!(wanted.len(), got.len(), "{context}");
    for (w, g) in wanted.iter().zip(got) {
        match (w, g) {
            (Value::Array(w), Value::Array(g)) => {
                w.home().and(g.home()).unwrap();
                assert_eq!(w.shape(), g.shape(), "{context}");
                assert_eq!(w.element_type(), g.element_type(), "{context}");
                if let Some(at) = first_difference(w, g) {
                    let number = |a: &Array| a.numbers().nth(at).unwrap();
                    panic!("{context}: element {at} is {}, not {}", number(g), number(w));
                }
            }
            (Value::List(w), Value::List(g)) => assert_same(w, g, context),
            (w, g) => assert_eq!(w.to_string(), g.to_string(), "{context}"),
        }
    }
}
