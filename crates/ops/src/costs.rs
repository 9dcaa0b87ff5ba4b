//! What a call would cost on each rung, from which it follows who takes it.
//!
//! The numbers are the reference's defaults (spec acceleration 4.1 and 4.2): those of `lanes`
//! describe one core, the device's are meant to err against the device. `rung tune` measures
//! this machine's and `file` reads them back. An estimate is never changed during a run, so a run
//! is repeatable.

pub mod curve;
pub mod file;
pub mod key;

use crate::call::{Call, Detail, Form, bytes_of};
use crate::decline::Decline;
use crate::product::Mode;
use crate::record::{Family, Offer};
use crate::resident::{Standing, read_at_once};
use curve::{Curves, Place};
use rung_array::{Array, Sight};
use rung_base::ElementType;
use rung_device::Info;
use rung_kernel::tensor::Rounding;
use rung_lanes::{Grains, Level};
use std::path::PathBuf;

/// Seconds never appear here: times are in microseconds, rates in bytes a microsecond.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    pub lanes: LanesCosts,
    pub library: LibraryCosts,
    pub device: DeviceCosts,
    /// The file they were read from; `None`: the defaults.
    pub origin: Option<PathBuf>,
}

/// Per core.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LanesCosts {
    /// One multiply-add of a product, f32 and f64.
    pub product: [f64; 2],
    /// One elementary function, f32 and f64.
    pub elementary: [f64; 2],
    /// Bytes a microsecond, one core and all of them.
    pub memory: [f64; 2],
    /// Entering a parallel region.
    pub region: f64,
    /// From which sizes threads help.
    pub grains: Grains,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LibraryCosts {
    /// The threads that the library uses.
    pub threads: usize,
    /// Measured products of this library beside those of the lanes; empty: not measured.
    pub curves: Curves,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceCosts {
    /// Of a call whose operands go up and whose result comes down.
    pub floor: f64,
    /// A launch that nobody waits for.
    pub launch: f64,
    /// What waits for what is before it inside a launch: a column of a panel of a factorisation, a
    /// row of a block of a substitution.
    pub in_turn: [f64; 2],
    /// Bytes a microsecond on the link.
    pub up: f64,
    pub down: f64,
    /// One multiply-add, f32 and f64.
    pub product: [f64; 2],
    /// One multiply-add of singles on tensor cores, tf32 and bf16; 0 where there are none.
    pub tensor: [f64; 2],
    /// One elementary function, f32 and f64.
    pub elementary: [f64; 2],
    /// Bytes a microsecond of the device's own memory.
    pub memory: f64,
    pub thresholds: Thresholds,
    /// Elements from which a call is taken because an operand is there.
    pub resident: u64,
    /// Result cells that a fold needs beside its threshold.
    pub fold_cells: u64,
    /// Elements of a matrix from which its product with a vector is offered.
    pub gemv: u64,
}

/// The smallest call that a device is offered, in each family's unit; `None`: never a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    pub product: Option<u64>,
    pub map: Option<u64>,
    pub wide: Option<u64>,
    pub fold: Option<u64>,
    pub fill: Option<u64>,
}

impl DeviceCosts {
    /// Has the device take every call that it can: for tests.
    pub fn make_free(&mut self) {
        let any = Some(0);
        let thresholds = Thresholds { product: any, map: any, wide: any, fold: any, fill: any };
        let rate = f64::INFINITY;
        let (none, resident) = ([0.0; 2], 0);
        *self = DeviceCosts {
            floor: 0.0,
            launch: 0.0,
            in_turn: none,
            up: rate,
            down: rate,
            product: none,
            tensor: none,
            elementary: none,
            memory: rate,
            thresholds,
            resident,
            fold_cells: 0,
            gemv: 0,
        };
    }

    /// The fewest elements of a call that could be worth a trip, its operands being here.
    pub fn smallest(&self) -> u64 {
        let t = &self.thresholds;
        let family = |need: Option<u64>| need.unwrap_or(u64::MAX);
        family(t.map).min(family(t.wide))
    }
}

impl Thresholds {
    /// The threshold of a family; a copy moves more bytes than it saves time.
    pub fn of(&self, family: Family) -> Option<u64> {
        match family {
            Family::Product => self.product,
            Family::Map => self.map,
            Family::Wide => self.wide,
            Family::Fold => self.fold,
            Family::Fill => self.fill,
            Family::Copy => None,
        }
    }
}

