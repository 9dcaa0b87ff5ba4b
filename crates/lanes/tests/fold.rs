//! Folds against the plain loops of `math::fold`, bit for bit.

#[path = "common/inlined.rs"]
mod inlined;

use rung_lanes::fold::{
    Centred, CentredPresent, Dot, Magnitudes, Nonzero, Present, Product, ProductPresent, Second,
    Squares, Step, Sum, SumPresent, axes_of, dot, whole,
};
use rung_lanes::{Float, Lanes, Level, Operand};
use rung_math::fold;

fn numbers<T: Float>(seed: u64, count: usize) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|i| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let unit = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            T::narrowed(match i % 53 {
                3 => -0.0,
                5 => unit * 1e-300,
                7 => unit * 1e10,
                _ => unit,
            })
        })
        .collect()
}

fn assert_same(got: f64, want: f64, note: &str) {
    let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
    assert!(same, "{note}: {got:e}, not {want:e}");
}

/// Offsets of a shape in row-major order.
fn offsets(shape: &[usize], strides: &[isize], offset: isize) -> Vec<isize> {
    let mut all = vec![offset];
    for (extent, stride) in shape.iter().zip(strides) {
        all = all
            .iter()
            .flat_map(|base| (0..*extent as isize).map(move |i| base + i * stride))
            .collect();
    }
    all
}

/// The definition of each step over a slice.
fn expected<F: Step, T: Float>(x: &[T], y: impl Fn(usize) -> f64) -> f64 {
    let wide = |i: usize| x[i].wide();
    match std::any::type_name::<F>().rsplit("::").next() {
        Some("Sum") => fold::sum(x.len(), wide),
        Some("Product") => fold::product(x.len(), wide),
        Some("Squares") => fold::dot(x.len(), |i| (wide(i), wide(i))),
        Some("Dot") => fold::dot(x.len(), |i| (wide(i), y(i))),
        Some("Magnitudes") => fold::magnitudes(x.len(), wide),
        Some("SumPresent") => fold::sum_present(x.len(), wide),
        Some("ProductPresent") => fold::product_present(x.len(), wide),
        Some("Present") => fold::present(x.len(), wide) as f64,
        Some("Nonzero") => (0..x.len()).filter(|&i| wide(i) != 0.0).count() as f64,
        Some("CentredPresent") => {
            let distance = |i| if wide(i).is_nan() { 0.0 } else { wide(i) - y(i) };
            fold::dot(x.len(), |i| (distance(i), distance(i)))
        }
        _ => fold::dot(x.len(), |i| (wide(i) - y(i), wide(i) - y(i))),
    }
}

fn check<F: Step, T: Float>(
    lanes: &Lanes,
    shape: &[usize],
    strides: &[isize],
    offset: usize,
    axes: &[usize],
    kind: u8,
) {
    let need = offsets(shape, strides, offset as isize).into_iter().max().map_or(0, |m| m + 1);
    let mut data = numbers::<T>(need as u64 + 3, need as usize);
    if std::any::type_name::<F>().ends_with("Present") {
        data.iter_mut().step_by(7).for_each(|x| *x = T::narrowed(f64::NAN));
    }
    let part = |folded: bool| {
        let axes: Vec<usize> = (0..shape.len()).filter(|a| axes.contains(a) == folded).collect();
        let shape: Vec<usize> = axes.iter().map(|a| shape[*a]).collect();
        offsets(&shape, &axes.iter().map(|a| strides[*a]).collect::<Vec<_>>(), 0)
    };
    let (kept, folded) = (part(false), part(true));
    let per_slice = numbers::<f64>(5, kept.len());
    let per_element = numbers::<f64>(6, folded.len());
    let second = match kind {
        0 => Second::None,
        1 => Second::PerSlice(&per_slice),
        _ => Second::PerElement(&per_element),
    };
    let mut out = vec![7.0; kept.len()];
    axes_of::<F, T>(lanes, shape, Operand::new(&data, offset, strides), axes, second, &mut out);
    for (slice, base) in kept.iter().enumerate() {
        let x: Vec<T> =
            folded.iter().map(|f| data[(offset as isize + base + f) as usize]).collect();
        let want =
            expected::<F, T>(&x, |i| if kind == 1 { per_slice[slice] } else { per_element[i] });
        let note = format!(
            "{} {shape:?} {strides:?} axes {axes:?} slice {slice} {:?}",
            std::any::type_name::<F>(),
            lanes.level()
        );
        assert_same(out[slice], want, &note);
    }
}

fn steps<T: Float>(
    lanes: &Lanes,
    shape: &[usize],
    strides: &[isize],
    offset: usize,
    axes: &[usize],
) {
    check::<Sum, T>(lanes, shape, strides, offset, axes, 0);
    check::<Product, T>(lanes, shape, strides, offset, axes, 0);
    check::<Squares, T>(lanes, shape, strides, offset, axes, 0);
    check::<Dot, T>(lanes, shape, strides, offset, axes, 2);
    check::<Centred, T>(lanes, shape, strides, offset, axes, 1);
    check::<Magnitudes, T>(lanes, shape, strides, offset, axes, 0);
    check::<SumPresent, T>(lanes, shape, strides, offset, axes, 0);
    check::<ProductPresent, T>(lanes, shape, strides, offset, axes, 0);
    check::<CentredPresent, T>(lanes, shape, strides, offset, axes, 1);
    check::<Present, T>(lanes, shape, strides, offset, axes, 0);
    check::<Nonzero, T>(lanes, shape, strides, offset, axes, 0);
}

