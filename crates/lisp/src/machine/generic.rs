//! Calls of generic functions: what the dispatch finds gets a frame in place of the generic
//! function, so that recursion through methods is as deep as through functions; a slot is read or
//! written without any frame.

use crate::code::Function;
use crate::condition::Outcome;
use crate::generic::Effective;
use crate::heap::Ref;
use crate::library::dispatch::{Answer, write_slot};
use crate::lisp::Lisp;
use crate::value::Value;

use super::Machine;

impl Machine {
    /// As `call`, of a generic function.
    pub(super) fn call_generic(
        &mut self,
        lisp: &mut Lisp,
        function: &Ref<Function>,
        first: usize,
        count: usize,
        result: usize,
    ) -> Outcome<()> {
        match self.found(lisp, function, first, count, result)? {
            Some(found) => self.call(lisp, found, first, count, result),
            None => Ok(()),
        }
    }

    /// As `tail_call`, of a generic function.
    pub(super) fn tail_call_generic(
        &mut self,
        lisp: &mut Lisp,
        function: &Ref<Function>,
        first: usize,
        count: usize,
    ) -> Outcome<Option<Value>> {
        match self.found(lisp, function, first, count, first)? {
            Some(found) => self.tail_call(lisp, found, first, count),
            None => Ok(Some(std::mem::take(&mut self.stacks.values[first]))),
        }
    }

    /// The function that a call comes to; none: it has been done, its value is in `result`.
    fn found(
        &mut self,
        lisp: &mut Lisp,
        function: &Ref<Function>,
        first: usize,
        count: usize,
        result: usize,
    ) -> Outcome<Option<Ref<Function>>> {
        self.note_site(lisp);
        lisp.multiple = false;
        lisp.frames_left = self.frame_limit - self.stacks.frames.len().min(self.frame_limit);
        let arguments = &self.stacks.values[first..first + count];
        let outcome = match lisp.dispatch(function, arguments)? {
            Answer::Runs(Effective::Function(found)) => return Ok(Some(found)),
            Answer::Runs(Effective::Read(at)) => lisp.read_slot(&arguments[0], at),
            Answer::Runs(Effective::Write(at)) => Ok(write_slot(&arguments[1], at, &arguments[0])),
            Answer::NoMethod => lisp.no_method(function, arguments),
        };
        // The outcome as it came: see `call_native`.
        if outcome.is_ok() {
            for argument in &mut self.stacks.values[first..first + count] {
                argument.release();
            }
        }
        match outcome {
            Ok(value) => self.stacks.values[result].put(value),
            Err(escape) => return Err(escape),
        }
        Ok(None)
    }
}
