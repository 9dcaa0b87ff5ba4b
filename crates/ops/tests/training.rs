//! Members of a training step: what they change stands where it stood, they agree with the plain
//! formulas and with each other, and they say what is wrong with their arguments.

mod common;

use common::{array, assert_same, call, error, ladders, number, values, word};
use rung_array::{Array, Number};
use rung_base::{ElementType, ErrorKind, Settings, Shape};
use rung_ops::{Decline, Generator, Ladder, NoCaller, Value, table};

fn arrays(values: Vec<Value>) -> Vec<Array> {
    let array = |value| match value {
        Value::Array(a) => a,
        other => panic!("not an array: {other}"),
    };
    values.into_iter().map(array).collect()
}

/// Changes `targets` where they stand.
fn change(ladder: &mut Ladder, name: &str, values: Vec<Value>, targets: &mut [Array]) {
    let op = table::find(name).unwrap();
    let given = ladder.assign(op, values, targets, &mut NoCaller);
    given.unwrap_or_else(|e| panic!("{name}: {e}"));
}

fn integer(n: usize) -> Value {
    Value::integer(n as i64)
}

fn list(extents: &[usize]) -> Value {
    Value::List(extents.iter().map(|&n| integer(n)).collect())
}

fn vector(x: &[f64]) -> Array {
    Array::vector(x).unwrap()
}

/// Whole numbers from -6 to 6.
fn whole(shape: &[usize], seed: usize) -> Array {
    made(shape, |i| ((i * 7919 + seed * 31) % 13) as f64 - 6.0)
}

fn made(shape: &[usize], value: impl Fn(usize) -> f64) -> Array {
    let shape = Shape::new(shape.iter().copied()).unwrap();
    Array::from_slice(&(0..shape.size()).map(value).collect::<Vec<f64>>(), shape).unwrap()
}

fn doubles(a: &Array) -> Vec<f64> {
    a.numbers().map(Number::to_f64).collect()
}

/// Extents, window, stride, pad and dilation.
type Case = ([usize; 4], [usize; 2], [usize; 2], [usize; 2], usize);
const CASES: [Case; 6] = [
    ([2, 3, 6, 5], [3, 2], [1, 1], [0, 0], 1),
    ([2, 3, 6, 5], [3, 3], [2, 1], [1, 2], 1),
    ([1, 2, 9, 8], [2, 2], [3, 4], [1, 0], 1),
    ([1, 2, 9, 8], [3, 2], [1, 2], [2, 2], 2),
    ([1, 1, 1, 1], [1, 1], [1, 1], [3, 0], 1),
    ([2, 4, 31, 29], [3, 3], [1, 1], [1, 1], 1),
];

fn window(([_, _, _, _], [fh, fw], stride, pad, dilation): &Case) -> Vec<Value> {
    let all = [integer(*fh), integer(*fw), list(stride), list(pad)];
    [all.to_vec(), vec![word("dilation"), integer(*dilation)]].concat()
}

#[test]
fn col2im_is_the_adjoint_of_im2col() {
    for ladder in &mut ladders() {
        for case in &CASES {
            let x = whole(&case.0, 1);
            let columns = [vec![x.clone().into()], window(case)].concat();
            let columns = array(ladder, "%la-im2col", columns);
            let y = whole(columns.shape(), 2);
            let back = [vec![y.clone().into(), list(&case.0)], window(case)].concat();
            let back = array(ladder, "%la-col2im", back);
            let inner = |a: &Array, b: &Array| -> f64 {
                doubles(a).iter().zip(doubles(b)).map(|(a, b)| a * b).sum()
            };
            // Whole numbers this small add up exactly.
            assert_eq!(inner(&columns, &y), inner(&x, &back), "{case:?}");
        }
    }
}

