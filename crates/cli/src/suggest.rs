//! "Did you mean": the known name nearest to a word that is not one.

use rung_lisp::suggest::distance;

/// The nearest of `names`, when it is near enough to be a slip of the fingers: one change for
/// short words, a third of the letters for longer ones, or a beginning of three letters or more.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for name in names {
        let mut steps = distance(word, name);
        if word.len() >= 3 && name.starts_with(word) {
            steps = steps.min(limit);
        }
        if steps <= limit && best.is_none_or(|(least, _)| steps < least) {
            best = Some((steps, name));
        }
    }
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let names = ["gpu", "blas", "portable", "parallel", "on-decline"];
        assert_eq!(nearest("gpo", names), Some("gpu"));
        assert_eq!(nearest("ugp", names), None);
        assert_eq!(nearest("gup", names), Some("gpu"));
        assert_eq!(nearest("paralel", names), Some("parallel"));
        assert_eq!(nearest("on-declien", names), Some("on-decline"));
        assert_eq!(nearest("port", names), Some("portable"));
        assert_eq!(nearest("quux", names), None);
    }
}
