
// Of a slice, the element at a place. One that is not there stands for none.
const NONE = 0xffffffffu;

fn first_of(slice: u32) -> u32 {
    let inner = parameter(3u);
    let outer = slice / inner;
    return parameter(4u) + outer * parameter(2u) * inner + (slice - outer * inner);
}

fn value_at(slice: u32, place: u32) -> ${type} {
    return ${x};
}
