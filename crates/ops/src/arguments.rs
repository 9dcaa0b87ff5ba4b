//! From the values that a front end passes to what an operation's `prepare` reads.
//!
//! `bind` checks the count and the keywords against the record's parameters; the accessors check
//! each value against the parameter's kind, so a record that names a kind and a `prepare` that
//! reads another cannot both pass the table's tests.

use crate::generator::Generator;
use crate::record::{Kind, Op, Parameter, Place};
use crate::value::Value;
use rung_array::{Array, Number, SliceSpec};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use smallvec::SmallVec;

/// The values of one call in the order of the record's parameters; `Nil` where left out.
pub struct Arguments {
    op: &'static Op,
    values: SmallVec<[Value; 4]>,
    /// Whether each keyword was written, from the first on.
    written: Vec<bool>,
}

/// An array, or a number beside one.
#[derive(Clone, Debug)]
pub enum Operand {
    Array(Array),
    Number(Number),
}

/// Indices, or a word in place of them.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexOr {
    Indices(Vec<i64>),
    Word(&'static str),
}

fn usage(message: String) -> Error {
    Error::new(ErrorKind::Argument, message)
}

impl Arguments {
    /// `values` are positional arguments, then keywords each followed by its value; of two equal
    /// keywords the first counts, as the language says.
    pub fn bind(op: &'static Op, values: Vec<Value>) -> Result<Arguments> {
        let fixed = |p: &&Parameter| matches!(p.place, Place::Required | Place::Optional);
        let positions = op.parameters.iter().filter(fixed).count();
        let has_rest = op.parameters.iter().any(|p| p.place == Place::Rest);
        let needed = op.parameters.iter().filter(|p| p.place == Place::Required).count();
        let first_keyword = positions + usize::from(has_rest);
        let keywords = &op.parameters[first_keyword..];
        let given_count = values.len();
        let mut given = values.into_iter().peekable();
        let mut bound: SmallVec<[Value; 4]> = SmallVec::new();
        let is_keyword =
            |v: &Value| matches!(v, Value::Keyword(s) if keywords.iter().any(|p| p.is_called(s)));
        while bound.len() < positions {
            match given.next_if(|v| bound.len() < needed || !is_keyword(v)) {
                Some(value) => bound.push(value),
                None => break,
            }
        }
        if bound.len() < needed {
            return Err(count_error(op, bound.len(), needed, positions));
        }
        bound.resize(positions, Value::Nil);
        if has_rest {
            let mut rest = Vec::new();
            while let Some(value) = given.next_if(|v| !is_keyword(v)) {
                rest.push(value);
            }
            bound.push(Value::List(rest));
        }
        bound.resize(op.parameters.len(), Value::Nil);
        let mut written = vec![false; keywords.len()];
        while let Some(word) = given.next() {
            let Value::Keyword(name) = &word else {
                return Err(count_error(op, given_count, needed, positions));
            };
            let Some(at) = keywords.iter().position(|p| p.is_called(name)) else {
                return Err(unknown_keyword(op, &word, keywords));
            };
            let value =
                given.next().ok_or_else(|| usage("Odd number of keyword arguments".into()))?;
            if !std::mem::replace(&mut written[at], true) {
                bound[first_keyword + at] = value;
            }
        }
        let ranged = op.parameters.iter().zip(&bound).filter(|(p, _)| p.range.is_some());
        ranged.into_iter().try_for_each(|(p, value)| in_range(p, value))?;
        Ok(Arguments { op, values: bound, written })
    }

    fn take(&mut self, at: usize, kind: Kind) -> Value {
        let declared = self.op.parameters[at].kind;
        debug_assert_eq!(
            std::mem::discriminant(&declared),
            std::mem::discriminant(&kind),
            "{} {at}",
            self.op.name()
        );
        std::mem::replace(&mut self.values[at], Value::Nil)
    }

    pub fn is_given(&self, at: usize) -> bool {
        !matches!(self.values[at], Value::Nil)
    }

    /// Whether a keyword was written, be it with nil: not the same where nil means something.
    pub fn is_written(&self, at: usize) -> bool {
        let first = self.op.parameters.len() - self.written.len();
        at.checked_sub(first).map_or_else(|| self.is_given(at), |keyword| self.written[keyword])
    }

    pub fn operand(&mut self, at: usize) -> Result<Operand> {
        operand(self.take(at, Kind::Operand))
    }

