//! Running sums and products along an axis, in the order of `rung_math::scan`.

use crate::arguments::Arguments;
use crate::call::{Call, Detail, Prepared, at_compute_type, waiting};
use crate::decline::Answer;
use crate::explain::packed;
use crate::record::{Definition, Family, Kind, Offer, Op, Rungs, keyword, required};
use crate::round_trip::{Bind, Made, RoundTrip, Work};
use crate::samples;
use crate::slices::{along, axis_of, each_slice, lanes_slices};
use rung_array::Array;
use rung_base::{ElementType, Result};
use rung_kernel::scan::{Scan, Slices};
use rung_lanes::Lanes;
use rung_lanes::scan::Scanned;
use rung_math::fold::{Adding, Combine, Multiplying};
use rung_math::scan as definition;

pub const OPS: &[Op] = &[
    Op {
        names: &["cumsum"],
        doc: "The running sums along an axis, or of all elements in row-major order, accumulated \
              in double-float.",
        rungs: rungs(
            |call| portable::<Adding>(call, i64::wrapping_add),
            sums_lanes,
            |call, trip| device(call, trip, Scan::Sum),
        ),
        example: "(la:cumsum #d(1 2 3)) => #d(1.0 3.0 6.0)",
        ..SCAN
    },
    Op {
        names: &["cumprod"],
        doc: "The running products along an axis, or of all elements in row-major order, \
              accumulated in double-float.",
        rungs: rungs(
            |call| portable::<Multiplying>(call, i64::wrapping_mul),
            products_lanes,
            |call, trip| device(call, trip, Scan::Product),
        ),
        example: "(la:cumprod #d((1 2) (3 4)) :axis 0) => #d((1.0 2.0) (3.0 8.0))",
        ..SCAN
    },
];

const SCAN: Op = Op {
    parameters: &[required("a", Kind::Array), keyword("axis", Kind::Integer)],
    result: "an array of a's type and shape, a vector without an axis; (signed-byte 64) for \
             integers",
    prepare: |op, a, _| prepare(op, a),
    samples: scans,
    ..Op::BASE
};

const fn rungs(
    portable: fn(&Call) -> Result<Array>,
    lanes: fn(&Call, &Lanes) -> Result<Answer>,
    device: fn(&Call, &RoundTrip) -> Result<Answer>,
) -> Rungs {
    Rungs::with_device(Definition::One(portable), lanes, Offer::RoundTrip(Family::Fold), device)
}

fn scans() -> Vec<samples::Sample> {
    let mut all = samples::folds(false);
    // Scans keep the folded axis, so they know no keepdims.
    all.retain(|sample| sample.len() < 5);
    all.push(vec![samples::hard(&[0], 1.0)]);
    all.push(vec![samples::spread(&[200, 40], 1.0), samples::word("axis"), samples::integer(0)]);
    all.push(vec![samples::spread(&[70_000], 1.0)]);
    all
}

fn prepare(op: &'static Op, mut arguments: Arguments) -> Result<Prepared> {
    let (a, axis) = (arguments.array(0)?, arguments.optional_integer(1)?);
    let (given, t) = (a.shape().clone(), a.element_type());
    let (a, axis) = along(a, axis)?;
    // A half width is narrowed once, from f64.
    let (compute, raw, result) = match t {
        ElementType::F32 => (t, t, t),
        t if t.is_float() => (t.compute_type(), ElementType::F64, t),
        _ => (ElementType::I64, ElementType::I64, ElementType::I64),
    };
    let call = Call::like(op, waiting(&a, compute)?, result, Family::Fold);
    let detail = Detail::Slices { axis, descending: false };
    let given = [given].into_iter().collect();
    let call = Call { given, raw, detail, ..call }.at_types(&[compute]);
    Ok(Prepared::Call(Box::new(call)))
}

fn portable<C: Combine>(call: &Call, join: fn(i64, i64) -> i64) -> Result<Array> {
    let (x, (axis, _)) = (&call.operands[0], axis_of(call)?);
    let in_f64 = |x: &mut dyn Iterator<Item = f64>| {
        let mut running: Vec<f64> = x.collect();
        definition::scan::<C>(&mut running);
        running
    };
    match (x.element_type(), call.raw) {
        (ElementType::F32, ElementType::F32) => {
            each_slice::<f32, f32>(x, axis, &call.shape, |x, out| {
                let running = in_f64(&mut x.iter().map(|x| *x as f64));
                out.iter_mut().zip(running).for_each(|(out, x)| *out = x as f32);
            })
        }
        (ElementType::F32, _) => each_slice::<f32, f64>(x, axis, &call.shape, |x, out| {
            out.copy_from_slice(&in_f64(&mut x.iter().map(|x| *x as f64)));
        }),
        (ElementType::F64, _) => each_slice::<f64, f64>(x, axis, &call.shape, |x, out| {
            out.copy_from_slice(&in_f64(&mut x.iter().copied()));
        }),
        _ => each_slice::<i64, i64>(x, axis, &call.shape, |x, out| {
            out.copy_from_slice(x);
            (1..out.len()).for_each(|i| out[i] = join(out[i - 1], out[i]));
        }),
    }
}

/// x (outer, n, inner) packed, out the same, narrowed where it is computed.
fn device(call: &Call, trip: &RoundTrip, scan: Scan) -> Result<Answer> {
    let (axis, _) = axis_of(call)?;
    let x = match trip.packed(&call.operands[0])? {
        Ok(packed) => packed,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let kernels = trip.scan_kernels(scan, x.element_type(), call.result)?;
    let placed = trip.place(&x);
    let rung_lanes::sort::Slices { outer, length, inner } =
        rung_lanes::sort::Slices::along(x.shape(), axis);
    let plan = kernels.plan(&Slices { offset: placed.offset(), outer, length, inner });
    let work = plan.map(|plan| {
        let mut work = Work::default();
        let result = work.make(Made::Result(call.result, call.shape.clone()));
        let totals = work.make(Made::Workspace(plan.bytes));
        work.stage(plan.totals, [Bind::Operand(0), totals]);
        work.stage(plan.offsets, [totals]);
        work.stage(plan.results, [Bind::Operand(0), totals, result]);
        work
    });
    trip.run_work(work, &[placed])
}

/// One of the lanes' scans, which differ by operand and result.
macro_rules! lanes {
    ($name:ident, $scan:ident) => {
        fn $name(call: &Call, lanes: &Lanes) -> Result<Answer> {
            let (x, slices) = (packed(&call.operands[0])?, lanes_slices(call)?);
            let narrow = call.raw == ElementType::F32;
            at_compute_type!(call, T => {
                let x = x.as_slice::<T>().unwrap_or(&[]);
                match narrow {
                    true => Array::build::<T>(call.shape.clone(), |out| {
                        <T as Scanned<T>>::$scan(lanes, x, slices, out);
                    }),
                    false => Array::build::<f64>(call.shape.clone(), |out| {
                        <T as Scanned<f64>>::$scan(lanes, x, slices, out);
                    }),
                }
            }, Array::build::<i64>(call.shape.clone(), |out| {
                i64::$scan(lanes, x.as_slice().unwrap_or(&[]), slices, out);
            }))
            .map(Answer::Done)
        }
    };
}
lanes!(sums_lanes, sums);
lanes!(products_lanes, products);
