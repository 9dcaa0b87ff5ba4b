//! fourier: lines of n points, a power of two, packed in f64 -> their discrete Fourier transforms,
//! scaled, as elements of any float type.
//!
//! A pass for each factor of two, from one buffer to the other, sorts the points as it goes
//! (Stockham's order; Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, 1.7),
//! so nothing is permuted. The turns come from a table in which every entry is within two ulp.

use super::{double_words, filled_in, groups_for};
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Launch, per_word, word};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_math::{Cos, Sin, Unary};
use std::f64::consts::TAU;
use std::sync::Arc;

/// What an operand's line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Real points.
    Numbers,
    /// Complex points.
    Pairs,
    /// The bins 0 to n / 2 of a real line; the others mirror them.
    Bins,
}

/// Lines and their transforms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines {
    /// How many there are.
    pub count: usize,
    /// Points of a line: a power of two.
    pub n: usize,
    /// What an operand's line holds, and how many of it; the rest counts as zero.
    pub holds: Holds,
    /// See `holds`.
    pub have: usize,
    /// The exponent's sign is positive.
    pub backward: bool,
    /// Points of a line of the result, and whether they are complex.
    pub points: usize,
    /// See `points`.
    pub pairs: bool,
    /// What each result is multiplied with.
    pub scale: f64,
}

/// The kernels of transforms whose results are of one type.
#[derive(Clone, Debug)]
pub struct Kernels {
    points: Arc<Kernel>,
    pass: Arc<Kernel>,
    out: Arc<Kernel>,
}

/// The launches of a transform.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Buffers: the packed operand (f64), the first workspace.
    pub points: Launch,
    /// Buffers: a workspace, the turns, the other workspace; by turns from the first to the second
    /// and back.
    pub passes: Vec<Launch>,
    /// Buffers: the workspace that was written last, out.
    pub out: Launch,
}

impl Kernels {
    /// Results are narrowed to this type once.
    pub fn new(writes: ElementType) -> Result<Kernels> {
        let double = ElementType::F64;
        let group: &dyn std::fmt::Display = &super::GROUP;
        let kernel = |key: String, text: String, bindings, parameter_words| {
            let workgroup = [super::GROUP as u32, 1, 1];
            Arc::new(Kernel { key, text, workgroup, bindings, parameter_words })
        };
        let points = filled_in(include_str!("fourier_points.wgsl"), &[("group", group)]);
        let pass = filled_in(include_str!("fourier_pass.wgsl"), &[("group", group)]);
        let out = filled_in(
            include_str!("fourier_out.wgsl"),
            &[
                ("type", &cells::written_type(writes)),
                ("scale", &Computed::Double.parameter(4)),
                ("value", &cells::written(writes, Computed::Double, "x")),
            ],
        ) + &cells::main_over_elements(writes, 1);
        let (read, write) = (Binding::read(double), Binding::write(double));
        Ok(Kernels {
            points: kernel("fourier points".into(), points, vec![read, write], 4),
            pass: kernel("fourier pass".into(), pass, vec![read, read, write], 4),
            out: kernel(format!("fourier to {writes}"), out, vec![read, Binding::write(writes)], 6),
        })
    }

    /// The launches over these lines; workspaces hold two doubles a point.
    pub fn plan(&self, l: &Lines) -> Result<Plan> {
        if !l.n.is_power_of_two() {
            return Err(Error::new(ErrorKind::Declined, "lines of a power of two points alone"));
        }
        let points = l.count.saturating_mul(l.n);
        word(points.saturating_mul(2))?;
        let holds = match l.holds {
            Holds::Numbers => 0,
            Holds::Pairs => 1,
            Holds::Bins => 2,
        };
        let launch = |kernel: &Arc<Kernel>, count: usize, parameters: Vec<u32>| Launch {
            kernel: kernel.clone(),
            parameters,
            groups: groups_for(count),
        };
        let first = vec![word(points)?, word(l.n)?, word(l.have)?, holds];
        let mut passes = Vec::new();
        let (mut apart, half) = (1, l.n / 2);
        while apart < l.n {
            let count = l.count * half;
            let words = vec![word(count)?, word(half)?, word(apart)?, u32::from(l.backward)];
            passes.push(launch(&self.pass, count, words));
            apart *= 2;
        }
        let each = if l.pairs { 2 } else { 1 };
        let cells = l.count.saturating_mul(l.points).saturating_mul(each);
        let mut last = vec![word(cells)?, word(l.n)?, word(l.points)?, word(each)?];
        last.extend(double_words(l.scale));
        let words = cells.div_ceil(per_word(self.out.bindings[1].element));
        Ok(Plan {
            points: launch(&self.points, points, first),
            passes,
            out: launch(&self.out, words, last),
        })
    }
}

/// cos and sin of 2 pi k / n for k in 0..n / 2, side by side; n a power of two. The angle is
/// brought into the first eighth without rounding.
pub fn turns(n: usize) -> Vec<f64> {
    (0..n / 2).flat_map(|k| turn(k as f64 / n as f64)).collect()
}

/// cos and sin of a part of a turn below a half.
fn turn(part: f64) -> [f64; 2] {
    let of = |part: f64| [Cos::at(TAU * part), Sin::at(TAU * part)];
    let quarter = 0.25;
    match part {
        _ if part <= 0.125 => of(part),
        _ if part <= quarter => {
            let [cos, sin] = of(quarter - part);
            [sin, cos]
        }
        _ if part <= 0.375 => {
            let [cos, sin] = of(part - quarter);
            [-sin, cos]
        }
        _ => {
            let [cos, sin] = of(0.5 - part);
            [-cos, sin]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Variants, compile};

    #[test]
    fn every_float_type_is_written() {
        for writes in ElementType::FLOATS {
            let k = Kernels::new(writes).unwrap();
            for kernel in [&k.points, &k.pass, &k.out] {
                compile(kernel, &Variants::SOFTWARE).unwrap();
            }
        }
    }

    #[test]
    fn turns_are_exact_at_the_quarters_and_near_elsewhere() {
        assert_eq!(turns(1), []);
        assert_eq!(turns(2), [1.0, 0.0]);
        let root = 0.5f64.sqrt();
        let eight = turns(8);
        assert_eq!([&eight[..2], &eight[4..6]].concat(), [1.0, 0.0, 0.0, 1.0]);
        assert!((eight[2] - root).abs() < 2e-16 && (eight[7] - root).abs() < 2e-16);
        for n in [16, 256, 4096] {
            for (k, turn) in turns(n).chunks(2).enumerate() {
                // An angle near pi is itself rounded by 2e-16.
                let angle = TAU * k as f64 / n as f64;
                assert!((turn[0] - angle.cos()).abs() < 6e-16, "{k} of {n}");
                assert!((turn[1] - angle.sin()).abs() < 6e-16, "{k} of {n}");
            }
        }
    }

    #[test]
    fn a_pass_for_each_factor_of_two() {
        let lines = |n| Lines {
            count: 3,
            n,
            holds: Holds::Pairs,
            have: n,
            backward: false,
            points: n,
            pairs: true,
            scale: 1.0,
        };
        let kernels = Kernels::new(ElementType::F64).unwrap();
        let count = |n| kernels.plan(&lines(n)).unwrap().passes.len();
        assert_eq!([count(1), count(2), count(1024)], [0, 1, 10]);
        assert!(kernels.plan(&lines(12)).is_err());
    }
}