    /// An array; a number counts as one of rank 0.
    pub fn array(&mut self, at: usize) -> Result<Array> {
        match self.take(at, Kind::Array) {
            Value::Array(a) => Ok(a),
            Value::Number(n) => number_array(n),
            other => Err(no_array(&other)),
        }
    }

    /// The extents of an array, of a number (none) or of a quantised matrix.
    pub fn header(&mut self, at: usize) -> Result<Shape> {
        match &self.values[at] {
            Value::Quantized(q) => Shape::new(q.shape()),
            _ => self.array(at).map(|array| array.shape().clone()),
        }
    }

    pub fn arrays(&mut self, at: usize) -> Result<Vec<Array>> {
        let item = |v: Value| match v {
            Value::Array(a) => Ok(a),
            Value::Number(n) => number_array(n),
            other => Err(no_array(&other)),
        };
        match self.take(at, Kind::Arrays) {
            Value::List(items) => items.into_iter().map(item).collect(),
            Value::Nil => Ok(Vec::new()),
            other => Err(wanted("expected a list of arrays", &other)),
        }
    }

    pub fn number(&mut self, at: usize) -> Result<Number> {
        match self.take(at, Kind::Number) {
            Value::Number(n) => Ok(n),
            other => Err(wanted("expected a number", &other)),
        }
    }

    pub fn integer(&mut self, at: usize) -> Result<i64> {
        let value = self.take(at, Kind::Integer);
        integer(&value).ok_or_else(|| no_integer(&value))
    }

    /// Numbers for the height and the width of planes.
    pub fn pair(&mut self, at: usize) -> Result<Option<[i64; 2]>> {
        let value = self.take(at, Kind::Pair);
        let both = match &value {
            Value::Nil => return Ok(None),
            Value::List(items) => match &items[..] {
                [h, w] => integer(h).zip(integer(w)).map(|(h, w)| [h, w]),
                _ => None,
            },
            one => integer(one).map(|n| [n, n]),
        };
        let name = self.op.parameters[at].name;
        let wanted_text = format!("expected {name} to be an integer or a list of two");
        both.map(Some).ok_or_else(|| wanted(&wanted_text, &value))
    }

    pub fn optional_integer(&mut self, at: usize) -> Result<Option<i64>> {
        if self.is_given(at) { self.integer(at).map(Some) } else { Ok(None) }
    }

    /// Extents as written: an integer or a list; the operation judges negative ones.
    pub fn extents(&mut self, at: usize) -> Result<Vec<i64>> {
        let value = self.take(at, Kind::Shape);
        match &value {
            Value::Nil => Some(Vec::new()),
            Value::List(items) => items.iter().map(integer).collect(),
            one => integer(one).map(|n| vec![n]),
        }
        .ok_or_else(|| shape_error(&value))
    }

    pub fn shape(&mut self, at: usize) -> Result<Shape> {
        let extents = self.extents(at)?;
        let each = extents.iter().map(|&n| usize::try_from(n));
        let extents: Vec<usize> = each.collect::<std::result::Result<_, _>>().map_err(|_| {
            shape_error(&Value::List(extents.iter().map(|&n| Value::integer(n)).collect()))
        })?;
        Shape::new(extents)
    }

    pub fn integers(&mut self, at: usize) -> Result<Option<Vec<i64>>> {
        let value = self.take(at, Kind::Integers);
        match &value {
            Value::Nil => return Ok(None),
            Value::List(items) => items.iter().map(integer).collect::<Option<_>>(),
            _ => None,
        }
        .ok_or_else(|| wanted("expected a list of integers", &value))
        .map(Some)
    }

    /// An array of integers that is on a device, where the argument is one; reads nothing.
    pub fn attached_integers(&self, at: usize) -> Option<Array> {
        match &self.values[at] {
            Value::Array(a) if a.is_attached() && !a.element_type().is_float() => Some(a.clone()),
            _ => None,
        }
    }

    /// The indices in row-major order, and the shape in which they came.
    pub fn index(&mut self, at: usize) -> Result<(Vec<i64>, Shape)> {
        indices_of(&self.take(at, Kind::Index))
    }

    /// An integer or several; `None` when it is left out.
    pub fn each(&mut self, at: usize) -> Result<Option<Vec<i64>>> {
        match self.take(at, Kind::Each) {
            Value::Nil => Ok(None),
            value => match indices_of(&value) {
                Ok((all, _)) => Ok(Some(all)),
                Err(_) => Err(wanted("expected an integer, or integers", &value)),
            },
        }
    }

