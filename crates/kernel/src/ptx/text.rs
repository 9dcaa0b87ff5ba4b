//! The text of a kernel's body as it grows: typed virtual registers, instructions, labels. Knows
//! PTX's notation and nothing of kernels.

use std::fmt::{self, Write};

/// What a virtual register holds. Halves and 16-bit integers share `B16`; integers have no sign here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Predicate,
    B16,
    B32,
    B64,
    F32,
    F64,
}

impl Class {
    const ALL: [Class; 6] =
        [Class::Predicate, Class::B16, Class::B32, Class::B64, Class::F32, Class::F64];

    /// The declared type and the letter of its registers.
    fn declaration(self) -> (&'static str, &'static str) {
        match self {
            Class::Predicate => ("pred", "p"),
            Class::B16 => ("b16", "h"),
            Class::B32 => ("b32", "r"),
            Class::B64 => ("b64", "d"),
            Class::F32 => ("f32", "f"),
            Class::F64 => ("f64", "g"),
        }
    }

    /// The type of a move of its bits.
    pub(super) fn bits(self) -> &'static str {
        match self {
            Class::Predicate => "pred",
            Class::B16 => "b16",
            Class::B32 | Class::F32 => "b32",
            Class::B64 | Class::F64 => "b64",
        }
    }
}

/// A virtual register or a constant's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Register(Class, u32),
    Constant(Class, u64),
}

impl Operand {
    pub(super) fn word(value: u32) -> Operand {
        Operand::Constant(Class::B32, value.into())
    }

    pub(super) fn class(self) -> Class {
        match self {
            Operand::Register(class, _) | Operand::Constant(class, _) => class,
        }
    }

    pub(super) fn constant(self) -> Option<u64> {
        match self {
            Operand::Constant(_, bits) => Some(bits),
            Operand::Register(..) => None,
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Operand::Register(class, number) => write!(f, "%{}{number}", class.declaration().1),
            Operand::Constant(Class::F32, bits) => write!(f, "0f{bits:08X}"),
            Operand::Constant(Class::F64, bits) => write!(f, "0d{bits:016X}"),
            // Hexadecimal where a sign bit would make a decimal ambiguous.
            Operand::Constant(_, bits) if bits > 0xffff => write!(f, "{bits:#x}"),
            Operand::Constant(_, bits) => write!(f, "{bits}"),
        }
    }
}

/// A place in the text that branches go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Label(u32);

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "$L{}", self.0)
    }
}

#[derive(Default)]
pub(super) struct Text {
    lines: String,
    registers: [u32; Class::ALL.len()],
    labels: u32,
}

impl Text {
    pub(super) fn register(&mut self, class: Class) -> Operand {
        let count = &mut self.registers[class as usize];
        *count += 1;
        Operand::Register(class, *count - 1)
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    pub(super) fn place(&mut self, label: Label) {
        let _ = writeln!(self.lines, "{label}:");
    }

    /// One instruction, without its semicolon.
    pub(super) fn line(&mut self, instruction: impl fmt::Display) {
        let _ = writeln!(self.lines, "    {instruction};");
    }

    /// A new register that an instruction makes of its sources.
    pub(super) fn make(&mut self, class: Class, opcode: &str, sources: &[Operand]) -> Operand {
        let result = self.register(class);
        self.set(result, opcode, sources);
        result
    }

    /// An instruction with its result and sources.
    pub(super) fn set(&mut self, result: Operand, opcode: &str, sources: &[Operand]) {
        let sources: Vec<Operand> = sources.iter().map(|s| self.plain(*s)).collect();
        let _ = write!(self.lines, "    {opcode} {result}");
        for source in sources {
            let _ = write!(self.lines, ", {source}");
        }
        self.lines.push_str(";\n");
    }

    /// The operand in a register.
    pub(super) fn held(&mut self, operand: Operand) -> Operand {
        let Operand::Constant(class, _) = operand else { return operand };
        let register = self.register(class);
        self.assign(register, operand);
        register
    }

    /// The operand, in a register where an instruction takes no constant of its class.
    fn plain(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Constant(Class::Predicate | Class::B16, _) => self.held(operand),
            operand => operand,
        }
    }

    /// The operand in a register of its own, which later writes to its variable do not change.
    pub(super) fn copied(&mut self, operand: Operand) -> Operand {
        if operand.constant().is_some() {
            return operand;
        }
        let register = self.register(operand.class());
        self.assign(register, operand);
        register
    }

    /// Moves a value of the same class into a register.
    pub(super) fn assign(&mut self, register: Operand, value: Operand) {
        match value {
            Operand::Constant(Class::Predicate, truth) => {
                let relation = if truth != 0 { "eq" } else { "ne" };
                self.line(format_args!("setp.{relation}.u32 {register}, 0, 0"));
            }
            value => self.line(format_args!("mov.{} {register}, {value}", register.class().bits())),
        }
    }

    /// The same bits in a register of another class of the same width.
    pub(super) fn reinterpreted(&mut self, value: Operand, class: Class) -> Operand {
        match value {
            Operand::Constant(_, bits) => Operand::Constant(class, bits),
            value if value.class() == class => value,
            value => self.make(class, &format!("mov.{}", class.bits()), &[value]),
        }
    }

    /// A branch that is taken where a predicate holds, or does not.
    pub(super) fn branch_where(&mut self, predicate: Operand, holds: bool, to: Label) {
        match predicate {
            Operand::Constant(_, truth) if (truth != 0) == holds => self.branch(to),
            Operand::Constant(..) => {}
            predicate => {
                let not = if holds { "" } else { "!" };
                self.line(format_args!("@{not}{predicate} bra {to}"));
            }
        }
    }

    pub(super) fn branch(&mut self, to: Label) {
        self.line(format_args!("bra {to}"));
    }

    /// The declarations of all registers, then the instructions.
    pub(super) fn finish(self) -> String {
        let mut text = String::new();
        for class in Class::ALL {
            let (name, letter) = class.declaration();
            let count = self.registers[class as usize];
            if count > 0 {
                let _ = writeln!(text, "    .reg .{name} %{letter}<{count}>;");
            }
        }
        text.push_str(&self.lines);
        text
    }
}
