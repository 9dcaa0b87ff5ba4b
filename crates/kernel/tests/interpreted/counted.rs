//! What kernels do, by count: operations, bytes of buffers beside what the operation needs, operations for
//! each load of shared memory, and waits for its banks. `docs/kernel-counts.md` holds the table, and
//! `RUNG_BLESS=1 cargo nextest run -p rung-kernel golden` rewrites it.

use crate::product::packed;
use rung_base::ElementType::{self, BF16, F32, F64};
use rung_kernel::cells::Computed;
use rung_kernel::fold::{Fold, Kernels as Folds, Slices as FoldSlices, Types as FoldTypes};
use rung_kernel::product::{self, Extents, Tile, Types};
use rung_kernel::tensor::{self, Rounding};
use rung_kernel::{
    Launch, Variants, broadcast, compile_ptx, fourier, locate, map, pick, position, quantized,
    rows, scan, sort, step, tensor_doubles, triangular, windows,
};
use rung_math::rows::Softmax;
use rung_math::trace::{trace_rows, trace_update};
use rung_math::update::{NUMBERS, Own, Scale, Update};
use rung_math::windows::{Axis, Windows};
use rung_math::{Add, Exp, Width, trace_binary, trace_unary};
use rung_ptx_interpreter::{Counts, Program, launch_counted};
use std::fmt::Write;
use std::sync::Arc;

/// An operation in one or several launches over numbered buffers.
struct Case {
    name: String,
    launches: Vec<(Launch, Vec<usize>)>,
    buffers: Vec<Vec<u8>>,
    /// What the operation needs: bytes of operands and results, each once, and floating-point operations.
    bytes: usize,
    flops: usize,
}

/// Numbers between 1 and 2 of a type, and zeros as results.
fn numbers(element: ElementType, count: usize) -> Vec<u8> {
    let value = |i: usize| 1.0 + (i * 7919 % 1021) as f64 / 1024.0;
    match element {
        F64 => (0..count).flat_map(|i| value(i).to_le_bytes()).collect(),
        BF16 => (0..count)
            .flat_map(|i| (((value(i) as f32).to_bits() >> 16) as u16).to_le_bytes())
            .collect(),
        _ => (0..count).flat_map(|i| (value(i) as f32).to_le_bytes()).collect(),
    }
}

/// What multiplies.
#[derive(Clone, Copy)]
enum Way {
    Lanes,
    Rounded(Rounding),
    Doubles,
}

fn product_case(element: ElementType, tile: Tile, way: Way) -> Case {
    let wanted = if element == F64 { F64 } else { F32 };
    let types = Types { stored: [element; 2], wanted, writes: wanted };
    let sides = tile.sides(Computed::holding(wanted));
    let n = sides[1].max(64);
    let size = Extents { batch: 1, m: n, k: 64, n };
    let kernel = match way {
        Way::Rounded(rounding) => tensor::kernel(types, rounding, tile, None),
        Way::Lanes => product::kernel(types, tile, None),
        Way::Doubles => tensor_doubles::kernel(types, None),
    };
    let kernel = Arc::new(kernel.unwrap());
    let launch =
        product::launch(&kernel, sides, &size, &[packed(n, 64), packed(64, n)], &[]).unwrap();
    let operand = 64 * n * element.size();
    let result = n * n * wanted.size();
    Case {
        name: format!("{}, {n} x 64 x {n}", kernel.key),
        launches: vec![(launch, vec![0, 1, 2])],
        buffers: vec![numbers(element, 64 * n), numbers(element, 64 * n), vec![0; result]],
        bytes: 2 * operand + result,
        flops: 2 * n * n * 64,
    }
}

