//! What the ladder says and does when a rung declines, and that mistakes are the same on every
//! rung.

#[path = "common/card.rs"]
mod card;

use rung_array::{Array, Number};
use rung_base::{DeviceChoice, ElementType, ErrorKind, Explain, OnDecline, Settings, Shape};
use rung_lanes::Lanes;
use rung_ops::{Caller, Decline, Ladder, NoCaller, Rung, Site, Value, table};

/// A caller at a fixed place that keeps its warnings.
#[derive(Default)]
struct Program {
    warnings: Vec<String>,
}

impl Caller for Program {
    fn site(&self) -> Option<Site> {
        Some(Site { source: 0, start: 120, end: 135 })
    }
    fn place(&self, site: Site) -> String {
        format!("prog.lisp:{}:5", site.start / 10)
    }
    fn warn(&mut self, message: &str) {
        self.warnings.push(message.into());
    }
}

fn array(extents: &[usize]) -> Value {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let elements: Vec<f64> = (0..shape.size()).map(|i| i as f64).collect();
    Value::Array(Array::from_slice(&elements, shape).unwrap())
}

fn call(ladder: &mut Ladder, name: &str, values: Vec<Value>) -> rung_base::Result<Vec<Value>> {
    ladder.call(table::find(name).unwrap(), values, &mut NoCaller)
}

fn mistake(name: &str, values: Vec<Value>) -> (String, Option<String>) {
    let (mut ladder, notices) = Ladder::new(&Settings::default());
    assert!(notices.is_empty());
    let e = call(&mut ladder, name, values).unwrap_err();
    (e.to_string(), e.hint_text().map(Into::into))
}

/// Settings with a device asked for that is not there.
fn without_device() -> Settings {
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.device.value = DeviceChoice::Named("no such adapter".into());
    settings
}

#[test]
fn an_absent_device_is_noticed_once_and_the_run_goes_on() {
    let (mut ladder, notices) = Ladder::new(&without_device());
    assert_eq!(notices.len(), 1);
    assert!(notices[0].starts_with("rung: warning: --gpu: no adapter named no such adapter"));
    assert!(notices[0].ends_with("; running without it."));
    assert_eq!(call(&mut ladder, "sum", vec![array(&[3])]).unwrap()[0].to_string(), "3.0");
}

#[test]
fn a_decline_can_be_forbidden_or_warned_of_once() {
    let mut settings = without_device();
    settings.on_decline.value = OnDecline::Error;
    let (mut ladder, _) = Ladder::new(&settings);
    let e = call(&mut ladder, "exp", vec![array(&[3])]).unwrap_err();
    assert_eq!(e.kind(), ErrorKind::Declined);
    assert!(e.to_string().starts_with("linalg: exp on (3) declined by the device: no adapter"));

    settings.on_decline.value = OnDecline::Warn;
    let (mut ladder, _) = Ladder::new(&settings);
    let mut program = Program::default();
    for _ in 0..3 {
        ladder.call(table::find("exp").unwrap(), vec![array(&[3])], &mut program).unwrap();
    }
    assert_eq!(program.warnings.len(), 1);
    assert!(program.warnings[0].starts_with("prog.lisp:12:5: la:exp on the device: no adapter"));
}

#[test]
fn small_calls_decline_the_device_with_both_numbers() {
    let device = card::device();
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.on_decline.value = OnDecline::Warn;
    let lanes = Some(Lanes::new(1));
    let off = Err(Decline::Off("--blas"));
    let mut ladder = Ladder::with_rungs(&settings, lanes, off, Ok(device));
    let mut program = Program::default();
    ladder.call(table::find("exp").unwrap(), vec![array(&[4096])], &mut program).unwrap();
    let wanted = "prog.lisp:12:5: la:exp on the device: too small: 4,096 < 131,072 elements";
    assert_eq!(program.warnings, [wanted]);
    // In one thread of lanes 131,072 doubles cost more than the trip by the default costs.
    ladder
        .call(table::find("add").unwrap(), vec![array(&[1, 512]), array(&[512, 1])], &mut program)
        .unwrap();
    assert!(program.warnings[1].contains("la:add on the device: slower here: "));
}

