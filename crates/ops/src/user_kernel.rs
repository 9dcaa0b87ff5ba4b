//! Kernels of a program's own (`defkernel`): an expression of numbers, written once, that becomes an
//! operation as those of the table are. Its definition evaluates the recorded expression element by
//! element; the lanes run it in one pass over chunks (`lanes::fused`); a device runs the same recording
//! as one kernel. So the bits are those of the operations that the expression is made of.
//!
//! A front end makes an `Expression` and gets an operation; the language's own form is in
//! `rung/packages/kernels.rs`. A kernel lives as long as the process. `derivative` makes kernels of
//! kernels.

mod backward;
mod derivative;
mod expression;
mod flow;

pub use derivative::derivative;
pub use expression::{Expression, Function};

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Context, Detail, Prepared, at_compute_type, integers_not_taken, lanes_operand, waiting,
};
use crate::chain::{Step, graph, program};
use crate::decline::{Answer, Decline};
use crate::record::{
    Definition, Entry, Family, Kind, Member, NO_LIBRARY, Offer, Op, Parameter, Place, Rungs, USER,
    keyword, required,
};
use crate::round_trip::{Formula, RoundTrip};
use crate::table;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape};
use rung_kernel::cells::Computed;
use rung_lanes::fused::{self, Step as LaneStep};
use rung_lanes::{Cost, Float, Lanes, Operand as Source};
use rung_math::{Composed, Graph, Node, Width};
use smallvec::{SmallVec, smallvec};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most steps of a kernel, after its repetitions are written out.
const MOST_STEPS: usize = 4096;
/// The most instructions of a kernel for a device, before its driver compiles them, which takes longer
/// than in proportion: 64 nested sines of doubles, 13,680 instructions, held one for many seconds.
const MOST_NODES: usize = 4096;
/// Light steps that take the time of an elementary function.
const LIGHT: usize = 16;

/// What is said about a kernel that a program makes.
pub struct Declaration {
    pub name: String,
    pub doc: String,
    /// Names and types: f32 or f64.
    pub parameters: Vec<(String, ElementType)>,
    pub expression: Expression,
    /// What is made of the expression's values.
    pub of: Of,
}

/// What a kernel gives.
#[derive(Clone, Copy)]
pub enum Of {
    /// The expression, element by element.
    Elements,
    /// The fold of this name of them: an operation of one array along axes.
    Fold(&'static str),
    /// The gradient of this kernel's fold by each element; the expression is the derivative of what is
    /// folded.
    Gradient(&'static Op),
}

/// The fold of this name in which a kernel's expression may stand: of one array along axes.
pub fn fold_named(name: &str) -> Option<&'static str> {
    let op = table::find(name).filter(|op| op.package == crate::record::LINALG)?;
    let [first, rest @ ..] = op.parameters else { return None };
    let along = |name: &str| rest.iter().any(|p| p.name == name && p.place == Place::Keyword);
    let alone = rest.iter().all(|p| p.place != Place::Required);
    let folds = first.kind == Kind::Array && alone && along("axis") && along("keepdims");
    folds.then(|| op.name())
}

/// A kernel, ready for every rung.
pub struct UserKernel {
    parameters: Vec<(String, ElementType)>,
    /// Of one element.
    expression: Expression,
    width: Width,
    /// Puts the parameters and the constants on the stack first, and leaves one value.
    steps: Vec<Step>,
    constants: Vec<f64>,
    /// The same for the lanes.
    program: Vec<LaneStep>,
    cost: Cost,
    /// How many elementary functions one element is worth.
    weight: u64,
    graph: OnceLock<Graph>,
    /// Tells kernels of one name apart.
    key: String,
    after: After,
}

/// What follows the elements.
enum After {
    Nothing,
    Fold(Folding),
    Gradient(backward::Steps),
}

/// A kernel's fold, and the kernel of the elements.
struct Folding {
    op: &'static Op,
    elements: &'static Op,
}

/// The operation of a kernel.
pub fn operation(declared: Declaration) -> Result<&'static Op> {
    let after = match declared.of {
        Of::Elements => After::Nothing,
        Of::Fold(name) => {
            let found = table::find(name);
            let absent = || Error::new(ErrorKind::Internal, format!("the table has no {name}"));
            let elements = leaked(&declared, kernel(&declared, After::Nothing)?);
            After::Fold(Folding { op: found.ok_or_else(absent)?, elements })
        }
        Of::Gradient(op) => After::Gradient(backward::Steps::new(&declared, op)?),
    };
    let kernel = kernel(&declared, after)?;
    Ok(leaked(&declared, kernel))
}

