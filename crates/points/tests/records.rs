//! The solver's records: complete, and every rung gives the bits of the definition.

use rung_array::{Array, Number};
use rung_base::{DeviceChoice, ElementType, Settings, Shape};
use rung_lanes::Lanes;
use rung_ops::trial::{Trial, all_are_complete};
use rung_ops::{Decline, Ladder, NoCaller, Op, Rung, Value, samples};
use rung_points::SOLVER;

#[test]
fn names_are_unique_and_every_record_is_complete() {
    all_are_complete(SOLVER);
}

#[test]
fn every_rung_gives_the_bits_of_the_definition() {
    let mut trial = Trial::new();
    for (number, op) in SOLVER.operations.iter().enumerate() {
        trial.every_rung(op, number);
    }
}

/// Clouds of more than one group's tiles on a device, with ties, duplicates, starts and masks.
const LARGER: Op = Op {
    types: &[ElementType::F32, ElementType::F64],
    samples: || {
        let of = |points, k, rest: &[Value]| {
            [vec![points, samples::word("k"), samples::integer(k)], rest.to_vec()].concat()
        };
        let starts = [9_000, 3, 8_191].map(samples::integer).to_vec();
        let start = [samples::word("start"), samples::list(starts)];
        let mask = [samples::word("mask"), samples::counting(&[9_001], 3)];
        vec![
            of(samples::spread(&[9_001, 3], 1.0), 40, &[]),
            of(samples::counting(&[9_001, 3], 9), 70, &start),
            of(samples::counting(&[9_001, 3], 7), 35, &mask),
            of(samples::counting(&[9_001, 2], 2), 30, &[]),
            of(samples::spread(&[9_001, 1], 1e-21), 21, &[]),
            of(samples::spread(&[9_001, 5], 1.0), 22, &start),
        ]
    },
    ..rung_points::fps::record::FPS
};

#[test]
fn every_rung_samples_larger_clouds_alike() {
    static OP: Op = LARGER;
    Trial::new().every_rung(&OP, 0);
}

#[test]
fn what_a_device_does_not_sample_is_said() {
    let settings = Settings::default();
    let device = rung_device::probe(&DeviceChoice::Named("llvmpipe".into())).unwrap();
    let mut ladder = Ladder::with_rungs(&settings, None, Err(Decline::Off("test")), Ok(device));
    ladder.only = Some(Rung::Device);
    let mut declined = |name: &'static str, value: Value| {
        let cloud = samples::spread(&[70_000, 1], 1.0);
        let values = vec![cloud, word(name), value];
        let e = ladder.call(operation("fps"), values, &mut NoCaller).map(|_| ()).unwrap_err();
        e.message().to_string()
    };
    let text = declined("radius", Value::Number(Number::F64(0.5)));
    assert!(text.contains("a radius ends a run at a sample that only its results know"), "{text}");
    let text = declined("k", Value::integer(65_537));
    assert!(text.contains("65537 samples are as many launches: 65536 at most"), "{text}");
}

fn integers(all: &[i64]) -> Value {
    Value::List(all.iter().copied().map(Value::integer).collect())
}

/// Indices and radii of a call, as lists, and the shape of the indices.
fn sampled(values: Vec<Value>) -> (Vec<i64>, Vec<f64>, Vec<usize>) {
    let results = ladder().call(operation("fps"), values, &mut NoCaller).unwrap();
    let [Value::Array(indices), Value::Array(radii), _] = &results[..] else {
        panic!("{results:?}")
    };
    let shape = indices.shape().to_vec();
    assert_eq!(radii.shape()[..], shape);
    let radii = radii.numbers().map(|r| r.to_f64()).collect();
    (indices.as_slice::<i64>().unwrap().to_vec(), radii, shape)
}

