//! What stays on the device, what goes, and what that moves.

use crate::support::device;
use rung_array::Array;
use rung_base::{ElementType, Shape};
use rung_device::{Held, Moved, Residency};
use rung_kernel::{Kernel, Launch, broadcast};
use rung_math::{Binary, Sub, Width, trace_binary};
use std::sync::{Arc, OnceLock};

/// Bytes of an array of the tests: 32 doubles.
const SIZE: u64 = 256;

pub fn residency(budget: u64) -> Residency {
    Residency::new(device().clone(), Some(budget))
}

/// 32 doubles from `start` on.
pub fn array(start: f64) -> Array {
    let list: Vec<f64> = (0..32).map(|i| start + i as f64).collect();
    Array::vector(&list).unwrap()
}

/// a - b at their common shape, on the device.
pub fn subtract(residency: &Residency, a: &Array, b: &Array) -> Array {
    static KERNEL: OnceLock<Arc<Kernel>> = OnceLock::new();
    let kernel = KERNEL.get_or_init(|| {
        Arc::new(broadcast::kernel("difference", &trace_binary::<Sub>(Width::F64), 2))
    });
    let shape = a.shape().broadcast(b.shape()).unwrap();
    let (a, b) = (a.broadcast_to(&shape).unwrap(), b.broadcast_to(&shape).unwrap());
    let views = [&a, &b].map(|x| (residency.layout(x), x));
    let operands =
        views.map(|(layout, x)| broadcast::View { offset: layout.offset, strides: x.strides() });
    let launch = broadcast::launch(kernel, &shape, &operands).unwrap();
    let held = views.map(|(layout, x)| residency.carry(x, layout).unwrap());
    run(residency, &launch, &held, shape)
}

fn run(residency: &Residency, launch: &Launch, held: &[Held], shape: Shape) -> Array {
    let out = residency.result(shape.size() * 8).unwrap();
    let mut buffers: Vec<_> = held.iter().map(Held::buffer).collect();
    buffers.push(out.buffer());
    residency.device().launch(launch, &buffers).unwrap();
    out.into_array(ElementType::F64, shape).unwrap()
}

fn list(array: &Array) -> Vec<f64> {
    array.to_numbers().unwrap().into_iter().map(|n| n.to_f64()).collect()
}

fn moved(up: u64, down: u64) -> Moved {
    Moved { up: up * SIZE, down: down * SIZE, ..Moved::default() }
}

#[test]
fn a_chain_sends_each_operand_once_and_brings_back_only_what_is_read() {
    let residency = residency(1 << 20);
    let (a, b) = (array(100.0), array(0.0));
    let mut x = subtract(&residency, &a, &b);
    for _ in 0..9 {
        x = subtract(&residency, &x, &b);
    }
    assert!(!x.is_home() && residency.holds(&a) && residency.holds(&x));
    assert_eq!(residency.moved(), moved(2, 0));
    assert_eq!(list(&x)[3], Sub::at(103.0, 10.0 * 3.0));
    assert_eq!(residency.moved(), moved(2, 1));
    // What is home and there is neither sent nor fetched again.
    assert_eq!(list(&subtract(&residency, &x, &x)), [0.0; 32]);
    assert_eq!(residency.moved(), moved(2, 2));
    // Temporaries were freed as they were dropped.
    assert_eq!(residency.resident(), 3 * SIZE);
    drop((a, b, x));
    assert_eq!(residency.resident(), 0);
}

#[test]
fn what_was_used_longest_ago_goes_clean_copies_first() {
    // Room for four arrays.
    let residency = residency(4 * SIZE);
    let (a, b) = (array(10.0), array(1.0));
    let x = subtract(&residency, &a, &b);
    let y = subtract(&residency, &a, &x);
    assert_eq!((residency.resident(), residency.moved()), (4 * SIZE, moved(2, 0)));
    // `b` was used longest ago among the clean ones; x and y have their only bytes there.
    let z = subtract(&residency, &y, &a);
    assert!(!residency.holds(&b) && residency.holds(&a) && residency.holds(&x));
    assert_eq!(residency.moved(), Moved { evictions: 1, ..moved(2, 0) });
    // `b` comes back for `a`; then no clean copy is left but `b`, which is in use, and `x` comes
    // home for the result.
    let w = subtract(&residency, &b, &z);
    assert!(!residency.holds(&a) && !residency.holds(&x) && residency.holds(&w));
    let again = Moved { up: 3 * SIZE, down: SIZE, evictions: 3, again: SIZE };
    assert_eq!(residency.moved(), again);
    // Its bytes were kept, so reading it moves nothing more.
    assert_eq!(list(&x), [9.0; 32]);
    assert_eq!(residency.moved(), again);
    let want: Vec<f64> = array(0.0).numbers().map(|n| n.to_f64() + 1.0 - (-9.0)).collect();
    assert_eq!(list(&w), want);
}

