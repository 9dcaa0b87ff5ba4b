fn element(i: u32) -> ${type} {
    let width = parameter(1u);
    let row = i / width;
    let column = i - row * width;
    var sum = ${own};
    let end = u32(${starts}[row + 1u]);
    for (var k = u32(${starts}[row]); k < end; k = k + 1u) {
        let more = ${more};
        sum = ${sum};
    }
    return ${value};
}
