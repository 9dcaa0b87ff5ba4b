//! Closures over strided operands, and boxes placed in a result, against plain loops.

use rung_lanes::each::{generate, map, rows, zip, zip3};
use rung_lanes::place::{Place, place};
use rung_lanes::{Lanes, Level, Operand};

fn ways() -> Vec<Lanes> {
    let threads = |level| [1, 3].map(|n| Lanes::with(level, n));
    Level::available().into_iter().flat_map(threads).collect()
}

/// The offsets of a strided box in row-major order.
fn offsets(shape: &[usize], strides: &[isize], offset: usize) -> Vec<usize> {
    let mut all = vec![offset as isize];
    for (extent, stride) in shape.iter().zip(strides) {
        let next = |base: &isize| {
            let base = *base;
            (0..*extent as isize).map(move |i| base + i * stride).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(next).collect();
    }
    all.into_iter().map(|o| o as usize).collect()
}

/// A shape, strides and an offset of an operand of 90 000 cells.
type Layout = (&'static [usize], &'static [isize], usize);

const LAYOUTS: [Layout; 8] = [
    (&[0], &[1], 0),
    (&[], &[], 3),
    (&[513], &[1], 1),
    (&[511], &[-1], 600),
    (&[70_000], &[1], 5),
    (&[300, 240], &[1, 300], 0),
    (&[70, 1000], &[1000, 0], 9),
    (&[3, 5, 7], &[-7, 40, 2], 20),
];

#[test]
fn closures_see_every_element_once_whatever_the_layout() {
    let a: Vec<i64> = (0..90_000).map(|i| i * 31 - 7).collect();
    let b: Vec<u8> = (0..90_000u32).map(|i| (i * 13 % 251) as u8).collect();
    let c: Vec<f32> = (0..90_000).map(|i| i as f32 * 0.5).collect();
    for lanes in ways() {
        for (shape, strides, offset) in LAYOUTS {
            let size = shape.iter().product();
            let at = offsets(shape, strides, offset);
            let zero = vec![0; shape.len()];
            let x = Operand::new(&a, offset, strides);
            let y = Operand::new(&b, offset, strides);
            let z = Operand::new(&c, 11, &zero);
            let mut out = vec![-1i64; size];
            map(&lanes, shape, x, &mut out, |x: i64| x.wrapping_mul(3));
            assert!(out.iter().zip(&at).all(|(o, &i)| *o == a[i] * 3), "{shape:?} {strides:?}");
            zip(&lanes, shape, (x, y), &mut out, |x: i64, y: u8| x - i64::from(y));
            assert!(out.iter().zip(&at).all(|(o, &i)| *o == a[i] - i64::from(b[i])), "{shape:?}");
            let mut chosen = vec![-1.0f32; size];
            zip3(
                &lanes,
                shape,
                (y, x, z),
                &mut chosen,
                |m: u8, x: i64, z: f32| {
                    if m > 100 { x as f32 } else { z }
                },
            );
            let wanted = |i: usize| if b[i] > 100 { a[i] as f32 } else { c[11] };
            assert!(chosen.iter().zip(&at).all(|(o, &i)| *o == wanted(i)), "{shape:?}");
        }
        for size in [0, 1, 511, 70_001] {
            let mut out = vec![0usize; size];
            generate(&lanes, &mut out, |i| i * i);
            assert!(out.iter().enumerate().all(|(i, o)| *o == i * i));
        }
        let mut out = vec![0usize; 70_000];
        rows(&lanes, 7, &mut out, |i, row| row.fill(i));
        assert!(out.iter().enumerate().all(|(i, o)| *o == i / 7));
    }
}

#[test]
fn boxes_land_in_their_place_and_nowhere_else() {
    let a: Vec<i32> = (0..90_000).collect();
    for lanes in ways() {
        for (shape, strides, offset) in LAYOUTS {
            // The result is two wider along every axis, and the box stands one from its start.
            let grid: Vec<usize> = shape.iter().map(|d| d + 2).collect();
            let mut to = vec![1isize; grid.len()];
            for axis in (1..grid.len()).rev() {
                to[axis - 1] = to[axis] * grid[axis] as isize;
            }
            let first: usize = to.iter().map(|s| *s as usize).sum();
            let mut out = vec![-1; grid.iter().product()];
            let x = Operand::new(&a, offset, strides);
            place(&lanes, shape, x, &mut out, Place { offset: first, strides: &to });
            let mut wanted = vec![-1; out.len()];
            let from = offsets(shape, strides, offset);
            for (cell, from) in offsets(shape, &to, first).into_iter().zip(from) {
                wanted[cell] = a[from];
            }
            assert!(out == wanted, "{shape:?} {strides:?}");
        }
    }
}
