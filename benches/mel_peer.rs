//! The crate mel_spec, timed: `mel_peer IN.f32` prints the milliseconds of the least of five runs of 80 bands
//! over frames of 400 samples, 160 apart. `benches/mel` builds it outside the workspace.

use mel_spec::mel::{BatchLogMelConfig, BatchLogMelSpectrogram};
use std::time::Instant;

fn main() {
    let path = std::env::args().nth(1).expect("a file of samples");
    let bytes = std::fs::read(path).expect("the file");
    let number = |b: &[u8]| f32::from_ne_bytes([b[0], b[1], b[2], b[3]]);
    let samples: Vec<f32> = bytes.chunks_exact(4).map(number).collect();
    let config = BatchLogMelConfig { n_fft: 400, ..BatchLogMelConfig::default() };
    let spectrogram = BatchLogMelSpectrogram::new(config).expect("sizes that fit");
    let run = |_| {
        let start = Instant::now();
        std::hint::black_box(spectrogram.compute(&samples).expect("bands"));
        start.elapsed().as_secs_f64() * 1e3
    };
    let least = (0..6).map(run).skip(1).fold(f64::INFINITY, f64::min);
    println!("ms {least}");
}