    /// The indices, or one of the words; `None` when it is left out.
    pub fn index_or(&mut self, at: usize) -> Result<Option<IndexOr>> {
        let Kind::IndexOr(words) = self.op.parameters[at].kind else { return Ok(None) };
        let word = match &self.values[at] {
            Value::Nil => return Ok(None),
            Value::Keyword(name) | Value::Symbol(name) => Some(name.clone()),
            _ => None,
        };
        let Some(name) = word else {
            let value = self.take(at, Kind::IndexOr(words));
            return indices_of(&value).map(|(indices, _)| Some(IndexOr::Indices(indices)));
        };
        let found = words.iter().find(|word| **word == name.as_ref());
        found.map(|word| Some(IndexOr::Word(word))).ok_or_else(|| {
            let wanted_text =
                format!("expected {} to be {}", self.op.parameters[at].name, or_words(words));
            wanted(&wanted_text, &self.values[at])
        })
    }

    pub fn element_type(&mut self, at: usize, default: ElementType) -> Result<ElementType> {
        let value = self.take(at, Kind::ElementType);
        let text = match &value {
            Value::Nil => return Ok(default),
            Value::Symbol(name) | Value::Keyword(name) => name.to_string(),
            // (signed-byte 64) arrives as a list of a symbol and a number.
            Value::List(items) => {
                let words = items.iter().map(|v| match v {
                    Value::Symbol(s) | Value::Keyword(s) => s.to_string(),
                    other => other.to_string(),
                });
                format!("({})", words.collect::<Vec<_>>().join(" "))
            }
            other => other.to_string(),
        };
        ElementType::parse(&text).ok_or_else(|| {
            let known: Vec<&str> = ElementType::ALL.iter().map(|t| t.lisp_name()).collect();
            Error::new(ErrorKind::ElementType, format!("unknown element type: {value}"))
                .hint(format!("known: {}", known.join(", ")))
        })
    }

    pub fn flag(&mut self, at: usize) -> bool {
        !matches!(self.take(at, Kind::Flag), Value::Nil)
    }

    /// None where it was not written.
    pub fn truth(&mut self, at: usize) -> Option<bool> {
        let is_written = self.is_written(at);
        let value = self.take(at, Kind::Truth);
        is_written.then_some(!matches!(value, Value::Nil))
    }

    pub fn slices(&mut self, at: usize) -> Result<Vec<SliceSpec>> {
        match self.take(at, Kind::Slices) {
            Value::List(items) => items.iter().map(slice_spec).collect(),
            Value::Nil => Ok(Vec::new()),
            other => Err(wanted("expected a list of slices", &other)),
        }
    }

    pub fn nested(&mut self, at: usize) -> Value {
        self.take(at, Kind::Nested)
    }

    /// The generator to draw from; `None` for the process's.
    pub fn generator(&mut self, at: usize) -> Result<Option<Generator>> {
        match self.take(at, Kind::Generator) {
            Value::Nil => Ok(None),
            Value::Generator(generator) => Ok(Some(generator)),
            other => Err(wanted("expected a generator, as (la:philox 42) makes", &other)),
        }
    }

    /// A packed vector, as it is.
    pub fn vector(&mut self, at: usize) -> Result<Array> {
        let value = self.take(at, Kind::Vector);
        let Value::Array(a) = value else { return Err(wanted("expected a packed vector", &value)) };
        match a.rank() {
            1 => Ok(a),
            rank => {
                let text = format!("expected a vector, got rank {rank}");
                Err(Error::new(ErrorKind::Shape, text).hint(format!("its shape is {}", a.shape())))
            }
        }
    }

    /// The value as it came.
    pub fn any(&mut self, at: usize) -> Value {
        self.take(at, Kind::Any)
    }

    /// Every value of a `&rest` parameter as an operand.
    pub fn rest(&mut self, at: usize) -> Result<Vec<Operand>> {
        match self.take(at, Kind::Operand) {
            Value::List(items) => items.into_iter().map(operand).collect(),
            other => operand(other).map(|one| vec![one]),
        }
    }

