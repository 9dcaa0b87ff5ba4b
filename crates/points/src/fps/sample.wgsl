const NONE = 0xffffffffu;
const GONE = ${gone};

var<workgroup> ms: array<${type}, ${group}>;
var<workgroup> places: array<u32, ${group}>;

// Of several greatest the lowest number of a point: each kernel's `rank` has that of a place.
fn is_better(m: ${type}, place: u32, than: ${type}, other: u32) -> bool {
    if (m != than) { return m > than; }
    return rank(place) < rank(other);
}

// The best of what the lanes have, in place 0.
fn reduce(lane: u32) {
    workgroupBarrier();
    for (var half = ${half}u; half > 0u; half = half >> 1u) {
        if (lane < half) {
            if (is_better(ms[lane + half], places[lane + half], ms[lane], places[lane])) {
                ms[lane] = ms[lane + half];
                places[lane] = places[lane + half];
            }
        }
        workgroupBarrier();
    }
}
