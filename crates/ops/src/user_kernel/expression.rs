//! Expressions of numbers: what a kernel of a program's own computes, and what the gradients of the
//! table are written in. The operators simplify what they can without changing a bit at any width:
//! nothing is multiplied by 1, and what every width computes alike is computed at once.

use crate::record::{Link, Op};
use crate::table;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An expression of numbers. Variables are numbered as they come into sight: the parameters, then
/// the bindings around the place, outer ones first.
#[derive(Clone, Debug)]
pub enum Expression {
    Number(f64),
    Variable(usize),
    Call(Function, Vec<Expression>),
    /// Values for further variables, each in sight of the next, and what is made of them.
    Let(Vec<Expression>, Box<Expression>),
    /// Variables that begin as the first values and become the next ones, all at once, so many times;
    /// and what is made of them.
    Repeat {
        times: usize,
        first: Vec<Expression>,
        /// Values that each time are made before the next ones and are in their sight, each also in
        /// that of those after it.
        each: Vec<Expression>,
        next: Vec<Expression>,
        result: Box<Expression>,
    },
}

/// What an expression may call.
#[derive(Clone, Copy)]
pub struct Function {
    pub(super) op: &'static Op,
    pub(super) link: Link,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.op.name())
    }
}

impl Function {
    /// The element-wise operation of this name that can be linked.
    pub fn named(name: &str) -> Option<Function> {
        let op = table::find(name)?;
        let link = op.link.or(op.chain).filter(|link| !link.is_first())?;
        Some(Function { op, link })
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        self.link.arity
    }
}

const SUM: &str = "add";
const DIFFERENCE: &str = "sub";
const PRODUCT: &str = "mul";
const QUOTIENT: &str = "div";
const NEGATIVE: &str = "negative";

impl Expression {
    /// A call of an element-wise operation by its name, in a text of ours.
    ///
    /// # Panics
    /// When there is none; the test of all gradients makes each of them.
    pub fn of<const N: usize>(name: &str, arguments: [Expression; N]) -> Expression {
        match Function::named(name) {
            Some(function) => Expression::Call(function, arguments.into()),
            None => panic!("no element-wise operation is called {name}"),
        }
    }

    /// With `more` variables in sight after the first `before`.
    pub(super) fn moved(&self, before: usize, more: usize) -> Expression {
        let of = |e: &Expression| e.moved(before, more);
        let all = |list: &[Expression]| list.iter().map(of).collect::<Vec<_>>();
        match self {
            Expression::Number(x) => Expression::Number(*x),
            Expression::Variable(n) if *n < before => Expression::Variable(*n),
            Expression::Variable(n) => Expression::Variable(n + more),
            Expression::Call(function, arguments) => Expression::Call(*function, all(arguments)),
            Expression::Let(values, body) => Expression::Let(all(values), Box::new(of(body))),
            Expression::Repeat { times, first, each, next, result } => Expression::Repeat {
                times: *times,
                first: all(first),
                each: all(each),
                next: all(next),
                result: Box::new(of(result)),
            },
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Expression::Number(x) => Some(*x),
            _ => None,
        }
    }

    fn is(&self, x: f64) -> bool {
        self.number() == Some(x)
    }

    /// What this is the negative of.
    fn turned(&self) -> Option<&Expression> {
        match self {
            Expression::Call(function, arguments) if function.op.name() == NEGATIVE => {
                arguments.first()
            }
            _ => None,
        }
    }
}

impl From<f64> for Expression {
    fn from(x: f64) -> Expression {
        Expression::Number(x)
    }
}

impl From<&Expression> for Expression {
    fn from(expression: &Expression) -> Expression {
        expression.clone()
    }
}

/// The value of an operator over two numbers, where every width computes the same: operands and value
/// are f32 numbers, so that rounding to f32 or to f64 leaves this value.
fn exact(a: &Expression, b: &Expression, f: fn(f64, f64) -> f64) -> Option<Expression> {
    let (a, b) = (a.number()?, b.number()?);
    let value = f(a, b);
    let fits = |x: f64| x.is_finite() && f64::from(x as f32) == x;
    [a, b, value].into_iter().all(fits).then_some(Expression::Number(value))
}

