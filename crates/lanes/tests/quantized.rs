//! Q8_0 matrices times vectors against the definition, bit for bit, at every level.

use rung_lanes::quantized::{Blocks, matvec};
use rung_lanes::{Lanes, Level};
use rung_math::quantized::{BLOCK, BYTES, encode, quantize, row};

struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0) * [1.0, 1e-3, 30.0][self.0 as usize % 3]
    }
}

fn check(lanes: &Lanes, octets: &[u8], rows: usize, x: &[f32], note: &str) {
    let blocks = x.len() / BLOCK;
    let mut out = vec![7.0; rows];
    matvec(lanes, Blocks { octets, rows, blocks }, x, &mut out);
    let x: Vec<_> = x.as_chunks::<BLOCK>().0.iter().map(quantize).collect();
    for (i, got) in out.iter().enumerate() {
        let want = row(&octets[i * blocks * BYTES..][..blocks * BYTES], &x) as f32;
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(same, "{note} {rows} rows of {blocks} blocks, row {i}: {got:e}, not {want:e}");
    }
}

fn each_configuration(body: impl Fn(&Lanes, &str)) {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            body(&Lanes::with(level, threads), &format!("{level:?} {threads} threads"));
        }
    }
}

#[test]
fn rows_have_the_bits_of_the_definition() {
    each_configuration(|lanes, note| {
        for (rows, blocks) in [
            (0, 2),
            (3, 0),
            (1, 1),
            (5, 3),
            (4, 16),
            (9, 17),
            (2, 64),
            (6, 65),
            (33, 80),
            (2, 4096),
            (5, 4101),
            (700, 20),
        ] {
            let mut numbers = Numbers((rows * 1000 + blocks) as u64);
            let octets: Vec<u8> = (0..rows * blocks)
                .flat_map(|_| encode(&std::array::from_fn(|_| numbers.next())))
                .collect();
            let x: Vec<f32> = (0..blocks * BLOCK).map(|_| numbers.next()).collect();
            check(lanes, &octets, rows, &x, &format!("{note} seed {}", rows * 1000 + blocks));
        }
    });
}

#[test]
fn any_bytes_of_a_file_are_taken_as_they_are() {
    // Bytes of -128, scales that are negative, subnormal, infinite and NaN.
    each_configuration(|lanes, note| {
        let (rows, blocks) = (6, 40);
        let mut numbers = Numbers(11);
        let mut octets: Vec<u8> =
            (0..rows * blocks * BYTES).map(|_| (numbers.next() * 997.0) as i32 as u8).collect();
        for (i, block) in octets.as_chunks_mut::<BYTES>().0.iter_mut().enumerate() {
            block[1] &= 0xBF;
            if i % 7 == 0 {
                block[2..].fill(0x80);
            }
        }
        octets[3 * blocks * BYTES..][..2].copy_from_slice(&[0x00, 0x7C]);
        octets[4 * blocks * BYTES..][..2].copy_from_slice(&[0x01, 0xFE]);
        let x: Vec<f32> =
            (0..blocks * BLOCK).map(|i| if i % 5 == 0 { -1.0 } else { 1.0 }).collect();
        check(lanes, &octets, rows, &x, note);
    });
}

#[test]
fn a_nan_or_an_infinity_in_the_vector_makes_every_row_nan() {
    each_configuration(|lanes, note| {
        let octets: Vec<u8> = (0..3 * 20).flat_map(|_| encode(&[0.5; BLOCK])).collect();
        for bad in [f32::NAN, f32::INFINITY] {
            let mut x = [0.25_f32; 20 * BLOCK];
            x[333] = bad;
            check(lanes, &octets, 3, &x, note);
            let mut out = [0.0; 3];
            matvec(lanes, Blocks { octets: &octets, rows: 3, blocks: 20 }, &x, &mut out);
            assert!(out.iter().all(|x| x.is_nan()));
        }
    });
}
