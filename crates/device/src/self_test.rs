//! What a device must compute exactly before it may run anything: `+ - * /`, square root, fused
//! multiply-add, comparisons, NaN, subnormals, conversions and integers, bit for bit against the
//! host over 4,096 operand triples a width, most of them chosen to be hard.
//!
//! The test also picks the variants: where the device's own fused multiply-add, division or root
//! is wrong, the prelude's exact software one is tried in its place. Two to four launches, and one more
//! for the doubles of tensor cores (`tensor`), which decides nothing but whether they are used.

use crate::device::{Device, Failure, Info};
use rung_kernel::{Binding, Kernel, Launch, Variants};
use std::sync::Arc;

mod operands;
mod tensor;
use operands::{COUNT, Width};

/// A device whose variants are not settled.
pub(crate) trait Unsettled: Device {
    fn info_mut(&mut self) -> &mut Info;

    /// Kernels are compiled anew, with the variants as they are now.
    fn forget_kernels(&mut self);
}

/// One thing that is checked: its name in the reason text, its WGSL, its value on the host.
struct Check<T> {
    name: &'static str,
    text: &'static str,
    host: fn(T, T, T) -> T,
    /// Sets the variant that may help, if there is one and it is not yet in use.
    remedy: fn(&mut Variants) -> bool,
}

fn none(_: &mut Variants) -> bool {
    false
}

fn set(flag: &mut bool) -> bool {
    !std::mem::replace(flag, true)
}

const fn plain<T>(name: &'static str, text: &'static str, host: fn(T, T, T) -> T) -> Check<T> {
    Check { name, text, host, remedy: none }
}

fn flag(truth: bool) -> f32 {
    truth as u8 as f32
}

const F32_CHECKS: [Check<f32>; 18] = [
    plain("addition", "a + b", |a, b, _| a + b),
    plain("subtraction", "a - b", |a, b, _| a - b),
    plain("multiplication", "a * b", |a, b, _| a * b),
    Check {
        name: "division",
        text: "divide_f32(a, b)",
        host: |a, b, _| a / b,
        remedy: |v| set(&mut v.software_divide_f32),
    },
    Check {
        name: "square root",
        text: "root_f32(a)",
        host: |a, _, _| a.sqrt(),
        remedy: |v| set(&mut v.software_root_f32),
    },
    Check {
        name: "fused multiply-add",
        text: "fused_f32(a, b, c)",
        host: f32::mul_add,
        // In software it takes doubles or 64-bit integers.
        remedy: |v| !(v.without_f64 && v.without_i64) && set(&mut v.software_fma_f32),
    },
    plain("product and sum", "a * b + c", |a, b, c| a * b + c),
    plain("product and difference", "c - a * b", |a, b, c| c - a * b),
    plain("sum and difference", "(a + b) - a", |a, b, _| (a + b) - a),
    plain("two-sum", "(a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))", |a, b, _| {
        (a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))
    }),
    plain("negation", "-a", |a, _, _| -a),
    plain("absolute value", "abs(a)", |a, _, _| a.abs()),
    plain("less", "select(0.0, 1.0, a < b)", |a, b, _| flag(a < b)),
    plain("less or equal", "select(0.0, 1.0, a <= b)", |a, b, _| flag(a <= b)),
    plain("equal", "select(0.0, 1.0, a == b)", |a, b, _| flag(a == b)),
    plain("not less", "select(0.0, 1.0, !(a < b))", |a, b, _| {
        flag(!matches!(a.partial_cmp(&b), Some(std::cmp::Ordering::Less)))
    }),
    plain("NaN", "select(0.0, 1.0, (bitcast<u32>(a) & 0x7fffffffu) > 0x7f800000u)", |a, _, _| {
        flag(a.is_nan())
    }),
    plain(
        "32-bit integers",
        "bitcast<f32>(((bitcast<u32>(a) * bitcast<u32>(b)) >> 9u) | 0x3f800000u)",
        |a, b, _| f32::from_bits(a.to_bits().wrapping_mul(b.to_bits()) >> 9 | 0x3f80_0000),
    ),
];

fn long_flag(truth: bool) -> f64 {
    truth as u8 as f64
}

