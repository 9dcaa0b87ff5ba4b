//! Derivatives of kernels, forward: every value gets a second one, its slope by one parameter, from the
//! gradients of the table; every variable of a repetition gets a second variable. What is known to be
//! 0 is left out. The result is a kernel like any other and can be derived again.

use super::expression::{Expression, Function};
use super::flow::{Flow, Id, Made, Repetition};
use super::{After, Declaration, Of, UserKernel};
use crate::gradient::{Gradient, Rule};
use crate::record::Op;
use rung_base::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// A kernel with the same parameters: the derivative of a kernel's elements by one of them. Of a
/// kernel that is a sum it is that of what is summed, which is the gradient of the sum by each element;
/// of another fold that has a gradient it is that, and takes the axes as the fold does.
///
/// # Errors
/// When the operation is no kernel of a program's own, has no such parameter, or makes a fold without a
/// gradient, or is a gradient of a fold itself.
pub fn derivative(op: &'static Op, parameter: &str, name: String) -> Result<Declaration> {
    let Some(kernel) = op.user else {
        let text = format!("{} is no kernel of a program's own", op.name());
        return Err(Error::new(ErrorKind::Argument, text)
            .hint("a derivative is made of what defkernel or defderivative defined"));
    };
    let by = kernel.parameters.iter().position(|(name, _)| name == parameter);
    let by = by.ok_or_else(|| absent(op, kernel, parameter))?;
    let name_of = op.name();
    let slope = || derived(&kernel.expression, kernel.parameters.len(), by);
    let (doc, expression, of) = match &kernel.after {
        After::Nothing => (format!("derivative of {name_of}"), slope()?, Of::Elements),
        After::Gradient(_) => return Err(no_second(op)),
        After::Fold(fold) => match fold.op.gradient {
            Gradient::Spread => {
                (format!("derivative of what {name_of} adds up"), slope()?, Of::Elements)
            }
            Gradient::Zero => {
                (format!("derivative of {name_of}"), Expression::Number(0.0), Of::Elements)
            }
            Gradient::Folded(_) => (format!("gradient of {name_of}"), slope()?, Of::Gradient(op)),
            _ => return Err(not_by_element(op, fold.op)),
        },
    };
    let doc = format!("The {doc} by {parameter}, element by element.");
    let parameters = kernel.parameters.clone();
    Ok(Declaration { name, doc, parameters, expression, of })
}

fn no_second(op: &Op) -> Error {
    let text = format!("{} is the gradient of a fold, which has no derivative here", op.name());
    Error::new(ErrorKind::Argument, text)
        .hint("a kernel of the elements or of their sum has derivatives of any order")
}

fn absent(op: &Op, kernel: &UserKernel, parameter: &str) -> Error {
    let names: Vec<&str> = kernel.parameters.iter().map(|(name, _)| name.as_str()).collect();
    let text = format!("{} has no parameter {parameter}: it has {}", op.name(), names.join(", "));
    Error::new(ErrorKind::Argument, text)
}

fn not_by_element(op: &Op, fold: &Op) -> Error {
    let text = format!(
        "{} makes the {} of its elements, of which no gradient is known",
        op.name(),
        fold.name()
    );
    Error::new(ErrorKind::Argument, text)
        .hint("a kernel of the elements or of their sum, mean, product or norm has one")
}

/// The derivative of an expression of so many parameters by one of them.
fn derived(expression: &Expression, parameters: usize, by: usize) -> Result<Expression> {
    let mut flow = Flow::new(parameters);
    let result = flow.add(expression, &mut (0..parameters).collect());
    let count = flow.values.len();
    let one = flow.number(1.0);
    let mut slopes = Slopes { flow, count, of: HashMap::from([(by, one)]) };
    slopes.region(0)?;
    Ok(match slopes.of.get(&result) {
        Some(slope) => slopes.flow.expression(*slope, parameters),
        None => Expression::Number(0.0),
    })
}

/// The slopes of values; one that has none does not change with the parameter.
struct Slopes {
    flow: Flow,
    /// How many values the kernel has: those after them are the derivative's.
    count: usize,
    of: HashMap<Id, Id>,
}

impl Slopes {
    /// Slopes of all values of a region; those of its variables are known.
    fn region(&mut self, region: usize) -> Result<()> {
        for id in 0..self.count {
            if self.flow.values[id].region != region {
                continue;
            }
            let slope = match self.flow.values[id].made.clone() {
                Made::Number(_) | Made::Variable => continue,
                Made::Call(function, arguments) => self.call(id, function, &arguments)?,
                Made::Repeat(repetition) => self.repeat(&repetition)?,
            };
            self.set(id, slope);
        }
        Ok(())
    }

