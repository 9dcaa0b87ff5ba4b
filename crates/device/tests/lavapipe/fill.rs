//! The seeded generator's stream.

use crate::support::{Float, Nan, assert_same, run};
use rung_base::ElementType;
use rung_kernel::fill::{kernel, launch};
use rung_math::Width;
use rung_math::random::{Fill, State};
use std::sync::Arc;

fn check<T: Float>(fill: Fill) {
    let element = if T::WIDTH == Width::F32 { ElementType::F32 } else { ElementType::F64 };
    let kernel = Arc::new(kernel(fill, element).unwrap());
    for (state, count) in [(State::default(), 3), (State::seeded(42), 5000), (State::seeded(0), 0)]
    {
        let got = run(&launch(&kernel, fill, state, count).unwrap(), &[], count);
        let mut stream = state;
        let want: Vec<T> = (0..count).map(|_| T::narrowed(fill.next(&mut stream))).collect();
        assert_same(&kernel.key, &got, &want, Nan::Exact);
    }
}

#[test]
fn every_kind_draws_the_one_stream() {
    let dropout = Fill::Dropout { rate: 0.3, kept: 1.0 / 0.7 };
    for fill in [Fill::Rand, Fill::Randn, Fill::Uniform { low: -1.0, span: 2.0 }, dropout] {
        check::<f32>(fill);
        check::<f64>(fill);
    }
}
