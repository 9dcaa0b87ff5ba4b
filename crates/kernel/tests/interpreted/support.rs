//! The interpreter as a device: buffers, launches and reading home.

use bytemuck::Pod;
use rung_kernel::product::Tile;
use rung_kernel::{Launch, Variants, compile_ptx};
use rung_ptx_interpreter::{Fault, Program, launch};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

pub use crate::bits::*;

/// Bytes of the device. Whole words, as every device gives them.
#[derive(Clone)]
pub struct Buffer(Arc<Mutex<Vec<u8>>>);

#[derive(Default)]
pub struct Device {
    /// By the kernels' texts.
    programs: Mutex<HashMap<String, Arc<Program>>>,
}

/// Tiles of doubles.
pub const DOUBLES: &[Tile] = &[Tile::Each, Tile::Small, Tile::Middle];

pub fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(Device::default)
}

impl Device {
    pub fn upload(&self, bytes: &[u8]) -> Result<Buffer, Fault> {
        let mut bytes = bytes.to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        Ok(Buffer(Arc::new(Mutex::new(bytes))))
    }

    pub fn allocate(&self, bytes: usize) -> Result<Buffer, Fault> {
        self.upload(&vec![0; bytes])
    }

    pub fn download(&self, buffer: &Buffer, into: &mut [u8]) -> Result<(), Fault> {
        into.copy_from_slice(&buffer.0.lock().unwrap()[..into.len()]);
        Ok(())
    }

    pub fn launch(&self, run: &Launch, buffers: &[&Buffer]) -> Result<(), Fault> {
        let program = {
            let mut programs = self.programs.lock().unwrap();
            let program = programs.entry(run.kernel.text.clone()).or_insert_with(|| {
                // What the self-test of a device that computes exactly leaves.
                let text = compile_ptx(&run.kernel, &Variants::default()).unwrap();
                Arc::new(Program::parse(&text).unwrap())
            });
            program.clone()
        };
        let take = |buffer: &&Buffer| std::mem::take(&mut *buffer.0.lock().unwrap());
        let mut bytes: Vec<Vec<u8>> = buffers.iter().map(take).collect();
        let result = launch(&program, run.groups, &mut bytes, &run.parameters);
        for (buffer, bytes) in buffers.iter().zip(bytes) {
            *buffer.0.lock().unwrap() = bytes;
        }
        result.map_err(|e| Fault(format!("{}: {}", run.kernel.key, e.0)))
    }
}

/// Runs one launch over these operands and reads back `output` elements.
pub fn run<T: Pod>(launch: &Launch, operands: &[&[T]], output: usize) -> Vec<T> {
    let device = device();
    let mut buffers: Vec<_> =
        operands.iter().map(|o| device.upload(bytemuck::cast_slice(o)).unwrap()).collect();
    buffers.push(device.allocate(output * size_of::<T>()).unwrap());
    device.launch(launch, &buffers.iter().collect::<Vec<_>>()).unwrap();
    download(&buffers[buffers.len() - 1], output)
}

pub fn download<T: Pod>(buffer: &Buffer, count: usize) -> Vec<T> {
    let mut result = vec![T::zeroed(); count];
    device().download(buffer, bytemuck::cast_slice_mut(&mut result)).unwrap();
    result
}
