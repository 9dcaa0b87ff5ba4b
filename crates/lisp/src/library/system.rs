//! Loading, time, arguments, description (chapters 24 and 25, and parts of `rung`).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::code::Function;
use crate::condition::{Escape, Outcome};
use crate::expand::special::special_operator;
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::symbol::{self, VariableKind};
use crate::value::{NIL, T, Value, list};

use super::protocols;
use super::streams::path_of;

/// Seconds from 1900, where the standard begins to count, to 1970, where the system does.
pub(super) const EPOCH: i64 = 2_208_988_800;

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The table.
pub static SYSTEM: &[Native] = &[
    native(
        "load",
        "file &key verbose print if-does-not-exist external-format",
        "Loads a file.",
        load,
    ),
    native("require", "name &optional path", "Loads a module once.", |lisp, a| {
        let name = super::packages::designated_text(lisp, "require", &a[0])?;
        let known = lisp.variable(symbol::MODULES).elements().any(|module| {
            module.as_text().is_some_and(|text| text.to_text().eq_ignore_ascii_case(&name))
        });
        if known {
            return Ok(NIL);
        }
        let given = a.get(1).filter(|path| path.truth());
        let path = match given {
            Some(path) => path_of(lisp, "require", path)?,
            None => format!("{}.lisp", name.to_lowercase()),
        };
        let path = lisp.resolve_path(&path);
        if given.is_some() || std::path::Path::new(&path).exists() {
            lisp.load_path(&path)?;
        } else {
            let system = lisp.intern(crate::package::ASDF, "%REQUIRE");
            lisp.call(&Value::symbol(system), &[Value::string(&name.to_lowercase())])?;
        }
        provide(lisp, &name);
        Ok(T)
    }),
    native("provide", "name", "Says that a module is loaded.", |lisp, a| {
        let name = super::packages::designated_text(lisp, "provide", &a[0])?;
        provide(lisp, &name);
        Ok(T)
    }),
    native("get-internal-real-time", "", "Microseconds since some moment.", |_, _| {
        Ok(Value::Fixnum(since_epoch().as_micros() as i64))
    }),
    native(
        "get-internal-run-time",
        "",
        "Microseconds that the processor has worked.",
        |lisp, _| {
            let worked = processor_time().unwrap_or_else(|| lisp.started.elapsed());
            Ok(Value::Fixnum(worked.as_micros() as i64))
        },
    ),
    native("get-universal-time", "", "Seconds since 1900.", |_, _| {
        Ok(Value::Fixnum(since_epoch().as_secs() as i64 + EPOCH))
    }),
    native("rung:now", "", "Seconds as a double.", |_, _| {
        Ok(Value::Double(since_epoch().as_secs_f64()))
    }),
    native("rung:nanoseconds", "", "Nanoseconds as an integer.", |lisp, _| {
        Ok(Value::Fixnum(lisp.started.elapsed().as_nanos() as i64))
    }),
    native("sleep", "seconds", "Waits.", |lisp, a| {
        let seconds = crate::numbers::to_double(&a[0]);
        let seconds = seconds
            .filter(|s| *s >= 0.0)
            .ok_or_else(|| Escape::wrong_type("sleep", symbol::REAL, &a[0]))?;
        let end = std::time::Instant::now() + Duration::from_secs_f64(seconds.min(1e9));
        loop {
            lisp.poll()?;
            let left = end.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(NIL);
            }
            std::thread::sleep(left.min(Duration::from_millis(20)));
        }
    }),
    native("rung:gc", "", "Frees circular garbage now; how many objects that were.", |_, _| {
        Ok(Value::size(crate::heap::collect()))
    }),
    native("uiop:command-line-arguments", "", "The program's arguments.", |lisp, _| {
        Ok(lisp.variable(symbol::COMMAND_ARGUMENTS).clone())
    }),
    native("uiop:getenv", "name", "An environment variable, or nil.", |lisp, a| {
        let name = super::packages::designated_text(lisp, "getenv", &a[0])?;
        Ok(std::env::var(&name).map(|value| Value::string(&value)).unwrap_or_default())
    }),
    native("lisp-implementation-type", "", "The name of this Lisp.", |_, _| {
        Ok(Value::string("Rung"))
    }),
    native("lisp-implementation-version", "", "Its version.", |_, _| {
        Ok(Value::string(env!("CARGO_PKG_VERSION")))
    }),
    native("machine-type", "", "The processor.", |_, _| Ok(Value::string(std::env::consts::ARCH))),
    native("software-type", "", "The system.", |_, _| Ok(Value::string(std::env::consts::OS))),
    native("documentation", "object kind", "A documentation string, or nil.", |lisp, a| {
        documentation(lisp, &a[0], &a[1])
    }),
    native("rung::%set-documentation", "object kind value", "Sets a string.", |lisp, a| {
        let class = a[0].as_class().map(|class| (class.name.get(), symbol::TYPE));
        let named = a[0].as_symbol().zip(a[1].as_symbol());
        if let Some(key) = class.or(named) {
            lisp.documentation.insert(key, a[2].clone());
        }
        Ok(a[2].clone())
    }),
    native("describe", "object &optional stream", "Says what a thing is.", |lisp, a| {
        let stream = lisp.output_stream(&a.get(1).cloned().unwrap_or_default(), "describe")?;
        if protocols::is_specialised(lisp, symbol::DESCRIBE_OBJECT, &a[0]) {
            lisp.call(&Value::symbol(symbol::DESCRIBE_OBJECT), &[a[0].clone(), stream])?;
            return Ok(lisp.values(Vec::new()));
        }
        let text = describe(lisp, &a[0])?;
        lisp.write(&stream, &text)?;
        Ok(lisp.values(Vec::new()))
    }),
    native("disassemble", "function", "Prints what the machine runs.", |lisp, a| {
        let text = super::evaluation::disassembled(lisp, a)?;
        let stream = lisp.variable(symbol::STANDARD_OUTPUT).clone();
        lisp.write(&stream, &text)?;
        Ok(NIL)
    }),
    native("room", "&optional how-much", "Prints what is in memory.", |lisp, _| {
        let text = format!(
            "{} symbols, {} packages, {} classes, {} source texts\n{}",
            lisp.symbols.count(),
            lisp.packages.all().count(),
            lisp.classes.len(),
            lisp.sources.len(),
            resident()
        );
        let stream = lisp.variable(symbol::STANDARD_OUTPUT).clone();
        lisp.write(&stream, &text)?;
        Ok(lisp.values(Vec::new()))
    }),
    native("apropos-list", "text &optional package", "Symbols whose name contains it.", |l, a| {
        Ok(list(apropos(l, a)?))
    }),
    native("apropos", "text &optional package", "Prints the symbols found.", |lisp, a| {
        let stream = lisp.variable(symbol::STANDARD_OUTPUT).clone();
        for name in apropos(lisp, a)? {
            let line = crate::printer::prin1(lisp, &name)? + "\n";
            lisp.write(&stream, &line)?;
        }
        Ok(lisp.values(Vec::new()))
    }),
    native("rung:function-lambda-list", "function", "The lambda list.", |lisp, a| {
        let function = Value::Function(lisp.function_of(&a[0])?);
        Ok(super::evaluation::lambda_list(lisp, &function))
    }),
];