/// A cloud of a batch gives what it gives alone, index for index, and -1 after its last point, whether
/// clouds stand one after the other or are padded, here with NaN.
#[test]
fn a_cloud_of_a_batch_is_sampled_as_alone() {
    let lengths = [2_300usize, 0, 1, 40, 2_100];
    let counts = [30i64, 5, 9, 50, 7];
    let longest = 2_300;
    let coordinate = |i: usize| ((i * 7919) % 104_729) as f64 / 64.0 + (i % 5) as f64;
    let whole: Vec<f64> = (0..lengths.iter().sum::<usize>() * 3).map(coordinate).collect();
    let mut padded = vec![f64::NAN; lengths.len() * longest * 3];
    let (mut offsets, mut end) = (vec![0], 0);
    for (cloud, length) in lengths.iter().enumerate() {
        let at = cloud * longest * 3;
        padded[at..at + length * 3].copy_from_slice(&whole[end * 3..(end + length) * 3]);
        end += length;
        offsets.push(end as i64);
    }
    let k = || [word("k"), integers(&counts)];
    let of_lengths = integers(&lengths.map(|n| n as i64));
    let packed = array(&whole, &[end, 3]);
    let ways = [
        vec![packed.clone(), word("offsets"), integers(&offsets)],
        vec![packed, word("lengths"), of_lengths.clone()],
        vec![array(&padded, &[lengths.len(), longest, 3]), word("lengths"), of_lengths],
    ];
    for way in ways {
        let (indices, radii, shape) = sampled([&way[..], &k()].concat());
        assert_eq!(shape, [5, 40]);
        for (cloud, &length) in lengths.iter().enumerate() {
            let row = cloud * 40..(cloud + 1) * 40;
            let (mut wanted, mut wanted_radii) = (Vec::new(), Vec::new());
            if length > 0 {
                let at = offsets[cloud] as usize;
                let alone = array(&whole[at * 3..(at + length) * 3], &[length, 3]);
                let k = Value::integer(counts[cloud]);
                (wanted, wanted_radii, _) = sampled(vec![alone, word("k"), k]);
            }
            wanted.resize(40, -1);
            wanted_radii.resize(40, -1.0);
            assert_eq!(indices[row.clone()], wanted, "cloud {cloud}");
            assert_eq!(radii[row], wanted_radii, "cloud {cloud}");
        }
    }
}

#[test]
fn mistakes_of_a_batch_name_the_cloud() {
    let of = |points: Value, rest: &[Value]| {
        error("fps", [&[points, word("k"), Value::integer(1)], rest].concat()).0
    };
    let row = || array(&[0.0, 1.0, 2.0, 3.0], &[4, 1]);
    let offsets = |all: &[i64]| of(row(), &[word("offsets"), integers(all)]);
    assert_eq!(offsets(&[1, 4]), "offsets must begin at 0: got 1");
    assert_eq!(offsets(&[0, 3]), "clouds must end at row 4, the number of points: got 3");
    assert_eq!(offsets(&[0, 3, 2, 4]), "offsets must not fall: got 2 after 3");
    assert_eq!(offsets(&[]), "offsets must be 0 and the end of each cloud: got none");
    assert_eq!(offsets(&[0, -1, 4]), "offsets must be 0 or more: got -1");
    let lengths = |points, all: &[i64]| of(points, &[word("lengths"), integers(all)]);
    let text = "clouds must end at row 4, the number of points: got 5";
    assert_eq!(lengths(row(), &[3, 2]), text);
    let padded = || array(&[0.0, 1.0, 2.0, 3.0], &[2, 2, 1]);
    assert_eq!(lengths(padded(), &[1]), "lengths of 2 clouds: got 1");
    let text = "lengths must be from 0 to 2, the rows of a cloud: got 3";
    assert_eq!(lengths(padded(), &[1, 3]), text);
    let wrong = array(&[0.0, 1.0, f64::NAN, 3.0], &[2, 2, 1]);
    let text = "cloud 1: 1 coordinates are NaN or infinite, the first of point 0";
    assert_eq!(of(wrong, &[]), text);
    let text = "cloud 0: start must be below 2, the number of points: got 2";
    assert_eq!(of(padded(), &[word("start"), Value::integer(2)]), text);
    let mask = array(&[1.0; 4], &[4]);
    let text = "mask has shape (2 2), one for each point: got (4)";
    assert_eq!(of(padded(), &[word("mask"), mask]), text);
    let several = |points| error("fps", vec![points, word("k"), integers(&[1, 2, 1])]).0;
    assert_eq!(several(row()), "k is one number for one cloud: got 3");
    assert_eq!(several(padded()), "k is one number, or 2 for as many clouds: got 3");
}

