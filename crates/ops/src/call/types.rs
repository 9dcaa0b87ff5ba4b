//! The types of an operation and its operands at them (spec linalg 1.3): where it computes, and to
//! which type its result is narrowed.

use crate::arguments::Operand;
use rung_array::{Array, Number};
use rung_base::element::ElementClass;
use rung_base::{ElementType, Result, Shape};
use smallvec::SmallVec;

/// `a` at the type in which arithmetic runs; shares storage where that is its own type.
pub fn at_type(a: &Array, to: ElementType) -> Result<Array> {
    if a.element_type() == to { Ok(a.clone()) } else { a.convert(to) }
}

/// `a` at another type, or as it is where a device has it and may convert it there
/// (`Call::at_types`).
pub fn waiting(a: &Array, to: ElementType) -> Result<Array> {
    if a.is_attached() { Ok(a.clone()) } else { at_type(a, to) }
}

/// A view at another type; an axis along which it repeats is converted once.
pub(super) fn converted_view(x: &Array, to: ElementType) -> Result<Array> {
    let once = |(extent, stride): (&usize, &isize)| rung_array::SliceSpec {
        start: Some(0),
        end: Some(if *stride == 0 { (*extent).min(1) } else { *extent } as i64),
        step: 1,
    };
    let specs: SmallVec<[_; 8]> = x.shape().iter().zip(x.strides()).map(once).collect();
    x.slice(&specs)?.convert(to)?.broadcast_to(x.shape())
}

/// The types of an operation over several operands (spec linalg 1.3): where it computes, and
/// to which type its result is narrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types {
    pub compute: ElementType,
    pub result: ElementType,
}

/// Rules 1 to 5: the first float array decides the result; mixed widths compute at the wider;
/// numbers are weak; integers among themselves take the wider type and compute in i64.
pub fn types_of(operands: &[Operand]) -> Types {
    let arrays = || {
        operands.iter().filter_map(|o| match o {
            Operand::Array(a) => Some(a.element_type()),
            Operand::Number(_) => None,
        })
    };
    let float_number =
        operands.iter().any(|o| matches!(o, Operand::Number(Number::F64(_) | Number::F32(_))));
    let floats: SmallVec<[ElementType; 4]> = arrays().filter(|t| t.is_float()).collect();
    if let Some(&result) = floats.first() {
        // A half width beside a wider array is widened to that; among halves, to f32.
        let wide = floats.contains(&ElementType::F64);
        let compute = if wide { ElementType::F64 } else { ElementType::F32 };
        return Types { compute, result };
    }
    match arrays().map(integer_type).min() {
        Some(_) if float_number => Types { compute: ElementType::F64, result: ElementType::F64 },
        Some(widest) => Types { compute: ElementType::I64, result: widest },
        None => number_types(operands, float_number),
    }
}

/// `min` picks the widest: the enumeration runs from wide to narrow; bits count as u8.
fn integer_type(t: ElementType) -> ElementType {
    if t.class() == ElementClass::Bool { ElementType::U8 } else { t }
}

fn number_types(operands: &[Operand], float_number: bool) -> Types {
    let double = operands.iter().any(|o| matches!(o, Operand::Number(Number::F64(_))));
    let one = match (float_number, double) {
        (false, _) => ElementType::I64,
        (true, true) => ElementType::F64,
        (true, false) => ElementType::F32,
    };
    Types { compute: one, result: one }
}

impl Types {
    /// The types of an operation that has only float results.
    pub fn floating(self) -> Types {
        match self.compute {
            ElementType::I64 => Types { compute: ElementType::F64, result: ElementType::F64 },
            _ => self,
        }
    }

    /// The types of a mask over `operands`: the result has the width of the first array, f64
    /// when that is not a float (rule 7).
    pub fn mask(self, operands: &[Operand]) -> Types {
        let first = operands.iter().find_map(|o| match o {
            Operand::Array(a) => Some(a.element_type()),
            Operand::Number(_) => None,
        });
        let result = match first {
            Some(t) if t.is_float() => t,
            Some(_) => ElementType::F64,
            None if self.compute == ElementType::I64 => ElementType::F64,
            None => self.compute,
        };
        Types { compute: self.compute, result }
    }
}

/// An operand as `lay_out` gives it, or waiting on a device.
pub fn laid(operand: Operand, types: Types) -> Result<Array> {
    match operand {
        Operand::Array(a) => waiting(&a, types.compute),
        number => lay_out(number, types),
    }
}

/// An operand as an array at `compute`; a number becomes one of rank 0, first rounded once to
/// `result` where both are floats or both integers (rule 3: it is weak). An integer that the
/// result's type cannot hold is refused.
pub fn lay_out(operand: Operand, types: Types) -> Result<Array> {
    match operand {
        Operand::Array(a) => at_type(&a, types.compute),
        Operand::Number(n) => {
            let alike = types.result.is_float() == types.compute.is_float();
            let weak = if alike { types.result } else { types.compute };
            let rounded = Array::full(weak, Shape::scalar(), n)?;
            at_type(&rounded, types.compute)
        }
    }
}
