//! The table's own samples on one rung, compared with the definition under each operation's
//! exactness class. What `rung doctor` calls the self-test of a rung.

use super::Mark;
use rung::solvers;
use rung_array::Array;
use rung_base::{ElementType, ErrorKind, Settings};
use rung_device::Device;
use rung_lanes::Lanes;
use rung_library::Library;
use rung_ops::record::Entry;
use rung_ops::samples::Sample;
use rung_ops::{Decline, Ladder, NoCaller, Op, Rung, Value};
use std::fmt;
use std::sync::Arc;

/// Largest sample array that the self-test uses: the whole of it takes well under a second.
const MOST_ELEMENTS: usize = 5000;

/// Codes of declines that no sample may have: something failed. The others, `device` among them, say before
/// anything runs what a call is beyond: loops too long for an adapter, a method without kernels.
const FAULTS: [&str; 3] = ["compile", "driver", "lost"];

/// Operations tested, and the first that gave other bits, or why the rung is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    passed: usize,
    all: usize,
    wrong: Option<String>,
    /// Samples that are too large to be run here.
    left_out: usize,
}

impl Tested {
    pub fn mark(&self) -> Mark {
        if self.wrong.is_some() { Mark::Fail } else { Mark::Ok }
    }
}

/// `38/38`, or `37/38 (exp is wrong)`, or `38/38 (device retired: wait failed)`, and then what was not run.
impl fmt::Display for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.passed, self.all)?;
        if let Some(text) = &self.wrong {
            write!(f, " ({text})")?;
        }
        if self.left_out > 0 {
            let plural = if self.left_out == 1 { "" } else { "s" };
            let most = rung_ops::decline::grouped(MOST_ELEMENTS as u64);
            write!(f, ", {} sample{plural} above {most} elements left out", self.left_out)?;
        }
        Ok(())
    }
}

pub fn library(library: Library) -> Tested {
    run(Rung::Library, None, Some(library), None)
}

pub fn device(device: Arc<dyn Device>) -> Tested {
    let mut tested = run(Rung::Device, None, None, Some(device.clone()));
    // What it was lost with the ladder declined, which proves nothing.
    if let Err(failure) = device.synchronize() {
        tested.wrong = Some(failure.text);
    }
    tested
}

/// Every operation that has a kernel on `rung`. A call that the rung declines because it is beyond the
/// rung proves nothing; one that failed there is wrong, and a device takes one of each operation at least.
pub fn run(
    rung: Rung,
    lanes: Option<Lanes>,
    library: Option<Library>,
    device: Option<Arc<dyn Device>>,
) -> Tested {
    let mut ladder = Ladder::with_rungs(
        &Settings::default(),
        lanes,
        library.ok_or(Decline::Off("--blas")),
        device.ok_or(Decline::Off("--gpu")),
    );
    ladder.verify(true);
    ladder.only = Some(rung);
    let mut tested = Tested::default();
    for op in solvers::operations().filter(|op| has_kernel(op, rung)) {
        tested.all += 1;
        let samples = (op.samples)();
        let count = samples.len();
        let samples: Vec<Sample> = samples.into_iter().filter(small).collect();
        tested.left_out += count - samples.len();
        match all_right(&mut ladder, op, samples, rung) {
            Ok(()) => tested.passed += 1,
            Err(wrong) => {
                tested.wrong.get_or_insert(wrong);
            }
        }
    }
    tested
}

/// Runs an operation's samples; the error says what is wrong.
fn all_right(
    ladder: &mut Ladder,
    op: &'static Op,
    samples: Vec<Sample>,
    rung: Rung,
) -> Result<(), String> {
    let ran = |ladder: &Ladder| ladder.calls.counted().any(|row| row.rung == rung);
    ladder.count_anew();
    each_right(ladder, op, samples.clone())?;
    if let (false, Some(t)) = (ran(ladder), op.types.first()) {
        // Samples are of doubles for the most part, which an operation on integers does not take.
        each_right(ladder, op, samples.iter().map(|sample| converted(sample, *t)))?;
    }
    match rung == Rung::Device && !ran(ladder) {
        true => Err(format!("{} ran no sample", op.name())),
        false => Ok(()),
    }
}

fn each_right(
    ladder: &mut Ladder,
    op: &'static Op,
    samples: impl IntoIterator<Item = Sample>,
) -> Result<(), String> {
    for sample in samples {
        ladder.refused.clear();
        let Err(error) = ladder.call(op, sample, &mut NoCaller) else { continue };
        if error.kind() == ErrorKind::BitsDiffer {
            return Err(format!("{} is wrong", op.name()));
        }
        let mut said = ladder.refused.iter();
        if let Some((rung, fault)) = said.find(|(_, said)| FAULTS.contains(&said.code())) {
            return Err(format!("{} failed: {}", op.name(), fault.text(*rung)));
        }
    }
    Ok(())
}

/// With its arrays in this element type, where they can be.
fn converted(sample: &Sample, t: ElementType) -> Sample {
    let value = |value: &Value| match value {
        Value::Array(array) => Value::Array(array.convert(t).unwrap_or_else(|_| array.clone())),
        other => other.clone(),
    };
    sample.iter().map(value).collect()
}

fn small(sample: &Sample) -> bool {
    sample.iter().all(|value| match value {
        Value::Array(array) => Array::size(array) <= MOST_ELEMENTS,
        _ => true,
    })
}

/// Whether an operation's record has a kernel for `rung`.
pub fn has_kernel(op: &Op, rung: Rung) -> bool {
    missing(op, rung).is_none()
}

/// Why an operation has no kernel for `rung`.
pub fn missing(op: &Op, rung: Rung) -> Option<&'static str> {
    fn reason<T>(entry: &Entry<T>) -> Option<&'static str> {
        if let Entry::None(reason) = entry { Some(reason) } else { None }
    }
    match rung {
        Rung::Device => reason(&op.rungs.device),
        Rung::Library => reason(&op.rungs.library),
        Rung::Lanes => reason(&op.rungs.lanes),
        Rung::Portable => None,
    }
}
