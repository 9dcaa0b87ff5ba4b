//! The directives that enclose others: `~( ~[ ~{ ~< ~?`, and `~^`, which leaves them.

use crate::condition::{Escape, Outcome};
use crate::format::{Arguments, Flow, Parameters, Run};
use crate::format_control::{self, Directive, Parameter, Piece};
use crate::library::characters::{downcase, upcase};
use crate::library::strings::{capitalize, map_downcase, map_upcase};
use crate::numbers;
use crate::symbol;
use crate::value::Value;

impl Run<'_> {
    /// `~(`: lower case; `~:(` each word capitalised, `~@(` the first one, `~:@(` upper case.
    pub(crate) fn case(
        &mut self,
        directive: &Directive,
        arguments: &mut Arguments,
    ) -> Outcome<Flow> {
        let start = self.out.len();
        let flow = self.pieces(&directive.clauses[0], arguments)?;
        let mut text = self.out.split_off(start).chars().collect::<Vec<_>>();
        match (directive.colon, directive.at) {
            (false, false) => map_downcase(&mut text),
            (true, false) => capitalize(&mut text),
            (true, true) => map_upcase(&mut text),
            (false, true) => {
                text.iter_mut().for_each(|c| *c = downcase(*c));
                if let Some(first) = text.iter_mut().find(|c| c.is_alphanumeric()) {
                    *first = upcase(*first);
                }
            }
        }
        self.out.extend(text);
        Ok(flow)
    }

    /// `~[`: one of the clauses.
    pub(crate) fn conditional(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<Flow> {
        let clauses = &directive.clauses;
        if directive.at {
            let argument = self.next(directive, arguments)?;
            if argument.is_nil() {
                return Ok(Flow::On);
            }
            arguments.next -= 1;
            return self.pieces(&clauses[0], arguments);
        }
        if directive.colon {
            let chosen = usize::from(self.next(directive, arguments)?.truth());
            return self.pieces(&clauses[chosen], arguments);
        }
        let chosen = match parameters.integer(self, directive, 0)? {
            Some(n) => usize::try_from(n).ok(),
            None => {
                let argument = self.next(directive, arguments)?;
                match &argument {
                    Value::Fixnum(n) => usize::try_from(*n).ok(),
                    other if other.as_bignum().is_some() => None,
                    other => return Err(Escape::wrong_type("format ~[", symbol::INTEGER, other)),
                }
            }
        };
        let default = directive.separators.last().is_some_and(|separator| separator.colon);
        match chosen.and_then(|chosen| clauses.get(chosen)) {
            Some(clause) => self.pieces(clause, arguments),
            None if default => self.pieces(&clauses[clauses.len() - 1], arguments),
            None => Ok(Flow::On),
        }
    }

    /// `~?`: the next argument is a control, the one after it a list; `~@?` goes on with ours.
    pub(crate) fn recursive(
        &mut self,
        directive: &Directive,
        arguments: &mut Arguments,
    ) -> Outcome<Flow> {
        let control = self.next(directive, arguments)?;
        let control = self.control_of(&control)?;
        if directive.at {
            self.inner(&control, arguments)?;
        } else {
            let list = self.next(directive, arguments)?;
            let mut inner = Arguments::new(self.list(directive, &list)?);
            self.inner(&control, &mut inner)?;
        }
        Ok(Flow::On)
    }

    fn control_of(&self, control: &Value) -> Outcome<String> {
        match control {
            Value::String(text) => Ok(text.to_text()),
            other => Err(Escape::wrong_type("format", symbol::STRING, other)),
        }
    }

    fn list(&self, directive: &Directive, value: &Value) -> Outcome<Vec<Value>> {
        if !value.is_list() {
            let operator = format!("format ~{}", directive.character);
            return Err(Escape::wrong_type(&operator, symbol::LIST, value));
        }
        let mut elements = Vec::new();
        let mut rest = value.elements();
        // A circular list would fill the memory before anything is printed.
        for element in rest.by_ref() {
            elements.push(element);
            if elements.len() > 1 << 26 {
                return Err(self.wrong(directive, "the list of arguments does not end"));
            }
        }
        if rest.rest().is_nil() {
            return Ok(elements);
        }
        Err(Escape::wrong_type(&format!("format ~{}", directive.character), symbol::LIST, value))
    }

    /// Another control string in the middle of this one.
    fn inner(&mut self, control: &str, arguments: &mut Arguments) -> Outcome<Flow> {
        let parsed = format_control::parse(control);
        let outer = std::mem::replace(&mut self.control, control.to_string());
        let flow = match parsed {
            Ok(pieces) => self.pieces(&pieces, arguments),
            Err(wrong) => {
                let position = wrong.position;
                Err(Escape::error(format!(
                    "format: {} at position {position} of {control:?}",
                    wrong.text
                )))
            }
        };
        self.control = outer;
        flow
    }

    /// `~{`: over a list; `~:{` over lists of lists, `~@{` over the arguments left.
    pub(crate) fn iteration(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<()> {
        let limit = parameters.integer(self, directive, 0)?.map(|n| n.max(0));
        let parsed;
        let mut body = &directive.clauses[0];
        if body.is_empty() {
            let control = self.next(directive, arguments)?;
            let control = self.control_of(&control)?;
            parsed = format_control::parse(&control)
                .map_err(|wrong| self.wrong(directive, format!("{} (inside)", wrong.text)))?;
            body = &parsed;
        }
        if directive.at {
            return self.iterate(directive, body, limit, arguments);
        }
        let list = self.next(directive, arguments)?;
        let mut inner = Arguments::new(self.list(directive, &list)?);
        self.iterate(directive, body, limit, &mut inner)
    }

    fn iterate(
        &mut self,
        directive: &Directive,
        body: &[Piece],
        limit: Option<i64>,
        arguments: &mut Arguments,
    ) -> Outcome<()> {
        let mut count = 0;
        let mut once = directive.close_colon;
        while once || arguments.left() > 0 {
            if limit == Some(count) {
                return Ok(());
            }
            // `~0@*` in the body can make this endless.
            self.lisp.poll()?;
            once = false;
            count += 1;
            let before = arguments.next;
            let flow = if directive.colon {
                self.sublist(directive, body, arguments)?
            } else {
                self.pieces(body, arguments)?
            };
            if flow != Flow::On {
                return Ok(());
            }
            if arguments.next == before && limit.is_none() && arguments.left() > 0 {
                return Err(self.wrong(directive, "the body of ~{ uses no argument"));
            }
        }
        Ok(())
    }

    /// One step of `~:{`: the next argument is the list of arguments of the body.
    fn sublist(
        &mut self,
        directive: &Directive,
        body: &[Piece],
        arguments: &mut Arguments,
    ) -> Outcome<Flow> {
        let list = match arguments.left() {
            0 => Value::Nil,
            _ => self.next(directive, arguments)?,
        };
        let mut inner = Arguments::new(self.list(directive, &list)?);
        inner.more_lists = arguments.left() > 0;
        Ok(match self.pieces(body, &mut inner)? {
            Flow::LeaveAll => Flow::LeaveAll,
            _ => Flow::On,
        })
    }

    /// `~^`: leaves when no argument is left, or as its parameters compare.
    pub(crate) fn escape(
        &self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &Arguments,
    ) -> Outcome<Flow> {
        let given = parameters.0.iter().map(|parameter| match parameter {
            Parameter::Integer(n) => Value::Fixnum(*n),
            Parameter::Character(character) => Value::Char(*character),
            _ => Value::Nil,
        });
        let given = given.collect::<Vec<_>>();
        let leave = match given.as_slice() {
            [] if directive.colon => !arguments.more_lists,
            [] => arguments.left() == 0,
            [n] => numbers::equals(n, &Value::Fixnum(0)),
            [a, b] => a.eql(b),
            [a, b, c, ..] => {
                let most = |a: &Value, b: &Value| match (a.as_fixnum(), b.as_fixnum()) {
                    (Some(a), Some(b)) => Ok(a <= b),
                    _ => Err(self.wrong(directive, "~^ compares three integers")),
                };
                most(a, b)? && most(b, c)?
            }
        };
        Ok(match (leave, directive.colon) {
            (false, _) => Flow::On,
            (true, false) => Flow::Leave,
            (true, true) => Flow::LeaveAll,
        })
    }

    /// `~mincol,colinc,minpad,padchar<`: segments spread over a width.
    pub(crate) fn justification(
        &mut self,
        directive: &Directive,
        parameters: &Parameters,
        arguments: &mut Arguments,
    ) -> Outcome<Flow> {
        let mincol = parameters.count(self, directive, 0, 0)?;
        let colinc = parameters.count(self, directive, 1, 1)?.max(1);
        let minpad = parameters.count(self, directive, 2, 0)?;
        let padding = parameters.character(self, directive, 3, ' ')?;
        let start = self.out.len();
        let mut segments = Vec::new();
        for clause in &directive.clauses {
            // `~^` ends the segments; what the unfinished one printed is dropped.
            let flow = self.pieces(clause, arguments)?;
            let text = self.out.split_off(start);
            if flow != Flow::On {
                break;
            }
            segments.push(text);
        }
        let line = match directive.separators.first() {
            Some(separator) if separator.colon && !segments.is_empty() => {
                Some((segments.remove(0), self.line_limits(separator, arguments)?))
            }
            _ => None,
        };
        let text = spread(&segments, directive, (mincol, colinc, minpad), padding);
        if let Some((prefix, (spare, width))) = line
            && self.current_column() + text.chars().count() + spare > width
        {
            self.out.push_str(&prefix);
        }
        self.out.push_str(&text);
        Ok(Flow::On)
    }

    /// The parameters of `~:;`: spare columns and the width of a line.
    fn line_limits(
        &mut self,
        separator: &Directive,
        arguments: &mut Arguments,
    ) -> Outcome<(usize, usize)> {
        let values = separator.parameters.iter().map(|parameter| match parameter {
            Parameter::Count => Parameter::Integer(arguments.left() as i64),
            Parameter::Argument => Parameter::Missing,
            other => *other,
        });
        let values = Parameters(values.collect());
        Ok((values.count(self, separator, 0, 0)?, values.count(self, separator, 1, 72)?))
    }
}

/// The segments with padding between them, and before or after by the flags.
fn spread(
    segments: &[String],
    directive: &Directive,
    (mincol, colinc, minpad): (usize, usize, usize),
    padding: char,
) -> String {
    // A single segment without flags is pushed to the right.
    let before = directive.colon || segments.len() == 1 && !directive.at;
    let gaps = segments.len().saturating_sub(1) + usize::from(before) + usize::from(directive.at);
    let length = segments.iter().map(|text| text.chars().count()).sum::<usize>();
    let least = length + gaps * minpad;
    let width = mincol + least.saturating_sub(mincol).div_ceil(colinc) * colinc;
    let mut left = width - length;
    let mut gaps = gaps;
    let mut text = String::new();
    // Later gaps get what does not divide evenly.
    let mut pad = |text: &mut String| {
        let count = left.checked_div(gaps).unwrap_or(0);
        left -= count;
        gaps = gaps.saturating_sub(1);
        text.extend(std::iter::repeat_n(padding, count));
    };
    for (at, segment) in segments.iter().enumerate() {
        if at > 0 || before {
            pad(&mut text);
        }
        text.push_str(segment);
    }
    if directive.at || segments.is_empty() {
        pad(&mut text);
    }
    text
}
