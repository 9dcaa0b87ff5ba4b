//! The core forms: the one small language between the expander and every back end (bytecode
//! now; native code, `.wasm` and `.class` later).
//!
//! Names are resolved: a lexical variable is a number into the `Unit`, which also knows whether
//! it is captured by a closure and whether it is assigned. Macros, symbol macros, declarations
//! and lambda-list keywords are gone. Who makes core forms: `expand`; who reads them: `compile`.

use crate::source::Span;
use crate::symbol::Symbol;
use crate::value::Value;

/// A lexical variable, by number in its unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Variable(pub u32);

/// A block or a tagbody, by number in its unit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ExitId(pub u32);

/// What is known of a lexical variable.
#[derive(Clone, Debug)]
pub struct VariableFacts {
    /// Its name, for messages.
    pub name: Symbol,
    /// The lambda that binds it.
    pub lambda: u32,
    /// A closure inside uses it.
    pub captured: bool,
    /// It is assigned after it is bound.
    pub assigned: bool,
    /// Its value is used.
    pub used: bool,
}

/// What is known of a block or tagbody.
#[derive(Clone, Debug)]
pub struct ExitFacts {
    /// The lambda it stands in.
    pub lambda: u32,
    /// How many clean-ups and value lots are open around it, inside that lambda.
    pub protection: u32,
    /// Somebody leaves to it.
    pub used: bool,
    /// Somebody leaves to it from a closure or through a clean-up, so that it needs a number at
    /// run time.
    pub escaping: bool,
    /// Holds that number.
    pub variable: Variable,
}

/// One form as compiled: its core form and the facts about its variables and exits.
#[derive(Default)]
pub struct Unit {
    /// By `Variable`.
    pub variables: Vec<VariableFacts>,
    /// By `ExitId`.
    pub exits: Vec<ExitFacts>,
    /// How many lambdas there are.
    pub lambdas: u32,
}

/// The function of a call.
pub enum Target {
    /// The global function of a symbol.
    Global(Symbol),
    /// The function of `(setf SYMBOL)`.
    Setf(Symbol),
    /// A value.
    Value(Core),
}

/// A call.
pub struct Call {
    /// What is called.
    pub target: Target,
    /// Evaluated left to right.
    pub arguments: Vec<Core>,
    /// The form.
    pub span: Option<Span>,
}

/// An optional or keyword parameter.
pub struct Optional {
    /// The variable.
    pub variable: Variable,
    /// Its value when no argument is given.
    pub default: Core,
    /// Whether an argument was given.
    pub supplied: Option<Variable>,
}

/// A function.
pub struct Lambda {
    /// Its number in the unit.
    pub id: u32,
    /// What prints: a symbol, `(setf f)`, `(flet f)`, or nil.
    pub name: Value,
    /// Required parameters.
    pub required: Vec<Variable>,
    /// Optional parameters.
    pub optional: Vec<Optional>,
    /// The `&rest` parameter.
    pub rest: Option<Variable>,
    /// Whether there is a `&key`.
    pub keyed: bool,
    /// Keyword parameters.
    pub keys: Vec<(Symbol, Optional)>,
    /// `&allow-other-keys`.
    pub allow_other_keys: bool,
    /// The body; `&aux` and special parameters are part of it.
    pub body: Core,
    /// The lambda list as written.
    pub lambda_list: Value,
    /// The documentation string, or nil.
    pub documentation: Value,
}

/// A part of a tagbody.
pub enum Statement {
    /// A place to go to, by number in the tagbody.
    Label(u32),
    /// A form.
    Form(Core),
}

/// A core form.
pub enum Core {
    /// A value.
    Constant(Value),
    /// A lexical variable.
    Local(Variable),
    /// Assigns a lexical variable.
    SetLocal(Variable, Box<Core>),
    /// A dynamic variable.
    Global(Symbol),
    /// Assigns a dynamic variable.
    SetGlobal(Symbol, Box<Core>),
    /// The global function of a symbol; with `true`, of `(setf SYMBOL)`.
    GlobalFunction(Symbol, bool),
    /// A call.
    Call(Box<Call>),
    /// Test, then, else.
    If(Box<[Core; 3]>),
    /// One after another; the values of the last.
    Progn(Vec<Core>),
    /// Binds variables, evaluated left to right before any is bound.
    Let(Vec<(Variable, Core)>, Box<Core>),
    /// Binds variables to functions that see each other.
    Labels(Vec<(Variable, Lambda)>, Box<Core>),
    /// Binds variables to the values of a form, nil where there are too few.
    ValuesLet(Vec<Variable>, Box<[Core; 2]>),
    /// A function.
    Closure(Box<Lambda>),
    /// A form that `ReturnFrom` may end early.
    Block(ExitId, Box<Core>),
    /// Ends a block.
    ReturnFrom(ExitId, Box<Core>),
    /// Forms with places to go to.
    Tagbody(ExitId, Vec<Statement>),
    /// Goes to a place, by number.
    Go(ExitId, u32),
    /// Binds dynamic variables.
    DynamicLet(Vec<(Symbol, Core)>, Box<Core>),
    /// Tag and body.
    Catch(Box<[Core; 2]>),
    /// Tag and values, and the form.
    Throw(Box<[Core; 2]>, Option<Span>),
    /// Body and clean-up.
    UnwindProtect(Box<[Core; 2]>),
    /// The function, and forms all of whose values are its arguments.
    MultipleValueCall(Box<Core>, Vec<Core>),
    /// The values of the first after the second has run.
    MultipleValueProg1(Box<[Core; 2]>),
}

impl Core {
    /// The constant nil.
    pub const NIL: Core = Core::Constant(Value::Nil);

    /// Whether it is the constant nil.
    pub fn is_nil(&self) -> bool {
        matches!(self, Core::Constant(Value::Nil))
    }
}
