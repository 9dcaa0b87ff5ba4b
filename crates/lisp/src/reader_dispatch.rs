//! Everything that begins with `#`: characters, vectors, arrays, other radices, `#'`, `#:`,
//! features, labels, structures. Packed literals are handed to `reader_packed`.

use std::collections::HashSet;

use crate::condition::Escape;
use crate::library::characters;
use crate::lisp::Lisp;
use crate::object::{GeneralArray, Object};
use crate::package;
use crate::reader::{Item, Read, Reader};
use crate::reader_packed;
use crate::reader_token::parse_rational;
use crate::symbol;
use crate::value::Value;

/// What an array may have; the reader checks before it multiplies extents.
const RANK_LIMIT: u64 = 64;

impl Reader {
    /// The form or comment whose `lead`, `#` as a rule, has been consumed; it stands at `start`.
    pub(crate) fn dispatch(&mut self, lisp: &mut Lisp, lead: char, start: usize) -> Read<Item> {
        let mut argument = None;
        while let Some(digit) = self.peek(lisp)?.and_then(|c| c.to_digit(10)) {
            self.next(lisp)?;
            let so_far: u64 = argument.unwrap_or(0);
            argument = Some(so_far.saturating_mul(10).saturating_add(u64::from(digit)));
        }
        let Some(character) = self.next(lisp)? else {
            return Err(self.incomplete(lisp, "a form", start));
        };
        if let Some(function) = self.table().and_then(|t| t.dispatched(lead, character)) {
            let number = argument.map_or(Value::Nil, |n| Value::size(n as usize));
            return self.call_macro(lisp, &function, &[Value::Char(character), number], start);
        }
        if self.class(lead) != '#' {
            return Err(self.wrong(start, format!("nothing is read by {lead}{character}")));
        }
        self.dispatched(lisp, character, argument, start)
    }

    /// What the standard readtable makes of `#`, the number and the character, all consumed.
    pub(crate) fn standard_dispatch(
        &mut self,
        lisp: &mut Lisp,
        character: char,
        argument: Option<u64>,
    ) -> Read<Item> {
        let start = self.position().saturating_sub(2);
        self.dispatched(lisp, character, argument, start)
    }

    fn dispatched(
        &mut self,
        lisp: &mut Lisp,
        character: char,
        argument: Option<u64>,
        start: usize,
    ) -> Read<Item> {
        if character.is_ascii_alphabetic() {
            return self.dispatch_word(lisp, character, argument, start);
        }
        match character {
            '\'' => self.prefixed(lisp, start, symbol::FUNCTION),
            '\\' => self.character(lisp, start).map(Item::Form),
            '(' => self.vector(lisp, argument, start).map(Item::Form),
            '|' => self.block_comment(lisp, start).map(|()| Item::Nothing),
            ':' => self.uninterned(lisp, start).map(Item::Form),
            '+' => self.conditional(lisp, start, true),
            '-' => self.conditional(lisp, start, false),
            '.' => self.evaluated(lisp, start).map(Item::Form),
            '*' => self.bits(lisp, argument, start).map(Item::Form),
            '=' => self.label(lisp, argument, start).map(Item::Form),
            '#' => self.reference(argument, start).map(Item::Form),
            '!' if start == 0 => self.skip_line(lisp).map(|()| Item::Nothing),
            _ => Err(self.wrong(start, format!("nothing is read by #{character}"))),
        }
    }

