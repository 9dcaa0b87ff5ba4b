//! Displaced arrays: arrays that show elements of another one (`:displaced-to`).
//!
//! A displaced string is a string and a displaced general array a general array, so that everything
//! that takes them does (`object::Shown`). What shows a packed array, or a string by other axes, is
//! `Window`: element by element behind the functions on arrays, and packed again where an operation
//! takes it whole.

use std::cell::Cell;

use rung_array::{Array, Number};
use rung_base::Shape;

use crate::condition::{Condition, Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::object::{Foreign, ForeignArray, GeneralArray, Object, Shown, Text};
use crate::symbol;
use crate::value::{NIL, Value};

use super::arrays::{self, Stored, dimensions, row_major_get, row_major_set};

/// The most arrays that may be displaced one to another: each is one more step to an element.
const DEEPEST: usize = 64;

/// What an array is to show.
pub(super) struct Displacement<'a> {
    /// Who asks, for messages.
    pub(super) operator: &'a str,
    /// The shape of the array.
    pub(super) dimensions: Vec<usize>,
    /// The array that has the elements.
    pub(super) target: &'a Value,
    /// Where in it they begin.
    pub(super) offset: usize,
}

impl Displacement<'_> {
    fn length(&self) -> usize {
        self.dimensions.iter().product()
    }

    /// Whether the target has that many elements, and elements of the type.
    pub(super) fn check(&self, wanted: Option<Stored>) -> Outcome<()> {
        let room = dimensions(self.operator, self.target)?.iter().product::<usize>();
        if self.offset.checked_add(self.length()).is_none_or(|end| end > room) {
            let (length, offset, operator) = (self.length(), self.offset, self.operator);
            let text = format!(
                "{operator}: {length} elements from {offset} on are not within an array of {room}"
            );
            return Err(Condition::new(symbol::SHAPE_ERROR, text).into());
        }
        let found = arrays::stored_in(self.target);
        if wanted.is_some_and(|wanted| wanted != found) {
            let text =
                format!("{}: the element type is not that of the array to be shown", self.operator);
            return Err(Escape::of(symbol::ELEMENT_TYPE_ERROR, text));
        }
        if depth(self.target) >= DEEPEST {
            let text = format!(
                "{}: more than {DEEPEST} arrays are displaced one to another",
                self.operator
            );
            return Err(Escape::program(text));
        }
        Ok(())
    }

    /// Whether the target shows elements of an array, which then cannot show the target's.
    pub(super) fn leads_to(&self, array: &Value) -> bool {
        let mut next = Some((self.target.clone(), 0));
        while let Some((shown, _)) = next {
            if shown.eql(array) {
                return true;
            }
            next = target(&shown);
        }
        false
    }

    /// A new array that shows the elements.
    pub(super) fn make(self, fill: Option<usize>, adjustable: bool) -> Outcome {
        let length = self.length();
        match self.target {
            Value::String(target) if self.dimensions.len() == 1 => {
                let text = Text::default();
                text.fill_pointer.set(fill);
                text.adjustable.set(adjustable);
                let shown = Shown { target: target.clone(), offset: self.offset, length };
                text.shown.replace(Some(Box::new(shown)));
                Ok(Value::String(Ref::new(text)))
            }
            Value::Object(target) if matches!(**target, Object::Array(_)) => {
                let array = GeneralArray { adjustable, ..GeneralArray::vector(Vec::new()) };
                array.dimensions.replace(self.dimensions);
                array.fill_pointer.set(fill);
                let shown = Shown { target: target.clone(), offset: self.offset, length };
                array.shown.replace(Some(Box::new(shown)));
                Ok(Value::object(Object::Array(array)))
            }
            target => {
                let window = Window {
                    target: target.clone(),
                    offset: self.offset,
                    dimensions: self.dimensions,
                    fill_pointer: fill.map(Cell::new),
                };
                Ok(Value::object(Object::Foreign(Box::new(window))))
            }
        }
    }

    /// Makes an adjustable array show the elements; `None` when it is of another kind.
    pub(super) fn adjust(&self, array: &Value) -> Option<()> {
        let (offset, length) = (self.offset, self.length());
        match (array, self.target) {
            (Value::String(text), Value::String(target)) if text.adjustable.get() => {
                let shown = Shown { target: target.clone(), offset, length };
                text.replace(Vec::new());
                text.shown.replace(Some(Box::new(shown)));
            }
            (Value::Object(_), Value::Object(target)) if matches!(**target, Object::Array(_)) => {
                let general = array.as_array().filter(|general| general.adjustable)?;
                let shown = Shown { target: target.clone(), offset, length };
                general.replace(self.dimensions.clone(), Vec::new());
                general.shown.replace(Some(Box::new(shown)));
            }
            _ => return None,
        }
        Some(())
    }
}

