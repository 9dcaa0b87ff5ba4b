//! What `--precision` makes of the records: the products of frames with sinusoids take operands that are
//! rounded, on lanes and devices alike; triangles and values stay as they are. What has no such product
//! stays strict, which a note says.

use super::{Asked, Kinds, asked_of, run};
use crate::energy::Plan;
use crate::engine::{Bound, Engine, Side};
use rung_array::Array;
use rung_base::Result;
use rung_ops::Answer;
use rung_ops::record::Rounded;

pub(super) const SPECTROGRAM: &Rounded = &Rounded {
    strict: |call| asked_of(call).map_or(None, why_strict),
    inner: |call| asked_of(call).map_or(0, |asked| depth(&asked.plan)),
    lanes: |call, lanes| run(call, Engine::Rounded(lanes)).map(Answer::Several),
    bounds: |call, part| both_sides(|engine| run(call, engine), part),
};

/// Cepstra are sums of bands with both signs: what is off in one may be far larger than they are.
pub(super) const CEPSTRA: &Rounded =
    &Rounded { bounds: |_, _| Ok(Default::default()), ..*SPECTROGRAM };

fn why_strict(asked: &Asked) -> Option<&'static str> {
    if asked.kind == Kinds::Cepstra {
        return Some("stays strict: cepstra are made of bands in f32");
    }
    method_without_products(&asked.plan)
}

/// Why a plan stays strict.
pub(super) fn method_without_products(plan: &Plan) -> Option<&'static str> {
    match plan.folded() {
        Some(_) => None,
        None => Some("stays strict with method fft, which has no product; method product has one"),
    }
}

/// The depth of a plan's products.
pub(super) fn depth(plan: &Plan) -> usize {
    plan.folded().map_or(0, crate::energy::Folded::depth)
}

/// The results at both ends of what products may be off: every step behind the energies is monotone.
pub(super) fn both_sides(
    run: impl Fn(Engine) -> Result<Vec<Array>>,
    part: f64,
) -> Result<[Vec<Array>; 2]> {
    let end = |side| run(Engine::Off(Bound { part, side }));
    Ok([end(Side::Least)?, end(Side::Greatest)?])
}
