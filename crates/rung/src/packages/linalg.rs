//! Packages `linalg` (nickname `la`), `vec` and those of the solvers: one function for each name in the
//! table of operations and in theirs. The argument lists, texts and checks are the records'; this file only translates values.

mod values;

pub use values::{array_argument, number_part, output_path, path_argument};

use super::described::documentation;
use super::{explain::Asked, rational};
use crate::solvers;
use rung_array::Array;
use rung_base::{ElementType, ErrorKind};
use rung_lisp::lisp::{Advice, Lisp};
use rung_lisp::offer::Offer;
use rung_lisp::package::RUNG;
use rung_lisp::packed::Packed;
use rung_lisp::source::Span;
use rung_lisp::symbol::Symbol;
use rung_lisp::{Escape, EscapeKind, Outcome, Value, numbers, symbol, value};
use rung_ops::record::{Arithmetic, Part, Place, Quick};
use rung_ops::{Caller, Ladder, Op, Site, elsewhere};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;
use values::{from_operation, to_operation};

/// Registers the operations; gives their functions.
pub fn bind(
    lisp: &mut Lisp,
    ladder: &Rc<RefCell<Ladder>>,
    extent: Asked,
) -> Vec<(Symbol, &'static Op)> {
    let mut functions = Vec::new();
    lisp.advice = Some(Advice { packages: &["LINALG", "VEC"], here: elsewhere::here });
    for op in solvers::operations() {
        for name in op.names {
            let ladder = ladder.clone();
            let body = move |lisp: &mut Lisp, a: &[Value]| call(lisp, &ladder, extent, op, a);
            let list = op.lambda_list();
            let list = list.trim_start_matches('(').trim_end_matches(')');
            let (package, text, body) = (op.package.name, documentation(op), Rc::new(body));
            match op.setf {
                true => lisp.define_native_setf(package, name, list, &text, body),
                false => {
                    let symbol = lisp.define_native(package, name, list, &text, body);
                    functions.push((symbol, op));
                    symbol
                }
            };
        }
    }
    functions
}

/// Makes an operation of a program's own the function of a symbol.
pub fn define(
    lisp: &mut Lisp,
    ladder: &Rc<RefCell<Ladder>>,
    extent: Asked,
    symbol: Symbol,
    op: &'static Op,
) {
    let ladder = ladder.clone();
    let body = move |lisp: &mut Lisp, a: &[Value]| call(lisp, &ladder, extent, op, a);
    let list = op.lambda_list();
    let list = list.trim_start_matches('(').trim_end_matches(')');
    lisp.define_native_function(symbol, list, &documentation(op), Rc::new(body));
}

/// The form that is running.
pub fn site_of(lisp: &Lisp) -> Option<Site> {
    lisp.call_span().map(site)
}

/// A place in a text as the ladder keeps it.
pub fn site(span: Span) -> Site {
    Site { source: span.source, start: span.start, end: span.end }
}

/// `file:line:column` of a site.
pub fn place_of(lisp: &Lisp, site: Site) -> String {
    let span = Span { source: site.source, start: site.start, end: site.end };
    let place = lisp.sources.place(span);
    place.map_or_else(String::new, |p| format!("{}:{}:{}", p.name, p.line, p.column))
}

/// The running program as the ladder sees it.
struct Program<'a>(&'a mut Lisp);

impl Caller for Program<'_> {
    fn site(&self) -> Option<Site> {
        site_of(self.0)
    }

    fn place(&self, site: Site) -> String {
        place_of(self.0, site)
    }

    fn warn(&mut self, message: &str) {
        self.say("warning", message);
    }

    fn note(&mut self, message: &str) {
        self.say("note", message);
    }
}

impl Program<'_> {
    fn say(&mut self, kind: &str, message: &str) {
        let stream = self.0.variable(symbol::ERROR_OUTPUT).clone();
        // A message that cannot be written is no reason to stop the program.
        let _ = self.0.write(&stream, &format!("rung: {kind}: {message}\n"));
    }
}

