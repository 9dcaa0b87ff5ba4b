//! The samples on a device: one launch for each, queued one after the other, so that nothing comes back
//! before the last. A launch finds the farthest point in what the launch before it left, updates the
//! points that are not passed by, and leaves the farthest of each group of invocations.
//!
//! A tile is 32 points in the cloud's own order, with its box: an invocation passes it by where the
//! bound of `pruned` holds. Scans come in an order in which most tiles are small; of a cloud in random
//! order every tile is visited.

pub(super) mod batch;

use super::{Plan, Wanted, plan};
use crate::{Coordinate, operand};
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use rung_kernel::{Binding, Kernel, Launch};
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
    let at_first = match plan.mask {
        None => Array::vector(&[T::INFINITY])?,
        Some(mask) => Array::build::<T>(Shape::vector(mask.len()), |out| {
            let least = |&is_in: &bool| if is_in { T::INFINITY } else { T::GONE };
            out.iter_mut().zip(mask).for_each(|(out, is_in)| *out = least(is_in));
        })?,
    };
    // Below 2^31, which `declines` sees to.
    let starts: Vec<i32> = plan.start.iter().map(|&start| start as i32).collect();
    let starts = Array::vector(&starts)?;
    let placed = [&call.operands[0], &at_first, &starts].map(|array| trip.place(array));
    let kernels = Kernels::of(T::TYPE, trip)?;
    let offsets = placed.map(|p| p.offset() as u32);
    trip.run_work(Ok(kernels.work(call, &plan, offsets)), &placed)
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

    /// All launches of a call; `offsets`: where points, least distances at first, and starts begin.
    fn work(&self, call: &Call, plan: &Plan, offsets: [u32; 3]) -> Work {
        let [points, columns] = cloud_size(call);
        let t = call.operands[0].element_type();
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
        let [at_points, at_first, at_starts] = offsets;
        let stride = u32::from(plan.mask.is_some());
        let begin = launch(&self.begin, &[at_points, stride, at_first], groups);
        work.stage(begin, [Bind::Operand(0), state, places, Bind::Operand(1)]);
        for sample in 0..plan.count as u32 {
            let more = [at_points, sample, plan.start.len() as u32, at_starts];
            let binds = [Bind::Operand(0), state, places, Bind::Operand(2), indices, radii];
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
    ],
    parameters: 8,
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
