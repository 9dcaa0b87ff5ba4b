//! Times farthest point sampling over raw f32 triples, for `benches/points`:
//! `fps FILE COUNT START THREADS REPEATS [indices]`. Prints the median, what was computed, the memory of
//! the groups, and by how much the process's memory rose (Linux); with `indices` nothing but the indices, as
//! raw 64-bit integers.

use rung_lanes::Lanes;
use rung_points::{Cloud, fps};
use std::io::Write;
use std::time::Instant;

/// The most memory that this process had so far, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [file, count, start, threads, repeats, rest @ ..] = &words[..] else {
        return Err("usage: fps FILE COUNT START THREADS REPEATS [indices]".into());
    };
    let bytes = std::fs::read(file)?;
    let coordinates: Vec<f32> =
        bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
    let cloud = Cloud::new(&coordinates, 3)?;
    let wanted = fps::Wanted {
        count: count.parse()?,
        start: vec![start.parse()?],
        ..fps::Wanted::default()
    };
    let lanes = Lanes::new(threads.parse()?);
    drop(bytes);
    let before = peak();
    let mut times = Vec::new();
    for _ in 0..repeats.parse::<usize>()?.max(1) {
        let begin = Instant::now();
        let (samples, counts) = fps::sample(&lanes, &cloud, &wanted)?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        if !rest.is_empty() {
            let indices = samples.indices.iter().flat_map(|&i| (i as i64).to_le_bytes());
            return Ok(std::io::stdout().write_all(&indices.collect::<Vec<u8>>())?);
        }
        if times.len() == 1 {
            println!(
                "distances {}\ntests {}\nbytes {}",
                counts.distances, counts.tests, counts.bytes
            );
        }
    }
    times.sort_by(f64::total_cmp);
    println!("ms {:.3}\npeak {}", times[times.len() / 2], peak() - before);
    Ok(())
}
