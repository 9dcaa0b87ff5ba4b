//! Who multiplies: the plain sums, the lanes, the lanes with operands rounded to bf16 where `--precision`
//! asks for it; and, for the comparison with the definition, how far such products may be off.

use rung_lanes::product::bf16;
use rung_lanes::{Lanes, Matrix, product};
use rung_math::product::cell;

/// Who multiplies.
#[derive(Clone, Copy)]
pub enum Engine<'a> {
    /// The plain sums.
    Plain,
    /// Lanes, which give the same bits.
    Lanes(&'a Lanes),
    /// Lanes, with frames and sinusoids rounded to bf16 and sums in f32; triangles stay f32.
    Rounded(&'a Lanes),
    /// The plain sums, and then the least or the greatest energies of products that are off.
    Off(Bound),
}

/// How far products are off, and to which side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Of sum |a b|.
    pub part: f64,
    pub side: Side,
}

/// One end of what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Least,
    Greatest,
}

impl<'a> From<Option<&'a Lanes>> for Engine<'a> {
    fn from(lanes: Option<&'a Lanes>) -> Engine<'a> {
        lanes.map_or(Engine::Plain, Engine::Lanes)
    }
}

impl<'a> Engine<'a> {
    /// The lanes of everything that is not rounded.
    pub(crate) fn lanes(self) -> Option<&'a Lanes> {
        match self {
            Engine::Lanes(lanes) | Engine::Rounded(lanes) => Some(lanes),
            Engine::Plain | Engine::Off(_) => None,
        }
    }

    pub(crate) fn bound(self) -> Option<Bound> {
        match self {
            Engine::Off(bound) => Some(bound),
            _ => None,
        }
    }

    /// out (m, n) = a (m, k) * b (k, n).
    pub(crate) fn times(self, [m, k, n]: [usize; 3], a: &[f32], b: &[f32], out: &mut [f32]) {
        match self {
            Engine::Rounded(lanes) => {
                bf16::stack(lanes, Matrix::new(a, m, k), Matrix::new(b, k, n), &[(0, 0)], out);
            }
            _ => times(self.lanes(), [m, k, n], a, b, out),
        }
    }
}

/// out (m, n) = a (m, k) * b (k, n), to the definition's bits.
pub(crate) fn times(
    lanes: Option<&Lanes>,
    [m, k, n]: [usize; 3],
    a: &[f32],
    b: &[f32],
    out: &mut [f32],
) {
    if let Some(lanes) = lanes {
        return product(lanes, Matrix::new(a, m, k), Matrix::new(b, k, n), out);
    }
    for (row, out) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        for (column, out) in out.iter_mut().enumerate() {
            *out = cell(k, |i| row[i], |i| b[i * n + column]);
        }
    }
}
