// a / b rounded once. Rounding the f64 quotient again is harmless: a quotient of two 24-bit
// mantissas is either exact in 25 bits or further than 2^-50 from every boundary between results.
fn divide_f32(a: f32, b: f32) -> f32 { return f32(f64(a) / f64(b)); }
