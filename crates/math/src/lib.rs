//! Definitions: the plainest text of every scalar function, fold order and generator. One text,
//! generic over `trait Real`, is instantiated as scalar (here), as vector lanes (crate `lanes`)
//! and as a trace that becomes kernel text (crate `kernel`), so all give the same bits.
//!
//! Built only from IEEE `+ - * / sqrt`, comparisons and integer operations on the bits, each
//! rounded once. No fused multiply-add and no host library in a definition; nothing here is fast
//! on purpose, and nothing knows an array, an operation's name or a device.
//!
//! NaN: a function that can turn a number into NaN by its own text (the elementary functions,
//! maximum, minimum, relu, sign) gives the canonical quiet NaN, 0x7FC00000 or
//! 0x7FF8000000000000. For `+ - * / sqrt` alone the sign and payload of a NaN differ between
//! processors and are **outside the contract**: tests take any two NaNs there as equal.
//!
//! Read `real`, then `function`, then `fold` and `product`.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod accumulate;
mod activation;
pub mod calculus;
mod coefficients;
mod complementary_error_function;
mod error_function;
mod exponential;
mod exponentials;
pub mod fold;
pub mod function;
pub mod graph;
mod inverse_trigonometric;
pub mod locate;
mod logarithm;
mod logarithms;
mod logic;
pub mod order;
mod pair;
mod pair_functions;
pub mod philox;
mod polynomial;
mod power;
pub mod product;
pub mod quantized;
pub mod random;
pub mod real;
mod remainder;
mod roots;
mod rounding;
pub mod rows;
mod scalar;
pub mod scan;
mod tangent;
mod tanh;
pub mod trace;
pub mod triangular;
mod trigonometric;
pub mod update;
mod whole;
pub mod windows;

pub use activation::{Gelu, GeluGradient, GeluTanh, GeluTanhGradient, Sigmoid, Softplus};
pub use complementary_error_function::Erfc;
pub use error_function::Erf;
pub use exponential::Exp;
pub use exponentials::{Cosh, Exp2, Expm1, Sinh};
pub use function::{
    Abs, Add, Binary, Choose, Clip, Close, Compare, Div, Equal, Greater, GreaterEqual,
    IntegerBinary, IntegerCompare, IntegerTernary, IntegerUnary, Itself, LargerNumber, Less,
    LessEqual, Maximum, Minimum, Mul, Negative, NotEqual, Reciprocal, Relu, Sign, SmallerNumber,
    Sqrt, Square, Sub, Ternary, Unary, WholeBinary,
};
pub use graph::{Graph, Id, Kind, Node};
pub use inverse_trigonometric::{Acos, Asin, Atan, Atan2};
pub use logarithm::Log;
pub use logarithms::{Acosh, Asinh, Atanh, Log1p, Log2, Log10};
pub use logic::{IsFinite, IsInfinite, IsNan, LogicalAnd, LogicalNot, LogicalOr, LogicalXor};
pub use power::Power;
pub use real::{Bits, Mask, Real, Width};
pub use remainder::{
    BitAnd, BitOr, BitXor, Division, FloorDivide, IntegerPower, Mod, Remainder, Shift,
};
pub use roots::{Cbrt, Hypot};
pub use rounding::{Ceil, CopySign, Floor, RoundEven, Trunc};
pub use tangent::Tan;
pub use tanh::Tanh;
pub use trace::{
    Composed, composed, trace_binary, trace_compare, trace_division, trace_normal, trace_ternary,
    trace_unary, trace_update, trace_whole_binary, trace_whole_compare, trace_whole_ternary,
    trace_whole_unary,
};
pub use trigonometric::{Cos, Sin};
pub use whole::Whole;
