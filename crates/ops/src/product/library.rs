//! Products by a library of matrix routines: slab after slab, each operand through its strides.

use super::{detail, last_strides, last_two, slabs};
use crate::call::{Call, Product, at_type};
use crate::decline::{Answer, Decline};
use rung_array::Array;
use rung_base::{Element, ElementType, Result};
use rung_library::Library;

pub(super) fn run(call: &Call, library: &Library) -> Result<Answer> {
    let p = detail(call)?;
    if p.rows == 1 && p.columns == 1 {
        // Two vectors are a number of class Same on every rung (spec linalg 5).
        return Ok(Answer::Declined(Decline::NoKernel("two vectors are a fold")));
    }
    match [call.operands[0].element_type(), call.operands[1].element_type()] {
        [ElementType::I64, _] => Ok(Answer::Declined(Decline::Type(ElementType::I64))),
        [ElementType::F64, _] | [_, ElementType::F64] => {
            library_stack::<f64>(call, p, |a, b, out| library.dgemm(a, b, out))
        }
        _ => library_stack::<f32>(call, p, |a, b, out| library.sgemm(a, b, out)),
    }
}

type LibraryMatrix<'a, T> = rung_library::Matrix<'a, T>;

/// The slab of an operand that begins at `offset`.
fn library_matrix<T: Element>(x: &Array, offset: usize) -> LibraryMatrix<'_, T> {
    let (data, (rows, columns)) = (x.view::<T>().data, last_two(x));
    let [row, column] = last_strides(x);
    rung_library::Matrix { data, offset, rows, columns, row, column }
}

/// One slab after another; a vector is a matrix of one row or column.
fn library_stack<T: Element + Default>(
    call: &Call,
    p: Product,
    multiply: impl Fn(LibraryMatrix<T>, LibraryMatrix<T>, &mut [T]) -> std::result::Result<(), String>,
) -> Result<Answer> {
    // Folds may have operands of other widths, which the library does not know.
    let [a, b] = [at_type(&call.operands[0], T::TYPE)?, at_type(&call.operands[1], T::TYPE)?];
    let (left, right) = (slabs(&a), slabs(&b));
    let cells = p.rows * p.columns;
    let mut refusal = None;
    let result = Array::build::<T>(call.shape.clone(), |out| {
        for (slab, out) in out.chunks_exact_mut(cells.max(1)).enumerate() {
            let (a, b) = (library_matrix(&a, left[slab]), library_matrix(&b, right[slab]));
            if let Err(text) = multiply(a, b, out) {
                refusal = Some(text);
                return;
            }
        }
    })?;
    match refusal {
        Some(text) => Ok(Answer::Declined(Decline::Library(text.into()))),
        None => at_type(&result, call.raw).map(Answer::Done),
    }
}