fn call(
    lisp: &mut Lisp,
    ladder: &Rc<RefCell<Ladder>>,
    asked: Asked,
    op: &'static Op,
    arguments: &[Value],
) -> Outcome {
    asked.tell(lisp, &mut ladder.borrow_mut())?;
    if let Some(result) = quick(lisp, ladder, op, arguments) {
        return Ok(result);
    }
    let mut folded = Vec::new();
    let arguments = match op.numbers {
        Some(arithmetic) => match leading_numbers(op, arithmetic, arguments)? {
            Folded::Value(value) => return Ok(value),
            Folded::Rest(number, rest) => {
                folded.push(number);
                folded.extend_from_slice(rest);
                &folded[..]
            }
            Folded::None => arguments,
        },
        None => arguments,
    };
    if op.assigned.is_some() {
        return assign(lisp, ladder, op, arguments);
    }
    if let Some(fold) = op.rational
        && let Some(exact) = rational::fold(op.name(), fold, arguments)?
    {
        return Ok(exact);
    }
    if op.in_place() {
        return assign(lisp, ladder, op, arguments);
    }
    let run = |lisp: &mut Lisp, tried| match tried {
        Tried::Rungs => attempt(lisp, ladder, op, arguments, Ladder::call),
        Tried::Definition => attempt(lisp, ladder, op, arguments, Ladder::call_portable),
    };
    let results = match run_or_ask(lisp, op, arguments, run)? {
        Ok(results) => results,
        Err(values) => return Ok(lisp.values(values)),
    };
    if !op.writes.is_empty() {
        return write_back(lisp, op, arguments, results);
    }
    let results: Vec<Value> = results.into_iter().map(|v| from_operation(lisp, v)).collect();
    Ok(lisp.values(results))
}

/// What a handler has chosen in place of a failure.
enum Instead {
    Values(Vec<Value>),
    Portable,
}

/// What has run the call so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tried {
    Rungs,
    Definition,
}

/// The results of a call by the rungs or, where a handler wants it after a failure, by the definition; or the
/// values that a handler gave in their place.
fn run_or_ask<T>(
    lisp: &mut Lisp,
    op: &'static Op,
    arguments: &[Value],
    run: impl Fn(&mut Lisp, Tried) -> Outcome<rung_base::Result<T>>,
) -> Outcome<Result<T, Vec<Value>>> {
    let mut by = Tried::Rungs;
    loop {
        let error = match run(lisp, by)? {
            Ok(results) => return Ok(Ok(results)),
            Err(error) => error,
        };
        match failed(lisp, op, arguments, error, by)? {
            Instead::Values(values) => return Ok(Err(values)),
            Instead::Portable => by = Tried::Definition,
        }
    }
}

const RUN_PORTABLE: Offer =
    Offer { package: RUNG, name: "RUN-PORTABLE", report: "Run the definition instead." };

/// Offers the restarts of an operation that failed (spec linalg 1.9). A rung's own failure adds the
/// definition, where that was not tried yet and can still be: it cannot where elements were lost.
fn failed(
    lisp: &mut Lisp,
    op: &'static Op,
    arguments: &[Value],
    error: rung_base::Error,
    tried: Tried,
) -> Outcome<Instead> {
    use ErrorKind::{BitsDiffer, Declined, Device, DeviceLost};
    let portable = tried == Tried::Rungs
        && match error.kind() {
            Declined | BitsDiffer | Device => true,
            DeviceLost => arguments.iter().all(is_readable),
            _ => false,
        };
    let escape = Escape::from(error);
    if let Some(condition) = escape.condition() {
        condition.set_slot(symbol::KEY_OPERATION, Value::string(op.name()));
        condition.set_slot(symbol::KEY_ARGUMENTS, value::list(arguments.to_vec()));
    }
    let offers = [Offer::USE_VALUE, Offer::ABORT, RUN_PORTABLE];
    let offers = if portable { &offers[..] } else { &offers[..2] };
    let chosen = lisp.offer(escape, offers)?;
    match chosen.number {
        0 => Ok(Instead::Values(chosen.arguments)),
        1 => Err(EscapeKind::Unhandled(chosen.condition).into()),
        _ => Ok(Instead::Portable),
    }
}

