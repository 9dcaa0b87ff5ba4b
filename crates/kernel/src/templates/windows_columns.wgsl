fn element(i: u32) -> ${type} {
${decoded}    let row = row_of(oy, ky);
    let column = column_of(ox, kx);
    if ((row >= parameter(2u)) | (column >= parameter(3u))) { return ${type}(0); }
    return ${value};
}
