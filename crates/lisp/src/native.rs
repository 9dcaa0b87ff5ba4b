//! Native functions: functions of the language that are written in Rust.
//!
//! Each is one block in a table: name, lambda list, documentation, function. Registration reads
//! the tables; `describe`, `documentation`, completion and the check of the argument count are
//! derived from the block. Macros written in Rust have tables of the same kind (`expand`).

use std::rc::Rc;

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::symbol::Symbol;
use crate::value::Value;

/// A native function's code. The number of arguments has been checked.
pub type NativeBody = fn(&mut Lisp, &[Value]) -> Outcome;

/// A native function that carries data, as the embedder's may.
pub type SharedBody = Rc<dyn Fn(&mut Lisp, &[Value]) -> Outcome>;

/// One block of a table.
pub struct Native {
    /// `car` (in `cl`), `rung:now`, `rung::%internal`, or `(setf car)`.
    pub name: &'static str,
    /// The lambda list as text, without the outer parentheses.
    pub lambda_list: &'static str,
    /// What `documentation` gives.
    pub documentation: &'static str,
    /// The code.
    pub body: NativeBody,
}

/// A block of a native table.
pub const fn native(
    name: &'static str,
    lambda_list: &'static str,
    documentation: &'static str,
    body: NativeBody,
) -> Native {
    Native { name, lambda_list, documentation, body }
}

/// How a native function runs.
#[derive(Clone)]
pub enum Body {
    /// Code alone.
    Plain(NativeBody),
    /// Code with data.
    Shared(SharedBody),
}

/// A native function on the heap.
pub struct NativeFunction {
    /// Its name.
    pub name: Symbol,
    /// Its lambda list as text.
    pub lambda_list: Rc<str>,
    /// What `documentation` gives.
    pub documentation: Rc<str>,
    /// The fewest arguments.
    pub minimum: u32,
    /// The most arguments; `u32::MAX` with `&rest` or `&key`.
    pub maximum: u32,
    /// The code.
    pub body: Body,
}

/// The fewest and the most arguments that a lambda list takes.
pub fn arity(lambda_list: &str) -> (u32, u32) {
    let (mut minimum, mut maximum, mut optional) = (0, 0, false);
    for word in lambda_list.split_whitespace() {
        match word.to_ascii_lowercase().as_str() {
            "&optional" => optional = true,
            "&rest" | "&key" | "&body" => return (minimum, u32::MAX),
            _ => {
                minimum += u32::from(!optional);
                maximum += 1;
            }
        }
    }
    (minimum, maximum)
}

/// The keyword arguments of a call: the values of `names`, in that order, `None` where absent.
/// The leftmost of two equal keywords wins, as the standard says.
pub fn keywords<const N: usize>(
    lisp: &Lisp,
    arguments: &[Value],
    names: [Symbol; N],
) -> Outcome<[Option<Value>; N]> {
    let mut found = [const { None }; N];
    if arguments.is_empty() {
        return Ok(found);
    }
    if arguments.len() % 2 == 1 {
        return Err(Escape::program("Odd number of keyword arguments"));
    }
    let allowed = arguments
        .chunks_exact(2)
        .any(|pair| pair[0].is_symbol(crate::symbol::KEY_ALLOW_OTHER_KEYS) && pair[1].truth());
    for pair in arguments.chunks_exact(2) {
        let position = names.iter().position(|name| pair[0].is_symbol(*name));
        match position {
            Some(position) if found[position].is_none() => found[position] = Some(pair[1].clone()),
            Some(_) => {}
            None if allowed || pair[0].is_symbol(crate::symbol::KEY_ALLOW_OTHER_KEYS) => {}
            None => return Err(crate::machine::unknown_keyword(lisp, &pair[0], &names)),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arity_comes_from_the_lambda_list() {
        assert_eq!(arity("a b"), (2, 2));
        assert_eq!(arity("a &optional b c"), (1, 3));
        assert_eq!(arity("a &rest more"), (1, u32::MAX));
        assert_eq!(arity("sequence &key start end"), (1, u32::MAX));
        assert_eq!(arity(""), (0, 0));
    }
}
