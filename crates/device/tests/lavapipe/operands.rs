//! Operands that hurt: specials, every exponent, and numbers near one. The same on every run.

use crate::support::Float;

pub struct Words(pub u64);

impl Words {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Any bits: every exponent, NaNs and infinities among them.
    pub fn any<T: Float>(&mut self) -> T {
        T::from_word(self.next() >> (64 - T::WIDTH.bits()))
    }

    /// Between -scale and scale.
    pub fn within<T: Float>(&mut self, scale: f64) -> T {
        let unit = (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        T::narrowed(unit * scale)
    }

    /// Any sign and mantissa, exponent within `span` of that of one.
    pub fn near_one<T: Float>(&mut self, span: u64) -> T {
        let exponent_bits = T::WIDTH.bits() - 1 - T::MANTISSA;
        let bias = (1u64 << (exponent_bits - 1)) - 1;
        let exponent = bias - span + self.next() % (2 * span + 1);
        let sign = self.next() & T::SIGN_BIT;
        T::from_word(sign | exponent << T::MANTISSA | self.next() >> (64 - T::MANTISSA))
    }
}

/// Zeros, ones, the edges of the subnormal and normal ranges, infinities, NaNs, with both signs.
pub fn specials<T: Float>() -> Vec<T> {
    let one = T::narrowed(1.0).word();
    let smallest_normal = 1u64 << T::MANTISSA;
    let magnitudes = [
        0,
        1,
        2,
        smallest_normal / 2,
        smallest_normal - 1,
        smallest_normal,
        smallest_normal + 1,
        one - 1,
        one,
        one + 1,
        T::narrowed(1.5).word(),
        T::narrowed(2.0).word(),
        T::narrowed(0.1).word(),
        T::narrowed(3.0).word(),
        T::narrowed(709.0).word(),
        T::narrowed(1e30).word(),
        T::INFINITY_BITS - 1,
        T::INFINITY_BITS,
        T::NAN_BITS,
        T::INFINITY_BITS + 1,
    ];
    magnitudes.iter().flat_map(|&m| [T::from_word(m), T::from_word(m | T::SIGN_BIT)]).collect()
}

/// `count` operands: the specials, then a stratified mixture.
pub fn mixture<T: Float>(seed: u64, count: usize) -> Vec<T> {
    let mut words = Words(seed);
    let mut values = specials::<T>();
    while values.len() < count {
        values.push(words.any());
        values.push(words.within(1.0));
        values.push(words.within(20.0));
        values.push(words.within(800.0));
        values.push(words.near_one(30));
        values.push(words.within(1e7));
    }
    values.truncate(count);
    values
}

/// `count` finite numbers near one, so that sums and products stay finite.
pub fn moderate<T: Float>(seed: u64, count: usize) -> Vec<T> {
    let mut words = Words(seed);
    (0..count).map(|_| words.near_one(12)).collect()
}
