//! What stands between lanes, in memory and in a text: shuffles, votes and atomic operations by cases from
//! the PTX ISA manual, halves and singles against sums and products that are exact in a wider type, and
//! texts that are not well formed, each of which is a fault.

use half::f16;
use rung_ptx_interpreter::{Program, launch};

/// A kernel of one group over b0, of which every invocation has 8 words; %r0 is its number, %d1 its place.
fn text(group: u32, body: &str) -> String {
    format!(
        ".version 6.3\n.visible .entry main(\n.param .u64 b0,\n.param .u64 n0,\n\
         .param .align 16 .b8 parameters[256]\n)\n.maxntid {group}, 1, 1\n{{\n.reg .pred %p<8>;\n\
         .reg .b16 %h<8>;\n.reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.reg .f32 %f<8>;\n.reg .f64 %g<8>;\n\
         mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 32;\nld.param.u64 %d1, [b0];\n\
         add.s64 %d1, %d1, %d0;\n{body}\nret;\n}}\n"
    )
}

/// The words of all invocations after a run from these.
fn ran(group: u32, body: &str, words: &[[u32; 8]]) -> Result<Vec<[u32; 8]>, String> {
    let program = Program::parse(&text(group, body)).map_err(|fault| fault.0)?;
    let mut bytes: Vec<u8> = words.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(32 * group as usize, 0);
    let mut buffers = [bytes];
    let short = |fault: &str| fault.split(" (line").next().unwrap_or("").to_string();
    launch(&program, [1, 1, 1], &mut buffers, &[]).map_err(|fault| short(&fault.0))?;
    let word = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    let one = |bytes: &[u8]| std::array::from_fn(|i| word(&bytes[4 * i..4 * i + 4]));
    Ok(buffers[0].chunks(32).map(one).collect())
}

fn fault(body: &str) -> String {
    ran(32, body, &[]).err().unwrap_or("none".into())
}

/// The lane that each of 32 reads from, and whether it is in bounds.
fn lanes(shuffle: &str) -> (Vec<u32>, Vec<bool>) {
    let body =
        format!("{shuffle}\nselp.b32 %r2, 1, 0, %p1;\nst.global.v2.u32 [%d1], {{%r1, %r2}};");
    let words = ran(32, &body, &[]).unwrap();
    words.iter().map(|word| (word[0], word[1] == 1)).unzip()
}

/// "Exchange register data within threads of warp", with the manual's rule for every lane.
#[test]
fn shuffles_honour_bounds_and_segments() {
    let shuffle = |mode: &str, by: u32, c: u32| {
        lanes(&format!("shfl.sync.{mode}.b32 %r1|%p1, %r0, {by}, {c}, 0xffffffff;"))
    };
    let at = |lanes: &(Vec<u32>, Vec<bool>), lane: usize| (lanes.0[lane], lanes.1[lane]);
    // Whole warps: c is 31 but for `up`, where it is 0.
    let up = shuffle("up", 3, 0);
    assert_eq!([at(&up, 2), at(&up, 3), at(&up, 31)], [(2, false), (0, true), (28, true)]);
    let down = shuffle("down", 3, 31);
    assert_eq!([at(&down, 0), at(&down, 28), at(&down, 29)], [(3, true), (31, true), (29, false)]);
    assert_eq!(at(&shuffle("bfly", 9, 31), 20), (29, true));
    assert_eq!(at(&shuffle("idx", 37, 31), 20), (5, true));
    // Segments of eight: the mask of c is 24.
    let up = shuffle("up", 3, 24 << 8);
    assert_eq!([at(&up, 10), at(&up, 11), at(&up, 16)], [(10, false), (8, true), (16, false)]);
    let down = shuffle("down", 3, 24 << 8 | 7);
    assert_eq!(
        [at(&down, 12), at(&down, 13), at(&down, 31)],
        [(15, true), (13, false), (31, false)]
    );
    let index = shuffle("idx", 5, 24 << 8 | 7);
    assert_eq!(
        [at(&index, 3), at(&index, 17), at(&index, 24)],
        [(5, true), (21, true), (29, true)]
    );
    // A bound inside the segment.
    let index = shuffle("idx", 5, 24 << 8 | 4);
    assert_eq!(at(&index, 17), (17, false));
    let across = shuffle("bfly", 8, 24 << 8 | 7);
    // The lanes of later segments are out of bounds, those of earlier ones are not.
    assert_eq!([at(&across, 20), at(&across, 8)], [(20, false), (0, true)]);
    // A bound of `up` is the least lane; distances are taken modulo 32.
    assert_eq!(at(&shuffle("up", 33, 4), 4), (4, false));
    assert_eq!(at(&shuffle("up", 33, 4), 5), (4, true));
}

