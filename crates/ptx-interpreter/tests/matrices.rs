//! `mma.sync` by fragments worked out by hand from the PTX ISA manual ("Matrix Fragments for
//! mma.m16n8k8", "for mma.m16n8k16" and "for mma.m8n8k4"): groupID is the lane's number over 4, threadID_in_group the rest.

use rung_ptx_interpreter::{Order, Program, launch, launch_counted};

/// A warp whose lanes read ten words each, a0..a3, b0, b1, c0..c3, and write four.
fn warp(instruction: &str) -> Program {
    let loads: String = (0..10)
        .map(|i| {
            let (letter, number) = if i < 6 { ('r', i + 1) } else { ('f', i - 6) };
            let kind = if i < 6 { "u32" } else { "f32" };
            format!("ld.global.{kind} %{letter}{number}, [%d0+{}];\n", 4 * i)
        })
        .collect();
    let text = format!(
        ".visible .entry main(\n.param .u64 b0,\n.param .u64 b1,\n.param .u64 n0,\n.param .u64 n1,\n\
         .param .align 16 .b8 parameters[256]\n)\n.maxntid 32, 1, 1\n{{\n.reg .b32 %r<8>;\n\
         .reg .b64 %d<4>;\n.reg .f32 %f<8>;\nmov.u32 %r0, %tid.x;\nld.param.u64 %d0, [b0];\n\
         mul.wide.u32 %d1, %r0, 40;\nadd.s64 %d0, %d0, %d1;\nld.param.u64 %d2, [b1];\n\
         mul.wide.u32 %d1, %r0, 16;\nadd.s64 %d2, %d2, %d1;\n{loads}\
         {instruction} {{%f4, %f5, %f6, %f7}}, {{%r1, %r2, %r3, %r4}}, {{%r5, %r6}}, \
         {{%f0, %f1, %f2, %f3}};\nst.global.v4.f32 [%d2], {{%f4, %f5, %f6, %f7}};\nret;\n}}\n"
    );
    Program::parse(&text).unwrap()
}

const TF32: &str = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32";
const BF16: &str = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";

/// The registers of all lanes: lane, word, bits.
fn registers(words: &[(usize, usize, u32)]) -> Vec<u8> {
    let mut all = vec![0u32; 320];
    for (lane, word, bits) in words {
        all[10 * lane + word] |= bits;
    }
    all.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// What lanes get that is not zero: lane, word, number.
fn results(instruction: &str, words: &[(usize, usize, u32)]) -> Vec<(usize, usize, f32)> {
    let mut buffers = [registers(words), vec![0; 512]];
    launch(&warp(instruction), [1, 1, 1], &mut buffers, &[]).unwrap();
    let numbers = buffers[1].chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()));
    let placed = numbers.enumerate().map(|(i, x)| (i / 4, i % 4, x));
    placed.filter(|(.., x)| *x != 0.0).collect()
}

fn bits(x: f32) -> u32 {
    x.to_bits()
}

/// a of the instructions are words 0 to 3, b words 4 and 5, c words 6 to 9.
#[test]
fn one_element_of_each_meets_where_the_manual_says() {
    // Row 9 is groupID 1 + 8, column 6 is threadID 2 + 4: a3 of lane 6. Row 6 of b is threadID 2 + 4,
    // column 3 groupID 3: b1 of lane 14. Row 9, column 3 = 2 * 1 + 1 of the result: c3 of lane 5.
    assert_eq!(results(TF32, &[(6, 3, bits(2.0)), (14, 5, bits(5.0))]), [(5, 3, 10.0)]);
    // Row 2, column 1: a0 of lane 9; row 1, column 7 of b: b0 of lane 29; row 2, column 7: c1 of lane 11.
    assert_eq!(results(TF32, &[(9, 0, bits(3.0)), (29, 4, bits(-1.0))]), [(11, 1, -3.0)]);
    // Elements that do not meet.
    assert_eq!(results(TF32, &[(9, 0, bits(3.0)), (30, 4, bits(-1.0))]), []);
    // Row 9, column 13 = 2 * 2 + 1 + 8: the upper half of the fourth register of lane 6. Row 13, column 3
    // of b: the upper half of the second register of lane 14.
    assert_eq!(results(BF16, &[(6, 3, bits(2.0)), (14, 5, bits(5.0))]), [(5, 3, 10.0)]);
    // Row 2, column 2 = 2 * 1: the lower half of the first register of lane 9; row 2, column 7 of b: the
    // lower half of the first of lane 29.
    let (left, right) = (bits(3.0) >> 16, bits(-1.0) >> 16);
    assert_eq!(results(BF16, &[(9, 0, left), (29, 4, right)]), [(11, 1, -3.0)]);
    assert_eq!(results(BF16, &[(9, 0, left), (29, 4, right << 16)]), []);
}

