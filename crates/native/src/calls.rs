//! Calls and returns. A call pushes a frame of the machine and jumps; a return pops one and jumps.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, Function, InstBuilder, UserFuncName, Value};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use rung_lisp::code::{Op, Register};
use rung_lisp::machine_code::{HELPERS, LAYOUT, status, tag};

use crate::state::{Kind, Place};
use crate::translate::{Translator, signature};
use crate::words::{SECOND, TRUSTED};

/// The function that enters native code: `Translated::gate`.
pub(crate) fn gate(isa: &dyn TargetIsa, builders: &mut FunctionBuilderContext) -> Function {
    let host = signature(isa.default_call_conv(), 5);
    let mut function = Function::with_name_signature(UserFuncName::default(), host);
    let mut b = FunctionBuilder::new(&mut function, builders);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let [code, arguments @ ..] = std::array::from_fn::<Value, 5, _>(|at| b.block_params(entry)[at]);
    let native = b.import_signature(signature(CallConv::Tail, 4));
    let call = b.ins().call_indirect(native, code, &arguments);
    let answer = b.inst_results(call)[0];
    b.ins().return_(&[answer]);
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
    function
}

/// The first register of a call, and one after its last.
fn arguments(op: Op) -> Option<(Register, Register)> {
    match op {
        Op::Call { base, count, .. } | Op::TailCall { base, count, .. } => {
            Some((base, base + Register::from(count)))
        }
        Op::CallValue { base, count } | Op::TailCallValue { base, count } => {
            Some((base, base + 1 + count))
        }
        Op::CallSaved { base, .. } => Some((base, base + 1)),
        _ => None,
    }
}

