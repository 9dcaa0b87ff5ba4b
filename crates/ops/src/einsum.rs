//! `einsum`: sums of products named by letters (Einstein's convention as numpy writes it).
//!
//! `parse` turns the text into labels for each axis; `Term` is an array whose axes carry labels.
//! A label that one operand alone has and the result has not is folded first; then the operands
//! are multiplied in pairs from the left, as stacks of matrices. Nothing here computes: it is
//! views and calls of the operations of the table.

use crate::arguments::{Arguments, Operand, number_array};
use crate::call::{Context, Prepared, Run};
use crate::contract::{number_or_array, reshaped, steps};
use crate::record::{Exactness, Kind, Op, Rungs, required, rest};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape};

pub const OPS: &[Op] = &[Op {
    names: &["einsum"],
    doc: "Sums of products by letters, one an axis: \"ij,jk->ik\" is the matrix product. Without \
          -> the result has the letters that stand once, in alphabetical order; ... stands for \
          any axes, which broadcast; a letter twice in one operand is its diagonal.",
    parameters: &[required("subscripts", Kind::Text), rest("arrays", Kind::Operand)],
    result: "an array of the result's letters, or a number",
    exact: Exactness::LibraryOrder,
    prepare: einsum,
    rungs: Rungs::STEPS,
    samples: einsum_samples,
    example: "(la:einsum \"ij,jk->ki\" #d((1 2) (3 4)) #d((1 0) (0 10))) => #d((1.0 3.0) (20.0 40.0))",
    ..Op::BASE
}];

/// Letters are their characters; the axes of an ellipsis, counted from the last, are these.
const ELLIPSIS: u32 = 0x11_0000;

type Label = u32;

/// An array with a label for each axis, all different.
struct Term {
    array: Array,
    labels: Vec<Label>,
}

/// What the subscripts say.
#[derive(Debug, PartialEq)]
struct Subscripts {
    operands: Vec<Vec<Label>>,
    output: Vec<Label>,
}

fn wrong(what: impl std::fmt::Display, position: usize) -> Error {
    Error::new(ErrorKind::Argument, format!("einsum: {what} at position {position}"))
        .hint("subscripts look like \"ij,jk->ik\"")
}

