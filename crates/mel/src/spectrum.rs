//! Energies by a Fourier transform, eight frames side by side.
//!
//! The definition is `one_by_one`: a frame and its window in f64, the transform in f32, the triangles in f64,
//! bins ascending. The lanes compute eight frames by the same steps (`eight`): what is a number there is a
//! vector here, so that nothing has to be summed across one.

use crate::energy::Plan;
use crate::frames::{Frames, Lines, windowed};
use crate::transform::{Eight, LINES, Room, Transform};
use rung_dense::fourier::Power;
use rung_lanes::Lanes;
use std::ops::Range;

/// Frames beyond the last eight that are computed one by one.
const FEW: usize = 2;

/// The transform of a plan.
#[derive(Clone, Debug)]
pub(crate) enum Spectrum {
    /// Our own steps: the same bits everywhere.
    Own(Transform),
    /// The kept library's, of sizes that have other factors.
    Kept,
}

impl Spectrum {
    pub(crate) fn new(n: usize) -> Spectrum {
        Transform::new(n).map_or(Spectrum::Kept, Spectrum::Own)
    }

    /// The bands (frames, bands) and log energies of frames from a place on.
    pub(crate) fn energies(
        &self,
        plan: &Plan,
        lanes: Option<&Lanes>,
        frames: &Frames,
        from: usize,
        to: Results,
    ) {
        let Spectrum::Own(transform) = self else { return kept(plan, frames, from, to) };
        let count = to.1.len();
        let pass = Pass { plan, transform, frames, from };
        match lanes {
            None => pass.one_by_one(0..count, to),
            Some(lanes) => lanes.level().compiled(
                #[inline(always)]
                || pass.by_eight(count, to),
            ),
        }
    }
}

/// (frames, bands) and the frames' log energies.
type Results<'a> = (&'a mut [f32], &'a mut [f32]);

/// Frames from a place on.
struct Pass<'a> {
    plan: &'a Plan,
    transform: &'a Transform,
    frames: &'a Frames<'a>,
    from: usize,
}

/// Eight frames, their transforms, and the energies of each band.
struct Beside {
    lines: Lines,
    room: Room<Eight>,
    bands: Vec<[f32; LINES]>,
}

impl Pass<'_> {
    /// Eight after eight of them, then the rest.
    #[inline(always)]
    fn by_eight(&self, count: usize, to: Results) {
        let mut at = 0;
        // A stream's single frames need no room for eight.
        let mut beside = (count > FEW).then(|| Beside {
            lines: Lines::new(self.plan.window.len()),
            room: self.transform.room(),
            bands: vec![[0.0; LINES]; self.plan.filters.len()],
        });
        while let Some(beside) = &mut beside
            && count - at > FEW
        {
            let end = count.min(at + LINES);
            self.eight(at..end, (&mut *to.0, &mut *to.1), beside);
            at = end;
        }
        self.one_by_one(at..count, to);
    }

    /// Up to eight frames.
    #[inline(always)]
    fn eight(&self, range: Range<usize>, to: Results, beside: &mut Beside) {
        let Pass { plan, transform, .. } = self;
        let Beside { lines, room, bands } = beside;
        let (first, whole) = (self.from + range.start, range.len() == LINES);
        match self.frames.untouched(first, plan.window.len()).filter(|_| whole) {
            Some(rows) => windowed(rows, &plan.window, room.line.as_flattened_mut()),
            None => {
                lines.read(self.frames, first, range.len());
                for (j, to) in room.line.iter_mut().enumerate() {
                    *to = [2 * j, 2 * j + 1].map(|j| lines.windowed(j, &plan.window));
                }
                for (to, e) in to.1[range.clone()].iter_mut().zip(lines.log_energy) {
                    *to = e as f32;
                }
            }
        }
        transform.power(room);
        if plan.preset.magnitude {
            room.power.iter_mut().for_each(|x| x.0 = x.0.map(f32::sqrt));
        }
        let count = bands.len();
        let rows = &mut to.0[range.start * count..range.end * count];
        for (band, to) in bands.iter_mut().enumerate() {
            *to = plan.filters.energies(band, &room.power);
        }
        for (line, row) in rows.chunks_exact_mut(count).enumerate() {
            row.iter_mut().zip(&*bands).for_each(|(to, energies)| *to = energies[line]);
        }
    }

    /// One frame after another: the definition.
    #[inline(always)]
    fn one_by_one(&self, range: Range<usize>, to: Results) {
        let Pass { plan, transform, .. } = self;
        if range.is_empty() {
            return;
        }
        let (bands, mut room) = (plan.filters.len(), transform.room::<f32>());
        let mut frame = vec![0.0; plan.window.len()];
        for at in range {
            to.1[at] = self.frames.read(self.from + at, &mut frame) as f32;
            let windowed = |j: usize| frame.get(j).map_or(0.0, |x| (x * plan.window[j]) as f32);
            for (j, to) in room.line.iter_mut().enumerate() {
                *to = [windowed(2 * j), windowed(2 * j + 1)];
            }
            transform.power(&mut room);
            if plan.preset.magnitude {
                room.power.iter_mut().for_each(|x| *x = x.sqrt());
            }
            for (band, to) in to.0[at * bands..][..bands].iter_mut().enumerate() {
                *to = plan.filters.energy(band, &room.power) as f32;
            }
        }
    }
}

/// One frame after another by the kept library.
fn kept(plan: &Plan, frames: &Frames, from: usize, to: Results) {
    let (n, bands) = (plan.preset.n_fft, plan.filters.len());
    let mut transform = Power::new(n);
    let mut frame = vec![0.0; plan.window.len()];
    let (mut line, mut power) = (vec![0.0; n], vec![0.0; plan.filters.bins]);
    for ((at, to), energy) in to.0.chunks_exact_mut(bands).enumerate().zip(to.1) {
        *energy = frames.read(from + at, &mut frame) as f32;
        let windowed = frame.iter().zip(&plan.window).map(|(x, w)| (x * w) as f32);
        line.iter_mut().zip(windowed).for_each(|(to, x)| *to = x);
        // The transform leaves its own numbers there.
        line[frame.len()..].fill(0.0);
        transform.of(&mut line, &mut power);
        if plan.preset.magnitude {
            power.iter_mut().for_each(|x| *x = x.sqrt());
        }
        for (band, to) in to.iter_mut().enumerate() {
            *to = plan.filters.energy(band, &power) as f32;
        }
    }
}
