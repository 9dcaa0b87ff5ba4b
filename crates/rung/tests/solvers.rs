//! Solvers from the language: the manual's own forms on the lanes and by the definition, texts and
//! errors.

mod common;

use common::{forms, printed, session};
use rung::solvers::{SOLVERS, operations};

const PAGES: &[&str] =
    &[include_str!("../../../docs/points.md"), include_str!("../../../docs/mel.md")];

#[test]
fn the_forms_of_the_manual_give_what_they_say() {
    for page in PAGES {
        let forms = forms(page);
        assert!(forms.iter().filter(|(_, wanted)| wanted.is_some()).count() >= 3);
        for mut session in [session(|_| {}), session(|s| s.portable.value = true)] {
            for (form, wanted) in &forms {
                let shown = printed(&mut session, form);
                if let Some(wanted) = wanted {
                    assert_eq!(&shown, wanted, "{form}");
                }
            }
        }
    }
}

#[test]
fn every_function_is_described_with_its_parameters() {
    let mut session = session(|_| {});
    for op in SOLVERS.iter().flat_map(|solver| solver.operations) {
        let name = format!("{}{}", op.package.prefix, op.name());
        let form = format!("(with-output-to-string (s) (describe '{name} s))");
        let text = printed(&mut session, &form);
        for parameter in op.parameters {
            let line = format!("{}: {}", parameter.name.to_uppercase(), parameter.text);
            assert!(text.replace("\\n", "\n").contains(&line), "{name}: {line}: {text}");
        }
    }
    assert!(operations().count() > SOLVERS.iter().map(|s| s.operations.len()).sum());
}

#[test]
fn mistakes_are_conditions_of_the_solver_s_package() {
    let mut session = session(|_| {});
    let mut shown = |form: &str| printed(&mut session, form);
    assert_eq!(shown("(points:fps #d((0 0)) :k -1)"), "points: k must be 0 or more: got -1");
    let caught = "(handler-case (points:fps #d((0 0)) :k -1) (error (e) (princ-to-string e)))";
    assert_eq!(shown(caught), "\"points: k must be 0 or more: got -1\"");
    assert_eq!(shown("(points:fps #d((0 0)) :kk 1)"), "points: Unknown keyword argument: :kk");
    let whole = shown("(points:fps #2A((0 0) (3 4)) :k 5)");
    assert_eq!(whole, "#(0 1) #d(inf 5.0) 0.0");
}
