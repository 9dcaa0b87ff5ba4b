//! Printing of arrays, packed arrays, functions and the rarer objects.
//!
//! A packed array prints its elements straight from storage, at the array's own width. Its
//! nested form is used where reading it gives the same shape back, else `#d[0 3]`.

use rung_array::Array;
use rung_base::{Bool, ElementType, bf16, f16, with_element};

use crate::code::Function;
use crate::condition::{Escape, Outcome};
use crate::generic::Specialiser;
use crate::heap::Ref;
use crate::library::classes::built_in_class;
use crate::library::protocols::is_specialised;
use crate::object::{GeneralArray, Instance, Method, Object, Test};
use crate::packed::Packed;
use crate::printer::Printer;
use crate::printer_float::{Digits, special};
use crate::printer_names::in_case;
use crate::reader_packed::prefix_of;
use crate::stream::{Stream, StreamKind};
use crate::symbol::{self, Symbol};
use crate::value::{Value, list};

/// Empty rows that are printed one by one.
const EMPTY_ROWS: usize = 16;

/// Whether an array is printed by its extents: it has no elements, and nested parentheses would show
/// only the axes up to the first of zero, or be nothing but parentheses (there may be 10^13 of them).
fn hides_its_shape(extents: &[usize], standard: bool) -> bool {
    let Some((last, outer)) = extents.split_last() else { return false };
    let hidden = outer.contains(&0) && !standard;
    let rows = outer.iter().fold(1_usize, |rows, extent| rows.saturating_mul(*extent));
    hidden || (*last == 0 && rows > EMPTY_ROWS)
}

/// Says in a `print-not-readable` which object it is about, unless it knows.
pub(crate) fn of_object(escape: Escape, object: &Value) -> Escape {
    if let Some(condition) = escape.condition()
        && condition.class == symbol::PRINT_NOT_READABLE
        && condition.slot(symbol::KEY_OBJECT).is_none()
    {
        condition.set_slot(symbol::KEY_OBJECT, object.clone());
    }
    escape
}

