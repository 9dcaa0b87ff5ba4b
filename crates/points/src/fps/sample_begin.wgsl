
// b0 points in the order of tiles, b1 state, b2 places, b3 the number of each, b4 what is least at first.
@compute @workgroup_size(${group})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = parameter(0u);
    let d = parameter(1u);
    let tiles = parameter(2u);
    let groups = parameter(3u);
    let first_element = parameter(4u);
    let far = b4[parameter(6u)];
    var m = GONE;
    var place = NONE;
    for (var tile = group.x * ${group}u + lane; tile < tiles; tile = tile + groups * ${group}u) {
        let begin = tile * ${tile}u;
        let end = min(begin + ${tile}u, n);
        let box = n + tile * (2u * d + 1u);
        for (var axis = 0u; axis < d; axis = axis + 1u) {
            var low = b0[first_element + begin * d + axis];
            var high = low;
            for (var i = begin + 1u; i < end; i = i + 1u) {
                let x = b0[first_element + i * d + axis];
                if (x < low) { low = x; }
                if (x > high) { high = x; }
            }
            b1[box + axis] = low;
            b1[box + d + axis] = high;
        }
        var most = GONE;
        var at = NONE;
        for (var i = begin; i < end; i = i + 1u) {
            b1[i] = far;
            if (is_better(far, i, most, at)) {
                most = far;
                at = i;
            }
        }
        b1[box + 2u * d] = most;
        b2[tile] = bitcast<i32>(at);
        if (is_better(most, at, m, place)) {
            m = most;
            place = at;
        }
    }
    ms[lane] = m;
    places[lane] = place;
    reduce(lane);
    if (lane == 0u) {
        b1[n + tiles * (2u * d + 1u) + group.x] = ms[0];
        b2[tiles + group.x] = bitcast<i32>(places[0]);
    }
}

fn rank(place: u32) -> u32 {
    if (place == NONE) { return NONE; }
    return bitcast<u32>(b3[parameter(5u) + place]);
}
