//! What the compiler makes and the machine runs: instructions, code objects, functions.
//!
//! A frame is a window of registers; a local variable and a temporary are both registers. An
//! instruction is 8 bytes. The arguments of a call lie in consecutive registers, which become
//! the callee's first ones; its result comes back in the first of them. How each instruction is
//! made is in `compile`, what it does in `machine`.

use std::rc::Rc;

use smallvec::SmallVec;

use crate::generic::GenericFunction;
use crate::heap::{Children, Edge, Pool, Ref};
use crate::machine_code::NativeState;
use crate::native::NativeFunction;
use crate::source::Span;
use crate::symbol::Symbol;
use crate::value::Value;

/// A register of the running frame.
pub type Register = u16;

/// Stands for the running function in `Sibling`.
pub const RUNNING: Register = Register::MAX;

/// How two numbers are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `<`
    Less,
    /// `>`
    Greater,
    /// `<=`
    LessEqual,
    /// `>=`
    GreaterEqual,
    /// `=`
    Equal,
    /// `/=`
    NotEqual,
}

/// The question that a test asks about one value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// `consp`
    Cons,
    /// `atom`
    Atom,
    /// `zerop`
    Zero,
}

/// One instruction. `to` is where the result goes. A test skips the next instruction, which is
/// a `Jump`, when it holds.
#[derive(Clone, Copy, Debug)]
pub enum Op {
    Move {
        to: Register,
        from: Register,
    },
    /// As `Move`, and `from` holds nothing afterwards.
    Take {
        to: Register,
        from: Register,
    },
    Constant {
        to: Register,
        index: u32,
    },
    Fixnum {
        to: Register,
        value: i32,
    },
    Nil {
        to: Register,
    },
    True {
        to: Register,
    },
    Unbound {
        to: Register,
    },
    Clear {
        at: Register,
    },
    Captured {
        to: Register,
        index: Register,
    },
    MakeCell {
        at: Register,
    },
    ReadCell {
        to: Register,
        cell: Register,
    },
    WriteCell {
        cell: Register,
        from: Register,
    },
    ReadCapturedCell {
        to: Register,
        index: Register,
    },
    WriteCapturedCell {
        index: Register,
        from: Register,
    },
    Global {
        to: Register,
        symbol: Symbol,
    },
    SetGlobal {
        from: Register,
        symbol: Symbol,
    },
    FunctionOf {
        to: Register,
        symbol: Symbol,
    },
    SetfFunctionOf {
        to: Register,
        symbol: Symbol,
    },
    /// The running function itself.
    Myself {
        to: Register,
    },
    /// A function of the same `labels` as the function in `of` (`RUNNING`: as the running one),
    /// sharing what that one captured.
    Sibling {
        to: Register,
        of: Register,
        index: u16,
    },
    Closure {
        to: Register,
        index: u32,
    },
    Jump {
        target: u32,
    },
    /// A jump backwards: looks for Ctrl-C.
    Loop {
        target: u32,
    },
    JumpIfNil {
        at: Register,
        target: u32,
    },
    JumpIfTrue {
        at: Register,
        target: u32,
    },
    JumpIfBound {
        at: Register,
        target: u32,
    },
    Call {
        base: Register,
        count: u8,
        symbol: Symbol,
    },
    TailCall {
        base: Register,
        count: u8,
        symbol: Symbol,
    },
    /// The function is in `base`, the arguments follow.
    CallValue {
        base: Register,
        count: u16,
    },
    TailCallValue {
        base: Register,
        count: u16,
    },
    /// One value.
    Return {
        from: Register,
    },
    /// The first value is in `from`, the others where the last call left them.
    ReturnValues {
        from: Register,
    },
    Test {
        comparison: Comparison,
        a: Register,
        b: Register,
    },
    TestSmall {
        comparison: Comparison,
        a: Register,
        value: i16,
    },
    TestEq {
        a: Register,
        b: Register,
    },
    TestEql {
        a: Register,
        b: Register,
    },
    TestValue {
        question: Question,
        a: Register,
    },
    Add {
        to: Register,
        a: Register,
        b: Register,
    },
    Subtract {
        to: Register,
        a: Register,
        b: Register,
    },
    Multiply {
        to: Register,
        a: Register,
        b: Register,
    },
    Divide {
        to: Register,
        a: Register,
        b: Register,
    },
    AddSmall {
        to: Register,
        a: Register,
        value: i16,
    },
    Car {
        to: Register,
        a: Register,
    },
    Cdr {
        to: Register,
        a: Register,
    },
    Cons {
        to: Register,
        a: Register,
        b: Register,
    },
    Aref {
        to: Register,
        array: Register,
        index: Register,
    },
    SetAref {
        array: Register,
        index: Register,
        from: Register,
    },
    /// The element of an array with two axes at the row in `first` and the column after it.
    ArefPlane {
        to: Register,
        array: Register,
        first: Register,
    },
    SetCar {
        pair: Register,
        from: Register,
    },
    SetCdr {
        pair: Register,
        from: Register,
    },
    /// The values of the call before, the first of them in `from`, are one.
    Single,
    /// Opens an exit for `return-from` and `go` out of closures; its number goes to `at`.
    OpenExit {
        at: Register,
        index: u32,
    },
    /// Opens a `catch` with the tag in `at`; its values arrive there.
    OpenCatch {
        at: Register,
        target: u32,
    },
    OpenCleanup {
        target: u32,
    },
    /// Closes the innermost exit, catch or clean-up.
    Close,
    /// The protected form has ended as usual, its values as after a call, the first in `from`.
    BeginCleanup {
        from: Register,
    },
    /// Goes on with what began the clean-up; the values come back, the first in `to`.
    EndCleanup {
        to: Register,
    },
    /// Leaves to the exit whose number is in `exit`, with the values as after a call.
    Leave {
        exit: Register,
        from: Register,
        label: u16,
    },
    Throw {
        tag: Register,
        from: Register,
    },
    Bind {
        from: Register,
        symbol: Symbol,
    },
    Unbind {
        count: u32,
    },
    /// Puts the values, the first of them in `from`, onto the value stack...
    SaveValues {
        from: Register,
    },
    /// ... and takes the last such lot off it again.
    RestoreValues {
        to: Register,
    },
    /// Calls the function in `base` on all values saved by the last `count` `SaveValues`.
    CallSaved {
        base: Register,
        count: u16,
    },
    /// Spreads the values, the first in `from`, over `count` registers from `to` on.
    Spread {
        from: Register,
        to: Register,
        count: u16,
    },
}