/// x (n c h w), w (o c fh fw), out (n*oh*ow, o).
fn direct_convolution(case: &Case, x: &[f64], w: &[f64], outputs: usize) -> Vec<f64> {
    let ([batch, channels, height, width], [fh, fw], stride, pad, dilation) = *case;
    let count =
        |n: usize, f: usize, i: usize| (n + 2 * pad[i] - dilation * (f - 1) - 1) / stride[i] + 1;
    let mut out = Vec::new();
    for (n, oy) in (0..batch).flat_map(|n| (0..count(height, fh, 0)).map(move |oy| (n, oy))) {
        for (ox, o) in (0..count(width, fw, 1)).flat_map(|ox| (0..outputs).map(move |o| (ox, o))) {
            let mut sum = 0.0;
            for (c, ky, kx) in (0..channels)
                .flat_map(|c| (0..fh).flat_map(move |ky| (0..fw).map(move |kx| (c, ky, kx))))
            {
                let y = (oy * stride[0] + ky * dilation).wrapping_sub(pad[0]);
                let column = (ox * stride[1] + kx * dilation).wrapping_sub(pad[1]);
                if y < height && column < width {
                    sum += x[((n * channels + c) * height + y) * width + column]
                        * w[((o * channels + c) * fh + ky) * fw + kx];
                }
            }
            out.push(sum);
        }
    }
    out
}

#[test]
fn a_product_of_columns_is_the_direct_convolution() {
    for ladder in &mut ladders() {
        for case in &CASES {
            let (x, outputs) = (whole(&case.0, 3), 5);
            let taps = case.0[1] * case.1[0] * case.1[1];
            let w = whole(&[outputs, taps], 4);
            let columns = [vec![x.clone().into()], window(case)].concat();
            let columns = array(ladder, "%la-im2col", columns);
            let y = array(ladder, "%la-matmul-tb", vec![columns.into(), w.clone().into()]);
            let want = direct_convolution(case, &doubles(&x), &doubles(&w), outputs);
            assert_eq!(doubles(&y), want, "{case:?}");
        }
    }
}

#[test]
fn pools_are_amax_argmax_and_mean_of_the_columns_of_each_plane() {
    let hard = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, 3.0, 3.0, -1e300];
    for ladder in &mut ladders() {
        for t in ElementType::FLOATS {
            for (extents, k, stride) in [([2, 3, 8, 9], 3, 2), ([1, 1, 11, 12], 4, 1)] {
                let [batch, channels, height, width] = extents;
                let x = values(&extents, 2.0, t, 5);
                let mixed = |i: usize| hard.get(i % 17).copied().unwrap_or(doubles(&x)[i]);
                let x = made(&extents, mixed).convert(t).unwrap();
                let arguments = [k, k, stride, 0].map(integer).to_vec();
                let planes = x.reshape(Shape::new([batch * channels, 1, height, width]).unwrap());
                let columns = [vec![planes.unwrap().into()], arguments.clone()].concat();
                let columns = array(ladder, "%la-im2col", columns);
                let along = [word("axis"), Value::integer(1)];
                let given = [vec![columns.clone().into()], along.to_vec()].concat();
                let pool = [vec![x.clone().into()], arguments].concat();
                let pooled = arrays(call(ladder, "%la-max-pool", pool.clone()));
                let flat = |a: &Array| a.reshape(Shape::vector(a.size())).unwrap();
                let largest = array(ladder, "amax", given.clone());
                assert_same(&flat(&pooled[0]), &largest, "amax");
                let mean = array(ladder, "mean", given.clone());
                assert_same(&flat(&array(ladder, "%la-avg-pool", pool)), &mean, "mean");

                // From a place in the window to one in the array.
                let first = doubles(&array(ladder, "argmax", given));
                let count = |n: usize| (n - k) / stride + 1;
                let (oh, ow) = (count(height), count(width));
                let place = |i: usize| {
                    let (plane, oy, ox) = (i / (oh * ow), i / ow % oh, i % ow);
                    let (ky, kx) = (first[i] as usize / k, first[i] as usize % k);
                    ((plane * height + oy * stride + ky) * width + ox * stride + kx) as f64
                };
                let places: Vec<f64> = (0..first.len()).map(place).collect();
                assert_eq!(doubles(&pooled[1]), places);
            }
        }
    }
}