    /// The axes of a keyword, counted from 0 and distinct, in the order given; `None` for all.
    pub fn axes(&mut self, at: usize, shape: &Shape) -> Result<Option<SmallVec<[usize; 4]>>> {
        let value = self.take(at, Kind::Axes);
        let given: Option<Vec<i64>> = match &value {
            Value::Nil => return Ok(None),
            Value::List(items) => items.iter().map(integer).collect(),
            one => integer(one).map(|n| vec![n]),
        };
        let given = given.ok_or_else(|| wanted("expected an axis or a list of axes", &value))?;
        let mut axes = SmallVec::new();
        for axis in given {
            let axis = shape.axis(axis)?;
            if axes.contains(&axis) {
                return Err(Error::new(ErrorKind::Axis, format!("repeated axis: {axis}")));
            }
            axes.push(axis);
        }
        Ok(Some(axes))
    }

    pub fn text(&mut self, at: usize) -> Result<String> {
        match self.take(at, Kind::Text) {
            Value::Text(text) => Ok(text),
            other => Err(wanted("expected a string", &other)),
        }
    }

    /// The chosen word of a parameter's list; `None` when it is left out.
    pub fn choice(&mut self, at: usize) -> Result<Option<&'static str>> {
        let Kind::Choice(words) = self.op.parameters[at].kind else { return Ok(None) };
        let value = self.take(at, Kind::Choice(words));
        let found = match &value {
            Value::Nil => return Ok(None),
            Value::Keyword(name) | Value::Symbol(name) => {
                words.iter().find(|word| **word == name.as_ref())
            }
            _ => None,
        };
        found.copied().map(Some).ok_or_else(|| {
            let known: Vec<String> = words.iter().map(|word| format!(":{word}")).collect();
            let name = self.op.parameters[at].name;
            wanted(&format!("expected {name} to be one of {}", known.join(" ")), &value)
        })
    }
}

/// The integers of an argument that takes some (`Kind::Index`), in row-major order.
///
/// # Errors
/// What is no integer.
pub fn indices(value: &Value) -> Result<Vec<i64>> {
    indices_of(value).map(|(indices, _)| indices)
}

/// The indices of a value in row-major order, and the shape in which they came.
fn indices_of(value: &Value) -> Result<(Vec<i64>, Shape)> {
    let (numbers, shape): (Option<Vec<i64>>, Shape) = match value {
        Value::Array(a) => (Some(index_numbers(a)?), a.shape().clone()),
        Value::List(items) => (items.iter().map(integer).collect(), Shape::vector(items.len())),
        Value::Nil => (Some(Vec::new()), Shape::vector(0)),
        one => (integer(one).map(|n| vec![n]), Shape::scalar()),
    };
    let indices = numbers.ok_or_else(|| wanted("expected integer indices", value))?;
    Ok((indices, shape))
}

/// An error unless the numbers of a value are in the parameter's range; what is no number is judged
/// by who reads it.
fn in_range(parameter: &Parameter, value: &Value) -> Result<()> {
    let Some(range) = parameter.range else { return Ok(()) };
    let judge = |n: Number| match range.holds(n.to_f64()) {
        true => Ok(()),
        false => {
            let text = format!("{} must be {range}", parameter.name);
            Err(Error::wanted(ErrorKind::Argument, text, n))
        }
    };
    match value {
        Value::Number(n) => judge(*n),
        Value::Array(array) => {
            array.home()?;
            array.numbers().try_for_each(judge)
        }
        Value::List(items) => items.iter().try_for_each(|item| in_range(parameter, item)),
        _ => Ok(()),
    }
}

/// `indices or :random`.
fn or_words(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!(":{word}")).collect();
    format!("indices or {}", words.join(" or "))
}

/// What is neither an array nor a number.
fn no_array(value: &Value) -> Error {
    let e = wanted("expected an array or a number", value);
    match value {
        Value::List(_) => e.hint("(la:from-list '(1 2 3)) makes an array of a list"),
        _ => e,
    }
}

fn operand(value: Value) -> Result<Operand> {
    match value {
        Value::Array(a) => Ok(Operand::Array(a)),
        Value::Number(n) => Ok(Operand::Number(n)),
        other => Err(no_array(&other)),
    }
}

fn unknown_keyword(op: &'static Op, word: &Value, keywords: &[Parameter]) -> Error {
    let known: Vec<String> = keywords.iter().map(|p| format!(":{}", p.name)).collect();
    let e = usage(format!("Unknown keyword argument: {word}"));
    match known.is_empty() {
        true => e.hint(format!("{} takes no keywords", op.name())),
        false => e.hint(format!("{} takes {}", op.name(), known.join(" "))),
    }
}