fn einsum(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let text = arguments.text(0)?;
    let arrays = arguments.rest(1)?.into_iter().map(|operand| match operand {
        Operand::Array(a) => Ok(a),
        Operand::Number(n) => number_array(n),
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let ranks: Vec<usize> = arrays.iter().map(Array::rank).collect();
    let Subscripts { operands, output } = parse(&text, &ranks)?;
    let mut terms = Vec::new();
    for (array, labels) in arrays.into_iter().zip(operands) {
        terms.push(without_repeats(array, labels)?);
    }
    let terms = at_common_extents(terms)?;
    steps(move |run| {
        let term = multiplied(run, terms, &output)?;
        let order: Vec<usize> = positions(&term.labels, &output);
        Ok(vec![number_or_array(term.array.transpose(&order)?)])
    })
}

/// The labels of each operand and of the result, for operands of these ranks.
fn parse(text: &str, ranks: &[usize]) -> Result<Subscripts> {
    let (inputs, output) = match text.find("->") {
        Some(at) => (&text[..at], Some((&text[at + 2..], at + 2))),
        None => (text, None),
    };
    let mut operands = Vec::new();
    let mut position = 0;
    for part in inputs.split(',') {
        let Some(&rank) = ranks.get(operands.len()) else {
            return Err(wrong(format!("{} arrays for more subscripts", ranks.len()), position));
        };
        operands.push(labels(part, position, Some(rank))?);
        position += part.len() + 1;
    }
    if operands.len() < ranks.len() {
        return Err(wrong(format!("no subscripts for array {}", operands.len()), position - 1));
    }
    let dots = operands.iter().flatten().filter(|&&l| l >= ELLIPSIS).max();
    let dots = dots.map_or(0, |&most| (most - ELLIPSIS + 1) as usize);
    let output = match output {
        None => implicit(&operands),
        Some((part, position)) => explicit(part, position, dots, &operands)?,
    };
    Ok(Subscripts { operands, output })
}

/// One operand's labels; an ellipsis stands for the axes that its letters leave.
fn labels(part: &str, position: usize, rank: Option<usize>) -> Result<Vec<Label>> {
    let letters = part.chars().filter(|c| c.is_alphabetic()).count();
    let dots = match (rank, part.contains("...")) {
        (Some(rank), true) => rank.checked_sub(letters),
        (Some(rank), false) => (rank == letters).then_some(0),
        (None, _) => Some(0),
    };
    let Some(dots) = dots else {
        let rank = rank.unwrap_or(0);
        return Err(wrong(format!("{letters} letters for an array of {rank} axes"), position));
    };
    let (mut out, mut rest, mut seen) = (Vec::new(), part, false);
    while let Some(c) = rest.chars().next() {
        let at = position + (part.len() - rest.len());
        match c {
            '.' if rest.starts_with("...") && !seen => {
                out.extend((0..dots as Label).rev().map(|i| ELLIPSIS + i));
                (rest, seen) = (&rest[3..], true);
                continue;
            }
            c if c.is_alphabetic() => out.push(c as Label),
            ' ' => {}
            _ => return Err(wrong(format!("unexpected {c:?}"), at)),
        }
        rest = &rest[c.len_utf8()..];
    }
    Ok(out)
}

/// The ellipsis, then the letters that stand once, in alphabetical order.
fn implicit(operands: &[Vec<Label>]) -> Vec<Label> {
    let all: Vec<Label> = operands.iter().flatten().copied().collect();
    let once = |l: &Label| *l >= ELLIPSIS || all.iter().filter(|other| *other == l).count() == 1;
    let mut output: Vec<Label> = all.iter().copied().filter(once).collect();
    // The ellipsis axes come first, the first of them having the highest number.
    output.sort_by_key(|&l| if l >= ELLIPSIS { (0, u32::MAX - l) } else { (1, l) });
    output.dedup();
    output
}

fn explicit(
    part: &str,
    position: usize,
    dots: usize,
    operands: &[Vec<Label>],
) -> Result<Vec<Label>> {
    let mut output = Vec::new();
    for label in labels(part, position, None)? {
        if output.contains(&label) {
            return Err(wrong(format!("{:?} stands twice in the result", shown(label)), position));
        }
        if !operands.iter().any(|o| o.contains(&label)) {
            return Err(wrong(format!("{:?} is in no operand", shown(label)), position));
        }
        output.push(label);
    }
    if let Some(at) = part.find("...") {
        let before = part[..at].chars().filter(|c| c.is_alphabetic()).count();
        let axes = (0..dots as Label).rev().map(|i| ELLIPSIS + i);
        output.splice(before..before, axes);
    }
    Ok(output)
}

fn shown(label: Label) -> char {
    char::from_u32(label).unwrap_or('.')
}

/// Axes with the same label become their diagonal.
fn without_repeats(mut array: Array, mut labels: Vec<Label>) -> Result<Term> {
    let mut at = 0;
    while at < labels.len() {
        match labels[..at].iter().position(|l| *l == labels[at]) {
            Some(first) => {
                let extents = (array.shape()[first], array.shape()[at]);
                if extents.0 != extents.1 {
                    return Err(extents_differ(labels[at], extents.0, extents.1));
                }
                array = array.diagonal(first, at)?;
                labels.remove(at);
            }
            None => at += 1,
        }
    }
    Ok(Term { array, labels })
}

fn extents_differ(label: Label, one: usize, other: usize) -> Error {
    let letter = shown(label);
    let text = format!("einsum: extents {one} and {other} of {letter:?} differ");
    Error::new(ErrorKind::Shape, text)
}

/// An axis of extent 1 is read at the extent that its label has elsewhere.
fn at_common_extents(terms: Vec<Term>) -> Result<Vec<Term>> {
    let mut known: Vec<(Label, usize)> = Vec::new();
    for term in &terms {
        for (&label, &extent) in term.labels.iter().zip(term.array.shape().iter()) {
            match known.iter_mut().find(|(l, _)| *l == label) {
                None => known.push((label, extent)),
                Some((_, common)) if *common == 1 => *common = extent,
                Some((_, common)) if *common == extent || extent == 1 => {}
                Some((_, common)) => return Err(extents_differ(label, *common, extent)),
            }
        }
    }
    let extent = |label: &Label| known.iter().find(|(l, _)| l == label).map_or(1, |k| k.1);
    let spread = |term: Term| {
        let shape = Shape::new(term.labels.iter().map(extent))?;
        Ok(Term { array: term.array.broadcast_to(&shape)?, labels: term.labels })
    };
    terms.into_iter().map(spread).collect()
}

/// The product of all terms, with the labels of the result in any order.
fn multiplied(run: &mut dyn Run, terms: Vec<Term>, output: &[Label]) -> Result<Term> {
    let mut left: Vec<Term> = Vec::new();
    for (i, term) in terms.iter().enumerate() {
        let elsewhere = |l: &Label| {
            output.contains(l)
                || terms.iter().enumerate().any(|(j, t)| j != i && t.labels.contains(l))
        };
        left.push(folded(run, term, elsewhere)?);
    }
    let mut rest = left.into_iter();
    let Some(mut product) = rest.next() else {
        return Err(wrong("no arrays", 0));
    };
    while let Some(next) = rest.next() {
        let later =
            |l: &Label| output.contains(l) || rest.as_slice().iter().any(|t| t.labels.contains(l));
        product = pair(run, &product, &next, later)?;
    }
    Ok(product)
}

/// Sums over the labels that are not wanted, together, in the order in which they stand.
fn folded(run: &mut dyn Run, term: &Term, wanted: impl Fn(&Label) -> bool) -> Result<Term> {
    let (kept, gone): (Vec<Label>, Vec<Label>) = term.labels.iter().partition(|l| wanted(l));
    if gone.is_empty() {
        return Ok(Term { array: term.array.clone(), labels: kept });
    }
    let order = positions(&term.labels, &[&kept[..], &gone].concat());
    let turned = term.array.transpose(&order)?;
    let mut extents = turned.shape()[..kept.len()].to_vec();
    let shape = Shape::new(extents.iter().copied())?;
    extents.push(turned.shape()[kept.len()..].iter().product());
    let runs = reshaped(&turned, extents)?;
    let axis = [samples::word("axis"), Value::integer(-1)];
    let array = run.array("sum", [vec![runs.into()], axis.to_vec()].concat())?;
    Ok(Term { array: array.reshape(shape)?, labels: kept })
}

/// Where each of the wanted labels stands.
fn positions(labels: &[Label], wanted: &[Label]) -> Vec<usize> {
    wanted.iter().filter_map(|w| labels.iter().position(|l| l == w)).collect()
}

/// The product of two terms: labels of both that are wanted later are a stack, the others of
/// both are contracted. Without such the elements are multiplied, with one rounding each.
fn pair(run: &mut dyn Run, a: &Term, b: &Term, later: impl Fn(&Label) -> bool) -> Result<Term> {
    let both = |l: &&Label| a.labels.contains(l) && b.labels.contains(l);
    let of = |term: &Term, f: &dyn Fn(&&Label) -> bool| -> Vec<Label> {
        term.labels.iter().filter(f).copied().collect()
    };
    let stack = of(a, &|l| both(l) && later(l));
    let inner = of(a, &|l| both(l) && !later(l));
    let rows = of(a, &|l| !both(l));
    let columns = of(b, &|l| !both(l));
    let labels = [&stack[..], &rows, &columns].concat();
    let extent = |term: &Term, label: &Label| {
        term.labels.iter().position(|l| l == label).map_or(1, |i| term.array.shape()[i])
    };
    let size = |term: &Term, labels: &[Label]| -> usize {
        labels.iter().map(|l| extent(term, l)).product()
    };
    let turned = |term: &Term, parts: [&[Label]; 3]| -> Result<Array> {
        let array = term.array.transpose(&positions(&term.labels, &parts.concat()))?;
        reshaped(&array, parts.map(|labels| size(term, labels)))
    };
    let extents = [&stack[..], &rows].concat().iter().map(|l| extent(a, l)).collect::<Vec<_>>();
    let shape = Shape::new(extents.into_iter().chain(columns.iter().map(|l| extent(b, l))))?;
    let left = turned(a, [&stack, &rows, &inner])?;
    let right = turned(b, [&stack, &inner, &columns])?;
    let name = if inner.is_empty() { "mul" } else { "matmul" };
    let array = run.array(name, vec![left.into(), right.into()])?.reshape(shape)?;
    Ok(Term { array, labels })
}

fn einsum_samples() -> Vec<Sample> {
    const CASES: [(&str, &[&[usize]]); 14] = [
        ("ij,jk->ik", &[&[5, 33], &[33, 7]]),
        ("ij,jk", &[&[3, 4], &[4, 2]]),
        ("ij->ji", &[&[3, 5]]),
        ("ij->", &[&[3, 65]]),
        ("ii->i", &[&[4, 4]]),
        ("ii", &[&[4, 4]]),
        ("i,i->i", &[&[17], &[17]]),
        ("i,j->ij", &[&[3], &[5]]),
        ("bij,bjk->bik", &[&[3, 4, 5], &[3, 5, 2]]),
        ("...ij,...jk->...ik", &[&[2, 3, 4], &[4, 5]]),
        ("ij,jk,kl->il", &[&[2, 3], &[3, 4], &[4, 2]]),
        ("bhqd,bhkd->bhqk", &[&[2, 3, 4, 5], &[2, 3, 6, 5]]),
        ("ijk->k", &[&[2, 3, 4]]),
        ("ij,kj->", &[&[2, 3], &[4, 3]]),
    ];
    let sample = |(text, shapes): &(&str, &[&[usize]])| {
        let arrays = shapes.iter().map(|s| samples::spread(s, 2.0));
        std::iter::once(Value::Text(text.to_string())).chain(arrays).collect()
    };
    CASES.iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<Label> {
        text.chars().map(|c| c as Label).collect()
    }

    #[test]
    fn subscripts_name_axes() {
        let s = parse("ij,jk->ik", &[2, 2]).unwrap();
        assert_eq!(s, Subscripts { operands: vec![of("ij"), of("jk")], output: of("ik") });
        assert_eq!(parse("ba", &[2]).unwrap().output, of("ab"));
        assert_eq!(parse("ij,j", &[2, 1]).unwrap().output, of("i"));
        let dots = parse("...i->...", &[3]).unwrap();
        assert_eq!(dots.output, vec![ELLIPSIS + 1, ELLIPSIS]);
        assert_eq!(
            parse("i...", &[3]).unwrap().output,
            [vec![ELLIPSIS + 1, ELLIPSIS], of("i")].concat()
        );
    }

    #[test]
    fn wrong_subscripts_say_where() {
        let text = |s: &str, ranks: &[usize]| parse(s, ranks).unwrap_err().message().to_string();
        assert_eq!(text("ij", &[3]), "einsum: 2 letters for an array of 3 axes at position 0");
        assert_eq!(text("i,j->k", &[1, 1]), "einsum: 'k' is in no operand at position 5");
        assert_eq!(text("i->ii", &[1]), "einsum: 'i' stands twice in the result at position 3");
        assert_eq!(text("i,j", &[1]), "einsum: 1 arrays for more subscripts at position 2");
        assert_eq!(text("i", &[1, 1]), "einsum: no subscripts for array 1 at position 1");
        assert_eq!(text("i1", &[1]), "einsum: unexpected '1' at position 1");
        assert_eq!(text("..i", &[1]), "einsum: unexpected '.' at position 0");
    }
}
