//! The translator: goes through the instructions in order, in passes.
//!
//! What is known of the registers at the beginning of a block is what holds on all paths to it. A
//! path from below changes what was taken to hold, so passes are made until nothing changes; what
//! is known only shrinks, so that they end.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockCall, Function, InstBuilder, JumpTableData, SigRef, Signature,
    UserFuncName, Value,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use rung_lisp::code::{Code, Op, Register};
use rung_lisp::machine_code::{Guess, LAYOUT, array_layout, status, tag};

use crate::flow::{self, Live};
use crate::state::{Kind, Place};
use crate::words::TRUSTED;

/// More passes than any function needs.
const MOST_PASSES: usize = 30;

/// What is the same in all passes.
pub(crate) struct Source<'a> {
    pub code: &'a Code,
    pub met: &'a BTreeMap<u32, Guess>,
    pub version: usize,
    pub live: Live,
    pub leaders: BTreeSet<usize>,
    pub loops: BTreeSet<usize>,
    pub landings: BTreeSet<usize>,
    /// For each loop: the registers that it indexes as packed arrays in each round and never writes.
    pub indexed: BTreeMap<usize, Vec<usize>>,
}

/// Where native code stops before an instruction, and what has to be saved then.
struct Exit {
    block: Block,
    pc: usize,
    saves: Vec<(usize, Kind, Value)>,
    start: Value,
    /// A wrong guess, to be noted.
    noted: bool,
}

/// One pass.
pub(crate) struct Translator<'a> {
    pub source: &'a Source<'a>,
    pub b: FunctionBuilder<'a>,
    pub pc: usize,
    pub state: Vec<Place>,
    /// What holds at each leader.
    entries: &'a mut BTreeMap<usize, Vec<Place>>,
    changed: bool,
    blocks: BTreeMap<usize, Block>,
    fixnums: Vec<Variable>,
    doubles: Vec<Variable>,
    /// The address of the first register.
    pub start: Variable,
    pub machine: Value,
    pub lisp: Value,
    pub base: Value,
    exits: Vec<Exit>,
    exit: Option<Block>,
    resumes: BTreeMap<usize, (Block, Option<Vec<Place>>)>,
    reentries: BTreeMap<usize, Block>,
    /// Signatures: of native code, of the helpers with five parameters, three, two and one.
    pub native: SigRef,
    pub helper: SigRef,
    pub three: SigRef,
    pub two: SigRef,
    pub single: SigRef,
}

/// Machine code's signature: so many integers and an answer.
pub(crate) fn signature(convention: CallConv, parameters: usize) -> Signature {
    let mut signature = Signature::new(convention);
    signature.params.extend(std::iter::repeat_n(AbiParam::new(I64), parameters));
    signature.returns.push(AbiParam::new(I64));
    signature
}

/// The function in Cranelift's form.
pub(crate) fn translate(
    code: &Code,
    met: &BTreeMap<u32, Guess>,
    version: usize,
    isa: &dyn TargetIsa,
    builders: &mut FunctionBuilderContext,
) -> Result<Function, String> {
    let landings = flow::landings(code);
    let (mut leaders, loops) = flow::leaders(&code.ops);
    leaders.extend(&landings);
    let is_packed =
        |pc: usize| matches!(met.get(&(pc as u32)), Some(Guess::Double | Guess::Fixnum));
    let indexed = |to: &usize| (*to, flow::indexed(&code.ops, *to, is_packed));
    // The beginning is entered by calls as well.
    let indexed = loops.iter().filter(|pc| **pc > 0).map(indexed).collect();
    let live = Live::of(code);
    let source = Source { code, met, version, live, leaders, loops, landings, indexed };
    if let Some(reason) = source.reluctance() {
        return Err(reason);
    }
    let mut entries = BTreeMap::new();
    for _ in 0..MOST_PASSES {
        let signature = signature(CallConv::Tail, 4);
        let mut function = Function::with_name_signature(UserFuncName::default(), signature);
        let builder = FunctionBuilder::new(&mut function, builders);
        let mut translator = Translator::new(&source, builder, &mut entries, isa);
        translator.run();
        let changed = translator.changed;
        translator.b.seal_all_blocks();
        translator.b.finalize(isa.frontend_config());
        if !changed {
            return Ok(function);
        }
    }
    Err("what its registers hold is not settled".to_string())
}

