//! What `--precision` makes of a product of singles on each rung, what explain says of it, and how far a
//! result may then be off.

use crate::call::{Call, Detail, Form, Product};
use crate::decline::Rung;
use crate::round_trip::rounding;
use rung_base::{ElementType, Precision};
use rung_kernel::tensor::{self, Rounding};

/// How a rung runs a product of singles, where `--precision` asks for less than strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As if nothing had been asked.
    Strict,
    /// As if nothing had been asked, on a device that has nothing else.
    WithoutCores,
    /// Operands rounded to bf16, on the processor.
    Bf16,
    /// Operands rounded, on a device.
    Tensor(Rounding),
}

impl Mode {
    /// What explain says beside the rung.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Strict => "strict",
            Mode::WithoutCores => "strict, no tensor cores",
            Mode::Bf16 => "bf16",
            Mode::Tensor(Rounding::Tf32) => "tf32 on tensor cores",
            Mode::Tensor(Rounding::Bf16) => "bf16 on tensor cores",
        }
    }

    /// How far a cell of a call may be off beside a foreign order of additions, as a part of
    /// sum |a b|.
    pub fn bound(self, call: &Call) -> Option<f64> {
        let Detail::Product(Product { inner: k, .. }) = call.detail else { return None };
        let of = |unit: f64| unit * (2.0 + unit);
        match self {
            Mode::Strict | Mode::WithoutCores => None,
            Mode::Bf16 => Some(of(Rounding::Bf16.unit())),
            Mode::Tensor(rounding) => Some(of(rounding.unit()) + tensor::bound(k)),
        }
    }
}

/// The mode of a call on a rung; `None` where the precision says nothing about it.
pub fn mode(call: &Call, rung: Rung, precision: Precision, tensor_cores: bool) -> Option<Mode> {
    let Detail::Product(Product { form: Form::Cells, .. }) = call.detail else { return None };
    if call.raw != ElementType::F32 || precision == Precision::Strict {
        return None;
    }
    match (precision, rung) {
        (Precision::Bf16, Rung::Lanes) => Some(Mode::Bf16),
        (_, Rung::Lanes | Rung::Portable) => Some(Mode::Strict),
        (_, Rung::Device) => {
            Some(rounding(precision, tensor_cores).map_or(Mode::WithoutCores, Mode::Tensor))
        }
        _ => None,
    }
}
