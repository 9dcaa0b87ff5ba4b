//! fourier: lines of n points, packed in f64 -> their discrete Fourier transforms, scaled, as elements
//! of any float type.
//!
//! Of a power of two points: a pass for each factor of two, from one buffer to the other, sorts the
//! points as it goes (Stockham's order; Van Loan, Computational Frameworks for the Fast Fourier
//! Transform, 1992, 1.7), so nothing is permuted. Of any other number: the transform is a convolution
//! of the points with a chirp, each turned by it before and after (Bluestein 1970), and that is made
//! by two transforms of a power of two points, 2 n - 1 at least. Every turn of the tables is within
//! two ulp.

use super::{double_words, filled_in, groups_for};
use crate::cells::{self, Computed};
use crate::kernel::{Binding, Kernel, Launch, per_word, word};
use rung_base::{ElementType, Result};
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
    /// Points of a line.
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
    times: Arc<Kernel>,
    out: Arc<Kernel>,
}

/// What a pass reads beside the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// `turns` of the points of a pass.
    Turns,
    /// `chirp` of a line's points.
    Chirp,
    /// The transform of `mirrored_chirp`, divided by its points.
    Spectrum,
}

/// The launches of a transform.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Buffers: the packed operand (f64), the first workspace.
    pub points: Launch,
    /// Buffers: a workspace, the table, the other workspace; by turns from the first to the second
    /// and back.
    pub passes: Vec<(Launch, Table)>,
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
        let times = filled_in(include_str!("fourier_times.wgsl"), &[("group", group)]);
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
            times: kernel("fourier times".into(), times, vec![read, read, write], 6),
            out: kernel(format!("fourier to {writes}"), out, vec![read, Binding::write(writes)], 6),
        })
    }

    /// The launches over these lines; workspaces hold two doubles for each of `passed` points of a
    /// line.
    pub fn plan(&self, l: &Lines) -> Result<Plan> {
        let points = l.count.saturating_mul(l.n);
        word(l.count.saturating_mul(passed(l.n)).saturating_mul(2))?;
        let holds = match l.holds {
            Holds::Numbers => 0,
            Holds::Pairs => 1,
            Holds::Bins => 2,
        };
        let first = vec![word(points)?, word(l.n)?, word(l.have)?, holds];
        let passes = match l.n.is_power_of_two() {
            true => self.passes(l.count, l.n, l.backward)?,
            false => self.convolved(l)?,
        };
        let each = if l.pairs { 2 } else { 1 };
        let cells = l.count.saturating_mul(l.points).saturating_mul(each);
        let mut last = vec![word(cells)?, word(l.n)?, word(l.points)?, word(each)?];
        last.extend(double_words(l.scale));
        let words = cells.div_ceil(per_word(self.out.bindings[1].element));
        Ok(Plan {
            points: launched(&self.points, points, first),
            passes,
            out: launched(&self.out, words, last),
        })
    }

    /// The passes of lines of a power of two points.
    fn passes(&self, lines: usize, n: usize, backward: bool) -> Result<Vec<(Launch, Table)>> {
        let (count, half) = (lines * (n / 2), n / 2);
        let pass = |k: u32| -> Result<(Launch, Table)> {
            let words = vec![word(count)?, word(half)?, 1 << k, u32::from(backward)];
            Ok((launched(&self.pass, count, words), Table::Turns))
        };
        (0..n.trailing_zeros()).map(pass).collect()
    }

    /// Of other lines: turned by the chirp, convolved, turned again. Those of the other direction
    /// are mirrored on their way in and on their way out.
    fn convolved(&self, l: &Lines) -> Result<Vec<(Launch, Table)>> {
        let (n, m) = (l.n, passed(l.n));
        let times = |[length, from, have]: [usize; 3], mirror: [bool; 2]| -> Result<Launch> {
            let count = l.count * length;
            let mut words = vec![word(count)?, word(length)?, word(from)?, word(have)?];
            words.extend(mirror.map(u32::from));
            Ok(launched(&self.times, count, words))
        };
        let mut all = vec![(times([m, n, n], [l.backward, false])?, Table::Chirp)];
        all.extend(self.passes(l.count, m, false)?);
        all.push((times([m, m, m], [false; 2])?, Table::Spectrum));
        all.extend(self.passes(l.count, m, true)?);
        all.push((times([n, m, n], [false, l.backward])?, Table::Chirp));
        Ok(all)
    }
}

