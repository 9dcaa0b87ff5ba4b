//! The flow of a function's bytecode: where it goes on after an instruction, where paths meet, and
//! which registers somebody still asks for.

use std::collections::BTreeSet;

use rung_lisp::code::{Code, Op, RUNNING, Register};

/// Where an instruction leads.
pub enum Next {
    /// To the following one.
    Following,
    /// There.
    To(usize),
    /// There or to the following one.
    Either(usize),
    /// A test and its jump: where it holds, where not.
    Test(usize, usize),
    /// Out of the function.
    Out,
}

/// Where the instruction at `pc` leads. A tail call may come back, to the return after it.
pub fn next(ops: &[Op], pc: usize) -> Next {
    match ops[pc] {
        Op::Jump { target } | Op::Loop { target } => Next::To(target as usize),
        Op::JumpIfNil { target, .. }
        | Op::JumpIfTrue { target, .. }
        | Op::JumpIfBound { target, .. } => Next::Either(target as usize),
        Op::Test { .. } | Op::TestSmall { .. } | Op::TestEq { .. } | Op::TestEql { .. } => {
            Next::Test(pc + 2, jump_at(ops, pc + 1))
        }
        Op::TestValue { .. } => Next::Test(pc + 2, jump_at(ops, pc + 1)),
        Op::Return { .. } | Op::ReturnValues { .. } | Op::Leave { .. } | Op::Throw { .. } => {
            Next::Out
        }
        _ => Next::Following,
    }
}

fn jump_at(ops: &[Op], pc: usize) -> usize {
    match ops[pc] {
        Op::Jump { target } => target as usize,
        _ => pc,
    }
}

/// Whether an instruction is a call, after which the function is entered anew.
pub fn is_call(op: Op) -> bool {
    matches!(
        op,
        Op::Call { .. }
            | Op::CallValue { .. }
            | Op::CallSaved { .. }
            | Op::TailCall { .. }
            | Op::TailCallValue { .. }
    )
}

/// The registers that an instruction reads.
fn reads(op: Op, mut read: impl FnMut(Register)) {
    match op {
        Op::Move { from, .. }
        | Op::Take { from, .. }
        | Op::SetGlobal { from, .. }
        | Op::WriteCapturedCell { from, .. }
        | Op::Return { from }
        | Op::ReturnValues { from }
        | Op::BeginCleanup { from }
        | Op::Bind { from, .. }
        | Op::SaveValues { from }
        | Op::Spread { from, .. } => read(from),
        Op::ReadCell { cell, .. } => read(cell),
        Op::Sibling { of, .. } if of != RUNNING => read(of),
        Op::MakeCell { at }
        | Op::OpenCatch { at, .. }
        | Op::JumpIfNil { at, .. }
        | Op::JumpIfTrue { at, .. }
        | Op::JumpIfBound { at, .. } => read(at),
        Op::Call { base, count, .. } | Op::TailCall { base, count, .. } => {
            (base..base + Register::from(count)).for_each(read);
        }
        Op::CallValue { base, count } | Op::TailCallValue { base, count } => {
            (base..=base + count).for_each(read);
        }
        Op::CallSaved { base, .. } => read(base),
        Op::TestSmall { a, .. }
        | Op::TestValue { a, .. }
        | Op::AddSmall { a, .. }
        | Op::Car { a, .. }
        | Op::Cdr { a, .. } => read(a),
        Op::Test { a, b, .. }
        | Op::TestEq { a, b }
        | Op::TestEql { a, b }
        | Op::Add { a, b, .. }
        | Op::Subtract { a, b, .. }
        | Op::Multiply { a, b, .. }
        | Op::Divide { a, b, .. }
        | Op::Cons { a, b, .. }
        | Op::Aref { array: a, index: b, .. }
        | Op::WriteCell { cell: a, from: b }
        | Op::SetCar { pair: a, from: b }
        | Op::SetCdr { pair: a, from: b }
        | Op::Leave { exit: a, from: b, .. }
        | Op::Throw { tag: a, from: b } => [a, b].into_iter().for_each(read),
        Op::ArefPlane { array, first, .. } => [array, first, first + 1].into_iter().for_each(read),
        Op::SetAref { array, index, from } => [array, index, from].into_iter().for_each(read),
        _ => {}
    }
}

