//! Two and three operands at a broadcast shape, strided views, masks, at both widths.

use crate::operands::mixture;
use crate::support::{Float, Nan, assert_same, run};
use rung_kernel::Kernel;
use rung_kernel::broadcast::{View, kernel, launch};
use rung_math::*;
use std::sync::Arc;

/// The elements of a view in row-major order of `shape`.
fn read<T: Copy>(data: &[T], shape: &[usize], view: &View) -> Vec<T> {
    let mut elements = Vec::new();
    let count: usize = shape.iter().product();
    for i in 0..count {
        let (mut rest, mut at) = (i, view.offset as isize);
        for axis in (0..shape.len()).rev() {
            at += (rest % shape[axis]) as isize * view.strides[axis];
            rest /= shape[axis];
        }
        elements.push(data[at as usize]);
    }
    elements
}

fn view(offset: usize, strides: &[isize]) -> View<'_> {
    View { offset, strides }
}

/// Shapes with the strides of both operands; every view lies within 4,000 elements.
fn layouts() -> Vec<(Vec<usize>, View<'static>, View<'static>)> {
    vec![
        (vec![], view(0, &[]), view(3, &[])),
        (vec![1], view(0, &[1]), view(0, &[1])),
        (vec![4000], view(0, &[1]), view(0, &[1])),
        (vec![40, 40], view(0, &[40, 1]), view(7, &[0, 1])),
        (vec![40, 40], view(0, &[0, 1]), view(0, &[1, 0])),
        (vec![17, 9], view(0, &[1, 17]), view(152, &[-9, -1])),
        (vec![3, 0, 5], view(0, &[5, 5, 1]), view(0, &[0, 0, 0])),
        (vec![4, 5, 6], view(2, &[31, 6, 1]), view(0, &[0, 3, 0])),
        (vec![5, 7], view(70, &[-14, 2]), view(1, &[0, 0])),
        (
            vec![2, 3, 2, 2, 3, 2, 2, 2],
            view(0, &[1, 2, 6, 12, 24, 72, 144, 288]),
            view(0, &[0, 1, 0, 3, 0, 6, 0, 12]),
        ),
    ]
}

fn check<T: Float>(kernel: Kernel, nan: Nan, definition: fn(T, T) -> T) {
    let kernel = Arc::new(kernel);
    let (left, right) = (mixture::<T>(3, 4000), mixture::<T>(5, 4000));
    // The second operand in another order, so that specials meet each other.
    let right: Vec<T> = (0..4000).map(|i| right[i * 37 % 4000]).collect();
    for (shape, a, b) in layouts() {
        let launched = launch(&kernel, &shape, &[a, b]).unwrap();
        let got = run(&launched, &[&left, &right], shape.iter().product());
        let pairs = read(&left, &shape, &a).into_iter().zip(read(&right, &shape, &b));
        let want: Vec<T> = pairs.map(|(x, y)| definition(x, y)).collect();
        assert_same(&format!("{} {shape:?}", kernel.key), &got, &want, nan);
    }
}

fn arithmetic<F: Binary, T: Float>(name: &str, nan: Nan) {
    check::<T>(kernel(name, &trace_binary::<F>(T::WIDTH), 2), nan, F::at);
}

fn relation<F: Compare, T: Float>(name: &str, _: Nan) {
    check::<T>(kernel(name, &trace_compare::<F>(T::WIDTH), 2), Nan::Exact, |a, b| {
        T::narrowed(F::at(a, b) as u8 as f64)
    });
}

macro_rules! definitions {
    ($check:ident, $nan:ident: $($test:ident $function:ident),*) => {
        $(#[test]
        fn $test() {
            $check::<$function, f32>(stringify!($test), Nan::$nan);
            $check::<$function, f64>(stringify!($test), Nan::$nan);
        })*
    };
}
definitions!(arithmetic, Any: add Add, subtract Sub, multiply Mul, divide Div);
definitions!(arithmetic, Exact: maximum Maximum, minimum Minimum);
definitions!(arithmetic, Exact: power Power, angle Atan2, length Hypot);
definitions!(arithmetic, Any: sign_of_another CopySign);
definitions!(relation, Exact: equal Equal, not_equal NotEqual, less Less, less_equal LessEqual,
             greater Greater, greater_equal GreaterEqual);

fn one_strided_operand<T: Float>() {
    let kernel = Arc::new(kernel("one", &trace_unary::<Exp>(T::WIDTH), 1));
    let data = mixture::<T>(9, 600);
    let (shape, x) = ([20, 30], view(0, &[1, 20]));
    let got = run(&launch(&kernel, &shape, &[x]).unwrap(), &[&data], 600);
    let want: Vec<T> = read(&data, &shape, &x).into_iter().map(Exp::at).collect();
    assert_same("exp, transposed", &got, &want, Nan::Exact);
}

fn three_operands<T: Float>() {
    let kernel = Arc::new(kernel("clip", &trace_ternary::<Clip>(T::WIDTH), 3));
    let data = [mixture::<T>(1, 400), mixture::<T>(2, 400), mixture::<T>(3, 400)];
    let shape = [20, 20];
    let views = [view(0, &[20, 1]), view(4, &[0, 1]), view(0, &[1, 20])];
    let launched = launch(&kernel, &shape, &views).unwrap();
    let got = run(&launched, &[&data[0], &data[1], &data[2]], 400);
    let [x, low, high] = [0, 1, 2].map(|i| read(&data[i], &shape, &views[i]));
    let want: Vec<T> = (0..400).map(|i| <Clip as Ternary>::at(x[i], low[i], high[i])).collect();
    assert_same("clip", &got, &want, Nan::Exact);
}

#[test]
fn one_operand_through_strides() {
    one_strided_operand::<f32>();
    one_strided_operand::<f64>();
}

#[test]
fn clip_takes_three_operands() {
    three_operands::<f32>();
    three_operands::<f64>();
}

#[test]
fn nine_axes_that_do_not_merge_decline() {
    let kernel = Arc::new(kernel("nine", &trace_unary::<Abs>(Width::F32), 1));
    let strides: Vec<isize> = (0..9).map(|axis| 1 << axis).collect();
    let e = launch(&kernel, &[2; 9], &[view(0, &strides)]).unwrap_err();
    assert_eq!(e.message(), "more than 8 axes");
}
