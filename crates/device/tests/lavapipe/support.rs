//! The device all tests share, and running one launch.

use bytemuck::Pod;
use rung_device::Device;
use rung_kernel::Launch;
use rung_kernel::product::Tile;
use std::sync::{Arc, OnceLock};

pub use crate::bits::*;
pub use rung_device::Buffer;

/// Tiles of doubles: of others the driver compiles 64 copies of a fused step made of integers, in a minute.
pub const DOUBLES: &[Tile] = &[Tile::Each];

pub fn device() -> &'static Arc<dyn Device> {
    static DEVICE: OnceLock<Arc<dyn Device>> = OnceLock::new();
    DEVICE.get_or_init(crate::card::device)
}

/// Runs one launch over these operands and reads back `output` elements.
pub fn run<T: Pod>(launch: &Launch, operands: &[&[T]], output: usize) -> Vec<T> {
    let device = device();
    let mut buffers: Vec<_> =
        operands.iter().map(|o| device.upload(bytemuck::cast_slice(o)).unwrap()).collect();
    buffers.push(device.allocate(output * size_of::<T>()).unwrap());
    device.launch(launch, &buffers.iter().collect::<Vec<_>>()).unwrap();
    let mut result = vec![T::zeroed(); output];
    let last = buffers.last().unwrap();
    device.download(last, bytemuck::cast_slice_mut(&mut result)).unwrap();
    result
}
