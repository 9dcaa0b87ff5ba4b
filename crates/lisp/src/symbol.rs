//! Symbols: a symbol is a number into the table that its `Lisp` owns, so that symbols are
//! immediate values and the well-known ones are constants that Rust code can match on.
//!
//! Entries live as long as the `Lisp`; an uninterned symbol that nobody holds is for the
//! collector of cycles to reuse. Which package a symbol is found in is told by `package`.

use std::rc::Rc;

use crate::package::PackageId;
use crate::value::Value;

/// A symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub struct Symbol(pub(crate) u32);

impl Symbol {
    /// Its place in the table.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// What a symbol's variable may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VariableKind {
    /// Nothing is known: lexical where bound by `let`.
    #[default]
    Plain,
    /// Bindings are dynamic.
    Special,
    /// May be neither bound nor set.
    Constant,
}

/// Everything a symbol holds.
pub struct SymbolCell {
    /// Its name, in upper case for symbols read from ordinary source.
    pub name: Rc<str>,
    /// Its home package; none for uninterned symbols.
    pub package: Option<PackageId>,
    /// The value of its dynamic variable, or `Unbound`.
    pub value: Value,
    /// Its global function, or `Unbound`.
    pub function: Value,
    /// The function of `(setf NAME)`, or `Unbound`.
    pub setf_function: Value,
    /// Its macro expander, or `Unbound`.
    pub macro_function: Value,
    /// Whether its variable is special or constant.
    pub kind: VariableKind,
    /// Its property list.
    pub plist: Value,
}

impl SymbolCell {
    fn new(name: &str, package: Option<PackageId>) -> SymbolCell {
        SymbolCell {
            name: Rc::from(name),
            package,
            value: Value::Unbound,
            function: Value::Unbound,
            setf_function: Value::Unbound,
            macro_function: Value::Unbound,
            kind: VariableKind::Plain,
            plist: Value::Nil,
        }
    }
}

/// All symbols of one Lisp.
pub struct SymbolTable {
    cells: Vec<SymbolCell>,
    /// Where the first cell is, for native code.
    pub(crate) start: *const SymbolCell,
}

impl SymbolTable {
    /// A table that holds the well-known symbols; `package` has interned them.
    pub(crate) fn new() -> SymbolTable {
        let cells = WELL_KNOWN.iter().map(|(name, package)| SymbolCell::new(name, Some(*package)));
        let cells = cells.collect::<Vec<_>>();
        let start = cells.as_ptr();
        SymbolTable { cells, start }
    }

    /// Adds a symbol; interning it is the business of `Packages`.
    pub fn make(&mut self, name: &str, package: Option<PackageId>) -> Symbol {
        let index = u32::try_from(self.cells.len()).expect("fewer than 2^32 symbols fit in memory");
        self.cells.push(SymbolCell::new(name, package));
        self.start = self.cells.as_ptr();
        Symbol(index)
    }

    /// How many symbols there are.
    pub fn count(&self) -> usize {
        self.cells.len()
    }

    /// Every symbol.
    pub fn all(&self) -> impl Iterator<Item = Symbol> + use<> {
        (0..self.cells.len() as u32).map(Symbol)
    }
}

impl std::ops::Index<Symbol> for SymbolTable {
    type Output = SymbolCell;
    #[inline(always)]
    fn index(&self, symbol: Symbol) -> &SymbolCell {
        &self.cells[symbol.0 as usize]
    }
}

impl std::ops::IndexMut<Symbol> for SymbolTable {
    #[inline(always)]
    fn index_mut(&mut self, symbol: Symbol) -> &mut SymbolCell {
        &mut self.cells[symbol.0 as usize]
    }
}

/// Declares the symbols that Rust code names: constant, name, package.
macro_rules! well_known {
    ($($package:ident { $($constant:ident $name:literal)* })*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Index { $($($constant,)*)* }
        $($(#[doc = concat!("The symbol `", $name, "`.")]
            pub const $constant: Symbol = Symbol(Index::$constant as u32);)*)*
        pub(crate) const WELL_KNOWN: &[(&str, PackageId)] =
            &[$($(($name, crate::package::$package),)*)*];
    };
}

include!("symbol_list.rs");
