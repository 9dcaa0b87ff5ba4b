//! Arrays whose bytes are elsewhere: what brings them home, what does not, and what gives up the
//! copy.

use rung_array::{Array, Bytes, Number, Remote, Sight, SliceSpec};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that count how often they are fetched, and fail while `lost`.
#[derive(Default)]
struct Elsewhere {
    bytes: Vec<u8>,
    fetched: AtomicUsize,
    lost: bool,
}

impl Remote for Elsewhere {
    fn length(&self) -> usize {
        self.bytes.len()
    }

    fn fetch(&self) -> Result<Bytes> {
        if self.lost {
            return Err(Error::new(ErrorKind::Device, "device retired: gone"));
        }
        self.fetched.fetch_add(1, Ordering::Relaxed);
        let mut bytes = Bytes::unspecified(self.bytes.len())?;
        bytes.elements_mut::<u8>()[..self.bytes.len()].copy_from_slice(&self.bytes);
        Ok(bytes)
    }
}

fn remote(elements: &[f64]) -> Arc<Elsewhere> {
    Arc::new(Elsewhere { bytes: bytemuck::cast_slice(elements).to_vec(), ..Default::default() })
}

/// (2, 3) of 0 to 5, elsewhere.
fn away() -> (Array, Arc<Elsewhere>) {
    let remote = remote(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let shape = Shape::new([2, 3]).unwrap();
    (Array::remote(ElementType::F64, shape, remote.clone()).unwrap(), remote)
}

fn fetched(remote: &Elsewhere) -> usize {
    remote.fetched.load(Ordering::Relaxed)
}

#[test]
fn headers_and_views_bring_nothing_home() {
    let (a, remote) = away();
    assert_eq!(format!("{a:?} {} {}", a.size(), a.is_contiguous()), "#<double-float (2 3)> 6 true");
    let t = a.transpose(&[1, 0]).unwrap();
    let s = t.slice(&[SliceSpec { start: Some(1), end: None, step: 1 }]).unwrap();
    let wide = a.row(1).unwrap().broadcast_to(&Shape::new([4, 3]).unwrap()).unwrap();
    let flat = a.reshape(Shape::vector(6)).unwrap();
    assert!(!s.is_home() && !wide.is_home() && !flat.is_home() && fetched(&remote) == 0);
    assert_eq!((s.reach(), wide.reach()), (1..6, 3..6));
    s.home().unwrap();
    assert_eq!(s.to_numbers().unwrap()[3].to_f64(), 5.0);
    assert_eq!(flat.as_slice::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(a.is_home() && a.resident().is_some() && fetched(&remote) == 1);
}

#[test]
fn reading_an_element_brings_all_home_once() {
    let (a, remote) = away();
    for (i, want) in [(0, 3.0), (2, 5.0)] {
        assert_eq!(a.get(&[1, i]).unwrap(), Number::F64(want));
    }
    assert!(a.get(&[2, 0]).is_err());
    assert_eq!(fetched(&remote), 1);
}

#[test]
fn writing_a_part_comes_home_first_and_gives_up_the_copy() {
    let (mut a, remote) = away();
    let before = a.clone();
    a.set(&[0, 1], Number::I64(9)).unwrap();
    assert_eq!(a.as_slice::<f64>().unwrap(), [0.0, 9.0, 2.0, 3.0, 4.0, 5.0]);
    assert!(!a.is_attached() && before.is_attached() && fetched(&remote) == 1);
    let (mut b, remote) = away();
    let weak = Arc::downgrade(&remote);
    drop(remote);
    b.make_mut::<f64>().unwrap()[5] = 7.0;
    assert_eq!(b.as_slice::<f64>().unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 7.0]);
    assert!(weak.upgrade().is_none(), "the copy is freed at once");
}

#[test]
fn writing_everything_fetches_nothing() {
    let (mut a, remote) = away();
    let before = a.clone();
    a.overwrite::<f64>().unwrap().fill(1.0);
    assert_eq!(a.as_slice::<f64>().unwrap(), [1.0; 6]);
    assert!(!a.is_attached() && fetched(&remote) == 0);
    assert_eq!(before.to_numbers().unwrap()[5].to_f64(), 5.0);
    // A part of larger storage is written without the rest.
    let (b, remote) = away();
    let mut row = b.row(1).unwrap();
    drop(b);
    row.overwrite::<f64>().unwrap().copy_from_slice(&[7.0, 8.0, 9.0]);
    assert_eq!(row.as_slice::<f64>().unwrap(), [7.0, 8.0, 9.0]);
    assert_eq!(fetched(&remote), 0);
}

#[test]
fn a_copy_is_attached_once_and_only_if_it_fits() {
    let a = Array::vector(&[1.0, 2.0]).unwrap();
    assert!(!a.attach(remote(&[1.0])));
    assert!(a.attach(remote(&[1.0, 2.0])) && !a.attach(remote(&[1.0, 2.0])));
    assert!(a.row(0).is_ok() && a.slice(&[SliceSpec::ALL]).unwrap().is_attached());
    assert_eq!(a.storage_bytes().len(), 16);
    let shape = Shape::vector(3);
    assert!(Array::remote(ElementType::F64, shape, remote(&[1.0])).is_err());
    let none = Array::remote(ElementType::F64, Shape::vector(0), remote(&[])).unwrap();
    assert!(none.is_home() && none.as_slice::<f64>().unwrap().is_empty());
}

#[test]
fn a_lost_device_is_an_error_of_every_reader() {
    let lost = Arc::new(Elsewhere { bytes: vec![0; 16], lost: true, ..Default::default() });
    let mut a = Array::remote(ElementType::F64, Shape::vector(2), lost).unwrap();
    let text = "device retired: gone";
    assert_eq!(a.home().unwrap_err().message(), text);
    assert_eq!(a.get(&[0]).unwrap_err().message(), text);
    assert_eq!(a.to_numbers().unwrap_err().message(), text);
    assert_eq!(a.set(&[0], Number::I64(1)).unwrap_err().message(), text);
    assert_eq!(a.make_mut::<f64>().unwrap_err().kind(), ErrorKind::Device);
    assert_eq!(a.to_owned_copy().unwrap_err().kind(), ErrorKind::Device);
    assert_eq!(a.convert(ElementType::F32).unwrap_err().kind(), ErrorKind::Device);
    // Nobody needs the old numbers to write new ones.
    a.overwrite::<f64>().unwrap().fill(2.0);
    assert_eq!(a.as_slice::<f64>().unwrap(), [2.0; 2]);
}

/// Forgetting `home` gives the right numbers in a released program and stops every test.
#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "`home` comes first")]
fn a_reader_that_forgets_home_is_caught() {
    let _ = away().0.as_slice::<f64>();
}

#[test]
#[cfg(not(debug_assertions))]
fn a_reader_that_forgets_home_reads_the_right_numbers() {
    assert_eq!(away().0.as_slice::<f64>().unwrap()[5], 5.0);
}

#[test]
fn a_matrix_is_seen_once_and_known_to_be_written() {
    let mut a = Array::zeros(ElementType::F32, Shape::new([2, 2]).unwrap()).unwrap();
    assert_eq!((a.look(), a.look()), (Sight::First, Sight::Again));
    // A view is the same matrix.
    assert_eq!(a.transpose(&[1, 0]).unwrap().look(), Sight::Again);
    a.set(&[0, 0], Number::I64(1)).unwrap();
    assert_eq!((a.look(), a.look()), (Sight::Written, Sight::Again));
}

#[test]
fn two_threads_fetch_one_array_once() {
    let (a, remote) = away();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(a.get(&[1, 2]).unwrap(), Number::F64(5.0)));
        }
    });
    assert_eq!(fetched(&remote), 1);
}
