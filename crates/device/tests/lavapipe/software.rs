//! The prelude's exact software operations against the processor's own, whether or not the device
//! needs them: random and hard operands, 65,536 and more at each width.

use crate::operands::{Words, specials};
use crate::support::{Float, Nan, assert_same};
use rung_base::ElementType;
use rung_device::{Device, probe_with};
use rung_kernel::{Binding, Kernel, Launch, Variants};
use rung_math::Width;
use std::sync::Arc;

const COUNT: usize = 1 << 17;

const SOFTWARE: Variants = Variants::SOFTWARE;

/// Triples: specials with each other, products that cancel against the addend to every degree,
/// addends at every distance from the product, subnormal and overflowing results, any bits.
fn triples<T: Float>() -> [Vec<T>; 3] {
    let mut words = Words(0x5eed);
    let specials = specials::<T>();
    let mut columns = [Vec::new(), Vec::new(), Vec::new()];
    let mut push = |triple: [T; 3]| {
        for (column, value) in columns.iter_mut().zip(triple) {
            column.push(value);
        }
    };
    for triple in ties_broken_far_below() {
        push(triple);
    }
    for &a in &specials {
        for &b in &specials {
            for _ in 0..20 {
                push([a, b, specials[words.next() as usize % specials.len()]]);
            }
        }
    }
    for _ in 0..COUNT / 8 {
        let (a, b): (T, T) = (words.near_one(4), words.near_one(4));
        let product = a * b;
        push([a, b, -product]);
        push([a, b, T::from_word(product.word() ^ T::SIGN_BIT ^ (words.next() & 3))]);
        push([a, b, words.near_one(60)]);
        push([a, b, words.near_one(120)]);
        push([words.any(), words.any(), words.any()]);
        // Products around the smallest normal and the largest finite number.
        let half = T::from_word(T::narrowed(1.0).word() / 2);
        push([a * half, b * half, T::from_word(words.next() & ((4 << T::MANTISSA) - 1))]);
        push([a / half, b / half, words.any()]);
        // Few bits set: exact ties.
        let sparse = |w: u64| T::from_word(T::narrowed(1.0).word() | (w & 7) << (T::MANTISSA - 3));
        push([
            sparse(words.next()),
            sparse(words.next()),
            T::from_word(words.next() & T::SIGN_BIT),
        ]);
    }
    for column in &mut columns {
        column.truncate(COUNT);
    }
    columns
}

/// Products of 1 + tiny, tiny below 2^-72 (f64) or 2^-37 (f32), beside an addend whose last place
/// is 2: only what alignment cuts off the product says that this is not a tie.
fn ties_broken_far_below<T: Float>() -> Vec<[T; 3]> {
    let mut words = Words(0x71e5);
    let last_place = 1u64 << T::MANTISSA;
    let square = 1u128 << (2 * T::MANTISSA);
    let limit = if T::WIDTH == Width::F32 { 1 << 9 } else { 1 << 32 };
    let mut triples = Vec::new();
    while triples.len() < 24 {
        let a = last_place | words.next() >> (64 - T::MANTISSA);
        let excess = a - (square % a as u128) as u64;
        if excess >= limit {
            continue;
        }
        let b = ((square + excess as u128) / a as u128) as u64;
        // Both are below 2^(MANTISSA + 1), so the conversions are exact.
        let unit = T::narrowed(1.0 / last_place as f64);
        let (a, b) = (T::narrowed(a as f64) * unit, T::narrowed(b as f64) * unit);
        let whole = T::narrowed(2.0 * last_place as f64).word();
        for mantissa in [0, 1, 2, 3, words.next() % last_place] {
            let c = T::from_word(whole + mantissa);
            triples.extend([[a, b, c], [-a, b, c], [a, b, -c], [-a, b, -c]]);
        }
    }
    triples
}

