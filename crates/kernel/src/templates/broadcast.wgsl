fn element(i: u32)${result} {
    var rest = i;
${start}    for (var axis = parameter(1u); axis > 0u;) {
        axis = axis - 1u;
        let extent = parameter(${extents}u + axis);
        let quotient = rest / extent;
        let along = rest - quotient * extent;
        rest = quotient;
${walk}    }
${tail}}
