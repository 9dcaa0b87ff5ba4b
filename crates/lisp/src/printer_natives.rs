//! The language's printing functions: `write`, `prin1`, `princ`, `print` and those that give a
//! string. What writes plain characters is in `library::streams`.

use crate::condition::Outcome;
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::printer::{Case, Settings, prin1, princ, print_as};
use crate::symbol;
use crate::value::Value;

/// The functions of chapter 22 that print objects.
pub static PRINTER: &[Native] = &[
    native("prin1", "object &optional stream", "Prints for the reader.", |lisp, arguments| {
        let text = prin1(lisp, &arguments[0])?;
        write_text(lisp, "prin1", arguments, &text)
    }),
    native("princ", "object &optional stream", "Prints for people.", |lisp, arguments| {
        let text = princ(lisp, &arguments[0])?;
        write_text(lisp, "princ", arguments, &text)
    }),
    native(
        "print",
        "object &optional stream",
        "Prints on a line of its own.",
        |lisp, arguments| {
            let text = format!("\n{} ", prin1(lisp, &arguments[0])?);
            write_text(lisp, "print", arguments, &text)
        },
    ),
    native(
        "pprint",
        "object &optional stream",
        "As print, and gives no value.",
        |lisp, arguments| {
            let text = format!("\n{}", prin1(lisp, &arguments[0])?);
            write_text(lisp, "pprint", arguments, &text)?;
            Ok(lisp.values(Vec::new()))
        },
    ),
    native(
        "write",
        "object &key stream escape readably base radix case length level circle gensym array \
         pretty lines right-margin miser-width pprint-dispatch",
        "Prints the object with these settings.",
        |lisp, arguments| {
            let text = written(lisp, &arguments[0], &arguments[1..])?;
            let stream =
                arguments[1..].chunks_exact(2).find(|pair| pair[0].is_symbol(symbol::KEY_STREAM));
            let stream = stream.map_or(Value::Nil, |pair| pair[1].clone());
            write_text(lisp, "write", &[arguments[0].clone(), stream], &text)
        },
    ),
    native("prin1-to-string", "object", "The object as prin1 prints it.", |lisp, arguments| {
        Ok(Value::string(&prin1(lisp, &arguments[0])?))
    }),
    native("princ-to-string", "object", "The object as princ prints it.", |lisp, arguments| {
        Ok(Value::string(&princ(lisp, &arguments[0])?))
    }),
    native(
        "write-to-string",
        "object &key escape readably base radix case length level circle gensym array pretty lines \
         right-margin miser-width pprint-dispatch",
        "The object printed with these settings.",
        |lisp, arguments| Ok(Value::string(&written(lisp, &arguments[0], &arguments[1..])?)),
    ),
];

/// Writes the text to the stream that is the second argument; gives the first.
fn write_text(lisp: &mut Lisp, operator: &str, arguments: &[Value], text: &str) -> Outcome {
    let stream = arguments.get(1).unwrap_or(&Value::Nil);
    let stream = lisp.output_stream(stream, operator)?;
    lisp.write(&stream, text)?;
    Ok(arguments[0].clone())
}

const KEYWORDS: [symbol::Symbol; 16] = [
    symbol::KEY_ESCAPE,
    symbol::KEY_READABLY,
    symbol::KEY_BASE,
    symbol::KEY_RADIX,
    symbol::KEY_CASE,
    symbol::KEY_LENGTH,
    symbol::KEY_LEVEL,
    symbol::KEY_CIRCLE,
    symbol::KEY_GENSYM,
    symbol::KEY_ARRAY,
    // Accepted: layout is not in this version.
    symbol::KEY_PRETTY,
    symbol::KEY_LINES,
    symbol::KEY_RIGHT_MARGIN,
    symbol::KEY_MISER_WIDTH,
    symbol::KEY_PPRINT_DISPATCH,
    symbol::KEY_STREAM,
];

/// The object as `write` prints it under the given keyword arguments.
pub fn written(lisp: &mut Lisp, object: &Value, arguments: &[Value]) -> Outcome<String> {
    let [escape, readably, base, radix, case, length, level, circle, gensym, array, ..] =
        keywords(lisp, arguments, KEYWORDS)?;
    let mut settings = Settings::of(lisp);
    let flag = |value: Option<Value>, now: bool| value.map_or(now, |value| value.truth());
    settings.readably = flag(readably, settings.readably);
    settings.escape = flag(escape, settings.escape) || settings.readably;
    settings.radix = flag(radix, settings.radix);
    settings.circle = flag(circle, settings.circle);
    settings.gensym = flag(gensym, settings.gensym);
    settings.array = flag(array, settings.array) || settings.readably;
    settings.element_type |= settings.readably;
    if let Some(base @ 2..=36) = base.and_then(|value| value.as_fixnum()) {
        settings.base = base as u32;
    }
    if let Some(length) = length {
        settings.length = length.as_index();
    }
    if let Some(level) = level {
        settings.level = level.as_index();
    }
    if let Some(case) = case {
        settings.case = match () {
            () if case.is_symbol(symbol::KEY_DOWNCASE) => Case::Down,
            () if case.is_symbol(symbol::KEY_CAPITALIZE) => Case::Capital,
            () => Case::Up,
        };
    }
    print_as(lisp, object, settings)
}
