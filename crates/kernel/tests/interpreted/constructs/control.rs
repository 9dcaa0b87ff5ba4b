//! Branches, loops, switches and calls, which the writer puts in their place. Lanes of a warp take
//! different ways, so that they also meet again.

use super::gives;

/// One word for each of 8 invocations.
#[track_caller]
fn eight(declarations: &str, body: &str, want: [u32; 8]) {
    gives(8, declarations, body, &want);
}

#[test]
fn branches() {
    let body = "var v = 100u; if i < 2u { v = 1u; } else if i == 5u { } else if i > 6u { v = 3u;\n\
         } else { v = v + i; }\n\
        if i == 4u { v = 0u; } out[i] = v;";
    eight("", body, [1, 1, 102, 103, 0, 100, 106, 3]);
    // Conditions that the writer knows.
    let known =
        "var v = i; if false { v = 9u; } if true { v = v + 1u; } else { v = 7u; } out[i] = v;";
    eight("", known, [1, 2, 3, 4, 5, 6, 7, 8]);
    // The right side is asked only where the left one does not decide.
    let short = "fn touched(i: u32) -> bool { out[i] = out[i] + 10u; return i > 5u; }";
    let body = "let a = i < 4u && touched(i); let b = i < 2u || touched(i);\n\
         out[i] = out[i] + u32(a) + 2u * u32(b);";
    eight(short, body, [12, 12, 20, 20, 10, 10, 12, 12]);
}

#[test]
fn a_switch_with_several_selectors_and_the_default_in_the_middle() {
    let body = "var v = 0u; switch i { case 1u, 3u: { v = 10u; } case default, 4u { v = 20u; }\n\
         case 5u { if i == 5u { break; } v = 99u; } case 6u: { v = 60u; } }\n\
        out[i] = v;";
    eight("", body, [20, 10, 20, 10, 20, 0, 60, 20]);
    let signed = "switch i32(i) - 4 { case -4: { out[i] = 1u; } case -1, 0: { out[i] = 2u; }\n\
         default: { out[i] = 3u; } case 3: { out[i] = 4u; } }";
    eight("", signed, [1, 3, 3, 2, 2, 3, 3, 4]);
    // A selector that the writer knows, and a switch that returns.
    let chosen = "fn chosen(k: u32) -> u32 { switch k { case 2u: { return 5u; } case 3u: { }\n\
         default: { return 7u; } } return 9u; }";
    eight(
        chosen,
        "out[i] = chosen(2u) + 10u * chosen(3u) + 100u * chosen(8u) + 1000u * chosen(i);",
        [7795, 7795, 5795, 9795, 7795, 7795, 7795, 7795],
    );
}

#[test]
fn loops_with_continue_and_break_inside_a_switch() {
    // Odd numbers below i, without 5.
    let body = "var v = 0u; for (var k = 0u; k < i; k++) { switch k { case 0u, 2u, 4u, 6u: {\n\
         continue; } case 5u: { break; } default: { v += k; } } }\n\
        out[i] = v;";
    eight("", body, [0, 0, 1, 1, 4, 4, 4, 4]);
    let inner = "var v = 0u; loop { v++; switch v { case 3u: { continue; } default: { } }\n\
         if v > i { break; } }\n\
        out[i] = v;";
    eight("", inner, [1, 2, 4, 4, 5, 6, 7, 8]);
}

#[test]
fn loops_end_by_break_if_and_run_what_continues() {
    let body = "var v = 0u; var k = 0u; loop { if k == 2u { continue; } v += 10u; continuing {\n\
         k++; v++; break if k >= i; } }\n\
        out[i] = v;";
    eight("", body, [11, 11, 22, 23, 34, 45, 56, 67]);
    let inside = "var v = 0u; loop { let d = v * 2u; v = d + 1u; continuing { let past = v > i;\n\
         break if past; } } out[i] = v;";
    eight("", inside, [1, 3, 3, 7, 7, 7, 7, 15]);
    let tested = "var v = i; while v > 3u { v -= 3u; } out[i] = v;";
    eight("", tested, [0, 1, 2, 3, 1, 2, 3, 1]);
}

#[test]
fn nested_loops_leave_the_inner_one() {
    let body = "var v = 0u; for (var a = 0u; a < 4u; a++) { for (var b = 0u; b < 4u; b++) {\n\
         if b > a { break; } if b == i { continue; } v += 1u; } if a + i == 9u { break; } }\n\
        out[i] = v;";
    eight("", body, [6, 7, 8, 9, 10, 10, 10, 6]);
}

/// A variable of a loop's body begins anew in each turn, and what `let` holds stays.
#[test]
fn values_belong_to_a_turn() {
    let body = "var sum = 0u; var last = 7u; for (var k = 0u; k < 3u; k++) { var fresh: u32;\n\
         let before = last; last = k; fresh += k + before; sum = sum * 10u + fresh; }\n\
        out[i] = sum + i;";
    eight("", body, [713, 714, 715, 716, 717, 718, 719, 720]);
    let swapped = "var a = i; var b = 9u; for (var k = 0u; k < 3u; k++) { let t = a; a = b;\n\
         b = t; } out[i] = 10u * a + b;";
    eight("", swapped, [90, 91, 92, 93, 94, 95, 96, 97]);
}