/// The defaults of the lanes at a level; `None`: no lanes, which nobody asks then.
pub fn lanes_costs(level: Level) -> LanesCosts {
    let picoseconds = |f32: f64, f64: f64| [f32 * 1e-6, f64 * 1e-6];
    let (product, elementary) = match level {
        Level::Avx512 => (picoseconds(15.0, 30.0), picoseconds(600.0, 1200.0)),
        Level::Avx2 => (picoseconds(30.0, 60.0), picoseconds(1200.0, 2500.0)),
        Level::Portable => (picoseconds(80.0, 155.0), picoseconds(2500.0, 5000.0)),
    };
    let grains = Grains::of(level);
    LanesCosts { product, elementary, memory: [12e3, 40e3], region: 4.0, grains }
}

/// Any wgpu device that is not Metal: the last column of 4.2 with Metal's thresholds of 4.1.
pub const WGPU: DeviceCosts = DeviceCosts {
    floor: 120.0,
    launch: 30.0,
    // Not in the reference: a few barriers of a group, meant to err against the device.
    in_turn: [7.5, 1.0],
    up: 8e3,
    down: 8e3,
    product: [1e-6, 4e-6],
    tensor: [0.0; 2],
    elementary: [60e-6, 120e-6],
    memory: 100e3,
    thresholds: Thresholds {
        product: Some(1 << 22),
        map: Some(1 << 17),
        wide: Some(1 << 18),
        fold: None,
        fill: Some(1 << 15),
    },
    resident: 1 << 14,
    fold_cells: 256,
    gemv: 1 << 21,
};

/// A card that shares its memory with the processor: the first columns of 4.1 and 4.2.
const CUDA_SHARED: DeviceCosts = DeviceCosts {
    floor: 16.0,
    launch: 2.5,
    in_turn: [7.5, 1.0],
    up: 30e3,
    down: 30e3,
    product: [0.34e-6, 4e-6],
    // Not in the reference. Of the cards that have tensor cores those for games gain least: as fast as
    // f32 with tf32 and twice as fast with bf16 (NVIDIA's paper on GA102, 2021: 35.6, 35.6 and 71.2
    // TFLOPS; A100: 19.5, 156 and 312), so that it errs against the device.
    tensor: [0.34e-6, 0.17e-6],
    elementary: [20e-6, 100e-6],
    memory: 200e3,
    thresholds: Thresholds {
        product: Some(1 << 17),
        map: Some(1 << 14),
        wide: Some(1 << 15),
        fold: Some(1 << 17),
        fill: Some(1 << 13),
    },
    resident: 1,
    fold_cells: 256,
    gemv: 1 << 17,
};

/// A card with memory of its own.
const CUDA: DeviceCosts = DeviceCosts {
    floor: 20.0,
    up: 12e3,
    down: 12e3,
    product: [0.1e-6, 0.5e-6],
    tensor: [0.1e-6, 0.05e-6],
    elementary: [10e-6, 30e-6],
    memory: 800e3,
    ..CUDA_SHARED
};

/// Thresholds of a card whose driver has no memory pool.
const WITHOUT_POOL: Thresholds = Thresholds {
    product: Some(1 << 21),
    map: Some(1 << 16),
    wide: Some(1 << 17),
    fold: Some(1 << 19),
    fill: Some(1 << 15),
};

/// The reference's defaults for a device.
pub fn device_costs(info: &Info) -> DeviceCosts {
    let mut costs = match info.binding {
        "cuda" if info.integrated => CUDA_SHARED,
        "cuda" => CUDA,
        _ => return WGPU,
    };
    if !info.pooled {
        costs.thresholds = WITHOUT_POOL;
    }
    costs
}

/// From how many multiply-adds the library is asked.
pub const LIBRARY_THRESHOLD: u64 = 64;
/// Fewer floating-point operations than this run on one thread of a threaded library.
pub const LIBRARY_SINGLE: u64 = 1 << 21;

fn width(t: ElementType) -> usize {
    (t == ElementType::F64) as usize
}

/// The width in which a call computes, whatever its operands are stored in.
fn width_of(call: &Call) -> usize {
    width(if call.operands.is_empty() { call.result } else { call.wanted(0) })
}

/// What a device does for a call, one after another: launches, and what waits inside them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InTurn {
    /// Those of the plan, of operands that are doubles.
    pub launches: usize,
    /// Columns of panels.
    pub columns: usize,
    /// Rows of blocks that are substituted.
    pub rows: usize,
}

impl InTurn {
    /// Microseconds beside the first launch.
    fn time(self, device: &DeviceCosts) -> f64 {
        let [column, row] = device.in_turn;
        self.launches.saturating_sub(1) as f64 * device.launch
            + self.columns as f64 * column
            + self.rows as f64 * row
    }
}

