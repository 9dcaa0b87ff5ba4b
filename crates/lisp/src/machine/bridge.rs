//! The bridge between the machine and native code: entering it, what it calls, leaving it.
//!
//! Native code runs on the machine's own registers and frames. While it runs, the number of frames
//! stands in `Bridge::top`; whatever else it changes it changes in place. A call from native code
//! to native code is a jump with a frame pushed, a return a jump with a frame popped, so the
//! processor's stack does not grow and the frame limit holds as in the bytecode.
#![allow(unsafe_code)]

use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::atomic::AtomicBool;

use crate::code::{Closure, Code, Function, Op};
use crate::condition::{Escape, Outcome};
use crate::heap::{self, Ref};
use crate::lisp::Lisp;
use crate::machine_code::{NativeState, Version, status};
use crate::object::{Cons, GeneralArray, Object};
use crate::packed::{Packed, Window};
use crate::symbol::{Symbol, SymbolCell, SymbolTable};
use crate::value::{NIL, Value};

use super::calls::closure_of;
use super::{Frame, Machine, Stacks, arithmetic};

/// A translation that lives as long as its Lisp.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct VersionRef(NonNull<Version>);

impl VersionRef {
    pub(crate) fn of(version: &Version) -> VersionRef {
        VersionRef(NonNull::from(version))
    }
}

impl std::ops::Deref for VersionRef {
    type Target = Version;
    fn deref(&self) -> &Version {
        // SAFETY: `Forge::versions` keeps each version in its box to the end of the Lisp, and only
        // the machines of that Lisp ask.
        unsafe { self.0.as_ref() }
    }
}

/// What native code reads and writes of a machine beside its registers.
pub(crate) struct Bridge {
    /// The first register of the first frame, and how many there is room for.
    values: *mut Value,
    room: usize,
    /// The first frame, where the next one goes, and where none may go.
    floor: *mut Frame,
    top: *mut Frame,
    limit: *mut Frame,
    interrupt: *const AtomicBool,
    /// The list of free pairs.
    pairs: *const (),
    /// The instruction and the first register where native code stopped.
    pc: u32,
    base: u32,
    /// The version that stopped.
    version: Option<VersionRef>,
    escape: Option<Escape>,
}

impl Default for Bridge {
    fn default() -> Bridge {
        Bridge {
            values: std::ptr::null_mut(),
            room: 0,
            floor: std::ptr::null_mut(),
            top: std::ptr::null_mut(),
            limit: std::ptr::null_mut(),
            interrupt: std::ptr::null(),
            pairs: std::ptr::null(),
            pc: 0,
            base: 0,
            version: None,
            escape: None,
        }
    }
}

/// Where things are that native code reads and writes, in bytes from the beginning of what has them.
#[allow(missing_docs)]
pub struct Layout {
    pub machine_values: i32,
    pub machine_room: i32,
    pub machine_floor: i32,
    pub machine_top: i32,
    pub machine_limit: i32,
    pub machine_interrupt: i32,
    pub machine_pairs: i32,
    pub machine_pc: i32,
    pub machine_base: i32,
    pub machine_version: i32,
    pub machine_function: i32,
    pub lisp_symbols: i32,
    pub lisp_multiple: i32,
    pub symbol_size: i64,
    pub symbol_value: i64,
    pub symbol_function: i64,
    pub frame_size: i64,
    pub frame_function: i32,
    pub frame_ops: i32,
    pub frame_version: i32,
    pub frame_pc: i32,
    pub frame_base: i32,
    pub frame_registers: i32,
    pub frame_result: i32,
    /// From a reference to a closure.
    pub function_tag: i32,
    pub function_code: i32,
    pub function_captures: i32,
    /// From a reference to code.
    pub code_entry: i32,
    pub code_required: i32,
    pub code_required_at_tail: i32,
    pub code_registers: i32,
    /// From a reference to a pair.
    pub pair_size: i64,
    pub pair_car: i32,
    pub pair_cdr: i32,
    pub free_next: i32,
}

const fn machine(field: usize) -> i32 {
    (offset_of!(Machine, bridge) + field) as i32
}

/// From a reference to a field of the closure that its body is: after the tag, as `repr(u8)` says.
const fn closure(field: usize) -> i32 {
    (heap::BODY_VALUE + 8 + field) as i32
}

