//! What the host pays from a call to the device's queue, over a device that takes no time:
//! `cargo run --release -p rung-ops --example launch`. Prints microseconds a launch and fails above
//! the budget of 10 (situation 10 of the reference).

#[path = "../../device/tests/lavapipe/idle.rs"]
#[allow(dead_code)]
mod idle;

use idle::Idle;
use rung_array::Array;
use rung_base::{Settings, Shape};
use rung_lanes::Lanes;
use rung_ops::{Decline, Ladder, NoCaller, Value, table};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LAUNCHES: u32 = 100_000;
const BUDGET: f64 = 10.0;

fn main() -> rung_base::Result<()> {
    let device = Arc::new(Idle::new(|_, _| Duration::ZERO));
    let mut settings = Settings::default();
    settings.gpu.value = true;
    let off = Err(Decline::Off("--blas"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(1)), off, Ok(device));
    ladder.costs.device.make_free();
    let exp = table::find("exp").expect("a name of the table");
    let one = Value::Array(Array::build::<f32>(Shape::vector(1), |out| out.fill(0.5))?);
    ladder.call(exp, vec![one.clone()], &mut NoCaller)?;
    let start = Instant::now();
    for _ in 0..LAUNCHES {
        ladder.call(exp, vec![one.clone()], &mut NoCaller)?;
    }
    let each = start.elapsed().as_secs_f64() * 1e6 / f64::from(LAUNCHES);
    println!("{each:.2} microseconds a launch");
    if each > BUDGET {
        eprintln!("launch: above the budget of {BUDGET} microseconds");
        std::process::exit(1);
    }
    Ok(())
}
