// How many elements of an ascending vector are before a key, or not after it.
fn place(key: ${type}, right: bool) -> u32 {
    var low = 0u;
    var high = parameter(${length}u);
    while (low < high) {
        let middle = low + (high - low) / 2u;
        let x = ${x};
        let before = ${below} | (right & !${above});
        if (before) { low = middle + 1u; } else { high = middle; }
    }
    return low;
}