    /// `#` and a letter: the word that follows says which.
    fn dispatch_word(
        &mut self,
        lisp: &mut Lisp,
        first: char,
        argument: Option<u64>,
        start: usize,
    ) -> Read<Item> {
        let mut word = String::from(first.to_ascii_lowercase());
        while let Some(c) = self.peek(lisp)? {
            if self.ends_token(c) || matches!(c, '[' | '|' | '\\') {
                break;
            }
            self.next(lisp)?;
            word.push(c.to_ascii_lowercase());
        }
        if let Some((element, rest)) = reader_packed::prefix(&word) {
            let rest = rest.to_string();
            return self.packed(lisp, element, argument, &rest, start).map(Item::Form);
        }
        let (letter, rest) = word.split_at(1);
        if self.suppress && matches!(letter, "b" | "o" | "x" | "r") {
            return Ok(Item::Form(Value::Nil));
        }
        match (letter, argument) {
            ("b", None) => self.radix(rest, 2, start).map(Item::Form),
            ("o", None) => self.radix(rest, 8, start).map(Item::Form),
            ("x", None) => self.radix(rest, 16, start).map(Item::Form),
            ("r", Some(radix @ 2..=36)) => self.radix(rest, radix as u32, start).map(Item::Form),
            ("r", _) => Err(self.wrong(start, "the radix of #r must be from 2 to 36")),
            ("a", Some(rank)) => self.array(lisp, rank, rest, start).map(Item::Form),
            ("p", None) if rest.is_empty() => self.pathname(lisp, start).map(Item::Form),
            ("s", None) if rest.is_empty() => self.structure(lisp, start).map(Item::Form),
            ("c", None) if rest.is_empty() => self.complex(lisp, start).map(Item::Form),
            _ => Err(self.wrong(start, format!("nothing is read by #{word}"))),
        }
    }

    /// `#c(real imaginary)`.
    fn complex(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        let form = self.form(lisp, start)?;
        let parts = form.elements().take(3).collect::<Vec<_>>();
        match parts.as_slice() {
            _ if self.suppress => Ok(Value::Nil),
            [real, imaginary] if real.is_real() && imaginary.is_real() => {
                Ok(crate::numbers::complex(real.clone(), imaginary.clone()))
            }
            _ => Err(self.wrong(start, "#c wants a list of two real numbers")),
        }
    }

    fn radix(&mut self, text: &str, radix: u32, start: usize) -> Read<Value> {
        match parse_rational(text, radix) {
            Some(Some(value)) if !text.ends_with('.') => Ok(value),
            Some(None) => Err(self.wrong(start, format!("division by zero in {text}"))),
            _ => Err(self.wrong(start, format!("{text} is no number in radix {radix}"))),
        }
    }

    fn character(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        let Some(first) = self.next(lisp)? else {
            return Err(self.incomplete(lisp, "a form", start));
        };
        let mut name = String::from(first);
        while let Some(c) = self.peek(lisp)? {
            if self.ends_token(c) {
                break;
            }
            self.next(lisp)?;
            name.push(c);
        }
        match characters::named(&name) {
            _ if name.chars().nth(1).is_none() => Ok(Value::Char(first)),
            Some(character) => Ok(Value::Char(character)),
            None if self.suppress => Ok(Value::Nil),
            None => Err(self.wrong(start, format!("there is no character named {name}"))),
        }
    }

    /// `#(...)` and `#n(...)`, the last element repeated up to n.
    fn vector(&mut self, lisp: &mut Lisp, length: Option<u64>, start: usize) -> Read<Value> {
        let list = self.list(lisp, start)?;
        let mut elements = list.elements().collect::<Vec<_>>();
        if let Some(length) = length {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if elements.len() > length {
                return Err(self.wrong(start, format!("more than {length} elements in #{length}(")));
            }
            if length > elements.len() + (1 << 24) {
                return Err(self.wrong(start, "a vector literal of this length is too long"));
            }
            match elements.last().cloned() {
                Some(last) => elements.resize(length, last),
                None if length == 0 => {}
                None => return Err(self.wrong(start, "a vector literal without any element")),
            }
        }
        Ok(Value::vector(elements))
    }

    /// `#nA(...)`.
    fn array(&mut self, lisp: &mut Lisp, rank: u64, rest: &str, start: usize) -> Read<Value> {
        if rank > RANK_LIMIT {
            return Err(self.wrong(start, format!("an array has at most {RANK_LIMIT} axes")));
        }
        let contents = if rank == 0 && !rest.is_empty() {
            let mut inner = Reader::new(rest, None);
            inner.form(lisp, start)?
        } else if rest.is_empty() {
            self.form(lisp, start)?
        } else {
            return Err(self.wrong(start, format!("nothing is read by #{rank}a{rest}")));
        };
        let (mut dimensions, mut elements) = (Vec::new(), Vec::new());
        let mut level = contents.clone();
        for _ in 0..rank {
            let length = level.elements().count();
            dimensions.push(length);
            level = level.elements().next().unwrap_or_default();
        }
        if !fill_array(&contents, &dimensions, &mut elements) {
            return Err(self.wrong(start, "array literal is ragged"));
        }
        Ok(Value::object(Object::Array(GeneralArray::new(dimensions, elements))))
    }