#[test]
fn pools_have_the_adjoints_that_their_gradients_are() {
    for ladder in &mut ladders() {
        let extents = [2, 3, 7, 8];
        let x = whole(&extents, 6);
        let window = [integer(2), integer(4), list(&[2, 1]), list(&[1, 2])].to_vec();
        let pool = |name: &str, ladder: &mut Ladder| {
            arrays(call(ladder, name, [vec![x.clone().into()], window.clone()].concat()))
        };
        let largest = pool("%la-max-pool", ladder);
        let dy = whole(largest[0].shape(), 7);
        let back = vec![dy.clone().into(), largest[1].clone().into(), list(&extents)];
        let back = doubles(&array(ladder, "%la-max-pool-grad", back));
        let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let picked: f64 = inner(&doubles(&largest[0]), &doubles(&dy));
        assert_eq!(picked, inner(&doubles(&x), &back));
        // Eighths add up exactly as well.
        let means = pool("%la-avg-pool", ladder);
        let back = [vec![dy.clone().into(), list(&extents)], window.clone()].concat();
        let back = doubles(&array(ladder, "%la-avg-pool-grad", back));
        assert_eq!(inner(&doubles(&means[0]), &doubles(&dy)), inner(&doubles(&x), &back));
    }
}

#[test]
fn products_of_transposed_operands_are_those_of_the_views_and_copy_nothing() {
    let swapped = |a: &Array| a.transpose(&[0, 2, 1, 3]).unwrap();
    let turned = |a: &Array| {
        let mut order: Vec<usize> = (0..a.rank()).collect();
        order.swap(a.rank() - 1, a.rank() - 2);
        a.transpose(&order).unwrap()
    };
    for ladder in &mut ladders() {
        for t in [ElementType::F32, ElementType::F64, ElementType::BF16] {
            // Heads as attention has them: no single stride goes through (batch, head).
            let a = swapped(&values(&[2, 9, 3, 17], 1.0, t, 1));
            let b = swapped(&values(&[2, 9, 3, 17], 1.0, t, 2));
            let same = |ladder: &mut Ladder, name: &str, left: [&Array; 2], right: [&Array; 2]| {
                let both = |pair: [&Array; 2]| pair.map(|a| Value::from(a.clone())).to_vec();
                let got = array(ladder, name, both(left));
                assert_same(&got, &array(ladder, "matmul", both(right)), name);
            };
            same(ladder, "%la-matmul-tb", [&a, &b], [&a, &turned(&b)]);
            same(ladder, "%la-matmul-ta", [&a, &b], [&turned(&a), &b]);
            same(ladder, "%la-matmul-nd", [&a, &turned(&b)], [&a, &turned(&b)]);
        }
    }
}

/// lr, lr*wd, wd, b1, 1-b1, b2, 1-b2, eps, 1-b1^t, 1-b2^t, mode.
fn adam_numbers(t: i32, mode: f64) -> [f64; 11] {
    let (lr, wd, b1, b2) = (0.01, 0.1, 0.9, 0.999);
    let bias = |b: f64| 1.0 - b.powi(t);
    [lr, lr * wd, wd, b1, 1.0 - b1, b2, 1.0 - b2, 1e-8, bias(b1), bias(b2), mode]
}

