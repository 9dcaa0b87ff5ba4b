//! The printer: values to text. This file has the settings, symbols, strings, numbers and lists;
//! arrays and the rarer objects are in `printer_objects`, digits of floats in `printer_float`,
//! the language's functions in `printer_natives`. Streams are not here: the printer gives text.
//!
//! Nesting recurses and is stopped by `stack`; lists are walked in a loop. A list whose end is
//! itself gets labels even when `*print-circle*` is nil, because there is no printing all of it.

use std::collections::HashMap;

use num_bigint::BigInt;

use crate::condition::{Escape, Outcome};
use crate::heap::Ref;
use crate::library::characters::name_of;
use crate::lisp::Lisp;
use crate::object::{Cons, Object};
use crate::package::{self, Access, PackageId};
use crate::printer_float::{Digits, special};
use crate::printer_names::{in_case, needs_bars};
use crate::printer_objects::of_object;
use crate::reader_token::FloatFormat;
use crate::readtable::ReadCase;
use crate::stack;
use crate::symbol::{self, Symbol};
use crate::value::Value;

pub use crate::printer_natives::PRINTER;

/// As `prin1` prints it: what the reader reads back.
pub fn prin1(lisp: &mut Lisp, value: &Value) -> Outcome<String> {
    print_with(lisp, value, true)
}

/// As `princ` prints it: for people.
pub fn princ(lisp: &mut Lisp, value: &Value) -> Outcome<String> {
    print_with(lisp, value, false)
}

/// With `*print-escape*` as given; without it `*print-readably*` does not count either.
pub fn print_with(lisp: &mut Lisp, value: &Value, escape: bool) -> Outcome<String> {
    let settings = Settings::of(lisp);
    let readably = settings.readably && escape;
    let settings = Settings { escape: escape || readably, readably, ..settings };
    print_as(lisp, value, settings)
}

/// As the prompt shows a value: of an array of more than 1000 elements only the ends of each
/// axis.
pub fn for_prompt(lisp: &mut Lisp, value: &Value) -> Outcome<String> {
    let settings = Settings { elide: true, ..Settings::of(lisp) };
    print_as(lisp, value, Settings { escape: true, ..settings })
}

/// As `prin1` or `princ`, whichever the variables say, without the program's own method for the
/// object itself.
pub(crate) fn print_without_methods(lisp: &mut Lisp, value: &Value) -> Outcome<String> {
    let settings = Settings::of(lisp);
    let mut printer = Printer::new(Reach::Full(lisp), settings);
    printer.plain = matches!(value, Value::Object(_));
    printer.value(value)?;
    Ok(printer.out)
}

/// With all settings given.
pub(crate) fn print_as(lisp: &mut Lisp, value: &Value, settings: Settings) -> Outcome<String> {
    let mut printer = Printer::new(Reach::Full(lisp), settings);
    if printer.settings.circle {
        printer.find_shared(value);
    }
    printer.value(value)?;
    Ok(printer.out)
}

/// A value for a message: as `prin1`, at most 60 characters, and never an error.
pub fn brief(lisp: &Lisp, value: &Value) -> String {
    let settings = Settings {
        escape: true,
        readably: false,
        length: Some(30),
        level: Some(6),
        ..Settings::of(lisp)
    };
    let mut printer = Printer::new(Reach::Reading(lisp), settings);
    printer.limit = BRIEF * 4 + 4;
    if printer.value(value).is_err() {
        return "#<an object>".to_string();
    }
    let text = printer.out.replace('\n', "\\n");
    if text.chars().count() <= BRIEF {
        return text;
    }
    text.chars().take(BRIEF - 3).chain("...".chars()).collect()
}

const BRIEF: usize = 60;

/// How symbols are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Up,
    Down,
    Capital,
}

/// The printer's variables.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub(crate) escape: bool,
    pub(crate) readably: bool,
    pub(crate) base: u32,
    pub(crate) radix: bool,
    pub(crate) case: Case,
    /// `readtable-case` of the current readtable.
    pub(crate) read_case: ReadCase,
    pub(crate) length: Option<usize>,
    pub(crate) level: Option<usize>,
    pub(crate) circle: bool,
    pub(crate) gensym: bool,
    pub(crate) array: bool,
    pub(crate) element_type: bool,
    /// Large arrays lose their middle.
    pub(crate) elide: bool,
}

