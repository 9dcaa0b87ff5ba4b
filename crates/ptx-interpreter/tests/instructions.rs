//! Instructions by cases worked out by hand from the PTX ISA manual's descriptions, and by random
//! operands against the host; and every fault that an access can be.

use rung_ptx_interpreter::{Program, launch};

/// A kernel over buffers b0 (read) and b1 (written), one invocation an element of 8 bytes.
fn kernel(group: u32, buffers: usize, body: &str) -> Program {
    let names = |letter: &str| -> String {
        (0..buffers).map(|i| format!(".param .u64 {letter}{i},\n")).collect()
    };
    let text = format!(
        ".version 6.3\n.shared .align 16 .b8 group0[256];\n.shared .align 16 .b8 group1[16];\n\
         .visible .entry main(\n{}{}.param .align 16 .b8 parameters[256]\n)\n.maxntid {group}, 1, 1\n\
         {{\n.local .align 16 .b8 stack[16];\n.reg .pred %p<8>;\n.reg .b16 %h<8>;\n\
         .reg .b32 %r<16>;\n.reg .b64 %d<16>;\n.reg .f32 %f<8>;\n.reg .f64 %g<8>;\n{body}\nret;\n}}\n",
        names("b"),
        names("n")
    );
    Program::parse(&text).unwrap()
}

/// %d0 = 8 * invocation, %d1 = b0 + %d0, %d2 = b1 + %d0.
const PLACES: &str = "mov.u32 %r0, %tid.x;\nmul.wide.u32 %d0, %r0, 8;\n\
    ld.param.u64 %d1, [b0];\nadd.s64 %d1, %d1, %d0;\nld.param.u64 %d2, [b1];\nadd.s64 %d2, %d2, %d0;\n";

/// What `body` makes of operands: it reads up to four from [%d1], 8 bytes each and one element apart
/// for every invocation, and leaves a value in %d3.
fn computed(body: &str, operands: &[[u64; 4]]) -> Vec<u64> {
    let load: String =
        (0..4).map(|i| format!("ld.global.u64 %d{}, [%d1+{}];\n", 4 + i, 8 * i)).collect();
    let places = PLACES.replace("%d0, %r0, 8", "%d0, %r0, 32");
    let text = format!("{places}{load}{body}\nst.global.u64 [%d2], %d3;");
    let bytes = |words: &mut dyn Iterator<Item = u64>| -> Vec<u8> {
        words.flat_map(u64::to_le_bytes).collect()
    };
    let mut results = Vec::new();
    for chunk in operands.chunks(64) {
        let program = kernel(chunk.len() as u32, 2, &text);
        let input = bytes(&mut chunk.iter().flatten().copied());
        let mut buffers = [input, vec![0; 32 * chunk.len()]];
        launch(&program, [1, 1, 1], &mut buffers, &[]).unwrap();
        let word = |b: &[u8]| u64::from_le_bytes(b.try_into().unwrap());
        results.extend(buffers[1].chunks(32).map(|b| word(&b[..8])));
    }
    results
}

/// One instruction on 32-bit operands.
fn words(opcode: &str, operands: &[u32]) -> u32 {
    let mut all = [0; 4];
    for (x, y) in all.iter_mut().zip(operands) {
        *x = u64::from(*y);
    }
    let narrow: String =
        (0..operands.len()).map(|i| format!("cvt.u32.u64 %r{}, %d{};\n", 4 + i, 4 + i)).collect();
    let list: Vec<String> = (0..operands.len()).map(|i| format!("%r{}", 4 + i)).collect();
    let body = format!("{narrow}{opcode} %r3, {};\ncvt.u64.u32 %d3, %r3;", list.join(", "));
    computed(&body, &[all])[0] as u32
}

