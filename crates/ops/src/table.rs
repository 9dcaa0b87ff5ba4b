//! The table: every operation, in the order of the manual.

use crate::record::{Op, Package};
use crate::{
    broadcast, calculus, construct, elementwise, fold, index, product, random, scan, search,
    select, shape, sort,
};

/// One list per family file.
const FAMILIES: [&[Op]; 13] = [
    construct::OPS,
    shape::OPS,
    broadcast::OPS,
    elementwise::OPS,
    product::OPS,
    fold::OPS,
    scan::OPS,
    select::OPS,
    sort::OPS,
    search::OPS,
    index::OPS,
    calculus::OPS,
    random::OPS,
];

/// Every operation, in the order of the manual.
pub fn operations() -> impl Iterator<Item = &'static Op> {
    FAMILIES.into_iter().flatten()
}

/// The operation of a name or alias.
pub fn find(name: &str) -> Option<&'static Op> {
    operations().find(|op| op.package != Package::Vec && !op.setf && op.names.contains(&name))
}
