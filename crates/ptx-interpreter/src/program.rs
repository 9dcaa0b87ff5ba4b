//! The text as instructions: registers and labels by number, names by address.
//!
//! Addresses tell where they belong: a buffer's begin at its number plus one times 2^40, a table's at
//! 2^20 more buffers, a shared variable's at its number times 2^20. So what leaves one variable
//! reaches no other.

use crate::instruction::{Names, bracketed, fault, instruction, integer};
use crate::matrix::{Kind, Order};
use crate::opcodes::Pure;
use crate::{Fault, Outcome};

/// Bytes of address space of a buffer or table.
pub(crate) const BUFFER_BITS: u32 = 40;
/// The number of the first table among the buffers.
pub(crate) const FIRST_TABLE: u64 = 1 << 20;
/// Bytes of address space of a shared variable.
pub(crate) const SHARED_BITS: u32 = 20;
/// Registers of a type and bytes of a variable that a text may ask for.
const MOST: usize = 1 << SHARED_BITS;
/// Invocations that a group has at most.
const GROUP: u64 = 1024;

/// A kernel that can be launched.
pub struct Program {
    pub(crate) code: Vec<Instruction>,
    pub(crate) registers: usize,
    /// Bytes of each shared variable, and of the local memory of an invocation.
    pub(crate) shared: Vec<usize>,
    pub(crate) local: usize,
    /// The bytes of each table.
    pub(crate) tables: Vec<Vec<u8>>,
    pub(crate) group: [u32; 3],
    /// How many parameters there are before the words: two for each buffer.
    pub(crate) arguments: usize,
    pub(crate) lines: Vec<String>,
}

pub(crate) struct Instruction {
    /// A predicate's register, and the truth that makes it run.
    pub(crate) guard: Option<(usize, bool)>,
    pub(crate) operation: Operation,
    pub(crate) line: usize,
    /// Floating-point operations of a lane.
    pub(crate) flops: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Shared,
    Local,
    Parameter,
}

/// A register's number or a constant's bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Register(usize),
    Constant(u64),
}

/// The base of an address, what is added, and whether sums are of 32 bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) space: Space,
    pub(crate) base: Source,
    pub(crate) distance: i64,
}

pub(crate) enum Operation {
    /// A value of up to four sources.
    Pure {
        compute: Pure,
        to: usize,
        from: Vec<Source>,
    },
    /// A value that depends on the invocation.
    Special {
        which: Special,
        to: usize,
    },
    Load {
        at: Address,
        bytes: usize,
        to: Vec<usize>,
        atomic: bool,
    },
    Store {
        at: Address,
        bytes: usize,
        from: Vec<Source>,
        atomic: bool,
    },
    /// The new value from the old one and the sources.
    Atomic {
        at: Address,
        bytes: usize,
        compute: Pure,
        to: usize,
        from: Vec<Source>,
    },
    /// The value, the lane or distance, the bounds of segments, and which lanes take part.
    Shuffle {
        how: Shuffle,
        to: usize,
        there: Option<usize>,
        from: [Source; 4],
    },
    /// The truth, and which lanes take part.
    Vote {
        how: Vote,
        to: usize,
        from: [Source; 2],
    },
    /// A product of matrices in the registers of a warp: a, b and what it is added to.
    Matrix {
        kind: Kind,
        to: Vec<usize>,
        from: Vec<Source>,
    },
    Split {
        to: [usize; 2],
        from: Source,
    },
    Join {
        to: usize,
        from: [Source; 2],
    },
    Branch(usize),
    Barrier,
    Nothing,
    Return,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Special {
    Thread(usize),
    Group(usize),
    Groups(usize),
    Lane,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Shuffle {
    Index,
    Up,
    Down,
    Butterfly,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Vote {
    All,
    Any,
    Ballot,
}

impl Program {
    /// How many buffers a launch passes.
    pub fn buffers(&self) -> usize {
        self.arguments / 2
    }

    /// Invocations of a group along each axis.
    pub fn group(&self) -> [u32; 3] {
        self.group
    }

    /// The same for tensor cores that add products of doubles in this order.
    pub fn adding(mut self, order: Order) -> Program {
        for instruction in &mut self.code {
            if let Operation::Matrix { kind: Kind::Doubles(known), .. } = &mut instruction.operation
            {
                *known = order;
            }
        }
        self
    }

    /// Reads a text with one entry point.
    pub fn parse(text: &str) -> Result<Program, Fault> {
        let mut names = Names::default();
        let mut program = Program {
            code: Vec::new(),
            registers: 0,
            shared: Vec::new(),
            local: 0,
            tables: Vec::new(),
            group: [1; 3],
            arguments: 0,
            lines: text.lines().map(|line| line.trim().to_string()).collect(),
        };
        let mut instructions = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split("//").next().unwrap_or("").trim();
            if let Some(label) = line.strip_suffix(':') {
                names.labels.insert(label.to_string(), instructions.len());
            } else if line.starts_with('.') {
                let read = program.directive(line, &mut names);
                read.map_err(|e| Fault(format!("{}: {line}", e.0)))?;
            } else if let Some(instruction) = line.strip_suffix(';') {
                instructions.push((number, instruction.to_string()));
            }
        }
        program.registers = names.registers.len();
        for (line, text) in instructions {
            let instruction = instruction(&text, line, &names);
            program.code.push(instruction.map_err(|e| Fault(format!("{}: {text}", e.0)))?);
        }
        Ok(program)
    }

    /// One line that declares something; what only an assembler asks for is passed over.
    fn directive(&mut self, line: &str, names: &mut Names) -> Outcome<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [".reg", _, name, ..] => self.registers(name, names),
            [".local" | ".shared", ".align", _, _, name, ..] => {
                self.variable(words[0], name, names)
            }
            [".global", ".align", _, kind, name, ..] => self.table(line, kind, name, names),
            [".param", ".u64", name, ..] => {
                let name = name.trim_end_matches(',').to_string();
                names.addresses.insert(name, (Space::Parameter, 8 * self.arguments as u64));
                self.arguments += 1;
                Ok(())
            }
            [".param", ".align", _, _, name, ..] => {
                let (name, _) = bracketed(name, '[', ']')?;
                let at = (8 * self.arguments as u64).next_multiple_of(16);
                names.addresses.insert(name, (Space::Parameter, at));
                Ok(())
            }
            [".maxntid", ref extents @ ..] => self.extents(extents),
            [".version" | ".target" | ".address_size" | ".visible", ..] => Ok(()),
            _ => Err(Fault("no such directive".into())),
        }
    }

