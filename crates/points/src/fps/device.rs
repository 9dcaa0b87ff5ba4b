//! The samples on a device: one launch for each, queued one after the other, so that nothing comes back
//! before the last. A launch finds the farthest point in what the launch before it left, updates the
//! points that are not passed by, and leaves the farthest of each group of invocations.
//!
//! A tile is 32 points, with their box: an invocation passes it by where the bound of `pruned` holds. Points of
//! up to three coordinates go there along the curve by which `pruned` makes its groups, others as they come.
//! With each goes its number in the cloud, which decides between equally far ones.

pub(super) mod batch;

use super::{Plan, Wanted, curve, plan};
use crate::{Cloud, Coordinate, operand};
use rung_array::Array;
use rung_base::{ElementType, Result, Shape, memory};
use rung_kernel::{Binding, Kernel, Launch};
use rung_lanes::Lanes;
use rung_ops::call::Call;
use rung_ops::round_trip::{Bind, Made, RoundTrip, Work};
use rung_ops::{Answer, Decline};
use std::sync::Arc;

/// Invocations of a group, and groups at most: what each found is read by one group in one go.
const GROUP: usize = 256;
/// Points of a tile.
const TILE: usize = 32;
/// Launches that are queued for one call. Not tuned.
const MOST_SAMPLES: usize = 1 << 16;

/// The device's rung, for what `wanted` finds in a call.
pub(super) fn run<T: Coordinate>(call: &Call, trip: &RoundTrip, wanted: &Wanted) -> Result<Answer> {
    let cloud = operand::cloud::<T>(call);
    let plan = plan(&cloud, wanted)?;
    if let Some(reason) = declines(&cloud_size(call), &plan, wanted) {
        return Ok(Answer::Declined(reason));
    }
    let alone;
    let lanes = match trip.lanes() {
        Some(lanes) => lanes,
        None => {
            alone = Lanes::new(1);
            &alone
        }
    };
    let order = order(lanes, &cloud, &plan)?;
    let tiled = tiled(&cloud, &order)?;
    let starts = places(&order, &plan.start, cloud.len())?;
    let numbers = Array::build::<i32>(Shape::vector(order.len()), |out| {
        out.iter_mut().zip(&order).for_each(|(out, &number)| *out = number as i32);
    })?;
    let far = Array::vector(&[T::INFINITY])?;
    let placed = [&tiled, &starts, &numbers, &far].map(|array| trip.place(array));
    let kernels = Kernels::of(T::TYPE, trip)?;
    let offsets = placed.map(|p| p.offset() as u32);
    trip.run_work(Ok(kernels.work(tiled.shape(), T::TYPE, &plan, offsets)), &placed)
}

/// The numbers of the points that take part, in the order of tiles; below 2^31, as `declines` has it.
fn order<T: Coordinate>(lanes: &Lanes, cloud: &Cloud<T>, plan: &Plan) -> Result<Vec<u32>> {
    match cloud.dimension() {
        1 => curve::along::<T, 1>(lanes, cloud, plan),
        2 => curve::along::<T, 2>(lanes, cloud, plan),
        3 => curve::along::<T, 3>(lanes, cloud, plan),
        _ => {
            let mut order = memory::room(cloud.len(), || format!("{} numbers", cloud.len()))?;
            order.extend((0..cloud.len()).filter(|&i| plan.takes_part(i)).map(|i| i as u32));
            Ok(order)
        }
    }
}

/// The points in this order.
fn tiled<T: Coordinate>(cloud: &Cloud<T>, order: &[u32]) -> Result<Array> {
    let columns = cloud.dimension();
    Array::build::<T>(Shape::new([order.len(), columns])?, |out| {
        for (to, &number) in out.chunks_exact_mut(columns).zip(order) {
            to.copy_from_slice(cloud.point(number as usize));
        }
    })
}

/// Where the starts are in the order of so many points.
fn places(order: &[u32], starts: &[usize], points: usize) -> Result<Array> {
    let mut place_of = memory::filled(points, 0, || format!("the places of {points} points"))?;
    for (place, &number) in order.iter().enumerate() {
        place_of[number as usize] = place as i32;
    }
    let places: Vec<i32> = starts.iter().map(|&start| place_of[start]).collect();
    Array::vector(&places)
}

/// Rows and columns.
fn cloud_size(call: &Call) -> [usize; 2] {
    let shape = call.operands[0].shape();
    [shape[0], shape[1]]
}

fn declines(size: &[usize; 2], plan: &Plan, wanted: &Wanted) -> Option<Decline> {
    let no = |text: String| Some(Decline::Device(text.into()));
    let [points, columns] = *size;
    if wanted.radius.is_some() {
        return no("a radius ends a run at a sample that only its results know".into());
    }
    if plan.count == 0 {
        return Some(Decline::NoKernel("no sample is asked for"));
    }
    if plan.count > MOST_SAMPLES {
        return no(format!("{} samples are as many launches: {MOST_SAMPLES} at most", plan.count));
    }
    // The state has less than two numbers a coordinate and one a point.
    let elements = points.saturating_mul(2 * columns + 1);
    (elements >= 1 << 31).then_some(Decline::TooLong)
}

struct Kernels {
    begin: Arc<Kernel>,
    step: Arc<Kernel>,
    end: Arc<Kernel>,
}

impl Kernels {
    fn of(t: ElementType, trip: &RoundTrip) -> Result<Kernels> {
        let get = |text: &Text| trip.kernel_for((text.name, t, "points"), || Ok(text.kernel(t)));
        Ok(Kernels { begin: get(&BEGIN)?, step: get(&STEP)?, end: get(&END)? })
    }

