//! Whether adding the library ever makes a product slower on a tuned machine: the rule is at most
//! 10 % and 5 us (spec acceleration 4.4). Tunes (`quick`), then runs each shape on a ladder
//! without and on one with the library, in turn, median of nine; prints every shape that is slower
//! and the worst ratio. Exit 1 when the rule is broken. `benches/never-slower` runs it; words:
//! `all` prints every shape, `untuned` takes the default costs, a number is the threads.

use rung_array::Array;
use rung_base::{ElementType, Settings, Shape};
use rung_lanes::Lanes;
use rung_library::Library;
use rung_ops::costs::Costs;
use rung_ops::tune::{Plan, measure};
use rung_ops::{Decline, Ladder, NoCaller, Value, table};
use std::time::Instant;

/// Extents of both operands, and whether the first is a transposed view.
type Shapes = (Vec<usize>, Vec<usize>, bool);

fn main() -> rung_base::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let said = |word: &str| words.iter().any(|w| w == word);
    let threads = words.iter().find_map(|w| w.parse().ok());
    let threads = threads.unwrap_or_else(rung_lanes::default_threads);
    let library = match Library::discover(None) {
        Ok(library) => library,
        Err(reason) => {
            println!("{reason}: nothing to compare");
            return Ok(());
        }
    };
    library.set_threads(threads);
    println!("{library}; lanes with {threads} threads");
    let costs = (!said("untuned")).then(|| tuned(threads, library));
    let mut without = ladder(threads, false, costs.as_ref());
    let mut with = ladder(threads, true, costs.as_ref());
    let (mut worst, mut broken, mut count) = (0.0f64, 0, 0);
    for element in [ElementType::F32, ElementType::F64] {
        for (a, b, turned) in shapes() {
            let values = vec![operand(&a, element, turned)?, operand(&b, element, false)?];
            let [plain, added] = race(&mut without, &mut with, &values)?;
            let ratio = added / plain;
            let breaks = added > 1.1 * plain + 5.0;
            worst = worst.max((added - 5.0) / plain);
            broken += usize::from(breaks);
            count += 1;
            if breaks || ratio > 1.1 || said("all") {
                let mark = if breaks { "BROKEN" } else { "" };
                let turned = if turned { "'" } else { "" };
                println!(
                    "{element} {a:?}{turned} {b:?}: {plain:.2} us, {added:.2} us with the \
                          library, {ratio:.2} {mark}"
                );
            }
        }
    }
    println!(
        "{count} shapes; worst (with the library - 5 us) / without: {worst:.2}; \
              {broken} break the rule"
    );
    std::process::exit(if broken > 0 { 1 } else { 0 });
}

fn tuned(threads: usize, library: Library) -> Costs {
    let libraries = [library];
    let plan = Plan { threads, libraries: &libraries, device: None, quick: true };
    let mut measured = measure(&plan, &mut |_, _| {});
    let last = measured.entries.pop();
    last.map_or_else(|| Costs::defaults(rung_lanes::Level::detect(), 1), |(_, costs)| costs)
}

fn ladder(threads: usize, blas: bool, costs: Option<&Costs>) -> Ladder {
    let library = if blas { Library::discover(None).ok() } else { None };
    let library = library.ok_or(Decline::Off("--blas"));
    let off = Err(Decline::Off("--gpu"));
    let lanes = Some(Lanes::new(threads));
    let mut ladder = Ladder::with_rungs(&Settings::default(), lanes, library, off);
    if let Some(costs) = costs {
        ladder.use_costs(costs.clone());
    }
    ladder
}

fn shapes() -> Vec<Shapes> {
    let mut all: Vec<Shapes> = Vec::new();
    for n in [2, 4, 5, 8, 13, 16, 20, 32, 40, 64, 65, 96, 100, 128, 160, 200, 256, 300, 400, 512] {
        all.push((vec![n, n], vec![n, n], false));
        all.push((vec![n, n], vec![n, n], true));
    }
    for n in [40, 100, 300, 700, 1000] {
        all.push((vec![1, n], vec![n, n], false));
        all.push((vec![3, n], vec![n, n], false));
        all.push((vec![16, n], vec![n, n], false));
        all.push((vec![n, n], vec![n, 2], false));
        all.push((vec![n, n], vec![n, 10], false));
        all.push((vec![n, 4], vec![4, n], false));
        all.push((vec![n, 30], vec![30, n], false));
        all.push((vec![n, n], vec![n], false));
        all.push((vec![n, n], vec![n], true));
        all.push((vec![n], vec![n, n], false));
    }
    for (batch, n) in [(2, 100), (16, 8), (16, 64), (64, 16), (256, 8), (7, 33)] {
        all.push((vec![batch, n, n], vec![batch, n, n], false));
    }
    all
}

fn operand(extents: &[usize], element: ElementType, turned: bool) -> rung_base::Result<Value> {
    let mut stored = extents.to_vec();
    if turned {
        stored.reverse();
    }
    let shape = Shape::new(stored)?;
    let values: Vec<f64> = (0..shape.size()).map(|i| 0.5 + (i % 89) as f64 / 89.0).collect();
    let array = Array::from_slice(&values, shape)?.convert(element)?;
    Ok(Value::Array(if turned { array.transpose(&[1, 0])? } else { array }))
}

/// Median microseconds of a call on each ladder.
fn race(a: &mut Ladder, b: &mut Ladder, values: &[Value]) -> rung_base::Result<[f64; 2]> {
    let op = table::find("matmul").expect("the table has a product");
    let once = |ladder: &mut Ladder, repeats: usize| -> rung_base::Result<f64> {
        let start = Instant::now();
        for _ in 0..repeats {
            std::hint::black_box(ladder.call(op, values.to_vec(), &mut NoCaller)?);
        }
        Ok(start.elapsed().as_secs_f64() * 1e6 / repeats as f64)
    };
    once(b, 2)?;
    let repeats = ((400.0 / once(a, 3)?) as usize).clamp(1, 10_000);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..9 {
        times[0].push(once(a, repeats)?);
        times[1].push(once(b, repeats)?);
    }
    Ok(times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }))
}