/// How many operations every load of a product serves.
const PRODUCTS: [(ElementType, Tile, Way, u64); 10] = [
    (F32, Tile::Small, Way::Lanes, 16),
    (F32, Tile::Middle, Way::Lanes, 16),
    (F32, Tile::Large, Way::Lanes, 32),
    (F64, Tile::Small, Way::Lanes, 16),
    (F64, Tile::Middle, Way::Lanes, 16),
    (F64, Tile::Middle, Way::Doubles, 64),
    (F32, Tile::Middle, Way::Rounded(Rounding::Tf32), 64),
    (F32, Tile::Large, Way::Rounded(Rounding::Tf32), 128),
    (F32, Tile::Large, Way::Rounded(Rounding::Bf16), 256),
    (BF16, Tile::Large, Way::Rounded(Rounding::Bf16), 256),
];

fn map_case() -> Case {
    let kernel = Arc::new(map::kernel("Exp", &trace_unary::<Exp>(Width::F32)));
    let count = 4096;
    Case {
        name: format!("{}, {count}", kernel.key),
        launches: vec![(map::launch(&kernel, count).unwrap(), vec![0, 1])],
        buffers: vec![numbers(F32, count), vec![0; 4 * count]],
        bytes: 8 * count,
        flops: 0,
    }
}

fn broadcast_case() -> Case {
    let graph = trace_binary::<Add>(Width::F32);
    let kernel = Arc::new(broadcast::kernel("add", &graph, 2));
    let view = |strides| broadcast::View { offset: 0, strides };
    let views = [view(&[64, 1]), view(&[0, 1])];
    let launch = broadcast::launch(&kernel, &[64, 64], &views).unwrap();
    Case {
        name: format!("{}, 64 x 64 and 64", kernel.key),
        launches: vec![(launch, vec![0, 1, 2])],
        buffers: vec![numbers(F32, 4096), numbers(F32, 64), vec![0; 4 * 4096]],
        bytes: 4 * (4096 + 64 + 4096),
        flops: 4096,
    }
}

fn fold_case() -> Case {
    let kernels =
        Folds::of(Fold::Sum, FoldTypes { stored: F32, wanted: F32, writes: F32 }).unwrap();
    let stages = kernels.plan(&SLICES).unwrap();
    let [stage] = &stages[..] else { panic!("one launch") };
    Case {
        name: format!("{}, 32 x 256", stage.launch.kernel.key),
        launches: vec![(stage.launch.clone(), vec![0, 1])],
        buffers: vec![numbers(F32, 32 * 256), vec![0; 4 * 32]],
        bytes: 4 * (32 * 256 + 32),
        flops: 32 * 255,
    }
}

fn scan_case() -> Case {
    let kernels = scan::Kernels::new(scan::Scan::Sum, F64, F64).unwrap();
    let length = 8192;
    let slices = scan::Slices { offset: 0, outer: 1, length, inner: 1 };
    let plan = kernels.plan(&slices).unwrap();
    Case {
        name: format!("running sums f64, {length}"),
        launches: vec![
            (plan.totals, vec![0, 1]),
            (plan.offsets, vec![1]),
            (plan.results, vec![0, 1, 2]),
        ],
        buffers: vec![numbers(F64, length), vec![0; plan.bytes], vec![0; 8 * length]],
        bytes: 16 * length,
        flops: length - 1,
    }
}

fn sort_case(element: ElementType) -> Case {
    let kernels = sort::Kernels::new(element, false).unwrap();
    let slices = sort::Slices { offset: 0, outer: 1, length: 2048, inner: 1 };
    let launches = kernels.plan(&slices).unwrap().into_iter().map(|l| (l, vec![0, 1])).collect();
    Case {
        name: format!("sort with positions {element}, 2048"),
        launches,
        buffers: vec![numbers(element, 2048), vec![0; 4 * 2048]],
        bytes: (2 * element.size() + 4) * 2048,
        flops: 0,
    }
}

fn lu_case() -> Case {
    let n = 96;
    let launches = triangular::Kernels::new().lu(1, n).unwrap();
    Case {
        name: format!("lu f64, {n} x {n}"),
        launches: launches.into_iter().map(|launch| (launch, vec![0, 1])).collect(),
        buffers: vec![numbers(F64, n * n), vec![0; 4 * n]],
        bytes: 16 * n * n,
        flops: 2 * n * n * n / 3,
    }
}

