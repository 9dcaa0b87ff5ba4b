//! Times one reading or writing a line: `COMMAND PATH` on standard input, milliseconds on standard
//! output. Driven by `benches/lab/files/speed.py`, which times NumPy and pandas in turn with it.

use rung_array::Array;
use rung_base::{Error, Result, Shape};
use rung_files::csv::{self, Heading, Options};
use rung_files::safetensors::Tensors;
use rung_files::{npy, npz, safetensors};
use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let cells: Vec<f32> = (0..16 << 20).map(|i| (i % 1000) as f32 * 0.37).collect();
    let array = Array::from_slice(&cells, Shape::matrix(4096, 4096)?)?;
    let table = Array::from_slice(&cells[..2_000_000], Shape::matrix(200_000, 10)?)?;
    let tensors = [("x".to_string(), array.clone())];
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| Error::cannot("read", Path::new("-"), e))?;
        let Some((command, path)) = line.split_once(' ') else { continue };
        let path = Path::new(path);
        let start = Instant::now();
        // What was read stays until the time is taken, as the peers' does.
        let read = match command {
            "read-npy" => vec![npy::read(path)?],
            "read-npz" => npz::read(path)?.into_iter().map(|(_, array)| array).collect(),
            "read-safetensors" => {
                let tensors = Tensors::open(path)?;
                tensors.read(&tensors.entries.iter().collect::<Vec<_>>(), None)?
            }
            "read-csv-matrix" => vec![csv::read_matrix(path, &Options::default())?],
            "read-csv-columns" => {
                csv::read_columns(path, &Options::default())?;
                Vec::new()
            }
            "write-npy" => npy::write(&array, path).map(|()| Vec::new())?,
            "write-npz" => npz::write(&tensors, path, false).map(|()| Vec::new())?,
            "write-npz-deflated" => npz::write(&tensors, path, true).map(|()| Vec::new())?,
            "write-safetensors" => safetensors::write(&tensors, &[], path).map(|()| Vec::new())?,
            "write-csv" => {
                csv::write_matrix(&table, &Heading::None, b',', path).map(|()| Vec::new())?
            }
            _ => continue,
        };
        println!("{}", start.elapsed().as_secs_f64() * 1e3);
        drop(read);
    }
    Ok(())
}