const fn native(field: usize) -> i32 {
    (heap::BODY_VALUE + offset_of!(Code, native) + field) as i32
}

const _: () = assert!(align_of::<Closure>() == 8 && size_of::<Frame>() == 48);

/// The places.
pub const LAYOUT: Layout = Layout {
    machine_values: machine(offset_of!(Bridge, values)),
    machine_room: machine(offset_of!(Bridge, room)),
    machine_floor: machine(offset_of!(Bridge, floor)),
    machine_top: machine(offset_of!(Bridge, top)),
    machine_limit: machine(offset_of!(Bridge, limit)),
    machine_interrupt: machine(offset_of!(Bridge, interrupt)),
    machine_pairs: machine(offset_of!(Bridge, pairs)),
    machine_pc: machine(offset_of!(Bridge, pc)),
    machine_base: machine(offset_of!(Bridge, base)),
    machine_version: machine(offset_of!(Bridge, version)),
    machine_function: offset_of!(Machine, function) as i32,
    lisp_symbols: (offset_of!(Lisp, symbols) + offset_of!(SymbolTable, start)) as i32,
    lisp_multiple: offset_of!(Lisp, multiple) as i32,
    symbol_size: size_of::<SymbolCell>() as i64,
    symbol_value: offset_of!(SymbolCell, value) as i64,
    symbol_function: offset_of!(SymbolCell, function) as i64,
    frame_size: size_of::<Frame>() as i64,
    frame_function: offset_of!(Frame, function) as i32,
    frame_ops: offset_of!(Frame, ops) as i32,
    frame_version: offset_of!(Frame, version) as i32,
    frame_pc: offset_of!(Frame, pc) as i32,
    frame_base: offset_of!(Frame, base) as i32,
    frame_registers: offset_of!(Frame, registers) as i32,
    frame_result: offset_of!(Frame, result) as i32,
    function_tag: heap::BODY_VALUE as i32,
    function_code: closure(offset_of!(Closure, code)),
    function_captures: closure(offset_of!(Closure, captures)),
    code_entry: native(offset_of!(NativeState, entry)),
    code_required: native(offset_of!(NativeState, required)),
    code_required_at_tail: native(offset_of!(NativeState, required_at_tail)),
    code_registers: native(offset_of!(NativeState, registers)),
    pair_size: (heap::BODY_VALUE + size_of::<Cons>()) as i64,
    pair_car: (heap::BODY_VALUE + Cons::CAR) as i32,
    pair_cdr: (heap::BODY_VALUE + Cons::CDR) as i32,
    free_next: heap::FREE_NEXT as i32,
};

/// Where arrays have things, in bytes from a reference to one.
#[allow(missing_docs)]
pub struct ArrayLayout {
    pub tag: i32,
    /// Of a general array: where its elements are and how many, how many axes it has, and what is
    /// not zero where it shows elements of another.
    pub data: i32,
    pub length: i32,
    pub rank: i32,
    /// Where the lengths along its axes are.
    pub axes: i32,
    pub shown: i32,
    /// Of a packed array: the box that it is in; and from there its window.
    pub packed: i32,
    pub window_length: i32,
    pub window_doubles: i32,
    pub window_data: i32,
    pub window_kind: i32,
    pub window_most: i32,
}

/// The places in arrays; none where vectors of this Rust are not three words, one of them the
/// address and one the length.
pub fn array_layout() -> Option<&'static ArrayLayout> {
    static FOUND: std::sync::LazyLock<Option<ArrayLayout>> = std::sync::LazyLock::new(find_arrays);
    FOUND.as_ref()
}