fn rows_case() -> Case {
    let kernel = Arc::new(rows::kernel("softmax", &trace_rows::<Softmax, 1>(Width::F32, 0)));
    let operands = [broadcast::View { offset: 0, strides: &[256, 1] }];
    let slices = rows::Slices { shape: &[32, 256], axis: 1, operands: &operands, one: false };
    Case {
        name: format!("{}, 32 x 256", kernel.key),
        launches: vec![(rows::launch(&kernel, &slices, &[]).unwrap(), vec![0, 1])],
        buffers: vec![numbers(F32, 32 * 256), vec![0; 4 * 32 * 256]],
        bytes: 8 * 32 * 256,
        flops: 0,
    }
}

fn windows_case() -> Case {
    let axis = Axis::new(16, 3, 1, 1, 1).unwrap();
    let of = Windows { batch: 1, channels: 4, down: axis, across: axis };
    let kernel = Arc::new(windows::columns(F32, windows::Order::Rows).unwrap());
    let count = 4 * 256 * 9;
    let launch = windows::launch(&kernel, &of, count, 0, &[1024, 256, 16, 1]).unwrap();
    Case {
        name: format!("{}, 4 x 16 x 16 by 3 x 3", kernel.key),
        launches: vec![(launch, vec![0, 1])],
        buffers: vec![numbers(F32, 1024), vec![0; 4 * count]],
        bytes: 4 * (1024 + count),
        flops: 0,
    }
}

fn fourier_case() -> Case {
    let n = 1024;
    let (holds, scale) = (fourier::Holds::Numbers, 1.0);
    let lines = fourier::Lines {
        count: 1,
        n,
        holds,
        have: n,
        backward: false,
        points: n,
        pairs: true,
        scale,
    };
    let plan = fourier::Kernels::new(F64).unwrap().plan(&lines).unwrap();
    let mut launches = vec![(plan.points, vec![0, 1])];
    let (mut from, mut to) = (1, 2);
    for (pass, _) in plan.passes {
        launches.push((pass, vec![from, 3, to]));
        (from, to) = (to, from);
    }
    launches.push((plan.out, vec![from, 4]));
    let turns = fourier::turns(n).into_iter().flat_map(f64::to_le_bytes).collect();
    Case {
        name: format!("Fourier transform f64, {n}"),
        launches,
        buffers: vec![numbers(F64, n), vec![0; 16 * n], vec![0; 16 * n], turns, vec![0; 16 * n]],
        bytes: 24 * n,
        // The usual count, 5 n log2 n.
        flops: 5 * n * 10,
    }
}

fn quantized_case() -> Case {
    let (count, blocks) = (64, 8);
    let plan = quantized::Kernels::new().plan(count, blocks, 0, 0).unwrap();
    let x: [f32; 32] = std::array::from_fn(|i| i as f32 - 7.0);
    let matrix: Vec<u8> =
        (0..count * blocks).flat_map(|_| rung_math::quantized::encode(&x)).collect();
    let words = 4 * quantized::words_of(blocks);
    Case {
        name: format!("quantized matrix times vector, {count} x {}", 32 * blocks),
        bytes: matrix.len() + 4 * 32 * blocks + 4 * count,
        launches: vec![(plan.vector, vec![1, 2, 3]), (plan.rows, vec![0, 2, 3, 4])],
        buffers: vec![
            matrix,
            numbers(F32, 32 * blocks),
            vec![0; 4 * blocks],
            vec![0; words],
            vec![0; 4 * count],
        ],
        flops: 0,
    }
}

fn pick_case() -> Case {
    let kernel = Arc::new(pick::kernel(F32).unwrap());
    let picked = pick::Picked {
        offset: 0,
        outer: 1,
        positions: 64,
        inner: 64,
        outer_stride: 0,
        along: 0,
        step: 64,
    };
    let positions = (0..64i32).flat_map(|i| (i * 37 % 128).to_le_bytes()).collect();
    Case {
        name: format!("{}, 64 of 128 rows of 64", kernel.key),
        launches: vec![(pick::launch(&kernel, &picked).unwrap(), vec![0, 1, 2])],
        buffers: vec![numbers(F32, 128 * 64), positions, vec![0; 4 * 4096]],
        bytes: 4 * (4096 + 64 + 4096),
        flops: 0,
    }
}

