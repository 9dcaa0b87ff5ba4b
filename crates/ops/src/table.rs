//! The table: every operation, in the order of the manual.

use crate::record::{Op, VEC};
use std::collections::HashMap;
use std::sync::OnceLock;

/// One list per family file.
const FAMILIES: &[&[Op]] = &[
    crate::construct::OPS,
    crate::lists::OPS,
    crate::diagonal::OPS,
    crate::shape::OPS,
    crate::views::OPS,
    crate::join::OPS,
    crate::assign::OPS,
    crate::broadcast::OPS,
    crate::arithmetic::OPS,
    crate::integers::OPS,
    crate::choose::OPS,
    crate::elementwise::OPS,
    crate::softmax::OPS,
    crate::product::OPS,
    crate::contract::OPS,
    crate::einsum::OPS,
    crate::convolution::OPS,
    crate::fold::OPS,
    crate::truth::OPS,
    crate::statistics::OPS,
    crate::present::OPS,
    crate::agreement::OPS,
    crate::scan::OPS,
    crate::select::OPS,
    crate::sort::OPS,
    crate::search::OPS,
    crate::index::OPS,
    crate::calculus::OPS,
    crate::factor::OPS,
    crate::decompose::OPS,
    crate::transform::OPS,
    crate::quantized::OPS,
    crate::random::OPS,
    crate::draws::OPS,
    crate::rowwise::OPS,
    crate::gelu::OPS,
    crate::loss::OPS,
    crate::stacked::OPS,
    crate::windows::OPS,
    crate::pool::OPS,
    crate::strided::OPS,
    crate::update::OPS,
    crate::noise::OPS,
    crate::vector::PLAIN,
    crate::vector::INTO,
    crate::vector::OTHERS,
    crate::batch::OPS,
];

/// Every operation, in the order of the manual.
pub fn operations() -> impl Iterator<Item = &'static Op> {
    FAMILIES.iter().copied().flatten()
}

/// The operation of `linalg` of a name or alias.
pub fn find(name: &str) -> Option<&'static Op> {
    static NAMES: OnceLock<HashMap<&'static str, &'static Op>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let offered = operations().filter(|op| op.package != VEC && !op.setf);
        offered.flat_map(|op| op.names.iter().map(move |name| (*name, op))).collect()
    });
    names.get(name).copied()
}
