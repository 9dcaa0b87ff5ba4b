//! One instruction of the text: its opcode and operands. What does not fit together, a missing operand or
//! one too many, is a fault with the instruction's text, so that what runs needs no more looking at.

use crate::matrix::Kind;
use crate::opcodes;
use crate::program::{Address, Instruction, Operation, Shuffle, Source, Space, Special, Vote};
use crate::{Fault, Outcome};
use std::collections::HashMap;

/// Names while a text is read.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) registers: HashMap<String, usize>,
    pub(crate) labels: HashMap<String, usize>,
    pub(crate) addresses: HashMap<String, (Space, u64)>,
}

pub(crate) fn fault(e: impl std::fmt::Display) -> Fault {
    Fault(e.to_string())
}

/// `%r<12>;` or `name[256];` as name and count.
pub(crate) fn bracketed(word: &str, open: char, close: char) -> Outcome<(String, usize)> {
    let parts = word.split_once(open).and_then(|(name, rest)| {
        let count = rest.split(close).next()?.parse().ok()?;
        Some((name.to_string(), count))
    });
    parts.ok_or_else(|| Fault(format!("no name and count in {word}")))
}

pub(crate) fn integer(text: &str) -> Outcome<u64> {
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

    fn sources<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Outcome<Vec<Source>> {
        texts.into_iter().map(|text| self.source(text)).collect()
    }

    fn registers<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Outcome<Vec<usize>> {
        texts.into_iter().map(|text| self.register(text)).collect()
    }

    /// `[%d3+16]` or `[name]`.
    fn address(&self, text: &str, space: Space) -> Outcome<Address> {
        let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let inside = inside.ok_or_else(|| Fault(format!("no address: {text}")))?;
        let split = inside.rfind(['+', '-']).unwrap_or(inside.len());
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

pub(crate) fn instruction(text: &str, line: usize, names: &Names) -> Outcome<Instruction> {
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
    let all = operands(rest);
    let operands: Vec<&str> = all.iter().map(String::as_str).collect();
    match (opcode.split('.').next().unwrap_or(""), &operands[..]) {
        ("bra", [label]) => {
            let at = names.labels.get(*label);
            Ok(Operation::Branch(*at.ok_or_else(|| Fault(format!("no label {label}")))?))
        }
        ("ret", []) => Ok(Operation::Return),
        ("bar", ["0"]) if opcode == "bar.sync" => Ok(Operation::Barrier),
        // A warp's lanes that stand at one place run together, and what they wrote is seen at once.
        ("bar", ["0xffffffff"]) if opcode == "bar.warp.sync" => Ok(Operation::Nothing),
        ("fence", []) if opcode == "fence.acq_rel.cta" => Ok(Operation::Nothing),
        ("ld", [to, at]) => load(opcode, to, at, names),
        ("st", [at, from]) => store(opcode, at, from, names),
        ("atom", [to, at, from @ ..]) => atomic(opcode, [to, at], from, names),
        ("shfl", [to, from @ ..]) => shuffle(opcode, to, from, names),
        ("vote", [to, from @ ..]) => vote(opcode, to, from, names),
        ("mma", [to, from @ ..]) => matrix(opcode, to, from, names),
        ("mov", [to, from]) if rest.contains('{') || special(from).is_some() => {
            moved(opcode, to, from, names)
        }
        (_, [to, from @ ..]) => {
            let compute = opcodes::pure(opcode, from.len()).ok_or_else(|| unknown(opcode))?;
            let from = names.sources(from.iter().copied())?;
            Ok(Operation::Pure { compute, to: names.register(to)?, from })
        }
        _ => Err(unknown(opcode)),
    }
}

fn unknown(opcode: &str) -> Fault {
    Fault(format!("no opcode {opcode} of these operands"))
}

fn matrix(opcode: &str, to: &str, from: &[&str], names: &Names) -> Outcome<Operation> {
    let kind = Kind::of(opcode).ok_or_else(|| unknown(opcode))?;
    let to = names.registers(list(to))?;
    let from = names.sources(from.iter().flat_map(|l| list(l)))?;
    match (to.len(), from.len()) == kind.registers() {
        true => Ok(Operation::Matrix { kind, to, from }),
        false => Err(unknown(opcode)),
    }
}

/// The moves that take or make two registers, or read what an invocation is.
fn moved(opcode: &str, to: &str, from: &str, names: &Names) -> Outcome<Operation> {
    match (opcode, &list(to)[..], &list(from)[..]) {
        ("mov.u32", [to], [from]) => {
            let which = special(from).ok_or_else(|| unknown(opcode))?;
            Ok(Operation::Special { which, to: names.register(to)? })
        }
        ("mov.b64", [low, high], [from]) => {
            let to = [names.register(low)?, names.register(high)?];
            Ok(Operation::Split { to, from: names.source(from)? })
        }
        ("mov.b64", [to], [low, high]) => {
            let from = [names.source(low)?, names.source(high)?];
            Ok(Operation::Join { to: names.register(to)?, from })
        }
        _ => Err(unknown(opcode)),
    }
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
    match kind.get(1..) {
        Some("8") => Ok(1),
        Some("16") => Ok(2),
        Some("32") => Ok(4),
        Some("64") => Ok(8),
        _ => Err(Fault(format!("no type in {opcode}"))),
    }
}

/// The list of a load or store: as many as its opcode says, 16 bytes at most.
fn moves<'a>(opcode: &str, text: &'a str) -> Outcome<Vec<&'a str>> {
    let all = list(text);
    let parts = [("v2", 2), ("v4", 4)];
    let part = parts.iter().find(|(name, _)| opcode.split('.').any(|part| part == *name));
    let wanted = part.map_or(1, |(_, count)| *count);
    match all.len() == wanted && wanted * bytes(opcode)? <= 16 {
        true => Ok(all),
        false => Err(unknown(opcode)),
    }
}