fn locate_case() -> Case {
    let kernel = Arc::new(locate::places(F32, false).unwrap());
    let ascending = (0..64).flat_map(|i| (1.0 + i as f32 / 64.0).to_le_bytes()).collect();
    Case {
        name: format!("{}, 4096 among 64", kernel.key),
        launches: vec![(locate::places_launch(&kernel, 4096, [0, 0], 64).unwrap(), vec![0, 1, 2])],
        buffers: vec![numbers(F32, 4096), ascending, vec![0; 8 * 4096]],
        bytes: 4 * (4096 + 64) + 8 * 4096,
        flops: 0,
    }
}

fn step_case() -> Case {
    let scale = Scale(0.5);
    let graph = trace_update::<_, Own, 1>(Width::F32, &scale);
    let kernel = Arc::new(step::kernel("scale", &graph, F32, 1, NUMBERS).unwrap());
    Case {
        name: format!("{}, 4096", kernel.key),
        launches: vec![(step::launch(&kernel, 4096, &[0], &scale.numbers()).unwrap(), vec![0, 1])],
        buffers: vec![numbers(F32, 4096), vec![0; 4 * 4096]],
        bytes: 8 * 4096,
        flops: 4096,
    }
}

fn position_case() -> Case {
    let kernels = position::Kernels::new(position::Seek::Largest, F32, ElementType::I64).unwrap();
    let stages = kernels.plan(&SLICES).unwrap();
    let [stage] = &stages[..] else { panic!("one launch") };
    Case {
        name: format!("{}, 32 x 256", stage.launch.kernel.key),
        launches: vec![(stage.launch.clone(), vec![0, 1])],
        buffers: vec![numbers(F32, 32 * 256), vec![0; 8 * 32]],
        bytes: 4 * 32 * 256 + 8 * 32,
        flops: 0,
    }
}

/// 32 slices of 256.
const SLICES: FoldSlices = FoldSlices {
    offset: 0,
    outer: 32,
    length: 256,
    inner: 1,
    outer_stride: 256,
    stride: 1,
    inner_stride: 0,
};

fn counted(case: &mut Case) -> Counts {
    let mut all = Counts::default();
    for (launch, binds) in &case.launches {
        let text = compile_ptx(&launch.kernel, &Variants::default()).unwrap();
        let program = Program::parse(&text).unwrap();
        let mut bound: Vec<Vec<u8>> =
            binds.iter().map(|i| std::mem::take(&mut case.buffers[*i])).collect();
        let counts = launch_counted(&program, launch.groups, &mut bound, &launch.parameters);
        let counts = counts.unwrap_or_else(|e| panic!("{}: {e}", case.name));
        for (i, buffer) in binds.iter().zip(bound) {
            case.buffers[*i] = buffer;
        }
        all.flops += counts.flops;
        all.read += counts.read;
        all.written += counts.written;
        all.shared_loads += counts.shared_loads;
        all.shared_stores += counts.shared_stores;
        all.conflicts += counts.conflicts;
        all.first_conflict = all.first_conflict.or(counts.first_conflict);
    }
    all
}

#[test]
fn products_serve_many_operations_with_a_load_and_wait_for_no_bank() {
    for (element, tile, way, least) in PRODUCTS {
        let mut case = product_case(element, tile, way);
        let counts = counted(&mut case);
        let each = counts.flops / counts.shared_loads;
        assert!(each >= least, "{}: {each} for a load", case.name);
        assert_eq!(counts.conflicts, 0, "{}: {:?}", case.name, counts.first_conflict);
        // The blocks' sums are added to the totals beside.
        assert!(counts.flops >= case.flops as u64, "{}", case.name);
    }
}