impl Translator<'_> {
    /// Translates a call. The registers above its window are the callee's, and hold nothing.
    pub(crate) fn call(&mut self, op: Op) {
        let Some((first, above)) = arguments(op) else { return self.step() };
        self.poll();
        self.save_all();
        for at in usize::from(above)..self.state.len() {
            self.free(at);
            self.state[at] = Place::Slot(Kind::Immediate);
        }
        let slow = self.b.create_block();
        self.b.set_cold_block(slow);
        match op {
            Op::Call { base, count, symbol } => {
                let cell = self.symbol(symbol, LAYOUT.symbol_function);
                let function = self.function_at(cell, 0, slow);
                self.call_closure(function, base, base, count.into(), slow);
            }
            Op::CallValue { base, count } => {
                let start = self.b.use_var(self.start);
                let function = self.function_at(start, Self::offset(base.into()), slow);
                self.call_closure(function, base + 1, base, count, slow);
            }
            Op::TailCall { base, count, symbol } => {
                let cell = self.symbol(symbol, LAYOUT.symbol_function);
                let function = self.any_function_at(cell, 0, slow);
                self.tail_call(function, base, count.into(), slow);
            }
            Op::TailCallValue { base, count } => {
                let start = self.b.use_var(self.start);
                let function = self.any_function_at(start, Self::offset(base.into()), slow);
                self.tail_call(function, base + 1, count, slow);
            }
            _ => self.jump(slow),
        }
        self.b.switch_to_block(slow);
        self.call_slowly(first, op);
    }

    /// The closure that a value is, or else to `slow`.
    fn function_at(&mut self, from: Value, offset: i32, slow: Block) -> Value {
        let function = self.any_function_at(from, offset, slow);
        self.only_closure(function, slow);
        function
    }

    /// The function that a value is, of Lisp or native, or else to `slow`.
    fn any_function_at(&mut self, from: Value, offset: i32, slow: Block) -> Value {
        let found = self.b.ins().uload8(I64, TRUSTED, from, offset);
        let is = self.is(found, tag::FUNCTION);
        self.only_if(is, slow);
        self.load(I64, from, offset + SECOND)
    }

    fn only_closure(&mut self, function: Value, slow: Block) {
        let kind = self.b.ins().uload8(I64, TRUSTED, function, LAYOUT.function_tag);
        let closure = self.is(kind, tag::CLOSURE);
        self.only_if(closure, slow);
    }

    pub(crate) fn only_if(&mut self, condition: Value, otherwise: Block) {
        let on = self.b.create_block();
        self.branch(condition, on, otherwise);
        self.b.switch_to_block(on);
    }

    /// Jumps to a closure's native code with a frame pushed, or goes to `slow`.
    fn call_closure(
        &mut self,
        function: Value,
        first: Register,
        result: Register,
        count: Register,
        slow: Block,
    ) {
        let code = self.load(I64, function, LAYOUT.function_code);
        let required = self.load(I32, code, LAYOUT.code_required);
        let count = self.b.ins().iconst(I32, i64::from(count));
        let fits = self.b.ins().icmp(IntCC::Equal, required, count);
        self.only_if(fits, slow);
        let top = self.load(I64, self.machine, LAYOUT.machine_top);
        let limit = self.load(I64, self.machine, LAYOUT.machine_limit);
        let free = self.b.ins().icmp(IntCC::UnsignedLessThan, top, limit);
        self.only_if(free, slow);
        let offset = self.b.ins().iconst(I64, i64::from(first));
        let base = self.b.ins().iadd(self.base, offset);
        self.room_for(code, base, slow);
        self.push_frame(top, result);
        if first == result {
            self.count_body(function);
        } else {
            // The reference in the register becomes the machine's.
            self.empty(result.into());
        }
        self.b.ins().store(TRUSTED, function, self.machine, LAYOUT.machine_function);
        self.enter(code, base);
    }

    /// A register's slot, whose reference another place has taken over, holds nothing.
    fn empty(&mut self, at: usize) {
        let start = self.b.use_var(self.start);
        let nil = self.b.ins().iconst(I64, i64::from(tag::NIL));
        self.b.ins().store(TRUSTED, nil, start, Self::offset(at));
    }

    /// The running function waits in a frame for the result of a call.
    fn push_frame(&mut self, top: Value, result: Register) {
        // The frame takes over the reference to its function.
        let running = self.load(I64, self.machine, LAYOUT.machine_function);
        self.b.ins().store(TRUSTED, running, top, LAYOUT.frame_function);
        let none = self.b.ins().iconst(I64, 0);
        self.b.ins().store(TRUSTED, none, top, LAYOUT.frame_ops);
        self.b.ins().store(TRUSTED, none, top, LAYOUT.frame_ops + SECOND);
        let version = self.b.ins().iconst(I64, self.source.version as i64);
        self.b.ins().store(TRUSTED, version, top, LAYOUT.frame_version);
        let pc = self.b.ins().iconst(I64, self.pc as i64 + 1);
        self.b.ins().istore32(TRUSTED, pc, top, LAYOUT.frame_pc);
        self.b.ins().istore32(TRUSTED, self.base, top, LAYOUT.frame_base);
        let registers = self.b.ins().iconst(I64, i64::from(self.source.code.registers));
        self.b.ins().istore32(TRUSTED, registers, top, LAYOUT.frame_registers);
        let offset = self.b.ins().iconst(I64, i64::from(result));
        let at = self.b.ins().iadd(self.base, offset);
        self.b.ins().istore32(TRUSTED, at, top, LAYOUT.frame_result);
        let size = self.b.ins().iconst(I64, LAYOUT.frame_size);
        let top = self.b.ins().iadd(top, size);
        self.b.ins().store(TRUSTED, top, self.machine, LAYOUT.machine_top);
    }

    /// Whether the registers of a function fit.
    fn room_for(&mut self, code: Value, base: Value, slow: Block) {
        let registers = self.b.ins().uload32(TRUSTED, code, LAYOUT.code_registers);
        let end = self.b.ins().iadd(base, registers);
        let room = self.load(I64, self.machine, LAYOUT.machine_room);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, room);
        self.only_if(fits, slow);
    }

    fn enter(&mut self, code: Value, base: Value) {
        let entry = self.load(I64, code, LAYOUT.code_entry);
        let zero = self.b.ins().iconst(I64, 0);
        let arguments = [self.machine, self.lisp, base, zero];
        self.b.ins().return_call_indirect(self.native, entry, &arguments);
    }

    /// A tail call of the running function begins anew; of another with native code, that takes
    /// over the frame. The rest goes to `slow`.
    fn tail_call(&mut self, function: Value, first: Register, count: Register, slow: Block) {
        let code = self.source.code;
        let running = self.load(I64, self.machine, LAYOUT.machine_function);
        let state = self.state.clone();
        // The function is in the register before, or in its symbol's cell.
        let in_register = matches!(self.op(), Op::TailCallValue { .. });
        let called = usize::from(first).checked_sub(1).filter(|_| in_register);
        if code.simple == Some(count) && !code.lines.is_empty() && called.is_none() {
            let [again, other] = [(); 2].map(|()| self.b.create_block());
            let same = self.b.ins().icmp(IntCC::Equal, function, running);
            self.branch(same, again, other);
            self.b.switch_to_block(again);
            self.hand_over_all(first, count);
            self.edge(0);
            self.state.clone_from(&state);
            self.b.switch_to_block(other);
        }
        self.only_closure(function, slow);
        let code = self.load(I64, function, LAYOUT.function_code);
        let required = self.load(I32, code, LAYOUT.code_required_at_tail);
        let wanted = self.b.ins().iconst(I32, i64::from(count));
        let fits = self.b.ins().icmp(IntCC::Equal, required, wanted);
        self.only_if(fits, slow);
        self.room_for(code, self.base, slow);
        match called {
            None => self.count_body(function),
            Some(at) => {
                self.empty(at);
                self.state[at] = Place::Slot(Kind::Immediate);
            }
        }
        self.hand_over_all(first, count);
        for at in 0..self.state.len().min(usize::from(count)) {
            if self.state[at].is_unsaved() {
                self.save(at, self.state[at].kind());
            }
        }
        self.b.ins().store(TRUSTED, function, self.machine, LAYOUT.machine_function);
        let tag = self.b.ins().iconst(I64, i64::from(tag::FUNCTION));
        self.discount_body(tag, running);
        self.enter(code, self.base);
        self.state = state;
    }

    /// Makes arguments the first registers, and lets go of all others.
    fn hand_over_all(&mut self, first: Register, count: Register) {
        for at in 0..usize::from(count) {
            self.hand_over(usize::from(first) + at, at);
        }
        for at in usize::from(count)..self.state.len() {
            self.free(at);
            self.state[at] = Place::Slot(Kind::Immediate);
        }
    }

    /// Moves an argument to its parameter.
    fn hand_over(&mut self, from: usize, to: usize) {
        if from == to {
            return;
        }
        if let Place::Number { kind, .. } = self.state[from] {
            let number = self.variable(from, kind);
            return self.put_number(to, kind, number);
        }
        let (words, kind) = (self.slot(from), self.state[from].kind());
        if kind.counts() {
            let start = self.b.use_var(self.start);
            let nil = self.b.ins().iconst(I64, i64::from(tag::NIL));
            self.b.ins().store(TRUSTED, nil, start, Self::offset(from));
            self.state[from] = Place::Slot(Kind::Immediate);
        }
        self.put(to, words, kind);
    }

    /// The machine makes the call: it has run, or native code goes on elsewhere, or stops.
    fn call_slowly(&mut self, first: Register, op: Op) {
        let answer = self.ask(HELPERS.call);
        let [done, other] = [(); 2].map(|()| self.b.create_block());
        self.branch(answer, other, done);
        self.b.switch_to_block(other);
        self.jump_or_stop(answer, |this| this.b.ins().iconst(I64, 0));
        self.b.switch_to_block(done);
        self.find_start();
        // Where the result may be; what was above holds nothing.
        let results = match op {
            Op::TailCallValue { .. } => [first, first + 1],
            _ => [first, first],
        };
        for place in &mut self.state {
            *place = place.in_slot();
        }
        let above = usize::from(results[1]) + 1;
        if above < self.state.len() {
            self.state[above..].fill(Place::Slot(Kind::Immediate));
        }
        for at in results.map(usize::from) {
            if at < self.state.len() {
                self.state[at] = Place::Slot(Kind::Any);
            }
        }
        self.resume_here();
    }

    /// Native code goes on where a helper says, at an entry, or stops with its status.
    fn jump_or_stop(&mut self, answer: Value, entry: impl FnOnce(&mut Self) -> Value) {
        let [away, stop] = [(); 2].map(|()| self.b.create_block());
        let jumps = self.compare(IntCC::UnsignedGreaterThan, answer, status::LAST as i64);
        self.branch(jumps, away, stop);
        self.b.switch_to_block(stop);
        self.b.ins().return_(&[answer]);
        self.b.switch_to_block(away);
        let base = self.b.ins().uload32(TRUSTED, self.machine, LAYOUT.machine_base);
        let entry = entry(self);
        let arguments = [self.machine, self.lisp, base, entry];
        self.b.ins().return_call_indirect(self.native, answer, &arguments);
    }

    /// A throw, or an exit out of a closure: native code goes on where it lands.
    pub(crate) fn leave(&mut self) {
        self.save_all();
        let answer = self.ask(HELPERS.leave);
        self.jump_or_stop(answer, |this| {
            this.b.ins().uload32(TRUSTED, this.machine, LAYOUT.machine_pc)
        });
    }

    /// Closes the frame: its registers let go, the value goes where the caller wants it, and the
    /// caller goes on.
    pub(crate) fn return_from(&mut self, from: Register) {
        let from = usize::from(from);
        let words = self.words_of(from);
        for at in (0..self.state.len()).filter(|at| *at != from) {
            self.free(at);
        }
        if self.state[from].counts() {
            self.empty(from);
        }
        let top = self.load(I64, self.machine, LAYOUT.machine_top);
        let floor = self.load(I64, self.machine, LAYOUT.machine_floor);
        let [last, frame, native, bytecode] = [(); 4].map(|()| self.b.create_block());
        let is_last = self.b.ins().icmp(IntCC::Equal, top, floor);
        self.branch(is_last, last, frame);
        self.b.set_cold_block(last);
        self.b.switch_to_block(last);
        let start = self.b.use_var(self.start);
        self.write_at(start, 0, words);
        self.b.ins().istore32(TRUSTED, self.base, self.machine, LAYOUT.machine_base);
        self.answer(status::RETURNED);

        self.b.switch_to_block(frame);
        let size = self.b.ins().iconst(I64, LAYOUT.frame_size);
        let caller = self.b.ins().isub(top, size);
        let result = self.b.ins().uload32(TRUSTED, caller, LAYOUT.frame_result);
        let values = self.load(I64, self.machine, LAYOUT.machine_values);
        let four = self.b.ins().iconst(I64, 4);
        let offset = self.b.ins().ishl(result, four);
        let slot = self.b.ins().iadd(values, offset);
        self.write_at(slot, 0, words);
        let version = self.load(I64, caller, LAYOUT.frame_version);
        self.branch(version, native, bytecode);
        self.b.switch_to_block(bytecode);
        self.answer(status::RETURNED);

        self.b.switch_to_block(native);
        self.go_on_in(caller, version);
    }

    /// Opens a frame that waited in native code, which goes on.
    fn go_on_in(&mut self, caller: Value, version: Value) {
        self.b.ins().store(TRUSTED, caller, self.machine, LAYOUT.machine_top);
        let running = self.load(I64, self.machine, LAYOUT.machine_function);
        let function = self.load(I64, caller, LAYOUT.frame_function);
        self.b.ins().store(TRUSTED, function, self.machine, LAYOUT.machine_function);
        let tag = self.b.ins().iconst(I64, i64::from(tag::FUNCTION));
        self.discount_body(tag, running);
        let pc = self.b.ins().uload32(TRUSTED, caller, LAYOUT.frame_pc);
        let base = self.b.ins().uload32(TRUSTED, caller, LAYOUT.frame_base);
        let twice = self.b.ins().iadd(pc, pc);
        let one = self.b.ins().iconst(I64, 1);
        let entry = self.b.ins().bor(twice, one);
        let code = self.load(I64, version, 0);
        let arguments = [self.machine, self.lisp, base, entry];
        self.b.ins().return_call_indirect(self.native, code, &arguments);
    }
}