/// Rows 0 to 7 of a are the identity, rows 8 to 15 twice it; b(k, n) = 10 k + n.
#[test]
fn the_identity_gives_the_other_matrix() {
    let mut words = Vec::new();
    for i in 0..8 {
        // Columns 0 to 3 are the first register's of each row, columns 4 to 7 the third's.
        let (lane, register) = if i < 4 { (5 * i, 0) } else { (5 * i - 4, 2) };
        words.extend([(lane, register, bits(1.0)), (lane, register + 1, bits(2.0))]);
        for n in 0..8 {
            words.push((4 * n + i % 4, 4 + i / 4, bits((10 * i + n) as f32)));
        }
    }
    let mut wanted = Vec::new();
    for lane in 0..32 {
        let (row, column) = (lane / 4, lane % 4 * 2);
        let cell = |times: f32, column: usize| times * (10 * row + column) as f32;
        let all =
            [cell(1.0, column), cell(1.0, column + 1), cell(2.0, column), cell(2.0, column + 1)];
        wanted.extend((0..4).map(|i| (lane, i, all[i])).filter(|(.., x)| *x != 0.0));
    }
    assert_eq!(results(TF32, &words), wanted);
}

#[test]
fn what_is_there_is_added_to_and_low_bits_of_tf32_are_not_read() {
    assert_eq!(results(TF32, &[(7, 8, bits(1.5))]), [(7, 2, 1.5)]);
    let one = bits(1.0) | 0x1fff;
    let words = [(0, 0, one), (0, 4, one), (0, 6, bits(0.25))];
    assert_eq!(results(TF32, &words), [(0, 0, 1.25)]);
}

#[test]
fn roundings_to_fewer_bits() {
    let text = |convert: &str, sources: &str| {
        format!(
            ".visible .entry main(\n.param .u64 b0,\n.param .u64 n0,\n\
             .param .align 16 .b8 parameters[256]\n)\n.maxntid 1, 1, 1\n{{\n.reg .b32 %r<2>;\n\
             .reg .b64 %d<2>;\n.reg .f32 %f<3>;\nld.param.u64 %d0, [b0];\nld.global.f32 %f0, [%d0];\n\
             ld.global.f32 %f1, [%d0+4];\n{convert} %r0, {sources};\nst.global.u32 [%d0], %r0;\nret;\n}}\n"
        )
    };
    let run = |convert: &str, sources: &str, x: [u32; 2]| {
        let program = Program::parse(&text(convert, sources)).unwrap();
        let mut buffers = [x.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>()];
        launch(&program, [1, 1, 1], &mut buffers, &[]).unwrap();
        u32::from_le_bytes(buffers[0][..4].try_into().unwrap())
    };
    let tf32 = |x: u32| run("cvt.rna.tf32.f32", "%f0", [x, 0]);
    assert_eq!(tf32(0x3f80_0fff), 0x3f80_0000);
    // Ties away from zero, of both signs.
    assert_eq!((tf32(0x3f80_1000), tf32(0xbf80_1000)), (0x3f80_2000, 0xbf80_2000));
    assert_eq!((tf32(0x7f80_0000), tf32(0x7fc0_0001)), (0x7f80_0000, 0x7fff_ffff));
    // The first source is the upper half; ties to even.
    let pair = |high: u32, low: u32| run("cvt.rn.bf16x2.f32", "%f0, %f1", [high, low]);
    assert_eq!(pair(0x3f80_8000, 0x3f81_8000), 0x3f80_3f82);
}

/// Two operations for each of 16 x 8 x 8 steps.
#[test]
fn operations_are_counted() {
    let mut buffers = [registers(&[]), vec![0; 512]];
    let counts = launch_counted(&warp(TF32), [1, 1, 1], &mut buffers, &[]).unwrap();
    assert_eq!((counts.flops, counts.read, counts.written), (2048, 1280, 512));
}

const DOUBLES: &str = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64";