impl Settings {
    /// What the variables say now.
    pub(crate) fn of(lisp: &Lisp) -> Settings {
        // A variable that the embedder has not given a value is as at start-up.
        let set = |name: Symbol, unset: bool| match lisp.variable(name) {
            Value::Unbound => unset,
            value => value.truth(),
        };
        let bound = |name: Symbol| lisp.variable(name).as_index();
        let readably = set(symbol::PRINT_READABLY, false);
        let case = lisp.variable(symbol::PRINT_CASE);
        Settings {
            escape: set(symbol::PRINT_ESCAPE, true) || readably,
            readably,
            base: match lisp.variable(symbol::PRINT_BASE).as_fixnum() {
                Some(base @ 2..=36) => base as u32,
                _ => 10,
            },
            radix: set(symbol::PRINT_RADIX, false),
            case: match () {
                () if case.is_symbol(symbol::KEY_DOWNCASE) => Case::Down,
                () if case.is_symbol(symbol::KEY_CAPITALIZE) => Case::Capital,
                () => Case::Up,
            },
            read_case: lisp
                .variable(symbol::READTABLE)
                .as_readtable()
                .map_or_else(ReadCase::default, |table| table.case.get()),
            length: bound(symbol::PRINT_LENGTH).filter(|_| !readably),
            level: bound(symbol::PRINT_LEVEL).filter(|_| !readably),
            circle: set(symbol::PRINT_CIRCLE, false),
            gensym: set(symbol::PRINT_GENSYM, true),
            array: set(symbol::PRINT_ARRAY, true) || readably,
            element_type: set(symbol::PRINT_ELEMENT_TYPE, false) || readably,
            elide: false,
        }
    }
}

impl Settings {
    /// Binds the variables to what they would have to be at this depth.
    pub(crate) fn bind(&self, lisp: &mut Lisp, depth: usize) {
        let bound = |bound: Option<usize>| bound.map(Value::size).unwrap_or_default();
        let case = match self.case {
            Case::Up => symbol::KEY_UPCASE,
            Case::Down => symbol::KEY_DOWNCASE,
            Case::Capital => symbol::KEY_CAPITALIZE,
        };
        lisp.bind(symbol::PRINT_ESCAPE, Value::boolean(self.escape));
        lisp.bind(symbol::PRINT_READABLY, Value::boolean(self.readably));
        lisp.bind(symbol::PRINT_BASE, Value::Fixnum(self.base.into()));
        lisp.bind(symbol::PRINT_RADIX, Value::boolean(self.radix));
        lisp.bind(symbol::PRINT_CASE, Value::symbol(case));
        lisp.bind(symbol::PRINT_LENGTH, bound(self.length));
        lisp.bind(symbol::PRINT_LEVEL, bound(self.level.map(|level| level.saturating_sub(depth))));
        lisp.bind(symbol::PRINT_CIRCLE, Value::boolean(self.circle));
        lisp.bind(symbol::PRINT_GENSYM, Value::boolean(self.gensym));
        lisp.bind(symbol::PRINT_ARRAY, Value::boolean(self.array));
    }
}

/// Messages are made while nobody may change the Lisp; then no code of the program runs.
pub(crate) enum Reach<'a> {
    Full(&'a mut Lisp),
    Reading(&'a Lisp),
}

/// One printing under way.
pub(crate) struct Printer<'a> {
    reach: Reach<'a>,
    pub(crate) settings: Settings,
    pub(crate) out: String,
    pub(crate) depth: usize,
    /// Stop after so many bytes.
    limit: usize,
    /// Addresses of what occurs more than once; the label once it has one.
    shared: HashMap<usize, Option<u32>>,
    labels: u32,
    float_format: FloatFormat,
    package: PackageId,
    /// The next object is printed by the language's method, not by the program's.
    pub(crate) plain: bool,
}

