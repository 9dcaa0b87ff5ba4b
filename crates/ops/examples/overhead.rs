//! What a small call costs from Rust, the ladder included: `cargo run --release -p rung-ops
//! --example overhead`. Prints nanoseconds a call, the median of nine rounds.

use rung_array::Array;
use rung_base::{Settings, Shape};
use rung_ops::{Ladder, NoCaller, Value, table};
use std::time::Instant;

fn main() -> rung_base::Result<()> {
    let (mut ladder, _) = Ladder::new(&Settings::default());
    for name in ["add", "exp", "sum"] {
        let op = table::find(name).expect("a name of the table");
        for n in [4, 1000] {
            let x = Array::build::<f64>(Shape::vector(n), |out| out.fill(0.5))?;
            let operands = if name == "add" { 2 } else { 1 };
            let mut rounds: Vec<f64> = Vec::new();
            for _ in 0..9 {
                let start = Instant::now();
                for _ in 0..20_000 {
                    let values = vec![Value::Array(x.clone()); operands];
                    std::hint::black_box(ladder.call(op, values, &mut NoCaller)?);
                }
                rounds.push(start.elapsed().as_nanos() as f64 / 20_000.0);
            }
            rounds.sort_by(f64::total_cmp);
            println!("{name} of {n} doubles: {:.0} ns", rounds[4]);
        }
    }
    Ok(())
}
