//! Which functions of `math` have element-wise kernels, and where those are compiled: here, once. A
//! kernel is instantiated for two widths and three levels, and some are thousands of instructions;
//! the crates above are generic over a function and only pass its pointers on. (While they compiled
//! the kernels themselves, `rung-ops` took four minutes.)

use crate::Level;
use crate::elementwise::{Block, Holds, Of1, Of2, Of3, Run};
use crate::level::{Entries, entries};
use crate::vector::Float;
use rung_math as math;

/// The code of a kernel at one level and width.
#[doc(hidden)]
pub type Runner<T, const K: usize> = unsafe fn(&Run<T, K>);

/// The kernels of a function of `K` numbers.
pub struct Compiled<const K: usize> {
    single: Entries<Run<f32, K>>,
    double: Entries<Run<f64, K>>,
}

impl<const K: usize> Compiled<K> {
    /// The kernel of a width at a level.
    #[inline]
    pub(crate) fn runner<T: Float>(&self, level: Level) -> Runner<T, K> {
        T::runners(self)[level as usize]
    }

    #[doc(hidden)]
    pub fn single(&self) -> &[Runner<f32, K>; 3] {
        &self.single
    }

    #[doc(hidden)]
    pub fn double(&self) -> &[Runner<f64, K>; 3] {
        &self.double
    }
}

/// A function of `K` numbers that has kernels.
pub trait Lanewise<const K: usize> {
    /// They, for both widths.
    const COMPILED: &'static Compiled<K>;
}

/// A function of one number with kernels.
pub trait Unary: math::Unary + Lanewise<1> {}
impl<F: math::Unary + Lanewise<1>> Unary for F {}

/// A function of two numbers with kernels.
pub trait Binary: math::Binary + Lanewise<2> {}
impl<F: math::Binary + Lanewise<2>> Binary for F {}

/// A function of three numbers with kernels.
pub trait Ternary: math::Ternary + Lanewise<3> {}
impl<F: math::Ternary + Lanewise<3>> Ternary for F {}

/// A relation with kernels, which write 1 and 0.
pub trait Compare: math::Compare + Lanewise<2> {}
impl<F: math::Compare + Lanewise<2>> Compare for F {}

/// Kernels of each function, compiled where this is used, and whether they are a few instructions.
macro_rules! compiled {
    ($kernel:ident, $k:literal, $light:literal: $($function:ident)*) => {$(
        impl Lanewise<$k> for math::$function {
            const COMPILED: &'static Compiled<$k> = {
                static COMPILED: Compiled<$k> = Compiled {
                    single: entries::<Block<$kernel<math::$function>, $light>, Run<f32, $k>>(),
                    double: entries::<Block<$kernel<math::$function>, $light>, Run<f64, $k>>(),
                };
                &COMPILED
            };
        }
    )*};
}

compiled!(Of1, 1, false:
    Exp Log Tanh Sin Cos Erf Tan Asin Acos Atan Sinh Cosh Expm1 Log1p Exp2 Log2 Log10 Asinh Acosh
    Atanh Cbrt Erfc Sigmoid Softplus Gelu GeluTanh);
compiled!(Of1, 1, true:
    Abs Negative Reciprocal Relu Sign Sqrt Square Floor Ceil RoundEven Trunc IsNan IsInfinite
    IsFinite LogicalNot);
compiled!(Of2, 2, false: Atan2 Hypot Power GeluGradient GeluTanhGradient);
compiled!(Of2, 2, true: Add Sub Mul Div Maximum Minimum CopySign LargerNumber SmallerNumber);
compiled!(Of3, 3, true: Clip Choose);
compiled!(Holds, 2, true:
    Equal NotEqual Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalXor);
