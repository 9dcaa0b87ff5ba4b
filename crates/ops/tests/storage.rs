//! Where elements are: views share storage and nothing of them is copied, `-into` forms take turns with two
//! buffers, and a kernel that needs another order copies once and says so.

#[allow(dead_code)]
mod common;

use common::{number, values, word};
use rung_array::Array;
use rung_base::{ElementType, Settings};
use rung_lanes::Lanes;
use rung_ops::record::VEC;
use rung_ops::{Decline, Ladder, NoCaller, Op, Value, table};
use std::collections::HashSet;

fn ladder() -> Ladder {
    let absent = || Decline::Off("test");
    let lanes = Some(Lanes::new(2));
    Ladder::with_rungs(&Settings::default(), lanes, Err(absent()), Err(absent()))
}

fn doubles(shape: &[usize]) -> Array {
    values(shape, 2.0, ElementType::F64, 1)
}

fn first(ladder: &mut Ladder, op: &'static Op, given: Vec<Value>) -> Array {
    match ladder.call(op, given, &mut NoCaller).unwrap().into_iter().next() {
        Some(Value::Array(a)) => a,
        other => panic!("{} gave {other:?}", op.name()),
    }
}

/// By the words of the records: what says that it shares storage does, in every sample.
#[test]
fn views_share_their_operand_s_storage() {
    let mut ladder = ladder();
    let mut seen = HashSet::new();
    let shares = |op: &&Op| op.result.starts_with("an array that shares a's storage");
    for op in table::operations().filter(shares) {
        for sample in (op.samples)() {
            let Some(Value::Array(a)) = sample.first().cloned() else { continue };
            let got = ladder.call(op, sample, &mut NoCaller);
            let Some(Value::Array(view)) = got.ok().and_then(|all| all.into_iter().next()) else {
                continue;
            };
            assert_eq!(view.storage_address(), a.storage_address(), "{}", op.name());
            seen.insert(op.name());
        }
    }
    for name in ["slice", "transpose", "reshape", "broadcast-to", "row", "expand-dims"] {
        assert!(seen.contains(name), "{name} was not among {seen:?}");
    }
}

/// `(la:trace m)` of a turned matrix packed all of it for its diagonal.
#[test]
fn a_trace_reads_the_diagonal_where_it_lies() {
    let mut ladder = ladder();
    ladder.count_anew();
    let m = doubles(&[40, 30]);
    let turned = m.transpose(&[1, 0]).unwrap();
    let trace = |ladder: &mut Ladder, m: Array, offset: i64| {
        let op = table::find("trace").unwrap();
        let given = vec![m.into(), word("offset"), Value::integer(offset)];
        ladder.call(op, given, &mut NoCaller).unwrap()[0].to_string()
    };
    for offset in [0, 3, -4] {
        let wanted = trace(&mut ladder, m.clone(), offset);
        assert_eq!(trace(&mut ladder, turned.clone(), -offset), wanted, "{offset}");
    }
    assert!(notes(&ladder).is_empty());
}

/// What explain says of copies, in the order of the rows.
fn notes(ladder: &Ladder) -> Vec<String> {
    ladder.calls.counted().flat_map(|row| row.notes).map(|(note, _)| note).collect()
}

/// Operations whose kernels walk no strides, on operands that do not lie in row-major order.
#[test]
fn a_copy_of_an_operand_is_noted() {
    let turned = |shape: &[usize]| Value::Array(doubles(shape).transpose(&[1, 0]).unwrap());
    let spaced = || {
        let step = rung_array::SliceSpec { start: None, end: None, step: 2 };
        Value::Array(doubles(&[18]).slice(&[step]).unwrap())
    };
    let axis = |axis: Value| vec![word("axis"), axis];
    let pair = Value::List(vec![Value::integer(1), Value::integer(0)]);
    let axes = Value::List(vec![pair.clone(), pair]);
    let cases: Vec<(&str, Vec<Value>)> = vec![
        ("reshape", vec![turned(&[6, 4]), Value::List(vec![Value::integer(24)])]),
        ("outer", vec![turned(&[3, 4]), spaced()]),
        ("vdot", vec![turned(&[3, 4]), turned(&[3, 4])]),
        ("kron", vec![turned(&[3, 4]), turned(&[2, 5])]),
        ("inner", vec![turned(&[3, 4]), turned(&[3, 4])]),
        ("tensordot", vec![turned(&[5, 5]), turned(&[5, 5]), word("axes"), axes]),
        ("unique", vec![turned(&[6, 4])]),
        ("sort", [vec![turned(&[6, 4])], axis(Value::integer(0))].concat()),
        ("median", vec![turned(&[6, 4])]),
        ("gradient", vec![Value::Array(doubles(&[9])), spaced()]),
        ("repeat", vec![turned(&[6, 4]), Value::integer(2)]),
        ("inv", vec![turned(&[4, 4])]),
        ("det", vec![turned(&[4, 4])]),
        ("qr", vec![turned(&[4, 4])]),
        ("solve", vec![turned(&[4, 4]), Value::Array(doubles(&[4]))]),
        ("fft", vec![turned(&[6, 4])]),
    ];
    for (name, given) in cases {
        let mut ladder = ladder();
        ladder.count_anew();
        let op = table::find(name).unwrap_or_else(|| panic!("the table has no {name}"));
        ladder.call(op, given.clone(), &mut NoCaller).unwrap_or_else(|e| panic!("{name}: {e}"));
        // A contraction of whole rows is a view, so not every one of them copies.
        let said = notes(&ladder);
        let views = ["kron", "inner", "tensordot"].contains(&name);
        assert!(views || said.iter().any(|n| n.starts_with("packed")), "{name}: {said:?}");
    }
}