const _: () = assert!(size_of::<Op>() == 8);

/// The shape of a lambda list. Registers in order: required, optional, rest, keys; arguments
/// that were not given are `Unbound` there.
#[derive(Clone, Default, Debug)]
pub struct Parameters {
    /// How many required ones.
    pub required: u16,
    /// How many optional ones.
    pub optional: u16,
    /// Whether there is a `&rest`.
    pub rest: bool,
    /// Whether there is a `&key`, even one without names.
    pub keyed: bool,
    /// The keywords.
    pub keys: Vec<Symbol>,
    /// `&allow-other-keys`.
    pub allow_other_keys: bool,
}

impl Parameters {
    /// How many registers they take.
    pub fn count(&self) -> usize {
        let positional = self.required as usize + self.optional as usize;
        positional + usize::from(self.rest) + self.keys.len()
    }

    /// Whether only required ones exist.
    pub fn is_simple(&self) -> bool {
        self.optional == 0 && !self.rest && !self.keyed
    }
}

/// Where a closure finds a value that it captures, in the frame that makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capture {
    /// A register (for an assigned variable, the one that holds its cell).
    Register(Register),
    /// A value that the maker has captured itself.
    Captured(Register),
    /// The maker itself.
    Myself,
    /// A function of the maker's `labels`.
    Sibling(u16),
}

/// What a `Closure` or `Sibling` instruction makes.
pub struct Template {
    /// The code.
    pub code: Ref<Code>,
    /// What is captured, in order.
    pub captures: Vec<Capture>,
    /// The code of all functions of the `labels`, this one's first.
    pub siblings: Option<Rc<[Ref<Code>]>>,
}

