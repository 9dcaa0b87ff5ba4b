//! Products on a library beside the lanes, shape by shape, through the same kernels that a run
//! uses, so that what a rung spends around its kernel is counted as well.

use super::Timer;
use crate::call::{Call, Context, Prepared};
use crate::costs::curve::{Curves, Kind, Point};
use crate::costs::{LIBRARY_SINGLE, LIBRARY_THRESHOLD, place_of};
use crate::value::Value;
use crate::{Op, table};
use rung_array::Array;
use rung_base::{ElementType, Shape};
use rung_lanes::Lanes;
use rung_library::Library;

/// Steps that `curves` announces.
pub const STEPS: usize = 2 * Kind::ALL.len();

/// A product's operands: batch (0: none), rows, inner extent, columns (0: a vector), and whether
/// the left one is a transposed view.
type Extents = (usize, usize, usize, usize, bool);

/// The sizes of a kind, ascending by their multiply-adds.
fn sizes(kind: Kind) -> Vec<Extents> {
    let of = |sides: &[usize], extents: fn(usize) -> Extents| {
        sides.iter().map(|side| extents(*side)).collect()
    };
    let sides: &[usize] = &[32, 64, 128, 256, 512, 1024];
    match kind {
        Kind::Square => {
            of(&[4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512], |n| (0, n, n, n, false))
        }
        Kind::FewRows => of(sides, |n| (0, 4, n, n, false)),
        Kind::FewColumns => of(sides, |n| (0, n, n, 4, false)),
        Kind::ShortInner => of(&sides[1..], |n| (0, n, 8, n, false)),
        Kind::Stack => of(&[4, 8, 16, 32, 64], |n| (32, n, n, n, false)),
        Kind::Vector => of(&[8, 16, 32, 64, 128, 256, 512, 1024], |n| (0, n, n, 0, false)),
        Kind::VectorTurned => of(&[8, 16, 32, 64, 128, 256, 512, 1024], |n| (0, n, n, 0, true)),
    }
}

pub fn curves(timer: &mut Timer, lanes: &Lanes, library: &Library) -> Curves {
    let mut curves = Curves::default();
    let Some(op) = table::find("matmul") else { return curves };
    for (width, element) in [ElementType::F32, ElementType::F64].into_iter().enumerate() {
        for kind in Kind::ALL {
            timer.step(&format!("{}, {} {element}", library.file(), kind.name()));
            for extents in sizes(kind) {
                if let Some(point) = point(timer, op, (lanes, library), (kind, extents), element) {
                    curves.points_mut(width, kind).push(point);
                }
            }
        }
    }
    library.share(true);
    curves
}

fn point(
    timer: &Timer,
    op: &'static Op,
    (lanes, library): (&Lanes, &Library),
    (kind, extents): (Kind, Extents),
    element: ElementType,
) -> Option<Point> {
    let call = product(op, extents, element)?;
    let place = place_of(&call).filter(|place| place.kind == kind)?;
    if call.units < LIBRARY_THRESHOLD {
        return None;
    }
    let (ours, theirs) = (op.rungs.lanes.kernel()?, op.rungs.library.kernel()?);
    let large = 2 * call.units >= LIBRARY_SINGLE;
    let [on_lanes, on_library] = timer.race([
        &mut || {
            std::hint::black_box(ours(&call, lanes).is_ok());
        },
        &mut || {
            if library.share(large) > 1 {
                lanes.workers().rest();
            }
            std::hint::black_box(theirs(&call, library).is_ok());
        },
    ]);
    let calls = place.batch as f64;
    Some(Point { units: place.units, lanes: on_lanes / calls, library: on_library / calls })
}

/// A checked call of the product.
fn product(op: &'static Op, extents: Extents, element: ElementType) -> Option<Box<Call>> {
    let (batch, rows, inner, columns, turned) = extents;
    let with_batch = |two: &[usize]| -> Vec<usize> {
        (batch > 0).then_some(batch).into_iter().chain(two.iter().copied()).collect()
    };
    let array = |extents: Vec<usize>| {
        let shape = Shape::new(extents).ok()?;
        let values: Vec<f64> = (0..shape.size()).map(|i| 0.5 + (i % 97) as f64 / 97.0).collect();
        Array::from_slice(&values, shape).ok()?.convert(element).ok()
    };
    let left = match turned {
        true => array(with_batch(&[inner, rows]))?.transpose(&[1, 0]).ok()?,
        false => array(with_batch(&[rows, inner]))?,
    };
    let right = if columns == 0 { vec![inner] } else { with_batch(&[inner, columns]) };
    let values = vec![Value::Array(left), Value::Array(array(right)?)];
    let arguments = crate::arguments::Arguments::bind(op, values).ok()?;
    let mut context = Context::default();
    match (op.prepare)(op, arguments, &mut context).ok()? {
        Prepared::Call(call) => Some(call),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_is_of_its_kind_and_they_grow() {
        let op = table::find("matmul").unwrap();
        for kind in Kind::ALL {
            let mut before = 0.0;
            for extents in sizes(kind) {
                let call = product(op, extents, ElementType::F32).unwrap();
                let place = place_of(&call).unwrap();
                assert_eq!(place.kind, kind, "{extents:?}");
                assert!(place.units > before, "{extents:?}");
                before = place.units;
            }
        }
    }
}