fn find_arrays() -> Option<ArrayLayout> {
    const WORD: usize = size_of::<usize>();
    let mut sample = Vec::<Value>::with_capacity(7);
    sample.extend([NIL, NIL, NIL]);
    let cell = std::cell::RefCell::new(sample);
    let start = std::ptr::from_ref(&cell) as usize;
    let vector = cell.as_ptr();
    if size_of::<Vec<Value>>() != 3 * WORD || size_of_val(&cell.borrow()[..]) != 48 {
        return None;
    }
    // SAFETY: a vector is three words here, none of which is padding.
    let words = unsafe { vector.cast::<[usize; 3]>().read() };
    let address = cell.borrow().as_ptr() as usize;
    let found = |wanted: usize| words.iter().position(|word| *word == wanted).map(|at| at * WORD);
    let (data, length) = (found(address)?, found(3)?);
    let inside = vector as usize - start;
    let shown = std::cell::RefCell::new(None::<Box<crate::object::Shown<Object>>>);
    let shown = shown.as_ptr() as usize - std::ptr::from_ref(&shown) as usize;
    let content = heap::BODY_VALUE + 8;
    let place = |offset: usize| (content + offset) as i32;
    let window = |offset: usize| (offset_of!(Packed, window) + offset) as i32;
    Some(ArrayLayout {
        tag: heap::BODY_VALUE as i32,
        data: place(offset_of!(GeneralArray, own) + inside + data),
        length: place(offset_of!(GeneralArray, own) + inside + length),
        rank: place(offset_of!(GeneralArray, dimensions) + inside + length),
        axes: place(offset_of!(GeneralArray, dimensions) + inside + data),
        shown: place(offset_of!(GeneralArray, shown) + shown),
        packed: place(0),
        window_length: window(offset_of!(Window, length)),
        window_doubles: window(offset_of!(Window, doubles)),
        window_data: window(offset_of!(Window, data)),
        window_kind: window(offset_of!(Window, kind)),
        window_most: window(offset_of!(Window, most)),
    })
}

/// What enters native code: see `Translated::gate`.
type Gate = unsafe extern "C" fn(*const u8, *mut Machine, *mut Lisp, u64, u64) -> u64;

impl Machine {
    /// Runs native code, the version that is noted, at an entry: twice the number of the
    /// instruction, and one more after a call of that very version. `None`: the bytecode goes on.
    pub(super) fn run_native(&mut self, lisp: &mut Lisp) -> Outcome<Option<Value>> {
        let Some(version) = self.version else { return Ok(None) };
        let entry = 2 * self.pc as u64 + u64::from(self.resumes);
        self.resumes = false;
        self.stacks.frames.reserve(64);
        self.publish(lisp);
        let (address, base) = (version.entry, self.base as u64);
        // SAFETY: there is a version, so the back end has made the gate, a function of this type,
        // and the version's code; it keeps both, and the Lisp keeps it. They work on this machine
        // and this Lisp, which nobody else uses meanwhile, by pointers made here.
        let status = unsafe {
            let gate = std::mem::transmute::<*const u8, Gate>(lisp.native.gate);
            gate(address, self, lisp, base, entry)
        };
        self.settle_after(lisp, status)
    }

    /// Tells native code where everything is.
    fn publish(&mut self, lisp: &Lisp) {
        let frames = &mut self.stacks.frames;
        let most = frames.capacity().min(self.frame_limit);
        let bridge = &mut self.bridge;
        bridge.values = self.stacks.values.as_mut_ptr();
        bridge.room = self.stacks.values.len();
        bridge.floor = frames.as_mut_ptr();
        bridge.top = bridge.floor.wrapping_add(frames.len());
        bridge.limit = bridge.floor.wrapping_add(most);
        bridge.interrupt = std::sync::Arc::as_ptr(&lisp.interrupt);
        bridge.pairs = heap::free_pairs();
    }

    /// Takes back what native code has changed.
    fn take_back(&mut self) {
        let length = (self.bridge.top as usize - self.bridge.floor as usize) / size_of::<Frame>();
        // SAFETY: native code has pushed whole frames, below the limit, which is no higher than
        // the capacity, or popped some and taken over what they owned.
        unsafe { self.stacks.frames.set_len(length) };
    }

    fn settle_after(&mut self, lisp: &mut Lisp, status: u64) -> Outcome<Option<Value>> {
        match status {
            status::LEFT => {
                self.take_back();
                self.base = self.bridge.base as usize;
                self.pc = self.bridge.pc as usize;
                let function = self.function.clone();
                let code = &closure_of(&function).code;
                self.registers = code.registers as usize;
                self.ops = code.ops.clone();
                self.version = None;
                if let Some(version) = self.bridge.version.take() {
                    let met = self.met(self.ops[self.pc]);
                    self.note_arrays(code);
                    lisp.note_exit(version, code, self.pc as u32, met);
                }
            }
            status::RETURNED => {
                self.take_back();
                let Some(frame) = self.stacks.frames.pop() else {
                    let at = self.bridge.base as usize;
                    return Ok(Some(std::mem::take(&mut self.stacks.values[at])));
                };
                self.reopen(frame);
            }
            status::FAILED => {
                let escape = self.bridge.escape.take();
                return Err(escape.unwrap_or_else(|| Escape::program("native code failed")));
            }
            _ => {}
        }
        Ok(None)
    }

