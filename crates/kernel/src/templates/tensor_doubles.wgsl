// Of ${side} rows and columns ${depth} steps. A cell holds what a lane takes for two instructions that follow
// each other: steps four apart.
var<workgroup> left: array<vec2<f64>, ${panel}>;
var<workgroup> right: array<vec2<f64>, ${panel}>;

// Of the blocks before, where k has more than one: in memory, as in the strict product.
var<private> totals: array<f64, ${cells}>;

fn total(cell: u32, block: u32, sum: f64) -> f64 {
    if (block == 0u) { return sum; }
    return totals[cell] + sum;
}

// Beyond the end of k stand -0.0 on the left and 0.0 on the right. Their product is -0.0, which changes no
// sum; +0.0 would make +0.0 of a sum of -0.0. Rows and columns beyond the matrix are stored nowhere.
fn from_left(batch: u32, row: u32, step: u32) -> f64 {
    if ((row < parameter(1u)) & (step < parameter(2u))) { return ${from_a}; }
    return -0.0lf;
}

fn from_right(batch: u32, column: u32, step: u32) -> f64 {
    if ((column < parameter(3u)) & (step < parameter(2u))) { return ${from_b}; }
    return 0.0lf;
}

fn left_pair(batch: u32, row: u32, step: u32) -> vec2<f64> {
    return vec2<f64>(from_left(batch, row, step), from_left(batch, row, step + 4u));
}

fn right_pair(batch: u32, column: u32, step: u32) -> vec2<f64> {
    return vec2<f64>(from_right(batch, column, step), from_right(batch, column, step + 4u));
}

// A group of four warps makes one tile of one product of the stack: two warps down, two across.
@compute @workgroup_size(${lanes})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) own: u32) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let k = parameter(2u);
    let across = parameter(4u);
    let tiles = across * parameter(5u);
    let batch = number / tiles;
    let tile = number - batch * tiles;
    let down = tile / across;
    let first_row = down * ${side}u;
    let first_column = (tile - down * across) * ${side}u;
    // What an invocation takes to a group's memory: cells follow each other as invocations do, four to a row.
    let filled = own >> 2u;
    let fourth = own & 3u;
    // What an instruction takes from and gives to each lane, by the reference of PTX.
    let eighth = (own >> 2u) & 7u;
    let warp = own >> 5u;
    let down_warp = (warp & 1u) * ${warp_side}u + eighth;
    let across_warp = (warp >> 1u) * ${warp_side}u;
    let left_at = down_warp * 4u + fourth;
    let right_at = (across_warp + eighth) * 4u + fourth;
    let row = first_row + down_warp;
    let column = first_column + across_warp + 2u * fourth;
${fetched}
    var block = 0u;
    loop {
        let block_end = block + min(k - block, ${block}u);
${sums}
        for (var start = block; start < block_end; start = start + ${depth}u) {
${fill}
            workgroupBarrier();
            // The next ones are on their way while these are multiplied.
            let next = start + ${depth}u + fourth;
${fetch}
${multiply}
            workgroupBarrier();
        }
        if (block_end == k) {
${store}
            break;
        }
${keep}
        block = block_end;
    }
}
