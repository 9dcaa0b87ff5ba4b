//! What types are made of: scalars in their order, sizes, and the classes and suffixes of PTX.

use super::text::{Class, Operand};
use super::{Failed, Outcome};
use naga::{ArraySize, Module, Scalar, ScalarKind, TypeInner};

/// Of every scalar the class of its registers.
pub(super) fn class(scalar: Scalar) -> Outcome<Class> {
    Ok(match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Class::Predicate,
        (ScalarKind::Float, 2) => Class::B16,
        (ScalarKind::Float, 4) => Class::F32,
        (ScalarKind::Float, 8) => Class::F64,
        (ScalarKind::Sint | ScalarKind::Uint, 4) => Class::B32,
        (ScalarKind::Sint | ScalarKind::Uint, 8) => Class::B64,
        _ => return Err(Failed(format!("no registers for {scalar:?}"))),
    })
}

/// The type of an arithmetic instruction: `s32`, `f64`.
pub(super) fn suffix(scalar: Scalar) -> String {
    let letter = match scalar.kind {
        ScalarKind::Sint => 's',
        ScalarKind::Float => 'f',
        _ => 'u',
    };
    format!("{letter}{}", 8 * scalar.width)
}

/// The type of an instruction for which a sign means nothing: `b32`, or `pred`.
pub(super) fn bits(scalar: Scalar) -> String {
    match scalar.kind {
        ScalarKind::Bool => "pred".into(),
        _ => format!("b{}", 8 * scalar.width),
    }
}

/// Bytes from one element of an array, column of a matrix or component of a vector to the next.
pub(super) fn stride(inner: &TypeInner) -> Outcome<u32> {
    match *inner {
        TypeInner::Array { stride, .. } => Ok(stride),
        TypeInner::Vector { scalar, .. } => Ok(scalar.width.into()),
        TypeInner::Matrix { rows, scalar, .. } => Ok(column_stride(rows, scalar)),
        ref other => Err(Failed(format!("nothing to index in {other:?}"))),
    }
}

pub(super) fn column_stride(rows: naga::VectorSize, scalar: Scalar) -> u32 {
    let rows = if rows == naga::VectorSize::Tri { 4 } else { rows as u32 };
    rows * u32::from(scalar.width)
}

/// How many elements an array has.
pub(super) fn count(size: ArraySize) -> Outcome<u32> {
    match size {
        ArraySize::Constant(count) => Ok(count.get()),
        _ => Err(Failed("an array of unknown length as a value".into())),
    }
}

/// The scalars of a value of a type, in their order.
pub(super) fn scalars(module: &Module, inner: &TypeInner) -> Outcome<Vec<Scalar>> {
    let mut all = Vec::new();
    gather(module, inner, &mut all)?;
    Ok(all)
}

/// A variable of more scalars than any device keeps in registers is not looked at further.
const MOST: usize = 65_536;

fn gather(module: &Module, inner: &TypeInner, all: &mut Vec<Scalar>) -> Outcome<()> {
    match *inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => all.push(scalar),
        TypeInner::Vector { size, scalar } => all.extend(vec![scalar; size as usize]),
        TypeInner::Matrix { columns, rows, scalar } => {
            all.extend(vec![scalar; columns as usize * rows as usize]);
        }
        TypeInner::Array { base, size, .. } => {
            let one = scalars(module, &module.types[base].inner)?;
            let count = count(size)? as usize;
            if all.len().saturating_add(one.len().saturating_mul(count)) > MOST {
                return Err(Failed("an array of more than 65,536 numbers as a value".into()));
            }
            for _ in 0..count {
                all.extend(&one);
            }
        }
        TypeInner::Struct { ref members, .. } => {
            for member in members {
                gather(module, &module.types[member.ty].inner, all)?;
            }
        }
        ref other => return Err(Failed(format!("no value of type {other:?}"))),
    }
    Ok(())
}

/// Which scalars of a composite its component `index` is: the first, and how many.
pub(super) fn component(module: &Module, inner: &TypeInner, index: u32) -> Outcome<(usize, usize)> {
    let index = index as usize;
    Ok(match *inner {
        TypeInner::Vector { .. } => (index, 1),
        TypeInner::Matrix { rows, .. } => (index * rows as usize, rows as usize),
        TypeInner::Array { base, .. } => {
            let one = scalars(module, &module.types[base].inner)?.len();
            (index * one, one)
        }
        TypeInner::Struct { ref members, .. } => {
            let size = |ty| Ok(scalars(module, &module.types[ty].inner)?.len());
            let mut first = 0;
            for member in &members[..index] {
                first += size(member.ty)?;
            }
            (first, size(members[index].ty)?)
        }
        ref other => return Err(Failed(format!("no component of {other:?}"))),
    })
}

/// Zeros of a type.
pub(super) fn zeros(module: &Module, inner: &TypeInner) -> Outcome<Vec<Operand>> {
    scalars(module, inner)?.into_iter().map(|s| Ok(Operand::Constant(class(s)?, 0))).collect()
}
