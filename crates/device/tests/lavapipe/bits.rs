//! Both widths, and comparing bits. `rung-kernel`'s tests use it, too.

use bytemuck::Pod;

/// Both widths, as far as the tests tell them apart.
pub trait Float: rung_math::Real<Mask = bool> + rung_math::product::Fused + Pod {
    fn word(self) -> u64;
    fn from_word(bits: u64) -> Self;
    fn number(self) -> f64;
    fn narrowed(value: f64) -> Self;
}

macro_rules! float {
    ($real:ty, $unsigned:ty) => {
        impl Float for $real {
            fn word(self) -> u64 {
                self.to_bits() as u64
            }
            fn from_word(bits: u64) -> Self {
                <$real>::from_bits(bits as $unsigned)
            }
            fn number(self) -> f64 {
                self as f64
            }
            fn narrowed(value: f64) -> Self {
                value as $real
            }
        }
    };
}
float!(f32, u32);
float!(f64, u64);

/// How two NaNs compare.
#[derive(Clone, Copy, PartialEq)]
pub enum Nan {
    /// By their bits.
    Exact,
    /// Any two are equal: the results of + - * / and square root.
    Any,
}

#[track_caller]
pub fn assert_same<T: Float>(name: &str, got: &[T], want: &[T], nan: Nan) {
    assert_eq!(got.len(), want.len(), "{name}: length");
    let differs = |i: &usize| {
        let both_nan = got[*i].number().is_nan() && want[*i].number().is_nan();
        got[*i].word() != want[*i].word() && !(nan == Nan::Any && both_nan)
    };
    let wrong: Vec<usize> = (0..got.len()).filter(differs).collect();
    if let Some(&i) = wrong.first() {
        panic!(
            "{name}: {} of {} differ, the first at {i}: {:e} ({:#x}), definition {:e} ({:#x})",
            wrong.len(),
            got.len(),
            got[i].number(),
            got[i].word(),
            want[i].number(),
            want[i].word()
        );
    }
}