macro_rules! plain_adam {
    ($t:ty) => {
        |ps: &[f64; 11], g: &[f64], state: &mut [Vec<f64>; 3]| {
            let p = ps.map(|p| p as $t);
            for i in 0..g.len() {
                let (x, g) = (state[0][i] as $t, g[i] as $t);
                let (m, v) = (state[1][i] as $t, state[2][i] as $t);
                let slope = if ps[10] == 1.0 { g + p[2] * x } else { g };
                let m = p[3] * m + p[4] * slope;
                let v = p[5] * v + p[6] * (slope * slope);
                let start = if ps[10] == 2.0 { x - p[1] * x } else { x };
                let x = start - (p[0] * (m / p[8])) / ((v / p[9]).sqrt() + p[7]);
                (state[0][i], state[1][i], state[2][i]) = (x as f64, m as f64, v as f64);
            }
        }
    };
}

#[test]
fn a_hundred_steps_of_adam_are_the_plain_loop() {
    type Plain = fn(&[f64; 11], &[f64], &mut [Vec<f64>; 3]);
    let widths: [(ElementType, Plain); 2] =
        [(ElementType::F32, plain_adam!(f32)), (ElementType::F64, plain_adam!(f64))];
    let size = 1037;
    for ladder in &mut ladders() {
        for (t, plain) in widths {
            for mode in [0.0, 1.0, 2.0] {
                let zeros = || Array::zeros(t, Shape::vector(size)).unwrap();
                let mut arrays = [values(&[size], 1.0, t, 1), zeros(), zeros()];
                let mut state = [0, 1, 2].map(|k| doubles(&arrays[k]));
                for step in 1..=100 {
                    let ps = adam_numbers(step, mode);
                    let g = values(&[size], 0.5, t, step as usize * 77);
                    plain(&ps, &doubles(&g), &mut state);
                    let [x, m, v] = arrays.each_ref().map(|a| Value::from(a.clone()));
                    let given = vec![x, g.into(), m, v, vector(&ps).into()];
                    change(ladder, "%la-adam-step", given, &mut arrays);
                }
                for (got, want) in arrays.iter().zip(&state) {
                    assert_eq!(&doubles(got), want, "{t}, mode {mode}");
                }
            }
        }
    }
}

#[test]
fn nesterov_momentum_by_hand() {
    for ladder in &mut ladders() {
        let step = |ladder: &mut Ladder, x: f64, g: f64, buf: f64, ps: &[f64]| {
            let all = [x, g, buf].map(|x| Value::from(vector(&[x]))).to_vec();
            let given = [all, vec![vector(ps).into()]].concat();
            let after = arrays(call(ladder, "%la-sgd-step", given));
            [doubles(&after[0])[0], doubles(&after[1])[0]]
        };
        // g' = 2 + 0.25*8 = 4; buf = 0.5*4 + 0.75*4 = 5; x = 8 - 0.5*(4 + 0.5*5).
        let ps = [0.5, 0.25, 0.5, 0.25, 1.0];
        assert_eq!(step(ladder, 8.0, 2.0, 4.0, &ps), [4.75, 5.0]);
        // From zero: buf = 2; x = 10 - 0.5*(2 + 0.5*2), then buf = 3, x = 8.5 - 0.5*(2 + 1.5).
        let ps = [0.5, 0.0, 0.5, 0.0, 1.0];
        assert_eq!(step(ladder, 10.0, 2.0, 0.0, &ps), [8.5, 2.0]);
        assert_eq!(step(ladder, 8.5, 2.0, 2.0, &ps), [6.75, 3.0]);
        // Without momentum buf stays.
        assert_eq!(step(ladder, 10.0, 2.0, 7.0, &[0.5, 0.0, 0.0, 0.0, 0.0]), [9.0, 7.0]);
    }
}

