//! What a device does not take, each with its reason.

mod calls;
#[path = "noise/mod.rs"]
mod noise;

use calls::{array, keywords, number, word};
use rung_base::{DeviceChoice, ErrorKind, Settings};
use rung_mel::SOLVER;
use rung_ops::{Decline, Ladder, NoCaller, Rung, Value};

/// The reason of a call that the device alone is asked for; none where it takes it.
fn reason(name: &str, samples: Value, words: &[(&'static str, Value)]) -> Option<String> {
    let device = rung_device::probe(&DeviceChoice::Named("llvmpipe".into()))
        .expect("the device rung is tested on lavapipe: install mesa-vulkan-drivers libvulkan1");
    let mut ladder =
        Ladder::with_rungs(&Settings::default(), None, Err(Decline::Off("test")), Ok(device));
    ladder.only = Some(Rung::Device);
    let op = SOLVER.operations.iter().find(|op| op.name() == name).unwrap();
    let e = ladder.call(op, [vec![samples], keywords(words)].concat(), &mut NoCaller).err()?;
    assert_eq!(e.kind(), ErrorKind::Declined, "{e}");
    Some(e.message().to_string())
}

#[test]
fn a_device_leaves_windows_that_are_clamped_and_others_with_a_reason() {
    let samples: Vec<f64> = noise::noise(800).into_iter().map(f64::from).collect();
    let one = || array(&samples, &[800]);
    let whisper = [("rate", number(16_000.0)), ("preset", word("whisper-80"))];
    let with = |more: &[(&'static str, Value)]| [&whisper[..], more].concat();
    let of = |samples, more: &[(&'static str, Value)]| reason("spectrogram", samples, &with(more));
    assert_eq!(of(one(), &[]), None);
    let told = |text: Option<String>, wanted: &str| {
        let text = text.expect("it is taken");
        assert!(text.contains(wanted), "{text}");
    };
    told(of(one(), &[("clamp", word("window"))]), "a clamp of each window for itself");
    assert_eq!(of(one(), &[("clamp", word("end"))]), None);
    told(of(one(), &[("method", word("fft"))]), "method fft transforms frame by frame");
    let batch = array(&samples, &[2, 400]);
    let lengths = array(&[400.0, 300.0], &[2]);
    told(of(batch, &[("lengths", lengths)]), "signals of different lengths");
    told(of(array(&[1e30; 800], &[800]), &[]), "samples so large");
    let kaldi = [("rate", number(16_000.0)), ("preset", word("kaldi"))];
    told(reason("spectrogram", array(&[0.5; 100], &[100]), &kaldi), "no frame");
    told(reason("cepstra", one(), &kaldi), "the cosine transform of cepstra");
    told(reason("stream", one(), &kaldi), "a few frames at a time");
}