#[test]
fn what_is_larger_than_the_budget_passes_through() {
    let residency = residency(SIZE);
    let wide = Array::zeros(ElementType::F64, Shape::new([4, 32]).unwrap()).unwrap();
    let a = array(1.0);
    let x = subtract(&residency, &wide, &a);
    assert!(x.is_home() && !wide.is_attached() && residency.holds(&a));
    assert_eq!(residency.moved(), moved(4 + 1, 4));
    assert_eq!(list(&x)[127], -32.0);
    // Two operands of which only one finds room.
    let y = subtract(&residency, &a, &array(0.0));
    assert_eq!((list(&y)[5], residency.resident()), (1.0, SIZE));
}

#[test]
fn views_share_the_copy_of_their_storage() {
    let residency = residency(1 << 20);
    let matrix = array(0.0).reshape(Shape::new([4, 8]).unwrap()).unwrap();
    let turned = matrix.transpose(&[1, 0]).unwrap();
    let x = subtract(&residency, &turned, &turned.row(7).unwrap());
    // The row is part of what went up with the whole.
    assert_eq!(residency.moved(), moved(1, 0));
    assert_eq!(list(&x)[..6], [-7.0, -7.0, -7.0, -7.0, -6.0, -6.0]);
    // A row of a matrix that is not there goes up alone, and does not stay.
    let other = array(0.0).reshape(Shape::new([4, 8]).unwrap()).unwrap();
    let row = subtract(&residency, &other.row(3).unwrap(), &other.row(1).unwrap());
    assert_eq!(list(&row), [16.0; 8]);
    assert!(!other.is_attached());
    let part = SIZE / 4;
    assert_eq!(residency.moved().up, SIZE + 2 * part);
    // A row of a result is a view of it, and comes home with it.
    assert_eq!(list(&x.row(1).unwrap())[0], -6.0);
    assert!(x.is_home());
}

#[test]
fn a_written_array_is_sent_again_with_its_new_numbers() {
    let residency = residency(1 << 20);
    let mut a = array(0.0);
    let zero = subtract(&residency, &a, &a);
    a.set(&[2], rung_array::Number::F64(50.0)).unwrap();
    assert!(!a.is_attached());
    assert_eq!(list(&subtract(&residency, &a, &zero))[1..4], [1.0, 50.0, 3.0]);
    a.overwrite::<f64>().unwrap().fill(7.0);
    assert_eq!(list(&subtract(&residency, &a, &zero)), [7.0; 32]);
}

#[test]
fn an_array_of_another_device_comes_home_first() {
    let (first, second) = (residency(1 << 20), residency(1 << 20));
    let x = subtract(&first, &array(5.0), &array(0.0));
    let y = subtract(&second, &x, &x);
    assert!(x.is_home() && first.holds(&x) && !second.holds(&x));
    assert_eq!(list(&y), [0.0; 32]);
    assert_eq!((first.moved().down, second.moved().up), (SIZE, 2 * SIZE));
}

#[test]
fn threads_share_the_residents() {
    let residency = residency(6 * SIZE);
    let shared = array(3.0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (residency, shared) = (&residency, &shared);
            scope.spawn(move || {
                for i in 0..40 {
                    let a = array(f64::from(thread * 1000 + i));
                    let x = subtract(residency, &a, shared);
                    let y = subtract(residency, &x, shared);
                    let want = f64::from(thread * 1000 + i) - 6.0;
                    assert_eq!(list(&y)[0], want);
                    assert_eq!(list(&x)[31], want + 3.0);
                }
            });
        }
    });
    drop(shared);
    assert_eq!(residency.resident(), 0);
}
