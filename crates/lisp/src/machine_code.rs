//! Native code as the language sees it: who makes it (a `BackEnd`, which the embedder brings), what
//! there is of a function, and the places and numbers that native code has to know.
//!
//! Native code works on the registers and frames of the machine, so it may stop before any
//! instruction and the bytecode goes on there: nothing that is rare has a second text. A function
//! gets native code when it has run often, from its bytecode and from what kinds of numbers its
//! instructions have met. How the machine enters and leaves native code is in `machine::bridge`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::code::{Code, Op};
pub use crate::machine::{ArrayLayout, HELPERS, Helpers, LAYOUT, Layout, VersionRef, array_layout};
pub use crate::packed::window_kind;

/// The kind of numbers that an instruction meets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guess {
    /// Fixnums.
    Fixnum,
    /// Doubles.
    Double,
    /// Any: it is left to the machine's arithmetic.
    Any,
}

/// What stopped native code, and how the machine goes on. Numbers above are the address of native
/// code to be jumped to.
pub mod status {
    /// Of helpers alone: the instruction is done.
    pub const DONE: u64 = 0;
    /// The bytecode goes on at the instruction that was noted.
    pub const LEFT: u64 = 1;
    /// The frame is closed; its value lies where the caller wants it.
    pub const RETURNED: u64 = 2;
    /// There is an escape.
    pub const FAILED: u64 = 3;
    /// The running function has changed.
    pub const SWITCHED: u64 = 4;
    /// The highest of them.
    pub const LAST: u64 = 4;
}

/// The tags of values, in the order of `Value`.
#[allow(missing_docs)]
pub mod tag {
    pub const NIL: u8 = 0;
    pub const UNBOUND: u8 = 1;
    pub const FIXNUM: u8 = 2;
    pub const DOUBLE: u8 = 3;
    pub const SINGLE: u8 = 4;
    pub const CHAR: u8 = 5;
    pub const SYMBOL: u8 = 6;
    pub const CONS: u8 = 7;
    pub const FUNCTION: u8 = 8;
    pub const STRING: u8 = 9;
    pub const CELL: u8 = 10;
    pub const OBJECT: u8 = 11;
    /// From here on a value is a counted reference.
    pub const HEAP: u8 = CONS;
    /// The first variant of `Function`.
    pub const CLOSURE: u8 = 0;
    /// Variants of `Object`.
    pub const ARRAY: u8 = 3;
    pub const PACKED: u8 = 13;
}

/// One translation of a function. Native code refers to it by its address.
#[repr(C)]
pub struct Version {
    /// Where its code begins.
    pub entry: *const u8,
    /// The instructions it was made from.
    pub ops: Rc<[Op]>,
    /// How many registers a frame has.
    pub registers: u32,
    /// How often it has stopped before an instruction it had guessed wrong.
    pub exits: Cell<u32>,
}

/// What native code there is of a function.
pub struct NativeState {
    /// Where its code begins, for calls from native code.
    pub(crate) entry: Cell<*const u8>,
    /// How many arguments such a call has; `u32::MAX` where there is no native code, or the
    /// arguments have to be arranged.
    pub(crate) required: Cell<u32>,
    /// The same for a tail call; that of a function without places in the source keeps its frame.
    pub(crate) required_at_tail: Cell<u32>,
    /// How many registers a frame has.
    pub(crate) registers: Cell<u32>,
    /// The translation that is run.
    pub(crate) version: Cell<Option<VersionRef>>,
    /// How often a sample has met it.
    pub(crate) heat: Cell<u32>,
    /// How often it was translated.
    pub(crate) tries: Cell<u32>,
    /// What instructions have met where a translation had guessed wrong.
    pub(crate) met: RefCell<BTreeMap<u32, Guess>>,
    /// Why it has none.
    pub(crate) declined: RefCell<Option<String>>,
}

impl Default for NativeState {
    fn default() -> NativeState {
        NativeState {
            entry: Cell::new(std::ptr::null()),
            required: Cell::new(u32::MAX),
            required_at_tail: Cell::new(u32::MAX),
            registers: Cell::new(0),
            version: Cell::new(None),
            heat: Cell::new(0),
            tries: Cell::new(0),
            met: RefCell::default(),
            declined: RefCell::default(),
        }
    }
}

/// A translator of bytecode.
pub trait BackEnd {
    /// Machine code for a function, or why there is none. `version` is the address of what the
    /// code will be a part of; `met` is what its instructions have met.
    fn translate(
        &self,
        code: &Code,
        met: &BTreeMap<u32, Guess>,
        version: usize,
    ) -> Result<Translated, String>;
}

/// What a translation gives. Both stay where they are as long as the back end is there.
pub struct Translated {
    /// Where the function's code begins.
    pub entry: *const u8,
    /// The function that enters native code from Rust: `extern "C"`, of the address of the code,
    /// the machine, the Lisp, the first register's number and the entry.
    pub gate: *const u8,
}