impl<'a> Printer<'a> {
    fn new(reach: Reach<'a>, settings: Settings) -> Printer<'a> {
        let lisp = match &reach {
            Reach::Full(lisp) => &**lisp,
            Reach::Reading(lisp) => lisp,
        };
        let (float_format, package) = (FloatFormat::current(lisp), lisp.current_package());
        Printer {
            reach,
            settings,
            out: String::new(),
            depth: 0,
            limit: usize::MAX,
            shared: HashMap::new(),
            labels: 0,
            float_format,
            package,
            plain: false,
        }
    }

    pub(crate) fn lisp(&self) -> &Lisp {
        match &self.reach {
            Reach::Full(lisp) => lisp,
            Reach::Reading(lisp) => lisp,
        }
    }

    /// The Lisp for running code of the program, where that is allowed.
    pub(crate) fn running_lisp(&mut self) -> Option<&mut Lisp> {
        match &mut self.reach {
            Reach::Full(lisp) => Some(lisp),
            Reach::Reading(_) => None,
        }
    }

    pub(crate) fn full(&self) -> bool {
        self.out.len() > self.limit
    }

    /// Prints one value.
    pub(crate) fn value(&mut self, value: &Value) -> Outcome<()> {
        stack::check("the object being printed")?;
        match value {
            Value::Nil => self.symbol(symbol::NIL),
            Value::Unbound => self.unreadable("UNBOUND")?,
            Value::Fixnum(n) if self.settings.base == 10 && !self.settings.radix => {
                self.out.push_str(&n.to_string());
            }
            Value::Fixnum(n) => self.integer(&BigInt::from(*n)),
            Value::Double(x) => self.double(*x),
            Value::Single(x) => self.single(*x),
            Value::Char(character) => self.character(*character),
            Value::Symbol(symbol) => self.symbol(*symbol),
            Value::Cons(pair) => return self.list(pair),
            Value::Function(function) => {
                return self.function(function).map_err(|escape| of_object(escape, value));
            }
            Value::String(text) => self.string(&text.to_text()),
            Value::Cell(_) => self.unreadable("CELL")?,
            Value::Object(object) => {
                return self.object(object).map_err(|escape| of_object(escape, value));
            }
        }
        Ok(())
    }

    /// `#<words>`, which `*print-readably*` forbids.
    pub(crate) fn unreadable(&mut self, words: &str) -> Outcome<()> {
        if self.settings.readably {
            let text = format!("#<{words}> cannot be printed readably");
            return Err(Escape::of(symbol::PRINT_NOT_READABLE, text));
        }
        self.out.push_str(&format!("#<{words}>"));
        Ok(())
    }

    /// An integer in the current base, with its radix where wanted.
    pub(crate) fn integer(&mut self, n: &BigInt) {
        let digits = n.to_str_radix(self.settings.base).to_uppercase();
        let marked = self.settings.radix || self.settings.readably && self.settings.base != 10;
        match (marked, self.settings.base) {
            (false, _) => self.out.push_str(&digits),
            (true, 10) => self.out.push_str(&format!("{digits}.")),
            (true, base) => self.out.push_str(&format!("{}{digits}", radix_prefix(base))),
        }
    }

    pub(crate) fn ratio(&mut self, numerator: &BigInt, denominator: &BigInt) {
        let base = self.settings.base;
        let digits = |n: &BigInt| n.to_str_radix(base).to_uppercase();
        if self.settings.radix || self.settings.readably && base != 10 {
            self.out.push_str(&radix_prefix(base));
        }
        self.out.push_str(&format!("{}/{}", digits(numerator), digits(denominator)));
    }

    fn double(&mut self, x: f64) {
        let other = self.float_format != FloatFormat::Double;
        let text = self.float(x, Digits::of_double, "double", if other { Some('d') } else { None });
        self.out.push_str(&text);
    }

    fn single(&mut self, x: f32) {
        let other = self.float_format != FloatFormat::Single;
        let digits = |_: f64| Digits::of_single(x);
        let text = self.float(x.into(), digits, "single", if other { Some('f') } else { None });
        self.out.push_str(&text);
    }

    fn float(
        &self,
        x: f64,
        digits: impl Fn(f64) -> Digits,
        kind: &str,
        marker: Option<char>,
    ) -> String {
        match special(x) {
            Some(name) if !self.settings.escape => name.to_string(),
            Some(name) => format!("#.rung:{kind}-{}", name.replace('-', "neg-")),
            None => {
                let sign = if x.is_sign_negative() { "-" } else { "" };
                format!("{sign}{}", digits(x).printed(marker.unwrap_or('e'), marker))
            }
        }
    }

    fn character(&mut self, character: char) {
        if !self.settings.escape {
            return self.out.push(character);
        }
        self.out.push_str("#\\");
        match name_of(character) {
            Some(name) => self.out.push_str(&name),
            None => self.out.push(character),
        }
    }

    pub(crate) fn string(&mut self, text: &str) {
        if !self.settings.escape {
            return self.out.push_str(text);
        }
        self.out.push('"');
        for character in text.chars() {
            if matches!(character, '"' | '\\') {
                self.out.push('\\');
            }
            self.out.push(character);
        }
        self.out.push('"');
    }

    /// A symbol with as much of package prefix and bars as it needs.
    pub(crate) fn symbol(&mut self, symbol: Symbol) {
        let name = self.lisp().name(symbol);
        if self.settings.escape {
            let prefix = self.prefix(symbol);
            self.out.push_str(&prefix);
            if needs_bars(&name, self.settings.base, self.settings.read_case) {
                self.out.push('|');
                for character in name.chars() {
                    if matches!(character, '|' | '\\') {
                        self.out.push('\\');
                    }
                    self.out.push(character);
                }
                return self.out.push('|');
            }
        }
        let shown = in_case(&name, self.settings.case, self.settings.read_case);
        self.out.push_str(&shown);
    }

    fn prefix(&self, symbol: Symbol) -> String {
        let lisp = self.lisp();
        let Some(home) = lisp.symbols[symbol].package else {
            return if self.settings.gensym { "#:".to_string() } else { String::new() };
        };
        if home == package::KEYWORD {
            return ":".to_string();
        }
        if lisp.access(self.package, symbol).is_some() {
            return String::new();
        }
        let colons = match lisp.access(home, symbol) {
            Some(Access::External) => ":",
            _ => "::",
        };
        let name = &lisp.packages[home].name;
        if needs_bars(name, 10, self.settings.read_case) {
            return format!("|{}|{colons}", name.replace('\\', "\\\\").replace('|', "\\|"));
        }
        format!("{}{colons}", in_case(name, self.settings.case, self.settings.read_case))
    }

    /// Goes one level in; false when that is too deep by `*print-level*` and `#` stands for it.
    pub(crate) fn descend(&mut self) -> bool {
        if self.settings.level.is_some_and(|level| self.depth >= level) {
            self.out.push('#');
            return false;
        }
        self.depth += 1;
        true
    }

    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Prints a label or a reference to one; true when nothing more is to print.
    pub(crate) fn labelled(&mut self, address: usize) -> bool {
        match self.shared.get(&address) {
            None => false,
            Some(Some(label)) => {
                self.out.push_str(&format!("#{label}#"));
                true
            }
            Some(None) => {
                self.labels += 1;
                self.shared.insert(address, Some(self.labels));
                self.out.push_str(&format!("#{}=", self.labels));
                false
            }
        }
    }

    fn list(&mut self, pair: &Ref<Cons>) -> Outcome<()> {
        if self.shared.is_empty() && never_ends(pair) {
            self.find_shared(&Value::Cons(pair.clone()));
        }
        if self.labelled(pair.address()) {
            return Ok(());
        }
        if let Some((prefix, form)) = abbreviation(pair) {
            self.out.push_str(prefix);
            return self.value(&form);
        }
        if !self.descend() {
            return Ok(());
        }
        self.out.push('(');
        let (mut here, mut count) = (pair.clone(), 0);
        loop {
            if self.settings.length == Some(count) || self.full() {
                self.out.push_str("...");
                break;
            }
            self.value(&here.car())?;
            count += 1;
            match here.cdr() {
                Value::Nil => break,
                Value::Cons(next) if !self.shared.contains_key(&next.address()) => {
                    self.out.push(' ');
                    here = next;
                }
                tail => {
                    self.out.push_str(" . ");
                    self.value(&tail)?;
                    break;
                }
            }
        }
        self.out.push(')');
        self.ascend();
        Ok(())
    }

    /// Finds what occurs more than once inside a value.
    fn find_shared(&mut self, value: &Value) {
        let mut seen = HashMap::new();
        let mut waiting = vec![value.clone()];
        while let Some(value) = waiting.pop() {
            let address = match &value {
                Value::Cons(pair) => pair.address(),
                Value::Object(object) => match &**object {
                    Object::Array(_) | Object::Instance(_) => object.address(),
                    _ => continue,
                },
                _ => continue,
            };
            let count = seen.entry(address).or_insert(0);
            *count += 1;
            if *count > 1 {
                self.shared.insert(address, None);
                continue;
            }
            match &value {
                Value::Cons(pair) => waiting.extend([pair.cdr(), pair.car()]),
                Value::Object(object) => match &**object {
                    Object::Array(array) => waiting.extend(array.active()),
                    Object::Instance(it) => waiting.extend(it.slots.borrow().iter().cloned()),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

/// `#b`, `#o`, `#x` or `#nr`.
pub(crate) fn radix_prefix(base: u32) -> String {
    match base {
        2 => "#b".to_string(),
        8 => "#o".to_string(),
        16 => "#x".to_string(),
        base => format!("#{base}r"),
    }
}

/// Whether following cdrs comes back (Brent: the hare runs, the tortoise jumps at powers of 2).
fn never_ends(pair: &Ref<Cons>) -> bool {
    let (mut tortoise, mut hare) = (pair.clone(), pair.cdr());
    let (mut steps, mut power) = (0u64, 64u64);
    while let Value::Cons(next) = hare {
        if Ref::same(&next, &tortoise) {
            return true;
        }
        steps += 1;
        if steps == power {
            (tortoise, power, steps) = (next.clone(), power * 2, 0);
        }
        hare = next.cdr();
    }
    false
}

/// `(quote x)` is `'x`, and so on.
fn abbreviation(pair: &Ref<Cons>) -> Option<(&'static str, Value)> {
    let prefix = match pair.car().as_symbol()? {
        symbol::QUOTE => "'",
        symbol::FUNCTION => "#'",
        symbol::QUASIQUOTE => "`",
        symbol::UNQUOTE => ",",
        symbol::UNQUOTE_SPLICING => ",@",
        _ => return None,
    };
    let rest = pair.cdr();
    let rest = rest.as_cons()?;
    rest.cdr().is_nil().then(|| (prefix, rest.car()))
}