impl Source<'_> {
    /// Why the function is better left to the bytecode: when most of its instructions would be done
    /// by the machine all the same, native code only adds the way there and back.
    fn reluctance(&self) -> Option<String> {
        let slow = |op: &&Op| {
            matches!(
                op,
                Op::OpenExit { .. }
                    | Op::Leave { .. }
                    | Op::Spread { .. }
                    | Op::SaveValues { .. }
                    | Op::RestoreValues { .. }
                    | Op::CallSaved { .. }
                    | Op::OpenCleanup { .. }
            )
        };
        let count = self.code.ops.iter().filter(slow).count();
        (count * 3 > self.code.ops.len()).then(|| {
            format!("{count} of its {} instructions are the machine's alone", self.code.ops.len())
        })
    }
}

impl<'a> Translator<'a> {
    fn new(
        source: &'a Source<'a>,
        mut b: FunctionBuilder<'a>,
        entries: &'a mut BTreeMap<usize, Vec<Place>>,
        isa: &dyn TargetIsa,
    ) -> Translator<'a> {
        let mut variables =
            |kind| (0..source.code.registers).map(|_| b.declare_var(kind)).collect::<Vec<_>>();
        let (fixnums, doubles) = (variables(I64), variables(F64));
        let start = b.declare_var(I64);
        let host = isa.default_call_conv();
        let native = b.import_signature(signature(CallConv::Tail, 4));
        let [single, two, three, helper] =
            [1, 2, 3, 5].map(|count| b.import_signature(signature(host, count)));
        let blocks = source.leaders.iter().map(|pc| (*pc, b.create_block())).collect();
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let [machine, lisp, base, number] = std::array::from_fn(|at| b.block_params(entry)[at]);
        let mut translator = Translator {
            source,
            b,
            pc: 0,
            state: Vec::new(),
            entries,
            changed: false,
            blocks,
            fixnums,
            doubles,
            start,
            machine,
            lisp,
            base,
            exits: Vec::new(),
            exit: None,
            resumes: BTreeMap::new(),
            reentries: BTreeMap::new(),
            native,
            helper,
            three,
            two,
            single,
        };
        translator.find_start();
        translator.plan_entries();
        translator.dispatch(number);
        translator
    }

    pub(crate) fn op(&self) -> Op {
        self.source.code.ops[self.pc]
    }

    /// Computes where the registers are.
    pub(crate) fn find_start(&mut self) {
        let values = self.load(I64, self.machine, LAYOUT.machine_values);
        let four = self.b.ins().iconst(I64, 4);
        let offset = self.b.ins().ishl(self.base, four);
        let start = self.b.ins().iadd(values, offset);
        self.b.def_var(self.start, start);
    }

    /// Makes a block for each instruction at which the function is entered.
    fn plan_entries(&mut self) {
        let ops = &self.source.code.ops;
        let first = self.b.create_block();
        self.reentries.insert(0, first);
        for pc in &self.source.loops {
            let block = self.b.create_block();
            // The beginning, where a loop leads to it, is entered as any other.
            self.reentries.entry(*pc).or_insert(block);
        }
        for (pc, op) in ops.iter().enumerate() {
            if flow::is_call(*op) {
                self.resumes.insert(pc + 1, (self.b.create_block(), None));
            }
        }
        for pc in &self.source.landings {
            let block = self.b.create_block();
            self.reentries.entry(*pc).or_insert(block);
            // Where an escape lands, nothing is known.
            let any = vec![Place::Slot(Kind::Any); usize::from(self.source.code.registers)];
            self.entries.insert(*pc, any);
        }
    }

    /// Jumps to where the function is entered.
    fn dispatch(&mut self, number: Value) {
        let ops = &self.source.code.ops;
        let nowhere = self.b.create_block();
        let table = (0..2 * ops.len()).map(|entry| {
            let pc = entry / 2;
            match entry % 2 {
                0 => self.reentries.get(&pc).copied(),
                _ => self.resumes.get(&pc).map(|(block, _)| *block),
            }
        });
        let targets = table.map(|block| block.unwrap_or(nowhere)).collect::<Vec<_>>();
        let pool = &mut self.b.func.dfg.value_lists;
        let calls = targets.into_iter().map(|block| BlockCall::new(block, [], pool));
        let calls = calls.collect::<Vec<_>>();
        let default = BlockCall::new(nowhere, [], pool);
        let table = self.b.create_jump_table(JumpTableData::new(default, &calls));
        // Most often the function is called: a branch, which is foreseen, spares the table.
        let (again, first) = (self.b.create_block(), self.reentries[&0]);
        self.branch(number, again, first);
        self.b.switch_to_block(again);
        let small = self.b.ins().ireduce(cranelift_codegen::ir::types::I32, number);
        self.b.ins().br_table(small, table);

        self.b.set_cold_block(nowhere);
        self.b.switch_to_block(nowhere);
        let one = self.b.ins().iconst(I64, 1);
        let pc = self.b.ins().ushr(number, one);
        self.leave_at(pc, false);
    }

    fn run(&mut self) {
        let code = self.source.code;
        let parameters = code.parameters.count();
        let first = self.reentries[&0];
        self.b.switch_to_block(first);
        self.state = (0..usize::from(code.registers))
            .map(|at| Place::Slot(if at < parameters { Kind::Any } else { Kind::Immediate }))
            .collect();
        let mut open = true;
        for pc in 0..code.ops.len() {
            if let Some(block) = self.blocks.get(&pc).copied() {
                if open {
                    self.edge(pc);
                }
                open = match self.entries.get(&pc).cloned() {
                    Some(state) => {
                        self.b.switch_to_block(block);
                        self.state = state;
                        true
                    }
                    None => false,
                };
            }
            if open {
                self.pc = pc;
                self.exit = None;
                open = self.instruction(code.ops[pc]);
            }
        }
        self.finish_entries();
        self.finish_exits();
    }

    /// Goes from here to a leader, where what is known is joined with what came there before.
    pub(crate) fn edge(&mut self, to: usize) {
        self.look_before_loop(to);
        let live = |at: usize| self.source.live.before(to, at);
        let here = self.state.iter().enumerate();
        let here = here.map(|(at, place)| if live(at) { *place } else { place.dead() });
        let here = here.collect::<Vec<_>>();
        let mut joined = match self.entries.get(&to) {
            Some(known) => known.iter().zip(&here).map(|(a, b)| a.join(*b)).collect(),
            None => here.clone(),
        };
        if self.source.loops.contains(&to) && to > 0 {
            // Who comes from the bytecode cannot know it.
            for (at, place) in joined.iter_mut().enumerate() {
                if *place == Place::Slot(Kind::Immediate) && live(at) {
                    *place = Place::Slot(Kind::Any);
                }
            }
        }
        let known = self.entries.insert(to, joined.clone());
        self.changed |= known.is_some_and(|known| known != joined);
        for (at, (from, to)) in here.into_iter().zip(joined).enumerate() {
            self.convert(at, from, to);
        }
        self.jump(self.blocks[&to]);
    }

    /// Brings a register from one state to another that knows no more.
    fn convert(&mut self, at: usize, from: Place, to: Place) {
        match (from, to) {
            (Place::Slot(kind), Place::Number { .. }) => self.load_number(at, kind),
            (
                Place::Number { kind, saved: false },
                Place::Slot(_) | Place::Number { saved: true, .. },
            ) => {
                self.save(at, kind);
            }
            _ => {}
        }
    }

    /// Fills the blocks where the function is entered from outside.
    fn finish_entries(&mut self) {
        let reentries = std::mem::take(&mut self.reentries);
        for (pc, block) in reentries.into_iter().filter(|(pc, _)| *pc > 0) {
            self.b.set_cold_block(block);
            self.b.switch_to_block(block);
            self.exit = None;
            match self.entries.get(&pc).cloned() {
                None => self.leave_before(pc),
                Some(wanted) => {
                    self.state = vec![Place::Slot(Kind::Any); wanted.len()];
                    for (at, place) in wanted.into_iter().enumerate() {
                        self.expect(pc, at, place);
                    }
                    self.jump(self.blocks[&pc]);
                }
            }
        }
        let resumes = std::mem::take(&mut self.resumes);
        for (pc, (block, state)) in resumes {
            self.b.switch_to_block(block);
            match state {
                None => self.leave_before(pc),
                Some(state) => {
                    self.state = state;
                    self.edge(pc);
                }
            }
        }
    }

    /// Makes sure that a register which may hold anything is as a loop wants it.
    fn expect(&mut self, pc: usize, at: usize, wanted: Place) {
        let kind = wanted.kind();
        match kind {
            Kind::Any => {}
            Kind::Packed => {
                let (yes, no) = (self.b.create_block(), self.b.create_block());
                if let Some(places) = array_layout() {
                    self.object(places, at, tag::PACKED, no);
                }
                self.jump(yes);
                self.b.set_cold_block(no);
                self.b.switch_to_block(no);
                self.leave_before(pc);
                self.b.switch_to_block(yes);
            }
            Kind::Immediate => self.drop_slot(at),
            Kind::Fixnum | Kind::Double => {
                let number = if kind == Kind::Fixnum { tag::FIXNUM } else { tag::DOUBLE };
                let found = self.tag(at);
                let is = self.is(found, number);
                let (yes, no) = (self.b.create_block(), self.b.create_block());
                self.branch(is, yes, no);
                self.b.set_cold_block(no);
                self.b.switch_to_block(no);
                self.leave_before(pc);
                self.b.switch_to_block(yes);
                if matches!(wanted, Place::Number { .. }) {
                    self.load_number(at, kind);
                }
            }
        }
    }

    fn leave_before(&mut self, pc: usize) {
        let pc = self.b.ins().iconst(I64, pc as i64);
        self.leave_at(pc, false);
    }

    fn leave_at(&mut self, pc: Value, noted: bool) {
        let version = if noted { self.source.version as i64 } else { 0 };
        let version = self.b.ins().iconst(I64, version);
        self.b.ins().store(TRUSTED, version, self.machine, LAYOUT.machine_version);
        self.b.ins().istore32(TRUSTED, pc, self.machine, LAYOUT.machine_pc);
        self.b.ins().istore32(TRUSTED, self.base, self.machine, LAYOUT.machine_base);
        self.answer(status::LEFT);
    }

    /// Ends native code with a status.
    pub(crate) fn answer(&mut self, status: u64) {
        let status = self.b.ins().iconst(I64, status as i64);
        self.b.ins().return_(&[status]);
    }

    /// The block that stops before the running instruction; made once for each.
    pub(crate) fn exit(&mut self) -> Block {
        if let Some(block) = self.exit {
            return block;
        }
        let block = self.new_exit(true);
        self.exit = Some(block);
        block
    }

    /// A block that stops before the running instruction.
    pub(crate) fn new_exit(&mut self, noted: bool) -> Block {
        self.new_exit_at(self.pc, noted)
    }

    /// A block that stops before the instruction at `pc`.
    pub(crate) fn new_exit_at(&mut self, pc: usize, noted: bool) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        let unsaved = (0..self.state.len())
            .filter(|at| self.state[*at].is_unsaved() && self.source.live.before(pc, *at));
        let unsaved = unsaved.collect::<Vec<_>>();
        let saves = unsaved.into_iter().map(|at| {
            let kind = self.state[at].kind();
            (at, kind, self.variable(at, kind))
        });
        let saves = saves.collect();
        let start = self.b.use_var(self.start);
        self.exits.push(Exit { block, pc, saves, start, noted });
        block
    }

    fn finish_exits(&mut self) {
        for exit in std::mem::take(&mut self.exits) {
            self.b.switch_to_block(exit.block);
            for (at, kind, value) in exit.saves {
                self.store_number(exit.start, at, kind, value);
            }
            let pc = self.b.ins().iconst(I64, exit.pc as i64);
            self.leave_at(pc, exit.noted);
        }
    }

    /// The variable that has a register's number.
    pub(crate) fn variable(&mut self, at: usize, kind: Kind) -> Value {
        let variables = if kind == Kind::Double { &self.doubles } else { &self.fixnums };
        self.b.use_var(variables[at])
    }

    pub(crate) fn define(&mut self, at: usize, kind: Kind, value: Value) {
        let variables = if kind == Kind::Double { &self.doubles } else { &self.fixnums };
        self.b.def_var(variables[at], value);
    }

    /// The running instruction is a call that has been made: the function goes on at the next one,
    /// from here and when it is entered anew.
    pub(crate) fn resume_here(&mut self) {
        let next = self.pc + 1;
        if let Some((_, state)) = self.resumes.get_mut(&next) {
            *state = Some(self.state.clone());
        }
        self.edge(next);
    }

    pub(crate) fn met(&self) -> Option<Guess> {
        self.source.met.get(&(self.pc as u32)).copied()
    }

    pub(crate) fn jump(&mut self, block: Block) {
        self.b.ins().jump(block, &[]);
    }

    pub(crate) fn branch(&mut self, condition: Value, yes: Block, no: Block) {
        self.b.ins().brif(condition, yes, &[], no, &[]);
    }

    /// Goes on where the condition holds, and stops before the instruction where not.
    pub(crate) fn guard(&mut self, condition: Value) {
        let (yes, no) = (self.b.create_block(), self.exit());
        self.branch(condition, yes, no);
        self.b.switch_to_block(yes);
    }

    /// Goes to one of two leaders.
    pub(crate) fn fork(&mut self, condition: Value, yes: usize, no: usize) {
        let [yes_block, no_block] = [(); 2].map(|()| self.b.create_block());
        self.branch(condition, yes_block, no_block);
        let state = self.state.clone();
        self.b.switch_to_block(yes_block);
        self.edge(yes);
        self.state = state;
        self.b.switch_to_block(no_block);
        self.edge(no);
    }

    /// Stops when Ctrl-C was pressed; the bytecode says so.
    pub(crate) fn poll(&mut self) {
        // One flag for the whole run: the load may leave the loop.
        let fixed = TRUSTED.with_readonly();
        let flag = self.b.ins().load(I64, fixed, self.machine, LAYOUT.machine_interrupt);
        let pressed = self.b.ins().uload8(I64, TRUSTED, flag, 0);
        let (stop, on) = (self.new_exit(false), self.b.create_block());
        self.branch(pressed, stop, on);
        self.b.switch_to_block(on);
    }

    pub(crate) fn load(
        &mut self,
        kind: cranelift_codegen::ir::Type,
        from: Value,
        offset: i32,
    ) -> Value {
        self.b.ins().load(kind, TRUSTED, from, offset)
    }

    /// Whether a tag is that one.
    pub(crate) fn is(&mut self, found: Value, wanted: u8) -> Value {
        self.compare(IntCC::Equal, found, i64::from(wanted))
    }

    pub(crate) fn compare(&mut self, condition: IntCC, a: Value, b: i64) -> Value {
        let b = self.b.ins().iconst(I64, b);
        self.b.ins().icmp(condition, a, b)
    }

    /// Translates an instruction; whether the following one is reached from it.
    fn instruction(&mut self, op: Op) -> bool {
        match op {
            Op::Jump { target } => self.edge(target as usize),
            Op::Loop { target } => {
                self.poll();
                self.edge(target as usize);
            }
            Op::JumpIfNil { at, target } => self.jump_if(at, tag::NIL, true, target),
            Op::JumpIfTrue { at, target } => self.jump_if(at, tag::NIL, false, target),
            Op::JumpIfBound { at, target } => self.jump_if(at, tag::UNBOUND, false, target),
            Op::Test { .. }
            | Op::TestSmall { .. }
            | Op::TestEq { .. }
            | Op::TestEql { .. }
            | Op::TestValue { .. } => self.test(op),
            Op::Return { from } => {
                self.b_single();
                self.return_from(from);
            }
            Op::ReturnValues { from } => self.return_from(from),
            op if flow::is_call(op) => self.call(op),
            Op::Leave { .. } | Op::Throw { .. } => self.leave(),
            _ => {
                self.plain(op);
                return true;
            }
        }
        false
    }

    /// Jumps when a register's tag is that one, or is not.
    fn jump_if(&mut self, at: Register, wanted: u8, equal: bool, target: u32) {
        let (at, target) = (usize::from(at), target as usize);
        if matches!(self.state[at].kind(), Kind::Fixnum | Kind::Double) {
            return self.edge(if equal { self.pc + 1 } else { target });
        }
        let found = self.tag(at);
        let is = self.is(found, wanted);
        let (yes, no) = if equal { (target, self.pc + 1) } else { (self.pc + 1, target) };
        self.fork(is, yes, no);
    }
}
