//! The table's own tests: what every record must have, and that every rung gives the bits of the
//! definition, or stays within its exactness class, for every element type and layout.

use rung_ops::table;
use rung_ops::trial::{Trial, is_complete};
use std::collections::HashSet;

#[test]
fn names_are_unique_and_every_record_is_complete() {
    let mut names = HashSet::new();
    for op in table::operations() {
        for name in op.names {
            let name = (op.package.name, *name, op.setf);
            assert!(names.insert(name), "{name:?} stands twice in the table");
        }
        is_complete(op);
    }
    assert!(names.len() >= 30);
}

/// The operations are dealt out to so many tests, which run side by side.
const HANDS: usize = 8;

macro_rules! hands {
    ($($name:ident $hand:literal)*) => {
        $(#[test]
        fn $name() {
            every_rung_gives_the_bits_of_the_definition($hand);
        })*
    };
}
hands! {
    every_rung_gives_the_bits_of_the_definition_1 0
    every_rung_gives_the_bits_of_the_definition_2 1
    every_rung_gives_the_bits_of_the_definition_3 2
    every_rung_gives_the_bits_of_the_definition_4 3
    every_rung_gives_the_bits_of_the_definition_5 4
    every_rung_gives_the_bits_of_the_definition_6 5
    every_rung_gives_the_bits_of_the_definition_7 6
    every_rung_gives_the_bits_of_the_definition_8 7
}

fn every_rung_gives_the_bits_of_the_definition(hand: usize) {
    let mut trial = Trial::new();
    for (number, op) in table::operations().enumerate().skip(hand).step_by(HANDS) {
        trial.every_rung(op, number);
    }
}
