//! Exits, catches and clean-ups: the control stack, and going on after an escape.

use crate::code::{Code, Register};
use crate::condition::{Escape, EscapeKind, Outcome};
use crate::lisp::Lisp;
use crate::source::Span;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value};

use super::{Lot, Machine, Pending};

/// So many frames are remembered: a deep recursion repeats itself.
const FRAMES_KEPT: usize = 50;

/// An entry of the control stack: somewhere an escape may go on, with what to restore there.
pub(crate) struct Control {
    kind: ControlKind,
    frames: usize,
    bindings: usize,
    lots: usize,
    pending: usize,
}

enum ControlKind {
    /// A block or tagbody: its number, and its labels in the code that opened it.
    Exit {
        id: u64,
        index: u32,
    },
    Catch {
        tag: Value,
        target: u32,
        to: u16,
    },
    Cleanup {
        target: u32,
    },
}

impl Machine {
    fn open(&self, lisp: &mut Lisp, kind: ControlKind) {
        lisp.controls.push(Control {
            kind,
            frames: self.stacks.frames.len(),
            bindings: lisp.bindings.len(),
            lots: self.stacks.lots.len(),
            pending: self.stacks.pending.len(),
        });
    }

    pub(super) fn open_exit(&self, lisp: &mut Lisp, index: u32) -> u64 {
        lisp.next_exit += 1;
        let id = lisp.next_exit;
        self.open(lisp, ControlKind::Exit { id, index });
        id
    }

    pub(super) fn open_catch(&self, lisp: &mut Lisp, tag: Value, target: u32, to: u16) {
        self.open(lisp, ControlKind::Catch { tag, target, to });
    }

    pub(super) fn open_cleanup(&self, lisp: &mut Lisp, target: u32) {
        self.open(lisp, ControlKind::Cleanup { target });
    }

    /// A throw that a catch of this run gets, with nothing to clean up on the way: no escape is
    /// made, and further values stay where they are. False: it is another one.
    pub(super) fn throw_near(&mut self, lisp: &mut Lisp, tag: Register, from: Register) -> bool {
        let thrown = &self.stacks.values[self.base + tag as usize];
        let catches = |control: &Control| match &control.kind {
            ControlKind::Catch { tag, .. } => tag.eql(thrown),
            ControlKind::Cleanup { .. } => true,
            ControlKind::Exit { .. } => false,
        };
        let Some(at) = lisp.controls[self.controls..].iter().rposition(catches) else {
            return false;
        };
        let at = self.controls + at;
        let ControlKind::Catch { target, to, .. } = lisp.controls[at].kind else { return false };
        let first = std::mem::take(&mut self.stacks.values[self.base + from as usize]);
        lisp.controls.truncate(at + 1);
        let Some(control) = lisp.controls.pop() else { return false };
        if self.version.take().is_some() {
            self.ops = self.code().ops.clone();
        }
        self.restore(lisp, &control);
        self.stacks.values[self.base + to as usize].put(first);
        self.pc = target as usize;
        self.version = self.code().native.version.get();
        self.resumes = false;
        true
    }

