//! The gradient of a kernel's fold by each of its elements, times the derivative of the element by a
//! parameter: the elements, their fold, the further folds that its rule needs, and a last kernel over
//! all of them. What goes between them has the kernel's type.

use super::{Declaration, Expression, Folding, Of, UserKernel, operation};
use crate::call::Run;
use crate::gradient::{Gradient, Inside};
use crate::record::Op;
use crate::table;
use crate::user_kernel::After;
use crate::value::Value;
use rung_array::Number;
use rung_base::{Error, ErrorKind, Result};

/// The operations, in order.
pub(super) struct Steps {
    folding: &'static Folding,
    /// Of the parameters and the cell, each with its fold.
    also: Vec<[&'static Op; 2]>,
    /// Of the parameters, the cell, the count and the further folds.
    last: &'static Op,
}

/// What the names of further operands end in, so that no parameter has them.
const OWN: char = '%';

impl Steps {
    /// Of what is declared: the derivative of the elements of the kernel `of`.
    pub fn new(declared: &Declaration, of: &'static Op) -> Result<Steps> {
        let broken = || Error::new(ErrorKind::Internal, "no fold with a gradient");
        let kernel = of.user.ok_or_else(broken)?;
        let After::Fold(folding) = &kernel.after else { return Err(broken()) };
        let Gradient::Folded(backward) = folding.op.gradient else { return Err(broken()) };
        let (own, folds) = (kernel.parameters.len(), backward.also.len());
        let element = |more: usize| kernel.expression.moved(own, more);
        let variable = Expression::Variable;
        let mut also = Vec::new();
        for (name, expression) in backward.also {
            // The element is bound after the parameters and the cell.
            let body = expression(&variable(own + 1), &variable(own));
            let expression = Expression::Let(vec![element(1)], Box::new(body));
            let fold = table::find(name).ok_or_else(broken)?;
            also.push([beside(declared, kernel, &["cell"], expression)?, fold]);
        }
        // Then the cell, the count and the folds, and bound after them the slope and the element.
        let bound = own + 2 + folds;
        let values = vec![declared.expression.moved(own, 2 + folds), element(3 + folds)];
        let cells: Vec<Expression> = (own + 2..bound).map(variable).collect();
        let inside = Inside {
            element: &variable(bound + 1),
            cell: &variable(own),
            count: &variable(own + 1),
            also: &cells,
        };
        let body = (backward.rule)(&variable(bound), &inside);
        let expression = Expression::Let(values, Box::new(body));
        let names: Vec<&str> = ["cell", "count"].into_iter().chain(vec!["fold"; folds]).collect();
        Ok(Steps { folding, also, last: beside(declared, kernel, &names, expression)? })
    }

    /// The gradient over these operands, folded along these axes.
    pub fn run(&self, run: &mut dyn Run, values: Vec<Value>, axis: Value) -> Result<Vec<Value>> {
        let elements = run.operate(self.folding.elements, values.clone())?;
        let size = |values: &[Value]| match values.first() {
            Some(Value::Array(a)) => a.size(),
            _ => 1,
        };
        let all = size(&elements);
        let numbers = matches!(elements.first(), Some(Value::Number(_)));
        // Of numbers a number; of arrays what broadcasts against them.
        let keep = if numbers { Value::Nil } else { Value::True };
        let along = |mut of: Vec<Value>| {
            let word = |name: &'static str| Value::Keyword(name.into());
            of.extend([word("axis"), axis.clone(), word("keepdims"), keep.clone()]);
            of
        };
        let cell = run.operate(self.folding.op, along(elements))?;
        let count = all / size(&cell).max(1);
        let mut operands = values;
        operands.extend(cell);
        let mut folds = Vec::new();
        for [kernel, fold] in &self.also {
            let terms = run.operate(kernel, operands.clone())?;
            folds.extend(run.operate(fold, along(terms))?);
        }
        operands.push(Value::Number(Number::F64(count as f64)));
        operands.extend(folds);
        run.operate(self.last, operands)
    }
}

/// A kernel of the parameters and further operands of the kernel's type.
fn beside(
    declared: &Declaration,
    kernel: &UserKernel,
    more: &[&str],
    expression: Expression,
) -> Result<&'static Op> {
    let t = kernel.element_type();
    let own = more.iter().enumerate().map(|(k, name)| (format!("{name}{k}{OWN}"), t));
    operation(Declaration {
        name: declared.name.clone(),
        doc: declared.doc.clone(),
        parameters: kernel.parameters.iter().cloned().chain(own).collect(),
        expression,
        of: Of::Elements,
    })
}
