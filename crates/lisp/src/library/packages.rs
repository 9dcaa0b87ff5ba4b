//! Symbols and packages (chapters 10 and 11).

use crate::condition::{Condition, Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::Object;
use crate::package::{Access, PackageId};
use crate::symbol::{self, Symbol, VariableKind};
use crate::value::{NIL, T, Value, list};

use super::lists::put_property;

/// The text of a string designator: a string, symbol or character.
pub fn designated_text(lisp: &Lisp, operator: &str, value: &Value) -> Outcome<String> {
    match value {
        Value::String(text) => Ok(text.to_text()),
        Value::Char(c) => Ok(c.to_string()),
        other => match other.as_symbol() {
            Some(symbol) => Ok(lisp.name(symbol).to_string()),
            None => Err(Escape::wrong_type(operator, symbol::STRING, other)),
        },
    }
}

fn symbol_of(operator: &str, value: &Value) -> Outcome<Symbol> {
    value.as_symbol().ok_or_else(|| Escape::wrong_type(operator, symbol::SYMBOL, value))
}

/// The package a designator means; an error that names the nearest package when there is none.
pub fn package_of(lisp: &Lisp, operator: &str, value: &Value) -> Outcome<PackageId> {
    if let Some(Object::Package(id)) = value.as_object() {
        return Ok(*id);
    }
    let name = designated_text(lisp, operator, value)?;
    let here = lisp.current_package();
    let found = lisp.packages.find_from(here, &name);
    let found = found.or_else(|| lisp.packages.find(&name.to_uppercase()));
    found.ok_or_else(|| {
        let text = format!("there is no package named {}", name.to_lowercase());
        let nearest =
            lisp.packages.all().map(|id| lisp.packages[id].name.clone()).min_by_key(|other| {
                (crate::suggest::distance(other, &name.to_uppercase()), other.clone())
            });
        let condition =
            Condition::new(symbol::PACKAGE_ERROR, text).with(symbol::KEY_PACKAGE, value.clone());
        match nearest {
            Some(other) if crate::suggest::distance(&other, &name.to_uppercase()) <= 2 => {
                condition.hint(format!("did you mean {}", other.to_lowercase())).into()
            }
            _ => condition.into(),
        }
    })
}

fn package_or_current(lisp: &Lisp, operator: &str, value: Option<&Value>) -> Outcome<PackageId> {
    match value {
        None => Ok(lisp.current_package()),
        Some(value) => package_of(lisp, operator, value),
    }
}

fn package_value(lisp: &Lisp, id: PackageId) -> Value {
    lisp.packages[id].object.clone()
}

fn access_keyword(access: Access) -> Value {
    Value::symbol(match access {
        Access::Internal => symbol::KEY_INTERNAL,
        Access::External => symbol::KEY_EXTERNAL,
        Access::Inherited => symbol::KEY_INHERITED,
    })
}

/// A list of symbols, or one symbol.
fn symbols_of(operator: &str, value: &Value) -> Outcome<Vec<Symbol>> {
    match value {
        Value::Cons(_) => value.elements().map(|v| symbol_of(operator, &v)).collect(),
        Value::Nil => Ok(Vec::new()),
        one => Ok(vec![symbol_of(operator, one)?]),
    }
}

fn listed(value: &Value) -> Vec<Value> {
    match value {
        Value::Cons(_) => value.elements().collect(),
        Value::Nil => Vec::new(),
        one => vec![one.clone()],
    }
}

/// Functions on symbols.
pub static SYMBOLS: &[Native] = &[
    native("symbolp", "object", "Whether it is a symbol.", |_, a| {
        Ok(Value::boolean(a[0].as_symbol().is_some()))
    }),
    native("keywordp", "object", "Whether it is a keyword.", |lisp, a| {
        let home = a[0].as_symbol().and_then(|symbol| lisp.symbols[symbol].package);
        Ok(Value::boolean(home == Some(crate::package::KEYWORD)))
    }),
    native("symbol-name", "symbol", "Its name.", |lisp, a| {
        Ok(Value::string(&lisp.name(symbol_of("symbol-name", &a[0])?)))
    }),
    native("symbol-package", "symbol", "Its home package.", |lisp, a| {
        let home = lisp.symbols[symbol_of("symbol-package", &a[0])?].package;
        Ok(home.map(|id| package_value(lisp, id)).unwrap_or_default())
    }),
    native("symbol-value", "symbol", "The value of its dynamic variable.", |lisp, a| {
        let name = symbol_of("symbol-value", &a[0])?;
        lisp.bound_value(name)
    }),
    native("set", "symbol value", "Sets a dynamic variable.", |lisp, a| {
        let name = symbol_of("set", &a[0])?;
        if lisp.symbols[name].kind == VariableKind::Constant {
            return Err(Escape::program(format!("{} is a constant", lisp.shown(name))));
        }
        lisp.set_variable(name, a[1].clone());
        Ok(a[1].clone())
    }),
    native("boundp", "symbol", "Whether its dynamic variable has a value.", |lisp, a| {
        let name = symbol_of("boundp", &a[0])?;
        Ok(Value::boolean(!lisp.variable(name).is_unbound()))
    }),
    native("makunbound", "symbol", "Takes away the value.", |lisp, a| {
        let name = symbol_of("makunbound", &a[0])?;
        lisp.set_variable(name, Value::Unbound);
        Ok(a[0].clone())
    }),
    native("symbol-plist", "symbol", "Its property list.", |lisp, a| {
        Ok(lisp.symbols[symbol_of("symbol-plist", &a[0])?].plist.clone())
    }),
    native("rung::%set-symbol-plist", "symbol value", "Sets the property list.", |lisp, a| {
        let name = symbol_of("symbol-plist", &a[0])?;
        lisp.symbols[name].plist = a[1].clone();
        Ok(a[1].clone())
    }),
    native("get", "symbol indicator &optional default", "A property.", |lisp, a| {
        let plist = lisp.symbols[symbol_of("get", &a[0])?].plist.clone();
        let all = plist.elements().collect::<Vec<_>>();
        let found = all.chunks(2).find(|pair| pair[0].eql(&a[1]));
        let found = found.and_then(|pair| pair.get(1).cloned());
        Ok(found.unwrap_or_else(|| a.get(2).cloned().unwrap_or_default()))
    }),
    native(
        "rung::%set-get",
        "symbol indicator &rest default-and-value",
        "Sets a property.",
        |lisp, a| {
            let name = symbol_of("get", &a[0])?;
            let value = &a[a.len() - 1];
            let plist = put_property(&lisp.symbols[name].plist, &a[1], value)?;
            lisp.symbols[name].plist = plist;
            Ok(value.clone())
        },
    ),
    native("remprop", "symbol indicator", "Removes a property.", |lisp, a| {
        let name = symbol_of("remprop", &a[0])?;
        let all = lisp.symbols[name].plist.elements().collect::<Vec<_>>();
        let kept = all.chunks(2).filter(|pair| !pair[0].eql(&a[1])).flatten().cloned();
        let kept = kept.collect::<Vec<_>>();
        let gone = kept.len() < all.len();
        lisp.symbols[name].plist = list(kept);
        Ok(Value::boolean(gone))
    }),
    native("make-symbol", "name", "A new uninterned symbol.", |lisp, a| {
        let name = designated_text(lisp, "make-symbol", &a[0])?;
        Ok(Value::symbol(lisp.make_symbol(&name)))
    }),
    native("copy-symbol", "symbol &optional properties", "A new uninterned symbol.", |lisp, a| {
        let name = symbol_of("copy-symbol", &a[0])?;
        let text = lisp.name(name);
        Ok(Value::symbol(lisp.make_symbol(&text)))
    }),
];

/// Functions on packages.
pub static PACKAGES: &[Native] = &[
    native("find-package", "name", "The package of a name, or nil.", |lisp, a| {
        if let Some(Object::Package(_)) = a[0].as_object() {
            return Ok(a[0].clone());
        }
        let name = designated_text(lisp, "find-package", &a[0])?;
        let found = lisp.packages.find_from(lisp.current_package(), &name);
        Ok(found.map(|id| package_value(lisp, id)).unwrap_or_default())
    }),
    native("packagep", "object", "Whether it is a package.", |_, a| {
        Ok(Value::boolean(matches!(a[0].as_object(), Some(Object::Package(_)))))
    }),
    native("package-name", "package", "Its name.", |lisp, a| {
        let id = package_of(lisp, "package-name", &a[0])?;
        let alive = lisp.packages[id].alive;
        Ok(if alive { Value::string(&lisp.packages[id].name) } else { NIL })
    }),
    native("package-nicknames", "package", "Its other names.", |lisp, a| {
        let id = package_of(lisp, "package-nicknames", &a[0])?;
        let names = lisp.packages[id].nicknames.iter().map(|name| Value::string(name));
        Ok(list(names.collect::<Vec<_>>()))
    }),
    native("package-use-list", "package", "The packages it uses.", |lisp, a| {
        let id = package_of(lisp, "package-use-list", &a[0])?;
        let used = lisp.packages[id].uses.iter().map(|id| package_value(lisp, *id));
        Ok(list(used.collect::<Vec<_>>()))
    }),
    native("package-used-by-list", "package", "The packages that use it.", |lisp, a| {
        let id = package_of(lisp, "package-used-by-list", &a[0])?;
        let users = lisp.packages.all().filter(|other| lisp.packages[*other].uses.contains(&id));
        Ok(list(users.map(|id| package_value(lisp, id)).collect::<Vec<_>>()))
    }),
    native("package-shadowing-symbols", "package", "The names that win.", |lisp, a| {
        let id = package_of(lisp, "package-shadowing-symbols", &a[0])?;
        let names = lisp.packages[id].shadowing.iter().map(|name| Value::symbol(*name));
        Ok(list(names.collect::<Vec<_>>()))
    }),
    native("list-all-packages", "", "All packages.", |lisp, _| {
        Ok(list(lisp.packages.all().map(|id| package_value(lisp, id)).collect::<Vec<_>>()))
    }),
    native("make-package", "name &key nicknames use", "A new package.", |lisp, a| {
        let id = make_package(lisp, &a[0])?;
        for pair in a[1..].chunks(2) {
            match pair[0].as_symbol() {
                Some(symbol::KEY_USE) => use_packages(lisp, id, &pair[1])?,
                Some(symbol::KEY_NICKNAMES) => add_nicknames(lisp, id, &pair[1])?,
                _ => {}
            }
        }
        Ok(package_value(lisp, id))
    }),
    native("delete-package", "package", "Forgets a package.", |lisp, a| {
        let id = package_of(lisp, "delete-package", &a[0])?;
        if !lisp.packages[id].alive {
            return Ok(NIL);
        }
        let users = lisp.packages.all().find(|other| lisp.packages[*other].uses.contains(&id));
        if let Some(user) = users {
            let name = |id| lisp.packages[id].name.to_lowercase();
            let text = format!("the package {} is used by {}", name(id), name(user));
            let condition = Condition::new(symbol::PACKAGE_ERROR, text)
                .with(symbol::KEY_PACKAGE, package_value(lisp, id))
                .hint("unuse-package first");
            return Err(condition.into());
        }
        lisp.packages.delete(id);
        Ok(T)
    }),
    native("rename-package", "package name &optional nicknames", "Renames.", |lisp, a| {
        let id = package_of(lisp, "rename-package", &a[0])?;
        let name = designated_text(lisp, "rename-package", &a[1])?;
        let mut nicknames = Vec::new();
        for nickname in a.get(2).map(listed).unwrap_or_default() {
            nicknames.push(designated_text(lisp, "rename-package", &nickname)?);
        }
        lisp.packages.rename(id, &name, &nicknames);
        Ok(a[0].clone())
    }),
    native("intern", "name &optional package", "The symbol of a name.", |lisp, a| {
        let id = package_or_current(lisp, "intern", a.get(1))?;
        let Some(text) = a[0].as_text() else {
            return Err(Escape::wrong_type("intern", symbol::STRING, &a[0]));
        };
        let text = text.to_text();
        let access = lisp.packages.lookup(id, &text).map(|found| access_keyword(found.1));
        let name = Value::symbol(lisp.intern(id, &text));
        Ok(lisp.values(vec![name, access.unwrap_or_default()]))
    }),
    native("find-symbol", "name &optional package", "The symbol of a name, if any.", |lisp, a| {
        let id = package_or_current(lisp, "find-symbol", a.get(1))?;
        let text = designated_text(lisp, "find-symbol", &a[0])?;
        let found = lisp.packages.lookup(id, &text);
        let values = match found {
            Some((name, access)) => vec![Value::symbol(name), access_keyword(access)],
            None => vec![NIL, NIL],
        };
        Ok(lisp.values(values))
    }),
    native("find-all-symbols", "name", "The symbols of a name.", |lisp, a| {
        let text = designated_text(lisp, "find-all-symbols", &a[0])?;
        let all = lisp.packages.all();
        let found = all.filter_map(|id| lisp.packages[id].present.get(&*text).map(|e| e.0));
        let mut found = found.collect::<Vec<_>>();
        found.sort();
        found.dedup();
        Ok(list(found.into_iter().map(Value::symbol).collect::<Vec<_>>()))
    }),
    native("export", "symbols &optional package", "Exports symbols.", |lisp, a| {
        let id = package_or_current(lisp, "export", a.get(1))?;
        for name in symbols_of("export", &a[0])? {
            check_export(lisp, id, name)?;
            lisp.packages.export(&lisp.symbols, id, name);
        }
        Ok(T)
    }),
    native("unexport", "symbols &optional package", "Makes symbols internal.", |lisp, a| {
        let id = package_or_current(lisp, "unexport", a.get(1))?;
        for name in symbols_of("unexport", &a[0])? {
            let text = lisp.name(name);
            lisp.packages[id].present.insert(text, (name, false));
        }
        Ok(T)
    }),
    native("import", "symbols &optional package", "Makes symbols present.", |lisp, a| {
        let id = package_or_current(lisp, "import", a.get(1))?;
        for name in symbols_of("import", &a[0])? {
            import(lisp, id, name)?;
        }
        Ok(T)
    }),
    native("shadowing-import", "symbols &optional package", "Imports and wins.", |lisp, a| {
        let id = package_or_current(lisp, "shadowing-import", a.get(1))?;
        for name in symbols_of("shadowing-import", &a[0])? {
            let text = lisp.name(name);
            lisp.packages[id].present.insert(text, (name, false));
            lisp.packages[id].shadowing.push(name);
        }
        Ok(T)
    }),
    native("shadow", "names &optional package", "Makes own symbols of names.", |lisp, a| {
        let id = package_or_current(lisp, "shadow", a.get(1))?;
        for name in listed(&a[0]) {
            let text = designated_text(lisp, "shadow", &name)?;
            shadow(lisp, id, &text);
        }
        Ok(T)
    }),
    native("unintern", "symbol &optional package", "Takes a symbol out.", |lisp, a| {
        let id = package_or_current(lisp, "unintern", a.get(1))?;
        let name = symbol_of("unintern", &a[0])?;
        let text = lisp.name(name);
        let there = lisp.packages[id].present.get(&text).is_some_and(|entry| entry.0 == name);
        if there {
            lisp.packages[id].present.remove(&text);
            lisp.symbols[name].package = None;
        }
        Ok(Value::boolean(there))
    }),
    native("use-package", "packages &optional package", "Uses packages.", |lisp, a| {
        let id = package_or_current(lisp, "use-package", a.get(1))?;
        use_packages(lisp, id, &a[0])?;
        Ok(T)
    }),
    native("unuse-package", "packages &optional package", "Uses no more.", |lisp, a| {
        let id = package_or_current(lisp, "unuse-package", a.get(1))?;
        for used in listed(&a[0]) {
            let used = package_of(lisp, "unuse-package", &used)?;
            lisp.packages[id].uses.retain(|other| *other != used);
        }
        Ok(T)
    }),
    native("rung::%in-package", "name", "Sets the current package.", |lisp, a| {
        let id = package_of(lisp, "in-package", &a[0])?;
        let package = package_value(lisp, id);
        lisp.set_variable(symbol::CURRENT_PACKAGE, package.clone());
        Ok(package)
    }),
    native("rung::%define-package", "name &rest options", "What defpackage does.", define_package),
    native("rung::%package-symbols", "package which", "The symbols of a package.", |lisp, a| {
        let id = package_of(lisp, "do-symbols", &a[0])?;
        let external = a[1].is_symbol(symbol::KEY_EXTERNAL);
        let present = lisp.packages[id].present.values();
        let mut found =
            present.filter(|entry| !external || entry.1).map(|e| e.0).collect::<Vec<_>>();
        if a[1].is_symbol(symbol::KEY_INHERITED) {
            for used in &lisp.packages[id].uses {
                let theirs = lisp.packages[*used].present.values();
                found.extend(theirs.filter(|entry| entry.1).map(|entry| entry.0));
            }
        }
        found.sort();
        Ok(list(found.into_iter().map(Value::symbol).collect::<Vec<_>>()))
    }),
    native(
        "rung:add-package-local-nickname",
        "nickname package &optional here",
        "A short name that holds inside one package.",
        |lisp, a| {
            let nickname = designated_text(lisp, "add-package-local-nickname", &a[0])?;
            let id = package_of(lisp, "add-package-local-nickname", &a[1])?;
            let here = package_or_current(lisp, "add-package-local-nickname", a.get(2))?;
            lisp.packages[here].local_nicknames.push((nickname.as_str().into(), id));
            Ok(package_value(lisp, id))
        },
    ),
];

fn make_package(lisp: &mut Lisp, name: &Value) -> Outcome<PackageId> {
    let name = designated_text(lisp, "make-package", name)?;
    if lisp.packages.find(&name).is_some() {
        let text = format!("the package {} exists already", name.to_lowercase());
        return Err(Escape::of(symbol::PACKAGE_ERROR, text));
    }
    Ok(lisp.packages.make(&name))
}

fn add_nicknames(lisp: &mut Lisp, id: PackageId, names: &Value) -> Outcome<()> {
    for name in listed(names) {
        let name = designated_text(lisp, "defpackage", &name)?;
        lisp.packages.add_nickname(id, &name);
    }
    Ok(())
}

fn use_packages(lisp: &mut Lisp, id: PackageId, packages: &Value) -> Outcome<()> {
    for used in listed(packages) {
        let used = package_of(lisp, "use-package", &used)?;
        check_conflicts(lisp, id, used)?;
        if !lisp.packages[id].uses.contains(&used) {
            lisp.packages[id].uses.push(used);
        }
    }
    Ok(())
}

/// Two symbols of one name may not both be visible, unless one shadows.
fn check_conflicts(lisp: &Lisp, id: PackageId, used: PackageId) -> Outcome<()> {
    for (name, (theirs, exported)) in &lisp.packages[used].present {
        if !exported {
            continue;
        }
        let Some((ours, _)) = lisp.packages.lookup(id, name) else { continue };
        if ours != *theirs && !lisp.packages[id].shadowing.contains(&ours) {
            let (user, used) = (&lisp.packages[id].name, &lisp.packages[used].name);
            let text = format!(
                "{} of package {} conflicts with a name that is visible in {}",
                name.to_lowercase(),
                used.to_lowercase(),
                user.to_lowercase()
            );
            let hint = "shadow the name in defpackage";
            return Err(Condition::new(symbol::PACKAGE_ERROR, text).hint(hint).into());
        }
    }
    Ok(())
}

/// Only what is accessible is exported, and only where no user of the package sees another symbol
/// of that name.
fn check_export(lisp: &Lisp, id: PackageId, name: Symbol) -> Outcome<()> {
    let text = lisp.name(name);
    let package = || lisp.packages[id].name.to_lowercase();
    let refused = |said: String, hint: &str| {
        let condition = Condition::new(symbol::PACKAGE_ERROR, said);
        Err(condition.with(symbol::KEY_PACKAGE, package_value(lisp, id)).hint(hint).into())
    };
    if lisp.packages.lookup(id, &text).is_none_or(|found| found.0 != name) {
        let said = format!("export: {} is not accessible in {}", lisp.shown(name), package());
        return refused(said, "import it first");
    }
    let other = |user: &PackageId| {
        let used = lisp.packages[*user].uses.contains(&id);
        let seen = lisp.packages.lookup(*user, &text).map(|found| found.0);
        let shadows = seen.is_some_and(|seen| lisp.packages[*user].shadowing.contains(&seen));
        used && seen.is_some_and(|seen| seen != name) && !shadows
    };
    if let Some(user) = lisp.packages.all().find(other) {
        let user = lisp.packages[user].name.to_lowercase();
        let said =
            format!("export: {user} uses {} and has another {}", package(), lisp.shown(name));
        return refused(said, "shadow the name there");
    }
    Ok(())
}

fn import(lisp: &mut Lisp, id: PackageId, name: Symbol) -> Outcome<()> {
    let text = lisp.name(name);
    match lisp.packages.lookup(id, &text) {
        Some((there, _)) if there != name => {
            let shown = text.to_lowercase();
            let text = format!("another symbol named {shown} is visible already");
            Err(Escape::of(symbol::PACKAGE_ERROR, text))
        }
        Some((_, Access::Internal | Access::External)) => Ok(()),
        _ => {
            lisp.packages[id].present.insert(text, (name, false));
            Ok(())
        }
    }
}

/// Makes a symbol of the package's own that wins over those of used packages.
pub(super) fn shadow(lisp: &mut Lisp, id: PackageId, name: &str) -> Symbol {
    let present = lisp.packages[id].present.get(name).map(|entry| entry.0);
    let own = present.unwrap_or_else(|| {
        let symbol = lisp.symbols.make(name, Some(id));
        lisp.packages[id].present.insert(name.into(), (symbol, false));
        symbol
    });
    if !lisp.packages[id].shadowing.contains(&own) {
        lisp.packages[id].shadowing.push(own);
    }
    own
}

/// The options are lists `(:key . arguments)`.
fn define_package(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let name = designated_text(lisp, "defpackage", &a[0])?;
    let id = match lisp.packages.find(&name) {
        Some(id) => id,
        None => make_package(lisp, &a[0])?,
    };
    // Shadowing comes first and exporting last, whatever the order of the options.
    let order = [
        symbol::KEY_SHADOW,
        symbol::KEY_SHADOWING_IMPORT_FROM,
        symbol::KEY_USE,
        symbol::KEY_IMPORT_FROM,
        symbol::KEY_INTERN,
        symbol::KEY_EXPORT,
        symbol::KEY_NICKNAMES,
        symbol::KEY_LOCAL_NICKNAMES,
    ];
    for wanted in order {
        for option in &a[1..] {
            let mut parts = option.elements();
            if parts.next().and_then(|key| key.as_symbol()) == Some(wanted) {
                let arguments = parts.collect::<Vec<_>>();
                package_option(lisp, id, wanted, &arguments)?;
            }
        }
    }
    Ok(package_value(lisp, id))
}

fn package_option(
    lisp: &mut Lisp,
    id: PackageId,
    option: Symbol,
    arguments: &[Value],
) -> Outcome<()> {
    let from = matches!(option, symbol::KEY_IMPORT_FROM | symbol::KEY_SHADOWING_IMPORT_FROM);
    if from {
        let Some((package, names)) = arguments.split_first() else { return Ok(()) };
        let source = package_of(lisp, "defpackage", package)?;
        for name in names {
            let text = designated_text(lisp, "defpackage", name)?;
            let found = lisp.intern(source, &text);
            if option == symbol::KEY_IMPORT_FROM {
                import(lisp, id, found)?;
            } else {
                lisp.packages[id].present.insert(text.as_str().into(), (found, false));
                lisp.packages[id].shadowing.push(found);
            }
        }
        return Ok(());
    }
    for argument in arguments {
        match option {
            symbol::KEY_USE => use_packages(lisp, id, &list([argument.clone()]))?,
            symbol::KEY_NICKNAMES => add_nicknames(lisp, id, &list([argument.clone()]))?,
            symbol::KEY_LOCAL_NICKNAMES => {
                let parts = listed(argument);
                if let [nickname, package] = &parts[..] {
                    let nickname = designated_text(lisp, "defpackage", nickname)?;
                    let package = package_of(lisp, "defpackage", package)?;
                    lisp.packages[id].local_nicknames.push((nickname.as_str().into(), package));
                }
            }
            _ => {
                let text = designated_text(lisp, "defpackage", argument)?;
                match option {
                    symbol::KEY_SHADOW => {
                        shadow(lisp, id, &text);
                    }
                    symbol::KEY_EXPORT => {
                        let name = lisp.intern(id, &text);
                        lisp.packages.export(&lisp.symbols, id, name);
                    }
                    _ => {
                        lisp.intern(id, &text);
                    }
                }
            }
        }
    }
    Ok(())
}