    pub(crate) fn block_comment(&mut self, lisp: &mut Lisp, start: usize) -> Read<()> {
        let mut depth = 1;
        let mut previous = ' ';
        while let Some(character) = self.next(lisp)? {
            match (previous, character) {
                ('|', '#') => depth -= 1,
                ('#', '|') => depth += 1,
                _ => {
                    previous = character;
                    continue;
                }
            }
            // A bar or number sign that has closed or opened a level does not count twice.
            previous = ' ';
            if depth == 0 {
                return Ok(());
            }
        }
        Err(self.incomplete_at(lisp, "a comment", start))
    }

    fn uninterned(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        let token = self.token(lisp, start)?;
        Ok(Value::symbol(lisp.make_symbol(&token.text)))
    }

    /// `#+feature form` and `#-feature form`.
    fn conditional(&mut self, lisp: &mut Lisp, start: usize, wanted: bool) -> Read<Item> {
        let package = lisp.variable(symbol::CURRENT_PACKAGE).clone();
        let keyword = lisp.packages[package::KEYWORD].object.clone();
        lisp.set_variable(symbol::CURRENT_PACKAGE, keyword);
        let suppress = std::mem::replace(&mut self.suppress, false);
        let feature = self.form(lisp, start);
        self.suppress = suppress;
        lisp.set_variable(symbol::CURRENT_PACKAGE, package);
        let feature = feature?;
        let Some(present) = has_feature(lisp, &feature) else {
            return Err(self.wrong(start, "a feature is a symbol or a list of and, or, not"));
        };
        if present == wanted {
            return self.form(lisp, start).map(Item::Form);
        }
        let suppress = std::mem::replace(&mut self.suppress, true);
        let skipped = self.form(lisp, start);
        self.suppress = suppress;
        skipped.map(|_| Item::Nothing)
    }

    fn evaluated(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        let form = self.form(lisp, start)?;
        if self.suppress {
            return Ok(Value::Nil);
        }
        let allowed = lisp.variable(symbol::READ_EVAL);
        if allowed.is_nil() {
            return Err(self.wrong(start, "#. is not allowed while *read-eval* is nil"));
        }
        Ok(lisp.eval_form(&form)?)
    }

    /// `#*0110`, or `#n*` with the last bit repeated.
    fn bits(&mut self, lisp: &mut Lisp, length: Option<u64>, start: usize) -> Read<Value> {
        let token = self.token(lisp, start)?;
        if self.suppress {
            return Ok(Value::Nil);
        }
        let mut bits = Vec::new();
        for character in token.text.chars() {
            match character {
                '0' | '1' => bits.push(character == '1'),
                _ => return Err(self.wrong(start, "a bit vector holds only 0 and 1")),
            }
        }
        if let Some(length) = length {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            match bits.last().copied() {
                Some(last) if length >= bits.len() && length < 1 << 24 => bits.resize(length, last),
                None if length == 0 => {}
                _ => return Err(self.wrong(start, "a bit vector of the wrong length")),
            }
        }
        let bits = bits.into_iter().map(rung_base::Bool::from).collect::<Vec<_>>();
        let array = rung_array::Array::vector(&bits).map_err(Escape::from)?;
        Ok(Value::packed(array))
    }

    fn pathname(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        match self.form(lisp, start)? {
            Value::String(text) => Ok(Value::object(Object::Pathname(text.to_text()))),
            _ if self.suppress => Ok(Value::Nil),
            _ => Err(self.wrong(start, "#p wants a string")),
        }
    }

