//! Running sums and products in f64, in the order that lets blocks run side by side:
//!
//! 1. Segments of 64 run ascending from their first element.
//! 2. Inside a chunk of 4096 the segment totals run ascending: a segment's offset is the total of
//!    the segments of its chunk before it.
//! 3. The chunk totals run ascending over the sequence in the same way.
//! 4. A result is (chunk offset + segment offset) + running value. An offset with nothing before
//!    it is the identity (+0.0, 1.0); the first segment of the first chunk is the running value
//!    alone.

use crate::fold::{CHUNK, Combine};

/// Elements of a segment.
pub const SEGMENT: usize = 64;

/// The running combination of x, in place.
pub fn scan<C: Combine>(x: &mut [f64]) {
    let mut chunks = Offset::<C>::default();
    for (number, chunk) in x.chunks_mut(CHUNK).enumerate() {
        let mut segments = Offset::<C>::default();
        for (place, segment) in chunk.chunks_mut(SEGMENT).enumerate() {
            run::<C>(segment);
            let total = segment[segment.len() - 1];
            let offset = C::combine(chunks.value(), segments.value());
            if number + place > 0 {
                segment.iter_mut().for_each(|running| *running = C::combine(offset, *running));
            }
            segments.pass(total);
        }
        chunks.pass(segments.value());
    }
}

/// x[i] becomes x[0] + ... + x[i], ascending.
pub fn run<C: Combine>(x: &mut [f64]) {
    for i in 1..x.len() {
        x[i] = C::combine(x[i - 1], x[i]);
    }
}

/// The total of what was passed so far; the identity before that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offset<C>(Option<f64>, core::marker::PhantomData<C>);

impl<C: Combine> Offset<C> {
    /// What stands before the next one.
    pub fn value(&self) -> f64 {
        self.0.unwrap_or(C::IDENTITY)
    }

    /// Takes in the total of one more.
    pub fn pass(&mut self, total: f64) {
        self.0 = Some(self.0.map_or(total, |before| C::combine(before, total)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::{Adding, Multiplying};

    fn sums(mut x: Vec<f64>) -> Vec<f64> {
        scan::<Adding>(&mut x);
        x
    }

    #[test]
    fn whole_numbers_run_as_in_any_order() {
        for n in [0, 1, 63, 64, 65, 4095, 4096, 4097, 12_345] {
            let got = sums((1..=n).map(|i| i as f64).collect());
            let wanted: Vec<f64> = (1..=n).map(|i| (i * (i + 1) / 2) as f64).collect();
            assert_eq!(got, wanted, "{n}");
        }
        let mut x = [2.0, 3.0, 4.0];
        scan::<Multiplying>(&mut x);
        assert_eq!(x, [2.0, 6.0, 24.0]);
    }

    #[test]
    fn segments_are_summed_before_they_meet() {
        // 2^-53 is lost beside 1 one by one; 64 of them in a segment of their own are not.
        let tiny = 2.0_f64.powi(-53);
        let got = sums((0..128).map(|i| if i == 0 { 1.0 } else { tiny }).collect());
        assert_eq!(got[63], 1.0);
        assert_eq!(got[127], 1.0 + 64.0 * tiny);
        // The same for chunks: 4096 of them are one chunk total.
        let got = sums((0..2 * CHUNK).map(|i| if i == 0 { 1.0 } else { tiny }).collect());
        assert_eq!(got[2 * CHUNK - 1], {
            let first = 1.0 + 63.0 * 64.0 * tiny;
            (first + 63.0 * 64.0 * tiny) + 64.0 * tiny
        });
    }

    #[test]
    fn minus_zero_stays_alone_in_the_first_segment_only() {
        let got = sums(vec![-0.0; 65]);
        assert!(got[..64].iter().all(|x| x.is_sign_negative()));
        assert!(got[64].is_sign_positive());
    }
}