fn each_configuration(body: impl Fn(&Lanes)) {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            body(&Lanes::with(level, threads));
        }
    }
}

#[test]
fn slices_of_every_awkward_length() {
    each_configuration(|lanes| {
        let lengths = [0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 71, 127, 511, 512, 513];
        for n in lengths.into_iter().chain([4095, 4096, 4097, 8192, 12345]) {
            steps::<f32>(lanes, &[n], &[1], 0, &[0]);
            steps::<f64>(lanes, &[n], &[1], 0, &[0]);
            steps::<f64>(lanes, &[n], &[-2], 2 * n.saturating_sub(1), &[0]);
        }
    });
}

#[test]
fn axes_of_every_layout() {
    each_configuration(|lanes| {
        for n in [1, 3, 5, 9, 32, 40, 64, 67, 200] {
            for columns in [1, 3, 8, 11, 32, 45, 70] {
                steps::<f32>(lanes, &[n, columns], &[columns as isize, 1], 0, &[0]);
                steps::<f64>(lanes, &[n, columns], &[columns as isize, 1], 0, &[1]);
            }
        }
        steps::<f32>(lanes, &[70, 600], &[600, 1], 0, &[0]);
        steps::<f64>(lanes, &[4200, 513], &[513, 1], 0, &[0]);
        steps::<f32>(lanes, &[3, 70, 20], &[1400, 20, 1], 0, &[1]);
        steps::<f32>(lanes, &[3, 70, 20], &[1400, 20, 1], 0, &[0, 2]);
        steps::<f64>(lanes, &[3, 70, 20], &[1, 3, 210], 0, &[0, 1]);
        steps::<f64>(lanes, &[9, 20], &[0, 1], 0, &[0]);
        steps::<f64>(lanes, &[9, 20], &[1, 0], 0, &[0]);
        steps::<f32>(lanes, &[4, 0], &[0, 1], 0, &[1]);
        steps::<f32>(lanes, &[0, 4], &[4, 1], 0, &[1]);
        steps::<f32>(lanes, &[5000, 9], &[9, 1], 0, &[0]);
        steps::<f32>(lanes, &[2, 9000], &[9000, 1], 0, &[1]);
    });
}

#[test]
fn underflowing_steps_keep_the_sign_that_the_definition_gives() {
    // fma(-tiny, tiny, +0) rounds to -0.0, which meets the identity +0.0 in the halving.
    let tiny = [-1e-200_f64; 70];
    let other = [1e-200_f64; 70];
    for n in [1, 3, 32, 33, 63, 64, 70] {
        let want = fold::dot(n, |i| (tiny[i], other[i]));
        for level in Level::available() {
            let lanes = Lanes::with(level, 1);
            let (x, y) = (Operand::new(&tiny, 0, &[1]), Operand::new(&other, 0, &[1]));
            assert_same(dot(&lanes, &[n], x, y), want, "dot");
            let mut out = [0.0];
            let second = Second::PerElement(&other[..n]);
            axes_of::<Dot, f64>(
                &lanes,
                &[n, 1],
                Operand::new(&tiny, 0, &[1, 0]),
                &[0],
                second,
                &mut out,
            );
            assert_same(out[0], want, "axis");
            let mut out = [0.0; 8];
            let second = Second::PerElement(&other[..n]);
            axes_of::<Dot, f64>(
                &lanes,
                &[n, 8],
                Operand::new(&tiny, 0, &[0, 1]),
                &[0],
                second,
                &mut out,
            );
            let want = fold::dot(n, |i| (tiny[0], other[i]));
            out.iter().for_each(|got| assert_same(*got, want, "columns"));
        }
    }
}

#[test]
fn dots_of_mixed_widths_and_layouts() {
    each_configuration(|lanes| {
        for n in [0, 1, 65, 4097, 50_000] {
            let (a, b) = (numbers::<f32>(1, 2 * n + 1), numbers::<f64>(2, n));
            let x = Operand::new(&a, 1, &[2]);
            let got = dot(lanes, &[n], x, Operand::new(&b, 0, &[1]));
            assert_same(got, fold::dot(n, |i| (a[1 + 2 * i] as f64, b[i])), "dot");
        }
    });
}

#[test]
fn whole_folds_read_strided_operands_in_row_major_order() {
    let data = numbers::<f64>(4, 60 * 70);
    let lanes = Lanes::new(2);
    let (shape, strides) = ([70, 60], [1, 70]);
    let got = whole::<Sum, f64>(&lanes, &shape, Operand::new(&data, 0, &strides));
    let order = offsets(&shape, &strides, 0);
    assert_same(got, fold::sum(4200, |i| data[order[i] as usize]), "whole");
}