impl Printer<'_> {
    /// Prints what is behind `Value::Object`.
    pub(crate) fn object(&mut self, reference: &Ref<Object>) -> Outcome<()> {
        if self.by_method(reference)? {
            return Ok(());
        }
        match &**reference {
            Object::Bignum(n) => self.integer(n),
            Object::Ratio(ratio) => self.ratio(&ratio.numerator, &ratio.denominator),
            Object::Complex(z) => {
                self.out.push_str("#C(");
                self.value(&z.real)?;
                self.out.push(' ');
                self.value(&z.imaginary)?;
                self.out.push(')');
            }
            Object::Array(array) => {
                if !self.labelled(reference.address()) {
                    self.general_array(array)?;
                }
            }
            Object::Packed(array) => self.packed(array)?,
            Object::HashTable(table) => {
                let test = test_name(table.test);
                self.unreadable(&format!("HASH-TABLE {test} {}", table.count()))?;
            }
            Object::Package(id) => {
                let name = self.lisp().packages[*id].name.clone();
                self.unreadable(&format!("PACKAGE \"{name}\""))?;
            }
            Object::Stream(stream) => self.unreadable(&stream_words(stream))?,
            Object::Condition(_) => self.condition(reference)?,
            Object::Class(_) | Object::Standard(_) | Object::Method(_) => {
                self.of_object_system(reference)?;
            }
            Object::Instance(instance) => {
                if !self.labelled(reference.address()) {
                    self.instance(reference, instance)?;
                }
            }
            Object::Pathname(path) => {
                if self.settings.escape {
                    self.out.push_str("#P");
                }
                self.string(path);
            }
            Object::RandomState(_) => self.unreadable("RANDOM-STATE")?,
            Object::Readtable(_) => self.unreadable("READTABLE")?,
            Object::Foreign(thing) => match thing.as_array().and_then(|array| array.packed()) {
                Some(packed) => self.packed(&Packed::new(packed?))?,
                None => self.unreadable(&thing.words())?,
            },
        }
        Ok(())
    }

    /// `#<STANDARD-CLASS POINT>`, `#<POINT 1>`, or a method.
    fn of_object_system(&mut self, reference: &Ref<Object>) -> Outcome<()> {
        match &**reference {
            Object::Class(class) => {
                let kind = built_in_class(&Value::Object(reference.clone()));
                self.unreadable_named(kind, &Value::symbol(class.name.get()))
            }
            Object::Standard(it) => {
                let number = Value::Fixnum(self.lisp().instance_number(it).into());
                self.unreadable_named(it.class_name(), &number)
            }
            Object::Method(method) => self.method(method),
            _ => Ok(()),
        }
    }

    /// Prints a function by its name.
    pub(crate) fn function(&mut self, function: &Ref<Function>) -> Outcome<()> {
        let name = match &**function {
            Function::Native(native) => Value::symbol(native.name),
            Function::Closure(closure) => closure.code.name.clone(),
            Function::Generic(generic) => {
                return self.unreadable_named(symbol::STANDARD_GENERIC_FUNCTION, &generic.name);
            }
        };
        if name.is_nil() {
            return self.unreadable("FUNCTION LAMBDA");
        }
        self.unreadable_named(symbol::FUNCTION, &name)
    }

    /// `#<STANDARD-METHOD AREA :BEFORE (CIRCLE)>`.
    fn method(&mut self, method: &Method) -> Outcome<()> {
        let specialisers = method.specialisers.iter().map(Specialiser::as_written);
        let words = [Value::symbol(symbol::STANDARD_METHOD), method.generic.clone()];
        let words = words.into_iter().chain(method.qualifiers.iter().cloned());
        let words = words.chain([list(specialisers.collect::<Vec<_>>())]).collect::<Vec<_>>();
        self.unreadable_words(&words)
    }

    /// `#<KIND WHAT>`.
    fn unreadable_named(&mut self, kind: Symbol, what: &Value) -> Outcome<()> {
        self.unreadable_words(&[Value::symbol(kind), what.clone()])
    }

    fn unreadable_words(&mut self, words: &[Value]) -> Outcome<()> {
        let start = self.out.len();
        let settings = self.settings;
        (self.settings.escape, self.settings.readably) = (true, false);
        for (count, word) in words.iter().enumerate() {
            if count > 0 {
                self.out.push(' ');
            }
            // No word has an end of its own if this fails.
            if let Err(escape) = self.value(word) {
                self.settings = settings;
                return Err(escape);
            }
        }
        self.settings = settings;
        let text = self.out.split_off(start);
        self.unreadable(&text)
    }

    /// Prints by the program's method of `print-object`, if there is one; whether it did.
    fn by_method(&mut self, reference: &Ref<Object>) -> Outcome<bool> {
        let plain = std::mem::take(&mut self.plain);
        let has_class = matches!(
            &**reference,
            Object::Standard(_) | Object::Instance(_) | Object::Condition(_) | Object::Foreign(_)
        );
        if plain || !has_class {
            return Ok(false);
        }
        let (settings, depth) = (self.settings, self.depth);
        let value = Value::Object(reference.clone());
        let Some(lisp) = self.running_lisp() else { return Ok(false) };
        if !is_specialised(lisp, symbol::PRINT_OBJECT, &value) {
            return Ok(false);
        }
        if settings.circle && self.labelled(reference.address()) {
            return Ok(true);
        }
        let Some(lisp) = self.running_lisp() else { return Ok(false) };
        let text = Value::object(Object::Stream(Stream::string_output()));
        let outer = lisp.bindings.len();
        settings.bind(lisp, depth);
        let printed = lisp.call(&Value::symbol(symbol::PRINT_OBJECT), &[value, text.clone()]);
        lisp.unbind_to(outer);
        printed?;
        self.out.push_str(&crate::library::streams::take_text(&text));
        Ok(true)
    }

    /// For people what it does, for the reader its name.
    fn restart(&mut self, reference: &Ref<Object>, instance: &Instance) -> Outcome<()> {
        let name = instance.slots.borrow().first().cloned().unwrap_or_default();
        if self.settings.escape {
            return self.unreadable_named(symbol::RESTART, &name);
        }
        let Some(lisp) = self.running_lisp() else {
            return self.unreadable_named(symbol::RESTART, &name);
        };
        let value = Value::Object(reference.clone());
        let text = lisp.call(&Value::symbol(symbol::RESTART_REPORT), &[value])?;
        let text = text.as_text().map(|text| text.to_text()).unwrap_or_default();
        self.out.push_str(&text);
        Ok(())
    }

    fn condition(&mut self, reference: &Ref<Object>) -> Outcome<()> {
        let value = Value::Object(reference.clone());
        let class = value.as_condition().map_or(symbol::CONDITION, |condition| condition.class);
        let report = match self.running_lisp() {
            Some(lisp) => Some(crate::report::sentence(lisp, &value)?),
            None => None,
        };
        match report {
            Some(report) if !self.settings.escape => self.out.push_str(&report),
            Some(report) => {
                let name = self.lisp().name(class);
                self.unreadable(&format!("{name} {report:?}"))?;
            }
            None => {
                let name = self.lisp().name(class);
                self.unreadable(&name)?;
            }
        }
        Ok(())
    }

    /// `#S(POINT :X 1)`, or what the structure's own print function writes.
    fn instance(&mut self, reference: &Ref<Object>, instance: &Instance) -> Outcome<()> {
        let class = instance.class();
        let report = class.made_layout().map(|layout| layout.report.clone()).unwrap_or_default();
        if class.name.get() == symbol::RESTART {
            return self.restart(reference, instance);
        }
        if report.as_function().is_some() {
            let (own, value) = (report, Value::Object(reference.clone()));
            let text = Value::object(Object::Stream(Stream::string_output()));
            if let Some(lisp) = self.running_lisp() {
                lisp.call(&own, &[value, text.clone()])?;
                if let Some(Object::Stream(stream)) = text.as_object() {
                    self.out.push_str(&stream.take_text().unwrap_or_default());
                }
                return Ok(());
            }
        }
        if !self.descend() {
            return Ok(());
        }
        self.out.push_str("#S(");
        self.symbol(class.name.get());
        let slots = instance.slots.borrow().clone();
        for (count, (slot, value)) in class.slot_names().into_iter().zip(&slots).enumerate() {
            if self.settings.length == Some(count) || self.full() {
                self.out.push_str(" ...");
                break;
            }
            self.out.push_str(" :");
            let name =
                in_case(&self.lisp().name(slot), self.settings.case, self.settings.read_case);
            self.out.push_str(&name);
            self.out.push(' ');
            self.value(value)?;
        }
        self.out.push(')');
        self.ascend();
        Ok(())
    }

    fn general_array(&mut self, array: &GeneralArray) -> Outcome<()> {
        let dimensions = array.dimensions.borrow().clone();
        if !self.settings.array {
            return self.unreadable("ARRAY");
        }
        let elements = array.active();
        let dimensions = match dimensions.as_slice() {
            [_] => {
                self.out.push('#');
                vec![elements.len()]
            }
            other => {
                self.out.push_str(&format!("#{}A", other.len()));
                dimensions
            }
        };
        let mut position = 0;
        self.nested(&dimensions, &mut position, &mut |printer, at| printer.value(&elements[at]))
    }

    fn packed(&mut self, array: &Packed) -> Outcome<()> {
        if !self.settings.array {
            return self.unreadable(&header(&array.array()));
        }
        let array = array.read()?;
        self.elements(&array)
    }

    /// A packed array whose elements are here.
    fn elements(&mut self, array: &Array) -> Outcome<()> {
        let (element, rank) = (array.element_type(), array.rank());
        let standard = !element.is_float() && !self.settings.element_type;
        self.room_for(array)?;
        if standard && element == ElementType::Bool && rank == 1 {
            self.out.push_str("#*");
            let bits = array.view::<Bool>();
            self.out.extend(bits.iter().map(|bit| if bit.get() { '1' } else { '0' }));
            return Ok(());
        }
        let extents = array.shape().iter().copied().collect::<Vec<_>>();
        if hides_its_shape(&extents, standard) {
            self.out.push_str(&format!("#{}[{}]", prefix_of(element), join(&extents)));
            return Ok(());
        }
        match (standard, rank) {
            (true, 1) => self.out.push('#'),
            (true, rank) => self.out.push_str(&format!("#{rank}A")),
            // The space keeps the f of single-floats from reading as f16 before 16.0.
            (false, 0) if element == ElementType::F32 => self.out.push_str("#0f "),
            (false, 0) => self.out.push_str(&format!("#0{}", prefix_of(element))),
            (false, _) => self.out.push_str(&format!("#{}", prefix_of(element))),
        }
        with_element!(element, T => {
            let elements = array.view::<T>();
            let mut position = 0;
            self.nested(&extents, &mut position, &mut |printer, at| {
                elements.at(at).print(&mut printer.out);
                Ok(())
            })
        })
    }

    /// Fails when the text of an array cannot be held: a broadcast view has any size.
    fn room_for(&mut self, array: &Array) -> Outcome<()> {
        // Bits print as one character each, everything else as two at least.
        let least = if self.settings.elide { 0 } else { array.size() };
        self.out.try_reserve(least).map_err(|_| {
            let text = format!("no memory to print an array of shape {}", array.shape());
            Escape::of(symbol::STORAGE_CONDITION, text)
        })
    }

    /// Elements in nested parentheses.
    fn nested(
        &mut self,
        dimensions: &[usize],
        position: &mut usize,
        element: &mut PrintAt,
    ) -> Outcome<()> {
        let large = dimensions.iter().product::<usize>() > ELIDED_ABOVE;
        let ends = if self.settings.elide && large { Some(ENDS) } else { None };
        self.nested_part(dimensions, position, ends, element)
    }

    fn nested_part(
        &mut self,
        dimensions: &[usize],
        position: &mut usize,
        ends: Option<usize>,
        element: &mut PrintAt,
    ) -> Outcome<()> {
        let Some((length, inner)) = dimensions.split_first() else {
            *position += 1;
            return element(self, *position - 1);
        };
        let size = inner.iter().product::<usize>();
        if !self.descend() {
            *position += length * size;
            return Ok(());
        }
        self.out.push('(');
        let mut count = 0;
        while count < *length {
            if count > 0 {
                self.out.push(' ');
            }
            if self.settings.length == Some(count) || self.full() {
                self.out.push_str("...");
                *position += (length - count) * size;
                break;
            }
            if ends.is_some_and(|ends| count == ends && *length > 2 * ends) {
                self.out.push_str("...");
                *position += (length - 2 * count) * size;
                count = length - count;
                continue;
            }
            self.nested_part(inner, position, ends, element)?;
            count += 1;
        }
        self.out.push(')');
        self.ascend();
        Ok(())
    }
}

