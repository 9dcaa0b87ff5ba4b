
// b1 state, b0 the covering radius: one group.
@compute @workgroup_size(${group})
fn main(@builtin(local_invocation_index) lane: u32) {
    let groups = parameter(0u);
    ms[lane] = GONE;
    places[lane] = lane;
    if (lane < groups) { ms[lane] = b1[parameter(1u) + lane]; }
    reduce(lane);
    if (lane == 0u) {
        var covering = ${zero};
        if (ms[0] > covering) { covering = root_${type}(ms[0]); }
        b0[0] = covering;
    }
}

fn rank(place: u32) -> u32 {
    return place;
}
