// The bodies are placeholders that keep the types: the writer of PTX puts an instruction for each call.
fn tensor_tf32(a: vec4<u32>, b: vec2<u32>, c: vec4<f32>) -> vec4<f32> { return c; }
fn tensor_bf16(a: vec4<u32>, b: vec2<u32>, c: vec4<f32>) -> vec4<f32> { return c; }
fn rounded_tf32(x: f32) -> u32 { return bitcast<u32>(x); }
fn pair_bf16(low: f32, high: f32) -> u32 { return bitcast<u32>(low); }