/// A record that lives as long as the process, as those of the table do.
fn leaked(declared: &Declaration, kernel: UserKernel) -> &'static Op {
    let text = |text: &str| -> &'static str { Box::leak(text.to_string().into_boxed_str()) };
    let operand = |(name, _): &(String, ElementType)| required(text(name), Kind::Operand);
    let mut parameters: Vec<Parameter> = declared.parameters.iter().map(operand).collect();
    // The fold judges them.
    let (axis, keep) = (keyword("axis", Kind::Any), keyword("keepdims", Kind::Any));
    let folds = matches!(kernel.after, After::Fold(_));
    match kernel.after {
        After::Nothing => {}
        After::Fold(_) => parameters.extend([axis, keep]),
        After::Gradient(_) => parameters.push(axis),
    }
    let family = if kernel.weight > 1 || kernel.cost == Cost::Elementary {
        Family::Map
    } else {
        Family::Wide
    };
    let device = Entry::Has(Member { offer: Offer::RoundTrip(family), run: device });
    Box::leak(Box::new(Op {
        names: Box::leak(Box::new([text(&declared.name)])),
        package: USER,
        doc: text(&declared.doc),
        parameters: parameters.leak(),
        result: match folds {
            false => "an array of the operands' common shape, a number of numbers",
            true => "a number, or an array without the axes",
        },
        prepare,
        rungs: Rungs {
            portable: Definition::One(portable),
            lanes: Entry::Has(lanes),
            library: Entry::None(NO_LIBRARY),
            device,
        },
        user: Some(Box::leak(Box::new(kernel))),
        ..Op::BASE
    }))
}

fn kernel(declared: &Declaration, after: After) -> Result<UserKernel> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let double = declared.parameters.iter().any(|(_, t)| *t == ElementType::F64);
    let mut constants = Vec::new();
    collect(&declared.expression, &mut constants);
    if let Some(x) =
        constants.iter().find(|x| !double && x.is_finite() && (**x as f32).is_infinite())
    {
        let text =
            format!("{x:e} is beyond single floats, in which a kernel of f32 parameters computes");
        return Err(Error::new(ErrorKind::Argument, text).hint("declare a parameter f64"));
    }
    let parameters = declared.parameters.len();
    let mut steps = Steps { all: Vec::new(), height: 0, constants, parameters };
    let inputs = parameters + steps.constants.len();
    steps.all.resize(inputs, Step::Operand);
    steps.height = inputs;
    let mut places: Vec<usize> = (0..parameters).collect();
    steps.add(&declared.expression, &mut places)?;
    steps.slide(1, inputs)?;
    let applied = |step: &&Step| matches!(step, Step::Apply(..));
    let elementary = |step: &&Step| matches!(step, Step::Apply(_, l) if l.cost == Cost::Elementary);
    let heavy = steps.all.iter().filter(elementary).count();
    let light = steps.all.iter().filter(applied).count() - heavy;
    let Some((program, cost)) = program(&steps.all) else {
        return Err(Error::new(ErrorKind::Internal, "a kernel with a product"));
    };
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Ok(UserKernel {
        parameters: declared.parameters.clone(),
        expression: declared.expression.clone(),
        width: if double { Width::F64 } else { Width::F32 },
        steps: steps.all,
        constants: steps.constants,
        program: program.to_vec(),
        cost,
        weight: ((heavy + light / LIGHT) as u64).max(1),
        graph: OnceLock::new(),
        key: format!("{} {number}", declared.name),
        after,
    })
}