fn wanted(what: &str, got: &Value) -> Error {
    Error::wanted(ErrorKind::Type, what, got)
}

fn shape_error(got: &Value) -> Error {
    let error = Error::wanted(ErrorKind::Shape, "shape expects non-negative integers", got);
    error.hint("3 is a vector's shape, '(2 3) a matrix's")
}

fn count_error(op: &'static Op, got: usize, needed: usize, most: usize) -> Error {
    let any_more = op.parameters.iter().any(|p| p.place == Place::Rest);
    let count = match needed == most {
        true if any_more => format!("at least {needed}"),
        true => format!("{needed}"),
        false => format!("{needed} to {most}"),
    };
    let plural = if most == 1 { "" } else { "s" };
    let keywords = op.parameters.iter().any(|p| p.place == Place::Keyword);
    let positional = if keywords { "positional " } else { "" };
    usage(format!("{} takes {count} {positional}argument{plural}: got {got}", op.name()))
        .hint(format!("its arguments are {}", op.lambda_list()))
}

pub(crate) fn number_array(n: Number) -> Result<Array> {
    Array::full(number_type(n), Shape::scalar(), n)
}

/// The elements as indices: floats are truncated (spec linalg 1.4); NaN is none, and what 64 bits
/// cannot hold becomes an index that no axis has.
fn index_numbers(a: &Array) -> Result<Vec<i64>> {
    a.home()?;
    // First, since a broadcast view has any size.
    let mut indices = memory::room(a.size(), || format!("{} indices", a.size()))?;
    if a.element_type().is_float()
        && let Some((at, n)) = a.numbers().enumerate().find(|(_, n)| is_no_index(n.to_f64()))
    {
        let text = format!("expected integers as indices: element {at} is {n}");
        return Err(Error::new(ErrorKind::Index, text));
    }
    match (a.as_slice::<i64>(), a.as_slice::<f64>()) {
        (Some(whole), _) => indices.extend_from_slice(whole),
        (_, Some(floats)) => indices.extend(floats.iter().map(|&x| index_number(Number::F64(x)))),
        _ => indices.extend(a.numbers().map(index_number)),
    }
    Ok(indices)
}

/// NaN, or between two integers; what is too large is found out of range.
fn is_no_index(x: f64) -> bool {
    x.is_nan() || x.fract() != 0.0
}

fn index_number(n: Number) -> i64 {
    n.to_i64().unwrap_or(i64::MAX)
}

/// The element type that holds a number as it is.
pub fn number_type(n: Number) -> ElementType {
    match n {
        Number::F64(_) => ElementType::F64,
        Number::F32(_) => ElementType::F32,
        Number::I64(_) => ElementType::I64,
        Number::Bool(_) => ElementType::Bool,
    }
}

/// An integer beyond 64 bits arrives as a float.
fn no_integer(value: &Value) -> Error {
    match value {
        Value::Number(Number::F64(x)) if x.abs() >= i64::MAX as f64 && x.is_finite() => wanted(
            "expected an integer of 64 bits",
            value,
        )
        .hint(format!("from {} to {}", i64::MIN, i64::MAX)),
        _ => wanted("expected an integer", value),
    }
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(Number::I64(n)) => Some(*n),
        _ => None,
    }
}

fn slice_spec(value: &Value) -> Result<SliceSpec> {
    let bad = || Error::wanted(ErrorKind::Type, "slice expects nil or (start end [step])", value);
    let bound = |v: &Value| match v {
        Value::Nil => Ok(None),
        // An integer beyond 64 bits arrives as a float; either end clips it.
        Value::Number(Number::F64(x)) if x.abs() > i64::MAX as f64 => Ok(Some(*x as i64)),
        other => integer(other).map(Some).ok_or_else(bad),
    };
    match value {
        Value::Nil => Ok(SliceSpec::ALL),
        Value::List(parts) if (1..=3).contains(&parts.len()) => Ok(SliceSpec {
            start: bound(&parts[0])?,
            end: parts.get(1).map_or(Ok(None), bound)?,
            step: parts.get(2).map_or(Ok(None), bound)?.unwrap_or(1),
        }),
        _ => Err(bad()),
    }
}
