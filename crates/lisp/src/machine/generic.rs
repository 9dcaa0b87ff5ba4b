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

/// What a call of a generic function comes to.
enum Found {
    Function(Ref<Function>),
    /// It has been done.
    Value(Value),
}

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
        match self.found(lisp, function, first, count)? {
            Found::Function(found) => self.call(lisp, found, first, count, result),
            Found::Value(value) => {
                self.stacks.values[result] = value;
                Ok(())
            }
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
        match self.found(lisp, function, first, count)? {
            Found::Function(found) => self.tail_call(lisp, found, first, count),
            Found::Value(value) => Ok(Some(value)),
        }
    }

    fn found(
        &mut self,
        lisp: &mut Lisp,
        function: &Ref<Function>,
        first: usize,
        count: usize,
    ) -> Outcome<Found> {
        self.note_site(lisp);
        lisp.multiple = false;
        lisp.frames_left = self.frame_limit - self.stacks.frames.len().min(self.frame_limit);
        let arguments = &self.stacks.values[first..first + count];
        let value = match lisp.dispatch(function, arguments)? {
            Answer::Runs(Effective::Function(found)) => return Ok(Found::Function(found)),
            Answer::Runs(Effective::Read(at)) => lisp.read_slot(&arguments[0], at)?,
            Answer::Runs(Effective::Write(at)) => write_slot(&arguments[1], at, &arguments[0]),
            Answer::NoMethod => lisp.no_method(function, arguments)?,
        };
        for argument in &mut self.stacks.values[first..first + count] {
            argument.release();
        }
        Ok(Found::Value(value))
    }
}
