//! Transforms of a power of two points beside the sums that define them.

use crate::operands::moderate;
use crate::support::device;
use rung_base::ElementType;
use rung_kernel::fourier::{Holds, Kernels, Lines, Table, turns};

fn on_device(lines: &Lines, operand: &[f64]) -> Vec<f64> {
    let device = device();
    let plan = Kernels::new(ElementType::F64).unwrap().plan(lines).unwrap();
    let upload = |data: &[f64]| device.upload(bytemuck::cast_slice(data)).unwrap();
    let cells = lines.count * lines.points * if lines.pairs { 2 } else { 1 };
    let space = || device.allocate(lines.count * lines.n * 16).unwrap();
    let (packed, turns, out) =
        (upload(operand), upload(&turns(lines.n)), upload(&vec![7.0; cells]));
    let (mut here, mut there) = (space(), space());
    device.launch(&plan.points, &[&packed, &here]).unwrap();
    for (pass, table) in &plan.passes {
        assert_eq!(*table, Table::Turns);
        device.launch(pass, &[&here, &turns, &there]).unwrap();
        std::mem::swap(&mut here, &mut there);
    }
    device.launch(&plan.out, &[&here, &out]).unwrap();
    let mut result = vec![0.0; cells];
    device.download(&out, bytemuck::cast_slice_mut(&mut result)).unwrap();
    result
}

/// The points of a line, re and im, as the definition has them.
fn points(lines: &Lines, line: &[f64]) -> Vec<[f64; 2]> {
    let n = lines.n;
    let pair = |i: usize| if i < lines.have { [line[2 * i], line[2 * i + 1]] } else { [0.0; 2] };
    let point = |p: usize| match lines.holds {
        Holds::Numbers => [if p < lines.have { line[p] } else { 0.0 }, 0.0],
        Holds::Pairs => pair(p),
        Holds::Bins => {
            let [re, im] = pair(p.min(n - p));
            let im = if p.is_multiple_of((n / 2).max(1)) { 0.0 } else { im };
            [re, if p > n / 2 { -im } else { im }]
        }
    };
    (0..n).map(point).collect()
}

fn by_the_sum(lines: &Lines, line: &[f64]) -> Vec<f64> {
    let (n, points) = (lines.n, points(lines, line));
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / n as f64;
    let sign = if lines.backward { 1.0 } else { -1.0 };
    let bin = |k: usize| {
        points.iter().enumerate().fold([0.0; 2], |[a, b], (j, [re, im])| {
            let (sin, cos) = angle(j * k % n).sin_cos();
            [a + re * cos - im * sin * sign, b + re * sin * sign + im * cos]
        })
    };
    let bins = (0..lines.points).map(bin);
    match lines.pairs {
        true => bins.flatten().map(|x| x * lines.scale).collect(),
        false => bins.map(|[re, _]| re * lines.scale).collect(),
    }
}

fn check(lines: Lines) {
    let each = lines.have * if lines.holds == Holds::Numbers { 1 } else { 2 };
    let operand = moderate::<f64>(lines.n as u64, each * lines.count);
    let got = on_device(&lines, &operand);
    let length = lines.points * if lines.pairs { 2 } else { 1 };
    for i in 0..lines.count {
        let wanted = by_the_sum(&lines, &operand[i * each..][..each]);
        let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
        let far = norm(&mut got[i * length..].iter().zip(&wanted).map(|(x, y)| x - y));
        // What the sum itself may lose counts as well.
        let n = lines.n as f64;
        let bound = f64::EPSILON * (4.0 * n.log2().max(1.0) + n.sqrt());
        let size = norm(&mut wanted.iter().copied());
        assert!(far <= bound * size, "{lines:?}, line {i}: {far:e} of {size:e}");
    }
}

#[test]
fn transforms_are_the_sums_that_define_them() {
    for n in [1, 2, 4, 8, 64, 512, 1024] {
        for backward in [false, true] {
            let whole = Lines {
                count: 3,
                n,
                holds: Holds::Pairs,
                have: n,
                backward,
                points: n,
                pairs: true,
                scale: 1.0,
            };
            check(whole);
            check(Lines { have: n / 2, scale: 0.25, ..whole });
            check(Lines { holds: Holds::Numbers, points: n / 2 + 1, ..whole });
            check(Lines { holds: Holds::Numbers, count: 1, ..whole });
            check(Lines { holds: Holds::Numbers, count: 0, ..whole });
            let bins = Lines { holds: Holds::Bins, have: n / 2 + 1, pairs: false, ..whole };
            check(bins);
            check(Lines { have: n / 4 + 1, scale: 1.0 / n as f64, ..bins });
        }
    }
}
