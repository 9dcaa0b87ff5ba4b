//! A device that fails at any point of a program: each failure is a decline or an error with a
//! text, and no array ever has wrong elements.

#[path = "common/card.rs"]
mod card;
#[path = "../../device/tests/lavapipe/faulty.rs"]
#[allow(dead_code)]
mod faulty;

use faulty::{Call, Fault, Faulty};
use rung_array::Array;
use rung_base::{ErrorKind, Result, Settings, Shape};
use rung_device::{Device, FailureCode};
use rung_lanes::Lanes;
use rung_ops::call::first_difference;
use rung_ops::{Caller, Decline, Ladder, Site, Value, table};
use std::sync::Arc;

/// A caller that keeps its warnings.
#[derive(Default)]
struct Warned(Vec<String>);

impl Caller for Warned {
    fn site(&self) -> Option<Site> {
        None
    }
    fn place(&self, _: Site) -> String {
        String::new()
    }
    fn warn(&mut self, message: &str) {
        self.0.push(message.into());
    }
}

fn ladder(device: std::result::Result<Arc<dyn Device>, Decline>) -> Ladder {
    let mut settings = Settings::default();
    settings.gpu.value = true;
    // Three arrays of 40 doubles: results make room all the time.
    settings.device_memory.value = Some(1000);
    let off = Err(Decline::Off("test"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(1)), off, device);
    ladder.costs.device.make_free();
    ladder
}

/// Which operation, and over which of the arrays so far.
const PROGRAM: [(&str, &[usize]); 12] = [
    ("exp", &[0]),
    ("add", &[1, 0]),
    ("sqrt", &[2]),
    ("mul", &[3, 1]),
    ("sort", &[4]),
    ("sub", &[5, 3]),
    ("tanh", &[6]),
    ("maximum", &[7, 2]),
    ("negative", &[8]),
    ("add", &[9, 4]),
    ("cumsum", &[10]),
    ("div", &[11, 6]),
];

fn start() -> Array {
    let list: Vec<f64> = (0..40).map(|i| i as f64 / 8.0 - 2.0).collect();
    Array::from_slice(&list, Shape::vector(40)).unwrap()
}

fn step(ladder: &mut Ladder, to: &mut Warned, name: &str, of: Vec<Array>) -> Result<Array> {
    let values = of.into_iter().map(Value::Array).collect();
    match ladder.call(table::find(name).unwrap(), values, to)?.pop() {
        Some(Value::Array(a)) => Ok(a),
        other => panic!("{other:?}"),
    }
}

/// The arrays of the program by the definition.
fn wanted() -> Vec<Array> {
    let mut ladder = ladder(Err(Decline::Off("test")));
    let mut all = vec![start()];
    for (name, of) in PROGRAM {
        let of = of.iter().map(|&i| all[i].clone()).collect();
        all.push(step(&mut ladder, &mut Warned::default(), name, of).unwrap());
    }
    all
}

fn is_of_the_device(e: &rung_base::Error) -> bool {
    matches!(e.kind(), ErrorKind::Device | ErrorKind::DeviceLost | ErrorKind::Memory)
}

/// Runs the program on a device with this fault; how many steps were errors.
fn run(device: Arc<Faulty>, wanted: &[Array], context: &str) -> usize {
    let mut ladder = ladder(Ok(device));
    let mut warned = Warned::default();
    let mut errors = 0;
    let mut all = vec![start()];
    for (i, (name, of)) in PROGRAM.into_iter().enumerate() {
        let of = of.iter().map(|&i| all[i].clone()).collect();
        let result = step(&mut ladder, &mut warned, name, of);
        all.push(result.unwrap_or_else(|e| {
            assert!(is_of_the_device(&e), "{context}: {e}");
            assert!(!e.message().is_empty(), "{context}");
            errors += 1;
            // A program that goes on has the numbers from elsewhere.
            wanted[i + 1].clone()
        }));
    }
    for (got, wanted) in all.iter().zip(wanted) {
        match got.home() {
            Ok(()) => assert_eq!(first_difference(got, wanted), None, "{context}"),
            Err(e) => {
                assert!(is_of_the_device(&e), "{context}: {e}");
                errors += 1;
            }
        }
    }
    let text = "--gpu: device retired: told to; running without it.";
    assert!(warned.0.is_empty() || warned.0 == [text], "{context}: {:?}", warned.0);
    errors
}

#[test]
fn no_failure_gives_a_wrong_answer() {
    let (device, wanted) = (card::device(), wanted());
    let sound = Arc::new(Faulty::new(device.clone(), None));
    assert_eq!(run(sound.clone(), &wanted, "no fault"), 0);
    for call in Call::ALL {
        let calls = sound.calls(call);
        assert!(calls > 0, "{call:?}");
        for from in 0..calls {
            for code in [FailureCode::Memory, FailureCode::Driver, FailureCode::Lost] {
                for count in [1, 2, u64::MAX] {
                    let fault = Fault { call, from, count, code };
                    let context = format!("{fault:?}");
                    let faulty = Arc::new(Faulty::new(device.clone(), Some(fault)));
                    let errors = run(faulty, &wanted, &context);
                    // What fails before a result exists costs nothing but time.
                    let safe = code != FailureCode::Lost && call != Call::Download;
                    assert!(!safe || errors == 0, "{context}: {errors} errors");
                }
            }
        }
    }
}

#[test]
fn a_buffer_that_no_kernel_can_see_is_a_decline() {
    let device = Faulty::new(card::device(), None).with_info(|info| info.max_binding = 256);
    assert_eq!(run(Arc::new(device), &wanted(), "small bindings"), 0);
    let device = Faulty::new(card::device(), None).with_info(|info| info.max_binding = 256);
    let mut ladder = ladder(Ok(Arc::new(device)));
    ladder.count_anew();
    step(&mut ladder, &mut Warned::default(), "softmax", vec![start()]).unwrap();
    let json = ladder.calls.json(&|_| String::new());
    assert_eq!(json["declines"][0]["code"], "binding");
    let text = "buffer of 320 B exceeds the device's 256 B binding";
    assert_eq!(json["declines"][0]["text"], text);
    assert_eq!(json["transfers"]["up"], 0);
}