/// Compiled code of one function.
pub struct Code {
    /// The function's name as its definition gives it: a symbol, a list, or nil.
    pub name: Value,
    /// The instructions.
    pub ops: Rc<[Op]>,
    /// How the arguments arrive.
    pub parameters: Parameters,
    /// `Some(n)`: exactly n arguments, nothing to arrange.
    pub simple: Option<u16>,
    /// How many registers a frame has.
    pub registers: u16,
    /// Constants.
    pub constants: Vec<Value>,
    /// Functions made inside.
    pub templates: Vec<Template>,
    /// The label tables of exits.
    pub exits: Vec<Exit>,
    /// From which instruction on which form runs; ascending.
    pub lines: Vec<(u32, Span)>,
    /// The variables, for the debugger.
    pub locals: Vec<Local>,
    /// The lambda list as it was written, for `describe`.
    pub lambda_list: Value,
    /// The documentation string, or nil.
    pub documentation: Value,
    /// Its native code, once it is hot.
    pub native: NativeState,
}

/// A variable and the register that holds it, or its cell, while some instructions run.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: crate::symbol::Symbol,
    /// Where it is.
    pub register: Register,
    /// The first instruction for which it is there.
    pub from: u32,
    /// One after the last.
    pub to: u32,
}

/// Where an exit that closures can take leads.
#[derive(Clone, Debug)]
pub struct Exit {
    /// The instruction of each label; a block has one.
    pub labels: Vec<u32>,
    /// Where a block's values go.
    pub to: Register,
    /// A tagbody's exit stays open when somebody goes to one of its labels.
    pub stays: bool,
}

impl Code {
    /// The form that instruction `pc` belongs to.
    pub fn span(&self, pc: usize) -> Option<Span> {
        let after = self.lines.partition_point(|(start, _)| *start as usize <= pc);
        after.checked_sub(1).map(|line| self.lines[line].1)
    }
}

impl Children for Code {
    const POOL: Pool = Pool::Code;

    fn children(&self, visit: &mut dyn FnMut(&Value)) {
        self.constants.iter().for_each(&mut *visit);
        [&self.name, &self.lambda_list, &self.documentation].into_iter().for_each(visit);
    }

    /// Not the siblings: several templates share their list, which counts once.
    fn bodies(&self, visit: &mut dyn FnMut(Edge)) {
        self.templates.iter().for_each(|template| visit(template.code.edge()));
    }
}

/// The values that a closure captured. Functions of one `labels` share them.
#[derive(Default)]
pub struct Captures {
    /// The values.
    pub values: SmallVec<[Value; 2]>,
    /// The code of the functions that share them, when made by `labels`. That these are codes
    /// and not functions keeps recursive local functions free of cycles.
    pub siblings: Option<Rc<[Ref<Code>]>>,
}

impl Children for Captures {
    const POOL: Pool = Pool::Captures;

    fn children(&self, visit: &mut dyn FnMut(&Value)) {
        self.values.iter().for_each(visit);
    }
}

/// A compiled function with what it captured.
pub struct Closure {
    /// The code.
    pub code: Ref<Code>,
    /// The captured values.
    pub captures: Ref<Captures>,
}

/// A function.
#[repr(u8)]
pub enum Function {
    /// Compiled from Lisp.
    Closure(Closure),
    /// Written in Rust.
    Native(NativeFunction),
    /// Runs the method that fits the arguments.
    Generic(Box<GenericFunction>),
}

impl Children for Function {
    const POOL: Pool = Pool::Function;

    fn children(&self, _visit: &mut dyn FnMut(&Value)) {}

    fn bodies(&self, visit: &mut dyn FnMut(Edge)) {
        if let Function::Closure(closure) = self {
            visit(closure.captures.edge());
            visit(closure.code.edge());
        }
    }
}

impl Value {
    /// The function this is.
    pub fn as_function(&self) -> Option<&Ref<Function>> {
        if let Value::Function(function) = self { Some(function) } else { None }
    }
}