/// A loop over an `-into` form allocates nothing: the result is written into a buffer that an earlier call gave
/// back, and becomes the destination's. An operand may be the destination, and a form that signals has written
/// nothing, so the destination's own elements are not overwritten while it is computed.
#[test]
fn an_into_form_takes_turns_with_two_buffers() {
    let mut ladder = ladder();
    let into = |name: &str| {
        let found = table::operations().find(|op| op.package == VEC && op.names.contains(&name));
        found.unwrap_or_else(|| panic!("vec has no {name}"))
    };
    for n in [100, 1000, 20_000, 200_000] {
        for name in ["add-into", "mul-into", "exp-into", "scale-into", "matvec-into"] {
            let (op, mut out) = (into(name), doubles(&[n]));
            let given: Vec<Value> = match name {
                "exp-into" => vec![doubles(&[n]).into()],
                "scale-into" => vec![doubles(&[n]).into(), number(0.5)],
                "matvec-into" => vec![doubles(&[n, 3]).into(), doubles(&[3]).into()],
                _ => vec![doubles(&[n]).into(), doubles(&[n]).into()],
            };
            let mut places = HashSet::new();
            for round in 0..20 {
                let all = [vec![out.clone().into()], given.clone()].concat();
                out = first(&mut ladder, op, all);
                if round >= 4 {
                    places.insert(out.view::<f64>().data.as_ptr().addr());
                }
            }
            // A matrix-vector product has sums in f64 of its own, and narrows none here.
            assert!(places.len() <= 3, "{name} of {n}: {} buffers", places.len());
        }
    }
}

/// One call gives the bits of one product a vector, for widths that may meet as well.
#[test]
fn a_batch_of_matrix_vector_products_has_the_bits_of_each() {
    let of = |name: &'static str| {
        table::operations().find(|op| op.package == VEC && op.names.contains(&name)).unwrap()
    };
    let mut ladder = ladder();
    use ElementType::{BF16, F16, F32, F64};
    for (w, x) in [(F64, F64), (F32, F32), (BF16, F32), (F16, F32), (BF16, BF16), (F16, F16)] {
        for (rows, columns, count) in
            [(1, 1, 1), (7, 65, 3), (300, 200, 5), (2, 40_000, 4), (4, 0, 2)]
        {
            let matrix = values(&[rows, columns], 1.0, w, 3);
            // As it lies, and turned in memory.
            let turned = matrix.transpose(&[1, 0]).unwrap().to_contiguous().unwrap();
            for matrix in [matrix.clone(), turned.transpose(&[1, 0]).unwrap()] {
                let vectors: Vec<Array> =
                    (0..count).map(|i| values(&[columns], 2.0, x, i)).collect();
                let list = Value::List(vectors.iter().cloned().map(Value::Array).collect());
                let given = vec![matrix.clone().into(), list];
                let got = ladder.call(of("matvec-batch"), given, &mut NoCaller).unwrap();
                let [Value::List(got)] = &got[..] else { panic!("{got:?}") };
                assert_eq!(got.len(), count);
                for (got, x) in got.iter().zip(vectors) {
                    let Value::Array(got) = got else { panic!("{got}") };
                    let given = vec![matrix.clone().into(), x.into()];
                    let want = first(&mut ladder, of("matvec"), given);
                    common::assert_same(got, &want, &format!("{w} ({rows} {columns})"));
                }
            }
        }
    }
}
