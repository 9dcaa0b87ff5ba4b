//! Numbers and tests. The kinds of operands are known, or guessed: that of the other operand, or
//! fixnums, or what the instruction has met when a guess had failed.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use rung_lisp::code::{Comparison, Op, Question};
use rung_lisp::machine_code::{Guess, HELPERS, status, tag};

use crate::flow::{self, Next};
use crate::state::{Kind, Place};
use crate::translate::Translator;
use crate::words::SECOND;

/// What an instruction computes with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Fixnums,
    Doubles,
    /// Doubles, or one double and one fixnum, which becomes one.
    Mixed,
    /// The machine does it.
    Any,
}

fn integer_condition(comparison: Comparison) -> IntCC {
    match comparison {
        Comparison::Less => IntCC::SignedLessThan,
        Comparison::Greater => IntCC::SignedGreaterThan,
        Comparison::LessEqual => IntCC::SignedLessThanOrEqual,
        Comparison::GreaterEqual => IntCC::SignedGreaterThanOrEqual,
        Comparison::Equal => IntCC::Equal,
        Comparison::NotEqual => IntCC::NotEqual,
    }
}

/// False where one is no number, but for `/=`.
fn float_condition(comparison: Comparison) -> FloatCC {
    match comparison {
        Comparison::Less => FloatCC::LessThan,
        Comparison::Greater => FloatCC::GreaterThan,
        Comparison::LessEqual => FloatCC::LessThanOrEqual,
        Comparison::GreaterEqual => FloatCC::GreaterThanOrEqual,
        Comparison::Equal => FloatCC::Equal,
        Comparison::NotEqual => FloatCC::NotEqual,
    }
}

