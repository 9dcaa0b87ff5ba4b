
var<workgroup> values: array<${type}, ${block}>;
var<workgroup> places: array<u32, ${block}>;

// Where an element of a block stands. Of pairs that are 1, 2, 4 ... 16 apart, two lanes of a warp would
// meet at one bank; so no two do, at 4 bytes an element and at 8: bits 0 to 3 are exchanged by bit 4,
// and bit 4 by bit 5.
fn seat(i: u32) -> u32 {
    return i ^ (((i >> 4u) & 1u) * 15u) ^ ((i >> 1u) & 16u);
}

fn exchange(one: u32, other: u32) {
    let low = seat(one);
    let high = seat(other);
    if (places[high] == NONE) { return; }
    if (places[low] != NONE) {
        if (in_order(values[low], places[low], values[high], places[high])) { return; }
    }
    let value = values[low];
    let place = places[low];
    values[low] = values[high];
    places[low] = places[high];
    values[high] = value;
    places[high] = place;
}

// The steps below a width, which an exchange over it has come before.
fn narrowed(width: u32, lane: u32) {
    for (var half = width >> 1u; half > 0u; half = half >> 1u) {
        let low = (lane / half) * half * 2u + (lane % half);
        exchange(low, low + half);
        workgroupBarrier();
    }
}