    fn registers(&mut self, name: &str, names: &mut Names) -> Outcome<()> {
        let (name, count) = within(bracketed(name, '<', '>')?)?;
        for i in 0..count {
            let next = names.registers.len();
            names.registers.insert(format!("{name}{i}"), next);
        }
        Ok(())
    }

    /// A variable of local or shared memory.
    fn variable(&mut self, space: &str, name: &str, names: &mut Names) -> Outcome<()> {
        let (name, bytes) = within(bracketed(name, '[', ']')?)?;
        let place = if space == ".local" {
            self.local = bytes;
            (Space::Local, 0)
        } else {
            self.shared.push(bytes);
            (Space::Shared, ((self.shared.len() - 1) as u64) << SHARED_BITS)
        };
        names.addresses.insert(name, place);
        Ok(())
    }

    fn table(&mut self, line: &str, kind: &str, name: &str, names: &mut Names) -> Outcome<()> {
        let width = match kind {
            ".b8" => 1,
            ".b16" => 2,
            ".b32" => 4,
            ".b64" => 8,
            _ => return Err(Fault(format!("no table of {kind}"))),
        };
        let (name, _) = bracketed(name, '[', ']')?;
        let list = line.split_once('{').and_then(|(_, l)| l.split_once('}'));
        let list = list.ok_or_else(|| Fault("a table without entries".into()))?.0;
        let mut bytes = Vec::new();
        for entry in list.split(',') {
            bytes.extend(&integer(entry.trim())?.to_le_bytes()[..width]);
        }
        let at = (FIRST_TABLE + self.tables.len() as u64) << BUFFER_BITS;
        names.addresses.insert(name, (Space::Global, at));
        self.tables.push(bytes);
        Ok(())
    }

    fn extents(&mut self, words: &[&str]) -> Outcome<()> {
        for (extent, word) in self.group.iter_mut().zip(words) {
            *extent = word.trim_end_matches(',').parse().map_err(fault)?;
        }
        let all =
            self.group.iter().try_fold(1u64, |all, extent| all.checked_mul(u64::from(*extent)));
        match all {
            Some(1..=GROUP) => Ok(()),
            _ => Err(Fault(format!("a group of 1 to {GROUP} invocations is wanted"))),
        }
    }
}

/// A name with its count, which must be one that a text may ask for.
fn within((name, count): (String, usize)) -> Outcome<(String, usize)> {
    match count {
        0..=MOST => Ok((name, count)),
        _ => Err(Fault(format!("{count} is more than {MOST}"))),
    }
}