fn in_turn(call: &Call) -> InTurn {
    match &call.detail {
        Detail::Matrices(m) => m.in_turn,
        Detail::Transform(t) => InTurn { launches: t.launches(), ..InTurn::default() },
        _ => InTurn::default(),
    }
}

/// The units of a call on a device: a transform may make longer ones.
fn units(call: &Call) -> f64 {
    match &call.detail {
        Detail::Transform(t) => call.units as f64 * t.longer(),
        _ => call.units as f64,
    }
}

impl Costs {
    /// The reference's defaults.
    pub fn defaults(level: Level, library_threads: usize) -> Costs {
        Costs {
            lanes: lanes_costs(level),
            library: LibraryCosts { threads: library_threads, curves: Curves::default() },
            device: WGPU,
            origin: None,
        }
    }

    /// Microseconds on the lanes rung with `threads` threads.
    pub fn lanes_time(&self, call: &Call, threads: usize) -> f64 {
        let l = &self.lanes;
        let w = width_of(call);
        let bytes = (bytes_of(&call.operands) + result_bytes(call)) as f64;
        let one = match call.family {
            Family::Product => call.units as f64 * l.product[w],
            Family::Map => call.units as f64 * l.elementary[w],
            // Twelve draws of three divisions: near an elementary function each.
            Family::Fill => call.units as f64 * l.elementary[1],
            Family::Wide | Family::Fold | Family::Copy => bytes / l.memory[0],
        };
        if threads < 2 || one < 2.0 * l.region {
            return one;
        }
        let shared = (one / threads as f64).max(bytes / l.memory[1]);
        one.min(l.region + shared)
    }

    /// Microseconds on the library rung: as measured, else half the time of 256-bit lanes.
    pub fn library_time(&self, call: &Call) -> f64 {
        if let Some((_, library)) = self.measured(call) {
            return library;
        }
        let unit = lanes_costs(Level::Avx2).product[width_of(call)] / 2.0;
        let one = call.units as f64 * unit;
        if 2 * call.units < LIBRARY_SINGLE || self.library.threads < 2 {
            return one;
        }
        2.0 + one / self.library.threads as f64
    }

    /// Microseconds of this product on the lanes and on the library, where both were measured.
    fn measured(&self, call: &Call) -> Option<(f64, f64)> {
        self.library.curves.times(width_of(call), place_of(call)?)
    }

    /// Whether the library is slower than the rung after it: its time and the other.
    pub fn library_offer(&self, call: &Call, lanes: Option<usize>) -> Result<(), Decline> {
        if call.units < LIBRARY_THRESHOLD {
            let need = LIBRARY_THRESHOLD;
            return Err(Decline::LibrarySmall { have: call.units, need });
        }
        let Some(threads) = lanes else { return Ok(()) };
        let here = self.library_time(call);
        let there = self.measured(call).map_or_else(|| self.lanes_time(call, threads), |t| t.0);
        if here > there { Err(Decline::Slower { here, there }) } else { Ok(()) }
    }

    /// Microseconds on the device. What is there already does not go up; a result of operands that
    /// are there is taken to stay, unless it is read at once. `mode`: how a product of singles runs.
    pub fn device_time(&self, call: &Call, standing: &Standing, mode: Option<Mode>) -> f64 {
        let d = &self.device;
        let w = width_of(call);
        let product = match mode {
            Some(Mode::Tensor(Rounding::Tf32)) => d.tensor[0],
            Some(Mode::Tensor(Rounding::Bf16)) => d.tensor[1],
            _ => d.product[w],
        };
        let (up, down) = (bytes_of(&call.operands) as f64, result_bytes(call) as f64);
        let work = match call.family {
            Family::Product if matrix_of(call).is_some() => up / d.memory,
            Family::Product => call.units as f64 * product,
            Family::Map | Family::Fill => units(call) * d.elementary[w],
            Family::Wide | Family::Fold | Family::Copy => (up + down) / d.memory,
        };
        let absent = match standing.any() {
            true => standing.bytes(false).sum::<u64>() as f64,
            false => up,
        };
        let stays = standing.any() && !read_at_once(call);
        let (fixed, down) = if stays { (d.launch, 0.0) } else { (d.floor, down) };
        fixed + in_turn(call).time(d) + absent / d.up + work + down / d.down
    }

    /// Microseconds until the processor has the operands that are on the device alone.
    pub fn home_time(&self, standing: &Standing) -> f64 {
        let d = &self.device;
        if standing.away == 0 { 0.0 } else { d.floor + standing.away as f64 / d.down }
    }

    /// Microseconds on the portable rung.
    pub fn portable_time(&self, call: &Call) -> f64 {
        20.0 * self.lanes_time(call, 1)
    }