/// The array that another one shows, and where it begins.
fn target(array: &Value) -> Option<(Value, usize)> {
    match array {
        Value::String(text) => {
            let shown = text.shown.borrow();
            shown.as_ref().map(|shown| (Value::String(shown.target.clone()), shown.offset))
        }
        other => match other.as_array() {
            Some(general) => {
                let shown = general.shown.borrow();
                shown.as_ref().map(|shown| (Value::Object(shown.target.clone()), shown.offset))
            }
            None => other.as_foreign_array().and_then(|window| window.displacement()),
        },
    }
}

/// How many arrays stand between an array and the elements it shows.
fn depth(array: &Value) -> usize {
    std::iter::successors(target(array), |(array, _)| target(array)).count()
}

/// `array-displacement`.
pub(super) fn displacement(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    dimensions("array-displacement", &a[0])?;
    let (shown, offset) = target(&a[0]).unwrap_or((NIL, 0));
    Ok(lisp.values(vec![shown, Value::size(offset)]))
}

/// A part of a packed array under axes of its own.
struct Window {
    target: Value,
    offset: usize,
    dimensions: Vec<usize>,
    fill_pointer: Option<Cell<usize>>,
}

impl Foreign for Window {
    fn words(&self) -> String {
        let lengths = self.dimensions.iter().map(usize::to_string).collect::<Vec<_>>();
        format!("DISPLACED-ARRAY ({})", lengths.join(" "))
    }

    fn as_array(&self) -> Option<&dyn ForeignArray> {
        Some(self)
    }
}

impl ForeignArray for Window {
    fn dimensions(&self) -> Vec<usize> {
        self.dimensions.clone()
    }

    fn element_type(&self, lisp: &mut Lisp) -> Value {
        arrays::element_type_of(lisp, &self.target)
    }

    fn element(&self, at: usize) -> Outcome {
        row_major_get(&self.target, self.offset + at)
    }

    fn read_only(&self) -> Escape {
        Escape::program("the array is not changed")
    }

    fn set_element(&self, at: usize, value: &Value) -> Outcome<()> {
        row_major_set(&self.target, self.offset + at, value)
    }

    fn displacement(&self) -> Option<(Value, usize)> {
        Some((self.target.clone(), self.offset))
    }

    fn fill_pointer(&self) -> Option<&Cell<usize>> {
        self.fill_pointer.as_ref()
    }

    fn packed(&self) -> Option<Outcome<Array>> {
        let element_type = match arrays::stored_in(&self.target) {
            Stored::Packed(element_type) => element_type,
            _ => return None,
        };
        let (shape, size) = match &self.fill_pointer {
            Some(active) => (vec![active.get()], active.get()),
            None => (self.dimensions.clone(), self.dimensions.iter().product()),
        };
        let number = |at| {
            let element = self.element(at)?;
            arrays::value_number("aref", &element, element_type)
        };
        let numbers = (0..size).map(number).collect::<Outcome<Vec<Number>>>();
        Some(numbers.and_then(|numbers| {
            Ok(Array::from_numbers(element_type, Shape::new(shape)?, &numbers)?)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_packs_what_it_shows() {
        let numbers = (0..6).map(|n| Value::Double(f64::from(n))).collect::<Vec<_>>();
        let target = arrays::packed_vector(rung_base::ElementType::F64, &numbers);
        let Ok(target) = target else { panic!("six doubles are packed") };
        let shown = Displacement {
            operator: "make-array",
            dimensions: vec![2, 2],
            target: &target,
            offset: 1,
        };
        assert!(shown.check(None).is_ok());
        let Ok(window) = shown.make(None, false) else { panic!("they are within") };
        let packed = window.as_foreign_array().and_then(|window| window.packed());
        let Some(Ok(packed)) = packed else { panic!("doubles are packed") };
        assert_eq!(packed.as_slice::<f64>(), Some(&[1.0, 2.0, 3.0, 4.0][..]));
    }
}
