//! More elements than the groups of a launch have invocations, some 16.8 million, and more tiles than an
//! axis of the grid holds: too much for the interpreter of PTX.

use crate::operands::moderate;
use crate::product::{check_tiles, packed};
use crate::support::run;
use rung_base::ElementType;
use rung_kernel::product::{Extents, Tile};
use rung_kernel::{fill, map};
use rung_math::random::{Fill, State};
use rung_math::{Negative, Width, trace_unary};
use std::sync::Arc;

#[test]
fn more_elements_than_65535_groups_hold_are_walked_with_a_stride() {
    let count = 65_535 * 256 + 3;
    let kernel = Arc::new(map::kernel("stride", &trace_unary::<Negative>(Width::F32)));
    let operand: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let got = run(&map::launch(&kernel, count).unwrap(), &[&operand], count);
    assert!(got.iter().enumerate().all(|(i, &y)| y == -(i as f32)));
}

#[test]
fn elements_far_into_the_stream() {
    // Beyond 65,535 groups, where an invocation makes more than one jump.
    let count = 65_535 * 256 + 2;
    let kind = Fill::Randn;
    let kernel = Arc::new(fill::kernel(kind, ElementType::F32).unwrap());
    let state = State::seeded(9);
    let got = run::<f32>(&fill::launch(&kernel, kind, state, count).unwrap(), &[], count);
    for i in [0, 1, 30_268, 1_000_000, 16_000_000, count - 2, count - 1] {
        assert_eq!(got[i], kind.element(state, i as u64) as f32, "element {i}");
    }
}

#[test]
fn more_tiles_than_one_axis_of_the_grid_holds() {
    let size = Extents { batch: 66_000, m: 1, k: 2, n: 1 };
    let data = moderate::<f32>(37, 132_000);
    check_tiles(&[Tile::Small], size, packed(1, 2), packed(2, 1), [&data, &data]);
}