#[test]
fn explain_counts_calls_declines_and_bytes() {
    let mut settings = without_device();
    settings.explain.value = Explain::Table;
    let (mut ladder, _) = Ladder::new(&settings);
    let mut program = Program::default();
    for _ in 0..2 {
        let values = vec![array(&[2, 3]), array(&[3, 4])];
        ladder.call(table::find("matmul").unwrap(), values, &mut program).unwrap();
    }
    let text = ladder.calls.table(&|site| program.place(site));
    let line = text.lines().nth(1).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words[..7], ["matmul", "(2", "3)", "(3", "4)", "f64", "lanes"]);
    assert_eq!(words[7], "2");
    assert!(line.ends_with("prog.lisp:12:5"));
    assert!(text.contains("device no-device x2: no adapter named no such adapter"));
    assert!(text.contains("library off x2: not asked for: --blas"));
    assert!(text.contains("lanes: 2 calls"));
    let json = ladder.calls.json(&|site| program.place(site));
    assert_eq!(json["calls"][0]["rung"], "lanes");
    assert_eq!(json["calls"][0]["calls"], 2);
    assert_eq!(json["declines"][0]["code"], "no-device");
    assert_eq!(json["declines"][0]["place"], "prog.lisp:12:5");
}

#[test]
fn mistakes_say_what_was_wanted_and_what_came() {
    let (text, hint) = mistake("matmul", vec![array(&[3, 4]), array(&[2, 4])]);
    assert_eq!(text, "linalg: matmul inner dimensions differ: (3 4) and (2 4)");
    assert_eq!(hint.unwrap(), "(la:transpose b) has shape (4 2), which fits");
    let (text, hint) = mistake("add", vec![array(&[2, 3]), array(&[2])]);
    assert_eq!(text, "linalg: shape mismatch: (2 3) and (2)");
    assert_eq!(hint.unwrap(), "reshaped to (2 1) it would broadcast");
    let text = |name, values| mistake(name, values).0;
    let axis = || Value::Keyword("axis".into());
    assert_eq!(
        text("sum", vec![array(&[3]), axis(), Value::integer(1)]),
        "linalg: axis out of range: 1 of an array with 1 axes, shape (3)"
    );
    assert_eq!(
        text("sum", vec![array(&[3]), Value::Keyword("axes".into()), Value::Nil]),
        "linalg: Unknown keyword argument: :axes"
    );
    assert_eq!(text("sum", vec![array(&[3]), axis()]), "linalg: Odd number of keyword arguments");
    assert_eq!(text("amax", vec![array(&[0])]), "linalg: amax of an empty array");
    assert!(
        text("mean", vec![array(&[0, 3]), axis(), Value::integer(0)])
            .starts_with("linalg: reduction of an empty axis")
    );
    assert_eq!(text("exp", vec![]), "linalg: exp takes 1 argument: got 0");
    assert_eq!(
        text("exp", vec![Value::Other("\"a\"".into())]),
        "linalg: expected an array or a number: got \"a\""
    );
    assert!(
        text("take-rows", vec![array(&[3, 2]), Value::List(vec![Value::integer(3)])])
            .starts_with("linalg: take-rows index out of range: 3")
    );
    assert!(text("zeros", vec![Value::integer(-1)]).contains("shape expects non-negative"));
    assert!(text("zeros", vec![Value::integer(1 << 61)]).contains("no memory for an array"));
}

/// `histogram` once allocated its edges without asking, and `argmax` its positions, which ended the
/// process.
#[test]
fn a_result_that_no_memory_holds_is_an_error() {
    let (mut ladder, _) = Ladder::new(&Settings::default());
    let mut text = |name, values| call(&mut ladder, name, values).unwrap_err().to_string();
    let bins = |n| vec![array(&[3]), Value::Keyword("bins".into()), Value::integer(n)];
    assert!(text("histogram", bins(1 << 58)).contains("no memory for"));
    let wide = Shape::new([1, 1 << 55]).unwrap();
    let wide =
        Array::zeros(ElementType::F64, Shape::new([1, 1]).unwrap()).unwrap().broadcast_to(&wide);
    let wide = Value::Array(wide.unwrap());
    let axis = || [Value::Keyword("axis".into()), Value::integer(0)];
    for name in ["argmax", "any", "sum", "cumsum"] {
        let values = [vec![wide.clone()], axis().into()].concat();
        assert!(text(name, values).contains("no memory for"), "{name}");
    }
}

