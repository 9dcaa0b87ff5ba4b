//! The loop over instructions.
//!
//! One function, longer than the house rule allows, because it is a `match` with an arm per
//! instruction and the compiler keeps `pc` and `base` in machine registers only inside one
//! function. Arms are short; what is not short is a method elsewhere.

use crate::code::{Function, Op};
use crate::condition::Outcome;
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::machine_code::STRIDE;
use crate::numbers;
use crate::value::{NIL, T, Value, cons};

use super::calls::{closure_of, too_many_frames};
use super::{Frame, Lot, Machine, arithmetic};

impl Machine {
    /// Runs until the first frame returns, or native code is to go on (`Ok` of none), or something
    /// stops (`Err`); then `pc` is one after the instruction that stopped.
    #[allow(clippy::too_many_lines)]
    pub(super) fn execute(&mut self, lisp: &mut Lisp) -> Outcome<Option<Value>> {
        let mut pc = self.pc;
        let mut base = self.base;
        let mut ops = self.ops.clone();

        macro_rules! at {
            ($register:expr) => {
                self.stacks.values[base + $register as usize]
            };
        }
        // Before anything that looks at `self.pc` or `self.ops`.
        macro_rules! settle {
            () => {{
                self.pc = pc;
                self.ops = ops.clone();
            }};
        }
        // An element that was read may have brought its array home.
        macro_rules! charge {
            () => {
                if let Some(fetches) = crate::packed::fetched() {
                    settle!();
                    self.note_site(lisp);
                    lisp.charge(fetches);
                }
            };
        }
        // The value is made before the register is looked at.
        macro_rules! set {
            ($register:expr, $value:expr) => {{
                let value = $value;
                at!($register).put(value);
            }};
        }
        macro_rules! stop {
            ($escape:expr) => {{
                let escape = $escape;
                settle!();
                return Err(escape);
            }};
        }
        macro_rules! attempt {
            ($outcome:expr) => {
                match $outcome {
                    Ok(value) => value,
                    Err(escape) => stop!(escape),
                }
            };
        }
        // After a method that may have changed the running function.
        macro_rules! resume {
            () => {{
                if self.version.is_some() {
                    return Ok(None);
                }
                pc = self.pc;
                base = self.base;
                ops = self.ops.clone();
            }};
        }
        macro_rules! poll {
            () => {
                if lisp.interrupted() {
                    settle!();
                    attempt!(self.interrupt(lisp));
                }
            };
        }
        // A test that holds skips the jump that follows it.
        macro_rules! test {
            ($truth:expr) => {
                if $truth {
                    pc += 1;
                } else if let Op::Jump { target } = ops[pc] {
                    pc = target as usize;
                }
            };
        }
        let mut result;
        // Leaves `result`, where the value goes; from the first frame it returns the value.
        macro_rules! close_frame {
            ($value:expr) => {
                for slot in &mut self.stacks.values[base..base + self.registers] {
                    slot.release();
                }
                let Some(frame) = self.stacks.frames.pop() else { return Ok(Some($value)) };
                if frame.version.is_some() {
                    let result = frame.result as usize;
                    self.reopen(frame);
                    self.stacks.values[result].put($value);
                    return Ok(None);
                }
                pc = frame.pc as usize;
                base = frame.base as usize;
                let Some(next) = frame.ops else { continue };
                ops = next;
                self.base = base;
                self.registers = frame.registers as usize;
                self.function = frame.function;
                result = frame.result as usize;
            };
        }
        macro_rules! leave_frame {
            ($value:expr) => {{
                let value = $value;
                close_frame!(value);
                self.stacks.values[result].put(value);
            }};
        }
        // A call of a closure whose arguments lie as its parameters do.
        macro_rules! open_frame {
            ($callee:expr, $count:expr, $first:expr, $result:expr) => {{
                poll!();
                let callee = $callee;
                let code = &closure_of(&callee).code;
                let version = lisp.tick(code);
                let registers = code.registers as usize;
                let callee_ops = code.ops.clone();
                if self.stacks.frames.len() >= self.frame_limit {
                    stop!(too_many_frames(lisp));
                }
                let needed = $first + registers;
                if self.stacks.values.len() < needed {
                    self.stacks.values.resize(needed + needed / 2 + 64, NIL);
                }
                self.stacks.frames.push(Frame {
                    function: std::mem::replace(&mut self.function, callee),
                    ops: Some(std::mem::replace(&mut ops, callee_ops)),
                    version: None,
                    pc: pc as u32,
                    base: base as u32,
                    registers: self.registers as u32,
                    result: $result as u32,
                });
                base = $first;
                pc = 0;
                self.base = base;
                self.registers = registers;
                if version.is_some() {
                    self.stacks.clear(base + $count as usize, needed);
                    settle!();
                    self.version = version;
                    return Ok(None);
                }
            }};
        }
        // Numbers are written in place; see `Value::put_fixnum`.
        macro_rules! binary {
            ($to:expr, $a:expr, $b:expr, $checked:ident, $operator:tt, $slow:ident) => {{
                match (&at!($a), &at!($b)) {
                    (Value::Fixnum(x), Value::Fixnum(y)) => {
                        if let Some(result) = x.$checked(*y) {
                            at!($to).put_fixnum(result);
                            continue;
                        }
                    }
                    (Value::Double(x), Value::Double(y)) => {
                        let result = x $operator y;
                        at!($to).put_double(result);
                        continue;
                    }
                    _ => {}
                }
                set!($to, attempt!(numbers::$slow(&at!($a), &at!($b))))
            }};
        }
        macro_rules! copy {
            ($to:expr, $from:expr) => {
                match &at!($from) {
                    Value::Fixnum(number) => {
                        let number = *number;
                        at!($to).put_fixnum(number);
                    }
                    Value::Double(number) => {
                        let number = *number;
                        at!($to).put_double(number);
                    }
                    other => {
                        let value = other.clone();
                        at!($to).put(value);
                    }
                }
            };
        }

        loop {
            let op = ops[pc];
            pc += 1;
            match op {
                Op::Move { to, from } => copy!(to, from),
                Op::Take { to, from } => match &mut at!(from) {
                    Value::Fixnum(_) | Value::Double(_) => copy!(to, from),
                    other => {
                        let value = std::mem::take(other);
                        at!(to).put(value);
                    }
                },
                Op::Constant { to, index } => {
                    set!(to, self.code().constants[index as usize].clone());
                }
                Op::Fixnum { to, value } => at!(to).put_fixnum(i64::from(value)),
                Op::Nil { to } => set!(to, NIL),
                Op::True { to } => set!(to, T),
                Op::Unbound { to } => set!(to, Value::Unbound),
                Op::Clear { at } => set!(at, NIL),
                Op::Jump { target } => pc = target as usize,
                Op::Loop { target } => {
                    poll!();
                    pc = target as usize;
                    lisp.native.tick = lisp.native.tick.wrapping_sub(1);
                    if lisp.native.tick > STRIDE {
                        lisp.native.tick = lisp.stride();
                        let version = lisp.sample(&closure_of(&self.function).code);
                        if version.is_some() {
                            settle!();
                            self.version = version;
                            return Ok(None);
                        }
                    }
                }
                Op::JumpIfNil { at, target } => {
                    if at!(at).is_nil() {
                        pc = target as usize;
                    }
                }
                Op::JumpIfTrue { at, target } => {
                    if at!(at).truth() {
                        pc = target as usize;
                    }
                }
                Op::JumpIfBound { at, target } => {
                    if !at!(at).is_unbound() {
                        pc = target as usize;
                    }
                }
                Op::Call { base: first, count, symbol } => {
                    let first = base + first as usize;
                    let Value::Function(function) = &lisp.symbols[symbol].function else {
                        settle!();
                        let function = attempt!(self.callee(lisp, symbol));
                        attempt!(self.call(lisp, function, first, count as usize, first));
                        resume!();
                        continue;
                    };
                    match &**function {
                        Function::Closure(closure)
                            if closure.code.simple == Some(u16::from(count)) =>
                        {
                            let callee = function.clone();
                            open_frame!(callee, count, first, first);
                        }
                        Function::Native(_) => {
                            let function = function.clone();
                            let Function::Native(native) = &*function else { continue };
                            self.pc = pc;
                            let outcome = self.native(lisp, native, first, count as usize);
                            attempt!(self.stacks.values[first].put_result(outcome));
                        }
                        _ => {
                            let function = function.clone();
                            settle!();
                            attempt!(self.call(lisp, function, first, count as usize, first));
                            resume!();
                        }
                    }
                }
                Op::TailCall { base: first, count, symbol } => {
                    if let Value::Function(function) = &lisp.symbols[symbol].function
                        && let Function::Closure(closure) = &**function
                        && closure.code.simple == Some(u16::from(count))
                        && !closure.code.lines.is_empty()
                    {
                        let registers = closure.code.registers as usize;
                        if !Ref::same(function, &self.function) {
                            ops = closure.code.ops.clone();
                            self.function = function.clone();
                        }
                        poll!();
                        let (first, count) = (base + first as usize, count as usize);
                        self.move_down(base, first, count, registers);
                        pc = 0;
                        let version = lisp.tick(&closure_of(&self.function).code);
                        if version.is_some() {
                            settle!();
                            self.version = version;
                            return Ok(None);
                        }
                        continue;
                    }
                    settle!();
                    let function = attempt!(self.callee(lisp, symbol));
                    let first = base + first as usize;
                    match attempt!(self.tail_call(lisp, function, first, count as usize)) {
                        Some(value) => leave_frame!(value),
                        None => resume!(),
                    }
                }
                Op::CallValue { base: result, count } => {
                    let result = base + result as usize;
                    if let Value::Function(function) = &self.stacks.values[result]
                        && let Function::Closure(closure) = &**function
                        && closure.code.simple == Some(count)
                    {
                        let callee = function.clone();
                        self.stacks.values[result].release();
                        open_frame!(callee, count, result + 1, result);
                        continue;
                    }
                    poll!();
                    settle!();
                    let designator = std::mem::take(&mut self.stacks.values[result]);
                    let function = attempt!(self.designated(lisp, &designator));
                    attempt!(self.call(lisp, function, result + 1, count as usize, result));
                    resume!();
                }
                Op::TailCallValue { base: first, count } => {
                    settle!();
                    let first = base + first as usize;
                    let designator = std::mem::take(&mut self.stacks.values[first]);
                    let function = attempt!(self.designated(lisp, &designator));
                    match attempt!(self.tail_call(lisp, function, first + 1, count as usize)) {
                        Some(value) => leave_frame!(value),
                        None => resume!(),
                    }
                }
                Op::Return { from } => {
                    lisp.multiple = false;
                    if let Value::Fixnum(number) = &at!(from) {
                        let number = *number;
                        close_frame!(Value::Fixnum(number));
                        self.stacks.values[result].put_fixnum(number);
                    } else {
                        leave_frame!(std::mem::take(&mut at!(from)));
                    }
                }
                Op::ReturnValues { from } => leave_frame!(std::mem::take(&mut at!(from))),
                Op::Test { comparison, a, b } => {
                    test!(attempt!(arithmetic::compare(comparison, &at!(a), &at!(b))));
                }
                Op::TestSmall { comparison, a, value } => {
                    test!(attempt!(arithmetic::compare_small(comparison, &at!(a), value)));
                }
                // `eq` compares numbers and characters as `eql` does: they are immediate.
                Op::TestEq { a, b } | Op::TestEql { a, b } => test!(at!(a).eql(&at!(b))),
                Op::TestValue { question, a } => {
                    test!(attempt!(arithmetic::ask(question, &at!(a))));
                }
                Op::Add { to, a, b } => binary!(to, a, b, checked_add, +, add),
                Op::Subtract { to, a, b } => binary!(to, a, b, checked_sub, -, subtract),
                Op::Multiply { to, a, b } => binary!(to, a, b, checked_mul, *, multiply),
                Op::Divide { to, a, b } => {
                    set!(to, attempt!(arithmetic::divide(&at!(a), &at!(b))));
                }
                Op::AddSmall { to, a, value } => {
                    if let Value::Fixnum(x) = &at!(a)
                        && let Some(sum) = x.checked_add(i64::from(value))
                    {
                        at!(to).put_fixnum(sum);
                        continue;
                    }
                    set!(to, attempt!(arithmetic::add_small(&at!(a), value)));
                }
                Op::Car { to, a } => set!(to, attempt!(arithmetic::car(&at!(a)))),
                Op::Cdr { to, a } => set!(to, attempt!(arithmetic::cdr(&at!(a)))),
                Op::Cons { to, a, b } => set!(to, cons(at!(a).clone(), at!(b).clone())),
                Op::Aref { to, array, index } => {
                    match crate::library::arrays::aref(&at!(array), &at!(index)) {
                        Ok(element) => set!(to, element),
                        Err(escape) => {
                            settle!();
                            set!(to, self.instead_of_element(lisp, escape)?);
                        }
                    }
                    charge!();
                }
                Op::SetAref { array, index, from } => {
                    let value = at!(from).clone();
                    let (array, index) = (&at!(array), &at!(index));
                    attempt!(crate::library::arrays::set_aref(array, index, value));
                    charge!();
                }
                Op::SetCar { pair, from } => {
                    attempt!(arithmetic::set_car(&at!(pair), at!(from).clone()));
                }
                Op::SetCdr { pair, from } => {
                    attempt!(arithmetic::set_cdr(&at!(pair), at!(from).clone()));
                }
                Op::CallSaved { base: result, count } => {
                    settle!();
                    attempt!(self.call_saved(lisp, base + result as usize, count as usize));
                    resume!();
                }
                Op::Throw { tag, from } => {
                    settle!();
                    if !self.throw_near(lisp, tag, from) {
                        attempt!(self.step(lisp, op, base));
                    }
                    resume!();
                }
                other => {
                    // A variable without a value says where it stands, and asks what to use.
                    self.pc = pc;
                    attempt!(self.step(lisp, other, base));
                }
            }
        }
    }