#[test]
fn what_is_changed_stands_where_it_stood() {
    for ladder in &mut ladders() {
        for t in ElementType::FLOATS {
            let size = 70_001;
            let all = || values(&[size], 1.0, t, 3);
            let mut targets = [all(), all(), all()].map(|a| a.to_owned_copy().unwrap());
            let places = |arrays: &[Array; 3]| {
                arrays.each_ref().map(|a| {
                    rung_base::with_element!(t, T => {
                        a.as_slice::<T>().unwrap().as_ptr() as usize
                    })
                })
            };
            let before = places(&targets);
            let [x, m, v] = targets.each_ref().map(|a| Value::from(a.clone()));
            let ps = vector(&adam_numbers(1, 2.0));
            change(ladder, "%la-adam-step", vec![x, all().into(), m, v, ps.into()], &mut targets);
            assert_eq!(places(&targets), before, "{t}");
            // A clone separates: it never shows what is written later.
            let kept = targets[0].clone();
            let copy = kept.to_owned_copy().unwrap();
            let given = vec![kept.clone().into(), number(3.0)];
            change(ladder, "%la-scale", given, &mut targets[..1]);
            assert_same(&kept, &copy, "the clone");
            assert_ne!(places(&targets)[0], before[0]);
        }
    }
}

#[test]
fn a_comparison_with_the_definition_begins_from_the_same_arrays() {
    let mut lanes = ladders().pop().unwrap();
    lanes.verify(true);
    let x = values(&[4097], 1.0, ElementType::F32, 1);
    let scaled = array(&mut lanes, "%la-scale", vec![x.clone().into(), number(0.1)]);
    let plain = array(&mut ladders()[0], "%la-scale", vec![x.clone().into(), number(0.1)]);
    assert_same(&scaled, &plain, "verified");
}

#[test]
fn a_demand_that_fails_changes_nothing() {
    let mut demanding = Settings::default();
    demanding.gpu.value = true;
    let op = table::find("%la-scale").unwrap();
    let absent = || Decline::Off("test");
    let mut ladder = Ladder::with_rungs(&demanding, None, Err(absent()), Err(absent()));
    ladder.on_decline = Some(rung_base::OnDecline::Error);
    let mut targets = [vector(&[1.0, 2.0])];
    let given = vec![targets[0].clone().into(), number(3.0)];
    let e = ladder.assign(op, given, &mut targets, &mut NoCaller).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Declined);
    assert_eq!(doubles(&targets[0]), [1.0, 2.0]);
}

#[test]
fn the_half_widths_round_as_the_chain_does() {
    for ladder in &mut ladders() {
        for t in [ElementType::BF16, ElementType::F16] {
            let (x, y) = (values(&[531], 3.0, t, 1), values(&[531], 2.0, t, 9));
            let given = vec![number(0.3), x.clone().into(), y.clone().into()];
            let got = array(ladder, "%la-axpy", given);
            let scaled = array(ladder, "mul", vec![x.into(), number(0.3)]);
            let want = array(ladder, "add", vec![scaled.into(), y.into()]);
            assert_same(&got, &want, &format!("{t}"));
        }
    }
}

#[test]
fn dropout_draws_what_rand_draws() {
    let p = 0.3;
    for ladder in &mut ladders() {
        for t in ElementType::FLOATS {
            let word_of =
                |t: ElementType| [word("element-type"), Value::Symbol(t.numpy_name().into())];
            call(ladder, "seed", vec![Value::integer(11)]);
            let u = doubles(&array(ladder, "rand", vec![list(&[3, 701])]));
            let after = call(ladder, "rand", vec![integer(1)]);
            call(ladder, "seed", vec![Value::integer(11)]);
            let given = [vec![list(&[3, 701]), number(p)], word_of(t).to_vec()].concat();
            let mask = array(ladder, "%la-dropout-mask", given);
            assert_eq!(mask.element_type(), t);
            let kept = Array::full(t, Shape::scalar(), Number::F64(1.0 / (1.0 - p))).unwrap();
            let kept = doubles(&kept)[0];
            let want: Vec<f64> = u.iter().map(|&u| if u >= p { kept } else { 0.0 }).collect();
            assert_eq!(doubles(&mask), want, "{t}");
            // As many draws were taken.
            let next = call(ladder, "rand", vec![integer(1)]);
            assert_same(&arrays(next)[0], &arrays(after)[0], "the next draw");

            let generator = || [word("generator"), Value::Generator(Generator::new(4, 0))];
            let drawn = [vec![integer(40)], generator().to_vec()].concat();
            let u = doubles(&array(ladder, "rand", drawn));
            let given = [vec![integer(40), number(p)], word_of(t).to_vec(), generator().to_vec()];
            let mask = array(ladder, "%la-dropout-mask", given.concat());
            let want: Vec<f64> = u.iter().map(|&u| if u >= p { kept } else { 0.0 }).collect();
            assert_eq!(doubles(&mask), want, "{t} by a generator");
        }
    }
}