fn launched(kernel: &Arc<Kernel>, count: usize, parameters: Vec<u32>) -> Launch {
    Launch { kernel: kernel.clone(), parameters, groups: groups_for(count) }
}

/// Points of the lines that the passes over lines of n points transform.
pub fn passed(n: usize) -> usize {
    if n.is_power_of_two() { n } else { (2 * n - 1).next_power_of_two() }
}

/// How many launches a transform of n points takes.
pub fn launches(n: usize) -> usize {
    let passes = passed(n).trailing_zeros() as usize;
    2 + if n.is_power_of_two() { passes } else { 2 * passes + 3 }
}

/// cos and sin of 2 pi k / n for k in 0..n / 2, side by side.
pub fn turns(n: usize) -> Vec<f64> {
    (0..n / 2).flat_map(|k| turn(k, n)).collect()
}

/// cos and -sin of pi k k / n for k in 0..n, side by side.
pub fn chirp(n: usize) -> Vec<f64> {
    let [whole, two] = [n, 2].map(|x| x as u128);
    let of = |k: u128| turn((k * k % (two * whole)) as usize, 2 * n);
    (0..whole).flat_map(of).enumerate().map(|(i, x)| if i % 2 == 0 { x } else { -x }).collect()
}

/// What a line turned by the chirp is convolved with, over `passed` points: the chirp of the other
/// direction, at both ends.
pub fn mirrored_chirp(n: usize) -> Vec<f64> {
    let m = passed(n);
    let mut line = vec![0.0; 2 * m];
    for (k, turn) in chirp(n).chunks_exact(2).enumerate() {
        for at in [k, (m - k) % m] {
            line[2 * at..][..2].copy_from_slice(&[turn[0], -turn[1]]);
        }
    }
    line
}

/// cos and sin of the k-th of n parts of a turn. The angle is brought into the first eighth by
/// whole numbers, so that it is rounded once.
fn turn(k: usize, n: usize) -> [f64; 2] {
    let (quarter, rest) = (4 * k / n, 4 * k % n);
    let of = |rest: usize| {
        let angle = TAU * (rest as f64 / (4.0 * n as f64));
        [Cos::at(angle), Sin::at(angle)]
    };
    let [cos, sin] = match 2 * rest <= n {
        true => of(rest),
        false => {
            let [cos, sin] = of(n - rest);
            [sin, cos]
        }
    };
    match quarter {
        0 => [cos, sin],
        1 => [-sin, cos],
        2 => [-cos, -sin],
        _ => [sin, -cos],
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Of every float type that is written.
    pub(crate) fn all() -> Vec<Kernel> {
        let of = |writes| {
            let k = Kernels::new(writes).unwrap();
            [k.points, k.pass, k.times, k.out].map(|kernel| (*kernel).clone())
        };
        ElementType::FLOATS.into_iter().flat_map(of).collect()
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
    fn chirps_turn_by_squares() {
        for n in [3, 5, 12, 1000] {
            let chirp = chirp(n);
            for (k, turn) in chirp.chunks(2).enumerate() {
                let angle = std::f64::consts::PI * (k * k % (2 * n)) as f64 / n as f64;
                assert!((turn[0] - angle.cos()).abs() < 2e-15, "{k} of {n}");
                assert!((turn[1] + angle.sin()).abs() < 2e-15, "{k} of {n}");
            }
            let line = mirrored_chirp(n);
            assert_eq!((line.len(), &line[..2]), (2 * passed(n), &[1.0, -0.0][..]));
            assert_eq!(line[2..4], line[line.len() - 2..]);
            assert_eq!(line[3], -chirp[3]);
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
        // 23 points at least of 12: five passes there and back.
        assert_eq!([count(3), count(12)], [9, 13]);
        for n in [1, 2, 3, 12, 1024, 4097] {
            assert_eq!(launches(n), count(n) + 2, "{n}");
        }
    }
}