/// The back end of a Lisp and the translations that it has made.
pub struct Forge {
    pub(crate) back_end: Option<Rc<dyn BackEnd>>,
    /// What enters native code; null before the first translation.
    pub(crate) gate: *const u8,
    /// In boxes, because native code has their addresses.
    #[allow(clippy::vec_box)]
    pub(crate) versions: Vec<Box<Version>>,
    /// How many calls and backward jumps until the next sample.
    pub(crate) tick: u32,
    /// Every call and backward jump is a sample, and the first one makes native code.
    pub(crate) eager: bool,
}

impl Default for Forge {
    fn default() -> Forge {
        Forge {
            back_end: None,
            gate: std::ptr::null(),
            versions: Vec::new(),
            tick: 0,
            eager: false,
        }
    }
}

/// Every so many calls and backward jumps one is noted with its function.
pub(crate) const STRIDE: u32 = 32;

/// A function that was met so often is translated: after some two thousand calls or turns of a loop.
/// Chosen, not measured.
const HOT: u32 = 60;

/// A version that stops so often is made anew.
const EXITS: u32 = 4;

/// A function whose numbers are of ever new kinds is left to the bytecode.
const TRIES: u32 = 20;

impl crate::Lisp {
    /// From now on functions that run often become native code. Embedders bring the back end,
    /// since this crate has none. The first one stays: code that it made may be running.
    pub fn set_back_end(&mut self, back_end: Rc<dyn BackEnd>) {
        self.native.back_end.get_or_insert(back_end);
    }

    /// Makes native code of a function when it first runs, for tests.
    pub fn hurry_native_code(&mut self) {
        self.native.eager = true;
    }

    /// How many calls and backward jumps there are from one sample to the next.
    pub(crate) fn stride(&self) -> u32 {
        if self.native.eager { 0 } else { STRIDE }
    }

    /// Notes a sample; the function's native code, made now if it has become hot.
    pub(crate) fn sample(&mut self, code: &Code) -> Option<VersionRef> {
        let state = &code.native;
        if let Some(version) = state.version.get() {
            return Some(version);
        }
        let back_end = self.native.back_end.clone()?;
        let heat = state.heat.get().saturating_add(1);
        state.heat.set(heat);
        if (heat < HOT && !self.native.eager) || state.tries.get() >= TRIES {
            return None;
        }
        state.tries.set(state.tries.get() + 1);
        let mut version = Box::new(Version {
            entry: std::ptr::null(),
            ops: code.ops.clone(),
            registers: u32::from(code.registers),
            exits: Cell::new(0),
        });
        let address = std::ptr::from_ref(&*version) as usize;
        match back_end.translate(code, &state.met.borrow(), address) {
            Ok(translated) => {
                version.entry = translated.entry;
                self.native.gate = translated.gate;
            }
            Err(reason) => {
                state.declined.replace(Some(reason));
                state.tries.set(TRIES);
                return None;
            }
        }
        state.entry.set(version.entry);
        let required = code.simple.map_or(u32::MAX, u32::from);
        state.required.set(required);
        state.required_at_tail.set(if code.lines.is_empty() { u32::MAX } else { required });
        state.registers.set(u32::from(code.registers));
        let found = VersionRef::of(&version);
        self.native.versions.push(version);
        state.version.set(Some(found));
        Some(found)
    }

    /// Notes that native code stopped before an instruction; after too many of them the function
    /// is translated anew.
    pub(crate) fn note_exit(&self, version: VersionRef, code: &Code, pc: u32, met: Option<Guess>) {
        if let Some(met) = met {
            let mut all = code.native.met.borrow_mut();
            let known = all.entry(pc).or_insert(met);
            if *known != met {
                *known = Guess::Any;
            }
        }
        let exits = version.exits.get() + 1;
        version.exits.set(exits);
        if exits == EXITS && code.native.version.get() == Some(version) {
            code.native.forget();
        }
    }
}

impl NativeState {
    /// Nobody enters the native code any more.
    fn forget(&self) {
        self.version.set(None);
        self.entry.set(std::ptr::null());
        self.required.set(u32::MAX);
        self.required_at_tail.set(u32::MAX);
    }

    /// What there is, in words.
    pub(crate) fn words(&self) -> String {
        match (self.version.get(), &*self.declined.borrow()) {
            (Some(_), _) => "native code".to_string(),
            (None, Some(reason)) => format!("bytecode: {reason}"),
            (None, None) if self.tries.get() >= TRIES => {
                format!("bytecode: translated {TRIES} times, each time its numbers were others")
            }
            (None, None) => "bytecode".to_string(),
        }
    }
}
