//! Times farthest point sampling over raw f32 triples: `fps FILE COUNT [START] [REPEATS]`. `benches/points`
//! runs it beside its peer.

use rung_lanes::Lanes;
use rung_points::{Cloud, fps};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize, default: usize| words.get(at).map_or(Ok(default), |w| w.parse());
    let bytes = std::fs::read(words.first().ok_or("fps FILE COUNT [START] [REPEATS] [THREADS]")?)?;
    let coordinates: Vec<f32> =
        bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let cloud = Cloud::new(&coordinates, 3)?;
    let wanted =
        fps::Wanted { count: number(1, 4096)?, start: vec![number(2, 0)?], ..Default::default() };
    let lanes = Lanes::new(number(4, 1)?);
    let mut times = Vec::new();
    for _ in 0..number(3, 5)? {
        let start = Instant::now();
        let (samples, counts) = fps::sample(&lanes, &cloud, &wanted)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        if times.len() == 1 {
            let all = cloud.len() as f64 * samples.indices.len() as f64;
            let share = counts.distances as f64 / all * 100.0;
            let sum = samples
                .indices
                .iter()
                .enumerate()
                .map(|(i, &x)| (i + 1).wrapping_mul(x))
                .fold(0usize, usize::wrapping_add);
            println!(
                "distances {share:.2} %, tests {}, sum {sum}, covering {}",
                counts.tests, samples.covering
            );
        }
    }
    times.sort_by(f64::total_cmp);
    println!("{:.2} ms (median), {:.2} least", times[times.len() / 2], times[0]);
    Ok(())
}