fn ladder() -> Ladder {
    let off = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), Some(Lanes::new(2)), Err(off()), Err(off()))
}

fn operation(name: &str) -> &'static Op {
    SOLVER.operations.iter().find(|op| op.names.contains(&name)).unwrap()
}

fn array(elements: &[f64], extents: &[usize]) -> Value {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    Value::Array(Array::from_slice(elements, shape).unwrap())
}

fn word(name: &'static str) -> Value {
    Value::Keyword(name.into())
}

/// What a call that fails says, and its hint.
fn error(name: &str, values: Vec<Value>) -> (String, String) {
    let e = ladder().call(operation(name), values, &mut NoCaller).map(|_| ()).unwrap_err();
    (e.message().to_string(), e.hint_text().unwrap_or_default().to_string())
}

#[test]
fn mistakes_say_what_was_wanted_and_what_came() {
    let cloud = || array(&[0.0, 0.0, 1.0, 0.0, 5.0, 0.0], &[3, 2]);
    let of = |name: &'static str, value: Value| error("fps", vec![cloud(), word(name), value]).0;
    let number = |x| Value::Number(Number::F64(x));
    assert_eq!(of("k", Value::integer(-1)), "k must be 0 or more: got -1");
    assert_eq!(of("ratio", number(1.5)), "ratio must be above 0, 1 at most: got 1.5");
    assert_eq!(of("ratio", number(0.0)), "ratio must be above 0, 1 at most: got 0.0");
    assert_eq!(of("radius", number(f64::NAN)), "radius must be 0 or more: got NaN");
    let from =
        |start| error("fps", vec![cloud(), word("k"), Value::integer(2), word("start"), start]).0;
    assert_eq!(from(Value::integer(-2)), "start must be 0 or more: got -2");
    assert_eq!(from(array(&[1.0, -1.0], &[2])), "start must be 0 or more: got -1.0");
    assert_eq!(from(Value::integer(3)), "start must be below 3, the number of points: got 3");
    assert_eq!(from(word("last")), "expected start to be indices or :random: got :last");
    let (text, hint) = error("fps", vec![cloud()]);
    assert_eq!(text, "how many samples is not said");
    assert!(hint.starts_with("k says how many"), "{hint}");
}

#[test]
fn what_is_no_cloud_is_refused() {
    let k = || [word("k"), Value::integer(1)];
    let of = |points| error("fps", [vec![points], k().to_vec()].concat());
    let (text, hint) = of(array(&[0.0; 51], &[3, 17]));
    assert_eq!(text, "a point has 1 to 16 coordinates, in shape (n d): got (3 17)");
    assert_eq!(hint, "one point a row: transpose it");
    assert_eq!(
        of(array(&[0.0; 3], &[3])).0,
        "points are an array of shape (n d), one a row: got (3)"
    );
    let (text, hint) = of(array(&[0.0, f64::NAN, 1.0, f64::INFINITY], &[2, 2]));
    assert_eq!(text, "2 coordinates are NaN or infinite, the first of point 0");
    assert_eq!(hint, "leave those points out first; fps does it with nonfinite drop");
    assert_eq!(of(array(&[], &[0, 3])).0, "no points to choose from");
}

/// A row with NaN takes no part, and indices still count it.
#[test]
fn dropped_rows_are_never_chosen_and_keep_their_numbers() {
    let cloud = array(&[f64::NAN, 0.0, 1.0, 0.0, 5.0, f64::INFINITY, 9.0, 0.0, 2.0, 0.0], &[5, 2]);
    let words = [word("k"), Value::integer(9), word("nonfinite"), word("drop")];
    let values = [vec![cloud], words.to_vec()].concat();
    let results = ladder().call(operation("fps"), values, &mut NoCaller).unwrap();
    let [Value::Array(indices), Value::Array(radii), Value::Number(covering)] = &results[..] else {
        panic!("{results:?}")
    };
    assert_eq!(indices.as_slice::<i64>().unwrap(), [1, 3, 4]);
    assert_eq!(radii.as_slice::<f64>().unwrap(), [f64::INFINITY, 8.0, 1.0]);
    assert_eq!(covering.to_f64(), 0.0);
}