/// The numbers of an expression, each once.
fn collect(expression: &Expression, found: &mut Vec<f64>) {
    let mut all = |list: &[Expression]| list.iter().for_each(|e| collect(e, found));
    match expression {
        Expression::Number(x) => {
            if !found.iter().any(|known| known.to_bits() == x.to_bits()) {
                found.push(*x);
            }
        }
        Expression::Variable(_) => {}
        Expression::Call(_, arguments) => all(arguments),
        Expression::Let(values, body) => {
            all(values);
            collect(body, found);
        }
        Expression::Repeat { first, each, next, result, .. } => {
            all(first);
            all(each);
            all(next);
            collect(result, found);
        }
    }
}

/// Steps under way, and how many values they leave.
struct Steps {
    all: Vec<Step>,
    height: usize,
    constants: Vec<f64>,
    parameters: usize,
}

impl Steps {
    fn push(&mut self, step: Step) -> Result<()> {
        if self.all.len() == MOST_STEPS {
            let text = format!(
                "a kernel, and a derivative, may have {MOST_STEPS} steps (numbers, parameters and \
                 calls), repetitions written out"
            );
            return Err(Error::new(ErrorKind::Argument, text)
                .hint("call a kernel of one repetition several times"));
        }
        self.all.push(step);
        Ok(())
    }

    fn again(&mut self, place: usize) -> Result<()> {
        self.height += 1;
        self.push(Step::Again(place))
    }

    fn slide(&mut self, keep: usize, drop: usize) -> Result<()> {
        if drop == 0 || keep == 0 {
            return Ok(());
        }
        self.height -= drop;
        self.push(Step::Slide { keep, drop })
    }

    /// Leaves values for further variables.
    fn bind(&mut self, values: &[Expression], places: &mut Vec<usize>) -> Result<()> {
        for value in values {
            self.add(value, places)?;
            places.push(self.height - 1);
        }
        Ok(())
    }

    /// Leaves the expression's value; `places` are those of the variables in sight.
    fn add(&mut self, expression: &Expression, places: &mut Vec<usize>) -> Result<()> {
        match expression {
            Expression::Number(x) => {
                let known = self.constants.iter().position(|c| c.to_bits() == x.to_bits());
                self.again(self.parameters + known.unwrap_or(0))
            }
            Expression::Variable(n) => self.again(places[*n]),
            Expression::Call(function, arguments) => {
                arguments.iter().try_for_each(|a| self.add(a, places))?;
                self.height = self.height + 1 - arguments.len();
                self.push(Step::Apply(function.op, function.link))
            }
            Expression::Let(values, body) => {
                let before = places.len();
                self.bind(values, places)?;
                self.add(body, places)?;
                places.truncate(before);
                self.slide(1, values.len())
            }
            Expression::Repeat { times, first, each, next, result } => {
                let (before, base) = (places.len(), self.height);
                first.iter().try_for_each(|value| self.add(value, places))?;
                places.extend(base..base + first.len());
                let variables = places.len();
                for _ in 0..*times {
                    self.bind(each, places)?;
                    next.iter().try_for_each(|value| self.add(value, places))?;
                    self.slide(next.len(), first.len() + each.len())?;
                    places.truncate(variables);
                }
                self.add(result, places)?;
                places.truncate(before);
                self.slide(1, first.len())
            }
        }
    }
}