/// How long the processor has worked for this thread, where the system tells.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// What the system says of this process, where it can be asked.
fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let lines = status.lines().filter_map(|line| {
        let (name, size) = line.split_once(':')?;
        let words = match name {
            "VmRSS" => "memory now",
            "VmHWM" => "memory at most",
            _ => return None,
        };
        Some(format!("{words}: {}\n", size.trim()))
    });
    lines.collect()
}

fn provide(lisp: &mut Lisp, name: &str) {
    let modules = lisp.variable(symbol::MODULES).clone();
    let modules = crate::value::cons(Value::string(name), modules);
    lisp.set_variable(symbol::MODULES, modules);
}

fn load(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let path = path_of(lisp, "load", &a[0])?;
    let path = lisp.resolve_path(&path);
    let format = lisp.intern(crate::package::KEYWORD, "EXTERNAL-FORMAT");
    let names = [symbol::KEY_IF_DOES_NOT_EXIST, symbol::KEY_VERBOSE, symbol::KEY_PRINT, format];
    let [missing, ..] = keywords(lisp, &a[1..], names)?;
    let quiet = missing.is_some_and(|value| value.is_nil());
    if quiet && !std::path::Path::new(&path).exists() {
        return Ok(NIL);
    }
    lisp.load_path(&path)?;
    Ok(T)
}