/// Operands that are turned over are stored into the same banks.
#[test]
fn products_of_operands_turned_over_wait_for_no_bank() {
    for (element, tile, way, _) in PRODUCTS {
        let mut case = product_case(element, tile, way);
        // The strides of rows and columns of both operands, exchanged.
        let parameters = &mut case.launches[0].0.parameters;
        (parameters[8], parameters[9]) = (1, parameters[1]);
        (parameters[12], parameters[13]) = (1, parameters[2]);
        let counts = counted(&mut case);
        assert_eq!(counts.conflicts, 0, "{}: {:?}", case.name, counts.first_conflict);
    }
}

/// Pairs of a bitonic network are 1, 2, 4 ... apart, so that half the lanes of a warp met the other half:
/// 18,288 waits for the 2,048 singles.
#[test]
fn sorts_wait_for_no_bank() {
    for element in [F32, F64] {
        let counts = counted(&mut sort_case(element));
        assert_eq!(counts.conflicts, 0, "{element}: {:?}", counts.first_conflict);
    }
}

/// The step that changes what is right of a panel and below it: docs/nvidia.md says why not 16.
#[test]
fn the_tile_of_a_factorisation_makes_eight_of_a_load() {
    let mut case = lu_case();
    let (mut tiles, mut flops, mut loads) = (0, 0, 0);
    for launch in std::mem::take(&mut case.launches) {
        let is_tile = launch.0.kernel.key.contains("update");
        case.launches = vec![launch];
        let counts = counted(&mut case);
        if is_tile {
            (tiles, flops, loads) = (tiles + 1, flops + counts.flops, loads + counts.shared_loads);
            assert_eq!(counts.conflicts, 0, "{:?}", counts.first_conflict);
        }
    }
    assert!(tiles > 0 && flops / loads == 8, "{flops} by {loads} in {tiles} tiles");
}

const HEAD: &str = "# Kernels by count

What kernels do, counted where they run as PTX in the interpreter (`crates/ptx-interpreter`), so the same on
every machine; nothing here is a time. *needed* counts each operand and result once, and what the
operation computes; functions such as exp have no such number. *read* and *written* are bytes of buffers
that invocations ask for, before any cache: a product reads an operand once for each tile it meets.
*a load* is what one invocation takes from shared memory at once, 16 bytes at most; *waits* are those for
a bank of shared memory that another lane of the warp uses, none where it says 0.

`RUNG_BLESS=1 cargo nextest run -p rung-kernel golden` writes this page. What NVIDIA's assembler makes of every
kernel, registers and shared memory, is printed by
`cargo nextest run -p rung-kernel --no-capture assembled`.

| kernel and shape | flops | needed | read | written | needed | flops a load | waits |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

#[test]
fn golden_table_of_kernels() {
    let products = PRODUCTS.map(|(element, tile, way, _)| product_case(element, tile, way));
    let others = [
        map_case(),
        broadcast_case(),
        step_case(),
        pick_case(),
        fold_case(),
        position_case(),
        rows_case(),
        scan_case(),
        sort_case(F32),
        locate_case(),
        windows_case(),
        quantized_case(),
        fourier_case(),
        lu_case(),
    ];
    let mut text = HEAD.to_string();
    for mut case in products.into_iter().chain(others) {
        let counts = counted(&mut case);
        let or_none = |n: u64| if n == 0 { "-".into() } else { n.to_string() };
        let each = counts.flops.checked_div(counts.shared_loads).unwrap_or(0);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            case.name,
            counts.flops,
            or_none(case.flops as u64),
            counts.read,
            counts.written,
            case.bytes,
            or_none(each),
            counts.conflicts
        );
    }
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/kernel-counts.md");
    if std::env::var_os("RUNG_BLESS").is_some() {
        std::fs::write(page, &text).unwrap();
    }
    let held = std::fs::read_to_string(page).unwrap_or_default();
    assert!(held == text, "{page} is not what kernels do; RUNG_BLESS=1 rewrites it");
}