#[test]
fn a_filled_array_holds_what_the_exported_functions_draw() {
    let state = [27595, 3371, 8102].map(Value::integer).to_vec();
    for ladder in &mut ladders() {
        for t in ElementType::FLOATS {
            let typed = [word("element-type"), Value::Symbol(t.numpy_name().into())];
            for mode in ["rand", "randn", "uniform"] {
                let bounds = [number(-1.0), number(2.0)];
                let mut given = vec![list(&[3, 50])];
                if mode == "uniform" {
                    given = [bounds.to_vec(), given].concat();
                }
                given.extend(typed.clone());
                call(ladder, "seed", vec![Value::integer(42)]);
                let want = array(ladder, mode, given.clone());
                let after = call(ladder, "rng-state", vec![]);
                let out = Array::zeros(t, Shape::new([3, 50]).unwrap()).unwrap();
                let fill = |state: Value| {
                    let numbers = [number(-1.0), number(3.0)];
                    [vec![out.clone().into(), state, word(mode)], numbers.to_vec()].concat()
                };
                let filled = call(ladder, "%la-rng-fill", fill(Value::List(state.clone())));
                assert_eq!(filled[1].to_string(), after[0].to_string());
                assert_same(&arrays(filled[..1].to_vec())[0], &want, mode);

                let generator = Generator::new(3, 1);
                given.extend([word("generator"), Value::Generator(Generator::new(3, 1))]);
                let want = array(ladder, mode, given);
                let filled =
                    call(ladder, "%la-rng-fill", fill(Value::Generator(generator.clone())));
                assert_same(&arrays(filled[..1].to_vec())[0], &want, mode);
                assert!(generator.state().offset > 0, "{mode}");
            }
        }
    }
}

#[test]
fn scattered_rows_add_up_in_their_order() {
    for ladder in &mut ladders() {
        let big = vector(&[0.0, 1e16]);
        let indices = Value::List([1, 1, -1].map(Value::integer).to_vec());
        let given = vec![big.into(), indices, vector(&[1.0, 1.0, -1e16]).into()];
        // 1e16 + 1 falls back to 1e16, twice.
        assert_eq!(doubles(&array(ladder, "%la-scatter-rows", given)), [0.0, 0.0]);
    }
}

