//! Steps on a device. What a step changes gets new memory there, which the old array's serves next: no
//! other array that shares the old one sees the change.

use super::{Runs, Step};
use crate::call::{Call, Detail};
use crate::decline::Answer;
use crate::round_trip::{Bind, Made, Placed, RoundTrip, Work};
use crate::select::added_rows;
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_kernel::step;
use rung_math::update::{Decay, NUMBERS, Own, ToBf16, ToF16, Update};
use rung_math::{Graph, Width, trace_update};

pub(super) fn step_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    Runs::run(trip, call)
}

/// Which of a step's texts it is: what of it is no number.
fn form(step: &Step) -> &'static str {
    match step {
        Step::Scale(_) | Step::Axpy(_) => "",
        Step::Adam(adam) => match adam.mode {
            Decay::None => "step",
            Decay::Coupled => "step, coupled decay",
            Decay::Decoupled => "step, decay apart",
        },
        Step::Sgd(sgd) => match (sgd.momentum == 0.0, sgd.decay == 0.0, sgd.nesterov) {
            (true, true, _) => "step",
            (true, false, _) => "step, decay",
            (false, true, false) => "step, momentum",
            (false, true, true) => "step, Nesterov",
            (false, false, false) => "step, momentum, decay",
            (false, false, true) => "step, Nesterov, decay",
        },
    }
}

fn graph_of<U: Update<K>, const K: usize>(t: ElementType, step: &U) -> Graph {
    match t {
        ElementType::F64 => trace_update::<U, Own, K>(Width::F64, step),
        ElementType::BF16 => trace_update::<U, ToBf16, K>(Width::F32, step),
        ElementType::F16 => trace_update::<U, ToF16, K>(Width::F32, step),
        _ => trace_update::<U, Own, K>(Width::F32, step),
    }
}

impl Runs for RoundTrip<'_> {
    type Output = Answer;

    fn over<U: Update<K>, const K: usize>(&self, call: &Call, step: U) -> Result<Answer> {
        let Detail::Update(form_of) = &call.detail else { return no_numbers() };
        let targets = call.changed();
        let (mut own, mut others) = (targets.iter(), call.operands.iter());
        let mut arrays = Vec::with_capacity(K);
        for writes in step.writes() {
            let array = if writes { own.next() } else { others.next() };
            let Some(array) = array else { return no_numbers() };
            match self.packed(array)? {
                Ok(packed) => arrays.push(packed),
                Err(reason) => return Ok(Answer::Declined(reason)),
            }
        }
        let t = call.raw;
        let name = call.op.name();
        let make = || {
            let text = format!("{name} {}", form(form_of));
            step::kernel(&text, &graph_of::<U, K>(t, &step), t, K, NUMBERS)
        };
        let kernel = self.kernel_for((name, t, form(form_of)), make)?;
        let placed: Vec<Placed> = arrays.iter().map(|x| self.place(x)).collect();
        let offsets: Vec<usize> = placed.iter().map(Placed::offset).collect();
        let launch = step::launch(&kernel, call.shape.size(), &offsets, &step.numbers());
        let work = launch.map(|launch| {
            let mut work = Work::default();
            let written = step.writes().iter().filter(|writes| **writes).count();
            let made = (0..written).map(|_| work.make(Made::Result(t, call.shape.clone())));
            let made: Vec<Bind> = made.collect();
            work.stage(launch, (0..K).map(Bind::Operand).chain(made));
            work
        });
        match self.results(work, &placed)? {
            Ok(after) => Ok(call.replace(after)),
            Err(reason) => Ok(Answer::Declined(reason)),
        }
    }
}

fn no_numbers() -> Result<Answer> {
    Err(Error::new(ErrorKind::Internal, "a step without its arrays"))
}

pub(super) fn rows_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (Detail::Rows(to), Some(target)) = (&call.detail, call.changed().into_iter().next()) else {
        return no_numbers();
    };
    match added_rows(trip, &target, &call.operands[0], to)? {
        Ok(sum) => Ok(call.replace(vec![sum])),
        Err(reason) => Ok(Answer::Declined(reason)),
    }
}