/// Whether the elements of an argument, and of those in a list, are here or can be brought here.
fn is_readable(argument: &Value) -> bool {
    match argument.as_packed() {
        Some(packed) => packed.array().home().is_ok(),
        None => {
            argument.as_cons().is_none()
                || argument.is_circular()
                || argument.elements().all(|element| is_readable(&element))
        }
    }
}

/// Runs the operation on these arguments; the outer failure is of an argument that no operation
/// could take, the inner one the operation's own.
fn attempt(
    lisp: &mut Lisp,
    ladder: &Rc<RefCell<Ladder>>,
    op: &'static Op,
    arguments: &[Value],
    run: Runner,
) -> Outcome<rung_base::Result<Vec<rung_ops::Value>>> {
    loop {
        let values = operands(lisp, op, arguments)?;
        // Nothing in an operation calls back into Lisp, so the ladder is free here.
        let outcome = run(&mut ladder.borrow_mut(), op, values, &mut Program(lisp));
        match &outcome {
            // Who goes on after Ctrl-C has the whole call made again.
            Err(error) if error.kind() == ErrorKind::Interrupt => lisp.poll()?,
            _ => return Ok(outcome),
        }
    }
}

/// The arguments as the operation takes them.
fn operands(lisp: &Lisp, op: &'static Op, arguments: &[Value]) -> Outcome<Vec<rung_ops::Value>> {
    let operand = |argument: &Value| match op.package.strict && is_general(argument) {
        true => Ok(rung_ops::Value::Other(lisp.brief(argument))),
        false => to_operation(lisp, argument),
    };
    arguments.iter().map(operand).collect()
}

/// A general array, or a list that has one: `to_operation` would convert it.
fn is_general(argument: &Value) -> bool {
    let listed = || {
        argument.as_cons().is_some() && !argument.is_circular() && {
            argument.elements().any(|element| element.as_array().is_some())
        }
    };
    argument.as_array().is_some() || listed()
}

/// `Ladder::call`, or the same by the definition alone.
type Runner = fn(
    &mut Ladder,
    &'static Op,
    Vec<rung_ops::Value>,
    &mut dyn Caller,
) -> rung_base::Result<Vec<rung_ops::Value>>;

/// A call of small packed arrays and numbers that the ladder takes at once.
fn quick(
    lisp: &mut Lisp,
    ladder: &RefCell<Ladder>,
    op: &'static Op,
    arguments: &[Value],
) -> Option<Value> {
    let result = match (op.quick, arguments) {
        (Quick::One(_), [a]) => {
            let array = a.as_packed().map(Packed::look);
            let a = array.as_deref().map(Part::Array).or_else(|| number_part(a));
            a.and_then(|a| ladder.borrow().quick(op, &[a]))
        }
        (Quick::Two(_), [a, b]) => {
            let arrays = (a.as_packed().map(Packed::look), b.as_packed().map(Packed::look));
            let a = arrays.0.as_deref().map(Part::Array).or_else(|| number_part(a));
            let b = arrays.1.as_deref().map(Part::Array).or_else(|| number_part(b));
            a.zip(b).and_then(|(a, b)| ladder.borrow().quick(op, &[a, b]))
        }
        _ => None,
    };
    result.map(|value| from_operation(lisp, value))
}

/// What is left of a call after the numbers that stand first in it.
enum Folded<'a> {
    Value(Value),
    Rest(Value, &'a [Value]),
    None,
}

