// No element.
const NONE = 0xffffffffu;

var<workgroup> values: array<${type}, ${partials}>;
var<workgroup> places: array<u32, ${partials}>;

// Whether an element takes the place of another one.
fn replaces(value: ${type}, place: u32, old: ${type}, old_place: u32) -> bool {
    if (place == NONE) { return false; }
    if (old_place == NONE) { return true; }
    if (before(value, old)) { return true; }
    return (place < old_place) & !before(old, value);
}

@compute @workgroup_size(${partials})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let number = group.y * groups.x + group.x;
    if (number >= parameter(0u)) { return; }
    let chunks = parameter(1u);
    let cell = number / chunks;
    let start = (number - cell * chunks) * ${chunk}u;
    let end = min(start + ${chunk}u, parameter(3u));
    let outer = cell / parameter(2u);
    let inner = cell - outer * parameter(2u);
    let base = parameter(4u) + outer * parameter(5u) + inner * parameter(7u);
    var best = ${type}(0);
    var best_place = NONE;
    for (var i = start + lane; i < end; i = i + ${partials}u) {
        let place = ${place};
        let x = ${x};
        if (replaces(x, place, best, best_place)) {
            best = x;
            best_place = place;
        }
    }
    values[lane] = best;
    places[lane] = best_place;
    workgroupBarrier();
    for (var half = ${half}u; half > 0u; half = half >> 1u) {
        if (lane < half) {
            let other = lane + half;
            if (replaces(values[other], places[other], values[lane], places[lane])) {
                values[lane] = values[other];
                places[lane] = places[other];
            }
        }
        workgroupBarrier();
    }
    if (lane == 0u) { ${store} }
}
