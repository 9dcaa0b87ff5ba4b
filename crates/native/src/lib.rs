//! Native code for the language: bytecode of functions that run often, translated with Cranelift.
//!
//! The translation works on the registers and frames of the bytecode machine. Numbers are kept bare
//! in variables as long as their kind is known; where it is only guessed, a guard stands before,
//! and a guess that fails stops native code before that instruction: the bytecode goes on from
//! there and notes what it met (`rung_lisp::machine_code`). What is rare is left to the machine by
//! a call or by stopping, so that errors, tracebacks, Ctrl-C and limits are the bytecode's.
//!
//! `flow` finds the paths, `state` says what is known of a register, `translate` goes through the
//! instructions, `memory` makes the result executable. Processors are those of Cranelift's host
//! back ends; on others `back_end` says why there is none.
#![deny(unsafe_code)]

mod arithmetic;
mod calls;
mod elements;
mod flow;
mod memory;
mod registers;
mod state;
mod translate;
mod words;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use rung_lisp::code::Code;
use rung_lisp::machine_code::{BackEnd, Guess, Translated};

/// Longer functions are left to the bytecode, so that no translation is felt. Chosen, not measured.
const MOST_INSTRUCTIONS: usize = 3000;

/// A back end, which nothing is done for before the first function is hot: most runs end before.
struct Lazily {
    processor: &'static str,
    most: usize,
    made: OnceCell<Result<Cranelift, String>>,
}

struct Cranelift {
    isa: OwnedTargetIsa,
    memory: memory::Memory,
    gate: *const u8,
    builders: RefCell<FunctionBuilderContext>,
}

/// A back end for this processor. Where Cranelift does not know it, or the system refuses memory
/// for machine code, it translates nothing and says why.
pub fn back_end() -> Rc<dyn BackEnd> {
    back_end_of(std::env::consts::ARCH, memory::MOST)
}

/// A back end for a processor, with so many bytes of machine code at most: for tests of what
/// happens where there is none.
#[doc(hidden)]
pub fn back_end_of(processor: &'static str, most: usize) -> Rc<dyn BackEnd> {
    Rc::new(Lazily { processor, most, made: OnceCell::new() })
}

impl Lazily {
    fn made(&self) -> &Result<Cranelift, String> {
        self.made.get_or_init(|| Cranelift::new(self.processor, self.most))
    }
}

impl Cranelift {
    fn new(processor: &str, most: usize) -> Result<Cranelift, String> {
        let mut flags = settings::builder();
        let verify = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [
            ("opt_level", "speed"),
            ("enable_verifier", verify),
            // Tail calls want them.
            ("preserve_frame_pointers", "true"),
        ] {
            flags.set(name, value).map_err(|error| error.to_string())?;
        }
        let unknown = || format!("Cranelift knows no {processor}");
        let triple = format!("{processor}-unknown-linux-gnu").parse().map_err(|_| unknown())?;
        let isa = cranelift_codegen::isa::lookup(triple)
            .map_err(|_| unknown())?
            .finish(settings::Flags::new(flags))
            .map_err(|error| error.to_string())?;
        let mut made = Cranelift {
            isa,
            memory: memory::Memory::of(most),
            gate: std::ptr::null(),
            builders: RefCell::default(),
        };
        let gate = calls::gate(&*made.isa, &mut made.builders.borrow_mut());
        made.gate = made.finish(gate)?;
        Ok(made)
    }

    fn finish(&self, function: cranelift_codegen::ir::Function) -> Result<*const u8, String> {
        let mut context = Context::for_function(function);
        let compiled = context.compile(&*self.isa, &mut ControlPlane::default());
        let compiled = compiled.map_err(|error| format!("Cranelift: {:?}", error.inner))?;
        // Everything outside is called by its address.
        if !compiled.buffer.relocs().is_empty() {
            return Err("its machine code has to be linked".to_string());
        }
        self.memory.place(compiled.code_buffer())
    }
}

impl BackEnd for Lazily {
    fn translate(
        &self,
        code: &Code,
        met: &BTreeMap<u32, Guess>,
        version: usize,
    ) -> Result<Translated, String> {
        if code.ops.len() > MOST_INSTRUCTIONS {
            return Err(format!("it has more than {MOST_INSTRUCTIONS} instructions"));
        }
        let made = self.made().as_ref().map_err(String::clone)?;
        let mut builders = made.builders.borrow_mut();
        let function = translate::translate(code, met, version, &*made.isa, &mut builders)?;
        Ok(Translated { entry: made.finish(function)?, gate: made.gate })
    }
}