#[test]
fn votes_count_the_lanes_that_take_part() {
    let vote = |mode: &str, to: &str, bound: u32| {
        let body = format!(
            "setp.lt.u32 %p1, %r0, {bound};\nvote.sync.{mode} {to}, %p1, 0xffffffff;\n\
             selp.b32 %r2, 1, 0, %p2;\nst.global.u32 [%d1], {};",
            if to == "%r1" { "%r1" } else { "%r2" }
        );
        let body = if to == "%r1" { body.replace("selp.b32 %r2, 1, 0, %p2;\n", "") } else { body };
        let words = ran(32, &body, &[]).unwrap();
        assert!(words.iter().all(|word| word[0] == words[0][0]));
        words[0][0]
    };
    assert_eq!([32, 31, 0].map(|bound| vote("all.pred", "%p2", bound)), [1, 0, 0]);
    assert_eq!([32, 1, 0].map(|bound| vote("any.pred", "%p2", bound)), [1, 1, 0]);
    assert_eq!([32, 5, 0].map(|bound| vote("ballot.b32", "%r1", bound)), [u32::MAX, 0x1f, 0]);
    // The lanes of a smaller group, or of one side of a branch.
    let half = "setp.ne.u32 %p1, %r0, 3;\nvote.sync.ballot.b32 %r1, %p1, 0xffff;\nst.global.u32 [%d1], %r1;";
    assert_eq!(ran(16, half, &[]).unwrap()[9][0], 0xfff7);
    let side = "setp.lt.u32 %p1, %r0, 8;\n@!%p1 bra $L0;\nvote.sync.all.pred %p2, %p1, 0xff;\n\
        selp.b32 %r1, 7, 0, %p2;\nst.global.u32 [%d1], %r1;\n$L0:";
    assert_eq!(
        ran(32, side, &[]).unwrap()[..9].iter().map(|w| w[0]).collect::<Vec<u32>>(),
        [7, 7, 7, 7, 7, 7, 7, 7, 0]
    );
}

#[test]
fn a_warp_s_operation_wants_the_lanes_that_it_names() {
    assert_eq!(
        fault("vote.sync.any.pred %p1, %p1, 0xff;"),
        "a warp's operation of the lanes 0xff with the lanes 0xffffffff alone"
    );
    let side = "setp.lt.u32 %p1, %r0, 8;\n@%p1 shfl.sync.idx.b32 %r1, %r0, 2, 31, 0xffffffff;";
    assert_eq!(fault(side), "a warp's operation of the lanes 0xffffffff with the lanes 0xff alone");
    let side = "setp.lt.u32 %p1, %r0, 8;\n@%p1 shfl.sync.down.b32 %r1, %r0, 2, 31, 0xff;";
    assert_eq!(fault(side), "lane 6 reads lane 8, which takes no part");
}