/// Numbers are the language's own affair: two of them, and any count that begins a call of any
/// number of operands.
fn leading_numbers<'a>(
    op: &'static Op,
    arithmetic: Arithmetic,
    arguments: &'a [Value],
) -> Outcome<Folded<'a>> {
    let any_count = op.parameters.last().is_some_and(|p| p.place == Place::Rest);
    let numbers = arguments.iter().take_while(|a| a.is_number()).count();
    if !any_count {
        return Ok(match arguments {
            [a, b] if numbers == 2 => match of_numbers(op.name(), arithmetic, a, b)? {
                Some(value) => Folded::Value(value),
                None => Folded::None,
            },
            _ => Folded::None,
        });
    }
    if let [one] = arguments
        && numbers == 1
    {
        return Ok(match arithmetic {
            Arithmetic::Subtract => Folded::Value(numbers::negate(one)?),
            Arithmetic::Divide => Folded::Value(quotient(&Value::Fixnum(1), one)?),
            _ => Folded::Value(one.clone()),
        });
    }
    if numbers < 2 {
        return Ok(Folded::None);
    }
    let mut result = arguments[0].clone();
    for number in &arguments[1..numbers] {
        match of_numbers(op.name(), arithmetic, &result, number)? {
            Some(value) => result = value,
            None => return Ok(Folded::None),
        }
    }
    Ok(match &arguments[numbers..] {
        [] => Folded::Value(result),
        rest => Folded::Rest(result, rest),
    })
}

/// An operation in place: changes the arrays where they stand, so that storage nobody else shares is
/// not copied. The value is what was assigned, or what the operation gives beside the arrays, or the
/// first of them.
fn assign(
    lisp: &mut Lisp,
    ladder: &Rc<RefCell<Ladder>>,
    op: &'static Op,
    arguments: &[Value],
) -> Outcome {
    let value = op.assigned.unwrap_or(op.writes[0]);
    let run = |lisp: &mut Lisp, tried| match tried {
        Tried::Rungs => changed(lisp, ladder, op, arguments, Ladder::assign),
        Tried::Definition => changed(lisp, ladder, op, arguments, Ladder::assign_portable),
    };
    let written = match run_or_ask(lisp, op, arguments, run)? {
        Ok(values) => values,
        Err(values) => return Ok(lisp.values(values)),
    };
    match written.is_empty() {
        true => Ok(arguments[value].clone()),
        false => {
            let values = written.into_iter().map(|v| from_operation(lisp, v)).collect();
            Ok(lisp.values(values))
        }
    }
}

/// `Ladder::assign`, or the same by the definition alone.
type Changer = fn(
    &mut Ladder,
    &'static Op,
    Vec<rung_ops::Value>,
    &mut [Array],
    &mut dyn Caller,
) -> rung_base::Result<Vec<rung_ops::Value>>;

/// Hands the arrays that are changed to the ladder and takes them back.
fn changed(
    lisp: &mut Lisp,
    ladder: &Rc<RefCell<Ladder>>,
    op: &'static Op,
    arguments: &[Value],
    run: Changer,
) -> Outcome<rung_base::Result<Vec<rung_ops::Value>>> {
    let values = operands(lisp, op, arguments)?;
    let targets = targets(lisp, op, arguments)?;
    let mut ladder = ladder.borrow_mut();
    if let [one] = &targets[..] {
        let mut array = one.target();
        let array = std::slice::from_mut(&mut *array);
        return Ok(run(&mut ladder, op, values, array, &mut Program(lisp)));
    }
    let taken = |cell: &&Packed| cell.replace(Array::empty(ElementType::F64));
    let mut arrays: Vec<Array> = targets.iter().map(taken).collect();
    let outcome = run(&mut ladder, op, values, &mut arrays, &mut Program(lisp));
    for (cell, array) in targets.iter().zip(arrays) {
        cell.replace(array);
    }
    Ok(outcome)
}

