//! "Did you mean": the visible symbol whose name is nearest to one that means nothing.

use crate::lisp::Lisp;
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
