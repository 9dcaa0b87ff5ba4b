//! The text as instructions: registers and labels by number, names by address.
//!
//! Addresses tell where they belong: a buffer's begin at its number plus one times 2^40, a table's at
//! 2^20 more buffers, a shared variable's at its number times 2^20. So what leaves one variable
//! reaches no other.

use crate::matrix::{Kind, Order};
use crate::opcodes::{self, Pure};
use crate::{Fault, Outcome};
use std::collections::HashMap;

/// Bytes of address space of a buffer or table.
pub(crate) const BUFFER_BITS: u32 = 40;
/// The number of the first table among the buffers.
pub(crate) const FIRST_TABLE: u64 = 1 << 20;
/// Bytes of address space of a shared variable.
pub(crate) const SHARED_BITS: u32 = 20;

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
    Shuffle {
        how: Shuffle,
        to: usize,
        there: Option<usize>,
        from: [Source; 3],
    },
    Vote {
        how: Vote,
        to: usize,
        from: Source,
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

/// Names while a text is read.
#[derive(Default)]
struct Names {
    registers: HashMap<String, usize>,
    labels: HashMap<String, usize>,
    addresses: HashMap<String, (Space, u64)>,
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
                program.directive(line, &mut names)?;
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

    fn table(&mut self, line: &str, words: &[&str], names: &mut Names) -> Outcome<()> {
        let width: usize = words[3].trim_start_matches(".b").parse().map_err(fault)?;
        let (name, _) = bracketed(words[4], '[', ']')?;
        let list = line.split_once('{').and_then(|(_, l)| l.split_once('}'));
        let list = list.ok_or_else(|| Fault("a table without entries".into()))?.0;
        let mut bytes = Vec::new();
        for entry in list.split(',') {
            bytes.extend(&integer(entry.trim())?.to_le_bytes()[..width / 8]);
        }
        let at = (FIRST_TABLE + self.tables.len() as u64) << BUFFER_BITS;
        names.addresses.insert(name, (Space::Global, at));
        self.tables.push(bytes);
        Ok(())
    }

    fn directive(&mut self, line: &str, names: &mut Names) -> Outcome<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[0] {
            ".reg" => {
                let (name, count) = bracketed(words[2], '<', '>')?;
                for i in 0..count {
                    let next = names.registers.len();
                    names.registers.insert(format!("{name}{i}"), next);
                }
            }
            ".shared" | ".local" => {
                let (name, bytes) = bracketed(words[4], '[', ']')?;
                let place = if words[0] == ".local" {
                    self.local = bytes;
                    (Space::Local, 0)
                } else {
                    self.shared.push(bytes);
                    (Space::Shared, ((self.shared.len() - 1) as u64) << SHARED_BITS)
                };
                names.addresses.insert(name, place);
            }
            ".global" => self.table(line, &words, names)?,
            ".param" if words[1] == ".u64" => {
                let name = words[2].trim_end_matches(',').to_string();
                names.addresses.insert(name, (Space::Parameter, 8 * self.arguments as u64));
                self.arguments += 1;
            }
            ".param" => {
                let (name, _) = bracketed(words[4], '[', ']')?;
                let at = (8 * self.arguments as u64).next_multiple_of(16);
                names.addresses.insert(name, (Space::Parameter, at));
            }
            ".maxntid" => {
                for (extent, word) in self.group.iter_mut().zip(&words[1..]) {
                    *extent = word.trim_end_matches(',').parse().map_err(fault)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn fault(e: impl std::fmt::Display) -> Fault {
    Fault(e.to_string())
}

/// `%r<12>;` or `name[256];` as name and count.
fn bracketed(word: &str, open: char, close: char) -> Outcome<(String, usize)> {
    let parts = word.split_once(open).and_then(|(name, rest)| {
        let count = rest.split(close).next()?.parse().ok()?;
        Some((name.to_string(), count))
    });
    parts.ok_or_else(|| Fault(format!("no name and count in {word}")))
}

fn integer(text: &str) -> Outcome<u64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16),
        None => digits.parse(),
    };
    let value = value.map_err(|_| Fault(format!("no number: {text}")))?;
    Ok(if negative { value.wrapping_neg() } else { value })
}

impl Names {
    fn register(&self, name: &str) -> Outcome<usize> {
        self.registers.get(name).copied().ok_or_else(|| Fault(format!("no register {name}")))
    }

    fn source(&self, text: &str) -> Outcome<Source> {
        if text.starts_with('%') {
            return Ok(Source::Register(self.register(text)?));
        }
        if let Some(bits) = text.strip_prefix("0f").or(text.strip_prefix("0d")) {
            return u64::from_str_radix(bits, 16).map(Source::Constant).map_err(fault);
        }
        match self.addresses.get(text) {
            Some((_, at)) => Ok(Source::Constant(*at)),
            None => Ok(Source::Constant(integer(text)?)),
        }
    }

    fn address(&self, text: &str, space: Space) -> Outcome<Address> {
        let inside = text.trim_start_matches('[').trim_end_matches(']');
        let split = inside[1..].find(['+', '-']).map_or(inside.len(), |at| at + 1);
        let (base, distance) = inside.split_at(split);
        let distance = match distance {
            "" => 0,
            distance => integer(distance.trim_start_matches('+'))? as i64,
        };
        Ok(Address { space, base: self.source(base)?, distance })
    }
}

/// Operands at the commas that stand in no braces.
fn operands(text: &str) -> Vec<String> {
    let (mut all, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                all.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = all.last_mut() {
            last.push(c);
        }
    }
    all.into_iter().map(|operand| operand.trim().to_string()).filter(|o| !o.is_empty()).collect()
}

/// `{%r1, %r2}` or one operand.
fn list(text: &str) -> Vec<&str> {
    text.trim_start_matches('{').trim_end_matches('}').split(',').map(str::trim).collect()
}

fn instruction(text: &str, line: usize, names: &Names) -> Outcome<Instruction> {
    let (guard, text) = match text.strip_prefix('@') {
        Some(rest) => {
            let (guard, rest) = rest.split_once(' ').ok_or_else(|| Fault("a guard".into()))?;
            let holds = !guard.starts_with('!');
            (Some((names.register(guard.trim_start_matches('!'))?, holds)), rest)
        }
        None => (None, text),
    };
    let (opcode, rest) = text.split_once(' ').unwrap_or((text, ""));
    let operation = operation(opcode, rest, names)?;
    let flops = match &operation {
        Operation::Matrix { kind, .. } => kind.flops(),
        _ => opcodes::flops(opcode),
    };
    Ok(Instruction { guard, operation, line, flops })
}

fn operation(opcode: &str, rest: &str, names: &Names) -> Outcome<Operation> {
    let operands = operands(rest);
    Ok(match opcode.split('.').next().unwrap_or("") {
        "bra" => {
            let at = names.labels.get(&operands[0]);
            Operation::Branch(*at.ok_or_else(|| Fault(format!("no label {rest}")))?)
        }
        "ret" => Operation::Return,
        "bar" if opcode == "bar.sync" => Operation::Barrier,
        "bar" | "fence" => Operation::Nothing,
        "ld" | "st" => access(opcode, &operands, names)?,
        "atom" => atomic(opcode, &operands, names)?,
        "shfl" => shuffle(opcode, &operands, names)?,
        "vote" => vote(opcode, &operands, names)?,
        "mma" => matrix(opcode, &operands, names)?,
        "mov" if rest.contains('{') || special(&operands[1]).is_some() => moved(&operands, names)?,
        _ => {
            let sources: Outcome<Vec<Source>> =
                operands[1..].iter().map(|o| names.source(o)).collect();
            let compute = opcodes::pure(opcode, operands.len() - 1)
                .ok_or_else(|| Fault(format!("no opcode {opcode}")))?;
            Operation::Pure { compute, to: names.register(&operands[0])?, from: sources? }
        }
    })
}

fn matrix(opcode: &str, operands: &[String], names: &Names) -> Outcome<Operation> {
    let missing = || Fault(format!("no opcode {opcode} of these operands"));
    let kind = Kind::of(opcode).ok_or_else(missing)?;
    let [to, sources @ ..] = operands else { return Err(missing()) };
    let to: Outcome<Vec<usize>> = list(to).into_iter().map(|r| names.register(r)).collect();
    let from: Outcome<Vec<Source>> =
        sources.iter().flat_map(|l| list(l)).map(|r| names.source(r)).collect();
    let (to, from) = (to?, from?);
    match (to.len(), from.len()) == kind.registers() {
        true => Ok(Operation::Matrix { kind, to, from }),
        false => Err(missing()),
    }
}

/// The moves that take or make two registers, or read what an invocation is.
fn moved(operands: &[String], names: &Names) -> Outcome<Operation> {
    if let Some(which) = special(&operands[1]) {
        return Ok(Operation::Special { which, to: names.register(&operands[0])? });
    }
    let (to, from) = (list(&operands[0]), list(&operands[1]));
    if to.len() == 2 {
        let to = [names.register(to[0])?, names.register(to[1])?];
        return Ok(Operation::Split { to, from: names.source(&operands[1])? });
    }
    let from = [names.source(from[0])?, names.source(from[1])?];
    Ok(Operation::Join { to: names.register(&operands[0])?, from })
}

fn special(name: &str) -> Option<Special> {
    let (name, axis) = name.split_once('.').unwrap_or((name, ""));
    let axis = ["x", "y", "z"].iter().position(|a| *a == axis);
    Some(match (name, axis) {
        ("%tid", Some(axis)) => Special::Thread(axis),
        ("%ctaid", Some(axis)) => Special::Group(axis),
        ("%nctaid", Some(axis)) => Special::Groups(axis),
        ("%laneid", None) => Special::Lane,
        _ => return None,
    })
}

fn space(opcode: &str) -> Outcome<Space> {
    for part in opcode.split('.') {
        match part {
            "global" => return Ok(Space::Global),
            "shared" => return Ok(Space::Shared),
            "local" => return Ok(Space::Local),
            "param" => return Ok(Space::Parameter),
            _ => {}
        }
    }
    Err(Fault(format!("no memory in {opcode}")))
}

/// The bytes of an opcode's last type.
fn bytes(opcode: &str) -> Outcome<usize> {
    let kind = opcode.rsplit('.').next().unwrap_or("");
    let bits: usize = kind[1..].parse().map_err(|_| Fault(format!("no type in {opcode}")))?;
    Ok(bits / 8)
}

fn access(opcode: &str, operands: &[String], names: &Names) -> Outcome<Operation> {
    let (space, bytes) = (space(opcode)?, bytes(opcode)?);
    let atomic = opcode.contains(".relaxed");
    if opcode.starts_with("ld") {
        let to: Outcome<Vec<usize>> =
            list(&operands[0]).iter().map(|r| names.register(r)).collect();
        let at = names.address(&operands[1], space)?;
        return Ok(Operation::Load { at, bytes, to: to?, atomic });
    }
    let from: Outcome<Vec<Source>> = list(&operands[1]).iter().map(|r| names.source(r)).collect();
    let at = names.address(&operands[0], space)?;
    Ok(Operation::Store { at, bytes, from: from?, atomic })
}

/// The operation and type of `atom.relaxed.gpu.global.add.u32` are those of an instruction.
fn atomic(opcode: &str, operands: &[String], names: &Names) -> Outcome<Operation> {
    let parts: Vec<&str> = opcode.split('.').collect();
    let name = parts[parts.len() - 2..].join(".");
    let compute = opcodes::exchange(&name).ok_or_else(|| Fault(format!("no opcode {opcode}")))?;
    let from: Outcome<Vec<Source>> = operands[2..].iter().map(|o| names.source(o)).collect();
    Ok(Operation::Atomic {
        at: names.address(&operands[1], space(opcode)?)?,
        bytes: bytes(opcode)?,
        compute,
        to: names.register(&operands[0])?,
        from: from?,
    })
}

fn shuffle(opcode: &str, operands: &[String], names: &Names) -> Outcome<Operation> {
    let how = match opcode.split('.').nth(2) {
        Some("idx") => Shuffle::Index,
        Some("up") => Shuffle::Up,
        Some("down") => Shuffle::Down,
        Some("bfly") => Shuffle::Butterfly,
        _ => return Err(Fault(format!("no opcode {opcode}"))),
    };
    let (to, there) = match operands[0].split_once('|') {
        Some((to, there)) => (to, Some(names.register(there)?)),
        None => (&operands[0][..], None),
    };
    let source = |i: usize| names.source(&operands[i]);
    let from = [source(1)?, source(2)?, source(3)?];
    Ok(Operation::Shuffle { how, to: names.register(to)?, there, from })
}

fn vote(opcode: &str, operands: &[String], names: &Names) -> Outcome<Operation> {
    let how = match opcode.split('.').nth(2) {
        Some("all") => Vote::All,
        Some("any") => Vote::Any,
        Some("ballot") => Vote::Ballot,
        _ => return Err(Fault(format!("no opcode {opcode}"))),
    };
    let to = names.register(&operands[0])?;
    Ok(Operation::Vote { how, to, from: names.source(&operands[1])? })
}