    /// Whether a call is large enough for the device, before anything is described.
    pub fn device_offer(
        &self,
        offer: Offer,
        call: &Call,
        standing: &Standing,
    ) -> Result<(), Decline> {
        if standing.any() && (call.family != Family::Product || is_of_vectors(call)) {
            // What is offered wherever the operands are is offered here too.
            let resident = self.resident_offer(call, standing);
            return resident.or_else(|e| self.carried_offer(offer, call).map_err(|_| e));
        }
        match matrix_of(call) {
            Some(matrix) => self.second_sight(call, matrix, standing),
            None => self.carried_offer(offer, call),
        }
    }

    /// A call whose operands go up and whose result comes down.
    fn carried_offer(&self, offer: Offer, call: &Call) -> Result<(), Decline> {
        let moved = bytes_of(&call.operands) + result_bytes(call);
        let Offer::RoundTrip(family) = offer else {
            return Err(Decline::NotResident { bytes: moved });
        };
        let Some(need) = self.device.thresholds.of(family) else {
            return Err(Decline::NotResident { bytes: moved });
        };
        if call.units < need {
            return Err(Decline::Small { have: call.units, need, unit: family.unit() });
        }
        // Arithmetic at equal shape moves more bytes than the processor needs time.
        if family == Family::Wide && !is_broadcast(call) {
            return Err(Decline::NotResident { bytes: moved });
        }
        let cells = call.shape.size() as u64;
        if family == Family::Fold && cells < self.device.fold_cells {
            let need = self.device.fold_cells;
            return Err(Decline::Small { have: cells, need, unit: "result cells" });
        }
        Ok(())
    }

    /// A matrix times a vector: offered when the matrix comes the second time, unchanged, or is there.
    fn second_sight(&self, call: &Call, matrix: usize, standing: &Standing) -> Result<(), Decline> {
        let need = self.device.gemv;
        if call.units < need {
            return Err(Decline::Small { have: call.units, need, unit: "matrix elements" });
        }
        if standing.there.get(matrix) == Some(&true) {
            return Ok(());
        }
        match call.operands[matrix].look() {
            Sight::First => Err(Decline::FirstSight),
            Sight::Written => Err(Decline::WrittenSince),
            Sight::Again => Ok(()),
        }
    }

    /// A call on operands of which some are there: any from a size on; what would have to go up
    /// must not be larger.
    fn resident_offer(&self, call: &Call, standing: &Standing) -> Result<(), Decline> {
        let need = self.device.resident;
        if call.units < need {
            return Err(Decline::Small { have: call.units, need, unit: call.family.unit() });
        }
        let largest = |there: bool| standing.bytes(there).max().unwrap_or(0);
        if largest(false) > largest(true) { Err(Decline::LargerHost) } else { Ok(()) }
    }
}

/// Whether an operand is repeated along an axis; a number beside an array does not count.
fn is_broadcast(call: &Call) -> bool {
    call.given.iter().any(|shape| shape.size() != 1 && shape.size() != call.shape.size())
}

/// Which operand of a product with a vector is the matrix.
pub fn matrix_of(call: &Call) -> Option<usize> {
    match call.detail {
        Detail::Product(p) if p.form == Form::Folds && p.batch == 1 => match (p.rows, p.columns) {
            (1, 1) => None,
            (_, 1) => Some(0),
            _ => Some(1),
        },
        Detail::Quantized(_) => Some(1),
        _ => None,
    }
}

/// A vector times a vector: a fold over two operands.
fn is_of_vectors(call: &Call) -> bool {
    matches!(call.detail, Detail::Product(p) if p.form == Form::Folds && p.rows * p.columns == 1)
}

/// Where a product stands among the measured ones.
pub(crate) fn place_of(call: &Call) -> Option<Place> {
    let Detail::Product(p) = call.detail else { return None };
    let folds = p.form == Form::Folds;
    let turned = folds && turned(call, p.columns == 1);
    Some(Place::of(p.batch, [p.rows, p.columns, p.inner], folds, turned))
}

/// Whether the rows of a matrix-vector product do not lie along memory.
fn turned(call: &Call, matrix_first: bool) -> bool {
    let (matrix, from_last) = if matrix_first { (0, 0) } else { (1, 1) };
    let step = |x: &Array| x.strides().iter().rev().nth(from_last).copied();
    call.operands.get(matrix).is_some_and(|x| step(x) != Some(1))
}

fn result_bytes(call: &Call) -> u64 {
    let elements = match &call.detail {
        Detail::Rows(rows) if rows.is_empty() => 0,
        _ => call.shape.size(),
    };
    (elements * call.raw.size()) as u64
}