#[test]
fn calls_with_several_returns_are_put_in_their_place() {
    let f = "fn collatz(n: u32) -> u32 { var x = n; var steps = 0u; loop { if x <= 1u {\n\
         return steps; } if x % 2u == 0u { x = x / 2u; steps++; continue; } x = 3u * x + 1u;\n\
         steps++; if steps > 10u { return 99u; } } return 0u; }\n\
        fn twice(n: u32) -> u32 { if n == 0u { return 1000u; } return collatz(n) + collatz(n); }";
    eight(f, "out[i] = twice(i);", [1000, 0, 2, 14, 4, 10, 16, 198]);
    let mixed = "struct Pair { a: u32, b: vec2<f32> }\n\
        fn pair(n: u32) -> Pair { if n > 4u { return Pair(n, vec2<f32>(1.5, 2.5)); }\n\
         for (var k = 0u; k < 9u; k++) { if k == n { return Pair(k * k, vec2<f32>(f32(k))); } }\n\
         return Pair(); }";
    eight(
        mixed,
        "let p = pair(i); out[i] = p.a * 100u + u32(p.b.x + p.b.y);",
        [0, 102, 404, 906, 1608, 504, 604, 704],
    );
}

/// A call in a loop, the variables of which begin anew, and a call in a call's argument.
#[test]
fn calls_keep_nothing_from_one_to_the_next() {
    let f = "fn counted(n: u32) -> u32 { var t: array<u32, 4>; t[n & 3u] += 1u;\n\
         return t[0] + 10u * t[1] + 100u * t[2] + 1000u * t[3]; }\n\
        fn add(a: u32, b: u32) -> u32 { return a + b; }";
    eight(
        f,
        "var v = 0u; for (var k = 0u; k <= i; k++) { v = add(v, counted(add(k, 1u))); }\n\
         out[i] = v;",
        [10, 110, 1110, 1111, 1121, 1221, 2221, 2222],
    );
}

#[test]
fn an_entry_point_returns_early_from_anywhere() {
    let body = "out[i] = 1u; if i == 0u { return; } for (var k = 0u; k < 5u; k++) {\n\
         out[i] += 1u; if k == i { return; } switch k { case 3u: { return; } default: { } } }\n\
        out[i] = 50u;";
    eight("", body, [1, 3, 4, 5, 5, 5, 5, 5]);
    eight("", "out[i] = 4u; { if i < 7u { return; } } out[i] = 5u;", [4, 4, 4, 4, 4, 4, 4, 5]);
}

/// Two warps exchange what they have; lanes that took different ways meet at the barrier.
#[test]
fn barriers_order_a_group() {
    let tile = "var<workgroup> tile: array<u32, 64>; var<workgroup> one: u32;";
    let body = "if i % 3u == 0u { tile[i] = i; } else { tile[i] = 2u * i; } workgroupBarrier();\n\
         let v = tile[63u - i]; storageBarrier(); tile[i] = v + 1u; workgroupBarrier();\n\
        if i == 5u { one = tile[9]; } let same = workgroupUniformLoad(&one);\n\
         out[i] = tile[i ^ 32u] * 1000u + same;";
    let mixed = |i: u32| if i.is_multiple_of(3) { i } else { 2 * i };
    let want: Vec<u32> =
        (0..64).map(|i| (mixed(63 - (i ^ 32)) + 1) * 1000 + mixed(54) + 1).collect();
    gives(64, tile, body, &want);
}

#[test]
fn invocations_know_their_place() {
    let text = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n\
        @compute @workgroup_size(4, 2, 3) fn main(@builtin(local_invocation_id) l: vec3<u32>,\n\
         @builtin(workgroup_id) w: vec3<u32>,\n\
        @builtin(num_workgroups) n: vec3<u32>, @builtin(global_invocation_id) g: vec3<u32>,\n\
         @builtin(local_invocation_index) i: u32) {\n\
        out[w.x * 24u + i] = l.x + 10u * l.y + 100u * l.z + 1000u * g.x + 100000u * g.z +\n\
         1000000u * n.x; }";
    let mut buffers = [vec![0; 4 * 48]];
    super::ran(text, 2, &mut buffers);
    let want = |at: u32| {
        let (w, i) = (at / 24, at % 24);
        let (x, y, z) = (i % 4, i / 4 % 2, i / 8);
        x + 10 * y + 100 * z + 1000 * (4 * w + x) + 100_000 * z + 2_000_000
    };
    let got: Vec<u32> = buffers[0].chunks(4).map(|b| super::little(b) as u32).collect();
    assert_eq!(got, (0..48).map(want).collect::<Vec<u32>>());
}