    /// `#s(name :slot value ...)` by the standard constructor of the structure.
    fn structure(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        let form = self.form(lisp, start)?;
        if self.suppress {
            return Ok(Value::Nil);
        }
        let mut parts = form.elements();
        let Some(name) = parts.next().and_then(|name| name.as_symbol()) else {
            return Err(self.wrong(start, "#s wants a list that begins with a structure's name"));
        };
        let package = lisp.symbols[name].package.unwrap_or(lisp.current_package());
        let constructor = lisp.intern(package, &format!("MAKE-{}", lisp.name(name)));
        let mut arguments = parts.collect::<Vec<_>>();
        for slot in arguments.iter_mut().step_by(2) {
            if let Some(symbol) = slot.as_symbol() {
                *slot = lisp.keyword(&lisp.name(symbol));
            }
        }
        Ok(lisp.call(&Value::symbol(constructor), &arguments)?)
    }

    /// `#n=form`: until the form is there, a marker stands for it.
    fn label(&mut self, lisp: &mut Lisp, label: Option<u64>, start: usize) -> Read<Value> {
        let Some(label) = label else { return Err(self.wrong(start, "#= wants a number")) };
        if self.suppress {
            return self.form(lisp, start);
        }
        if self.labels.contains_key(&label) {
            return Err(self.wrong(start, format!("#{label}= is there twice")));
        }
        let marker = Value::symbol(lisp.make_symbol("label"));
        self.labels.insert(label, marker.clone());
        let form = self.form(lisp, start)?;
        if form.eql(&marker) {
            return Err(self.wrong(start, format!("#{label}= names itself")));
        }
        self.labels.insert(label, form.clone());
        replace(&form, &marker, &form);
        Ok(form)
    }

    fn reference(&mut self, label: Option<u64>, start: usize) -> Read<Value> {
        match label.and_then(|label| self.labels.get(&label)) {
            Some(value) => Ok(value.clone()),
            None if self.suppress => Ok(Value::Nil),
            None => Err(self.wrong(start, "a label that is not defined before")),
        }
    }
}

/// The elements of nested lists of these lengths, in order; false when a length differs.
fn fill_array(contents: &Value, dimensions: &[usize], elements: &mut Vec<Value>) -> bool {
    let Some((length, inner)) = dimensions.split_first() else {
        elements.push(contents.clone());
        return true;
    };
    if !contents.is_list() {
        // A vector or a string may stand for a list.
        return false;
    }
    contents.elements().count() == *length
        && contents.elements().all(|part| fill_array(&part, inner, elements))
}

fn has_feature(lisp: &Lisp, feature: &Value) -> Option<bool> {
    if let Some(symbol) = feature.as_symbol() {
        let features = lisp.variable(symbol::FEATURES).clone();
        let name = lisp.name(symbol);
        let same = |value: Value| value.as_symbol().is_some_and(|s| lisp.name(s) == name);
        return Some(features.elements().any(same));
    }
    let mut parts = feature.elements();
    let operator = lisp.name(parts.next()?.as_symbol()?);
    let mut parts = parts.map(|part| has_feature(lisp, &part));
    match &*operator {
        "AND" => parts.try_fold(true, |so_far, part| Some(so_far & part?)),
        "OR" => parts.try_fold(false, |so_far, part| Some(so_far | part?)),
        "NOT" => parts.next()?.map(|present| !present),
        _ => None,
    }
}

/// Puts `value` where `marker` stands in what was just read.
fn replace(form: &Value, marker: &Value, value: &Value) {
    let mut seen = HashSet::new();
    let mut waiting = vec![form.clone()];
    while let Some(form) = waiting.pop() {
        match &form {
            Value::Cons(pair) if seen.insert(pair.address()) => {
                if pair.car().eql(marker) {
                    pair.set_car(value.clone());
                }
                if pair.cdr().eql(marker) {
                    pair.set_cdr(value.clone());
                }
                waiting.extend([pair.car(), pair.cdr()]);
            }
            Value::Object(object) if seen.insert(object.address()) => {
                let elements = match &**object {
                    Object::Array(array) => &array.own,
                    Object::Instance(instance) => &instance.slots,
                    _ => continue,
                };
                for element in elements.borrow_mut().iter_mut() {
                    if element.eql(marker) {
                        *element = value.clone();
                    }
                }
                waiting.extend(elements.borrow().iter().cloned());
            }
            _ => {}
        }
    }
}