    /// Makes a frame that waited the running one.
    pub(super) fn reopen(&mut self, frame: Frame) {
        self.pc = frame.pc as usize;
        self.base = frame.base as usize;
        self.registers = frame.registers as usize;
        self.version = frame.version;
        self.resumes = frame.version.is_some();
        self.ops = match frame.ops {
            Some(ops) => ops,
            None => closure_of(&frame.function).code.ops.clone(),
        };
        self.function = frame.function;
    }
}

/// What native code calls.
#[allow(missing_docs)]
pub struct Helpers {
    /// `(machine, lisp, version, base, pc)`: a call. A status, or where to jump.
    pub call: usize,
    /// The same arguments: an instruction that is neither call, jump nor test. A status.
    pub step: usize,
    /// The same arguments: an instruction that leaves to somewhere. A status, or where to jump, at
    /// the entry that is noted.
    pub leave: usize,
    /// The same arguments: a test; 0, 1, or `FAILED`.
    pub test: usize,
    /// `(tag, reference)`: nothing refers to the body any more.
    pub release: usize,
    /// `(array)`, a pointer to a value: opens the window of a packed array; its kind, or 0.
    pub open: usize,
    /// `(lisp, symbol, value)`, a pointer to it: binds a dynamic variable.
    pub bind: usize,
    /// `(lisp, count)`: undoes so many bindings.
    pub unbind: usize,
}

/// The addresses.
pub static HELPERS: std::sync::LazyLock<Helpers> = std::sync::LazyLock::new(|| Helpers {
    call: call as *const () as usize,
    step: step as *const () as usize,
    leave: leave as *const () as usize,
    test: test as *const () as usize,
    release: release as *const () as usize,
    open: open as *const () as usize,
    bind: bind as *const () as usize,
    unbind: unbind as *const () as usize,
});

/// The machine as the bytecode would have it before an instruction of a version.
///
/// # Safety
/// The pointers are those that native code was entered with.
unsafe fn stopped<'m>(
    machine: *mut Machine,
    lisp: *mut Lisp,
    version: VersionRef,
    base: u64,
    pc: u64,
) -> (&'m mut Machine, &'m mut Lisp, Op) {
    // SAFETY: native code calls helpers only while Rust waits for it, so that these are the only
    // references; see `run_native`.
    let (machine, lisp) = unsafe { (&mut *machine, &mut *lisp) };
    machine.take_back();
    machine.base = base as usize;
    machine.pc = pc as usize + 1;
    machine.registers = version.registers as usize;
    machine.version = Some(version);
    (machine, lisp, version.ops[pc as usize])
}

impl Machine {
    /// The helper's answer to native code.
    fn answer(&mut self, lisp: &Lisp, outcome: Outcome<u64>) -> u64 {
        if outcome.is_ok() {
            self.publish(lisp);
        }
        self.verdict(outcome)
    }

    /// The same where nothing of the machine has moved.
    fn verdict(&mut self, outcome: Outcome<u64>) -> u64 {
        outcome.unwrap_or_else(|escape| {
            self.bridge.escape = Some(escape);
            status::FAILED
        })
    }

    /// After a call was made: done, or another function runs, which has native code or not.
    fn called(&mut self, ran: bool) -> u64 {
        match self.version {
            _ if ran => status::DONE,
            Some(version) => {
                self.bridge.base = self.base as u32;
                version.entry as u64
            }
            None => status::SWITCHED,
        }
    }
}

unsafe extern "C" fn call(
    machine: *mut Machine,
    lisp: *mut Lisp,
    version: VersionRef,
    base: u64,
    pc: u64,
) -> u64 {
    // SAFETY: by the contract of helpers.
    let (machine, lisp, op) = unsafe { stopped(machine, lisp, version, base, pc) };
    if let Op::Call { base: first, count, symbol } = op
        && let Value::Function(function) = &lisp.symbols[symbol].function
        && let Function::Native(_) = &**function
    {
        let function = function.clone();
        let Function::Native(native) = &*function else { return status::DONE };
        let first = base as usize + first as usize;
        let outcome = machine.native(lisp, native, first, count as usize);
        // It had stacks of its own, if any: nothing is to be published.
        return match machine.stacks.values[first].put_result(outcome) {
            Ok(()) => status::DONE,
            Err(escape) => {
                machine.bridge.escape = Some(escape);
                status::FAILED
            }
        };
    }
    if machine.stacks.frames.len() == machine.stacks.frames.capacity() {
        machine.stacks.frames.reserve(64);
    }
    let outcome = machine.call_from_native(lisp, op).map(|ran| machine.called(ran));
    machine.answer(lisp, outcome)
}