    /// Makes arguments at `first` the first registers of a frame that starts again at `base`.
    #[inline(always)]
    fn move_down(&mut self, base: usize, first: usize, count: usize, registers: usize) {
        let values = &mut self.stacks.values;
        for index in 0..count {
            if let Value::Fixnum(number) = &values[first + index] {
                let number = *number;
                values[base + index].put_fixnum(number);
            } else {
                values.swap(base + index, first + index);
            }
        }
        let end = (base + self.registers).max(first + count);
        values[base + count..end].iter_mut().for_each(Value::release);
        if values.len() < base + registers {
            values.resize(base + registers + 64, NIL);
        }
        self.registers = registers;
    }

    /// Calls the function in `result` on all values of the last `count` lots.
    pub(super) fn call_saved(
        &mut self,
        lisp: &mut Lisp,
        result: usize,
        count: usize,
    ) -> Outcome<()> {
        let designator = std::mem::take(&mut self.stacks.values[result]);
        let function = self.designated(lisp, &designator)?;
        let start = self.stacks.lots.len() - count;
        let lots = self.stacks.lots.drain(start..).collect::<Vec<_>>();
        let arguments = lots.into_iter().flat_map(Lot::into_values).collect::<Vec<_>>();
        self.call_on(lisp, function, arguments, result)
    }

    /// Calls a function on arguments that are not in registers yet.
    fn call_on(
        &mut self,
        lisp: &mut Lisp,
        function: Ref<Function>,
        arguments: Vec<Value>,
        result: usize,
    ) -> Outcome<()> {
        let first = (self.base + self.registers).max(result + 1);
        let count = arguments.len();
        if self.stacks.values.len() < first + count {
            self.stacks.values.resize(first + count + 64, NIL);
        }
        for (index, argument) in arguments.into_iter().enumerate() {
            self.stacks.values[first + index] = argument;
        }
        let called = self.call(lisp, function, first, count, result);
        if called.is_err() {
            // No frame has them: what lies above the running frame holds nothing.
            self.stacks.clear(first, first + count);
        }
        called
    }
}
