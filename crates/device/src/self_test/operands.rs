//! Operand triples that separate a correctly rounded operation from one that is nearly so: all
//! pairs of special values, products that cancel, quotients beside a rounding boundary, and
//! subnormal results. The same list on every run.

use bytemuck::Pod;
use rung_base::ElementType;

/// Triples a width.
pub const COUNT: usize = 4096;

/// What the test needs to know of a width.
pub trait Width: Pod + PartialEq {
    const NAME: &'static str;
    const ELEMENT: ElementType;
    const MANTISSA: u32;
    const BITS: u32;
    fn from_word(bits: u64) -> Self;
    fn word(self) -> u64;
    fn is_subnormal(self) -> bool;
    fn times(self, other: Self) -> Self;
    fn negated(self) -> Self;
    /// Equal bits, or NaN both.
    fn same(left: Self, right: Self) -> bool;
}

macro_rules! width {
    ($real:ident, $unsigned:ty, $element:ident, $mantissa:expr) => {
        impl Width for $real {
            const NAME: &'static str = stringify!($real);
            const ELEMENT: ElementType = ElementType::$element;
            const MANTISSA: u32 = $mantissa;
            const BITS: u32 = <$unsigned>::BITS;
            fn from_word(bits: u64) -> Self {
                <$real>::from_bits(bits as $unsigned)
            }
            fn word(self) -> u64 {
                self.to_bits() as u64
            }
            fn is_subnormal(self) -> bool {
                <$real>::is_subnormal(self)
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn negated(self) -> Self {
                -self
            }
            fn same(left: Self, right: Self) -> bool {
                left.to_bits() == right.to_bits() || left.is_nan() && right.is_nan()
            }
        }
    };
}
width!(f32, u32, F32, 23);
width!(f64, u64, F64, 52);

/// A small fixed generator (xorshift with a multiplier); only variety matters here.
pub struct Words(pub u64);

impl Words {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Any bits at all.
    pub fn any<T: Width>(&mut self) -> T {
        T::from_word(self.next() >> (64 - T::BITS))
    }

    /// A subnormal double of any sign.
    pub fn any_subnormal(&mut self) -> f64 {
        let word = self.next();
        f64::from_bits((word & 1) << 63 | word >> 12)
    }

    /// Exponent within `span` of that of 1, any mantissa and sign.
    pub fn near_one<T: Width>(&mut self, span: u64) -> T {
        let word = self.next();
        let bias = (1u64 << (T::BITS - 2 - T::MANTISSA)) - 1;
        let exponent = bias - span + word % (2 * span + 1);
        let sign = (word >> 40 & 1) << (T::BITS - 1);
        let mantissa = self.next() >> (64 - T::MANTISSA);
        T::from_word(sign | exponent << T::MANTISSA | mantissa)
    }
}

/// Zeros, the edges of subnormal and normal numbers, ones, infinity and NaN, of both signs.
pub fn specials<T: Width>() -> Vec<T> {
    let one = ((1u64 << (T::BITS - 2 - T::MANTISSA)) - 1) << T::MANTISSA;
    let infinity = ((1u64 << (T::BITS - 1 - T::MANTISSA)) - 1) << T::MANTISSA;
    let smallest_normal = 1u64 << T::MANTISSA;
    let magnitudes = [
        0,
        1,
        2,
        3,
        smallest_normal / 2,
        smallest_normal - 1,
        smallest_normal,
        smallest_normal + 1,
        one - smallest_normal,
        one - 1,
        one,
        one + 1,
        one + smallest_normal / 2,
        infinity - 1,
        infinity,
        infinity + smallest_normal / 2,
    ];
    let sign = 1u64 << (T::BITS - 1);
    magnitudes.iter().flat_map(|&m| [T::from_word(m), T::from_word(m | sign)]).collect()
}

/// The operands, `COUNT` of them.
pub fn triples<T: Width>() -> Vec<[T; 3]> {
    let mut words = Words(0x9e37_79b9_7f4a_7c15);
    let specials = specials::<T>();
    let mut triples = Vec::with_capacity(COUNT);
    for &a in &specials {
        for &b in &specials {
            let c = specials[words.next() as usize % specials.len()];
            triples.push([a, b, c]);
        }
    }
    while triples.len() < COUNT {
        let (a, b): (T, T) = (words.near_one(3), words.near_one(3));
        let product = a.times(b);
        // A fused step keeps what the rounded product lost.
        triples.push([a, b, product.negated()]);
        // A quotient within an ulp of b's bits: the boundary between two results.
        triples.push([T::from_word(product.word() + 1), b, words.near_one(60)]);
        triples.push([product, b, T::from_word(words.next() >> (64 - T::MANTISSA))]);
        // Small times small and small over large: results below the smallest normal.
        let half_span = (1u64 << (T::BITS - 3 - T::MANTISSA)) - 1;
        let low = words.near_one::<T>(4).word() & !(1 << (T::BITS - 1));
        let low = T::from_word(low - (half_span << T::MANTISSA));
        triples.push([low, T::from_word(low.word() + words.next() % (1 << T::MANTISSA)), b]);
        triples.push([words.any(), words.any(), words.any()]);
    }
    triples.truncate(COUNT);
    triples
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hard<T: Width>(fused: fn(T, T, T) -> T, plain: fn(T, T, T) -> T) -> (usize, usize) {
        let triples = triples::<T>();
        let differ =
            triples.iter().filter(|[a, b, c]| !T::same(fused(*a, *b, *c), plain(*a, *b, *c)));
        let subnormal = triples.iter().filter(|[a, b, _]| a.times(*b).is_subnormal());
        (differ.count(), subnormal.count())
    }

    #[test]
    fn hundreds_of_triples_tell_fused_from_plain_and_are_subnormal() {
        let single = hard::<f32>(f32::mul_add, |a, b, c| a * b + c);
        let double = hard::<f64>(f64::mul_add, |a, b, c| a * b + c);
        assert!(single.0 > 500 && single.1 > 300, "{single:?}");
        assert!(double.0 > 500 && double.1 > 300, "{double:?}");
    }
}