fn kernel<T: Float>(call: &str) -> Arc<Kernel> {
    let element = if T::WIDTH == Width::F32 { ElementType::F32 } else { ElementType::F64 };
    let read = Binding::read(element);
    Arc::new(Kernel {
        key: format!("software {call}"),
        text: format!(
            "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                let a = b0[id.x]; let b = b1[id.x]; let c = b2[id.x];
                b3[id.x] = {call};
            }}"
        ),
        workgroup: [64, 1, 1],
        bindings: vec![read, read, read, Binding::write(element)],
        parameter_words: 0,
    })
}

fn check<T: Float>(device: &dyn Device, call: &str, host: fn(T, T, T) -> T) {
    let columns = triples::<T>();
    assert!(columns[0].len() >= 65_536);
    let mut buffers: Vec<_> =
        columns.iter().map(|c| device.upload(bytemuck::cast_slice(c)).unwrap()).collect();
    let mut got = vec![T::zeroed(); columns[0].len()];
    buffers.push(device.allocate(size_of_val(&got[..])).unwrap());
    let groups = [got.len().div_ceil(64) as u32, 1, 1];
    let launch = Launch { kernel: kernel::<T>(call), parameters: Vec::new(), groups };
    device.launch(&launch, &buffers.iter().collect::<Vec<_>>()).unwrap();
    device.download(&buffers[3], bytemuck::cast_slice_mut(&mut got)).unwrap();
    let [a, b, c] = &columns;
    let want: Vec<T> = (0..got.len()).map(|i| host(a[i], b[i], c[i])).collect();
    assert_same(call, &got, &want, Nan::Any);
}

fn singles(device: &dyn Device) {
    check::<f32>(device, "fused_f32(a, b, c)", f32::mul_add);
    check::<f32>(device, "divide_f32(a, b)", |a, b, _| a / b);
    check::<f32>(device, "divide_f32(c, b)", |_, b, c| c / b);
    check::<f32>(device, "root_f32(abs(a))", |a, _, _| a.abs().sqrt());
    check::<f32>(device, "root_f32(c)", |_, _, c| c.sqrt());
    check::<f32>(device, "remainder_f32(a, b)", |a, b, _| a % b);
    check::<f32>(device, "remainder_f32(c, b)", |_, b, c| c % b);
}

#[test]
fn exact_at_both_widths() {
    let device = probe_with("llvmpipe", SOFTWARE).unwrap();
    singles(&*device);
    check::<f64>(&*device, "fused_f64(a, b, c)", f64::mul_add);
    check::<f64>(&*device, "divide_f64(a, b)", |a, b, _| a / b);
    check::<f64>(&*device, "divide_f64(c, b)", |_, b, c| c / b);
    check::<f64>(&*device, "root_f64(abs(a))", |a, _, _| a.abs().sqrt());
    check::<f64>(&*device, "root_f64(c)", |_, _, c| c.sqrt());
    check::<f64>(&*device, "remainder_f64(a, b)", |a, b, _| a % b);
    check::<f64>(&*device, "remainder_f64(c, b)", |_, b, c| c % b);
}

#[test]
fn exact_in_f32_through_doubles_and_through_integers() {
    let through_doubles =
        Variants { software_divide_f64: false, software_root_f64: false, ..SOFTWARE };
    singles(&*probe_with("llvmpipe", through_doubles).unwrap());
    singles(&*probe_with("llvmpipe", Variants { without_f64: true, ..SOFTWARE }).unwrap());
}

#[test]
fn products_of_halves_in_both_widths() {
    let device = probe_with("llvmpipe", SOFTWARE).unwrap();
    check::<f32>(
        &*device,
        "bitcast<f32>(high_product_u32(bitcast<u32>(a), bitcast<u32>(b)) >> 2u)",
        |a, b, _| {
            let product = a.to_bits() as u64 * b.to_bits() as u64;
            f32::from_bits((product >> 32) as u32 >> 2)
        },
    );
    check::<f64>(
        &*device,
        "bitcast<f64>(high_product_u64(bitcast<u64>(a), bitcast<u64>(b)) >> 2u)",
        |a, b, _| {
            let product = a.to_bits() as u128 * b.to_bits() as u128;
            f64::from_bits((product >> 64) as u64 >> 2)
        },
    );
}