/// A warp whose lanes read four doubles each, a, b, c0, c1, and write two.
fn double_warp() -> Program {
    let loads: String =
        (0..4).map(|i| format!("ld.global.f64 %g{i}, [%d0+{}];\n", 8 * i)).collect();
    let text = format!(
        ".visible .entry main(\n.param .u64 b0,\n.param .u64 b1,\n.param .u64 n0,\n.param .u64 n1,\n\
         .param .align 16 .b8 parameters[256]\n)\n.maxntid 32, 1, 1\n{{\n.reg .b32 %r<1>;\n\
         .reg .b64 %d<4>;\n.reg .f64 %g<6>;\nmov.u32 %r0, %tid.x;\nld.param.u64 %d0, [b0];\n\
         mul.wide.u32 %d1, %r0, 32;\nadd.s64 %d0, %d0, %d1;\nld.param.u64 %d2, [b1];\n\
         mul.wide.u32 %d1, %r0, 16;\nadd.s64 %d2, %d2, %d1;\n{loads}\
         {DOUBLES} {{%g4, %g5}}, {{%g0}}, {{%g1}}, {{%g2, %g3}};\n\
         st.global.v2.f64 [%d2], {{%g4, %g5}};\nret;\n}}\n"
    );
    Program::parse(&text).unwrap()
}

/// What lanes get that is not zero, of numbers in lanes' a, b, c0 and c1: lane, place, number.
fn double_results(order: Order, numbers: &[(usize, usize, f64)]) -> Vec<(usize, usize, f64)> {
    let mut all = vec![0f64; 128];
    numbers.iter().for_each(|(lane, place, x)| all[4 * lane + place] = *x);
    let mut buffers = [all.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>(), vec![0; 512]];
    launch(&double_warp().adding(order), [1, 1, 1], &mut buffers, &[]).unwrap();
    let numbers = buffers[1].chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()));
    let placed = numbers.enumerate().map(|(i, x)| (i / 2, i % 2, x));
    placed.filter(|(.., x)| *x != 0.0).collect()
}

/// Row = groupID and column = threadID of a; row = threadID and column = groupID of b; row = groupID and
/// column = 2 threadID + i of c and the result.
#[test]
fn doubles_meet_where_the_manual_says() {
    let results = |numbers: &[(usize, usize, f64)]| double_results(Order::Ascending, numbers);
    // Row 5, column 2 of a: lane 22. Row 2, column 7 of b: lane 30. Row 5, column 7 = 2 * 3 + 1: lane 23.
    assert_eq!(results(&[(22, 0, 3.0), (30, 1, -2.0)]), [(23, 1, -6.0)]);
    // Row 0, column 3 of a: lane 3; row 3, column 4 of b: lane 19; row 0, column 4: the first of lane 2.
    assert_eq!(results(&[(3, 0, 0.5), (19, 1, 8.0)]), [(2, 0, 4.0)]);
    // Columns and rows that do not meet.
    assert_eq!(results(&[(3, 0, 0.5), (18, 1, 8.0)]), []);
    // Row 3, column 1 of c is the second of lane 12.
    assert_eq!(results(&[(12, 3, 1.5)]), [(12, 1, 1.5)]);
}

/// Row 1, column 2, whose products are 2^53, 1, 1 and 0: two ones at a time are not lost.
#[test]
fn doubles_are_added_in_the_order_that_is_said() {
    let big = 2f64.powi(53);
    let mut numbers = vec![(4, 0, big), (5, 0, 1.0), (6, 0, 1.0), (7, 0, 0.0)];
    numbers.extend((8..12).map(|lane| (lane, 1, 1.0)));
    for (order, wanted) in [(Order::Ascending, big), (Order::Descending, big + 2.0)] {
        assert_eq!(double_results(order, &numbers), [(5, 0, wanted)], "{order:?}");
    }
    numbers[0].2 = -0.5;
    numbers.push((5, 2, big));
    for (order, wanted) in [(Order::Ascending, big), (Order::Pairwise, big + 2.0)] {
        assert_eq!(double_results(order, &numbers), [(5, 0, wanted)], "{order:?}");
    }
}

#[test]
fn operations_on_doubles_are_counted() {
    let mut buffers = [vec![0; 1024], vec![0; 512]];
    let counts = launch_counted(&double_warp(), [1, 1, 1], &mut buffers, &[]).unwrap();
    assert_eq!((counts.flops, counts.read, counts.written), (512, 1024, 512));
}
