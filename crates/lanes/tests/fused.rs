//! Fused programs against the chain of whole arrays.

#[path = "common/inlined.rs"]
mod inlined;

use rung_lanes::elementwise::{map, zip, zip3};
use rung_lanes::fused::{Step, fused};
use rung_lanes::{Cost, Float, Lanes, Level, Operand};
use rung_math::{Add, Clip, Div, Less, Mul, Tanh};

const SHAPES: [[usize; 2]; 7] = [[0, 3], [1, 1], [3, 5], [2, 512], [33, 31], [41, 100], [3, 4097]];

fn numbers<T: Float>(count: usize, seed: usize) -> Vec<T> {
    let hurting = [0.0, -0.0, f64::NAN, f64::INFINITY, 1e-310, -1e300, 1e-42];
    let at = |i: usize| {
        let pick = (i * 2654435761 + seed * 977) % 1009;
        hurting.get(pick).copied().unwrap_or(pick as f64 * 0.01 - 5.0)
    };
    (0..count).map(|i| T::narrowed(at(i))).collect()
}

fn bits<T: Float>(list: &[T]) -> Vec<Option<u64>> {
    list.iter().map(|x| (!x.wide().is_nan()).then(|| x.wide().to_bits())).collect()
}

/// clip(a < c, tanh((a * b + c) / a), b) with b a column, c a row and a transposed.
fn chain<T: Float>(lanes: &Lanes, [rows, columns]: [usize; 2]) {
    let (shape, size) = ([rows, columns], rows * columns);
    let (a, b, c) = (numbers::<T>(size, 1), numbers::<T>(rows, 2), numbers::<T>(columns, 3));
    let turned = [1, rows as isize];
    let operands =
        [Operand::new(&a, 0, &turned), Operand::new(&b, 0, &[1, 0]), Operand::new(&c, 0, &[0, 1])];
    let program = [
        Step::operand(0),
        Step::operand(2),
        Step::two::<Less>(),
        Step::operand(0),
        Step::operand(1),
        Step::two::<Mul>(),
        Step::operand(2),
        Step::two::<Add>(),
        Step::operand(0),
        Step::two::<Div>(),
        Step::one::<Tanh>(),
        Step::operand(1),
        Step::three::<Clip>(),
    ];
    let mut got = vec![T::default(); size];
    fused(lanes, Cost::Light, &shape, &program, &operands, &mut got);

    let [a, b, c] = operands;
    let flat = [columns as isize, 1];
    let mut steps = vec![vec![T::default(); size]; 6];
    let (cost, room) = (Cost::Light, |list: &Vec<T>| list.clone());
    rung_lanes::elementwise::compare::<Less, T>(lanes, &shape, a, c, &mut steps[0]);
    zip::<Mul, T>(lanes, cost, &shape, a, b, &mut steps[1]);
    let product = room(&steps[1]);
    zip::<Add, T>(lanes, cost, &shape, Operand::new(&product, 0, &flat), c, &mut steps[2]);
    let sum = room(&steps[2]);
    zip::<Div, T>(lanes, cost, &shape, Operand::new(&sum, 0, &flat), a, &mut steps[3]);
    let quotient = room(&steps[3]);
    map::<Tanh, T>(lanes, cost, &shape, Operand::new(&quotient, 0, &flat), &mut steps[4]);
    let (mask, value) = (room(&steps[0]), room(&steps[4]));
    let last = [Operand::new(&mask, 0, &flat), Operand::new(&value, 0, &flat), b];
    zip3::<Clip, T>(lanes, cost, &shape, last, &mut steps[5]);
    assert_eq!(bits(&got), bits(&steps[5]), "{shape:?} {:?}", lanes.level());
}

#[test]
fn a_fused_program_has_the_bits_of_the_chain() {
    for level in Level::available() {
        for threads in [1, 3] {
            let lanes = Lanes::with(level, threads);
            for shape in SHAPES {
                chain::<f32>(&lanes, shape);
                chain::<f64>(&lanes, shape);
            }
        }
    }
    // 25 MB at four lists: short chunks, and a result that is written past the caches.
    for threads in [1, 3] {
        chain::<f64>(&Lanes::new(threads), [787, 1001]);
        chain::<f32>(&Lanes::new(threads), [1574, 1001]);
    }
    let (lanes, list) = (Lanes::new(2), numbers::<f64>(100_001, 9));
    let mut out = vec![0.0; list.len()];
    let operand = [Operand::new(&list, 0, &[1])];
    fused(&lanes, Cost::Light, &[list.len()], &[Step::operand(0)], &operand, &mut out);
    assert_eq!(bits(&out), bits(&list));
}

#[test]
#[should_panic(expected = "values that a fused program leaves")]
fn a_program_that_leaves_two_values_is_refused() {
    let operand = [Operand::new(&[1.0_f32; 4], 0, &[1])];
    let program = [Step::operand(0), Step::operand(0)];
    fused(&Lanes::new(1), Cost::Light, &[4], &program, &operand, &mut [0.0; 4]);
}
