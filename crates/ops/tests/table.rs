//! The table's own tests: what every record must have, and that every rung gives the bits of the
//! definition, or stays within its exactness class, for every element type and layout.

use rung_base::Settings;
use rung_lanes::Lanes;
use rung_ops::explain::Counted;
use rung_ops::record::Exactness;
use rung_ops::trial::{Trial, is_complete, run};
use rung_ops::{Decline, Ladder, Op, table};
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

/// The operations that samples of a composite one call, by name.
fn steps_of(op: &'static Op) -> HashSet<String> {
    let absent = || Decline::Off("test");
    let lanes = Some(Lanes::new(1));
    let mut ladder = Ladder::with_rungs(&Settings::default(), lanes, Err(absent()), Err(absent()));
    ladder.count_anew();
    for sample in (op.samples)() {
        // A sample may be a mistake at its own type.
        let _ = run(&mut ladder, op, sample);
    }
    // No library is asked for the product of two vectors.
    let matrices = |row: &Counted| row.what.shapes.iter().any(|shape| shape.rank() > 1);
    let rows = ladder.calls.counted().filter(matrices);
    rows.map(|row| row.what.operation.to_string()).collect()
}

/// A covariance is a product, which a library computes in an order of its own; its record said `Same`.
#[test]
fn what_is_made_of_steps_promises_no_more_than_they_do() {
    let mut seen = 0;
    for op in table::operations().filter(|op| op.is_composite()) {
        for step in steps_of(op).iter().filter_map(|name| table::find(name)) {
            seen += 1;
            let foreign = matches!(step.exact, Exactness::LibraryOrder | Exactness::Kept);
            let says = op.exact == step.exact;
            assert!(
                says || !foreign,
                "{} calls {}, which is {:?}",
                op.name(),
                step.name(),
                step.exact
            );
        }
    }
    assert!(seen > 50, "steps that were seen: {seen}");
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