impl Translator<'_> {
    /// What two operands are taken to be.
    fn numbers(&self, a: usize, b: usize) -> Numbers {
        let number = |kind| matches!(kind, Kind::Fixnum | Kind::Double);
        let (a, b) = (self.state[a].kind(), self.state[b].kind());
        match (a, b, self.met()) {
            (.., Some(Guess::Any)) => Numbers::Any,
            (Kind::Fixnum, Kind::Fixnum, _) => Numbers::Fixnums,
            (Kind::Double, Kind::Double, _) => Numbers::Doubles,
            _ if number(a) && number(b) => Numbers::Mixed,
            (.., Some(Guess::Double)) => Numbers::Mixed,
            (Kind::Double, ..) | (_, Kind::Double, _) => Numbers::Doubles,
            _ => Numbers::Fixnums,
        }
    }

    /// A register's number, of a kind that is known or made sure of.
    pub(crate) fn number(&mut self, at: usize, kind: Kind) -> Value {
        let known = self.state[at].kind();
        if known != kind {
            let wanted = if kind == Kind::Double { tag::DOUBLE } else { tag::FIXNUM };
            let is = match known {
                // The slot of a number of the other kind may hold what was there before.
                Kind::Fixnum | Kind::Double => self.b.ins().iconst(I64, 0),
                Kind::Any | Kind::Packed | Kind::Immediate => {
                    let found = self.tag(at);
                    self.is(found, wanted)
                }
            };
            self.guard(is);
            self.load_number(at, kind);
        } else if let Place::Slot(_) = self.state[at] {
            self.load_number(at, kind);
        }
        self.variable(at, kind)
    }

    /// A register's number as a double, be it a double or a fixnum.
    fn as_double(&mut self, at: usize) -> Value {
        match self.state[at].kind() {
            Kind::Double => self.number(at, Kind::Double),
            Kind::Fixnum => {
                let number = self.number(at, Kind::Fixnum);
                self.b.ins().fcvt_from_sint(F64, number)
            }
            _ => {
                let found = self.tag(at);
                let [double, other, on] = [(); 3].map(|()| self.b.create_block());
                let result = self.b.append_block_param(on, F64);
                let is = self.is(found, tag::DOUBLE);
                self.branch(is, double, other);
                self.b.switch_to_block(double);
                let start = self.b.use_var(self.start);
                let number = self.load(F64, start, Self::offset(at) + SECOND);
                self.b.ins().jump(on, &[number.into()]);
                self.b.switch_to_block(other);
                let fixnum = self.is(found, tag::FIXNUM);
                self.guard(fixnum);
                let number = self.load(I64, start, Self::offset(at) + SECOND);
                let number = self.b.ins().fcvt_from_sint(F64, number);
                self.b.ins().jump(on, &[number.into()]);
                self.b.switch_to_block(on);
                result
            }
        }
    }

    /// Two operands as doubles, one of which is one.
    fn mixed(&mut self, a: usize, b: usize) -> [Value; 2] {
        let known = |kind| kind == Kind::Double;
        if !known(self.state[a].kind()) && !known(self.state[b].kind()) {
            let fixnum = |this: &mut Self, at: usize| match this.state[at].kind() {
                Kind::Fixnum => None,
                _ => {
                    let found = this.tag(at);
                    Some(this.compare(IntCC::NotEqual, found, i64::from(tag::FIXNUM)))
                }
            };
            let one = match (fixnum(self, a), fixnum(self, b)) {
                (Some(a), Some(b)) => Some(self.b.ins().bor(a, b)),
                (a, b) => a.or(b),
            };
            if let Some(one) = one {
                self.guard(one);
            }
        }
        [a, b].map(|at| self.as_double(at))
    }

    /// Translates one of the four operations.
    pub(crate) fn arithmetic(&mut self, op: Op, to: usize) {
        match op {
            Op::AddSmall { a, value, .. } => self.add_small(to, a.into(), value),
            Op::Add { a, b, .. }
            | Op::Subtract { a, b, .. }
            | Op::Multiply { a, b, .. }
            | Op::Divide { a, b, .. } => {
                let (a, b) = (usize::from(a), usize::from(b));
                let numbers = self.numbers(a, b);
                let divides = matches!(op, Op::Divide { .. });
                match numbers {
                    Numbers::Any => self.step(),
                    Numbers::Fixnums if divides => self.step(),
                    Numbers::Fixnums => self.fixnums(op, to, a, b),
                    Numbers::Doubles => {
                        let operands = [a, b].map(|at| self.number(at, Kind::Double));
                        self.doubles(op, to, operands);
                    }
                    Numbers::Mixed => {
                        let operands = self.mixed(a, b);
                        self.doubles(op, to, operands);
                    }
                }
            }
            _ => self.step(),
        }
    }

    fn fixnums(&mut self, op: Op, to: usize, a: usize, b: usize) {
        let [x, y] = [a, b].map(|at| self.number(at, Kind::Fixnum));
        let (result, overflow) = match op {
            Op::Add { .. } => self.b.ins().sadd_overflow(x, y),
            Op::Subtract { .. } => self.b.ins().ssub_overflow(x, y),
            _ => self.b.ins().smul_overflow(x, y),
        };
        self.put_unless(overflow, to, result);
    }

    /// Puts a fixnum into a register unless it is too large; then native code stops before.
    fn put_unless(&mut self, overflow: Value, to: usize, result: Value) {
        let (stop, on) = (self.exit(), self.b.create_block());
        self.branch(overflow, stop, on);
        self.b.switch_to_block(on);
        self.put_number(to, Kind::Fixnum, result);
    }

    fn doubles(&mut self, op: Op, to: usize, [x, y]: [Value; 2]) {
        let result = match op {
            Op::Add { .. } => self.b.ins().fadd(x, y),
            Op::Subtract { .. } => self.b.ins().fsub(x, y),
            Op::Multiply { .. } => self.b.ins().fmul(x, y),
            _ => self.b.ins().fdiv(x, y),
        };
        self.put_number(to, Kind::Double, result);
    }

    /// What one operand is taken to be; none: the machine does it.
    fn one(&self, a: usize) -> Option<Kind> {
        match (self.state[a].kind(), self.met()) {
            (_, Some(Guess::Any)) => None,
            (kind @ (Kind::Fixnum | Kind::Double), _) => Some(kind),
            (_, Some(Guess::Double)) => Some(Kind::Double),
            _ => Some(Kind::Fixnum),
        }
    }

    fn add_small(&mut self, to: usize, a: usize, value: i16) {
        match self.one(a) {
            None => self.step(),
            Some(Kind::Double) => {
                let x = self.number(a, Kind::Double);
                let y = self.b.ins().f64const(f64::from(value));
                let sum = self.b.ins().fadd(x, y);
                self.put_number(to, Kind::Double, sum);
            }
            Some(_) => {
                let x = self.number(a, Kind::Fixnum);
                let y = self.b.ins().iconst(I64, i64::from(value));
                let (sum, overflow) = self.b.ins().sadd_overflow(x, y);
                self.put_unless(overflow, to, sum);
            }
        }
    }

    /// Translates a test and the jump after it.
    pub(crate) fn test(&mut self, op: Op) {
        let holds = match op {
            Op::Test { comparison, a, b } => self.compared(comparison, a.into(), b.into()),
            Op::TestSmall { comparison, a, value } => {
                self.compared_small(comparison, a.into(), value)
            }
            Op::TestEq { a, b } | Op::TestEql { a, b } => self.same(a.into(), b.into()),
            Op::TestValue { question, a } => self.asked(question, a.into()),
            _ => None,
        };
        let holds = match holds {
            Some(holds) => holds,
            None => self.tested(),
        };
        if let Next::Test(yes, no) = flow::next(&self.source.code.ops, self.pc) {
            self.fork(holds, yes, no);
        }
    }

    /// Leaves a test to the machine.
    fn tested(&mut self) -> Value {
        self.save_all();
        let answer = self.ask(HELPERS.test);
        let [failed, on] = [(); 2].map(|()| self.b.create_block());
        let fails = self.compare(IntCC::Equal, answer, status::FAILED as i64);
        self.branch(fails, failed, on);
        self.b.set_cold_block(failed);
        self.b.switch_to_block(failed);
        self.answer(status::FAILED);
        self.b.switch_to_block(on);
        answer
    }

    fn compared(&mut self, comparison: Comparison, a: usize, b: usize) -> Option<Value> {
        let kind = match self.numbers(a, b) {
            Numbers::Fixnums => Kind::Fixnum,
            Numbers::Doubles => Kind::Double,
            // Doubles met doubles; a fixnum and a double compare exactly.
            Numbers::Mixed if self.met() == Some(Guess::Double) => Kind::Double,
            Numbers::Mixed | Numbers::Any => return None,
        };
        let known = [a, b].map(|at| self.state[at].kind());
        if known.iter().any(|known| matches!(known, Kind::Fixnum | Kind::Double) && *known != kind)
        {
            return None;
        }
        let [x, y] = [a, b].map(|at| self.number(at, kind));
        Some(match kind {
            Kind::Double => self.b.ins().fcmp(float_condition(comparison), x, y),
            _ => self.b.ins().icmp(integer_condition(comparison), x, y),
        })
    }

    fn compared_small(&mut self, comparison: Comparison, a: usize, value: i16) -> Option<Value> {
        let kind = self.one(a)?;
        let x = self.number(a, kind);
        Some(match kind {
            Kind::Double => {
                let y = self.b.ins().f64const(f64::from(value));
                self.b.ins().fcmp(float_condition(comparison), x, y)
            }
            _ => self.compare(integer_condition(comparison), x, i64::from(value)),
        })
    }

    fn asked(&mut self, question: Question, a: usize) -> Option<Value> {
        if question == Question::Zero {
            return self.compared_small(Comparison::Equal, a, 0);
        }
        let found = match self.state[a] {
            Place::Number { .. } => self.b.ins().iconst(I64, i64::from(tag::FIXNUM)),
            Place::Slot(_) => self.tag(a),
        };
        let condition = if question == Question::Cons { IntCC::Equal } else { IntCC::NotEqual };
        Some(self.compare(condition, found, i64::from(tag::CONS)))
    }

    /// `eql`: by tags and words where that is all; two large numbers are the machine's to compare.
    fn same(&mut self, a: usize, b: usize) -> Option<Value> {
        let (x, y) = (self.words_of(a), self.words_of(b));
        // A helper compares slots.
        self.save_all();
        let (tag_x, tag_y) = (self.tag_of(x), self.tag_of(y));
        let [alike, small, others, words, objects, slow, on] =
            [(); 7].map(|()| self.b.create_block());
        self.b.set_cold_block(slow);
        let result = self.b.append_block_param(on, I64);
        let [no, yes] = [0, 1].map(|truth| self.b.ins().iconst(I64, truth));
        let same_tag = self.b.ins().icmp(IntCC::Equal, tag_x, tag_y);
        self.b.ins().brif(same_tag, alike, &[], on, &[no.into()]);

        // Singles, characters and symbols stand beside their tag.
        self.b.switch_to_block(alike);
        let first = self.b.ins().iconst(I64, i64::from(tag::SINGLE));
        let rank = self.b.ins().isub(tag_x, first);
        let is_small = self.compare(IntCC::UnsignedLessThan, rank, 3);
        self.branch(is_small, small, others);
        self.b.switch_to_block(small);
        let shift = self.b.ins().iconst(I64, 32);
        let [left, right] = [x, y].map(|words| self.b.ins().ushr(words.0, shift));
        let same = self.b.ins().icmp(IntCC::Equal, left, right);
        let same = self.b.ins().uextend(I64, same);
        self.b.ins().jump(on, &[same.into()]);

        self.b.switch_to_block(others);
        let alone = self.compare(IntCC::UnsignedLessThan, tag_x, i64::from(tag::FIXNUM));
        self.b.ins().brif(alone, on, &[yes.into()], words, &[]);
        self.b.switch_to_block(words);
        let same = self.b.ins().icmp(IntCC::Equal, x.1, y.1);
        self.b.ins().brif(same, on, &[yes.into()], objects, &[]);
        self.b.switch_to_block(objects);
        let object = self.is(tag_x, tag::OBJECT);
        self.b.ins().brif(object, slow, &[], on, &[no.into()]);
        self.b.switch_to_block(slow);
        let same = self.tested();
        self.b.ins().jump(on, &[same.into()]);
        self.b.switch_to_block(on);
        Some(result)
    }
}
