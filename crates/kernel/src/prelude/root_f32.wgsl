// The square root rounded once; rounding the f64 root again is harmless, as for the quotient.
fn root_f32(a: f32) -> f32 { return f32(sqrt(f64(a))); }
