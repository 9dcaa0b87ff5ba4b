// b0 points, b1 what is least at first, b2 clouds, b3 least, b4 indices, b5 the least distance of each when
// chosen, b6 covering radii: a group for each cloud.
@compute @workgroup_size(${group})
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let d = parameter(0u);
    let most = parameter(1u);
    let first_element = parameter(2u);
    let record = parameter(4u) + 5u * group.x;
    let first = bitcast<u32>(b2[record]);
    let n = bitcast<u32>(b2[record + 1u]);
    let count = bitcast<u32>(b2[record + 2u]);
    let starts = parameter(4u) + bitcast<u32>(b2[record + 3u]);
    let given = bitcast<u32>(b2[record + 4u]);
    var m = GONE;
    var place = NONE;
    for (var i = lane; i < n; i = i + ${group}u) {
        let x = b1[parameter(3u) + first + i];
        b3[first + i] = x;
        if (x > m) {
            m = x;
            place = i;
        }
    }
    for (var number = 0u; number < most; number = number + 1u) {
        ms[lane] = m;
        places[lane] = place;
        reduce(lane);
        var c = places[0];
        workgroupBarrier();
        let at = group.x * most + number;
        if (number < count) {
            if (number < given) { c = bitcast<u32>(b2[starts + number]); }
            m = GONE;
            place = NONE;
            for (var i = lane; i < n; i = i + ${group}u) {
                var x = b3[first + i];
                if (i == c) {
                    b4[at] = i64(i);
                    b5[at] = root_${type}(x);
                    x = GONE;
                }
                let d2 = squared_distance(first + i, first + c, d, first_element);
                if (d2 < x) { x = d2; }
                b3[first + i] = x;
                if (x > m) {
                    m = x;
                    place = i;
                }
            }
        } else if (lane == 0u) {
            b4[at] = i64(-1);
            b5[at] = GONE;
        }
    }
    ms[lane] = m;
    places[lane] = place;
    reduce(lane);
    if (lane == 0u) {
        var covering = ${zero};
        if (ms[0] > covering) { covering = root_${type}(ms[0]); }
        b6[group.x] = covering;
    }
}

fn rank(place: u32) -> u32 {
    return place;
}
