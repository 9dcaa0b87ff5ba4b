//! An expression as values, each once, and back. Equal calls of equal values are one value, what no
//! result needs is left out, and what does not change in a repetition is made before it. On the way
//! back a value that is used more than once is bound, so that an expression never grows by being
//! written out.
//!
//! Values stand in regions: 0 is the kernel, and every repetition has one of its own, numbered after
//! those around it. A value's region is the innermost of its operands' ones.

use super::expression::{Expression, Function};
use std::collections::{BTreeMap, HashMap};

/// A value, by its number; operands come before users.
pub(super) type Id = usize;

#[derive(Clone)]
pub(super) enum Made {
    Number(f64),
    /// A parameter, or a variable of a repetition.
    Variable,
    Call(Function, Vec<Id>),
    Repeat(Repetition),
}

/// Variables that begin as `first` and become `next`, so many times; the result is of its region.
#[derive(Clone)]
pub(super) struct Repetition {
    pub times: usize,
    pub region: usize,
    pub variables: Vec<Id>,
    pub first: Vec<Id>,
    pub next: Vec<Id>,
    pub result: Id,
    /// Values from around it that are used in its region.
    pub outer: Vec<Id>,
}

pub(super) struct Value {
    pub made: Made,
    pub region: usize,
}

/// What two values may have in common.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Number(u64),
    Call(&'static str, Vec<Id>),
}

pub(super) struct Flow {
    pub values: Vec<Value>,
    regions: usize,
    known: HashMap<Key, Id>,
}

impl Flow {
    /// Values 0 .. are the parameters.
    pub fn new(parameters: usize) -> Flow {
        let mut flow = Flow { values: Vec::new(), regions: 1, known: HashMap::new() };
        for _ in 0..parameters {
            flow.variable(0);
        }
        flow
    }

    fn push(&mut self, made: Made, region: usize) -> Id {
        self.values.push(Value { made, region });
        self.values.len() - 1
    }

    /// A variable of a region's repetition.
    pub fn variable(&mut self, region: usize) -> Id {
        self.push(Made::Variable, region)
    }

    pub fn number(&mut self, x: f64) -> Id {
        if let Some(id) = self.known.get(&Key::Number(x.to_bits())) {
            return *id;
        }
        let id = self.push(Made::Number(x), 0);
        self.known.insert(Key::Number(x.to_bits()), id);
        id
    }

    /// The number that a value is, if it is one.
    pub fn as_number(&self, id: Id) -> Option<f64> {
        match self.values[id].made {
            Made::Number(x) => Some(x),
            _ => None,
        }
    }

    pub fn call(&mut self, function: Function, arguments: Vec<Id>) -> Id {
        let key = Key::Call(function.op.name(), arguments.clone());
        if let Some(id) = self.known.get(&key) {
            return *id;
        }
        let region = self.innermost(&arguments);
        let id = self.push(Made::Call(function, arguments), region);
        self.known.insert(key, id);
        id
    }

    fn innermost(&self, ids: &[Id]) -> usize {
        ids.iter().map(|id| self.values[*id].region).max().unwrap_or(0)
    }

    /// The value of an expression; `seen` are those of the variables in sight.
    pub fn add(&mut self, expression: &Expression, seen: &mut Vec<Id>) -> Id {
        match expression {
            Expression::Number(x) => self.number(*x),
            Expression::Variable(n) => seen[*n],
            Expression::Call(function, arguments) => {
                let arguments = self.all(arguments, seen);
                self.call(*function, arguments)
            }
            Expression::Let(values, body) => {
                let before = seen.len();
                self.bind(values, seen);
                let body = self.add(body, seen);
                seen.truncate(before);
                body
            }
            Expression::Repeat { times, first, each, next, result } => {
                let (before, region) = (seen.len(), self.regions);
                self.regions += 1;
                let first = self.all(first, seen);
                let variables: Vec<Id> = first.iter().map(|_| self.variable(region)).collect();
                seen.extend(&variables);
                let inner = seen.len();
                self.bind(each, seen);
                let next = self.all(next, seen);
                seen.truncate(inner);
                let result = self.add(result, seen);
                seen.truncate(before);
                let outer = Vec::new();
                let times = *times;
                self.repeat(Repetition { times, region, variables, first, next, result, outer })
            }
        }
    }

    fn all(&mut self, expressions: &[Expression], seen: &mut Vec<Id>) -> Vec<Id> {
        expressions.iter().map(|e| self.add(e, seen)).collect()
    }

    fn bind(&mut self, values: &[Expression], seen: &mut Vec<Id>) {
        for value in values {
            let id = self.add(value, seen);
            seen.push(id);
        }
    }

