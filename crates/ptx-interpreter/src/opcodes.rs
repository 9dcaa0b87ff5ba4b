//! What instructions without effects compute, as tables: of an opcode the number of its sources and a
//! function of their bits. Registers hold bits extended by zeros to 64; a truth is 1 or 0.
//!
//! Floats are the host's, which IEEE 754 fixes: one rounding to nearest, ties to even, subnormals
//! kept. Only which NaN a result is differs from hardware.

use crate::LANES;
use half::f16;

/// A register of all lanes.
pub(crate) type Lanes = [u64; LANES];

/// A value of up to four sources, in every lane: those that do not take part are not looked at.
pub(crate) type Pure = fn(&mut Lanes, [&Lanes; 4]);

/// What is computed in one lane, as a loop over all that a compiler can make vectors of: a call for each
/// lane took most of the time of the tests.
macro_rules! each {
    (|$x:ident| $value:expr) => {
        |out: &mut Lanes, sources: [&Lanes; 4]| {
            for lane in 0..LANES {
                let $x = sources.map(|source| source[lane]);
                out[lane] = $value;
            }
        }
    };
}

/// An opcode, the number of its sources, what it computes.
type Row = (&'static str, usize, Pure);

/// Rows of a table for one width: integers without a sign, with one, the type names' bits.
macro_rules! integers {
    ($unsigned:ty, $signed:ty, $u:literal, $s:literal, $b:literal) => {
        [
            (
                concat!("add.", $s),
                2,
                each!(|x| { (x[0] as $unsigned).wrapping_add(x[1] as $unsigned) as u64 }),
            ),
            (
                concat!("sub.", $s),
                2,
                each!(|x| { (x[0] as $unsigned).wrapping_sub(x[1] as $unsigned) as u64 }),
            ),
            (
                concat!("mul.lo.", $s),
                2,
                each!(|x| { (x[0] as $unsigned).wrapping_mul(x[1] as $unsigned) as u64 }),
            ),
            (
                concat!("mad.lo.", $s),
                3,
                each!(|x| {
                    (x[0] as $unsigned)
                        .wrapping_mul(x[1] as $unsigned)
                        .wrapping_add(x[2] as $unsigned) as u64
                }),
            ),
            (
                concat!("mad.lo.", $u),
                3,
                each!(|x| {
                    (x[0] as $unsigned)
                        .wrapping_mul(x[1] as $unsigned)
                        .wrapping_add(x[2] as $unsigned) as u64
                }),
            ),
            // Of a division by zero all bits, of the least by -1 itself: the hardware's results.
            (
                concat!("div.", $u),
                2,
                each!(|x| {
                    (x[0] as $unsigned).checked_div(x[1] as $unsigned).unwrap_or(<$unsigned>::MAX)
                        as u64
                }),
            ),
            (
                concat!("rem.", $u),
                2,
                each!(|x| {
                    (x[0] as $unsigned).checked_rem(x[1] as $unsigned).unwrap_or(x[0] as $unsigned)
                        as u64
                }),
            ),
            (
                concat!("div.", $s),
                2,
                each!(|x| match x[1] as $signed {
                    0 => <$unsigned>::MAX as u64,
                    d => (x[0] as $signed).wrapping_div(d) as $unsigned as u64,
                }),
            ),
            (
                concat!("rem.", $s),
                2,
                each!(|x| match x[1] as $signed {
                    0 => x[0],
                    d => (x[0] as $signed).wrapping_rem(d) as $unsigned as u64,
                }),
            ),
            (concat!("min.", $u), 2, each!(|x| (x[0] as $unsigned).min(x[1] as $unsigned) as u64)),
            (concat!("max.", $u), 2, each!(|x| (x[0] as $unsigned).max(x[1] as $unsigned) as u64)),
            (
                concat!("min.", $s),
                2,
                each!(|x| { (x[0] as $signed).min(x[1] as $signed) as $unsigned as u64 }),
            ),
            (
                concat!("max.", $s),
                2,
                each!(|x| { (x[0] as $signed).max(x[1] as $signed) as $unsigned as u64 }),
            ),
            (
                concat!("abs.", $s),
                1,
                each!(|x| (x[0] as $signed).wrapping_abs() as $unsigned as u64),
            ),
            (
                concat!("neg.", $s),
                1,
                each!(|x| (x[0] as $signed).wrapping_neg() as $unsigned as u64),
            ),
            // Amounts above the width are the width.
            (
                concat!("shl.", $b),
                2,
                each!(|x| { (x[0] as $unsigned).checked_shl(x[1] as u32).unwrap_or(0) as u64 }),
            ),
            (
                concat!("shr.", $u),
                2,
                each!(|x| { (x[0] as $unsigned).checked_shr(x[1] as u32).unwrap_or(0) as u64 }),
            ),
            (
                concat!("shr.", $s),
                2,
                each!(|x| {
                    let amount = (x[1] as u32).min(<$unsigned>::BITS - 1);
                    ((x[0] as $signed) >> amount) as $unsigned as u64
                }),
            ),
            (concat!("and.", $b), 2, each!(|x| ((x[0] & x[1]) as $unsigned) as u64)),
            (concat!("or.", $b), 2, each!(|x| ((x[0] | x[1]) as $unsigned) as u64)),
            (concat!("xor.", $b), 2, each!(|x| ((x[0] ^ x[1]) as $unsigned) as u64)),
            (concat!("not.", $b), 1, each!(|x| (!x[0] as $unsigned) as u64)),
            (concat!("popc.", $b), 1, each!(|x| (x[0] as $unsigned).count_ones().into())),
            (concat!("clz.", $b), 1, each!(|x| (x[0] as $unsigned).leading_zeros().into())),
            (concat!("brev.", $b), 1, each!(|x| (x[0] as $unsigned).reverse_bits() as u64)),
            // All ones where there is no bit.
            (concat!("bfind.", $u), 1, each!(|x| top(x[0] as $unsigned as u64))),
            (
                concat!("bfind.", $s),
                1,
                each!(|x| {
                    let x = x[0] as $signed;
                    top((if x < 0 { !x } else { x }) as $unsigned as u64)
                }),
            ),
            (
                concat!("bfe.", $u),
                3,
                each!(|x| {
                    extract(x[0] as $unsigned as u64, x[1], x[2], <$unsigned>::BITS, false)
                        as $unsigned as u64
                }),
            ),
            (
                concat!("bfe.", $s),
                3,
                each!(|x| {
                    extract(x[0] as $unsigned as u64, x[1], x[2], <$unsigned>::BITS, true)
                        as $unsigned as u64
                }),
            ),
            (
                concat!("bfi.", $b),
                4,
                each!(|x| {
                    insert(x[0], x[1], x[2], x[3], <$unsigned>::BITS) as $unsigned as u64
                }),
            ),
            (
                concat!("setp.eq.", $u),
                2,
                each!(|x| (x[0] as $unsigned == x[1] as $unsigned).into()),
            ),
            (
                concat!("setp.ne.", $u),
                2,
                each!(|x| (x[0] as $unsigned != x[1] as $unsigned).into()),
            ),
            (
                concat!("setp.lt.", $u),
                2,
                each!(|x| ((x[0] as $unsigned) < x[1] as $unsigned).into()),
            ),
            (
                concat!("setp.le.", $u),
                2,
                each!(|x| (x[0] as $unsigned <= x[1] as $unsigned).into()),
            ),
            (concat!("setp.gt.", $u), 2, each!(|x| (x[0] as $unsigned > x[1] as $unsigned).into())),
            (
                concat!("setp.ge.", $u),
                2,
                each!(|x| (x[0] as $unsigned >= x[1] as $unsigned).into()),
            ),
            (concat!("setp.eq.", $s), 2, each!(|x| (x[0] as $signed == x[1] as $signed).into())),
            (concat!("setp.ne.", $s), 2, each!(|x| (x[0] as $signed != x[1] as $signed).into())),
            (concat!("setp.lt.", $s), 2, each!(|x| ((x[0] as $signed) < x[1] as $signed).into())),
            (concat!("setp.le.", $s), 2, each!(|x| (x[0] as $signed <= x[1] as $signed).into())),
            (concat!("setp.gt.", $s), 2, each!(|x| (x[0] as $signed > x[1] as $signed).into())),
            (concat!("setp.ge.", $s), 2, each!(|x| (x[0] as $signed >= x[1] as $signed).into())),
            (concat!("mov.", $b), 1, each!(|x| x[0] as $unsigned as u64)),
            (concat!("mov.", $u), 1, each!(|x| x[0] as $unsigned as u64)),
            (concat!("selp.", $b), 3, each!(|x| if x[2] != 0 { x[0] } else { x[1] })),
        ]
    };
}

/// Rows of a table for floats of one type; `of` and `bits` go from and to a register.
macro_rules! floats {
    ($name:literal, $of:expr, $bits:expr, $fused:expr, $root:expr) => {
        [
            (concat!("add.rn.", $name), 2, each!(|x| $bits($of(x[0]) + $of(x[1])))),
            (concat!("sub.rn.", $name), 2, each!(|x| $bits($of(x[0]) - $of(x[1])))),
            (concat!("mul.rn.", $name), 2, each!(|x| $bits($of(x[0]) * $of(x[1])))),
            (concat!("div.rn.", $name), 2, each!(|x| $bits($of(x[0]) / $of(x[1])))),
            (concat!("sqrt.rn.", $name), 1, each!(|x| $bits($root($of(x[0]))))),
            (
                concat!("fma.rn.", $name),
                3,
                each!(|x| $bits($fused($of(x[0]), $of(x[1]), $of(x[2])))),
            ),
            (concat!("setp.eq.", $name), 2, each!(|x| ($of(x[0]) == $of(x[1])).into())),
            (concat!("setp.neu.", $name), 2, each!(|x| ($of(x[0]) != $of(x[1])).into())),
            (concat!("setp.lt.", $name), 2, each!(|x| ($of(x[0]) < $of(x[1])).into())),
            (concat!("setp.le.", $name), 2, each!(|x| ($of(x[0]) <= $of(x[1])).into())),
            (concat!("setp.gt.", $name), 2, each!(|x| ($of(x[0]) > $of(x[1])).into())),
            (concat!("setp.ge.", $name), 2, each!(|x| ($of(x[0]) >= $of(x[1])).into())),
            (
                concat!("setp.num.", $name),
                2,
                each!(|x| { $of(x[0]).partial_cmp(&$of(x[1])).is_some().into() }),
            ),
            (concat!("selp.", $name), 3, each!(|x| if x[2] != 0 { x[0] } else { x[1] })),
        ]
    };
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn half(bits: u64) -> f16 {
    f16::from_bits(bits as u16)
}

fn single_bits(x: f32) -> u64 {
    x.to_bits().into()
}

fn double_bits(x: f64) -> u64 {
    x.to_bits()
}

fn half_bits(x: f16) -> u64 {
    x.to_bits().into()
}

const WORDS: &[Row] = &integers!(u32, i32, "u32", "s32", "b32");
const LONGS: &[Row] = &integers!(u64, i64, "u64", "s64", "b64");
const SINGLES: &[Row] = &floats!("f32", single, single_bits, f32::mul_add, f32::sqrt);
const DOUBLES: &[Row] = &floats!("f64", double, double_bits, f64::mul_add, f64::sqrt);
const OTHERS: &[Row] = &[
    ("mov.pred", 1, each!(|x| x[0])),
    ("mov.b16", 1, each!(|x| x[0] as u16 as u64)),
    ("selp.b16", 3, each!(|x| if x[2] != 0 { x[0] } else { x[1] })),
    ("and.b16", 2, each!(|x| (x[0] & x[1]) as u16 as u64)),
    ("xor.b16", 2, each!(|x| (x[0] ^ x[1]) as u16 as u64)),
    ("and.pred", 2, each!(|x| x[0] & x[1])),
    ("or.pred", 2, each!(|x| x[0] | x[1])),
    ("xor.pred", 2, each!(|x| x[0] ^ x[1])),
    ("not.pred", 1, each!(|x| x[0] ^ 1)),
    ("neg.f32", 1, each!(|x| x[0] ^ 1 << 31)),
    ("neg.f64", 1, each!(|x| x[0] ^ 1 << 63)),
    ("abs.f32", 1, each!(|x| x[0] & 0x7fff_ffff)),
    ("abs.f64", 1, each!(|x| x[0] & 0x7fff_ffff_ffff_ffff)),
    ("mul.wide.u32", 2, each!(|x| (x[0] as u32 as u64) * (x[1] as u32 as u64))),
    ("mul.wide.s32", 2, each!(|x| ((x[0] as i32 as i64) * (x[1] as i32 as i64)) as u64)),
    ("dp4a.u32.u32", 3, each!(|x| dot4(x, |byte| byte.into()))),
    ("dp4a.s32.s32", 3, each!(|x| dot4(x, |byte| (byte as i8).into()))),
    ("cvta.to.global.u64", 1, each!(|x| x[0])),
    ("cvt.u32.u64", 1, each!(|x| x[0] as u32 as u64)),
    ("cvt.u64.u32", 1, each!(|x| x[0] as u32 as u64)),
    ("cvt.s64.s32", 1, each!(|x| x[0] as i32 as i64 as u64)),
    ("cvt.u32.u16", 1, each!(|x| x[0] as u16 as u64)),
    ("cvt.u16.u32", 1, each!(|x| x[0] as u16 as u64)),
    ("cvt.f64.f32", 1, each!(|x| double_bits(single(x[0]).into()))),
    ("cvt.f64.f16", 1, each!(|x| double_bits(half(x[0]).into()))),
    ("cvt.f32.f16", 1, each!(|x| single_bits(half(x[0]).into()))),
    ("cvt.rn.f32.f64", 1, each!(|x| single_bits(double(x[0]) as f32))),
    ("cvt.rn.f16.f64", 1, each!(|x| half_bits(half_of(double(x[0]))))),
    ("cvt.rn.f16.f32", 1, each!(|x| half_bits(f16::from_f32(single(x[0]))))),
    ("cvt.rna.tf32.f32", 1, each!(|x| tf32(x[0] as u32).into())),
    // The first source is the upper half.
    ("cvt.rn.bf16x2.f32", 2, each!(|x| u64::from(bf16(x[0])) << 16 | u64::from(bf16(x[1])))),
    ("cvt.rn.f64.s32", 1, each!(|x| double_bits(x[0] as i32 as f64))),
    ("cvt.rn.f64.u32", 1, each!(|x| double_bits(x[0] as u32 as f64))),
    ("cvt.rn.f64.s64", 1, each!(|x| double_bits(x[0] as i64 as f64))),
    ("cvt.rn.f64.u64", 1, each!(|x| double_bits(x[0] as f64))),
    ("cvt.rn.f32.s32", 1, each!(|x| single_bits(x[0] as i32 as f32))),
    ("cvt.rn.f32.u32", 1, each!(|x| single_bits(x[0] as u32 as f32))),
    ("cvt.rn.f32.s64", 1, each!(|x| single_bits(x[0] as i64 as f32))),
    ("cvt.rn.f32.u64", 1, each!(|x| single_bits(x[0] as f32))),
    // A half has every power of two up to 2^15, so a double in between rounds integers of 32 bits once.
    ("cvt.rn.f16.s32", 1, each!(|x| half_bits(half_of(x[0] as i32 as f64)))),
    ("cvt.rn.f16.u32", 1, each!(|x| half_bits(half_of(x[0] as u32 as f64)))),
    // Integers of 64 bits are infinite as halves long before a double rounds them.
    ("cvt.rn.f16.s64", 1, each!(|x| half_bits(half_of(x[0] as i64 as f64)))),
    ("cvt.rn.f16.u64", 1, each!(|x| half_bits(half_of(x[0] as f64)))),
    // Clamped; of NaN 0 between 32 bits, else the bit of the sign.
    ("cvt.rzi.s32.f32", 1, each!(|x| single(x[0]) as i32 as u32 as u64)),
    ("cvt.rzi.u32.f32", 1, each!(|x| single(x[0]) as u32 as u64)),
    ("cvt.rzi.s64.f32", 1, each!(|x| whole(single(x[0]).is_nan(), single(x[0]) as i64 as u64, 64))),
    ("cvt.rzi.u64.f32", 1, each!(|x| whole(single(x[0]).is_nan(), single(x[0]) as u64, 64))),
    (
        "cvt.rzi.s32.f64",
        1,
        each!(|x| whole(double(x[0]).is_nan(), double(x[0]) as i32 as u32 as u64, 32)),
    ),
    ("cvt.rzi.u32.f64", 1, each!(|x| whole(double(x[0]).is_nan(), double(x[0]) as u32 as u64, 32))),
    ("cvt.rzi.s64.f64", 1, each!(|x| whole(double(x[0]).is_nan(), double(x[0]) as i64 as u64, 64))),
    ("cvt.rzi.u64.f64", 1, each!(|x| whole(double(x[0]).is_nan(), double(x[0]) as u64, 64))),
    ("cvt.rzi.s32.f16", 1, each!(|x| half(x[0]).to_f32() as i32 as u32 as u64)),
    ("cvt.rzi.u32.f16", 1, each!(|x| half(x[0]).to_f32() as u32 as u64)),
    (
        "cvt.rzi.s64.f16",
        1,
        each!(|x| whole(half(x[0]).is_nan(), half(x[0]).to_f32() as i64 as u64, 64)),
    ),
    ("cvt.rzi.u64.f16", 1, each!(|x| whole(half(x[0]).is_nan(), half(x[0]).to_f32() as u64, 64))),
    (
        "add.rn.f16",
        2,
        each!(|x| half_bits(f16::from_f32(half(x[0]).to_f32() + half(x[1]).to_f32()))),
    ),
    (
        "sub.rn.f16",
        2,
        each!(|x| half_bits(f16::from_f32(half(x[0]).to_f32() - half(x[1]).to_f32()))),
    ),
    (
        "mul.rn.f16",
        2,
        each!(|x| half_bits(f16::from_f32(half(x[0]).to_f32() * half(x[1]).to_f32()))),
    ),
    ("fma.rn.f16", 3, each!(|x| half_bits(fused_half(half(x[0]), half(x[1]), half(x[2]))))),
    ("setp.eq.f16", 2, each!(|x| (half(x[0]) == half(x[1])).into())),
    ("setp.neu.f16", 2, each!(|x| (half(x[0]) != half(x[1])).into())),
    ("setp.lt.f16", 2, each!(|x| (half(x[0]) < half(x[1])).into())),
    ("setp.le.f16", 2, each!(|x| (half(x[0]) <= half(x[1])).into())),
    ("setp.gt.f16", 2, each!(|x| (half(x[0]) > half(x[1])).into())),
    ("setp.ge.f16", 2, each!(|x| (half(x[0]) >= half(x[1])).into())),
    ("setp.num.f16", 2, each!(|x| half(x[0]).partial_cmp(&half(x[1])).is_some().into())),
];

/// The function of an opcode with so many sources.
pub(crate) fn pure(opcode: &str, sources: usize) -> Option<Pure> {
    let mut all = [WORDS, LONGS, SINGLES, DOUBLES, OTHERS].into_iter().flatten();
    all.find(|row| row.0 == opcode && row.1 == sources).map(|row| row.2)
}

/// The new value of an atomic operation that PTX has: source 0 is the old value, the others its operands.
pub(crate) fn exchange(name: &str, kind: &str, operands: usize) -> Option<Pure> {
    match (name, kind, operands) {
        ("exch", "b32" | "b64", 1) => Some(each!(|x| x[1])),
        ("cas", "b32" | "b64", 2) => Some(each!(|x| if x[0] == x[1] { x[2] } else { x[0] })),
        // Sums have one name for both signs, of 64 bits only that without.
        ("add", "u32" | "s32", 1) => pure("add.s32", 2),
        ("add", "u64", 1) => pure("add.s64", 2),
        ("and" | "or" | "xor", "b32" | "b64", 1)
        | ("min" | "max", "u32" | "s32" | "u64" | "s64", 1) => pure(&format!("{name}.{kind}"), 2),
        _ => None,
    }
}

/// Floating-point operations of an opcode.
pub(crate) fn flops(opcode: &str) -> u64 {
    let mut parts = opcode.split('.');
    let rounded = opcode.contains(".rn.f") && !opcode.starts_with("cvt");
    match parts.next() {
        Some("fma") => 2,
        Some("add" | "sub" | "mul" | "div" | "sqrt") if rounded => 1,
        _ => 0,
    }
}

/// To nearest with 10 bits after the point, ties away from zero; the low 13 bits are zeros.
fn tf32(bits: u32) -> u32 {
    match f32::from_bits(bits).is_nan() {
        true => 0x7fff_ffff,
        false => bits.wrapping_add(0x1000) & 0xffff_e000,
    }
}

fn bf16(bits: u64) -> u16 {
    half::bf16::from_f32(single(bits)).to_bits()
}

fn top(x: u64) -> u64 {
    if x == 0 { u32::MAX.into() } else { (63 - x.leading_zeros()).into() }
}

/// `count` bits of x from `at`; above the width stand zeros, or the sign of the last bit taken.
fn extract(x: u64, at: u64, count: u64, width: u32, signed: bool) -> u64 {
    let (at, count) = (at as u8 as u32, count as u8 as u32);
    let bit = |i: u32| if i < width { x >> i & 1 } else { 0 };
    let last = if count == 0 { 0 } else { bit((at + count - 1).min(width - 1)) };
    let sign = if signed && count > 0 { last } else { 0 };
    (0..width).fold(0, |result, i| {
        let inside = i < count && at + i < width;
        result | (if inside { bit(at + i) } else { sign }) << i
    })
}

/// y with `count` bits from `at` on replaced by the low ones of x.
fn insert(x: u64, y: u64, at: u64, count: u64, width: u32) -> u64 {
    let (at, count) = (at as u8 as u32, count as u8 as u32);
    (0..count).take_while(|i| at + i < width).fold(y, |y, i| {
        let place = at + i;
        (y & !(1 << place)) | (x >> i & 1) << place
    })
}

fn dot4(x: [u64; 4], part: fn(u8) -> i64) -> u64 {
    let [a, b] = [x[0], x[1]].map(|word| (word as u32).to_le_bytes());
    let sum: i64 = a.iter().zip(b).map(|(a, b)| part(*a) * part(b)).sum();
    (x[2] as u32).wrapping_add(sum as u32).into()
}

fn whole(nan: bool, value: u64, width: u32) -> u64 {
    if nan { 1 << (width - 1) } else { value }
}

/// The half nearest to a double, rounded once: to odd as a single, whose 24 bits then round to 11 as the
/// double itself would. (`f16::from_f64` rounds twice, or forgets the low word.)
fn half_of(x: f64) -> f16 {
    let nearest = x as f32;
    let odd = odd(nearest.to_bits().into(), x - f64::from(nearest), x > 0.0);
    f16::from_f32(single(odd))
}

/// Rounded to odd as a double, whose 53 bits then round to 11 as the exact sum would.
fn fused_half(a: f16, b: f16, c: f16) -> f16 {
    let (product, c) = (f64::from(a) * f64::from(b), f64::from(c));
    let sum = product + c;
    let part = sum - product;
    let error = (product - (sum - part)) + (c - part);
    half_of(double(odd(sum.to_bits(), error, sum > 0.0)))
}

/// The bits of a rounded number whose exact value is `error` away, of the two around that the odd ones.
fn odd(bits: u64, error: f64, positive: bool) -> u64 {
    match error.abs() > 0.0 && bits & 1 == 0 {
        true if (error > 0.0) == positive => bits + 1,
        true => bits - 1,
        false => bits,
    }
}