    /// Finds where to go on after an escape; gives the escape when it leaves this run.
    pub(super) fn recover(&mut self, lisp: &mut Lisp, escape: Escape) -> Outcome<()> {
        let escape = self.signal(lisp, escape);
        while lisp.controls.len() > self.controls {
            let Some(control) = lisp.controls.pop() else { break };
            match (&control.kind, &*escape.0) {
                (ControlKind::Exit { id, index }, EscapeKind::Exit { id: wanted, .. })
                    if id == wanted =>
                {
                    let index = *index;
                    self.restore(lisp, &control);
                    self.land_at_exit(lisp, control, index, escape);
                    return Ok(());
                }
                (ControlKind::Catch { tag, target, to }, EscapeKind::Throw { tag: thrown, .. })
                    if tag.eql(thrown) =>
                {
                    self.restore(lisp, &control);
                    self.pc = *target as usize;
                    let at = self.base + *to as usize;
                    if let EscapeKind::Throw { values, .. } = *escape.0 {
                        self.stacks.values[at] = values.restore(lisp);
                    }
                    return Ok(());
                }
                (ControlKind::Cleanup { .. }, EscapeKind::Quit { abort: true, .. }) => {}
                (ControlKind::Cleanup { target }, _) => {
                    self.restore(lisp, &control);
                    self.pc = *target as usize;
                    self.stacks.pending.push(Pending::Escape(escape));
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(escape)
    }

    /// Goes back to the frame and the bindings that a control entry was made in.
    fn restore(&mut self, lisp: &mut Lisp, control: &Control) {
        let top = self.base + self.registers;
        if self.stacks.frames.len() > control.frames {
            self.stacks.frames.truncate(control.frames + 1);
            if let Some(frame) = self.stacks.frames.pop() {
                self.reopen(frame);
                (self.version, self.resumes) = (None, false);
            }
        }
        let end = self.base + self.registers;
        if end < top {
            self.stacks.values[end..top].iter_mut().for_each(Value::release);
        }
        self.stacks.lots.truncate(control.lots);
        self.stacks.pending.truncate(control.pending);
        lisp.unbind_to(control.bindings);
    }

    fn land_at_exit(&mut self, lisp: &mut Lisp, control: Control, index: u32, escape: Escape) {
        let EscapeKind::Exit { label, values, .. } = *escape.0 else { return };
        let exit = &self.code().exits[index as usize];
        let (target, to, stays) = (exit.labels[label as usize], exit.to, exit.stays);
        self.pc = target as usize;
        if stays {
            lisp.controls.push(control);
        } else {
            let at = self.base + to as usize;
            self.stacks.values[at] = values.restore(lisp);
        }
    }

    /// Runs the handlers for an error; what it becomes.
    fn signal(&mut self, lisp: &mut Lisp, escape: Escape) -> Escape {
        let condition = match *escape.0 {
            EscapeKind::Error(condition) => condition.into_value(),
            EscapeKind::Signal(condition) => condition,
            _ => return escape,
        };
        if let Some(condition) = condition.as_condition()
            && condition.span.get().is_none()
        {
            condition.span.set(self.nearest_span().or_else(|| lisp.caller_span()));
        }
        self.leave_frames(lisp);
        let asked = condition.as_condition().is_some_and(|condition| condition.asked.take());
        let handled = if asked { Ok(()) } else { lisp.run_handlers(&condition) };
        match handled {
            Ok(()) => {
                self.note_backtrace(lisp);
                match lisp.debug(&condition) {
                    Ok(()) => EscapeKind::Unhandled(condition).into(),
                    Err(escape) => escape,
                }
            }
            Err(escape) => escape,
        }
    }

    /// Handlers run on top of the frames they look at; the reserve is theirs after a recursion that
    /// has used up the limit.
    pub(super) fn leave_frames(&self, lisp: &mut Lisp) {
        let used = self.stacks.frames.len().min(self.frame_limit);
        let left = self.frame_limit - used;
        lisp.frames_left = left.max(lisp.frame_reserve());
    }

    /// The place of the innermost frame that has one.
    pub(super) fn nearest_span(&self) -> Option<Span> {
        self.code().span(self.pc.saturating_sub(1)).or_else(|| {
            self.stacks.frames.iter().rev().find_map(|frame| {
                let code = &super::calls::closure_of(&frame.function).code;
                code.span((frame.pc as usize).saturating_sub(1))
            })
        })
    }

    /// Ctrl-C in the loop of the machine.
    #[cold]
    pub(super) fn interrupt(&self, lisp: &mut Lisp) -> Outcome<()> {
        self.note_backtrace(lisp);
        lisp.interrupt()
    }

    /// Remembers the frames, innermost first, for whoever reports the condition. Of the runs
    /// outside this one only the frames that called a native are known.
    pub(super) fn note_backtrace(&self, lisp: &mut Lisp) {
        let code = self.code();
        let mut frames = vec![(code.name.clone(), code.span(self.pc.saturating_sub(1)))];
        for frame in self.stacks.frames.iter().rev() {
            let code = &super::calls::closure_of(&frame.function).code;
            frames.push((code.name.clone(), code.span((frame.pc as usize).saturating_sub(1))));
            if frames.len() == FRAMES_KEPT {
                break;
            }
        }
        let outer = lisp.outer_sites.iter().rev().filter_map(crate::lisp::site_frame);
        frames.extend(outer.take(FRAMES_KEPT - frames.len()));
        lisp.backtrace = frames;
        if lisp.console.is_some() {
            lisp.frame_locals = self.locals();
        }
    }

    /// The variables of each frame, innermost first.
    fn locals(&self) -> Vec<Vec<(Symbol, Value)>> {
        let here = (self.code(), self.pc, self.base);
        let outer = self.stacks.frames.iter().rev().map(|frame| {
            let code = &super::calls::closure_of(&frame.function).code;
            (&**code, frame.pc as usize, frame.base as usize)
        });
        let frames = std::iter::once(here).chain(outer).take(FRAMES_KEPT);
        frames.map(|(code, pc, base)| self.locals_of(code, pc.saturating_sub(1), base)).collect()
    }

    fn locals_of(&self, code: &Code, pc: usize, base: usize) -> Vec<(Symbol, Value)> {
        let there = code
            .locals
            .iter()
            .filter(|local| (local.from as usize..=local.to as usize).contains(&pc));
        let value = |register: Register| match self.stacks.values.get(base + register as usize) {
            Some(Value::Cell(cell)) => cell.get(),
            Some(value) => value.clone(),
            None => NIL,
        };
        there.map(|local| (local.name, value(local.register))).collect()
    }
}

impl Lisp {
    /// Whether an exit of that number is open in any run.
    pub(crate) fn is_open(&self, wanted: u64) -> bool {
        let is_it = |control: &Control| matches!(control.kind, ControlKind::Exit { id, .. } if id == wanted);
        self.controls.iter().rev().any(is_it)
    }

    /// The escape that throws to a tag, or the error that nobody catches it.
    pub(crate) fn throw(&mut self, tag: Value, first: Value) -> Escape {
        let values = Lot::take(self, first);
        let catches = |control: &Control| matches!(&control.kind, ControlKind::Catch { tag: caught, .. } if caught.eql(&tag));
        if !self.controls.iter().rev().any(catches) {
            let text = format!("throw: nobody catches {}", self.brief(&tag));
            return Escape::of(symbol::CONTROL_ERROR, text);
        }
        EscapeKind::Throw { tag, values }.into()
    }

    /// How many frames handlers may use when none are left.
    fn frame_reserve(&self) -> usize {
        (self.frame_limit / 100).clamp(100, 1000)
    }
}
