//! Chains of element-wise operations, `(la:div (la:add (la:mul a b) c) d)`: the expander makes one
//! call of them, and the ladder does them in one pass where it can. Where it cannot, each
//! operation is called by itself, as if nobody had looked.

use super::explain::Asked;
use super::linalg::{number_part, site_of};
use rung_array::Array;
use rung_base::ErrorKind;
use rung_lisp::expand::chain::{Chain, Chaining, Step};
use rung_lisp::lisp::Lisp;
use rung_lisp::packed::Packed;
use rung_lisp::symbol::Symbol;
use rung_lisp::{Escape, Outcome, Value};
use rung_ops::record::Part;
use rung_ops::{Ladder, Op, chain};
use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// What the operations of the chained functions are, and the functions as they were registered.
type Known = HashMap<Symbol, (&'static Op, Value)>;

pub fn bind(
    lisp: &mut Lisp,
    ladder: &Rc<RefCell<Ladder>>,
    asked: Asked,
    operations: &[(Symbol, &'static Op)],
) {
    let chained = operations.iter().filter(|(_, op)| op.chain.is_some());
    let known: Known = chained
        .map(|(symbol, op)| (*symbol, (*op, lisp.symbols[*symbol].function.clone())))
        .collect();
    let arity = |(op, _): &(&'static Op, Value)| op.chain.map_or(0, |link| link.arity);
    let functions = known.iter().map(|(symbol, entry)| (*symbol, arity(entry))).collect();
    let is_first = |(op, _): &(&'static Op, Value)| op.chain.is_some_and(|link| link.is_first());
    let first = known.iter().filter(|(_, entry)| is_first(entry)).map(|(symbol, _)| *symbol);
    let first = first.collect();
    let ladder = ladder.clone();
    let body = move |lisp: &mut Lisp, a: &[Value]| run(lisp, &ladder, asked, &known, a);
    let text = "What a chain of element-wise operations is compiled to.";
    let list = "chain &rest operands";
    let runner = lisp.define_native("linalg", "%chain", list, text, Rc::new(body));
    lisp.chaining = Some(Chaining { runner, functions, first });
}

/// A chain as the ladder takes it, with its functions.
struct Prepared {
    steps: Vec<chain::Step>,
    functions: Vec<(Symbol, Value)>,
    /// The product in it, with the steps that are left when it has been called.
    product: Option<(chain::AfterProduct, Vec<Step>)>,
}

fn run(
    lisp: &mut Lisp,
    ladder: &RefCell<Ladder>,
    asked: Asked,
    known: &Known,
    arguments: &[Value],
) -> Outcome {
    let (Some(chain), operands) = (arguments[0].as_foreign::<Chain>(), &arguments[1..]) else {
        return Err(Escape::program("%chain is for the compiler alone"));
    };
    let prepared = chain.prepared.get_or_init(|| Box::new(prepare(chain, known)));
    if let Some(Some(prepared)) = prepared.downcast_ref::<Option<Prepared>>()
        && prepared.functions.iter().all(|(name, f)| lisp.symbols[*name].function.eql(f))
    {
        asked.tell(lisp, &mut ladder.borrow_mut())?;
        match together(lisp, ladder, &prepared.steps, operands) {
            Some(Err(error)) if error.kind() == ErrorKind::Interrupt => lisp.poll()?,
            Some(result) => return Ok(Value::packed(result?)),
            None => {}
        }
        if let Some((after, rest)) = &prepared.product {
            return product_first(lisp, ladder, chain, (after, rest), operands);
        }
    }
    one_by_one(lisp, &chain.steps, operands)
}

/// The product of a chain by itself, then what follows as a chain.
fn product_first(
    lisp: &mut Lisp,
    ladder: &RefCell<Ladder>,
    chain: &Chain,
    (after, rest): (&chain::AfterProduct, &[Step]),
    operands: &[Value],
) -> Outcome {
    let (at, next) = (after.at, after.at + 2);
    let Some(Step::Call { function, span, .. }) = chain.steps.get(after.place) else {
        return one_by_one(lisp, &chain.steps, operands);
    };
    let product = lisp.call_at(*function, &operands[at..next], *span)?;
    let operands = [&operands[..at], &[product], &operands[next..]].concat();
    match together(lisp, ladder, &after.rest, &operands) {
        Some(result) => Ok(Value::packed(result?)),
        None => one_by_one(lisp, rest, &operands),
    }
}

fn prepare(chain: &Chain, known: &Known) -> Option<Prepared> {
    let (mut steps, mut functions) = (Vec::new(), Vec::new());
    for step in &chain.steps {
        steps.push(match step {
            Step::Argument => chain::Step::Operand,
            Step::Call { function, .. } => {
                let (op, value) = known.get(function)?;
                functions.push((*function, value.clone()));
                chain::Step::Apply(op, op.chain?)
            }
        });
    }
    let product = chain::after_product(&steps).map(|after| {
        let steps = &chain.steps;
        let own = after.place - 2;
        let rest = [&steps[..own], &[Step::Argument], &steps[after.place + 1..]].concat();
        (after, rest)
    });
    Some(Prepared { steps, functions, product })
}

fn together(
    lisp: &Lisp,
    ladder: &RefCell<Ladder>,
    steps: &[chain::Step],
    operands: &[Value],
) -> Option<rung_base::Result<Array>> {
    let arrays: Vec<Option<Ref<Array>>> =
        operands.iter().map(|value| value.as_packed().map(Packed::look)).collect();
    let part = |(array, value)| match array {
        Some(array) => Some(Part::Array(array)),
        None => number_part(value),
    };
    let parts: Option<Vec<Part>> =
        arrays.iter().map(|a| a.as_deref()).zip(operands).map(part).collect();
    ladder.borrow_mut().chain(steps, &parts?, &|| site_of(lisp))
}

/// Each function called as its form says, with errors placed there.
fn one_by_one(lisp: &mut Lisp, steps: &[Step], operands: &[Value]) -> Outcome {
    let (mut operands, mut stack) = (operands.iter(), Vec::with_capacity(8));
    for step in steps {
        match step {
            Step::Argument => stack.extend(operands.next().cloned()),
            Step::Call { function, count, span } => {
                let base = stack.len().saturating_sub(*count);
                let value = lisp.call_at(*function, &stack[base..], *span)?;
                stack.truncate(base);
                stack.push(value);
            }
        }
    }
    stack.pop().ok_or_else(|| Escape::error("a chain without a step"))
}
