//! A spectrogram or cepstra of raw samples, timed.
//!
//! `cargo run --release -p rung-mel --example spectrogram -- IN.f32 PRESET [METHOD] [KIND] [OUT.f32]`: f32
//! samples in this machine's order, METHOD `own`, `fft`, `product` or `melt:3`, KIND `spectrogram` or
//! `cepstra`. Prints the shape and the least time of five runs on one thread.

use rung_lanes::Lanes;
use rung_mel::{Method, Plan, Preset};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let texts: Vec<String> = std::env::args().skip(1).collect();
    let [path, preset, rest @ ..] = &texts[..] else {
        return Err("give a file of samples and a preset".into());
    };
    let bytes = std::fs::read(path)?;
    let samples: Vec<f32> = bytes
        .chunks_exact(4)
        .map(|number| f32::from_ne_bytes([number[0], number[1], number[2], number[3]]))
        .collect();
    let method = match rest.first().map(String::as_str) {
        None | Some("own") => None,
        Some("fft") => Some(Method::Fft),
        Some("product") => Some(Method::Product),
        Some(text) => {
            let points = text.strip_prefix("melt:").ok_or("own, fft, product or melt:POINTS")?;
            Some(Method::Melt { points: points.parse()? })
        }
    };
    let cepstra = rest.get(1).is_some_and(|kind| kind == "cepstra");
    let plan = Plan::new(Preset::named(preset)?, method)?;
    let lanes = Lanes::new(1);
    let run = || match cepstra {
        true => plan.cepstra(&lanes, &samples),
        false => plan.spectrogram(&lanes, &samples, None),
    };
    let table = run()?;
    let times = (0..5).map(|_| {
        let start = Instant::now();
        run().map(|_| start.elapsed())
    });
    let times: Vec<_> = times.collect::<Result<_, _>>()?;
    println!("{:?} {:?} least {:?}", table.shape, plan.method, times.iter().min());
    if let Some(out) = rest.get(2) {
        let bytes: Vec<u8> = table.numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
        std::fs::write(out, bytes)?;
    }
    Ok(())
}