/// The one register that an instruction writes, or all from one on; calls write the latter.
pub fn writes(op: Op) -> Option<Register> {
    match op {
        Op::Move { to, .. }
        | Op::Take { to, .. }
        | Op::Constant { to, .. }
        | Op::Fixnum { to, .. }
        | Op::Nil { to }
        | Op::True { to }
        | Op::Unbound { to }
        | Op::Captured { to, .. }
        | Op::ReadCell { to, .. }
        | Op::ReadCapturedCell { to, .. }
        | Op::Global { to, .. }
        | Op::FunctionOf { to, .. }
        | Op::SetfFunctionOf { to, .. }
        | Op::Myself { to }
        | Op::Sibling { to, .. }
        | Op::Closure { to, .. }
        | Op::Add { to, .. }
        | Op::Subtract { to, .. }
        | Op::Multiply { to, .. }
        | Op::Divide { to, .. }
        | Op::AddSmall { to, .. }
        | Op::Car { to, .. }
        | Op::Cdr { to, .. }
        | Op::Cons { to, .. }
        | Op::Aref { to, .. }
        | Op::ArefPlane { to, .. }
        | Op::EndCleanup { to }
        | Op::RestoreValues { to } => Some(to),
        Op::Clear { at } | Op::OpenExit { at, .. } | Op::MakeCell { at } => Some(at),
        _ => None,
    }
}

/// Sets of registers, one an instruction.
pub struct Live {
    words: usize,
    bits: Vec<u64>,
    /// All are alive everywhere: an escape may land in the function.
    all: bool,
}

impl Live {
    /// Whether somebody asks for the register's value before the instruction or after it.
    pub fn before(&self, pc: usize, register: usize) -> bool {
        self.all || self.bits[pc * self.words + register / 64] >> (register % 64) & 1 == 1
    }

    /// Works backwards until nothing changes.
    pub fn of(code: &Code) -> Live {
        let ops = &code.ops;
        let words = usize::from(code.registers) / 64 + 1;
        let lands = |op: &Op| {
            matches!(op, Op::OpenExit { .. } | Op::OpenCatch { .. } | Op::OpenCleanup { .. })
        };
        let mut live =
            Live { words, bits: vec![0; words * (ops.len() + 2)], all: ops.iter().any(lands) };
        while !live.all && live.sweep(code) {}
        live
    }

    fn sweep(&mut self, code: &Code) -> bool {
        let (ops, words) = (&code.ops, self.words);
        let mut changed = false;
        for pc in (0..ops.len()).rev() {
            let mut set = vec![0u64; words];
            let mut add = |at: usize| {
                let row = &self.bits[at * words..(at + 1) * words];
                set.iter_mut().zip(row).for_each(|(into, from)| *into |= from);
            };
            match next(ops, pc) {
                Next::Following => add(pc + 1),
                Next::To(target) => add(target),
                Next::Either(target) => [pc + 1, target].into_iter().for_each(add),
                Next::Test(yes, no) => [yes, no].into_iter().for_each(add),
                Next::Out => {}
            }
            if let Some(written) = writes(ops[pc]) {
                set[usize::from(written) / 64] &= !(1 << (written % 64));
            }
            if let Op::Call { base, .. } | Op::CallValue { base, .. } = ops[pc] {
                for register in usize::from(base)..usize::from(code.registers) {
                    set[register / 64] &= !(1 << (register % 64));
                }
            }
            reads(ops[pc], |register| set[usize::from(register) / 64] |= 1 << (register % 64));
            // The debugger shows variables.
            for local in &code.locals {
                if (local.from as usize..=local.to as usize).contains(&pc) {
                    set[usize::from(local.register) / 64] |= 1 << (local.register % 64);
                }
            }
            let row = &mut self.bits[pc * words..(pc + 1) * words];
            if row != &set[..] {
                row.copy_from_slice(&set);
                changed = true;
            }
        }
        changed
    }
}