#[test]
fn mistakes_name_what_was_wanted_and_given() {
    let x = || Value::from(whole(&[1, 1, 3, 3], 1));
    let integers = || Value::from(whole(&[1, 1, 3, 3], 1).convert(ElementType::I64).unwrap());
    let n = |n: [usize; 4]| n.map(integer).to_vec();
    let im2col = |x: Value, rest: Vec<Value>| error("%la-im2col", [vec![x], rest].concat());
    let same = |got: String, want: &str| assert!(got.contains(want), "{got}\nnot\n{want}");
    same(
        im2col(integers(), n([2, 2, 1, 0])),
        "%la-im2col expects x to be an array of floats: got #<(signed-byte 64) (1 1 3 3)>",
    );
    same(
        im2col(vector(&[1.0]).into(), n([2, 2, 1, 0])),
        "%la-im2col expects axes (batch channels height width): got (1)",
    );
    same(
        im2col(x(), n([6, 2, 1, 1])),
        "a window of (6 2), dilated by (1 1), does not fit planes of (3 3) padded by (1 1)",
    );
    same(im2col(x(), n([2, 2, 0, 1])), "%la-im2col expects stride of 1 or more: got 0");
    same(im2col(x(), n([0, 2, 1, 1])), "expects height of a window of 1 or more: got 0");
    let three = [vec![x(), integer(2), integer(2), list(&[1, 1, 1])], vec![integer(0)]].concat();
    same(error("%la-im2col", three), "expected stride to be an integer or a list of two");
    let narrow = [vec![vector(&[1.0]).into(), list(&[1, 1, 3, 3])], n([2, 2, 1, 0])].concat();
    same(error("%la-col2im", narrow), "%la-col2im expects col of shape (4 4): got (1)");
    same(
        error("%la-max-pool", [vec![x()], n([3, 3, 1, 2])].concat()),
        "%la-max-pool expects pad of at most half the window, (1 1) for (3 3): got (2 2)",
    );
    let empty = Value::from(whole(&[1, 2, 0, 3], 1));
    same(
        error("%la-max-pool", [vec![empty], n([2, 2, 1, 1])].concat()),
        "%la-max-pool expects planes with elements: got (1 2 0 3)",
    );
    let far = vec![x(), x(), list(&[1, 1, 3, 3])];
    same(error("%la-max-pool-grad", far), "%la-max-pool-grad index out of range: -");
    let a = |x: &[f64]| Value::from(vector(x));
    same(
        error("%la-adam-step", vec![a(&[1.0]), a(&[1.0, 2.0]), a(&[1.0]), a(&[1.0]), a(&[1.0])]),
        "%la-adam-step expects g of shape (1): got (2)",
    );
    same(
        error("%la-adam-step", vec![a(&[1.0]), a(&[1.0]), a(&[1.0]), a(&[1.0]), a(&[1.0])]),
        "%la-adam-step expects the 11 numbers lr lr*wd wd b1 1-b1 b2 1-b2 eps 1-b1^t 1-b2^t mode: \
         got shape (1)",
    );
    let mut ps = adam_numbers(1, 7.0);
    let step = |ps: &[f64]| [vec![a(&[1.0]); 4], vec![a(ps)]].concat();
    same(error("%la-adam-step", step(&ps)), "%la-adam-step expects the mode 0, 1 or 2: got 7");
    ps[10] = f64::NAN;
    same(error("%la-adam-step", step(&ps)), "expects the mode 0, 1 or 2: got NaN");
    let single = vector(&[1.0]).convert(ElementType::F32).unwrap();
    same(
        error("%la-axpy", vec![number(1.0), single.into(), a(&[1.0])]),
        "%la-axpy expects x of y's element type double-float: got single-float",
    );
    same(error("%la-scale", vec![integers(), number(1.0)]), "expects a to be an array of floats");
    same(
        error("%la-dropout-mask", vec![integer(3), number(1.0)]),
        "%la-dropout-mask expects 0 <= p < 1: got 1",
    );
    let fill = vec![a(&[1.0]), list(&[1, 2]), word("rand"), number(0.0), number(1.0)];
    same(
        error("%la-rng-fill", fill),
        "expects a generator or three integers, none a multiple of its modulus: got (1 2)",
    );
    let strided = vec![a(&[1.0, 2.0]), list(&[3]), list(&[1]), integer(0)];
    same(
        error("%la-gather-strided", strided),
        "%la-gather-strided reads elements 0 to 2 of an array of 2: shape (2)",
    );
    same(
        error("%la-matmul-ta", vec![x(), Value::from(whole(&[1, 1, 2, 3], 1))]),
        "%la-matmul-ta inner dimensions differ: (1 1 3 3) and (1 1 2 3), 3 and 2",
    );
    let rows = vec![a(&[1.0, 2.0]), list(&[0, 1]), a(&[1.0])];
    same(error("%la-scatter-rows", rows), "%la-scatter-rows expects src of shape (2): got (1)");
}
