
// b0 points in the order of tiles, b1 state, b2 places, b3 the places of the starts, b4 indices, b5 the least
// distance of each when chosen, b6 the number of each point.
@compute @workgroup_size(${group})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = parameter(0u);
    let d = parameter(1u);
    let tiles = parameter(2u);
    let groups = parameter(3u);
    let first_element = parameter(4u);
    let number = parameter(5u);
    // What the groups found in the step before is in one half, what they find in the other.
    let found = n + tiles * (2u * d + 1u);
    let before = (number & 1u) * groups;
    let after = groups - before;
    ms[lane] = GONE;
    places[lane] = NONE;
    if (lane < groups) {
        ms[lane] = b1[found + before + lane];
        places[lane] = bitcast<u32>(b2[tiles + before + lane]);
    }
    reduce(lane);
    var c = places[0];
    if (number < parameter(6u)) { c = bitcast<u32>(b3[parameter(7u) + number]); }
    workgroupBarrier();
    var m = GONE;
    var place = NONE;
    for (var tile = group.x * ${group}u + lane; tile < tiles; tile = tile + groups * ${group}u) {
        let begin = tile * ${tile}u;
        let end = min(begin + ${tile}u, n);
        let box = n + tile * (2u * d + 1u);
        var most = b1[box + 2u * d];
        var at = bitcast<u32>(b2[tile]);
        if ((c / ${tile}u == tile) | (bound(box, c, d, first_element) < most)) {
            most = GONE;
            at = NONE;
            for (var i = begin; i < end; i = i + 1u) {
                var x = b1[i];
                if (i == c) {
                    b4[number] = i64(rank(i));
                    b5[number] = root_${type}(x);
                    x = GONE;
                }
                let d2 = squared_distance(i, c, d, first_element);
                if (d2 < x) { x = d2; }
                b1[i] = x;
                if (is_better(x, i, most, at)) {
                    most = x;
                    at = i;
                }
            }
            b1[box + 2u * d] = most;
            b2[tile] = bitcast<i32>(at);
        }
        if (is_better(most, at, m, place)) {
            m = most;
            place = at;
        }
    }
    ms[lane] = m;
    places[lane] = place;
    reduce(lane);
    if (lane == 0u) {
        b1[found + after + group.x] = ms[0];
        b2[tiles + after + group.x] = bitcast<i32>(places[0]);
    }
}

// Never above the computed distance of a point in the box: see the pruned rung.
fn bound(box: u32, c: u32, d: u32, first_element: u32) -> ${type} {
    var sum = ${zero};
    for (var axis = 0u; axis < d; axis = axis + 1u) {
        let x = b0[first_element + c * d + axis];
        let below = b1[box + axis] - x;
        let above = x - b1[box + d + axis];
        var gap = ${zero};
        if (below > gap) { gap = below; }
        if (above > gap) { gap = above; }
        if (axis == 0u) { sum = gap * gap; } else { sum = sum + gap * gap; }
    }
    return sum;
}

fn rank(place: u32) -> u32 {
    if (place == NONE) { return NONE; }
    return bitcast<u32>(b6[parameter(8u) + place]);
}
