
var<workgroup> values: array<${type}, ${block}>;
var<workgroup> places: array<u32, ${block}>;

fn exchange(low: u32, high: u32) {
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