/// The instructions where an escape may land.
pub fn landings(code: &Code) -> BTreeSet<usize> {
    let labels = code.exits.iter().flat_map(|exit| exit.labels.iter().copied());
    let targets = code.ops.iter().filter_map(|op| match op {
        Op::OpenCatch { target, .. } | Op::OpenCleanup { target } => Some(*target),
        _ => None,
    });
    labels.chain(targets).map(|pc| pc as usize).filter(|pc| *pc < code.ops.len()).collect()
}

/// The instructions that begin a block, and those of them that a loop leads back to.
pub fn leaders(ops: &[Op]) -> (BTreeSet<usize>, BTreeSet<usize>) {
    let (mut leaders, mut loops) = (BTreeSet::from([0]), BTreeSet::new());
    for (pc, op) in ops.iter().enumerate() {
        match next(ops, pc) {
            Next::To(target) | Next::Either(target) => {
                leaders.extend([target, pc + 1]);
            }
            Next::Test(yes, no) => leaders.extend([yes, no]),
            Next::Out => {
                leaders.insert(pc + 1);
            }
            Next::Following if is_call(*op) => {
                leaders.insert(pc + 1);
            }
            Next::Following => {}
        }
        if let Op::Loop { target } = op {
            loops.insert(*target as usize);
        }
    }
    leaders.retain(|pc| *pc < ops.len());
    (leaders, loops)
}

/// The registers that a loop indexes in each of its rounds, by an instruction that is `packed`, and never
/// writes.
pub fn indexed(ops: &[Op], first: usize, packed: impl Fn(usize) -> bool) -> Vec<usize> {
    let back = |op: &Op| matches!(op, Op::Loop { target } if *target as usize == first);
    let Some(last) = ops.iter().rposition(back) else { return Vec::new() };
    let round = first..=last;
    let mut found = BTreeSet::new();
    for pc in round.clone().filter(|pc| packed(*pc)) {
        if let Op::Aref { array, .. } | Op::SetAref { array, .. } = ops[pc]
            && !round.clone().any(|other| other < pc && skips(ops, other, pc, last))
        {
            found.insert(usize::from(array));
        }
    }
    let written = |at: usize| round.clone().any(|pc| overwrites(ops[pc], at));
    found.retain(|at| !written(*at));
    found.into_iter().collect()
}

/// Whether an instruction may lead past a later one of the same round.
fn skips(ops: &[Op], from: usize, over: usize, last: usize) -> bool {
    let past = |to: usize| to > over && to <= last;
    match next(ops, from) {
        Next::Following | Next::Out => false,
        Next::To(to) | Next::Either(to) => past(to),
        Next::Test(yes, no) => past(yes) || past(no),
    }
}

/// Whether a register may hold something else after an instruction.
fn overwrites(op: Op, at: usize) -> bool {
    match op {
        Op::Call { base, .. }
        | Op::CallValue { base, .. }
        | Op::CallSaved { base, .. }
        | Op::TailCall { base, .. }
        | Op::TailCallValue { base, .. } => at >= usize::from(base),
        Op::Spread { from, to, count } => {
            at == usize::from(from) || (usize::from(to)..usize::from(to + count)).contains(&at)
        }
        Op::BeginCleanup { from } | Op::SaveValues { from } => at == usize::from(from),
        Op::Take { from, to } => at == usize::from(from) || at == usize::from(to),
        _ => writes(op).is_some_and(|written| usize::from(written) == at),
    }
}