/// The packed arrays that an operation in place changes: as many different ones as it writes.
fn targets<'a>(lisp: &Lisp, op: &'static Op, arguments: &'a [Value]) -> Outcome<Vec<&'a Packed>> {
    let mut cells: Vec<&Packed> = Vec::with_capacity(op.writes.len());
    for &at in op.writes {
        let text = match arguments.get(at).map(|given| (given, given.as_packed())) {
            // The ladder says that an argument is missing.
            None => return Ok(cells),
            Some((_, Some(cell))) if !cells.iter().any(|other| std::ptr::eq(*other, cell)) => {
                cells.push(cell);
                continue;
            }
            Some((_, Some(_))) => {
                let name = op.parameters[at].name;
                format!("{}: {name} is another of the arrays that it changes", op.name())
            }
            Some((given, None)) => {
                let shown = lisp.brief(given);
                match op.package.strict {
                    true => format!("expected a packed vector: got {shown}"),
                    false => format!("{} writes into a packed array: got {shown}", op.name()),
                }
            }
        };
        let e = rung_base::Error::new(rung_base::ErrorKind::Type, text);
        return Err(e.in_package(op.package.name).into());
    }
    Ok(cells)
}

/// An operation that writes: each array that it writes becomes its result, and the
/// value is the first of them.
fn write_back(
    lisp: &mut Lisp,
    op: &'static Op,
    arguments: &[Value],
    results: Vec<rung_ops::Value>,
) -> Outcome {
    for (&at, result) in op.writes.iter().zip(results) {
        let target = arguments.get(at).and_then(Value::as_packed);
        match (target, result) {
            (Some(target), rung_ops::Value::Array(array)) => drop(target.replace(array)),
            (None, _) => {
                let given = arguments.get(at).cloned().unwrap_or_default();
                let text =
                    format!("{} writes into a packed array: got {}", op.name(), lisp.brief(&given));
                let e = rung_base::Error::new(rung_base::ErrorKind::Type, text);
                return Err(e.in_package(op.package.name).into());
            }
            _ => return Err(Escape::error("an operation in place gave no array")),
        }
    }
    Ok(arguments.get(op.writes[0]).cloned().unwrap_or_default())
}

/// Two numbers by the language's own arithmetic: ratios and integers of any size stay exact.
/// `None` where the arrays' definition says what the result is.
fn of_numbers(name: &str, arithmetic: Arithmetic, a: &Value, b: &Value) -> Outcome<Option<Value>> {
    let value = match arithmetic {
        Arithmetic::Add => numbers::add(a, b)?,
        Arithmetic::Subtract => numbers::subtract(a, b)?,
        Arithmetic::Multiply => numbers::multiply(a, b)?,
        Arithmetic::Divide => quotient(a, b)?,
        Arithmetic::FloorDivide | Arithmetic::Modulo => {
            let float = |v: &Value| matches!(v, Value::Double(_) | Value::Single(_));
            if float(a) || float(b) || numbers::is_zero(b)? {
                return Ok(None);
            }
            let (quotient, rest) = numbers::division::floor2(a, b)?;
            if matches!(arithmetic, Arithmetic::Modulo) { rest } else { quotient }
        }
        // NaN, where there is one, is the result.
        Arithmetic::Larger | Arithmetic::Smaller => {
            let order = numbers::compare(name, a, b)?;
            let second = match arithmetic {
                Arithmetic::Larger => order == Some(Ordering::Less),
                _ => order == Some(Ordering::Greater),
            };
            let nan = order.is_none() && numbers::to_double(b).is_some_and(f64::is_nan);
            if second || nan { b.clone() } else { a.clone() }
        }
        Arithmetic::Compare(holds) => {
            let order = numbers::compare(name, a, b)?;
            Value::Double(f64::from(u8::from(holds(order))))
        }
    };
    Ok(Some(value))
}

/// Array arithmetic never traps, and neither does that of two numbers: 1/0 is infinite.
fn quotient(a: &Value, b: &Value) -> Outcome {
    match (numbers::is_zero(b)?, numbers::to_double(a), numbers::to_double(b)) {
        (true, Some(x), Some(y)) => Ok(Value::Double(x / y)),
        _ => numbers::divide(a, b),
    }
}
