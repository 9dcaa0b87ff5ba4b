//! `write-to-string`, `prin1-to-string`, `princ-to-string`. Those that write to streams are in
//! `library::streams`.

use crate::condition::Outcome;
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::printer::{Case, Settings, prin1, princ, print_as};
use crate::symbol;
use crate::value::Value;

/// The functions of chapter 22 that give text.
pub static PRINTER: &[Native] = &[
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

/// The object as `write` prints it under the given keyword arguments.
pub fn written(lisp: &mut Lisp, object: &Value, arguments: &[Value]) -> Outcome<String> {
    let names = [
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
    let [escape, readably, base, radix, case, length, level, circle, gensym, array, ..] =
        keywords(lisp, arguments, names)?;
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