/// The manual's rules, each with operands at its edge.
#[test]
fn integers_by_the_manual() {
    // "Shift amounts greater than the register width N are clamped to N."
    assert_eq!(words("shl.b32", &[1, 32]), 0);
    assert_eq!(words("shl.b32", &[1, 31]), 0x8000_0000);
    assert_eq!(words("shr.u32", &[0x8000_0000, 40]), 0);
    assert_eq!(words("shr.s32", &[0x8000_0000, 40]), u32::MAX);
    assert_eq!(words("mad.lo.u32", &[0x10000, 0x10001, 5]), 0x10005);
    // "bfind returns 0xffffffff if no non-sign bit is found."
    assert_eq!(words("bfind.u32", &[0]), u32::MAX);
    assert_eq!(words("bfind.u32", &[0x10]), 4);
    assert_eq!(words("bfind.s32", &[0xffff_ffef]), 4);
    assert_eq!(words("bfind.s32", &[u32::MAX]), u32::MAX);
    // bfe takes the sign of the last bit of the field; bits above the register read as it or as zero.
    assert_eq!(words("bfe.u32", &[0x1234_5678, 8, 8]), 0x56);
    assert_eq!(words("bfe.s32", &[0x0000_0080, 4, 4]), 0xffff_fff8);
    assert_eq!(words("bfe.s32", &[0x8000_0000, 28, 8]), 0xffff_fff8);
    assert_eq!(words("bfe.u32", &[u32::MAX, 0, 0]), 0);
    // bfi f, a, b, c, d: bits of a into b.
    assert_eq!(words("bfi.b32", &[0xff, 0, 4, 8]), 0xff0);
    assert_eq!(words("bfi.b32", &[0, u32::MAX, 28, 8]), 0x0fff_ffff);
    assert_eq!(words("brev.b32", &[1]), 0x8000_0000);
    assert_eq!(
        [words("clz.b32", &[0]), words("clz.b32", &[1]), words("popc.b32", &[7])],
        [32, 31, 3]
    );
    assert_eq!(words("rem.s32", &[-7i32 as u32, 3]), -1i32 as u32);
    assert_eq!(words("dp4a.s32.s32", &[0x01ff_0203, 0x0102_0304, 10]), 10 + 1 - 2 + 6 + 12);
    assert_eq!(words("dp4a.u32.u32", &[0x00ff_0000, 0x00ff_0000, 0]), 255 * 255);
    assert_eq!(words("min.s32", &[u32::MAX, 1]), u32::MAX);
    assert_eq!(words("max.u32", &[u32::MAX, 1]), u32::MAX);
}

#[test]
fn floats_are_rounded_once_and_keep_subnormals() {
    let f = |opcode: &str, x: &[f32]| {
        let x: Vec<u32> = x.iter().map(|x| x.to_bits()).collect();
        f32::from_bits(words(opcode, &x))
    };
    // Between two singles: ties go to the even one.
    assert_eq!(f("add.rn.f32", &[16_777_216.0, 1.0]), 16_777_216.0);
    assert_eq!(f("add.rn.f32", &[16_777_218.0, 1.0]), 16_777_220.0);
    assert_eq!(f("mul.rn.f32", &[1e-20, 1e-20]).to_bits(), (1e-40f32).to_bits());
    // (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, which a rounded product has lost.
    let x = 1.0 + 2f32.powi(-12);
    let y = -(1.0 + 2f32.powi(-11));
    assert_eq!(f("fma.rn.f32", &[x, x, y]), 2f32.powi(-24));
    assert_eq!(f("div.rn.f32", &[1.0, 3.0]).to_bits(), 0x3eaa_aaab);
    assert_eq!(f("sqrt.rn.f32", &[2.0]).to_bits(), 0x3fb5_04f3);
    assert_eq!(f("neg.f32", &[0.0]).to_bits(), 0x8000_0000);
}