fn documentation(lisp: &mut Lisp, object: &Value, kind: &Value) -> Outcome {
    if let (Some(name), Some(kind)) = (object.as_symbol(), kind.as_symbol())
        && let Some(text) = lisp.documentation.get(&(name, kind))
    {
        return Ok(text.clone());
    }
    if let Some(class) = object.as_class() {
        let known = lisp.documentation.get(&(class.name.get(), symbol::TYPE));
        return Ok(known.cloned().unwrap_or_default());
    }
    if let Some(method) = object.as_method() {
        return Ok(method.documentation.clone());
    }
    let function = match object.as_symbol() {
        Some(_) if !kind.is_symbol(symbol::FUNCTION) => return Ok(NIL),
        Some(name) => match lisp.macro_function(name)? {
            Some(expander) => expander,
            None => match lisp.global_function(name) {
                Ok(function) => Value::Function(function),
                Err(_) => return Ok(NIL),
            },
        },
        None => object.clone(),
    };
    Ok(match function.as_function().map(|function| &**function) {
        Some(Function::Closure(closure)) => closure.code.documentation.clone(),
        Some(Function::Native(native)) => Value::string(&native.documentation),
        Some(Function::Generic(generic)) => generic.definition.borrow().documentation.clone(),
        None => NIL,
    })
}

pub(super) fn describe(lisp: &mut Lisp, object: &Value) -> Outcome<String> {
    let shown = crate::printer::prin1(lisp, object)?;
    let Some(name) = object.as_symbol() else {
        let kind = super::types::type_of(lisp, object);
        let kind = lisp.brief(&kind).to_lowercase();
        let mut text = format!("{shown} is a {kind}\n");
        for (slot, value) in protocols::slots_shown(lisp, object) {
            text.push_str(&format!("  {slot}: {value}\n"));
        }
        return Ok(text);
    };
    let mut text = format!("{shown} is a symbol\n");
    let value = lisp.variable(name).clone();
    if !value.is_unbound() {
        let kind = match lisp.symbols[name].kind {
            VariableKind::Constant => "constant",
            VariableKind::Special => "special variable",
            VariableKind::Plain => "global variable",
        };
        text.push_str(&format!("  {kind}, value {}\n", lisp.brief(&value)));
    }
    let expander = lisp.macro_function(name)?;
    let kind = if expander.is_some() { "macro" } else { "function" };
    if special_operator(name).is_some() {
        text.push_str("  special operator\n");
        return Ok(text);
    }
    let function = match expander {
        Some(expander) => Some(expander),
        None => lisp.global_function(name).ok().map(Value::Function),
    };
    if let Some(function) = function {
        let written = lisp.documentation.get(&(name, symbol::LAMBDA)).cloned();
        let parameters = match written.filter(|_| kind == "macro") {
            Some(written) => written,
            None => super::evaluation::lambda_list(lisp, &function),
        };
        let parameters = match &parameters {
            Value::Nil => "()".to_string(),
            other => crate::printer::princ(lisp, other)?.to_lowercase(),
        };
        text.push_str(&format!("  {kind} of {parameters}\n"));
        let documentation = documentation(lisp, &function, &NIL)?;
        if let Some(documentation) = documentation.as_text() {
            text.push_str(&format!("  {}\n", documentation.to_text()));
        }
    }
    Ok(text)
}

fn apropos(lisp: &mut Lisp, a: &[Value]) -> Outcome<Vec<Value>> {
    let text = super::packages::designated_text(lisp, "apropos", &a[0])?.to_uppercase();
    let package = match a.get(1).filter(|package| package.truth()) {
        Some(package) => Some(super::packages::package_of(lisp, "apropos", package)?),
        None => None,
    };
    let mut found = Vec::new();
    for id in lisp.packages.all().filter(|id| package.is_none_or(|p| p == *id)) {
        let present = lisp.packages[id].present.iter();
        let named = present.filter(|(name, _)| name.contains(&text) && !name.starts_with('%'));
        found.extend(named.map(|(name, entry)| (name.clone(), entry.0)));
    }
    found.sort();
    found.dedup();
    Ok(found.into_iter().map(|(_, symbol)| Value::symbol(symbol)).collect())
}
