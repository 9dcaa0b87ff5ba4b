//! `format`: a control string and arguments to text. This file has the run of a control, its
//! arguments and parameters, and the small directives; enclosing ones are in `format_blocks`,
//! integers in `format_integer`, floats in `format_float`, the control's syntax in
//! `format_control`, the language's function in `format_natives`.
//!
//! The text is made in memory and goes to its stream at once, so a condition in the middle of a
//! control prints nothing.

use crate::condition::{Escape, Outcome};
use crate::format_control::{self, Directive, Malformed, Parameter, Piece};
use crate::library::characters::name_of;
use crate::lisp::Lisp;
use crate::object::Object;
use crate::printer::{self, Settings};
use crate::stack;
use crate::stream::Stream;
use crate::symbol;
use crate::value::Value;

pub use crate::format_natives::FORMAT;

/// More padding than this is a mistake, and would take all memory.
const WIDTH_LIMIT: i64 = 10_000_000;

/// The text of a control string with its arguments; it will stand from `column` on.
pub fn format(
    lisp: &mut Lisp,
    control: &str,
    arguments: &[Value],
    column: usize,
) -> Outcome<String> {
    format_some(lisp, control, arguments, column).map(|(text, _)| text)
}

/// As `format`; also the arguments that are left.
pub(crate) fn format_some(
    lisp: &mut Lisp,
    control: &str,
    arguments: &[Value],
    column: usize,
) -> Outcome<(String, Vec<Value>)> {
    let pieces = format_control::parse(control).map_err(|wrong| malformed(control, &wrong))?;
    let mut run = Run { lisp, out: String::new(), column, control: control.to_string() };
    let mut arguments = Arguments::new(arguments.to_vec());
    run.pieces(&pieces, &mut arguments)?;
    let text = run.out;
    Ok((text, arguments.rest()))
}

fn malformed(control: &str, wrong: &Malformed) -> Escape {
    let shown = match control.chars().count() {
        0..=60 => control.to_string(),
        _ => control.chars().take(57).chain("...".chars()).collect(),
    };
    Escape::error(format!("format: {} at position {} of {shown:?}", wrong.text, wrong.position))
}

/// How a run of pieces ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// At its end.
    On,
    /// By `~^`.
    Leave,
    /// By `~:^`: the whole iteration ends.
    LeaveAll,
}

/// The arguments, and the next one to be used.
pub(crate) struct Arguments {
    pub(crate) list: Vec<Value>,
    pub(crate) next: usize,
    /// Whether `~:{` has further sublists.
    pub(crate) more_lists: bool,
}

impl Arguments {
    pub(crate) fn new(list: Vec<Value>) -> Arguments {
        Arguments { list, next: 0, more_lists: false }
    }

    pub(crate) fn rest(&self) -> Vec<Value> {
        self.list[self.next..].to_vec()
    }

    pub(crate) fn left(&self) -> usize {
        self.list.len() - self.next
    }
}

/// One call of `format` under way.
pub(crate) struct Run<'a> {
    pub(crate) lisp: &'a mut Lisp,
    pub(crate) out: String,
    /// The column that `out` begins at.
    pub(crate) column: usize,
    pub(crate) control: String,
}

