//! Every definition of one number through `map`, at both widths.

use crate::operands::mixture;
use crate::support::{Float, Nan, assert_same, run};
use rung_kernel::map;
use rung_math::*;
use std::sync::Arc;

const COUNT: usize = 6000;

fn check<F: Unary, T: Float>(name: &str, nan: Nan) {
    let kernel = Arc::new(map::kernel(name, &trace_unary::<F>(T::WIDTH)));
    let operand = mixture::<T>(11, COUNT);
    let got = run(&map::launch(&kernel, COUNT).unwrap(), &[&operand], COUNT);
    let want: Vec<T> = operand.iter().map(|&x| F::at(x)).collect();
    assert_same(&kernel.key, &got, &want, nan);
}

macro_rules! definitions {
    ($($test:ident: $function:ident, $nan:ident;)*) => {
        $(#[test]
        fn $test() {
            check::<$function, f32>(stringify!($test), Nan::$nan);
            check::<$function, f64>(stringify!($test), Nan::$nan);
        })*
    };
}

definitions! {
    absolute: Abs, Exact;
    negative: Negative, Exact;
    sign: Sign, Exact;
    relu: Relu, Exact;
    square: Square, Any;
    reciprocal: Reciprocal, Any;
    square_root: Sqrt, Any;
    exponential: Exp, Exact;
    logarithm: Log, Exact;
    hyperbolic_tangent: Tanh, Exact;
    sine: Sin, Exact;
    cosine: Cos, Exact;
    error_function: Erf, Exact;
    tangent: Tan, Exact;
    arc_cosine: Acos, Exact;
    arc_tangent: Atan, Exact;
    hyperbolic_sine: Sinh, Exact;
    hyperbolic_cosine: Cosh, Exact;
    exponential_less_one: Expm1, Exact;
    power_of_two: Exp2, Exact;
    logarithm_of_one_more: Log1p, Exact;
    inverse_hyperbolic_sine: Asinh, Exact;
    cube_root: Cbrt, Exact;
    complementary_error_function: Erfc, Exact;
    softplus: Softplus, Exact;
    half_to_even: RoundEven, Exact;
    truncation: Trunc, Exact;
}

#[test]
fn lengths_around_a_group_and_nothing() {
    let kernel = Arc::new(map::kernel("lengths", &trace_unary::<Square>(Width::F32)));
    for count in [0, 1, 255, 256, 257, 1000] {
        let operand: Vec<f32> = (0..count).map(|i| i as f32).collect();
        let want: Vec<f32> = operand.iter().map(|x| x * x).collect();
        let got = run(&map::launch(&kernel, count).unwrap(), &[&operand], count);
        assert_eq!(got, want);
    }
}
