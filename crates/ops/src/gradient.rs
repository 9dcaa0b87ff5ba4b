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
    /// Every element that is folded has its own, by the cell that it is folded into.
    Folded(&'static Backward),
}

/// An expression of an element and its cell.
pub type OfElement = fn(&Expression, &Expression) -> Expression;

/// The gradient of a fold.
pub struct Backward {
    /// Further folds that the rule needs, by their names: of expressions of the element and the cell.
    pub also: &'static [(&'static str, OfElement)],
    /// The gradient of an element from g, that of its cell.
    pub rule: fn(&Expression, &Inside) -> Expression,
}

/// What a rule of a fold sees.
pub struct Inside<'a> {
    pub element: &'a Expression,
    pub cell: &'a Expression,
    /// Elements of the cell.
    pub count: &'a Expression,
    /// The further folds.
    pub also: &'a [Expression],
}

pub(crate) const MEAN: Gradient =
    Gradient::Folded(&Backward { also: &[], rule: |g, i| g / i.count });

/// Equal elements have equal parts.
pub(crate) const EXTREME: Gradient = Gradient::Folded(&Backward {
    also: &[("sum", |x, y| two("equal", x, y))],
    rule: |g, i| choose(two("equal", i.element, i.cell), g / &i.also[0], 0.0),
});

/// A single zero has the product of the others; beside one, or among several, the others have none.
pub(crate) const PRODUCT: Gradient = Gradient::Folded(&Backward {
    also: &[
        ("sum", |x, _| two("equal", x, 0.0)),
        ("prod", |x, _| choose(two("equal", x, 0.0), 1.0, x)),
    ],
    rule: of_product,
});

fn of_product(g: &Expression, i: &Inside) -> Expression {
    let [zeros, others] = [&i.also[0], &i.also[1]];
    let alone = choose(two("equal", zeros, 1.0), g * others, 0.0);
    let beside = choose(two("equal", zeros, 0.0), g * (others / i.element), 0.0);
    choose(two("equal", i.element, 0.0), alone, beside)
}

pub(crate) const NORM: Gradient =
    Gradient::Folded(&Backward { also: &[], rule: |g, i| g * (i.element / i.cell) });

/// With ddof 0, as kernels fold.
pub(crate) const VARIANCE: Gradient = Gradient::Folded(&Backward {
    also: &[("mean", |x, _| x.clone())],
    rule: |g, i| g * (2.0 * (i.element - &i.also[0])) / i.count,
});

pub(crate) const DEVIATION: Gradient = Gradient::Folded(&Backward {
    also: &[("mean", |x, _| x.clone())],
    rule: |g, i| g * ((i.element - &i.also[0]) / (i.count * i.cell)),
});

/// What a NaN has in a fold in which it counts as absent: nothing.
fn present(element: &Expression, gradient: Expression) -> Expression {
    choose(one("isnan", element), 0.0, gradient)
}

/// The further fold that counts the elements that are there.
const COUNT: (&str, OfElement) = ("sum", |x, _| present(x, Expression::Number(1.0)));

pub(crate) const PRESENT_SUM: Gradient =
    Gradient::Folded(&Backward { also: &[], rule: |g, i| present(i.element, g.clone()) });

pub(crate) const PRESENT_MEAN: Gradient =
    Gradient::Folded(&Backward { also: &[COUNT], rule: |g, i| present(i.element, g / &i.also[0]) });

pub(crate) const PRESENT_PRODUCT: Gradient = Gradient::Folded(&Backward {
    also: &[
        ("sum", |x, _| two("equal", x, 0.0)),
        ("nanprod", |x, _| choose(two("equal", x, 0.0), 1.0, x)),
    ],
    rule: |g, i| present(i.element, of_product(g, i)),
});

pub(crate) const PRESENT_VARIANCE: Gradient = Gradient::Folded(&Backward {
    also: &[COUNT, ("nanmean", |x, _| x.clone())],
    rule: |g, i| present(i.element, g * (2.0 * (i.element - &i.also[1])) / &i.also[0]),
});

pub(crate) const PRESENT_DEVIATION: Gradient = Gradient::Folded(&Backward {
    also: &[COUNT, ("nanmean", |x, _| x.clone())],
    rule: |g, i| present(i.element, g * ((i.element - &i.also[1]) / (&i.also[0] * i.cell))),
});

pub(crate) const LOG_SUM_EXP: Gradient =
    Gradient::Folded(&Backward { also: &[], rule: |g, i| g * one("exp", i.element - i.cell) });

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
