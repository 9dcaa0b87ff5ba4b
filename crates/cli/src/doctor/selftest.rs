//! The table's own samples on one rung, compared with the definition under each operation's
//! exactness class. What `rung doctor` calls the self-test of a rung.

use super::Mark;
use rung::solvers;
use rung_array::Array;
use rung_base::Settings;
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

/// Operations tested, and the first that gave other bits, or why the rung is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tested {
    passed: usize,
    all: usize,
    wrong: Option<String>,
}

impl Tested {
    pub fn mark(&self) -> Mark {
        if self.wrong.is_some() { Mark::Fail } else { Mark::Ok }
    }
}

/// `38/38`, or `37/38 (exp is wrong)`, or `38/38 (device retired: wait failed)`.
impl fmt::Display for Tested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.passed, self.all)?;
        self.wrong.as_ref().map_or(Ok(()), |text| write!(f, " ({text})"))
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

/// Every operation that has a kernel on `rung`; a call that the rung declines proves nothing.
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
        match samples.iter().filter(|sample| small(sample)).all(|s| right(&mut ladder, op, s)) {
            true => tested.passed += 1,
            false => {
                tested.wrong.get_or_insert_with(|| format!("{} is wrong", op.name()));
            }
        }
    }
    tested
}

fn right(ladder: &mut Ladder, op: &'static Op, sample: &Sample) -> bool {
    let outcome = ladder.call(op, sample.clone(), &mut NoCaller);
    outcome.err().is_none_or(|error| error.kind() != rung_base::ErrorKind::BitsDiffer)
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
