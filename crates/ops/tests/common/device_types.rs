//! The element types in which tests run an operation on a device.

use rung_base::ElementType;
use rung_ops::Op;

/// All of the operation's types, or in a build without optimisation both whole widths and by turns one
/// half width and one of the integers: the kernels are many, and a software driver takes a tenth of a
/// second for each. `number` is the operation's own.
pub fn device_types(op: &Op, number: usize) -> Vec<ElementType> {
    if !cfg!(debug_assertions) {
        return op.types.to_vec();
    }
    let whole = [ElementType::F64, ElementType::F32];
    let of = |kind: &dyn Fn(&ElementType) -> bool| -> Vec<ElementType> {
        op.types.iter().filter(|t| kind(t)).copied().collect()
    };
    let turn = |of: Vec<ElementType>| of.get(number % of.len().max(1)).copied();
    let half = turn(of(&|t| t.is_float() && !whole.contains(t)));
    let integer = turn(of(&|t| !t.is_float()));
    of(&|t| whole.contains(t)).into_iter().chain(half).chain(integer).collect()
}