const F64_CHECKS: [Check<f64>; 19] = [
    plain("addition", "a + b", |a, b, _| a + b),
    plain("subtraction", "a - b", |a, b, _| a - b),
    plain("multiplication", "a * b", |a, b, _| a * b),
    Check {
        name: "division",
        text: "divide_f64(a, b)",
        host: |a, b, _| a / b,
        remedy: |v| set(&mut v.software_divide_f64),
    },
    Check {
        name: "square root",
        text: "root_f64(a)",
        host: |a, _, _| a.sqrt(),
        remedy: |v| set(&mut v.software_root_f64),
    },
    Check {
        name: "fused multiply-add",
        text: "fused_f64(a, b, c)",
        host: f64::mul_add,
        remedy: |v| set(&mut v.software_fma_f64),
    },
    plain("product and sum", "a * b + c", |a, b, c| a * b + c),
    plain("product and difference", "c - a * b", |a, b, c| c - a * b),
    plain("sum and difference", "(a + b) - a", |a, b, _| (a + b) - a),
    plain("two-sum", "(a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))", |a, b, _| {
        (a - ((a + b) - ((a + b) - a))) + (b - ((a + b) - a))
    }),
    plain("negation", "-a", |a, _, _| -a),
    plain("absolute value", "abs(a)", |a, _, _| a.abs()),
    plain("less", "select(0.0lf, 1.0lf, a < b)", |a, b, _| long_flag(a < b)),
    plain("less or equal", "select(0.0lf, 1.0lf, a <= b)", |a, b, _| long_flag(a <= b)),
    plain("equal", "select(0.0lf, 1.0lf, a == b)", |a, b, _| long_flag(a == b)),
    plain(
        "NaN",
        "select(0.0lf, 1.0lf, (bitcast<u64>(a) & 0x7ffffffffffffffflu) > 0x7ff0000000000000lu)",
        |a, _, _| long_flag(a.is_nan()),
    ),
    plain("narrowing to f32", "f64(f32(a))", |a, _, _| a as f32 as f64),
    plain(
        "64-bit products",
        "bitcast<f64>(((bitcast<u64>(a) * bitcast<u64>(b)) >> 12u) | 0x3ff0000000000000lu)",
        |a, b, _| {
            f64::from_bits(a.to_bits().wrapping_mul(b.to_bits()) >> 12 | 0x3ff0_0000_0000_0000)
        },
    ),
    plain(
        "64-bit shifts",
        "bitcast<f64>(((bitcast<u64>(a) << (bitcast<u32>(f32(b)) & 63u)) >> 12u) \
         | 0x3ff0000000000000lu)",
        |a, b, _| {
            let amount = (b as f32).to_bits() & 63;
            f64::from_bits(a.to_bits() << amount >> 12 | 0x3ff0_0000_0000_0000)
        },
    ),
];

/// Runs the test, sets the device's variants and counts; the error is a reason.
pub(crate) fn run(device: &mut dyn Unsettled) -> Result<(), String> {
    let (mut passed, mut all) = (0, 0);
    // Doubles first: the f32 replacements use them where they are exact.
    if device.info().f64 {
        passed += width(device, &F64_CHECKS)?;
        all += F64_CHECKS.len();
    }
    passed += width(device, &F32_CHECKS)?;
    all += F32_CHECKS.len();
    device.info_mut().self_test = (passed, all);
    let doubles = tensor::asked(device).map_err(|f| format!("self-test: {}", f.in_words()))?;
    device.info_mut().tensor_doubles = doubles;
    Ok(())
}

/// All checks of one width; repeated while a variant may still help.
fn width<T: Width>(device: &mut dyn Unsettled, checks: &[Check<T>]) -> Result<usize, String> {
    let operands = operands::triples::<T>();
    loop {
        let values = values(device, checks, &operands)
            .map_err(|f| format!("self-test: {}", f.in_words()))?;
        let mut changed = false;
        for (k, check) in checks.iter().enumerate() {
            let wrong = (0..COUNT).find(|&i| {
                let [a, b, c] = operands[i];
                !T::same((check.host)(a, b, c), values[i * checks.len() + k])
            });
            if let Some(i) = wrong {
                if !(check.remedy)(&mut device.info_mut().variants) {
                    return Err(reason(check, operands[i]));
                }
                changed = true;
            }
        }
        if !changed {
            return Ok(checks.len());
        }
        device.forget_kernels();
    }
}

fn reason<T: Width>(check: &Check<T>, operands: [T; 3]) -> String {
    let exact = ["negation", "absolute value", "less", "NaN", "integers", "shifts", "products"];
    let verdict = if exact.iter().any(|word| check.name.contains(word)) {
        "is wrong"
    } else if operands.iter().any(|x| x.is_subnormal()) {
        "flushes subnormals or is not correctly rounded"
    } else {
        "is not correctly rounded"
    };
    format!("self-test: {} {} {verdict} and no variant helps", T::NAME, check.name)
}

fn values<T: Width>(
    device: &dyn Unsettled,
    checks: &[Check<T>],
    operands: &[[T; 3]],
) -> Result<Vec<T>, Failure> {
    let column = |i: usize| -> Vec<T> { operands.iter().map(|triple| triple[i]).collect() };
    let mut buffers = Vec::new();
    for i in 0..3 {
        buffers.push(device.upload(bytemuck::cast_slice(&column(i)))?);
    }
    let mut results = vec![T::zeroed(); COUNT * checks.len()];
    buffers.push(device.allocate(size_of_val(results.as_slice()))?);
    let launch = Launch {
        kernel: Arc::new(kernel(checks)),
        parameters: vec![COUNT as u32],
        groups: [COUNT as u32 / 64, 1, 1],
    };
    device.launch(&launch, &buffers.iter().collect::<Vec<_>>())?;
    device.download(&buffers[3], bytemuck::cast_slice_mut(&mut results))?;
    Ok(results)
}

fn kernel<T: Width>(checks: &[Check<T>]) -> Kernel {
    let mut text = String::from(
        "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n\
         let i = id.x; if (i >= parameter(0u)) { return; }\n\
         let a = b0[i]; let b = b1[i]; let c = b2[i];\n",
    );
    for (k, check) in checks.iter().enumerate() {
        text.push_str(&format!("b3[i * {}u + {k}u] = {};\n", checks.len(), check.text));
    }
    text.push_str("}\n");
    let read = Binding::read(T::ELEMENT);
    Kernel {
        key: format!("self-test {}", T::NAME),
        text,
        workgroup: [64, 1, 1],
        bindings: vec![read, read, read, Binding::write(T::ELEMENT)],
        parameter_words: 1,
    }
}