fn sum(a: Expression, b: Expression) -> Expression {
    if let Some(b) = b.turned() {
        return difference(a, b.clone());
    }
    exact(&a, &b, |a, b| a + b).unwrap_or_else(|| Expression::of(SUM, [a, b]))
}

fn difference(a: Expression, b: Expression) -> Expression {
    exact(&a, &b, |a, b| a - b).unwrap_or_else(|| Expression::of(DIFFERENCE, [a, b]))
}

fn product(a: Expression, b: Expression) -> Expression {
    match (&a, &b) {
        _ if a.is(1.0) => b,
        _ if b.is(1.0) => a,
        _ if a.is(-1.0) => -b,
        _ if b.is(-1.0) => -a,
        _ => exact(&a, &b, |a, b| a * b).unwrap_or_else(|| Expression::of(PRODUCT, [a, b])),
    }
}

fn quotient(a: Expression, b: Expression) -> Expression {
    match b.is(1.0) {
        true => a,
        false => exact(&a, &b, |a, b| a / b).unwrap_or_else(|| Expression::of(QUOTIENT, [a, b])),
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $made:ident) => {
        impl<R: Into<Expression>> $trait<R> for Expression {
            type Output = Expression;
            fn $method(self, other: R) -> Expression {
                $made(self, other.into())
            }
        }

        impl<R: Into<Expression>> $trait<R> for &Expression {
            type Output = Expression;
            fn $method(self, other: R) -> Expression {
                $made(self.clone(), other.into())
            }
        }

        impl $trait<Expression> for f64 {
            type Output = Expression;
            fn $method(self, other: Expression) -> Expression {
                $made(self.into(), other)
            }
        }

        impl $trait<&Expression> for f64 {
            type Output = Expression;
            fn $method(self, other: &Expression) -> Expression {
                $made(self.into(), other.clone())
            }
        }
    };
}

operator!(Add, add, sum);
operator!(Sub, sub, difference);
operator!(Mul, mul, product);
operator!(Div, div, quotient);

impl Neg for Expression {
    type Output = Expression;
    fn neg(self) -> Expression {
        match (self.number(), self.turned()) {
            (Some(x), _) => Expression::Number(-x),
            (_, Some(x)) => x.clone(),
            _ => Expression::of(NEGATIVE, [self]),
        }
    }
}

impl Neg for &Expression {
    type Output = Expression;
    fn neg(self) -> Expression {
        -self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(expression: Expression) -> String {
        match expression {
            Expression::Number(x) => format!("{x:?}"),
            Expression::Variable(n) => format!("v{n}"),
            Expression::Call(function, arguments) => {
                let arguments: Vec<String> = arguments.into_iter().map(shown).collect();
                format!("({function:?} {})", arguments.join(" "))
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn operators_leave_out_what_changes_no_bit() {
        let v = Expression::Variable(0);
        assert_eq!(shown(1.0 * &v), "v0");
        assert_eq!(shown(&v * 1.0 / 1.0), "v0");
        assert_eq!(shown(-1.0 * &v), "(negative v0)");
        assert_eq!(shown(-(-&v)), "v0");
        assert_eq!(shown(2.0 + -&v), "(sub 2.0 v0)");
        assert_eq!(shown(Expression::Number(3.0) - 1.0), "2.0");
        assert_eq!(shown(Expression::Number(3.0) / 2.0), "1.5");
        assert_eq!(shown(Expression::Number(0.1) + 1.0), "(add 0.1 1.0)", "f32 has another 0.1");
        assert_eq!(shown(Expression::Number(1.0) / 3.0), "(div 1.0 3.0)");
        // -0.0 + 0.0 is 0.0, and 0.0 * inf is NaN.
        assert_eq!(shown(&v + 0.0), "(add v0 0.0)");
        assert_eq!(shown(0.0 * &v), "(mul 0.0 v0)");
        let large = Expression::Number(16_777_216.0);
        assert_eq!(shown(large + 1.0), "(add 16777216.0 1.0)", "f32 has no 2^24 + 1");
    }
}