/// At the prompt an array of more elements loses its middle...
const ELIDED_ABOVE: usize = 1000;
/// ... and keeps so many along both ends of each axis.
const ENDS: usize = 3;

/// Prints the element at a position.
type PrintAt<'a> = dyn FnMut(&mut Printer<'_>, usize) -> Outcome<()> + 'a;

fn test_name(test: Test) -> &'static str {
    match test {
        Test::Eq => "EQ",
        Test::Eql => "EQL",
        Test::Equal => "EQUAL",
        Test::Equalp => "EQUALP",
    }
}

fn join(extents: &[usize]) -> String {
    extents.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

/// `single-float (4 256 256)`: what is said of an array whose elements are not shown.
pub(crate) fn header(array: &Array) -> String {
    let extents = array.shape().iter().copied().collect::<Vec<_>>();
    format!("{} ({})", array.element_type().lisp_name(), join(&extents))
}

fn stream_words(stream: &Stream) -> String {
    let kind = match &*stream.kind.borrow() {
        StreamKind::StringInput { .. } | StreamKind::StringOutput(_) => "STRING-STREAM",
        StreamKind::Output(_) | StreamKind::Input { .. } | StreamKind::Both(_) => "FILE-STREAM",
        StreamKind::Synonym(_) => "SYNONYM-STREAM",
        StreamKind::TwoWay { .. } => "TWO-WAY-STREAM",
        StreamKind::Echo { .. } => "ECHO-STREAM",
        StreamKind::Broadcast(_) => "BROADCAST-STREAM",
        StreamKind::Concatenated(_) => "CONCATENATED-STREAM",
        StreamKind::Closed => "CLOSED-STREAM",
    };
    if stream.name.is_empty() { kind.to_string() } else { format!("{kind} {:?}", stream.name) }
}

/// An element that prints itself, without a marker of its type.
trait PrintElement {
    fn print(&self, out: &mut String);
}

macro_rules! print_floats {
    ($($float:ty, $digits:ident, $double:expr);*) => {
        $(impl PrintElement for $float {
            fn print(&self, out: &mut String) {
                let x: f64 = $double(*self);
                match special(x) {
                    Some(name) => out.push_str(name),
                    None => {
                        if x.is_sign_negative() {
                            out.push('-');
                        }
                        out.push_str(&Digits::$digits(*self).printed('e', None));
                    }
                }
            }
        })*
    };
}

print_floats! {
    f64, of_double, |x: f64| x;
    f32, of_single, f64::from;
    bf16, of_bf16, bf16::to_f64;
    f16, of_f16, f16::to_f64
}

macro_rules! print_integers {
    ($($integer:ty)*) => {
        $(impl PrintElement for $integer {
            fn print(&self, out: &mut String) {
                out.push_str(&self.to_string());
            }
        })*
    };
}

print_integers!(i64 i32 u8);

impl PrintElement for Bool {
    fn print(&self, out: &mut String) {
        out.push(if self.get() { '1' } else { '0' });
    }
}
