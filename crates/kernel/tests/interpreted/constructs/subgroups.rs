//! Operations of a subgroup, a warp of 32 lanes, in a group of two.

use super::gives;

/// What each of 64 invocations gets; `lane` is its place in the subgroup, `i` in the group.
#[track_caller]
fn of(expression: &str, want: impl Fn(u32) -> u32) {
    let text = format!("let lane = i & 31u; out[i] = {expression};");
    gives(64, "", &text, &(0..64).map(want).collect::<Vec<u32>>());
}

/// The lanes of the same subgroup, by their number in the group.
fn warp(i: u32) -> std::ops::Range<u32> {
    let first = i & !31;
    first..first + 32
}

#[test]
fn votes() {
    of("subgroupBallot(lane % 3u == 0u).x", |_| (0..32).step_by(3).map(|l| 1 << l).sum());
    of("subgroupBallot().x + subgroupBallot(i > 40u).x * 0u", |_| u32::MAX);
    of("subgroupBallot(i > 40u).x", |i| if i < 32 { 0 } else { 0xffff_fe00 });
    of("subgroupBallot(true).y + subgroupBallot(false).x", |_| 0);
    of(
        "u32(subgroupAll(i >= 32u)) + 2u * u32(subgroupAny(i == 40u))",
        |i| if i < 32 { 0 } else { 3 },
    );
    of(
        "u32(subgroupAll(i != 33u)) + 2u * u32(subgroupAny(i == 3u))",
        |i| if i < 32 { 3 } else { 0 },
    );
}

#[test]
fn reductions() {
    of("subgroupAdd(i)", |i| warp(i).sum());
    of("subgroupMul(2u * (i & 1u) + 1u)", |_| 3u32.pow(16));
    of("subgroupMin(i ^ 21u) + 100u * subgroupMax(i ^ 21u)", |i| {
        warp(i).start + 100 * (warp(i).start + 31)
    });
    of("u32(subgroupMin(i32(i) - 40) + 100) + 1000u * u32(subgroupMax(i32(i) - 40) + 100)", |i| {
        if i < 32 { 60 + 91_000 } else { 92 + 123_000 }
    });
    of("subgroupAnd(i | 5u) + 1000u * subgroupOr(i & 36u)", |i| {
        if i < 32 { 5 + 4000 } else { 37 + 36_000 }
    });
    of("subgroupXor(i * 3u)", |i| warp(i).fold(0, |x, k| x ^ (k * 3)));
    of("u32(subgroupAdd(f32(lane) * 0.5))", |_| 248);
    of("u32(subgroupAdd(f64(lane)) + subgroupMul(f64(1u + (lane & 1u))))", |_| 496 + 65_536);
    of("u32(subgroupAdd(f16(lane & 1u)))", |_| 16);
    of("u32(subgroupAdd(u64(i) << 33u) >> 33u)", |i| warp(i).sum());
    of("u32(subgroupMax(i64(i) << 33u) >> 33u) + u32(-subgroupMin(-i64(i) << 33u) >> 33u)", |i| {
        2 * (warp(i).end - 1)
    });
    of(
        "u32(subgroupAnd(u64(i) | (5lu << 40u)) >> 40u) + u32(subgroupXor(1lu << (lane +\n\
         20u)) >> 32u)",
        |_| 5 + 0xf_ffff,
    );
    of("subgroupAdd(vec3<u32>(1u, i, 2u)).y + subgroupAdd(vec2<u32>(1u, i)).x", |i| {
        warp(i).sum::<u32>() + 32
    });
}

#[test]
fn scans() {
    of("subgroupInclusiveAdd(i)", |i| (warp(i).start..=i).sum());
    of("subgroupExclusiveAdd(i)", |i| (warp(i).start..i).sum());
    let power = |n: u32| 3u32.pow(n);
    of("subgroupInclusiveMul(2u * (lane & 1u) + 1u)", |i| power((i % 32).div_ceil(2)));
    of("subgroupExclusiveMul(2u * (lane & 1u) + 1u)", |i| power(i % 32 / 2));
    of("u32(subgroupInclusiveAdd(-i32(lane)) + 1000)", |i| 1000 - (0..=i % 32).sum::<u32>());
    of("u32(subgroupExclusiveAdd(f32(lane)) * 2.0)", |i| 2 * (0..i % 32).sum::<u32>());
    of("u32(subgroupExclusiveMul(f64(1u + (lane & 1u))) + f64(subgroupExclusiveMul(1.0h)))", |i| {
        (1 << (i % 32 / 2)) + 1
    });
    of("u32(subgroupInclusiveAdd(u64(lane) << 35u) >> 35u)", |i| (0..=i % 32).sum());
    of(
        "u32(subgroupExclusiveAdd(i64(lane) << 35u) >> 35u) + u32(subgroupExclusiveMul(1lu))",
        |i| (0..i % 32).sum::<u32>() + 1,
    );
}

#[test]
fn values_of_other_lanes() {
    of("subgroupBroadcast(i, 5u)", |i| warp(i).start + 5);
    of("subgroupBroadcastFirst(i + 7u)", |i| warp(i).start + 7);
    of("subgroupShuffle(i, 31u - lane)", |i| warp(i).start + 31 - i % 32);
    of("subgroupShuffleXor(i, 9u)", |i| i ^ 9);
    // Beyond the subgroup a lane keeps its own.
    of("subgroupShuffleUp(i, 3u)", |i| if i % 32 < 3 { i } else { i - 3 });
    of("subgroupShuffleDown(i, 3u)", |i| if i % 32 > 28 { i } else { i + 3 });
    of("quadBroadcast(i, 2u)", |i| i & !3 | 2);
    of("quadSwapX(i) + 100u * quadSwapY(i) + 10000u * quadSwapDiagonal(i)", |i| {
        (i ^ 1) + 100 * (i ^ 2) + 10_000 * (i ^ 3)
    });
}

#[test]
fn values_of_every_type_of_other_lanes() {
    of("u32(subgroupShuffleXor(f64(i) + 0.5lf, 1u) * 2.0lf)", |i| 2 * (i ^ 1) + 1);
    of("u32(subgroupShuffle(i64(i) << 40u, lane ^ 3u) >> 40u)", |i| i ^ 3);
    of("u32(subgroupBroadcast(f16(i), 3u) + f16(subgroupShuffleDown(f32(i), 1u)))", |i| {
        warp(i).start + 3 + if i % 32 == 31 { i } else { i + 1 }
    });
    of("u32(-subgroupShuffleUp(-i32(i), 1u))", |i| if i % 32 == 0 { i } else { i - 1 });
    of("dot(subgroupShuffleXor(vec2<u32>(i, 1u), 16u), vec2<u32>(2u, 1u))", |i| 2 * (i ^ 16) + 1);
}

#[test]
fn subgroups_know_their_place() {
    let text = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n\
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32,\n\
         @builtin(subgroup_invocation_id) lane: u32,\n\
        @builtin(subgroup_id) own: u32, @builtin(subgroup_size) size: u32,\n\
         @builtin(num_subgroups) all: u32) {\n\
        subgroupBarrier(); out[i] = lane + 100u * own + 1000u * size + 100000u * all; }";
    let mut buffers = [vec![0; 256]];
    super::ran(text, 1, &mut buffers);
    let got: Vec<u32> = buffers[0].chunks(4).map(|b| super::little(b) as u32).collect();
    assert_eq!(got, (0..64).map(|i| i % 32 + 100 * (i / 32) + 232_000).collect::<Vec<u32>>());
}
