//! Elements of vectors: of general ones where they stand, of packed ones through their window.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use rung_lisp::machine_code::{ArrayLayout, Guess, HELPERS, array_layout, tag, window_kind};

use crate::state::{Kind, Place};
use crate::translate::Translator;
use crate::words::{SECOND, TRUSTED};

impl Translator<'_> {
    /// The array in a register, of that variant of objects.
    fn array(&mut self, places: &ArrayLayout, at: usize, variant: u8) -> Value {
        if variant == tag::PACKED && self.state[at] == Place::Slot(Kind::Packed) {
            return self.body(at);
        }
        let stop = self.exit();
        let body = self.object(places, at, variant, stop);
        if variant == tag::PACKED {
            self.state[at] = Place::Slot(Kind::Packed);
        }
        body
    }

    /// Before a loop: what it indexes in each round without writing it is looked at once. A wrong guess
    /// leaves the loop to the bytecode.
    pub(crate) fn look_before_loop(&mut self, to: usize) {
        let source = self.source;
        let (Some(places), Some(indexed)) = (array_layout(), source.indexed.get(&to)) else {
            return;
        };
        for at in indexed.iter().copied() {
            if self.state[at] == Place::Slot(Kind::Any) {
                let stop = self.new_exit_at(to, false);
                self.object(places, at, tag::PACKED, stop);
                self.state[at] = Place::Slot(Kind::Packed);
            }
        }
    }

    /// The body of a register's object of that variant; goes to `otherwise` where it holds none.
    pub(crate) fn object(
        &mut self,
        places: &ArrayLayout,
        at: usize,
        variant: u8,
        otherwise: Block,
    ) -> Value {
        let found = self.tag(at);
        let is = self.is(found, tag::OBJECT);
        self.only_if(is, otherwise);
        let body = self.body(at);
        let found = self.b.ins().uload8(I64, TRUSTED, body, places.tag);
        let is = self.is(found, variant);
        self.only_if(is, otherwise);
        body
    }

    /// What the second word of a register's slot points to.
    fn body(&mut self, at: usize) -> Value {
        let start = self.b.use_var(self.start);
        self.load(I64, start, Self::offset(at) + SECOND)
    }

    /// The general array in a register, with so many axes and elements of its own.
    fn general_array(&mut self, places: &ArrayLayout, array: usize, axes: i64) -> Value {
        let body = self.array(places, array, tag::ARRAY);
        let rank = self.load(I64, body, places.rank);
        let fits = self.compare(IntCC::Equal, rank, axes);
        self.guard(fits);
        let shown = self.load(I64, body, places.shown);
        let own = self.compare(IntCC::Equal, shown, 0);
        self.guard(own);
        body
    }

    /// Where an element of a general vector is.
    fn general(&mut self, places: &ArrayLayout, array: usize, index: usize) -> Value {
        let at = self.number(index, Kind::Fixnum);
        let body = self.general_array(places, array, 1);
        self.general_at(places, body, at)
    }

    /// Where the element at a position in row-major order is.
    fn general_at(&mut self, places: &ArrayLayout, body: Value, at: Value) -> Value {
        let length = self.load(I64, body, places.length);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, length);
        self.guard(inside);
        let data = self.load(I64, body, places.data);
        let four = self.b.ins().iconst(I64, 4);
        let offset = self.b.ins().ishl(at, four);
        self.b.ins().iadd(data, offset)
    }

    /// An element of a general array with two axes; others are left to the machine.
    pub(crate) fn plane_element(&mut self, to: usize, array: usize, first: usize) {
        let Some(places) = array_layout() else { return self.step() };
        if self.met().is_some() || matches!(self.state[array], Place::Number { .. }) {
            return self.step();
        }
        let [i, j] = [first, first + 1].map(|at| self.number(at, Kind::Fixnum));
        let body = self.general_array(places, array, 2);
        let axes = self.load(I64, body, places.axes);
        let [rows, columns] = [0, 8].map(|offset| self.load(I64, axes, offset));
        for (index, length) in [(i, rows), (j, columns)] {
            let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, index, length);
            self.guard(inside);
        }
        let row = self.b.ins().imul(i, columns);
        let at = self.b.ins().iadd(row, j);
        let element = self.general_at(places, body, at);
        let words = self.words_at(element, 0);
        self.count(words);
        self.put(to, words, Kind::Any);
    }

    /// The window of a packed vector with that index below the length at a place, and the address of
    /// its elements.
    fn window(
        &mut self,
        places: &ArrayLayout,
        array: usize,
        at: Value,
        length_at: i32,
    ) -> [Value; 2] {
        let body = self.array(places, array, tag::PACKED);
        let packed = self.load(I64, body, places.packed);
        let length = self.load(I64, packed, length_at);
        let [closed, on] = [(); 2].map(|()| self.b.create_block());
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, length);
        self.branch(inside, on, closed);
        self.b.set_cold_block(closed);
        self.b.switch_to_block(closed);
        let start = self.b.use_var(self.start);
        let offset = self.b.ins().iconst(I64, i64::from(Self::offset(array)));
        let slot = self.b.ins().iadd(start, offset);
        self.call_aside(self.single, HELPERS.open, &[slot]);
        let length = self.load(I64, packed, length_at);
        let inside = self.b.ins().icmp(IntCC::UnsignedLessThan, at, length);
        let stop = self.exit();
        self.branch(inside, on, stop);
        self.b.switch_to_block(on);
        let data = self.load(I64, packed, places.window_data);
        [packed, data]
    }

    fn expect_window(&mut self, places: &ArrayLayout, packed: Value, kind: u64) {
        let found = self.load(I64, packed, places.window_kind);
        let is = self.compare(IntCC::Equal, found, kind as i64);
        self.guard(is);
    }

    /// The address of an element of eight bytes.
    fn eighth(&mut self, data: Value, at: Value) -> Value {
        let three = self.b.ins().iconst(I64, 3);
        let offset = self.b.ins().ishl(at, three);
        self.b.ins().iadd(data, offset)
    }

    pub(crate) fn element(&mut self, to: usize, array: usize, index: usize) {
        let Some(places) = array_layout() else { return self.step() };
        if matches!(self.state[array], Place::Number { .. }) {
            return self.step();
        }
        match self.met() {
            Some(Guess::Any) => self.step(),
            None => {
                let element = self.general(places, array, index);
                let words = self.words_at(element, 0);
                self.count(words);
                self.put(to, words, Kind::Any);
            }
            Some(Guess::Double) => {
                let at = self.number(index, Kind::Fixnum);
                let [_, data] = self.window(places, array, at, places.window_doubles);
                let element = self.eighth(data, at);
                let number = self.load(F64, element, 0);
                self.put_number(to, Kind::Double, number);
            }
            Some(Guess::Fixnum) => self.fixnum(places, to, array, index),
        }
    }

    /// An element that is a byte or a fixnum.
    fn fixnum(&mut self, places: &ArrayLayout, to: usize, array: usize, index: usize) {
        let at = self.number(index, Kind::Fixnum);
        let [packed, data] = self.window(places, array, at, places.window_length);
        let found = self.load(I64, packed, places.window_kind);
        let [byte, word, on] = [(); 3].map(|()| self.b.create_block());
        let number = self.b.append_block_param(on, I64);
        let bytes = self.compare(IntCC::Equal, found, window_kind::BYTES as i64);
        self.branch(bytes, byte, word);
        self.b.switch_to_block(byte);
        let element = self.b.ins().iadd(data, at);
        let read = self.b.ins().uload8(I64, TRUSTED, element, 0);
        self.b.ins().jump(on, &[read.into()]);
        self.b.switch_to_block(word);
        self.expect_window(places, packed, window_kind::FIXNUMS);
        let element = self.eighth(data, at);
        let read = self.load(I64, element, 0);
        self.b.ins().jump(on, &[read.into()]);
        self.b.switch_to_block(on);
        self.put_number(to, Kind::Fixnum, number);
    }

    pub(crate) fn set_element(&mut self, array: usize, index: usize, from: usize) {
        let Some(places) = array_layout() else { return self.step() };
        if matches!(self.state[array], Place::Number { .. }) {
            return self.step();
        }
        match self.met() {
            Some(Guess::Any) => self.step(),
            None => {
                let element = self.general(places, array, index);
                let (words, _) = self.copy(from);
                let old = self.words_at(element, 0);
                self.write_at(element, 0, words);
                self.discount(old);
            }
            Some(Guess::Double) => {
                let at = self.number(index, Kind::Fixnum);
                let [_, data] = self.window(places, array, at, places.window_doubles);
                let number = self.number(from, Kind::Double);
                let element = self.eighth(data, at);
                self.b.ins().store(TRUSTED, number, element, 0);
            }
            Some(Guess::Fixnum) => self.set_fixnum(places, array, index, from),
        }
    }

    fn set_fixnum(&mut self, places: &ArrayLayout, array: usize, index: usize, from: usize) {
        let number = self.number(from, Kind::Fixnum);
        let at = self.number(index, Kind::Fixnum);
        let [packed, data] = self.window(places, array, at, places.window_length);
        let found = self.load(I64, packed, places.window_kind);
        let [byte, word, on] = [(); 3].map(|()| self.b.create_block());
        let bytes = self.compare(IntCC::Equal, found, window_kind::BYTES as i64);
        self.branch(bytes, byte, word);
        self.b.switch_to_block(byte);
        let most = self.load(I64, packed, places.window_most);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, number, most);
        self.guard(fits);
        let element = self.b.ins().iadd(data, at);
        self.b.ins().istore8(TRUSTED, number, element, 0);
        self.jump(on);
        self.b.switch_to_block(word);
        self.expect_window(places, packed, window_kind::FIXNUMS);
        let element = self.eighth(data, at);
        self.b.ins().store(TRUSTED, number, element, 0);
        self.jump(on);
        self.b.switch_to_block(on);
    }
}
