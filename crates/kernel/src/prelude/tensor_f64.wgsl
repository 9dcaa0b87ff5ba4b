// As in `tensor`: the writer of PTX puts an instruction for each call.
fn tensor_f64(a: f64, b: f64, c: vec2<f64>) -> vec2<f64> { return c; }
