//! Every template as PTX in the interpreter, bit for bit against the definitions of `rung-math`: the
//! tables of `rung-device`'s tests over another device, and what those leave to the operations.

#[path = "../../../device/tests/lavapipe/bits.rs"]
mod bits;
#[path = "../../../device/tests/lavapipe/broadcast.rs"]
mod broadcast;
mod constructs;
mod counted;
mod definitions;
#[path = "../../../device/tests/lavapipe/elementwise.rs"]
mod elementwise;
#[path = "../../../device/tests/lavapipe/fill.rs"]
mod fill;
#[path = "../../../device/tests/lavapipe/fold.rs"]
mod fold;
#[path = "../../../device/tests/lavapipe/fourier.rs"]
mod fourier;
#[path = "../../../device/tests/lavapipe/operands.rs"]
mod operands;
mod others;
#[path = "../../../device/tests/lavapipe/product.rs"]
mod product;
mod support;
mod tensor;
#[path = "../../../device/tests/lavapipe/triangular.rs"]
mod triangular;
