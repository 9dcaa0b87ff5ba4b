//! "Did you mean": the visible symbol whose name is nearest to one that means nothing.

use crate::condition::{Condition, Message};
use crate::lisp::Lisp;
use crate::package::PackageId;
use crate::symbol::{Symbol, SymbolCell};

/// How many insertions, deletions, replacements and swaps of neighbours lead from `a` to `b`.
pub fn distance(a: &str, b: &str) -> usize {
    let a = a.chars().collect::<Vec<_>>();
    let b = b.chars().collect::<Vec<_>>();
    let mut before = vec![0; b.len() + 1];
    let mut row = (0..=b.len()).collect::<Vec<_>>();
    for i in 1..=a.len() {
        let mut next = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            next[j] = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

/// `did you mean NAME`, when a symbol of the current package or one it uses is near enough and
/// has what is wanted. A name in `la:...` is looked for in its own package.
pub fn suggest(lisp: &Lisp, wanted: Symbol, has: impl Fn(&SymbolCell) -> bool) -> Option<String> {
    let name = lisp.name(wanted);
    let here = lisp.current_package();
    let home = lisp.symbols[wanted].package.unwrap_or(here);
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    let mut packages = vec![home, here];
    packages.extend(&lisp.packages[home].uses);
    packages.extend(&lisp.packages[here].uses);
    let mut best: Option<(usize, &str, Symbol)> = None;
    for package in packages {
        for (candidate, (symbol, exported)) in &lisp.packages[package].present {
            let visible = *exported || package == here;
            if *symbol == wanted || !visible || candidate.len().abs_diff(name.len()) > allowed {
                continue;
            }
            let far = distance(&name, candidate);
            let known = has(&lisp.symbols[*symbol]) || lisp.library.defines(*symbol);
            // Of equally near names the first in the alphabet, so that output repeats.
            let better = best.is_none_or(|(least, text, _)| (far, &**candidate) < (least, text));
            // A name of which nothing is left is not near: * for x.
            if far <= allowed && far < name.chars().count() && better && known {
                best = Some((far, candidate, *symbol));
            }
        }
    }
    best.map(|(_, _, symbol)| format!("did you mean {}", lisp.shown(symbol)))
}

/// The same for a variable: a function of its name is meant to be called.
pub fn variable(lisp: &Lisp, wanted: Symbol) -> Option<String> {
    let is_function = !lisp.symbols[wanted].function.is_unbound();
    let call = || format!("({} ...) calls the function of this name", lisp.shown(wanted));
    is_function.then(call).or_else(|| suggest(lisp, wanted, |cell| !cell.value.is_unbound()))
}

/// The same for a name that is called: else a function of the embedder's package that has the name,
/// or what is written for it there.
pub fn function(lisp: &Lisp, wanted: Symbol) -> Option<String> {
    let callable =
        |cell: &SymbolCell| !cell.function.is_unbound() || !cell.macro_function.is_unbound();
    let name = lisp.name(wanted);
    let exact = exported(lisp, &name).filter(|symbol| *symbol != wanted);
    let exact = exact.map(|symbol| format!("did you mean {}", lisp.shown(symbol)));
    exact.or_else(|| suggest(lisp, wanted, callable)).or_else(|| elsewhere(lisp, &name))
}

/// `subtract is (la:sub a b) here`, of a name that other systems use.
pub fn elsewhere(lisp: &Lisp, name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let here = (lisp.advice?.here)(&name)?;
    Some(format!("{name} is {here} here"))
}

/// Whether names of other systems are looked for in this package.
pub fn is_advised(lisp: &Lisp, package: PackageId) -> bool {
    let known = |name: &&str| lisp.packages.find(name) == Some(package);
    lisp.advice.is_some_and(|advice| advice.packages.iter().any(known))
}

/// The function of the embedder's package that has this name.
fn exported(lisp: &Lisp, name: &str) -> Option<Symbol> {
    let package = lisp.packages.find(lisp.advice?.packages.first()?)?;
    let symbol = lisp.packages.external(package, name)?;
    (!lisp.symbols[symbol].function.is_unbound()).then_some(symbol)
}

/// The hint of a condition; for an array where a number was wanted, what takes arrays.
pub fn hint(lisp: &Lisp, condition: &Condition) -> Option<String> {
    condition.hint.clone().or_else(|| {
        let Message::Wanted { operator, wanted, got } = &condition.message else { return None };
        let number = ["number", "integer"].iter().any(|kind| wanted.contains(kind));
        if got.as_packed().is_none() || !number {
            return None;
        }
        let here = match exported(lisp, &operator.to_uppercase()) {
            Some(symbol) => lisp.shown(symbol),
            None => (lisp.advice?.here)(operator)?,
        };
        Some(format!("{operator} takes numbers; of arrays it is {here}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swap_counts_once() {
        assert_eq!(distance("LENGHT", "LENGTH"), 1);
        assert_eq!(distance("CAR", "CDR"), 1);
        assert_eq!(distance("", "ABC"), 3);
    }
}