impl UserKernel {
    /// The recorded expression, whose arguments are the parameters.
    fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| {
            graph(&self.steps, self.width, |n| match n.checked_sub(self.parameters.len()) {
                None => [Composed::Input(n as u32)],
                Some(constant) => [Composed::Constant(self.constants[constant])],
            })
        })
    }

    /// The same for a device, where one more argument is 0: every constant is made of it when the
    /// kernel runs. Drivers compute with constants that they see, and not all as they should:
    /// llvmpipe of Mesa 22.3 takes x 0 and 0 / x for 0 and x + 0 for x, of -0.0, infinity and NaN too.
    fn device_graph(&self) -> Graph {
        let number = self.parameters.len();
        let hidden: Vec<Graph> = self.constants.iter().map(|x| hidden(*x, self.width)).collect();
        graph(&self.steps, self.width, |n| match n.checked_sub(number) {
            None => smallvec![Composed::Input(n as u32)] as SmallVec<[Composed; 2]>,
            Some(constant) => {
                smallvec![Composed::Input(number as u32), Composed::Apply(&hidden[constant], 1)]
            }
        })
    }

    fn element_type(&self) -> ElementType {
        match self.width {
            Width::F32 => ElementType::F32,
            Width::F64 => ElementType::F64,
        }
    }
}

/// A constant as a function of 0.
fn hidden(x: f64, width: Width) -> Graph {
    let bits = match width {
        Width::F32 => (x as f32).to_bits().into(),
        Width::F64 => x.to_bits(),
    };
    let nodes = vec![
        Node::Input(0),
        Node::ToBits(0),
        Node::BitsConstant(bits),
        Node::BitsXor(1, 2),
        Node::FromBits(3),
    ];
    Graph { width, nodes, outputs: vec![4] }
}

