//! Packages: which symbol a name means, and which symbols are exported.
//!
//! Only the bookkeeping: `Packages` works on names and symbols and signals conflicts as plain
//! text. The language's package functions are in `library::packages`.

use std::collections::HashMap;
use std::rc::Rc;

use crate::object::Object;
use crate::symbol::{Symbol, SymbolTable, WELL_KNOWN};
use crate::value::Value;

/// A package, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PackageId(pub(crate) u32);

/// `common-lisp`.
pub const CL: PackageId = PackageId(0);
/// `keyword`.
pub const KEYWORD: PackageId = PackageId(1);
/// `rung`.
pub const RUNG: PackageId = PackageId(2);
/// `common-lisp-user`.
pub const CL_USER: PackageId = PackageId(3);
/// `linalg`.
pub const LINALG: PackageId = PackageId(4);
/// `uiop`.
pub const UIOP: PackageId = PackageId(5);
/// `asdf`.
pub const ASDF: PackageId = PackageId(6);
/// `asdf-user`, where definitions of systems are read.
pub const ASDF_USER: PackageId = PackageId(7);
/// `quicklisp-client`.
pub const QL: PackageId = PackageId(8);
/// `trivial-gray-streams`.
pub const GRAY: PackageId = PackageId(9);
/// `test`.
pub const TEST: PackageId = PackageId(10);

/// The first package that the language has not made itself.
pub(crate) const FIRST_OF_PROGRAMS: u32 = FIRST.len() as u32;

/// How a symbol is found in a package.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Present, not exported.
    Internal,
    /// Present and exported.
    External,
    /// Exported by a package that is used.
    Inherited,
}

/// One package.
pub struct Package {
    /// The one object that stands for it.
    pub object: Value,
    /// Its name, in upper case unless it was made otherwise.
    pub name: Rc<str>,
    /// Other names.
    pub nicknames: Vec<Rc<str>>,
    /// Packages whose exported symbols are visible here, in order.
    pub uses: Vec<PackageId>,
    /// Symbols present, and whether each is exported.
    pub present: HashMap<Rc<str>, (Symbol, bool)>,
    /// Names that win over used packages.
    pub shadowing: Vec<Symbol>,
    /// Short names of other packages that hold only inside this one.
    pub local_nicknames: Vec<(Rc<str>, PackageId)>,
    /// Whether programs may not define what it exports.
    pub locked: bool,
    /// False after `delete-package`.
    pub alive: bool,
}

/// All packages of one Lisp.
pub struct Packages {
    list: Vec<Package>,
    names: HashMap<Rc<str>, PackageId>,
}

/// Name, nicknames and used packages of the packages that exist from the start, in the order of
/// the constants above.
const FIRST: &[(&str, &[&str], &[PackageId])] = &[
    ("COMMON-LISP", &["CL"], &[]),
    ("KEYWORD", &[], &[]),
    ("RUNG", &[], &[CL]),
    ("COMMON-LISP-USER", &["CL-USER"], &[CL]),
    ("LINALG", &["LA"], &[]),
    ("UIOP", &[], &[CL]),
    ("ASDF", &[], &[CL]),
    ("ASDF-USER", &[], &[CL, ASDF, UIOP]),
    ("QUICKLISP-CLIENT", &["QL"], &[CL]),
    ("TRIVIAL-GRAY-STREAMS", &[], &[CL]),
    ("TEST", &[], &[CL]),
];

/// Those whose names a program may define.
const FOR_PROGRAMS: [PackageId; 3] = [KEYWORD, CL_USER, ASDF_USER];

impl Packages {
    pub(crate) fn new() -> Packages {
        let mut packages = Packages { list: Vec::new(), names: HashMap::new() };
        for (name, nicknames, uses) in FIRST {
            let id = packages.make(name);
            for nickname in *nicknames {
                packages.add_nickname(id, nickname);
            }
            packages[id].uses = uses.to_vec();
            packages[id].locked = !FOR_PROGRAMS.contains(&id);
        }
        for (index, (name, package)) in WELL_KNOWN.iter().enumerate() {
            let exported = *package != RUNG || !name.starts_with('%');
            let symbol = Symbol(index as u32);
            packages[*package].present.insert(Rc::from(*name), (symbol, exported));
        }
        packages
    }

    /// Makes a package that uses nothing. The name must be free.
    pub fn make(&mut self, name: &str) -> PackageId {
        let id = PackageId(self.list.len() as u32);
        let name: Rc<str> = Rc::from(name);
        self.list.push(Package {
            object: Value::object(Object::Package(id)),
            name: name.clone(),
            nicknames: Vec::new(),
            uses: Vec::new(),
            present: HashMap::new(),
            shadowing: Vec::new(),
            local_nicknames: Vec::new(),
            locked: false,
            alive: true,
        });
        self.names.insert(name, id);
        id
    }

