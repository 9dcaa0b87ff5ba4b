//! What `--precision` makes of a product of singles on each rung, and a device's tensor cores of one of
//! doubles: what explain says of it, and how far a result may then be off.

use crate::call::{Call, Detail, Form, Product};
use crate::decline::Rung;
use crate::round_trip::{doubles, rounding};
use rung_base::{ElementType, Precision};
use rung_device::{Info, TensorDoubles};
use rung_kernel::product::Extents;
use rung_kernel::tensor::{self, Rounding};

/// How a rung runs a product of singles, where `--precision` asks for less than strict, or of doubles, where
/// the device has tensor cores for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As if nothing had been asked.
    Strict,
    /// As if nothing had been asked, on a device that has nothing else.
    WithoutCores,
    /// As if nothing had been asked, for a reason of the operation's own.
    Unreached(&'static str),
    /// Operands rounded to bf16, on the processor.
    Bf16,
    /// Operands rounded, on a device.
    Tensor(Rounding),
    /// Doubles on tensor cores, to the definition's bits.
    Doubles,
    /// Doubles as if there were no tensor cores, whose bits are not the definition's.
    OtherOrder,
}

impl Mode {
    /// What explain says beside the rung.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Strict => "strict",
            Mode::WithoutCores => "strict, no tensor cores",
            // The reason is a note of the run.
            Mode::Unreached(_) => "strict",
            Mode::Bf16 => "bf16",
            Mode::Tensor(Rounding::Tf32) => "tf32 on tensor cores",
            Mode::Tensor(Rounding::Bf16) => "bf16 on tensor cores",
            Mode::Doubles => "f64 on tensor cores",
            Mode::OtherOrder => "strict, its tensor cores add doubles in another order",
        }
    }

    /// How far a cell of a call may be off beside a foreign order of additions, as a part of
    /// sum |a b|.
    pub fn bound(self, call: &Call) -> Option<f64> {
        let k = match (&call.detail, call.op.rounded) {
            (Detail::Product(Product { inner, .. }), _) => *inner,
            (_, Some(rounded)) => (rounded.inner)(call),
            _ => return None,
        };
        let of = |unit: f64| unit * (2.0 + unit);
        match self {
            Mode::Strict | Mode::WithoutCores | Mode::Doubles | Mode::OtherOrder => None,
            Mode::Unreached(_) => None,
            Mode::Bf16 => Some(of(Rounding::Bf16.unit())),
            Mode::Tensor(rounding) => Some(of(rounding.unit()) + tensor::bound(k)),
        }
    }
}

/// The mode of a call on a rung, with the device that there is; `None` where there is one way alone.
pub fn mode(call: &Call, rung: Rung, precision: Precision, device: Option<&Info>) -> Option<Mode> {
    let tensor_cores = device.is_some_and(|info| info.tensor_cores);
    if let Some(rounded) = call.op.rounded {
        if precision == Precision::Strict {
            return None;
        }
        let reason = (rounded.strict)(call);
        return reason.map(Mode::Unreached).or_else(|| less(rung, precision, tensor_cores));
    }
    let Detail::Product(p) = call.detail else { return None };
    if p.form != Form::Cells {
        return None;
    }
    if call.raw == ElementType::F64 && rung == Rung::Device {
        let size = Extents { batch: p.batch, m: p.rows, k: p.inner, n: p.columns };
        return match doubles(&size, device?) {
            TensorDoubles::InOrder => Some(Mode::Doubles),
            TensorDoubles::OtherOrder => Some(Mode::OtherOrder),
            TensorDoubles::Absent | TensorDoubles::Untested => None,
        };
    }
    if call.raw != ElementType::F32 || precision == Precision::Strict {
        return None;
    }
    less(rung, precision, tensor_cores)
}

/// What a rung makes of singles where less than strict is asked.
fn less(rung: Rung, precision: Precision, tensor_cores: bool) -> Option<Mode> {
    match (precision, rung) {
        (Precision::Bf16, Rung::Lanes) => Some(Mode::Bf16),
        (_, Rung::Lanes | Rung::Portable) => Some(Mode::Strict),
        (_, Rung::Device) => {
            Some(rounding(precision, tensor_cores).map_or(Mode::WithoutCores, Mode::Tensor))
        }
        _ => None,
    }
}
