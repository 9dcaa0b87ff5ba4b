//! Reading and writing registers, and the counts of references.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, SigRef, TrapCode, Value};
use rung_lisp::Value as Lisp;
use rung_lisp::code::{Op, Register};
use rung_lisp::machine_code::{HELPERS, LAYOUT, status, tag};

use crate::flow;
use crate::state::{Kind, Place};
use crate::translate::Translator;
use crate::words::{SECOND, SIZE, TRUSTED, words};

/// More references to a body than can be counted.
const TOO_MANY: TrapCode = TrapCode::unwrap_user(1);

/// The two words of a value.
#[derive(Clone, Copy)]
pub(crate) struct Words(pub Value, pub Value);

impl Translator<'_> {
    pub(crate) fn offset(at: usize) -> i32 {
        at as i32 * SIZE
    }

    /// The tag in a register's slot.
    pub(crate) fn tag(&mut self, at: usize) -> Value {
        let start = self.b.use_var(self.start);
        self.b.ins().uload8(I64, TRUSTED, start, Self::offset(at))
    }

    /// The words in a register's slot.
    pub(crate) fn slot(&mut self, at: usize) -> Words {
        let start = self.b.use_var(self.start);
        self.words_at(start, Self::offset(at))
    }

    pub(crate) fn words_at(&mut self, from: Value, offset: i32) -> Words {
        Words(self.load(I64, from, offset), self.load(I64, from, offset + SECOND))
    }

    pub(crate) fn write_at(&mut self, to: Value, offset: i32, words: Words) {
        self.b.ins().store(TRUSTED, words.0, to, offset);
        self.b.ins().store(TRUSTED, words.1, to, offset + SECOND);
    }

    pub(crate) fn tag_of(&mut self, words: Words) -> Value {
        let mask = self.b.ins().iconst(I64, 0xff);
        self.b.ins().band(words.0, mask)
    }

    /// A register's words, wherever it is. Nothing is counted.
    pub(crate) fn words_of(&mut self, at: usize) -> Words {
        match self.state[at] {
            Place::Number { kind, .. } => {
                let number = self.variable(at, kind);
                self.boxed(kind, number)
            }
            Place::Slot(_) => self.slot(at),
        }
    }

    pub(crate) fn boxed(&mut self, kind: Kind, number: Value) -> Words {
        if kind == Kind::Double {
            let bits =
                self.b.ins().bitcast(I64, cranelift_codegen::ir::MemFlagsData::new(), number);
            return Words(self.b.ins().iconst(I64, i64::from(tag::DOUBLE)), bits);
        }
        Words(self.b.ins().iconst(I64, i64::from(tag::FIXNUM)), number)
    }

    /// Writes a number to a slot that refers to nothing.
    pub(crate) fn store_number(&mut self, start: Value, at: usize, kind: Kind, number: Value) {
        let words = self.boxed(kind, number);
        self.write_at(start, Self::offset(at), words);
    }

    /// A register's number goes to its slot as well.
    pub(crate) fn save(&mut self, at: usize, kind: Kind) {
        let number = self.variable(at, kind);
        let start = self.b.use_var(self.start);
        self.store_number(start, at, kind, number);
        self.state[at] = Place::Number { kind, saved: true };
    }

    /// What a slot surely holds as a number comes into its variable.
    pub(crate) fn load_number(&mut self, at: usize, kind: Kind) {
        let start = self.b.use_var(self.start);
        let content = if kind == Kind::Double { F64 } else { I64 };
        let number = self.load(content, start, Self::offset(at) + SECOND);
        self.define(at, kind, number);
        self.state[at] = Place::Number { kind, saved: true };
    }

    /// All numbers that somebody asks for go to their slots, for code that reads slots.
    pub(crate) fn save_all(&mut self) {
        for at in 0..self.state.len() {
            if self.state[at].is_unsaved() && self.source.live.before(self.pc, at) {
                self.save(at, self.state[at].kind());
            }
        }
    }

    /// One more reference, if a value is one. Gives its tag.
    pub(crate) fn count(&mut self, words: Words) -> Value {
        let found = self.tag_of(words);
        let counts = self.compare(IntCC::UnsignedGreaterThanOrEqual, found, i64::from(tag::HEAP));
        let [add, on] = [(); 2].map(|()| self.b.create_block());
        self.branch(counts, add, on);
        self.b.switch_to_block(add);
        self.count_body(words.1);
        self.jump(on);
        self.b.switch_to_block(on);
        found
    }

    pub(crate) fn count_body(&mut self, body: Value) {
        let count = self.load(I32, body, 0);
        let one = self.b.ins().iconst(I32, 1);
        let more = self.b.ins().uadd_overflow_trap(count, one, TOO_MANY);
        self.b.ins().store(TRUSTED, more, body, 0);
    }

    /// One reference less to a body; the last one frees it.
    pub(crate) fn discount_body(&mut self, tag: Value, body: Value) {
        let count = self.load(I32, body, 0);
        let one = self.b.ins().iconst(I32, 1);
        let left = self.b.ins().isub(count, one);
        self.b.ins().store(TRUSTED, left, body, 0);
        let [last, on] = [(); 2].map(|()| self.b.create_block());
        self.branch(left, on, last);
        self.b.set_cold_block(last);
        self.b.switch_to_block(last);
        self.call_aside(self.two, HELPERS.release, &[tag, body]);
        self.jump(on);
        self.b.switch_to_block(on);
    }

    /// Calls a helper on a path that is seldom taken. No register for doubles outlives a call, so they go
    /// through their slots: a loop would keep them in memory otherwise (a step of a sum of products took
    /// 4.9 ns instead of 2.8).
    pub(crate) fn call_aside(&mut self, signature: SigRef, helper: usize, arguments: &[Value]) {
        let doubles = (0..self.state.len()).filter(|at| match self.state[*at] {
            Place::Number { kind, .. } => kind == Kind::Double,
            Place::Slot(_) => false,
        });
        let doubles = doubles.collect::<Vec<_>>();
        let start = self.b.use_var(self.start);
        for at in doubles.iter().copied() {
            let number = self.variable(at, Kind::Double);
            self.store_number(start, at, Kind::Double, number);
        }
        let helper = self.b.ins().iconst(I64, helper as i64);
        self.b.ins().call_indirect(signature, helper, arguments);
        for at in doubles {
            let number = self.load(F64, start, Self::offset(at) + SECOND);
            self.define(at, Kind::Double, number);
        }
    }

    /// One reference less, if a value is one.
    pub(crate) fn discount(&mut self, words: Words) {
        let found = self.tag_of(words);
        let counts = self.compare(IntCC::UnsignedGreaterThanOrEqual, found, i64::from(tag::HEAP));
        let [take, on] = [(); 2].map(|()| self.b.create_block());
        self.branch(counts, take, on);
        self.b.switch_to_block(take);
        self.discount_body(found, words.1);
        self.jump(on);
        self.b.switch_to_block(on);
    }

    /// A slot lets go of what it refers to, and refers to nothing afterwards.
    pub(crate) fn drop_slot(&mut self, at: usize) {
        let found = self.tag(at);
        let counts = self.compare(IntCC::UnsignedGreaterThanOrEqual, found, i64::from(tag::HEAP));
        let [take, on] = [(); 2].map(|()| self.b.create_block());
        self.branch(counts, take, on);
        self.b.switch_to_block(take);
        let start = self.b.use_var(self.start);
        let body = self.load(I64, start, Self::offset(at) + SECOND);
        let nil = self.b.ins().iconst(I64, i64::from(tag::NIL));
        self.b.ins().store(TRUSTED, nil, start, Self::offset(at));
        self.discount_body(found, body);
        self.jump(on);
        self.b.switch_to_block(on);
    }

    /// Makes sure that a slot refers to nothing.
    pub(crate) fn free(&mut self, at: usize) {
        if self.state[at].counts() {
            self.drop_slot(at);
            self.state[at] = Place::Slot(Kind::Immediate);
        }
    }

    /// Puts words, counted already, into a register. What was there is let go of after that.
    pub(crate) fn put(&mut self, at: usize, words: Words, kind: Kind) {
        let start = self.b.use_var(self.start);
        if self.state[at].counts() {
            let old = self.slot(at);
            self.write_at(start, Self::offset(at), words);
            self.discount(old);
        } else {
            self.write_at(start, Self::offset(at), words);
        }
        self.state[at] = Place::Slot(kind);
    }

    /// Puts a number into a register.
    pub(crate) fn put_number(&mut self, at: usize, kind: Kind, number: Value) {
        self.free(at);
        self.define(at, kind, number);
        self.state[at] = Place::Number { kind, saved: false };
    }

    /// A copy of a register's words, counted, with what is known of it.
    pub(crate) fn copy(&mut self, at: usize) -> (Words, Kind) {
        let (words, kind) = (self.words_of(at), self.state[at].kind());
        if kind.counts() {
            self.count(words);
        }
        (words, kind)
    }

    /// A constant.
    fn constant(&mut self, to: usize, value: &Lisp) {
        if !self.source.live.before(self.pc + 1, to) {
            // Nobody asks for it.
            self.free(to);
            self.state[to] = Place::Slot(Kind::Immediate);
            return;
        }
        let [first, second] = words(value);
        match value {
            Lisp::Fixnum(number) => {
                let number = self.b.ins().iconst(I64, *number);
                self.put_number(to, Kind::Fixnum, number);
            }
            Lisp::Double(number) => {
                let number = self.b.ins().f64const(*number);
                self.put_number(to, Kind::Double, number);
            }
            _ => {
                let words =
                    Words(self.b.ins().iconst(I64, first), self.b.ins().iconst(I64, second));
                if value.is_immediate() {
                    self.put(to, words, Kind::Immediate);
                } else {
                    // The code, which runs, has it.
                    self.count_body(words.1);
                    self.put(to, words, Kind::Any);
                }
            }
        }
    }

    /// Moves between registers; `take`: the source holds nothing afterwards.
    fn copy_register(&mut self, to: usize, from: usize, take: bool) {
        if let Place::Number { kind, .. } = self.state[from] {
            let number = self.variable(from, kind);
            if to != from {
                self.put_number(to, kind, number);
            }
            return;
        }
        if take && to != from {
            let (words, kind) = (self.slot(from), self.state[from].kind());
            if kind.counts() {
                let start = self.b.use_var(self.start);
                let nil = self.b.ins().iconst(I64, i64::from(tag::NIL));
                self.b.ins().store(TRUSTED, nil, start, Self::offset(from));
                self.state[from] = Place::Slot(Kind::Immediate);
            }
            self.put(to, words, kind);
        } else if to != from {
            let (words, kind) = self.copy(from);
            self.put(to, words, kind);
        }
    }

    /// Translates what is neither jump, call nor test.
    pub(crate) fn plain(&mut self, op: Op) {
        let to = flow::writes(op).map_or(0, usize::from);
        match op {
            Op::Move { from, .. } => self.copy_register(to, usize::from(from), false),
            Op::Take { from, .. } => self.copy_register(to, usize::from(from), true),
            Op::Constant { index, .. } => {
                let code = self.source.code;
                self.constant(to, &code.constants[index as usize]);
            }
            Op::Fixnum { value, .. } => self.constant(to, &Lisp::Fixnum(i64::from(value))),
            Op::Nil { .. } => self.constant(to, &Lisp::Nil),
            Op::True { .. } => self.constant(to, &rung_lisp::value::T),
            Op::Unbound { .. } => self.constant(to, &Lisp::Unbound),
            Op::Clear { at } => self.clear(usize::from(at)),
            Op::Single => self.b_single(),
            Op::Global { symbol, .. } => self.global(to, symbol),
            Op::SetGlobal { from, symbol } => self.set_global(usize::from(from), symbol),
            Op::Add { .. }
            | Op::Subtract { .. }
            | Op::Multiply { .. }
            | Op::Divide { .. }
            | Op::AddSmall { .. } => self.arithmetic(op, to),
            Op::Car { a, .. } => self.half(to, usize::from(a), LAYOUT.pair_car),
            Op::Cdr { a, .. } => self.half(to, usize::from(a), LAYOUT.pair_cdr),
            Op::Cons { a, b, .. } => self.cons(to, usize::from(a), usize::from(b)),
            Op::SetCar { pair, from } => self.set_half(pair, from, LAYOUT.pair_car),
            Op::SetCdr { pair, from } => self.set_half(pair, from, LAYOUT.pair_cdr),
            Op::Aref { array, index, .. } => self.element(to, array.into(), index.into()),
            Op::ArefPlane { array, first, .. } => {
                self.plane_element(to, array.into(), first.into());
            }
            Op::SetAref { array, index, from } => {
                self.set_element(array.into(), index.into(), from.into());
            }
            Op::Bind { from, symbol } => self.bind(from.into(), symbol),
            Op::Unbind { count } => {
                let count = self.b.ins().iconst(I64, i64::from(count));
                let helper = self.b.ins().iconst(I64, HELPERS.unbind as i64);
                self.b.ins().call_indirect(self.two, helper, &[self.lisp, count]);
            }
            _ => self.step(),
        }
    }

    fn bind(&mut self, from: usize, symbol: rung_lisp::symbol::Symbol) {
        if self.state[from].is_unsaved() {
            self.save(from, self.state[from].kind());
        }
        let start = self.b.use_var(self.start);
        let offset = self.b.ins().iconst(I64, i64::from(Self::offset(from)));
        let slot = self.b.ins().iadd(start, offset);
        let symbol = self.b.ins().iconst(I64, i64::from(symbol.number()));
        let helper = self.b.ins().iconst(I64, HELPERS.bind as i64);
        self.b.ins().call_indirect(self.three, helper, &[self.lisp, symbol, slot]);
    }

    fn clear(&mut self, at: usize) {
        let wanted = self.source.live.before(self.pc + 1, at);
        if wanted {
            self.constant(at, &Lisp::Nil);
        } else {
            self.free(at);
            self.state[at] = Place::Slot(Kind::Immediate);
        }
    }

    /// The last call gave one value.
    pub(crate) fn b_single(&mut self) {
        let no = self.b.ins().iconst(I64, 0);
        self.b.ins().istore8(TRUSTED, no, self.lisp, LAYOUT.lisp_multiple);
    }

    /// Where the cell of a symbol is.
    pub(crate) fn symbol(&mut self, symbol: rung_lisp::symbol::Symbol, field: i64) -> Value {
        let start = self.load(I64, self.lisp, LAYOUT.lisp_symbols);
        let offset = i64::from(symbol.number()) * LAYOUT.symbol_size + field;
        let offset = self.b.ins().iconst(I64, offset);
        self.b.ins().iadd(start, offset)
    }

    fn global(&mut self, to: usize, symbol: rung_lisp::symbol::Symbol) {
        if self.met().is_some() {
            return self.step();
        }
        let cell = self.symbol(symbol, LAYOUT.symbol_value);
        let words = self.words_at(cell, 0);
        let found = self.tag_of(words);
        let bound = self.compare(IntCC::NotEqual, found, i64::from(tag::UNBOUND));
        self.guard(bound);
        self.count(words);
        self.put(to, words, Kind::Any);
    }

    fn set_global(&mut self, from: usize, symbol: rung_lisp::symbol::Symbol) {
        let (words, _) = self.copy(from);
        let cell = self.symbol(symbol, LAYOUT.symbol_value);
        let old = self.words_at(cell, 0);
        self.write_at(cell, 0, words);
        self.discount(old);
    }

    /// The pair in a register; where there is none native code stops.
    fn pair(&mut self, at: usize) -> Value {
        let found = self.tag(at);
        let is = self.is(found, tag::CONS);
        self.guard(is);
        let start = self.b.use_var(self.start);
        self.load(I64, start, Self::offset(at) + SECOND)
    }

    fn half(&mut self, to: usize, a: usize, half: i32) {
        if self.met().is_some() || matches!(self.state[a], Place::Number { .. }) {
            return self.step();
        }
        let found = self.tag(a);
        let [pair, other, on] = [(); 3].map(|()| self.b.create_block());
        let [first, second] = [(); 2].map(|()| self.b.append_block_param(on, I64));
        let is = self.is(found, tag::CONS);
        self.branch(is, pair, other);
        self.b.switch_to_block(pair);
        let start = self.b.use_var(self.start);
        let body = self.load(I64, start, Self::offset(a) + SECOND);
        let words = self.words_at(body, half);
        self.count(words);
        self.b.ins().jump(on, &[words.0.into(), words.1.into()]);
        self.b.switch_to_block(other);
        let nil = self.is(found, tag::NIL);
        self.guard(nil);
        let zero = self.b.ins().iconst(I64, 0);
        self.b.ins().jump(on, &[zero.into(), zero.into()]);
        self.b.switch_to_block(on);
        self.put(to, Words(first, second), Kind::Any);
    }

    fn set_half(&mut self, pair: Register, from: Register, half: i32) {
        let (pair, from) = (usize::from(pair), usize::from(from));
        if self.met().is_some() || matches!(self.state[pair], Place::Number { .. }) {
            return self.step();
        }
        let body = self.pair(pair);
        let (words, _) = self.copy(from);
        let old = self.words_at(body, half);
        self.write_at(body, half, words);
        self.discount(old);
    }

    /// A pair from the list of free ones; the machine makes more.
    fn cons(&mut self, to: usize, a: usize, b: usize) {
        self.save_all();
        let list = self.load(I64, self.machine, LAYOUT.machine_pairs);
        let body = self.load(I64, list, 0);
        let [fast, slow, on] = [(); 3].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        self.branch(body, fast, slow);
        self.b.switch_to_block(slow);
        let state = self.state.clone();
        self.step();
        self.jump(on);
        self.state = state;
        self.b.switch_to_block(fast);
        let next = self.load(I64, body, LAYOUT.free_next);
        self.b.ins().store(TRUSTED, next, list, 0);
        let header = self.b.ins().iconst(I64, 1);
        self.b.ins().store(TRUSTED, header, body, 0);
        let (car, _) = self.copy(a);
        self.write_at(body, LAYOUT.pair_car, car);
        let (cdr, _) = self.copy(b);
        self.write_at(body, LAYOUT.pair_cdr, cdr);
        let tag = self.b.ins().iconst(I64, i64::from(tag::CONS));
        self.put(to, Words(tag, body), Kind::Any);
        self.jump(on);
        self.b.switch_to_block(on);
    }

    /// Leaves the instruction to the machine.
    pub(crate) fn step(&mut self) {
        self.save_all();
        let answer = self.ask(HELPERS.step);
        let [failed, on] = [(); 2].map(|()| self.b.create_block());
        let fails = self.compare(IntCC::NotEqual, answer, status::DONE as i64);
        self.branch(fails, failed, on);
        self.b.set_cold_block(failed);
        self.b.switch_to_block(failed);
        self.answer(status::FAILED);
        self.b.switch_to_block(on);
        self.forget_written();
    }

    /// Calls a helper that gets the machine, stopped before the running instruction.
    pub(crate) fn ask(&mut self, helper: usize) -> Value {
        let helper = self.b.ins().iconst(I64, helper as i64);
        let version = self.b.ins().iconst(I64, self.source.version as i64);
        let pc = self.b.ins().iconst(I64, self.pc as i64);
        let arguments = [self.machine, self.lisp, version, self.base, pc];
        let call = self.b.ins().call_indirect(self.helper, helper, &arguments);
        self.b.inst_results(call)[0]
    }

    /// What the machine has written is not known.
    fn forget_written(&mut self) {
        let any = Place::Slot(Kind::Any);
        match self.op() {
            Op::Spread { from, to, count } => {
                self.state[usize::from(from)] = any;
                let first = usize::from(to);
                self.state[first..first + usize::from(count)].fill(any);
            }
            Op::BeginCleanup { from } | Op::SaveValues { from } => {
                self.state[usize::from(from)] = any;
            }
            op => {
                if let Some(written) = flow::writes(op) {
                    self.state[usize::from(written)] = any;
                }
            }
        }
    }
}
