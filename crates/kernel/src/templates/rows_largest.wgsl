    var best${at} = ${identity};
    for (var i = lane; i < n; i = i + ${partials}u) { best${at} = larger(best${at}, ${expression}); }
    narrow[lane] = best${at};
    workgroupBarrier();
    for (var half = ${half}u; half > 0u; half = half >> 1u) {
        if (lane < half) { narrow[lane] = larger(narrow[lane], narrow[lane + half]); }
        workgroupBarrier();
    }
    let ${name} = narrow[0];
    workgroupBarrier();
