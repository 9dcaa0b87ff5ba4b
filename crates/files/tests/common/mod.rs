//! What the tests of this crate share: a folder that goes when the test is over, arrays of every
//! element type, and the goldens' folder.
#![allow(dead_code, reason = "each test binary uses its part")]

pub mod havoc;

use rung_array::{Array, Number};
use rung_base::{ElementType, Shape, with_element};
use std::path::{Path, PathBuf};

/// An empty folder of this test's own.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("rung-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub fn shape(extents: &[usize]) -> Shape {
    Shape::new(extents.iter().copied()).unwrap()
}

/// The bytes of the cells in row-major order: equal for arrays that are the same bit for bit.
pub fn bits(array: &Array) -> Vec<u8> {
    let array = array.to_contiguous().unwrap();
    with_element!(array.element_type(), T => {
        bytemuck::cast_slice(array.as_slice::<T>().unwrap()).to_vec()
    })
}

/// Panics unless two arrays have type, shape and bits in common.
pub fn same(a: &Array, b: &Array, what: &str) {
    assert_eq!(a.element_type(), b.element_type(), "{what}");
    assert_eq!(a.shape(), b.shape(), "{what}");
    assert_eq!(bits(a), bits(b), "{what}");
}

/// Cells of every kind of bits: counted up, with NaN, infinity and -0.0 among floats.
pub fn array(element_type: ElementType, extents: &[usize]) -> Array {
    let mut array = Array::zeros(element_type, shape(extents)).unwrap();
    let special = [f64::NAN, -0.0, f64::INFINITY, -1e-40, 0.1];
    let count = array.size();
    let mut flat = array.reshape(Shape::vector(count)).unwrap();
    for i in 0..count {
        let number = match element_type.is_float() {
            true if i < special.len() => Number::F64(special[i]),
            true => Number::F64(i as f64 * 0.37 - 4.0),
            false => {
                Number::I64(if element_type == ElementType::Bool { i % 2 } else { i % 200 } as i64)
            }
        };
        flat.set(&[i as i64], number).unwrap();
    }
    array = flat.reshape(shape(extents)).unwrap();
    array
}

/// xorshift64*: random positions and bytes from a seed that a failure prints.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) % limit.max(1)
    }
}
