// How many elements of an ascending vector are before a key, or not after it.
fn place(key: ${type}, right: bool) -> u32 {
    var low = 0u;
    var length = parameter(${length}u);
    while (length > 0u) {
        let half = max(length / 2u, 1u);
        let middle = low + half - 1u;
        let x = ${x};
        let before = ${below} | (right & !${above});
        if (before) { low = low + half; }
        length = length - half;
    }
    return low;
}