fn load(opcode: &str, to: &str, at: &str, names: &Names) -> Outcome<Operation> {
    let (at, bytes) = (names.address(at, space(opcode)?)?, bytes(opcode)?);
    let atomic = opcode.contains(".relaxed");
    Ok(Operation::Load { at, bytes, to: names.registers(moves(opcode, to)?)?, atomic })
}

fn store(opcode: &str, at: &str, from: &str, names: &Names) -> Outcome<Operation> {
    let (at, bytes) = (names.address(at, space(opcode)?)?, bytes(opcode)?);
    if at.space == Space::Parameter {
        return Err(Fault("parameters are read alone".into()));
    }
    let atomic = opcode.contains(".relaxed");
    Ok(Operation::Store { at, bytes, from: names.sources(moves(opcode, from)?)?, atomic })
}

/// The operation and type of `atom.relaxed.gpu.global.add.u32` are those of an instruction.
fn atomic(opcode: &str, [to, at]: [&str; 2], from: &[&str], names: &Names) -> Outcome<Operation> {
    let mut parts = opcode.rsplit('.');
    let (kind, name) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let space = space(opcode)?;
    let compute = opcodes::exchange(name, kind, from.len()).ok_or_else(|| unknown(opcode))?;
    if !matches!(space, Space::Global | Space::Shared) {
        return Err(unknown(opcode));
    }
    Ok(Operation::Atomic {
        at: names.address(at, space)?,
        bytes: bytes(opcode)?,
        compute,
        to: names.register(to)?,
        from: names.sources(from.iter().copied())?,
    })
}

fn shuffle(opcode: &str, to: &str, from: &[&str], names: &Names) -> Outcome<Operation> {
    let how = match opcode {
        "shfl.sync.idx.b32" => Shuffle::Index,
        "shfl.sync.up.b32" => Shuffle::Up,
        "shfl.sync.down.b32" => Shuffle::Down,
        "shfl.sync.bfly.b32" => Shuffle::Butterfly,
        _ => return Err(unknown(opcode)),
    };
    let (to, there) = match to.split_once('|') {
        Some((to, there)) => (to, Some(names.register(there)?)),
        None => (to, None),
    };
    let from = names.sources(from.iter().copied())?.try_into().map_err(|_| unknown(opcode))?;
    Ok(Operation::Shuffle { how, to: names.register(to)?, there, from })
}

fn vote(opcode: &str, to: &str, from: &[&str], names: &Names) -> Outcome<Operation> {
    let how = match opcode {
        "vote.sync.all.pred" => Vote::All,
        "vote.sync.any.pred" => Vote::Any,
        "vote.sync.ballot.b32" => Vote::Ballot,
        _ => return Err(unknown(opcode)),
    };
    let from = names.sources(from.iter().copied())?.try_into().map_err(|_| unknown(opcode))?;
    Ok(Operation::Vote { how, to: names.register(to)?, from })
}