/// They ended the process for want of memory, or would not have ended for hours.
#[test]
fn a_stack_of_countless_empty_matrices_is_an_empty_result_or_an_error() {
    let (mut ladder, _) = Ladder::new(&Settings::default());
    let stack = |tail: [usize; 2]| {
        let shape = Shape::new([1 << 40, tail[0], tail[1]]).unwrap();
        Value::Array(Array::zeros(ElementType::F64, shape).unwrap())
    };
    for name in ["svd", "qr", "eigh", "lu", "cholesky", "pinv"] {
        for value in call(&mut ladder, name, vec![stack([0, 0])]).unwrap() {
            let Value::Array(a) = value else { panic!("{name} gives arrays") };
            assert_eq!((a.size(), a.shape()[0]), (0, 1 << 40), "{name}");
        }
    }
    let mut text = |name, values| call(&mut ladder, name, values).unwrap_err().to_string();
    for name in ["det", "slogdet", "matrix-rank", "inv", "to-list"] {
        let text = text(name, vec![stack([0, 0])]);
        assert!(text.contains("no memory for") && text.contains("iB"), "{name}: {text}");
    }
    for name in ["solve", "lstsq"] {
        let text = text(name, vec![stack([0, 0]), stack([0, 2])]);
        assert!(text.contains("no memory for"), "{name}: {text}");
    }
    let narrow = Array::zeros(ElementType::F64, Shape::new([1, 0, 3]).unwrap()).unwrap();
    assert!(text("matmul", vec![stack([2, 0]), narrow.into()]).contains("no memory for"));
    assert!(text("split", vec![stack([0, 0]), Value::integer(1 << 40)]).contains("no memory for"));
}

#[test]
fn the_generator_gives_the_published_values_on_every_rung() {
    for only in [Rung::Portable, Rung::Lanes] {
        let (mut ladder, _) = Ladder::new(&Settings::default());
        call(&mut ladder, "seed", vec![Value::integer(42)]).unwrap();
        ladder.only = Some(only);
        let drawn = call(&mut ladder, "rand", vec![Value::integer(3)]).unwrap();
        let Value::Array(drawn) = &drawn[0] else { panic!("rand gives an array") };
        let numbers: Vec<Number> = drawn.numbers().collect();
        let wanted = [0.4472300870545973, 0.1853479743160764, 0.4876081667158268];
        assert_eq!(numbers, wanted.map(Number::F64));
    }
    let (mut ladder, _) = Ladder::new(&Settings::default());
    call(&mut ladder, "seed", vec![Value::integer(9)]).unwrap();
    let order = call(&mut ladder, "permutation", vec![Value::integer(10)]).unwrap();
    let Value::Array(order) = &order[0] else { panic!("permutation gives an array") };
    assert_eq!(order.as_slice::<f64>().unwrap(), [4., 5., 6., 2., 9., 7., 1., 0., 8., 3.]);
}

/// `--blas --on-decline=error` once stopped at the first operation that no CBLAS has.
#[test]
fn the_library_is_asked_for_its_products_alone() {
    let library = rung_library::Library::discover(None).expect("install libopenblas0-pthread");
    let mut settings = Settings::default();
    settings.blas.value = true;
    settings.on_decline.value = OnDecline::Error;
    let off = Err(Decline::Off("--gpu"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(1)), Ok(library), off);
    assert!(call(&mut ladder, "exp", vec![array(&[3])]).is_ok());
    assert!(call(&mut ladder, "matmul", vec![array(&[8, 8]), array(&[8, 8])]).is_ok());
    let e = call(&mut ladder, "matmul", vec![array(&[2, 2]), array(&[2, 2])]).unwrap_err();
    assert!(e.to_string().contains("too small: 8 < 64 multiply-adds"), "{e}");
}

#[test]
fn explain_shows_the_shapes_as_they_were_given() {
    let mut settings = Settings::default();
    settings.explain.value = Explain::Table;
    let (mut ladder, _) = Ladder::new(&settings);
    call(&mut ladder, "dot", vec![array(&[300]), array(&[300])]).unwrap();
    call(&mut ladder, "matmul", vec![array(&[4, 300]), array(&[300])]).unwrap();
    call(&mut ladder, "div", vec![array(&[5]), Value::integer(2)]).unwrap();
    let text = ladder.calls.table(&|_| String::new());
    for shapes in ["dot        (300) (300) ", "matmul     (4 300) (300) ", "div        (5) () "] {
        assert!(text.contains(shapes), "{text}");
    }
}
