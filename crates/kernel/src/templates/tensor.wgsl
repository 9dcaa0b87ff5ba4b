// Rows of a panel, four chunks of four words each: a word is a step along k, or a pair of steps.
var<workgroup> left: array<vec4<u32>, ${panel}>;
var<workgroup> right: array<vec4<u32>, ${panel}>;

// Beyond the matrix stand zeros, which add nothing; nothing is read there.
fn from_left(batch: u32, row: u32, step: u32) -> f32 {
    if ((row < parameter(1u)) & (step < parameter(2u))) { return ${from_a}; }
    return 0.0;
}

fn from_right(batch: u32, column: u32, step: u32) -> f32 {
    if ((column < parameter(3u)) & (step < parameter(2u))) { return ${from_b}; }
    return 0.0;
}

fn left_word(batch: u32, row: u32, step: u32) -> u32 { return ${left_word}; }
fn right_word(batch: u32, column: u32, step: u32) -> u32 { return ${right_word}; }

fn left_chunk(batch: u32, row: u32, step: u32) -> vec4<u32> {
    return vec4<u32>(left_word(batch, row, step), left_word(batch, row, step + ${pair}u),
                     left_word(batch, row, step + 2u * ${pair}u),
                     left_word(batch, row, step + 3u * ${pair}u));
}

fn right_chunk(batch: u32, column: u32, step: u32) -> vec4<u32> {
    return vec4<u32>(right_word(batch, column, step), right_word(batch, column, step + ${pair}u),
                     right_word(batch, column, step + 2u * ${pair}u),
                     right_word(batch, column, step + 3u * ${pair}u));
}

// A group of eight warps makes one tile of one product of the stack: two warps down, four across.
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
    // Eight rows by four chunks for a warp: a chunk's place among the four of its row is turned by the row,
    // so that neither eight rows of one chunk nor four chunks of two rows share a bank.
    let filled = (own >> 5u) * 8u + (own & 7u);
    let chunk = (own >> 3u) & 3u;
    let filled_at = filled * 4u + (chunk ^ ((filled >> 1u) & 3u));
    let step = chunk * ${chunk_steps}u;
    // What an instruction takes from and gives to each lane, by the reference of PTX.
    let eighth = (own >> 2u) & 7u;
    let fourth = own & 3u;
    let warp = own >> 5u;
    let down_warp = (warp & 1u) * ${warp_rows}u + eighth;
    let across_warp = (warp >> 1u) * ${warp_columns}u + eighth;
    let turned = fourth ^ ((eighth >> 1u) & 3u);
    let left_at = down_warp * 4u + turned;
    let right_at = across_warp * 4u + turned;
${totals}
${fetched}
    for (var block = 0u; block < k; block = block + ${block}u) {
        let block_end = min(block + ${block}u, k);
${sums}
        for (var start = block; start < block_end; start = start + ${depth}u) {
${fill}
            workgroupBarrier();
            // The next ones are on their way while these are multiplied.
            let next = start + ${depth}u + step;
${fetch}
${multiply}
            workgroupBarrier();
        }
${add}
    }
    let row = first_row + down_warp;
    let column = first_column + (warp >> 1u) * ${warp_columns}u + 2u * fourth;
${store}
}