    /// As `make`; programs do not define what it exports.
    pub(crate) fn make_locked(&mut self, name: &str) -> PackageId {
        let id = self.make(name);
        self[id].locked = true;
        id
    }

    /// Gives a package another name. A name that is taken keeps its owner.
    pub fn add_nickname(&mut self, id: PackageId, nickname: &str) {
        let nickname: Rc<str> = Rc::from(nickname);
        self.names.entry(nickname.clone()).or_insert(id);
        if !self[id].nicknames.contains(&nickname) {
            self[id].nicknames.push(nickname);
        }
    }

    /// The package of that exact name or nickname.
    pub fn find(&self, name: &str) -> Option<PackageId> {
        self.names.get(name).copied()
    }

    /// As `find`, seeing the local nicknames of `here` first.
    pub fn find_from(&self, here: PackageId, name: &str) -> Option<PackageId> {
        let local = self[here].local_nicknames.iter().find(|(nickname, _)| &**nickname == name);
        local.map(|(_, id)| *id).or_else(|| self.find(name))
    }

    /// Forgets a package's names; its symbols stay as they are.
    pub fn delete(&mut self, id: PackageId) {
        self.names.retain(|_, owner| *owner != id);
        self[id].alive = false;
    }

    /// Gives a package a new name and new nicknames in place of the old ones.
    pub fn rename(&mut self, id: PackageId, name: &str, nicknames: &[String]) {
        self.names.retain(|_, owner| *owner != id);
        let name: Rc<str> = Rc::from(name);
        self.names.insert(name.clone(), id);
        self[id].name = name;
        self[id].nicknames.clear();
        for nickname in nicknames {
            self.add_nickname(id, nickname);
        }
    }

    /// Every living package.
    pub fn all(&self) -> impl Iterator<Item = PackageId> + '_ {
        let ids = (0..self.list.len() as u32).map(PackageId);
        ids.filter(|id| self[*id].alive)
    }

    /// The symbol that a name means in a package.
    pub fn lookup(&self, id: PackageId, name: &str) -> Option<(Symbol, Access)> {
        let package = &self[id];
        if let Some((symbol, exported)) = package.present.get(name) {
            let access = if *exported { Access::External } else { Access::Internal };
            return Some((*symbol, access));
        }
        let inherited = package.uses.iter().find_map(|used| self.external(*used, name));
        inherited.map(|symbol| (symbol, Access::Inherited))
    }

    /// The exported symbol of that name.
    pub fn external(&self, id: PackageId, name: &str) -> Option<Symbol> {
        self[id].present.get(name).filter(|entry| entry.1).map(|entry| entry.0)
    }

    /// The symbol that a name means, made if need be. Keywords are exported and evaluate to
    /// themselves.
    pub fn intern(&mut self, symbols: &mut SymbolTable, id: PackageId, name: &str) -> Symbol {
        if let Some((symbol, _)) = self.lookup(id, name) {
            return symbol;
        }
        let symbol = symbols.make(name, Some(id));
        if id == KEYWORD {
            symbols[symbol].value = crate::value::Value::symbol(symbol);
            symbols[symbol].kind = crate::symbol::VariableKind::Constant;
        }
        let name = symbols[symbol].name.clone();
        self[id].present.insert(name, (symbol, id == KEYWORD));
        symbol
    }

    /// Makes a symbol present in a package and exports it.
    pub fn export(&mut self, symbols: &SymbolTable, id: PackageId, symbol: Symbol) {
        self[id].present.insert(symbols[symbol].name.clone(), (symbol, true));
    }
}

impl std::ops::Index<PackageId> for Packages {
    type Output = Package;
    fn index(&self, id: PackageId) -> &Package {
        &self.list[id.0 as usize]
    }
}

impl std::ops::IndexMut<PackageId> for Packages {
    fn index_mut(&mut self, id: PackageId) -> &mut Package {
        &mut self.list[id.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol;

    #[test]
    fn names_are_found_through_use() {
        let mut symbols = SymbolTable::new();
        let mut packages = Packages::new();
        assert_eq!(packages.lookup(CL_USER, "CAR"), Some((symbol::CAR, Access::Inherited)));
        assert_eq!(packages.find("LA"), Some(LINALG));
        let foo = packages.intern(&mut symbols, CL_USER, "FOO");
        assert_eq!(packages.intern(&mut symbols, CL_USER, "FOO"), foo);
        assert_eq!(packages.lookup(CL_USER, "FOO"), Some((foo, Access::Internal)));
        assert_eq!(packages.external(CL_USER, "FOO"), None);
    }
}
