//! What `--on-decline` makes of a call when it has its results; and of operations that end before a rung is
//! asked: what these compute, and what they bring home from a device, is counted and judged like the
//! others. Views, headers and fills compute nothing and have no row.

use super::{Caller, Declines, Ladder};
use crate::call::{Call, Outputs};
use crate::decline::{Decline, Rung, size};
use crate::explain::{Outcome, What, take_packed};
use crate::record::{Entry, Exactness, Op};
use crate::value::Value;
use crate::verify;
use rung_array::Array;
use rung_base::settings::OnDecline;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_device::Moved;
use smallvec::SmallVec;
use std::time::Instant;

/// A call's operands before it, where somebody counts or judges.
pub(super) struct Watched {
    start: Instant,
    shapes: SmallVec<[Shape; 3]>,
    element_type: ElementType,
    storages: SmallVec<[usize; 3]>,
    moved: Moved,
}

impl Ladder {
    /// What `--on-decline` makes of a call that has run.
    pub(super) fn judge(
        &mut self,
        call: &mut Call,
        rung: Rung,
        raw: &Outputs,
        declines: &Declines,
        caller: &mut dyn Caller,
    ) -> Result<()> {
        match self.on_decline.unwrap_or(self.settings.on_decline.value) {
            OnDecline::Ok => Ok(()),
            OnDecline::Verify if rung == Rung::Portable => Ok(()),
            OnDecline::Verify => {
                call.settle()?;
                let foreign = rung == Rung::Library && call.op.exact == Exactness::LibraryOrder;
                let bound = self.mode(call, rung).and_then(|mode| mode.bound(call));
                let bound = bound.or(foreign.then_some(0.0));
                verify::against_portable(call, rung, raw, bound)
            }
            OnDecline::Warn => {
                for (rung, decline) in declines {
                    if self.matters(*rung, decline) {
                        let text = format!("on the {}: {}", rung.name(), decline.text(*rung));
                        self.warn_once(call.op, decline.code(), &text, caller);
                    }
                }
                Ok(())
            }
            OnDecline::Error => match declines.iter().find(|(r, d)| self.matters(*r, d)) {
                None => Ok(()),
                Some((rung, decline)) => Err(Error::new(
                    ErrorKind::Declined,
                    format!(
                        "{} on {} declined by the {}: {}",
                        call.op.name(),
                        call.shapes(),
                        rung.name(),
                        decline.text(*rung)
                    ),
                )
                .hint("--on-decline=ok runs it on the next rung")),
            },
        }
    }

    /// Whether a flag added this rung, so that its declines are worth a warning. The library
    /// skips what no CBLAS has (spec acceleration 1): `--blas` asks for its products alone.
    fn matters(&self, rung: Rung, decline: &Decline) -> bool {
        match rung {
            _ if !self.rungs.asks(rung) => false,
            Rung::Device => self.settings.gpu.value,
            Rung::Library => self.settings.blas.value && !matches!(decline, Decline::NoKernel(_)),
            Rung::Lanes | Rung::Portable => false,
        }
    }

    /// Warns of an operation where it stands, once for each kind of reason.
    fn warn_once(&mut self, op: &Op, code: &'static str, text: &str, caller: &mut dyn Caller) {
        let site = caller.site();
        if self.warned.insert((op.name(), code, site)) {
            let at = site.map_or_else(String::new, |site| format!("{}: ", caller.place(site)));
            caller.warn(&format!("{at}{}{} {text}", op.package.prefix, op.name()));
        }
    }

    /// The operands' shapes and places; none where nobody asks, or no operand is an array.
    pub(super) fn watched(&self, values: &[Value]) -> Option<Watched> {
        if !self.counting && self.is_left_alone() {
            return None;
        }
        let arrays = || arrays(values);
        Some(Watched {
            start: Instant::now(),
            element_type: arrays().next()?.element_type(),
            shapes: arrays().map(|a| a.shape().clone()).collect(),
            storages: arrays().map(Array::storage_address).collect(),
            moved: self.moved(),
        })
    }

    /// Counts a call that ended without a rung, where it made an array or brought elements home. To do both is
    /// a step down from the device, and so it is to write into what was there; a list or a number of an
    /// array's elements is a read, which every program ends with.
    pub(super) fn judge_beside(
        &mut self,
        op: &'static Op,
        watched: Option<Watched>,
        results: &[Value],
        caller: &mut dyn Caller,
    ) -> Result<()> {
        let Some(watched) = watched else { return Ok(()) };
        let down = self.moved().down - watched.moved.down;
        let made = arrays(results).any(|a| !watched.storages.contains(&a.storage_address()));
        if !made && down == 0 {
            return Ok(());
        }
        let is_step_down = down > 0 && (made || op.setf);
        let shapes: Vec<String> = watched.shapes.iter().map(ToString::to_string).collect();
        if self.counting {
            self.count_beside(op, watched, caller);
        }
        let text = || {
            let (shapes, bytes) = (shapes.join(" "), size(down));
            format!("on {shapes} brought {bytes} home from the device: no kernel does this")
        };
        match self.on_decline.unwrap_or(self.settings.on_decline.value) {
            OnDecline::Warn if is_step_down => self.warn_once(op, "home", &text(), caller),
            OnDecline::Error if is_step_down => {
                let e = Error::new(ErrorKind::Declined, format!("{} {}", op.name(), text()));
                return Err(e.hint("--on-decline=ok runs it on the processor"));
            }
            _ => {}
        }
        Ok(())
    }

    fn count_beside(&mut self, op: &'static Op, watched: Watched, caller: &mut dyn Caller) {
        let now = self.moved();
        let Watched { start, shapes, element_type, moved, .. } = watched;
        self.counted = now;
        self.calls.add(Outcome {
            what: What { operation: op.name().into(), shapes, element_type },
            rung: Rung::Portable,
            mode: None,
            declines: &reasons(op),
            time: start.elapsed(),
            up: now.up - moved.up,
            down: now.down - moved.down,
            site: caller.site(),
            packed: take_packed(),
        });
    }
}

/// The arrays among values and lists of them.
fn arrays(values: &[Value]) -> impl Iterator<Item = &Array> {
    values
        .iter()
        .flat_map(|value| match value {
            Value::Array(_) => std::slice::from_ref(value),
            Value::List(items) => &items[..],
            _ => &[],
        })
        .filter_map(|value| match value {
            Value::Array(array) => Some(array),
            _ => None,
        })
}

/// Why no rung was asked.
fn reasons(op: &Op) -> Declines {
    let device = match &op.rungs.device {
        Entry::None(reason) => reason,
        Entry::Has(_) => "this case of it ends before a rung is asked",
    };
    [(Rung::Device, Decline::NoKernel(device))].into_iter().collect()
}