unsafe extern "C" fn step(
    machine: *mut Machine,
    lisp: *mut Lisp,
    version: VersionRef,
    base: u64,
    pc: u64,
) -> u64 {
    // SAFETY: by the contract of helpers.
    let (machine, lisp, op) = unsafe { stopped(machine, lisp, version, base, pc) };
    let outcome = machine.step(lisp, op, base as usize).map(|()| status::DONE);
    machine.verdict(outcome)
}

/// A throw or an exit that lands in this run need not leave native code, which took longer than the
/// escape.
unsafe extern "C" fn leave(
    machine: *mut Machine,
    lisp: *mut Lisp,
    version: VersionRef,
    base: u64,
    pc: u64,
) -> u64 {
    // SAFETY: by the contract of helpers.
    let (machine, lisp, op) = unsafe { stopped(machine, lisp, version, base, pc) };
    if let Op::Throw { tag, from } = op
        && machine.throw_near(lisp, tag, from)
    {
        machine.bridge.pc = 2 * machine.pc as u32;
        machine.publish(lisp);
        return machine.called(false);
    }
    let outcome = match machine.step(lisp, op, base as usize) {
        Err(escape) if escape.only_leaves() => machine.land(lisp, escape),
        outcome => outcome,
    };
    let outcome = outcome.map(|()| {
        machine.bridge.pc = 2 * machine.pc as u32;
        machine.called(false)
    });
    machine.answer(lisp, outcome)
}

unsafe extern "C" fn test(
    machine: *mut Machine,
    lisp: *mut Lisp,
    version: VersionRef,
    base: u64,
    pc: u64,
) -> u64 {
    // SAFETY: by the contract of helpers.
    let (machine, _, op) = unsafe { stopped(machine, lisp, version, base, pc) };
    let at = |register: u16| &machine.stacks.values[base as usize + register as usize];
    let outcome = match op {
        Op::Test { comparison, a, b } => arithmetic::compare(comparison, at(a), at(b)),
        Op::TestSmall { comparison, a, value } => {
            arithmetic::compare_small(comparison, at(a), value)
        }
        Op::TestEq { a, b } | Op::TestEql { a, b } => Ok(at(a).eql(at(b))),
        Op::TestValue { question, a } => arithmetic::ask(question, at(a)),
        other => unreachable!("{other:?} is no test"),
    };
    let outcome = outcome.map(u64::from);
    machine.verdict(outcome)
}

unsafe extern "C" fn release(tag: u64, body: *mut ()) {
    use crate::machine_code::tag::{CELL, CONS, FUNCTION, STRING};
    // SAFETY: native code has taken the last reference off the count, as `Ref::drop` does.
    unsafe {
        match tag as u8 {
            CONS => Ref::<Cons>::release_at(body),
            FUNCTION => Ref::<Function>::release_at(body),
            STRING => Ref::<crate::object::Text>::release_at(body),
            CELL => Ref::<heap::Slot>::release_at(body),
            _ => Ref::<crate::object::Object>::release_at(body),
        }
    }
}

unsafe extern "C" fn open(array: &Value) -> u64 {
    array.as_packed().and_then(Packed::open).unwrap_or(0)
}

unsafe extern "C" fn bind(lisp: &mut Lisp, symbol: Symbol, value: &Value) -> u64 {
    lisp.bind(symbol, value.clone());
    status::DONE
}

unsafe extern "C" fn unbind(lisp: &mut Lisp, count: u64) -> u64 {
    lisp.unbind_to(lisp.bindings.len() - count as usize);
    status::DONE
}

impl Stacks {
    /// Lets go of registers that a frame about to open does not expect to hold anything.
    pub(super) fn clear(&mut self, from: usize, to: usize) {
        self.values[from..to.max(from)].iter_mut().for_each(Value::release);
    }
}
