//! Products on a device: tiles for stacks of matrices, on its tensor cores where `--precision` asks for it
//! or where they have the bits of doubles, with what follows element by element in the same launch; a fold
//! for each cell of a product with a vector.

use super::{detail, last_two};
use crate::call::{Call, Form, Product};
use crate::decline::{Answer, Decline};
use crate::round_trip::{Cores, Given, RoundTrip, Work};
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use rung_kernel::broadcast::{self, Read};
use rung_kernel::cells::{Computed, number_words};
use rung_kernel::product::{Epilogue, Extents, Matrix, Tile, Types};
use rung_kernel::{product as kernel, rows, tensor, tensor_doubles};
use rung_math::rows::Cell;
use rung_math::trace::trace_rows;
use rung_math::{Graph, Width};
use smallvec::SmallVec;

/// What is made of each cell of a product, which is the graph's first argument.
pub(crate) struct Following<'a> {
    /// Unique among definitions.
    pub name: String,
    pub graph: &'a dyn Fn(Width) -> Graph,
    /// The other arguments, at the product's shape and of its type, which is that of its cells.
    pub operands: &'a [Array],
}

/// a (batch, rows, inner), b (batch, inner, columns), out (batch, rows, columns); a broadcast
/// operand goes up once.
pub(super) fn run(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let p = detail(call)?;
    match p.form {
        Form::Folds => device_folds(call, trip, p),
        Form::Cells => tiles(call, trip, None),
    }
}

/// a (..., rows, inner), b (..., inner, columns), out (..., rows, columns), of which a vector's axis
/// is dropped: each cell a fold, narrowed by the kernel.
fn device_folds(call: &Call, trip: &RoundTrip, p: Product) -> Result<Answer> {
    let (a, b) = (&call.operands[0], &call.operands[1]);
    let types = [a.element_type(), b.element_type(), call.result];
    if let Some(t) = types.iter().find(|t| !t.is_float()) {
        return Ok(Answer::Declined(Decline::Type(*t)));
    }
    let kernel = trip.cell_kernel(types, || {
        // Of several types everything is widened to doubles, as the definition has it.
        let width = if types == [ElementType::F32; 3] { Width::F32 } else { Width::F64 };
        let program = trace_rows::<Cell, 2>(width, 0);
        rows::kernel_of("cell", &program, &types[..2], call.result)
    })?;
    let placed = [trip.place(a), trip.place(b)];
    let (left, right) = (a.strides(), b.strides());
    let stack = left.len() - 2;
    // Over (..., rows, columns, inner).
    let left = [&left[..stack], &[left[stack], 0, left[stack + 1]]].concat();
    let right = [&right[..stack], &[0, right[stack + 1], right[stack]]].concat();
    let shape = [&a.shape()[..stack], &[p.rows, p.columns, p.inner]].concat();
    let view = |i: usize, strides| broadcast::View { offset: placed[i].offset(), strides };
    let operands = [view(0, &left[..]), view(1, &right[..])];
    let slices = rows::Slices { shape: &shape, axis: stack + 2, operands: &operands, one: true };
    let launch = rows::launch(&kernel, &slices, &[]);
    let work = launch.map(|launch| Work::one(launch, 2, call.result, call.shape.clone()));
    trip.run_work(work, &placed)
}

/// A stack of products in tiles, each cell made into another by what follows.
pub(crate) fn tiles(
    call: &Call,
    trip: &RoundTrip,
    following: Option<&Following>,
) -> Result<Answer> {
    let p = detail(call)?;
    if p.form == Form::Folds || call.raw == ElementType::I64 {
        return Ok(Answer::Declined(Decline::Type(call.raw)));
    }
    let more = following.map_or(&[][..], |f| f.operands);
    let mut operands: SmallVec<[Array; 4]> = SmallVec::new();
    for x in call.operands.iter().chain(more) {
        match even(x, p.batch, trip)? {
            Ok(x) => operands.push(x),
            Err(reason) => return Ok(Answer::Declined(reason)),
        }
    }
    // A turn for each step, and those that load tiles.
    if let Some(reason) = trip.ends_loops(2 * p.inner) {
        return Ok(Answer::Declined(reason));
    }
    let wanted = call.raw;
    let computed = Computed::holding(wanted);
    let stored = [operands[0].element_type(), operands[1].element_type()];
    let types = Types { stored, wanted, writes: call.result };
    let size = Extents { batch: p.batch, m: p.rows, k: p.inner, n: p.columns };
    let cores = trip.cores(&size, wanted);
    let (variants, processors) = (trip.variants(), trip.multiprocessors());
    let tile = match cores {
        Cores::Rounded(_) => tensor::tile(&size, processors),
        Cores::Doubles => Tile::Middle,
        Cores::None => Tile::of(&size, computed, &variants, processors),
    };
    let mut placed: SmallVec<[_; 4]> = operands[..2].iter().map(|x| trip.place(x)).collect();
    let (mut reads, mut numbers) = (SmallVec::<[Read; 4]>::new(), Vec::new());
    let same = [call.result; 16];
    for given in trip.given(&operands[2..], &same[..more.len().min(16)], computed) {
        match given {
            Given::Array(x) => {
                reads.push(Read::Array { stored: call.result, wanted: call.result });
                placed.push(x);
            }
            Given::Number(bits) => {
                reads.push(Read::Number);
                numbers.extend(number_words(bits, computed));
            }
        }
    }
    let name = following.map_or(String::new(), |f| f.name.clone());
    let make = || {
        let width = Width::of(wanted).unwrap_or(Width::F64);
        let graph = following.map(|f| (f.graph)(width));
        let epilogue = graph.as_ref().map(|graph| Epilogue { name: &name, graph, reads: &reads });
        match cores {
            Cores::Rounded(rounding) => tensor::kernel(types, rounding, tile, epilogue.as_ref()),
            Cores::Doubles => tensor_doubles::kernel(types, epilogue.as_ref()),
            Cores::None => kernel::kernel(types, tile, epilogue.as_ref()),
        }
    };
    let key = (types, tile, cores, name.clone(), reads.clone());
    let kernel = match trip.product_kernel(key, make) {
        Ok(kernel) => kernel,
        Err(e) => return Ok(Answer::Declined(Decline::Device(e.message().into()))),
    };
    let matrices: SmallVec<[Matrix; 4]> = placed
        .iter()
        .map(|x| {
            let s = x.strides();
            Matrix { offset: x.offset(), batch: s[0], row: s[1], column: s[2] }
        })
        .collect();
    let launch = kernel::launch(&kernel, tile.sides(computed), &size, &matrices, &numbers);
    let count = placed.len();
    let work = launch.map(|launch| Work::one(launch, count, call.result, call.shape.clone()));
    trip.run_work(work, &placed)
}

/// A stack (batch, rows, columns) through which a device steps evenly: one that no single stride
/// reaches is packed for it.
fn even(x: &Array, batch: usize, trip: &RoundTrip) -> Result<std::result::Result<Array, Decline>> {
    let (rows, columns) = last_two(x);
    let shape = Shape::new([batch, rows, columns])?;
    if let Some(view) = x.reshaped_view(&shape) {
        return Ok(Ok(view));
    }
    Ok(match trip.packed(x)? {
        Ok(packed) => Ok(packed.reshape(shape)?),
        Err(reason) => Err(reason),
    })
}
