//! Arrays from lists and lists from arrays, of any depth.

use crate::arguments::Arguments;
use crate::call::{Context, Prepared};
use crate::construct::DOUBLE;
use crate::record::{Kind, Op, Rungs, keyword, required};
use crate::samples;
use crate::shape::done;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{Error, ErrorKind, Result, Shape, memory};

pub const OPS: &[Op] = &[
    Op {
        names: &["from-list"],
        doc: "An array of the numbers in nested lists, each level of nesting an axis.",
        parameters: &[required("list", Kind::Nested), keyword("element-type", Kind::ElementType)],
        result: "an array; double-float unless an element type is given",
        prepare: from_list,
        samples: || {
            let row = |a: i64| Value::List(vec![samples::integer(a), samples::number(0.5)]);
            let plane = || Value::List(vec![row(1), row(2), row(-3)]);
            vec![
                vec![plane()],
                vec![Value::List(vec![plane(), plane()])],
                vec![Value::Nil],
                vec![row(7), samples::word("element-type"), samples::word("float16")],
            ]
        },
        example: "(la:from-list '((1 2) (3 4))) => #d((1.0 2.0) (3.0 4.0))",
        ..LISTS
    },
    Op {
        names: &["to-list"],
        doc: "The elements as nested lists; of an array of rank 0, the number.",
        parameters: &[required("a", Kind::Array)],
        result: "a list, or a number",
        prepare: |_, mut a, _| done(to_list(&a.array(0)?)?),
        samples: || {
            vec![
                vec![samples::spread(&[2, 3], 1.0)],
                vec![samples::counting(&[2, 2, 3], 9)],
                vec![samples::spread(&[2, 0, 3], 1.0)],
                vec![samples::spread(&[], 1.0)],
            ]
        },
        example: "(la:to-list #d((1 2) (3 4))) => ((1.0 2.0) (3.0 4.0))",
        ..LISTS
    },
];

const LISTS: Op = Op { rungs: Rungs::none("lists are walked one element at a time"), ..Op::BASE };

fn from_list(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let nested = arguments.nested(0);
    let element_type = arguments.element_type(1, DOUBLE)?;
    let (mut extents, mut numbers) = (Vec::new(), Vec::new());
    measure(&nested, &mut extents);
    collect(&nested, &extents, &mut numbers)?;
    done(Array::from_numbers(element_type, Shape::new(extents)?, &numbers)?.into())
}

/// The extents by the first item at each level.
fn measure(value: &Value, extents: &mut Vec<usize>) {
    let mut level = value;
    loop {
        match level {
            Value::List(items) => {
                extents.push(items.len());
                let Some(first) = items.first() else { return };
                level = first;
            }
            Value::Nil => return extents.push(0),
            _ => return,
        }
    }
}

fn collect(value: &Value, extents: &[usize], out: &mut Vec<Number>) -> Result<()> {
    match (value, extents) {
        (Value::Number(n), []) => out.push(*n),
        (Value::Nil, [0]) => {}
        (Value::List(items), [extent, rest @ ..]) if items.len() == *extent => {
            for item in items {
                collect(item, rest, out)?;
            }
        }
        (Value::Number(_) | Value::List(_) | Value::Nil, _) => {
            let text = format!("from-list rows differ in length: {value}");
            let e = Error::new(ErrorKind::Shape, text);
            return Err(match extents {
                [] => e.hint("a number was expected here, as at the start of the list"),
                [extent, ..] => e.hint(format!("{extent} items were expected here")),
            });
        }
        _ => return Err(Error::wanted(ErrorKind::Type, "from-list expects numbers", value)),
    }
    Ok(())
}

/// What an item of a list takes in a front end's own list, beside its place among ours.
const LISTED: usize = 64;

fn to_list(a: &Array) -> Result<Value> {
    let numbers = a.to_numbers()?;
    // Every list but the innermost is an item itself; a front end makes its own of each.
    let mut lists = 1_u64;
    let counts = a.shape().iter().map(|&n| {
        lists = lists.saturating_mul(n as u64);
        lists
    });
    let items = counts.fold(0, u64::saturating_add);
    let bytes = items.saturating_mul((size_of::<Value>() + LISTED) as u64);
    memory::ask(bytes, || format!("a list of the elements of an array of shape {}", a.shape()))?;
    Ok(nested(&mut numbers.into_iter(), a.shape()))
}

/// The next numbers in lists of these extents.
fn nested(numbers: &mut std::vec::IntoIter<Number>, extents: &[usize]) -> Value {
    match extents {
        [] => numbers.next().map_or(Value::Nil, Value::Number),
        [n] => Value::List(numbers.take(*n).map(Value::Number).collect()),
        [n, rest @ ..] => Value::List((0..*n).map(|_| nested(numbers, rest)).collect()),
    }
}