    fn set(&mut self, id: Id, slope: Option<Id>) {
        match slope {
            Some(slope) => self.of.insert(id, slope),
            None => self.of.remove(&id),
        };
    }

    fn slope(&self, id: Id) -> Option<Id> {
        self.of.get(&id).copied()
    }

    fn slope_or_zero(&mut self, id: Id) -> Id {
        self.slope(id).unwrap_or_else(|| self.flow.number(0.0))
    }

    fn call(&mut self, id: Id, function: Function, arguments: &[Id]) -> Result<Option<Id>> {
        if arguments.iter().all(|argument| self.slope(*argument).is_none()) {
            return Ok(None);
        }
        match function.op.gradient {
            Gradient::Zero => Ok(None),
            Gradient::Elements(rules) => Ok(self.by_rules(id, rules, arguments)),
            Gradient::Chosen => Ok(self.chosen(function, arguments)),
            Gradient::None | Gradient::Spread | Gradient::Folded(_) => {
                let text = format!("no gradient is known of {}", function.op.name());
                Err(Error::new(ErrorKind::Argument, text))
            }
        }
    }

    /// The same choice among the slopes.
    fn chosen(&mut self, function: Function, arguments: &[Id]) -> Option<Id> {
        let slopes: Vec<Id> = arguments[1..].iter().map(|a| self.slope_or_zero(*a)).collect();
        if slopes.iter().all(|slope| *slope == slopes[0]) {
            return Some(slopes[0]).filter(|slope| self.flow.as_number(*slope) != Some(0.0));
        }
        let arguments = [&arguments[..1], &slopes].concat();
        Some(self.flow.call(function, arguments))
    }

    /// The sum of what the rules make of each argument's slope.
    fn by_rules(&mut self, id: Id, rules: &[Rule], arguments: &[Id]) -> Option<Id> {
        // In sight of the rules: the arguments, the result, then the arguments' slopes.
        let mut seen = [arguments, &[id]].concat();
        let given: Vec<Expression> = (0..seen.len()).map(|k| self.variable(&seen, k)).collect();
        let (result, operands) = given.split_last()?;
        let mut total: Option<Expression> = None;
        for (rule, argument) in rules.iter().zip(arguments) {
            let Some(slope) = self.slope(*argument) else { continue };
            seen.push(slope);
            let slope = self.variable(&seen, seen.len() - 1);
            let term = rule(&slope, operands, result);
            if matches!(term, Expression::Number(0.0)) {
                continue;
            }
            total = Some(match total {
                None => term,
                Some(total) => total + term,
            });
        }
        let total = self.flow.add(&total?, &mut seen);
        Some(total).filter(|total| self.flow.as_number(*total) != Some(0.0))
    }

    /// A value in sight, where a number is seen as such.
    fn variable(&self, seen: &[Id], k: usize) -> Expression {
        self.flow.as_number(seen[k]).map_or(Expression::Variable(k), Expression::Number)
    }

    /// Further variables for the slopes of those that have one: in the beginning, or once a next value
    /// has one because others do.
    fn repeat(&mut self, r: &Repetition) -> Result<Option<Id>> {
        let mut doubles: Vec<Option<Id>> = vec![None; r.variables.len()];
        for (double, first) in doubles.iter_mut().zip(&r.first) {
            *double = self.slope(*first).map(|_| self.flow.variable(r.region));
        }
        loop {
            for (variable, double) in r.variables.iter().zip(&doubles) {
                self.set(*variable, *double);
            }
            self.region(r.region)?;
            let mut settled = true;
            for (double, next) in doubles.iter_mut().zip(&r.next) {
                if double.is_none() && self.slope(*next).is_some() {
                    *double = Some(self.flow.variable(r.region));
                    settled = false;
                }
            }
            if settled {
                break;
            }
        }
        let Some(result) = self.slope(r.result) else { return Ok(None) };
        let mut both = Repetition { result, ..r.clone() };
        for (k, double) in doubles.iter().enumerate() {
            let Some(double) = double else { continue };
            both.variables.push(*double);
            both.first.push(self.slope_or_zero(r.first[k]));
            both.next.push(self.slope_or_zero(r.next[k]));
        }
        Ok(Some(self.flow.repeat(both)))
    }
}
