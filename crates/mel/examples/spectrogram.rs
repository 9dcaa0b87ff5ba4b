//! A spectrogram or cepstra of raw samples, timed.
//!
//! `cargo run --release -p rung-mel --example spectrogram -- IN.f32 PRESET [METHOD] [KIND] [THREADS]
//! [OUT.f32]`: f32 samples in this machine's order, METHOD `own`, `fft`, `product` or `melt:3`, KIND `spectrogram`,
//! `cepstra`, `batch` (signals of a second each) or `stream` (pieces of one hop). Prints the shape, the least time
//! of five runs, of a stream the mean time of a piece, and what a frame takes.

use rung_lanes::Lanes;
use rung_mel::spectrogram::Table;
use rung_mel::stream::Stream;
use rung_mel::{Method, Plan, Preset};
use std::sync::Arc;
use std::time::{Duration, Instant};

const REPEATS: usize = 5;

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
    let plan = Arc::new(Plan::new(Preset::named(preset)?, method(rest.first())?)?);
    let kind = rest.get(1).map_or("spectrogram", String::as_str);
    let threads = rest.get(2).map_or(Ok(1), |text| text.parse())?;
    let lanes = Lanes::new(threads);
    let run = || -> rung_base::Result<(Table, usize)> {
        match kind {
            "cepstra" => Ok((plan.cepstra(Some(&lanes), &samples)?, 1)),
            "stream" => streamed(&plan, &lanes, &samples),
            "batch" => batch(&plan, &lanes, &samples),
            _ => Ok((plan.spectrogram(Some(&lanes), &samples, None)?, 1)),
        }
    };
    let (table, pieces) = run()?;
    let timed = |_| -> rung_base::Result<Duration> {
        let start = Instant::now();
        std::hint::black_box(run()?);
        Ok(start.elapsed())
    };
    let times = (0..REPEATS).map(timed).collect::<rung_base::Result<Vec<Duration>>>()?;
    let least = times.iter().min().copied().unwrap_or_default().as_secs_f64() * 1e3;
    println!("shape {:?}\nmethod {:?}\nms {}", table.shape, plan.method, least / pieces as f64);
    println!("flops {}\nbytes {}", plan.work().flops, plan.work().bytes);
    if let Some(out) = rest.get(3) {
        let bytes: Vec<u8> = table.numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
        std::fs::write(out, bytes)?;
    }
    Ok(())
}

fn method(text: Option<&String>) -> Result<Option<Method>, Box<dyn std::error::Error>> {
    Ok(match text.map(String::as_str) {
        None | Some("own") => None,
        Some("fft") => Some(Method::Fft),
        Some("product") => Some(Method::Product),
        Some(text) => {
            let points = text.strip_prefix("melt:").ok_or("own, fft, product or melt:POINTS")?;
            Some(Method::Melt { points: points.parse()? })
        }
    })
}

/// The signals of a second each, one after another, as the operation takes those of a batch.
fn batch(plan: &Plan, lanes: &Lanes, samples: &[f32]) -> rung_base::Result<(Table, usize)> {
    let mut all = Table { shape: [0, 0], numbers: Vec::new() };
    for signal in samples.chunks(plan.preset.rate as usize) {
        let table = plan.spectrogram(Some(lanes), signal, None)?;
        all.shape = [all.shape[0] + table.shape[0], table.shape[1]];
        all.numbers.extend(table.numbers);
    }
    Ok((all, 1))
}

/// All frames, fed a hop at a time, and how many pieces that were.
fn streamed(plan: &Arc<Plan>, lanes: &Lanes, samples: &[f32]) -> rung_base::Result<(Table, usize)> {
    let mut stream = Stream::new(plan.clone());
    let mut numbers = Vec::new();
    let pieces = samples.chunks(plan.preset.hop);
    let count = pieces.len();
    for piece in pieces {
        numbers.extend(stream.feed(Some(lanes), piece)?);
    }
    let end = stream.finish(Some(lanes))?;
    numbers.extend(end.rows);
    if plan.preset.needs_the_largest() {
        plan.preset.value.last(&mut numbers, end.largest);
    }
    let bands = plan.filters.len();
    Ok((Table { shape: [numbers.len() / bands, bands], numbers }, count))
}
