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

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use rung_lisp::code::Code;
use rung_lisp::machine_code::{BackEnd, Guess};

/// Longer functions are left to the bytecode, so that no translation is felt. Chosen, not measured.
const MOST_INSTRUCTIONS: usize = 3000;

struct Cranelift {
    isa: OwnedTargetIsa,
    memory: memory::Memory,
    gate: *const u8,
    builders: RefCell<FunctionBuilderContext>,
}

/// A back end for this processor, or why there is none.
pub fn back_end() -> Result<Rc<dyn BackEnd>, String> {
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
    let name = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let isa = cranelift_codegen::isa::lookup_by_name(&name)
        .map_err(|error| format!("Cranelift knows no {}: {error}", std::env::consts::ARCH))?
        .finish(settings::Flags::new(flags))
        .map_err(|error| error.to_string())?;
    let mut made = Cranelift {
        isa,
        memory: memory::Memory::default(),
        gate: std::ptr::null(),
        builders: RefCell::default(),
    };
    let gate = calls::gate(&*made.isa, &mut made.builders.borrow_mut());
    made.gate = made.finish(gate)?;
    Ok(Rc::new(made))
}

impl Cranelift {
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

impl BackEnd for Cranelift {
    fn translate(
        &self,
        code: &Code,
        met: &BTreeMap<u32, Guess>,
        version: usize,
    ) -> Result<*const u8, String> {
        if code.ops.len() > MOST_INSTRUCTIONS {
            return Err(format!("it has more than {MOST_INSTRUCTIONS} instructions"));
        }
        let mut builders = self.builders.borrow_mut();
        let function = translate::translate(code, met, version, &*self.isa, &mut builders)?;
        self.finish(function)
    }

    fn gate(&self) -> *const u8 {
        self.gate
    }
}