    /// All launches of a call for points of this shape and type; `offsets`: where points, starts, numbers and
    /// what is least at first begin.
    fn work(&self, points: &Shape, t: ElementType, plan: &Plan, offsets: [u32; 4]) -> Work {
        let [points, columns] = [points[0], points[1]];
        let tiles = points.div_ceil(TILE);
        let groups = tiles.div_ceil(GROUP).min(GROUP);
        let found = points + tiles * (2 * columns + 1);
        let mut work = Work::default();
        let indices = work.make(Made::Result(ElementType::I64, Shape::vector(plan.count)));
        let radii = work.make(Made::Result(t, Shape::vector(plan.count)));
        let covering = work.make(Made::Result(t, Shape::scalar()));
        let state = work.make(Made::Workspace((found + 2 * groups) * t.size()));
        let places = work.make(Made::Workspace((tiles + 2 * groups) * ElementType::I32.size()));
        // Every number is below 2^31, as `declines` has it.
        let size = [points, columns, tiles, groups].map(|n| n as u32);
        let launch = |kernel: &Arc<Kernel>, more: &[u32], groups: usize| Launch {
            kernel: kernel.clone(),
            parameters: [&size[..], more].concat(),
            groups: [groups as u32, 1, 1],
        };
        let [points, starts, numbers, far] = [0, 1, 2, 3].map(Bind::Operand);
        let [at_points, at_starts, at_numbers, at_far] = offsets;
        let begin = launch(&self.begin, &[at_points, at_numbers, at_far], groups);
        work.stage(begin, [points, state, places, numbers, far]);
        for sample in 0..plan.count as u32 {
            let more = [at_points, sample, plan.start.len() as u32, at_starts, at_numbers];
            let binds = [points, state, places, starts, indices, radii, numbers];
            work.stage(launch(&self.step, &more, groups), binds);
        }
        let half = plan.count % 2 * groups;
        let parameters = vec![groups as u32, (found + half) as u32];
        let end = Launch { kernel: self.end.clone(), parameters, groups: [1, 1, 1] };
        work.stage(end, [covering, state]);
        work
    }
}

/// What a buffer of a kernel holds: coordinates' type, or another.
#[derive(Clone, Copy)]
enum Holds {
    Reals,
    Places,
    Indices,
}

/// A kernel for either width.
struct Text {
    name: &'static str,
    text: &'static str,
    /// What each buffer holds, and whether it is written.
    buffers: &'static [(Holds, bool)],
    parameters: usize,
}

const BEGIN: Text = Text {
    name: "(fps begin)",
    text: include_str!("sample_begin.wgsl"),
    buffers: &[
        (Holds::Reals, false),
        (Holds::Reals, true),
        (Holds::Places, true),
        (Holds::Places, false),
        (Holds::Reals, false),
    ],
    parameters: 7,
};

const STEP: Text = Text {
    name: "(fps step)",
    text: concat!(include_str!("sample_distance.wgsl"), include_str!("sample_step.wgsl")),
    buffers: &[
        (Holds::Reals, false),
        (Holds::Reals, true),
        (Holds::Places, true),
        (Holds::Places, false),
        (Holds::Indices, true),
        (Holds::Reals, true),
        (Holds::Places, false),
    ],
    parameters: 9,
};

const END: Text = Text {
    name: "(fps end)",
    text: include_str!("sample_end.wgsl"),
    buffers: &[(Holds::Reals, true), (Holds::Reals, false)],
    parameters: 2,
};

const BATCH: Text = Text {
    name: "(fps batch)",
    text: concat!(include_str!("sample_distance.wgsl"), include_str!("sample_batch.wgsl")),
    buffers: &[
        (Holds::Reals, false),
        (Holds::Reals, false),
        (Holds::Places, false),
        (Holds::Reals, true),
        (Holds::Indices, true),
        (Holds::Reals, true),
        (Holds::Reals, true),
    ],
    parameters: 5,
};

impl Text {
    fn kernel(&self, t: ElementType) -> Kernel {
        let (zero, gone) = match t {
            ElementType::F32 => ("0.0", "-1.0"),
            _ => ("0.0lf", "-1.0lf"),
        };
        let [group, half, tile] = [GROUP, GROUP / 2, TILE].map(|n| n.to_string());
        let values = [
            ("${group}", &*group),
            ("${half}", &half),
            ("${tile}", &tile),
            ("${type}", t.name()),
            ("${zero}", zero),
            ("${gone}", gone),
        ];
        let whole = include_str!("sample.wgsl").to_string() + self.text;
        let text = values.iter().fold(whole, |text, (name, value)| text.replace(name, value));
        let binding = |&(holds, written): &(Holds, bool)| {
            let element = match holds {
                Holds::Reals => t,
                Holds::Places => ElementType::I32,
                Holds::Indices => ElementType::I64,
            };
            if written { Binding::write(element) } else { Binding::read(element) }
        };
        Kernel {
            key: format!("points {} {t}", self.name),
            text,
            workgroup: [GROUP as u32, 1, 1],
            bindings: self.buffers.iter().map(binding).collect(),
            parameter_words: self.parameters,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_kernel::{Variants, compile, compile_ptx};

    #[test]
    fn every_kernel_compiles() {
        for t in [ElementType::F32, ElementType::F64] {
            for text in [&BEGIN, &STEP, &END, &BATCH] {
                for variants in [Variants::default(), Variants::SOFTWARE] {
                    compile(&text.kernel(t), &variants).unwrap();
                }
                compile_ptx(&text.kernel(t), &Variants::default()).unwrap();
            }
        }
    }
}