impl Run<'_> {
    pub(crate) fn wrong(&self, directive: &Directive, text: impl Into<String>) -> Escape {
        malformed(&self.control, &directive.malformed(text))
    }

    pub(crate) fn pieces(&mut self, pieces: &[Piece], arguments: &mut Arguments) -> Outcome<Flow> {
        stack::check("the format control")?;
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.out.push_str(text),
                Piece::Directive(directive) => match self.directive(directive, arguments)? {
                    Flow::On => {}
                    flow => return Ok(flow),
                },
            }
        }
        Ok(Flow::On)
    }

    fn directive(&mut self, directive: &Directive, arguments: &mut Arguments) -> Outcome<Flow> {
        let parameters = self.parameters(directive, arguments)?;
        match directive.character {
            '^' => return self.escape(directive, &parameters, arguments),
            '(' => return self.case(directive, arguments),
            '[' => return self.conditional(directive, &parameters, arguments),
            '{' => return self.iteration(directive, &parameters, arguments).map(|()| Flow::On),
            '<' => return self.justification(directive, &parameters, arguments),
            '?' => return self.recursive(directive, arguments),
            'A' | 'S' => self.object(directive, &parameters, arguments)?,
            'W' => self.written(directive, arguments)?,
            'D' => self.integer_directive(directive, 10, &parameters, arguments)?,
            'B' => self.integer_directive(directive, 2, &parameters, arguments)?,
            'O' => self.integer_directive(directive, 8, &parameters, arguments)?,
            'X' => self.integer_directive(directive, 16, &parameters, arguments)?,
            'R' => self.radix(directive, &parameters, arguments)?,
            'F' | 'E' | 'G' | '$' => self.float(directive, &parameters, arguments)?,
            'C' => self.character(directive, arguments)?,
            'P' => self.plural(directive, arguments)?,
            'T' => self.tabulate(directive, &parameters)?,
            '*' => self.skip(directive, &parameters, arguments)?,
            '/' => self.call(directive, &parameters, arguments)?,
            '%' => self.repeat(directive, &parameters, '\n')?,
            '|' => self.repeat(directive, &parameters, '\u{c}')?,
            '~' => self.repeat(directive, &parameters, '~')?,
            '&' => {
                let count = parameters.count(self, directive, 0, 1)?;
                if count > 0 && self.current_column() > 0 {
                    self.out.push('\n');
                }
                self.pad('\n', count.saturating_sub(1));
            }
            other => return Err(self.wrong(directive, format!("there is no directive ~{other}"))),
        }
        Ok(Flow::On)
    }

    /// The column the next character goes to.
    pub(crate) fn current_column(&self) -> usize {
        match self.out.rfind('\n') {
            Some(end) => self.out[end + 1..].chars().count(),
            None => self.column + self.out.chars().count(),
        }
    }

    pub(crate) fn pad(&mut self, character: char, count: usize) {
        self.out.extend(std::iter::repeat_n(character, count));
    }

    pub(crate) fn next(&mut self, directive: &Directive, arguments: &mut Arguments) -> Outcome {
        let Some(argument) = arguments.list.get(arguments.next) else {
            let text = format!("no argument is left for ~{}", directive.character);
            return Err(self.wrong(directive, text));
        };
        arguments.next += 1;
        Ok(argument.clone())
    }

    fn parameters(
        &mut self,
        directive: &Directive,
        arguments: &mut Arguments,
    ) -> Outcome<Parameters> {
        let mut values = Vec::new();
        for parameter in &directive.parameters {
            values.push(match parameter {
                Parameter::Argument => match self.next(directive, arguments)? {
                    Value::Nil => Parameter::Missing,
                    Value::Fixnum(n) => Parameter::Integer(n),
                    Value::Char(character) => Parameter::Character(character),
                    other => {
                        let text = format!("{} is no parameter", self.lisp.brief(&other));
                        return Err(self.wrong(directive, text));
                    }
                },
                Parameter::Count => Parameter::Integer(arguments.left() as i64),
                other => *other,
            });
        }
        Ok(Parameters(values))
    }

    /// `~A` and `~S`: mincol, colinc, minpad, padchar.
    fn object(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<()> {
        let argument = self.next(directive, arguments)?;
        let text = match &argument {
            Value::Nil if directive.colon => "()".to_string(),
            argument => printer::print_with(self.lisp, argument, directive.character == 'S')?,
        };
        if parameters.0.is_empty() {
            self.out.push_str(&text);
            return Ok(());
        }
        let mincol = parameters.count(self, directive, 0, 0)?;
        let colinc = parameters.count(self, directive, 1, 1)?.max(1);
        let minpad = parameters.count(self, directive, 2, 0)?;
        let padchar = parameters.character(self, directive, 3, ' ')?;
        let width = text.chars().count() + minpad;
        let padding = minpad + mincol.saturating_sub(width).div_ceil(colinc) * colinc;
        if directive.at {
            self.pad(padchar, padding);
        }
        self.out.push_str(&text);
        if !directive.at {
            self.pad(padchar, padding);
        }
        Ok(())
    }

    fn written(&mut self, directive: &Directive, arguments: &mut Arguments) -> Outcome<()> {
        let argument = self.next(directive, arguments)?;
        let mut settings = Settings::of(self.lisp);
        if directive.at {
            (settings.length, settings.level) = (None, None);
        }
        let text = printer::print_as(self.lisp, &argument, settings)?;
        self.out.push_str(&text);
        Ok(())
    }

    fn character(&mut self, directive: &Directive, arguments: &mut Arguments) -> Outcome<()> {
        let argument = self.next(directive, arguments)?;
        let Value::Char(character) = argument else {
            return Err(Escape::wrong_type("format ~C", symbol::CHARACTER, &argument));
        };
        match (directive.colon, directive.at) {
            (false, false) => self.out.push(character),
            (true, _) => match name_of(character) {
                Some(name) => self.out.push_str(&name),
                None => self.out.push(character),
            },
            (false, true) => {
                let text = printer::prin1(self.lisp, &argument)?;
                self.out.push_str(&text);
            }
        }
        Ok(())
    }

    fn plural(&mut self, directive: &Directive, arguments: &mut Arguments) -> Outcome<()> {
        if directive.colon {
            if arguments.next == 0 {
                return Err(self.wrong(directive, "~:P has no argument to go back to"));
            }
            arguments.next -= 1;
        }
        let one = self.next(directive, arguments)?.eql(&Value::Fixnum(1));
        self.out.push_str(match (directive.at, one) {
            (false, true) => "",
            (false, false) => "s",
            (true, true) => "y",
            (true, false) => "ies",
        });
        Ok(())
    }

    fn repeat(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        character: char,
    ) -> Outcome<()> {
        let count = parameters.count(self, directive, 0, 1)?;
        self.pad(character, count);
        Ok(())
    }

    /// `~T`: to a column; `~@T`: so far, then to a multiple.
    fn tabulate(&mut self, directive: &Directive, parameters: &Parameters) -> Outcome<()> {
        if directive.colon {
            return Err(self.wrong(directive, "~:T is not in this version"));
        }
        let column = parameters.count(self, directive, 0, 1)?;
        let step = parameters.count(self, directive, 1, 1)?;
        let here = self.current_column();
        let spaces = if directive.at {
            let past = if step == 0 { 0 } else { (here + column) % step };
            column + if past == 0 { 0 } else { step - past }
        } else if here < column {
            column - here
        } else if step == 0 {
            0
        } else {
            step - (here - column) % step
        };
        self.pad(' ', spaces);
        Ok(())
    }

    /// `~*`, `~:*` and `~@*`.
    fn skip(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<()> {
        let count = parameters.count(self, directive, 0, usize::from(!directive.at))?;
        let target = match (directive.colon, directive.at) {
            (_, true) => Some(count),
            (true, false) => arguments.next.checked_sub(count),
            (false, false) => arguments.next.checked_add(count),
        };
        match target.filter(|target| *target <= arguments.list.len()) {
            Some(target) => arguments.next = target,
            None => return Err(self.wrong(directive, "~* leads to no argument")),
        }
        Ok(())
    }

    /// The function that `~/name/` names; `cl-user` is its package where none is given.
    fn named_function(&mut self, directive: &Directive) -> Outcome {
        let upper = directive.name.to_uppercase();
        let (package, name) = match upper.split_once(':') {
            Some((package, name)) => {
                let here = self.lisp.current_package();
                let Some(id) = self.lisp.packages.find_from(here, package) else {
                    let text = format!("there is no package {}", package.to_lowercase());
                    return Err(self.wrong(directive, text));
                };
                (id, name.trim_start_matches(':'))
            }
            None => (crate::package::CL_USER, upper.as_str()),
        };
        Ok(Value::symbol(self.lisp.intern(package, name)))
    }

    /// `~/name/`: a function of stream, argument, colon, at and the parameters.
    fn call(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<()> {
        let argument = self.next(directive, arguments)?;
        let function = self.named_function(directive)?;
        let stream = Value::object(Object::Stream(Stream::string_output()));
        if let Some(Object::Stream(text)) = stream.as_object() {
            text.column.set(self.current_column());
        }
        let mut passed = vec![
            stream.clone(),
            argument,
            Value::boolean(directive.colon),
            Value::boolean(directive.at),
        ];
        passed.extend(parameters.0.iter().map(|parameter| match parameter {
            Parameter::Integer(n) => Value::Fixnum(*n),
            Parameter::Character(character) => Value::Char(*character),
            _ => Value::Nil,
        }));
        self.lisp.call(&function, &passed)?;
        if let Some(Object::Stream(stream)) = stream.as_object() {
            self.out.push_str(&stream.take_text().unwrap_or_default());
        }
        Ok(())
    }
}

/// Parameters whose values are known.
pub(crate) struct Parameters(pub(crate) Vec<Parameter>);

impl Parameters {
    /// The integer at that place, if one was given.
    pub(crate) fn integer(
        &self,
        run: &Run,
        directive: &Directive,
        at: usize,
    ) -> Outcome<Option<i64>> {
        match self.0.get(at) {
            None | Some(Parameter::Missing) => Ok(None),
            Some(Parameter::Integer(n)) if n.abs() <= WIDTH_LIMIT => Ok(Some(*n)),
            Some(Parameter::Integer(n)) => {
                Err(run.wrong(directive, format!("parameter {n} is too large")))
            }
            Some(_) => {
                let text =
                    format!("~{} wants a number as parameter {}", directive.character, at + 1);
                Err(run.wrong(directive, text))
            }
        }
    }

    /// A count: negative ones are zero.
    pub(crate) fn count(
        &self,
        run: &Run,
        directive: &Directive,
        at: usize,
        otherwise: usize,
    ) -> Outcome<usize> {
        let given = self.integer(run, directive, at)?;
        Ok(given.map_or(otherwise, |n| n.max(0) as usize))
    }

    /// The character at that place.
    pub(crate) fn character(
        &self,
        run: &Run,
        directive: &Directive,
        at: usize,
        otherwise: char,
    ) -> Outcome<char> {
        Ok(self.optional_character(run, directive, at)?.unwrap_or(otherwise))
    }

    pub(crate) fn optional_character(
        &self,
        run: &Run,
        directive: &Directive,
        at: usize,
    ) -> Outcome<Option<char>> {
        match self.0.get(at) {
            None | Some(Parameter::Missing) => Ok(None),
            Some(Parameter::Character(character)) => Ok(Some(*character)),
            Some(_) => {
                let text =
                    format!("~{} wants a character as parameter {}", directive.character, at + 1);
                Err(run.wrong(directive, text))
            }
        }
    }
}
