//! The macro that wraps one x86-64 register width: operators, `Bits`, `Real` and `Vector` from a
//! list of expressions over the raw registers.
//!
//! Nothing here switches features on: the methods are only meaningful inside the feature-enabled
//! functions of `level`, into which they are inlined. The two uses are `x86_avx2` and
//! `x86_avx512`.

/// Implements the operators of a one-field wrapper from expressions over the field.
macro_rules! operators {
    ($name:ty, $build:expr, $($trait:ident $method:ident |$a:ident, $b:ident| $body:expr),* $(,)?) => {
        $(impl std::ops::$trait for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self.0, other.0);
                // SAFETY: only intrinsics of features that are on wherever this is inlined.
                #[allow(unused_unsafe)]
                unsafe { $build($body) }
            }
        })*
    };
}
pub(super) use operators;

/// One float register, its companion of bits, and the mask they share.
macro_rules! register {
    (
        float $float:ident($raw:ty) of $t:ty, bits $bits:ident($word:ty) of $u:ty as $signed:ty,
        mask $mask:ident, lanes $lanes:literal, doc $doc:literal;
        splat $splat:ident, load $load:ident, store $store:ident, stream $stream:ident,
        load_part |$from:ident, $count:ident| $load_part:expr,
        store_part |$value:ident, $to:ident, $stored:ident| $store_part:expr,
        add $add:ident, sub $sub:ident, mul $mul:ident, div $div:ident, fma $fma:ident,
        sqrt $sqrt:ident, cast $to_bits:ident $to_float:ident,
        less |$la:ident, $lb:ident| $less:expr,
        less_equal |$ea:ident, $eb:ident| $less_equal:expr,
        equal |$qa:ident, $qb:ident| $equal:expr,
        select |$sm:ident, $sy:ident, $sn:ident| $select:expr,
        extremes $max:ident $min:ident,
        ordered |$oa:ident, $ob:ident| $ordered:expr,
        unordered |$ua:ident, $ub:ident| $unordered:expr,
        first |$fm:ident| $first:expr;
        word_splat $wsplat:ident, word_add $wadd:ident, word_sub $wsub:ident,
        word_mul |$ma:ident, $mb:ident| $wmul:expr,
        word_logic $and:ident $or:ident $xor:ident,
        shift $sll:ident $srl:ident,
        shift_signed |$ax:ident, $an:ident| $sra:expr,
        shift_by $sllv:ident $srlv:ident,
        word_less |$wa:ident, $wb:ident| $wless:expr,
        word_equal |$va:ident, $vb:ident| $wequal:expr,
        word_select |$xm:ident, $xy:ident, $xn:ident| $wselect:expr,
        high |$ha:ident, $hb:ident| $high:expr,
        word_extremes |$pa:ident, $pb:ident| $wmin:expr, $wmax:expr,
        lookup |$index:ident, $table:ident| $lookup:expr
    ) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        pub struct $float(pub $raw);

        /// The unsigned integers beside the floats.
        #[derive(Clone, Copy)]
        pub struct $bits(pub $word);

        operators!($float, $float,
            Add add |a, b| $add(a, b), Sub sub |a, b| $sub(a, b),
            Mul mul |a, b| $mul(a, b), Div div |a, b| $div(a, b));
        operators!($bits, $bits,
            Add add |a, b| $wadd(a, b), Sub sub |a, b| $wsub(a, b),
            Mul mul |$ma, $mb| $wmul, BitAnd bitand |a, b| $and(a, b),
            BitOr bitor |a, b| $or(a, b), BitXor bitxor |a, b| $xor(a, b));

        impl std::ops::Neg for $float {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self::from_bits(self.bits() ^ $bits::constant(Self::SIGN_BIT))
            }
        }

        impl std::ops::Not for $bits {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                self ^ Self::constant(u64::MAX)
            }
        }

        // SAFETY of every block below: the features are on wherever this is inlined (see
        // `level`), and the caller vouches for the pointers.
        impl Bits for $bits {
            type Real = $float;
            type Mask = $mask;

            #[inline(always)]
            fn constant(value: u64) -> Self {
                // SAFETY: see above.
                unsafe { $bits($wsplat(value as $u as $signed)) }
            }
            #[inline(always)]
            fn shift_left(self, amount: u32) -> Self {
                // SAFETY: see above.
                unsafe { $bits($sll(self.0, _mm_cvtsi32_si128(amount as i32))) }
            }
            #[inline(always)]
            fn shift_right(self, amount: u32) -> Self {
                // SAFETY: see above.
                unsafe { $bits($srl(self.0, _mm_cvtsi32_si128(amount as i32))) }
            }
            #[inline(always)]
            fn shift_right_signed(self, amount: u32) -> Self {
                let ($ax, $an) = (self.0, amount);
                // SAFETY: see above.
                unsafe { $bits($sra) }
            }
            #[inline(always)]
            fn shift_left_by(self, amount: Self) -> Self {
                // SAFETY: see above.
                unsafe { $bits($sllv(self.0, amount.0)) }
            }
            #[inline(always)]
            fn shift_right_by(self, amount: Self) -> Self {
                // SAFETY: see above.
                unsafe { $bits($srlv(self.0, amount.0)) }
            }
            #[inline(always)]
            fn less(self, other: Self) -> $mask {
                let ($wa, $wb) = (self.0, other.0);
                // SAFETY: see above.
                unsafe { $mask($wless) }
            }
            #[inline(always)]
            fn equal(self, other: Self) -> $mask {
                let ($va, $vb) = (self.0, other.0);
                // SAFETY: see above.
                unsafe { $mask($wequal) }
            }
            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                let ($xm, $xy, $xn) = (mask.0, yes.0, no.0);
                // SAFETY: see above.
                unsafe { $bits($wselect) }
            }
            #[inline(always)]
            fn high_product(self, other: Self) -> Self {
                let ($ha, $hb) = (self, other);
                // SAFETY: see above.
                unsafe { $high }
            }
            #[inline(always)]
            fn lookup(self, $table: &'static [u64]) -> Self {
                assert!($table.len().is_power_of_two());
                let $index = (self & Self::constant($table.len() as u64 - 1)).0;
                // SAFETY: see above; the index was reduced below the table's length.
                unsafe { $bits($lookup) }
            }
        }

        impl Words for $bits {
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                let ($pa, $pb) = (self.0, other.0);
                // SAFETY: see above.
                unsafe { $bits($wmin) }
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                let ($pa, $pb) = (self.0, other.0);
                // SAFETY: see above.
                unsafe { $bits($wmax) }
            }
        }

        impl Real for $float {
            type Bits = $bits;
            type Mask = $mask;
            const WIDTH: Width = <$t as Real>::WIDTH;

            #[inline(always)]
            fn constant(value: f64) -> Self {
                // SAFETY: see above.
                unsafe { $float($splat(value as $t)) }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: see above.
                unsafe { $float($sqrt(self.0)) }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self::from_bits(self.bits() & $bits::constant(Self::MAGNITUDE_MASK))
            }
            #[inline(always)]
            fn bits(self) -> $bits {
                // SAFETY: see above.
                unsafe { $bits($to_bits(self.0)) }
            }
            #[inline(always)]
            fn from_bits(bits: $bits) -> Self {
                // SAFETY: see above.
                unsafe { $float($to_float(bits.0)) }
            }
            #[inline(always)]
            fn less(self, other: Self) -> $mask {
                let ($la, $lb) = (self.0, other.0);
                // SAFETY: see above.
                unsafe { $mask($less) }
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> $mask {
                let ($ea, $eb) = (self.0, other.0);
                // SAFETY: see above.
                unsafe { $mask($less_equal) }
            }
            #[inline(always)]
            fn equal(self, other: Self) -> $mask {
                let ($qa, $qb) = (self.0, other.0);
                // SAFETY: see above.
                unsafe { $mask($equal) }
            }
            #[inline(always)]
            fn select(mask: $mask, yes: Self, no: Self) -> Self {
                let ($sm, $sy, $sn) = (mask.0, yes.0, no.0);
                // SAFETY: see above.
                unsafe { $float($select) }
            }
            #[inline(always)]
            fn is_nan(self) -> $mask {
                let ($ua, $ub) = (self.0, self.0);
                // SAFETY: see above.
                unsafe { $mask($unordered) }
            }
            #[inline(always)]
            fn rare(mask: $mask, usual: Self, slow: impl FnOnce() -> Self) -> Self {
                if mask.any() { Self::select(mask, slow(), usual) } else { usual }
            }
            #[inline(always)]
            fn any(mask: $mask) -> bool {
                mask.any()
            }
        }

        impl Vector for $float {
            type Element = $t;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(x: $t) -> Self {
                // SAFETY: see above.
                unsafe { $float($splat(x)) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: see above.
                unsafe { $float($load(from)) }
            }
            #[inline(always)]
            unsafe fn load_part($from: *const $t, $count: usize) -> Self {
                // SAFETY: see above.
                unsafe { $float($load_part) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: see above.
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $t) {
                // SAFETY: see above; the caller vouches for the alignment.
                unsafe { $stream(to, self.0) }
            }
            #[inline(always)]
            unsafe fn store_part(self, $to: *mut $t, $stored: usize) {
                let $value = self.0;
                // SAFETY: see above.
                unsafe { $store_part }
            }
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                // SAFETY: see above.
                unsafe { $float($fma(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                // SAFETY: see above.
                unsafe { $float($max(self.0, other.0)) }
            }
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                // SAFETY: see above.
                unsafe { $float($min(self.0, other.0)) }
            }
            #[inline(always)]
            fn ordered(self, other: Self) -> $mask {
                let ($oa, $ob) = (self.0, other.0);
                // SAFETY: see above.
                unsafe { $mask($ordered) }
            }
            #[inline(always)]
            fn first(mask: $mask) -> usize {
                let $fm = mask.0;
                // SAFETY: see above.
                #[allow(unused_unsafe)]
                unsafe { $first }
            }
            #[inline(always)]
            fn multiply_add(self, b: Self, c: Self) -> Self {
                self.fused(b, c)
            }
        }
    };
}
pub(super) use register;