fn of(op: &'static Op) -> Result<&'static UserKernel> {
    op.user.ok_or_else(|| Error::new(ErrorKind::Internal, "no kernel of a program's own"))
}

fn prepare(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let kernel = of(op)?;
    let count = kernel.parameters.len();
    let operands = (0..count).map(|i| arguments.operand(i)).collect::<Result<Vec<_>>>()?;
    match &kernel.after {
        After::Nothing => elements(op, kernel, operands),
        After::Fold(folding) => {
            let axes = [arguments.any(count), arguments.any(count + 1)];
            Ok(folded(folding, values_of(operands), axes))
        }
        After::Gradient(steps) => {
            let (values, axis) = (values_of(operands), arguments.any(count));
            Ok(Prepared::Steps(Box::new(move |run| steps.run(run, values, axis))))
        }
    }
}

fn values_of(operands: Vec<Operand>) -> Vec<Value> {
    let value = |operand| match operand {
        Operand::Array(a) => Value::Array(a),
        Operand::Number(n) => Value::Number(n),
    };
    operands.into_iter().map(value).collect()
}

/// The elements, then their fold.
fn folded(folding: &'static Folding, values: Vec<Value>, [axis, keep]: [Value; 2]) -> Prepared {
    Prepared::Steps(Box::new(move |run| {
        let mut all = run.operate(folding.elements, values)?;
        let word = |name: &'static str| Value::Keyword(name.into());
        all.extend([word("axis"), axis, word("keepdims"), keep]);
        run.operate(folding.op, all)
    }))
}

fn elements(
    op: &'static Op,
    kernel: &'static UserKernel,
    operands: Vec<Operand>,
) -> Result<Prepared> {
    let t = kernel.element_type();
    let to_number = operands.iter().all(|o| matches!(o, Operand::Number(_)));
    let mut arrays: SmallVec<[Array; 3]> = SmallVec::new();
    for (operand, (name, declared)) in operands.into_iter().zip(&kernel.parameters) {
        arrays.push(match operand {
            Operand::Number(n) => Array::full(t, Shape::scalar(), n)?,
            Operand::Array(a) => {
                let own = a.element_type();
                if own.is_float() && own.size() > declared.size() {
                    let text = format!("expected {name} as {declared}: got {own}");
                    return Err(Error::new(ErrorKind::ElementType, text)
                        .hint("(la:astype a type) converts an array"));
                }
                waiting(&a, t)?
            }
        });
    }
    let given = arrays.iter().map(|a| a.shape().clone()).collect();
    let shape = arrays.iter().skip(1).try_fold(
        arrays.first().map_or_else(Shape::scalar, |a| a.shape().clone()),
        |shape, a| shape.broadcast(a.shape()),
    )?;
    let operands = arrays.iter().map(|a| a.broadcast_to(&shape)).collect::<Result<_>>()?;
    let types: SmallVec<[ElementType; 4]> = smallvec![t; arrays.len()];
    let call = Call {
        op,
        operands,
        given,
        units: (shape.size() as u64).saturating_mul(kernel.weight),
        shape,
        raw: t,
        result: t,
        to_number,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::None,
        family: match &op.rungs.device {
            Entry::Has(Member { offer: Offer::RoundTrip(family), .. }) => *family,
            _ => Family::Map,
        },
    };
    Ok(Prepared::Call(Box::new(call.at_types(&types))))
}

/// The operands at their common shape, out of it.
fn portable(call: &Call) -> Result<Array> {
    let graph = of(call.op)?.graph();
    at_compute_type!(call, T => evaluated::<T>(call, graph), integers_not_taken(call))
}

/// The bits of a number, as a recorded definition has them.
trait Bits: Element {
    fn bits(self) -> u64;
    fn of(bits: u64) -> Self;
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    fn of(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn of(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
}

fn evaluated<T: Bits>(call: &Call, graph: &Graph) -> Result<Array> {
    let views: Vec<_> = call.operands.iter().map(|a| a.view::<T>()).collect();
    let mut elements: Vec<_> = views.iter().map(|view| view.iter()).collect();
    let mut arguments = vec![0; views.len()];
    Array::build::<T>(call.shape.clone(), |out| {
        for o in out {
            for (argument, elements) in arguments.iter_mut().zip(&mut elements) {
                *argument = elements.next().map_or(0, Bits::bits);
            }
            *o = T::of(graph.evaluate(&arguments));
        }
    })
}

fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let kernel = of(call.op)?;
    at_compute_type!(call, T => in_one_pass::<T>(call, lanes, kernel), integers_not_taken(call))
        .map(Answer::Done)
}

fn in_one_pass<T: Float + rung_array::Convert>(
    call: &Call,
    lanes: &Lanes,
    kernel: &UserKernel,
) -> Result<Array> {
    let number = |x: &f64| T::from_number(Number::F64(*x)).unwrap_or_default();
    let constants: Vec<T> = kernel.constants.iter().map(number).collect();
    let zeros: SmallVec<[isize; 8]> = smallvec![0; call.shape.rank()];
    let mut sources: Vec<Source<T>> = call.operands.iter().map(lanes_operand).collect();
    sources.extend((0..constants.len()).map(|k| Source::new(&constants[k..=k], 0, &zeros)));
    Array::build::<T>(call.shape.clone(), |out| {
        fused::fused(lanes, kernel.cost, &call.shape, &kernel.program, &sources, out);
    })
}

fn device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let kernel = of(call.op)?;
    let have = kernel.graph().nodes.len();
    if have > MOST_NODES {
        return Ok(Answer::Declined(Decline::LongKernel { have, most: MOST_NODES }));
    }
    let mut operands = call.operands.clone();
    if !kernel.constants.is_empty() {
        let zero = Array::full(call.result, Shape::scalar(), Number::F64(0.0))?;
        operands.push(zero.broadcast_to(&call.shape)?);
    }
    let wanted: SmallVec<[ElementType; 4]> = smallvec![call.result; operands.len()];
    let formula = Formula {
        name: kernel.key.clone().into(),
        formula: "kernel",
        computed: Computed::of(kernel.width),
        wanted: &wanted,
        writes: call.result,
    };
    trip.over(formula, || Some(kernel.device_graph()), &operands, call.shape.clone())
}
