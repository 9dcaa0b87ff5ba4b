    for (var chunk = 0u; chunk < chunks; chunk = chunk + 1u) {
        let end = min((chunk + 1u) * ${chunk}u, n);
        var partial = 0.0lf;
        for (var i = chunk * ${chunk}u + lane; i < end; i = i + ${partials}u) {
            let x = f64(${expression});
            partial = ${step};
        }
        wide[lane] = partial;
        halve(lane);
        if (lane == 0u) { results[chunk] = wide[0]; }
        workgroupBarrier();
    }
    // The results of several chunks are folded as elements are.
    if (chunks > 1u) {
        var partial = 0.0lf;
        if (lane < chunks) { partial = partial + results[lane]; }
        wide[lane] = partial;
        halve(lane);
    }
    let ${name} = ${finish};
    workgroupBarrier();
