//! What a call would cost on each rung, from which it follows who takes it.
//!
//! The numbers are the reference's defaults (spec acceleration 4.1 and 4.2): those of `lanes`
//! describe one core, the device's are meant to err against the device. An estimate is never
//! changed during a run, so a run is repeatable.

use crate::call::{Call, Detail, bytes_of};
use crate::decline::Decline;
use crate::record::{Family, Offer};
use rung_base::ElementType;

/// Seconds never appear here: times are in microseconds, rates in bytes a microsecond.
#[derive(Clone, Debug)]
pub struct Costs {
    pub lanes: LanesCosts,
    pub threads: usize,
    pub library_threads: usize,
    pub device: DeviceCosts,
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
}

#[derive(Clone, Copy, Debug)]
pub struct DeviceCosts {
    /// Of a call whose operands go up and whose result comes down.
    pub floor: f64,
    pub up: f64,
    pub down: f64,
    pub product: [f64; 2],
    pub elementary: [f64; 2],
    pub memory: f64,
    /// The smallest call that is offered, in each family's unit; `None`: never a round trip.
    pub thresholds: fn(Family) -> Option<u64>,
    /// Result cells that a fold needs beside its threshold.
    pub fold_cells: u64,
}

/// By the width of the vector registers in bits.
pub fn lanes_costs(bits: usize) -> LanesCosts {
    let picoseconds = |f32: f64, f64: f64| [f32 * 1e-6, f64 * 1e-6];
    let (product, elementary) = match bits {
        512.. => (picoseconds(15.0, 30.0), picoseconds(600.0, 1200.0)),
        256.. => (picoseconds(30.0, 60.0), picoseconds(1200.0, 2500.0)),
        _ => (picoseconds(80.0, 155.0), picoseconds(2500.0, 5000.0)),
    };
    LanesCosts { product, elementary, memory: [12e3, 40e3], region: 4.0 }
}

/// Any wgpu device that is not Metal: the last column of 4.2 with Metal's thresholds of 4.1.
pub const WGPU: DeviceCosts = DeviceCosts {
    floor: 120.0,
    up: 8e3,
    down: 8e3,
    product: [1e-6, 4e-6],
    elementary: [60e-6, 120e-6],
    memory: 100e3,
    thresholds: wgpu_thresholds,
    fold_cells: 256,
};

fn wgpu_thresholds(family: Family) -> Option<u64> {
    match family {
        Family::Product => Some(1 << 22),
        Family::Map => Some(1 << 17),
        Family::Wide => Some(1 << 18),
        Family::Fill => Some(1 << 15),
        Family::Fold | Family::Copy => None,
    }
}

/// From how many multiply-adds the library is asked.
pub const LIBRARY_THRESHOLD: u64 = 64;
/// Fewer floating-point operations than this run on one thread of a threaded library.
const LIBRARY_SINGLE: u64 = 1 << 21;

fn width(t: ElementType) -> usize {
    (t == ElementType::F64) as usize
}

impl Costs {
    /// Microseconds on the lanes rung.
    pub fn lanes_time(&self, call: &Call) -> f64 {
        let l = &self.lanes;
        let w = width(call.raw);
        let bytes = (bytes_of(&call.operands) + result_bytes(call)) as f64;
        let one = match call.family {
            Family::Product => call.units as f64 * l.product[w],
            Family::Map => call.units as f64 * l.elementary[w],
            // Twelve draws of three divisions: near an elementary function each.
            Family::Fill => call.units as f64 * l.elementary[1],
            Family::Wide | Family::Fold | Family::Copy => bytes / l.memory[0],
        };
        if self.threads < 2 || one < 2.0 * l.region {
            return one;
        }
        let shared = (one / self.threads as f64).max(bytes / l.memory[1]);
        one.min(l.region + shared)
    }

    /// Microseconds on the library rung: half the time of 256-bit lanes.
    pub fn library_time(&self, call: &Call) -> f64 {
        let unit = lanes_costs(256).product[width(call.raw)] / 2.0;
        let one = call.units as f64 * unit;
        if 2 * call.units < LIBRARY_SINGLE || self.library_threads < 2 {
            return one;
        }
        2.0 + one / self.library_threads as f64
    }

    /// Microseconds on the device with every operand here and the result wanted here.
    pub fn device_time(&self, call: &Call) -> f64 {
        let d = &self.device;
        let w = width(call.raw);
        let (up, down) = (bytes_of(&call.operands) as f64, result_bytes(call) as f64);
        let work = match call.family {
            Family::Product => call.units as f64 * d.product[w],
            Family::Map | Family::Fill => call.units as f64 * d.elementary[w],
            Family::Wide | Family::Fold | Family::Copy => (up + down) / d.memory,
        };
        d.floor + up / d.up + work + down / d.down
    }

    /// Microseconds on the portable rung.
    pub fn portable_time(&self, call: &Call) -> f64 {
        20.0 * self.lanes_time(call)
    }

    /// Whether a call is large enough for the device, before anything is described.
    pub fn device_offer(&self, offer: Offer, call: &Call) -> Result<(), Decline> {
        let moved = bytes_of(&call.operands) + result_bytes(call);
        let Offer::RoundTrip(family) = offer else {
            return Err(Decline::NotResident { bytes: moved });
        };
        let Some(need) = (self.device.thresholds)(family) else {
            return Err(Decline::NotResident { bytes: moved });
        };
        if call.units < need {
            return Err(Decline::Small { have: call.units, need, unit: family.unit() });
        }
        let cells = call.shape.size() as u64;
        if family == Family::Fold && cells < self.device.fold_cells {
            let need = self.device.fold_cells;
            return Err(Decline::Small { have: cells, need, unit: "result cells" });
        }
        Ok(())
    }
}

fn result_bytes(call: &Call) -> u64 {
    let elements = match &call.detail {
        Detail::Rows(rows) if rows.is_empty() => 0,
        _ => call.shape.size(),
    };
    (elements * call.raw.size()) as u64
}