/// Every operation that PTX has, once in each of 32 lanes on one place; the least old value is the first.
#[test]
fn atomic_operations() {
    let after = |name: &str, operands: &str, first: u64| {
        let wide = name.ends_with("64");
        let (old, held) = if wide { ("%d3", "u64") } else { ("%r3", "u32") };
        let body = format!(
            "ld.param.u64 %d1, [b0];\nadd.s32 %r1, %r0, 1;\ncvt.u64.u32 %d2, %r1;\n\
             atom.relaxed.gpu.global.{name} {old}, [%d1], {operands};\n\
             setp.eq.u32 %p1, %r0, 31;\n@%p1 st.global.{held} [%d1+8], {old};"
        );
        let words = [[first as u32, (first >> 32) as u32, 0, 0, 0, 0, 0, 0]];
        let got = ran(32, &body, &words).unwrap()[0];
        let pair = |i: usize| u64::from(got[i]) | u64::from(got[i + 1]) << 32;
        (pair(0), pair(2))
    };
    let minus = |x: i64| x as u64;
    assert_eq!(after("add.u32", "%r1", 5), (5 + 528, 5 + 496));
    assert_eq!(after("add.s32", "%r1", 5), (5 + 528, 5 + 496));
    assert_eq!(after("add.u64", "%d2", 0xffff_fff0), (0xffff_fff0 + 528, 0xffff_fff0 + 496));
    assert_eq!(after("and.b32", "%r1", 0xf0), (0, 0));
    assert_eq!(after("or.b32", "%r1", 0x40), (0x7f, 0x5f));
    assert_eq!(after("xor.b32", "%r1", 0), (32, 0));
    assert_eq!(after("min.u32", "%r1", 9), (1, 1));
    assert_eq!(after("max.u32", "%r1", 9), (32, 31));
    assert_eq!(after("min.s32", "%r1", 0xffff_fffe), (0xffff_fffe, 0xffff_fffe));
    assert_eq!(after("max.s32", "%r1", 0xffff_fffe), (32, 31));
    assert_eq!(after("exch.b32", "%r1", 7), (32, 31));
    assert_eq!(after("cas.b32", "%r1, 90", 3), (90, 90));
    assert_eq!(after("cas.b32", "7, 90", 3), (3, 3));
    assert_eq!(after("and.b64", "%d2", 0xf0 << 32), (0, 0));
    assert_eq!(after("or.b64", "%d2", 1 << 40), (1 << 40 | 63, 1 << 40 | 31));
    assert_eq!(after("xor.b64", "%d2", 1 << 40), (1 << 40 | 32, 1 << 40));
    assert_eq!(after("min.u64", "%d2", 1 << 40), (1, 1));
    assert_eq!(after("max.u64", "%d2", 1 << 40), (1 << 40, 1 << 40));
    assert_eq!(after("min.s64", "%d2", minus(-5)), (minus(-5), minus(-5)));
    assert_eq!(after("max.s64", "%d2", minus(-5)), (32, 31));
    assert_eq!(after("exch.b64", "%d2", 1 << 40), (32, 31));
    assert_eq!(after("cas.b64", "%d2, 90", 3), (90, 90));
    // A high word is a part of what is compared.
    assert_eq!(after("cas.b64", "%d2, 90", 1 << 40 | 3), (1 << 40 | 3, 1 << 40 | 3));
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// What an instruction makes of operands in 32 lanes at a time.
fn results(body: &str, operands: &[[u32; 3]]) -> Vec<u32> {
    let body = format!(
        "ld.global.v2.u32 {{%r4, %r5}}, [%d1];\nld.global.u32 %r6, [%d1+8];\n{body}\nst.global.u32 [%d1], %r3;"
    );
    let words: Vec<[u32; 8]> =
        operands.iter().map(|[a, b, c]| [*a, *b, *c, 0, 0, 0, 0, 0]).collect();
    words
        .chunks(32)
        .flat_map(|words| ran(words.len() as u32, &body, words).unwrap())
        .map(|words| words[0])
        .collect()
}

/// Singles, of which every third is subnormal or near it and every third has few bits, so that results
/// cancel and meet ties.
#[test]
fn random_singles_agree_with_the_host() {
    let mut random = Random(0x51e5);
    let mut single = |i: usize| match (random.next() >> 32) as u32 {
        bits if i.is_multiple_of(3) => bits & 0x83ff_ffff,
        bits if i % 3 == 1 => bits & 0xc3f0_0001 | 0x3c00_0000,
        bits => bits,
    };
    let operands: Vec<[u32; 3]> = (0..1536).map(|i| [0; 3].map(|_| single(i))).collect();
    // Of doubles the sum, product, quotient and root of two singles round to the same single (S. Figueroa, When
    // is double rounding innocuous?, 1995), and the host's own fused step is another text than its product.
    type Host = fn([f64; 3]) -> f32;
    let cases: [(&str, Host); 5] = [
        ("add.rn.f32 %f0, %f4, %f5;", |[a, b, _]| (a + b) as f32),
        ("sub.rn.f32 %f0, %f4, %f5;", |[a, b, _]| (a - b) as f32),
        ("mul.rn.f32 %f0, %f4, %f5;", |[a, b, _]| (a * b) as f32),
        ("div.rn.f32 %f0, %f4, %f5;", |[a, b, _]| (a / b) as f32),
        ("sqrt.rn.f32 %f0, %f4;", |[a, ..]| a.sqrt() as f32),
    ];
    let same = |got: u32, want: f32| {
        got == want.to_bits() || (f32::from_bits(got).is_nan() && want.is_nan())
    };
    let moves = "mov.b32 %f4, %r4;\nmov.b32 %f5, %r5;\nmov.b32 %f6, %r6;\n";
    for (text, host) in cases {
        let got = results(&format!("{moves}{text}\nmov.b32 %r3, %f0;"), &operands);
        for (x, got) in operands.iter().zip(got) {
            let want = host(x.map(|x| f32::from_bits(x).into()));
            assert!(same(got, want), "{text} of {x:x?}: {got:x}, host {want:e}");
        }
    }
    let got =
        results(&format!("{moves}fma.rn.f32 %f0, %f4, %f5, %f6;\nmov.b32 %r3, %f0;"), &operands);
    for (x, got) in operands.iter().zip(got) {
        let [a, b, c] = x.map(f32::from_bits);
        assert!(same(got, a.mul_add(b, c)), "fma of {x:x?}: {got:x}");
    }
}

/// Halves are whole multiples of 2^-24, so that sums and products are whole numbers of 2^-24 and 2^-48: the
/// nearest half is found by comparing whole numbers, with no rounding in between.
#[test]
fn random_halves_agree_with_whole_numbers() {
    let mut random = Random(0xa1f);
    let mut half = |i: usize| match random.next() as u32 >> 16 {
        bits if i.is_multiple_of(3) => bits & 0x83ff,
        bits if i % 3 == 1 => bits & 0xbc03,
        bits if bits & 0x7c00 == 0x7c00 => bits & 0xbfff,
        bits => bits,
    };
    let mut operands: Vec<[u32; 3]> = (0..1536).map(|i| [0; 3].map(|_| half(i))).collect();
    // A tie of the product that only the least bit of c decides: 2049/2048 is a tie, 2^-24 above and below.
    operands.extend([
        [0x3c00, 0x3c01, 0x1000],
        [0x3c01, 0x3c01, 1],
        [0x3c01, 0x3c01, 0x8001],
        [0x6801, 0x3c01, 1],
        [0x6801, 0x3c01, 0x8001],
        [0x7bff, 0x3c00, 0x4c00],
        [0x7bff, 0x3c00, 0x4bff],
    ]);
    type Host = fn([i128; 3]) -> i128;
    // Numbers of 2^-48.
    let cases: [(&str, Host); 4] = [
        ("add.rn.f16 %h0, %h4, %h5;", |[a, b, _]| (a + b) << 24),
        ("sub.rn.f16 %h0, %h4, %h5;", |[a, b, _]| (a - b) << 24),
        ("mul.rn.f16 %h0, %h4, %h5;", |[a, b, _]| a * b),
        ("fma.rn.f16 %h0, %h4, %h5, %h6;", |[a, b, c]| a * b + (c << 24)),
    ];
    let moves = "cvt.u16.u32 %h4, %r4;\ncvt.u16.u32 %h5, %r5;\ncvt.u16.u32 %h6, %r6;\n";
    for (text, host) in cases {
        let got = results(&format!("{moves}{text}\ncvt.u32.u16 %r3, %h0;"), &operands);
        for (x, got) in operands.iter().zip(got) {
            let exact = host(x.map(units));
            let want = nearest(exact.unsigned_abs());
            assert_eq!(got & 0x7fff, want, "{text} of {x:x?}: {got:x}");
            assert!(exact == 0 || (got >> 15 == 1) == (exact < 0), "the sign of {text} of {x:x?}");
        }
    }
}

/// A half as a number of 2^-24.
fn units(bits: u32) -> i128 {
    let (exponent, fraction) = (bits >> 10 & 31, i128::from(bits & 0x3ff));
    let size = if exponent == 0 { fraction } else { (fraction | 0x400) << (exponent - 1) };
    if bits >> 15 == 1 { -size } else { size }
}

/// The bits of the half nearest to a number of 2^-48, ties to the even one: above the greatest half the
/// next power of two would be, and is infinity.
fn nearest(exact: u128) -> u32 {
    let value = |bits: u32| (units(bits) as u128) << 24;
    // The greatest half that is not above it; 0x7c00 is 2^16, as `units` reads it.
    let below = (0..=0x7c00u32).collect::<Vec<_>>().partition_point(|bits| value(*bits) <= exact)
        as u32
        - 1;
    if below >= 0x7c00 {
        return 0x7c00;
    }
    let (down, up) = (exact - value(below), value(below + 1) - exact);
    if down < up || (down == up && below & 1 == 0) { below } else { below + 1 }
}

/// Conversions of doubles to halves round once, whatever the low bits are.
#[test]
fn random_doubles_become_halves_and_singles() {
    let mut random = Random(0xd0);
    for i in 0..400 {
        let near = f64::from(f16::from_bits((random.next() % 0x7bff) as u16));
        let step = f64::from(f16::from_bits(near_bits(near) + 1)) - near;
        // A tie, and the doubles next to it.
        let tie = near + step / 2.0;
        let x =
            f64::from_bits(tie.to_bits().wrapping_add([0, 1, u64::MAX, random.next() % 99][i % 4]));
        let body = "mov.b64 %g0, {%r4, %r5};\ncvt.rn.f16.f64 %h0, %g0;\ncvt.u32.u16 %r3, %h0;";
        let got = results(body, &[[x.to_bits() as u32, (x.to_bits() >> 32) as u32, 0]])[0];
        // Every x below 2^17 is a whole number of 2^-76.
        let exact = (x * 2f64.powi(48)).floor() as u128 * 2;
        let rest = u128::from((x * 2f64.powi(48)).fract() > 0.0);
        let doubled = |bits: u32| (units(bits) as u128) << 25;
        let (below, up) = (near_bits(near).into(), u32::from(near_bits(near)) + 1);
        let middle = (doubled(below) + doubled(up)) / 2;
        let want = match (exact + rest).cmp(&middle) {
            std::cmp::Ordering::Less => below,
            std::cmp::Ordering::Greater => up,
            std::cmp::Ordering::Equal => below + (below & 1),
        };
        assert_eq!(got, want, "{x:e}");
    }
}

fn near_bits(x: f64) -> u16 {
    f16::from_f32(x as f32).to_bits()
}

/// Operands that are missing, too many or of no such kind; none ends the process.
#[test]
fn what_is_not_well_formed_is_a_fault() {
    for instruction in [
        "bra",
        "bra $L9",
        "ret %r1",
        "bar.sync",
        "bar.sync 1",
        "bar.red.popc.u32 %r1, 0, %p1",
        "mov.b32",
        "mov.b32 %r1",
        "mov.u32 %r1, {%r2}",
        "mov.b64 %d1, {%r1}",
        "mov.b64 {%r1}, %d1",
        "mov.b64 {%r1, %r2, %r3}, %d1",
        "mov.b64 {",
        "add.s32 %r1, %r2",
        "add.s32",
        "add.s32 %r1, %r2, %r99",
        "add.s32 %r1, %r2, 1x",
        "add.s32 r, 1, 2",
        "ld.global.u32",
        "ld.global.u32 %r1",
        "ld.global.u32 %r1, []",
        "ld.global.u32 %r1, %d1",
        "ld.global.u32 %r1, [%d1+]",
        "ld.global.u32 %r1, [é]",
        "ld.global. %r1, [%d1]",
        "ld.global.u128 %d3, [%d1]",
        "ld.global.u12 %r1, [%d1]",
        "ld.u32 %r1, [%d1]",
        "ld.global.v2.u32 %r1, [%d1]",
        "ld.global.v4.u32 {%r1, %r2}, [%d1]",
        "ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%d1]",
        "ld.global.v8.u32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d1]",
        "st.param.u32 [parameters], %r0",
        "st.global.u32 [%d1], {%r0, %r1}",
        "atom",
        "atom.u32 %r1",
        "atom.global.add.u32 %r1, [%d1]",
        "atom.global.sub.u32 %r1, [%d1], 1",
        "atom.global.add.s64 %d3, [%d1], 1",
        "atom.global.shl.b32 %r1, [%d1], 1",
        "atom.global.cas.b32 %r1, [%d1], 1",
        "atom.global.add.u32 %r1, [%d1], 1, 2",
        "atom.local.add.u32 %r1, [%r1], 1",
        "shfl",
        "shfl.sync.idx.b32 %r1",
        "shfl.sync.idx.b32 %r1, %r0, 1, 31",
        "shfl.sync.idx.b64 %d1, %d1, 1, 31, 0xffffffff",
        "shfl.sync.idx.b32 %r1|, %r0, 1, 31, 0xffffffff",
        "vote.sync.ballot.b32 %r1",
        "vote.sync.uni.pred %p1, %p1, 0xffffffff",
        "mma.sync %r1",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0}, {%r0}, {%r1}, {%f1}",
        "@%p1",
        "@%p9 ret",
        "@ret",
        "fence.proxy.async",
    ] {
        let read = Program::parse(&text(32, &format!("{instruction};")));
        assert!(
            read.is_err_and(|fault| fault.0.contains(instruction.trim_start_matches('@'))),
            "{instruction}"
        );
    }
    for directive in [
        ".reg",
        ".reg .b32",
        ".reg .b32 %r",
        ".reg .b32 %r<x>;",
        ".reg .b32 %r<99999999999>;",
        ".shared .align 16 .b8",
        ".shared .align 16 .b8 tile;",
        ".local .align 16 .b8 s[2000000];",
        ".global .align 16 .b128 t[1] = {0x1};",
        ".global .align 16 .b32 t[1];",
        ".global .align 16 .b32 t[1] = {};",
        ".param",
        ".param .u64",
        ".maxntid 0, 1, 1",
        ".maxntid 65536, 65536, 65536",
        ".maxntid x",
        ".maxnreg 8",
    ] {
        let read = Program::parse(&text(32, "").replace("{\n", &format!("{{\n{directive}\n")));
        assert!(read.is_err(), "{directive}");
    }
    let program = Program::parse(&text(1, "")).unwrap();
    let fault = launch(&program, [1, 1, 1], &mut [vec![0; 32]], &[0; 65]).unwrap_err();
    assert_eq!(fault.0, "64 words of parameters are the most, 65 came");
    assert_eq!(
        launch(&program, [1, 1, 1], &mut [], &[]).unwrap_err().0,
        "1 buffers are wanted, 0 came"
    );
}