    /// A repetition, without the variables that its result does not need.
    pub fn repeat(&mut self, mut r: Repetition) -> Id {
        let mut needed = vec![false; r.variables.len()];
        let mut roots = vec![r.result];
        let (inner, outer) = loop {
            let (inner, outer) = self.reached(&roots, r.region);
            let before = roots.len();
            for (k, variable) in r.variables.iter().enumerate() {
                if !needed[k] && inner.contains_key(variable) {
                    needed[k] = true;
                    roots.push(r.next[k]);
                }
            }
            if roots.len() == before {
                break (inner, outer);
            }
        };
        if inner.is_empty() {
            return r.result;
        }
        for list in [&mut r.variables, &mut r.first, &mut r.next] {
            let mut keep = needed.iter();
            list.retain(|_| keep.next().is_some_and(|needed| *needed));
        }
        r.outer = outer;
        let region = self.innermost(&r.first).max(self.innermost(&r.outer));
        self.push(Made::Repeat(r), region)
    }

    /// The values of a region that the roots need, with how often each is used, and those from
    /// around it.
    fn reached(&self, roots: &[Id], region: usize) -> (BTreeMap<Id, usize>, Vec<Id>) {
        let (mut uses, mut outer) = (BTreeMap::new(), Vec::new());
        let mut waiting = BTreeMap::new();
        for root in roots {
            *waiting.entry(*root).or_insert(0) += 1;
        }
        // Users have higher numbers, so that all uses of the last one are known.
        while let Some((id, count)) = waiting.pop_last() {
            let value = &self.values[id];
            if value.region < region {
                outer.push(id);
                continue;
            }
            uses.insert(id, count);
            let mut uses_of = |ids: &[Id], times: usize| {
                ids.iter().for_each(|id| *waiting.entry(*id).or_insert(0) += times);
            };
            match &value.made {
                Made::Number(_) | Made::Variable => {}
                Made::Call(_, arguments) => uses_of(arguments, 1),
                Made::Repeat(r) => {
                    uses_of(&r.first, 1);
                    // Bound before it: it is not to be made again each time.
                    uses_of(&r.outer, 2);
                }
            }
        }
        (uses, outer)
    }

    /// The expression of a value of region 0.
    pub fn expression(&self, result: Id, parameters: usize) -> Expression {
        let places = (0..parameters).map(|n| (n, n)).collect();
        Writer { flow: self, places, height: parameters }.closed(result, 0)
    }
}

/// Writes values as expressions.
struct Writer<'a> {
    flow: &'a Flow,
    /// The variables in sight.
    places: HashMap<Id, usize>,
    height: usize,
}

impl Writer<'_> {
    /// A value of a region with all that it needs from there.
    fn closed(&mut self, result: Id, region: usize) -> Expression {
        let (bound, mut result) = self.written(&[result], region);
        let result = result.remove(0);
        if bound.is_empty() { result } else { Expression::Let(bound, Box::new(result)) }
    }

    /// What is bound for the roots, and they.
    fn written(&mut self, roots: &[Id], region: usize) -> (Vec<Expression>, Vec<Expression>) {
        let before = self.height;
        let (uses, _) = self.flow.reached(roots, region);
        let (mut bound, mut bound_ids) = (Vec::new(), Vec::new());
        // Values that are used once, until then.
        let mut loose: HashMap<Id, Expression> = HashMap::new();
        for (id, count) in uses {
            let (expression, once) = match &self.flow.values[id].made {
                Made::Number(_) | Made::Variable => continue,
                Made::Call(function, arguments) => {
                    let arguments = self.taken(arguments, &mut loose);
                    (Expression::Call(*function, arguments), count == 1)
                }
                // Where it stands its own variables are numbered from here.
                Made::Repeat(r) => (self.repetition(r, &mut loose), false),
            };
            if once {
                loose.insert(id, expression);
            } else {
                bound.push(expression);
                bound_ids.push(id);
                self.places.insert(id, self.height);
                self.height += 1;
            }
        }
        let roots = self.taken(roots, &mut loose);
        self.height = before;
        self.out_of_sight(&bound_ids);
        (bound, roots)
    }

    fn out_of_sight(&mut self, ids: &[Id]) {
        for id in ids {
            self.places.remove(id);
        }
    }

    fn taken(&self, ids: &[Id], loose: &mut HashMap<Id, Expression>) -> Vec<Expression> {
        let one = |id: &Id| match (&self.flow.values[*id].made, self.places.get(id)) {
            (Made::Number(x), _) => Expression::Number(*x),
            (_, Some(place)) => Expression::Variable(*place),
            // A value is written before its users: there is one.
            _ => loose.remove(id).unwrap_or(Expression::Number(f64::NAN)),
        };
        ids.iter().map(one).collect()
    }

    fn repetition(&mut self, r: &Repetition, loose: &mut HashMap<Id, Expression>) -> Expression {
        let first = self.taken(&r.first, loose);
        let before = self.height;
        for variable in &r.variables {
            self.places.insert(*variable, self.height);
            self.height += 1;
        }
        let (each, next) = self.written(&r.next, r.region);
        let result = Box::new(self.closed(r.result, r.region));
        self.out_of_sight(&r.variables);
        self.height = before;
        Expression::Repeat { times: r.times, first, each, next, result }
    }
}