#[test]
fn conversions_clamp_and_give_what_the_manual_says_of_nan() {
    let to = |opcode: &str, x: f32| words(opcode, &[x.to_bits()]);
    assert_eq!(to("cvt.rzi.s32.f32", -1.9), -1i32 as u32);
    assert_eq!(to("cvt.rzi.s32.f32", 3e9), i32::MAX as u32);
    assert_eq!(to("cvt.rzi.u32.f32", -3.0), 0);
    assert_eq!(to("cvt.rzi.u32.f32", f32::NAN), 0);
    let wide = |opcode: &str, x: f64| {
        computed(&format!("{opcode} %d3, %d4;"), &[[x.to_bits(), 0, 0, 0]])[0]
    };
    assert_eq!(wide("cvt.rzi.s64.f64", f64::NAN), 1 << 63);
    assert_eq!(wide("cvt.rzi.u64.f64", 1e30), u64::MAX);
    assert_eq!(words("cvt.rn.f32.u32", &[0xffff_ffff]), 0x4f80_0000);
    assert_eq!(words("cvt.rn.f32.s32", &[0x0100_0001]), 0x4b80_0000);
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

/// Against the host's operators, written here in its own words.
#[test]
fn random_operands_agree_with_the_host() {
    let mut random = Random(0x5eed);
    let operands: Vec<[u64; 4]> =
        (0..512).map(|_| std::array::from_fn(|_| random.next())).collect();
    type Host = fn(&[u64; 4]) -> u64;
    let double = f64::from_bits;
    let cases: [(&str, Host); 12] = [
        ("add.s64 %d3, %d4, %d5;", |x| x[0].wrapping_add(x[1])),
        ("mul.lo.s64 %d3, %d4, %d5;", |x| (u128::from(x[0]) * u128::from(x[1])) as u64),
        ("div.u64 %d3, %d4, %d5;", |x| x[0] / x[1]),
        ("rem.s64 %d3, %d4, %d5;", |x| (x[0] as i64 % x[1] as i64) as u64),
        ("and.b64 %d3, %d4, %d5;", |x| x[0] & x[1]),
        ("not.b64 %d3, %d4;", |x| u64::MAX - x[0]),
        ("mul.wide.u32 %d3, %d4, %d5;", |x| (x[0] & 0xffff_ffff) * (x[1] & 0xffff_ffff)),
        ("setp.lt.s64 %p0, %d4, %d5;\nselp.b64 %d3, %d4, %d5, %p0;", |x| {
            if (x[0] ^ 1 << 63) < x[1] ^ 1 << 63 { x[0] } else { x[1] }
        }),
        ("add.rn.f64 %d3, %d4, %d5;", |x| (f64::from_bits(x[0]) + f64::from_bits(x[1])).to_bits()),
        ("div.rn.f64 %d3, %d4, %d5;", |x| (f64::from_bits(x[0]) / f64::from_bits(x[1])).to_bits()),
        ("fma.rn.f64 %d3, %d4, %d5, %d6;", |x| {
            let [a, b, c, _] = x.map(f64::from_bits);
            a.mul_add(b, c).to_bits()
        }),
        ("cvt.rn.f32.f64 %r3, %d4;\ncvt.u64.u32 %d3, %r3;", |x| {
            u64::from((f64::from_bits(x[0]) as f32).to_bits())
        }),
    ];
    for (text, host) in cases {
        for (x, got) in operands.iter().zip(computed(text, &operands)) {
            let both = double(got).is_nan() && double(host(x)).is_nan();
            assert!(got == host(x) || both, "{text} of {x:x?}: {got:x}, host {:x}", host(x));
        }
    }
}

/// The fault of one group of so many invocations over two buffers of 256 bytes.
fn fault(group: u32, body: &str) -> String {
    let program = kernel(group, 2, &format!("{PLACES}{body}"));
    let mut buffers = [vec![0; 256], vec![0; 256]];
    match launch(&program, [2, 1, 1], &mut buffers, &[]) {
        Ok(()) => "none".into(),
        Err(fault) => fault.0.split(" (line").next().unwrap_or("").to_string(),
    }
}

#[test]
fn accesses_are_checked() {
    assert_eq!(
        fault(64, "ld.global.u64 %d3, [%d1];"),
        "invocation 32: out of bounds: bytes 256 to 264 of 256"
    );
    assert_eq!(
        fault(1, "ld.global.u64 %d3, [%d1-8];"),
        "invocation 0: out of bounds: an address of no variable"
    );
    assert_eq!(
        fault(1, "ld.global.v2.u64 {%d3, %d4}, [%d1+8];"),
        "invocation 0: misaligned: 16 bytes (8 each) at byte 8"
    );
    assert_eq!(fault(1, "ld.shared.u32 %r1, [group0];"), "nothing was written at byte 0");
    assert_eq!(
        fault(1, "st.shared.u32 [group0+256], %r0;"),
        "invocation 0: out of bounds: bytes 256 to 260 of 256"
    );
    assert_eq!(fault(1, "ld.local.u32 %r1, [stack+4];"), "nothing was written at byte 4");
    assert_eq!(
        fault(3, "add.s32 %r1, %r0, %r2;"),
        "invocation 0 reads a register that nothing wrote"
    );
}

#[test]
fn races_are_found_and_barriers_order() {
    let own = "shl.b32 %r1, %r0, 2;\nmov.b32 %r2, group0;\nadd.s32 %r1, %r1, %r2;\n\
               st.shared.u32 [%r1], %r0;\n";
    let other = "xor.b32 %r3, %r1, 4;\nld.shared.u32 %r4, [%r3];\n";
    assert_eq!(fault(64, &format!("{own}bar.sync 0;\n{other}")), "none");
    let race = "race: invocation 0 of group 0 reads word 1, which invocation 1 of group 0 wrote \
                with no barrier between";
    assert_eq!(fault(64, &format!("{own}{other}")), race);
    assert_eq!(
        fault(2, "st.shared.u32 [group0], %r0;"),
        "race: invocation 1 of group 0 writes word 0, which invocation 0 of group 0 wrote with no \
         barrier between"
    );
    // Groups have no barrier between them at all.
    assert_eq!(
        fault(1, "st.global.u64 [%d2], %d0;"),
        "race: invocation 0 of group 1 writes word 0, which invocation 0 of group 0 wrote with no \
         barrier between"
    );
    let add = "ld.param.u64 %d3, [b1];\natom.relaxed.gpu.global.add.u32 %r1, [%d3], 1;";
    assert_eq!(fault(64, add), "none");
}

/// Neighbours in a word are no race, the same byte is one, and so is the word around it.
#[test]
fn races_of_single_bytes_are_found() {
    let own = "mov.b32 %r2, group0;\nadd.s32 %r1, %r0, %r2;\nst.shared.u8 [%r1], %r0;\n";
    assert_eq!(fault(64, own), "none");
    let race = |does: &str, place: &str, who: u32| {
        format!(
            "race: invocation {who} of group 0 {does} {place} 0, which invocation 0 of group 0 wrote \
             with no barrier between"
        )
    };
    assert_eq!(fault(2, "st.shared.u8 [group0], %r0;"), race("writes", "byte", 1));
    let read = "ld.shared.u8 %r3, [group0];\n";
    assert_eq!(fault(64, &format!("{own}bar.sync 0;\n{read}")), "none");
    assert_eq!(fault(64, &format!("{own}{read}")), race("reads", "byte", 1));
    let word = "ld.shared.u32 %r3, [group0];\n";
    assert_eq!(fault(64, &format!("{own}bar.sync 0;\n{word}")), "none");
    let first = "setp.eq.u32 %p0, %r0, 0;\n";
    let wrote = format!("{first}@%p0 st.shared.u32 [group0], %r0;\n");
    assert_eq!(fault(64, &format!("{wrote}{read}")), race("reads", "word", 1));
}

#[test]
fn a_barrier_that_some_do_not_reach_is_a_fault() {
    let half = "setp.lt.u32 %p0, %r0, 32;\n@!%p0 bra $L0;\nbar.sync 0;\n$L0:";
    assert_eq!(fault(64, half), "group 0: a barrier that invocation 32 and others do not reach");
    let odd = "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %p0, %r1, 0;\n@!%p0 bra $L0;\nbar.sync 0;\n$L0:";
    assert_eq!(fault(32, odd), "a barrier that part of a warp reaches");
}

/// Lanes part, loop different numbers of times, and meet before a warp's operation.
#[test]
fn lanes_meet_again_after_a_loop() {
    let body = "mov.b32 %r1, 0;\n$L0:\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p0, %r1, %r0;\n@%p0 bra $L0;\n\
        shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xffffffff;\nshfl.sync.up.b32 %r3|%p1, %r0, 1, 0, 0xffffffff;\n\
        vote.sync.ballot.b32 %r4, %p1, 0xffffffff;\nmov.b64 %d3, {%r2, %r4};\nst.global.u64 [%d2], %d3;";
    let program = kernel(32, 2, &format!("{PLACES}{body}"));
    let mut buffers = [vec![0; 256], vec![0; 256]];
    launch(&program, [1, 1, 1], &mut buffers, &[]).unwrap();
    for (lane, bytes) in buffers[1].chunks(8).enumerate() {
        let value = u64::from_le_bytes(bytes.try_into().unwrap());
        assert_eq!(value as u32, (lane as u32 ^ 1).max(1), "lane {lane}");
        assert_eq!(value >> 32, 0xffff_fffe);
    }
}

#[test]
fn an_unknown_instruction_is_named() {
    let text = ".visible .entry main(\n)\n{\n.reg .f32 %f<2>;\nex2.approx.f32 %f0, %f1;\n}\n";
    assert_eq!(
        Program::parse(text).err().unwrap().0,
        "no opcode ex2.approx.f32 of these operands: ex2.approx.f32 %f0, %f1"
    );
}
