//! How gradients come back through an operation: the gradient field of its record. A rule is an
//! expression, so that it becomes a kernel (`user_kernel::derivative`), the derivative of that kernel
//! another one, and whoever goes backward over whole arrays reads the same rule.
//!
//! At corners the rules choose one slope and keep it: abs has 0 at 0, relu 0 at 0; two equal
//! operands of maximum and minimum have half each. Where a formula divides by zero, its infinity or
//! NaN stays: sqrt has inf at 0.

use crate::user_kernel::Expression;

/// The gradient of an operand from g, that of the result, the operands and the result: an expression
/// that is proportional to g.
pub type Rule = fn(&Expression, &[Expression], &Expression) -> Expression;

/// What a record says about gradients.
#[derive(Clone, Copy)]
pub enum Gradient {
    /// Nothing is known.
    None,
    /// The result is constant between its steps: 0, also at them.
    Zero,
    /// A rule for each operand, element by element.
    Elements(&'static [Rule]),
    /// The first operand says which of the others an element is: that one has g, the other 0.
    Chosen,
    /// Every element that is folded has the gradient of the result.
    Spread,
}

/// Rules that stand by themselves: nothing, and g as it comes.
pub(crate) const NOTHING: Rule = |_, _, _| Expression::Number(0.0);
pub(crate) const ITSELF: Rule = |g, _, _| g.clone();

/// A function of one number.
pub(crate) fn one(name: &str, a: impl Into<Expression>) -> Expression {
    Expression::of(name, [a.into()])
}

/// A function of two numbers.
pub(crate) fn two(name: &str, a: impl Into<Expression>, b: impl Into<Expression>) -> Expression {
    Expression::of(name, [a.into(), b.into()])
}

/// `yes` where the test holds, else `no`.
pub(crate) fn choose(
    test: Expression,
    yes: impl Into<Expression>,
    no: impl Into<Expression>,
) -> Expression {
    Expression::of("where", [test, yes.into(), no.into()])
}

/// 0 where the operand loses, half of g where the two are equal, else g.
pub(crate) fn shared(g: &Expression, operands: &[Expression], loses: Expression) -> Expression {
    let equal = two("equal", &operands[0], &operands[1]);
    choose(equal, g / 2.0, choose(loses, 0.0, g))
}
