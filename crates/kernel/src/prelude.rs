//! The functions that kernel texts may call without defining them, each in the variant that the
//! device needs: its own instruction where the self-test saw it round correctly, else software.
//!
//! `fused_T(a, b, c)`, `divide_T(a, b)`, `root_T(a)` and `remainder_T(a, b)`, which no device has, for
//! T = f32, f64, and `high_product_U` for U = u32, u64; and the conversions that `cells` writes. A text gets exactly the functions it calls and those that they call, so a kernel
//! without doubles stays without doubles. The software ones are exact for every operand,
//! subnormals, infinities and overflow included.

use crate::kernel::{Variants, mentions};

/// A piece of the prelude: the names it defines and its text.
struct Piece {
    names: &'static [&'static str],
    text: fn(&Variants) -> &'static str,
}

/// What only tensor cores do: instructions that PTX has and WGSL has not.
/// Those of singles, and of doubles.
pub(crate) const TENSOR_CORES: [&[&str]; 2] =
    [&["tensor_tf32", "tensor_bf16", "rounded_tf32", "pair_bf16"], &["tensor_f64"]];

const PIECES: [Piece; 23] = [
    Piece {
        names: &["fused_f32"],
        text: |v| match (v.software_fma_f32, v.without_f64) {
            (false, _) => "fn fused_f32(a: f32, b: f32, c: f32) -> f32 { return fma(a, b, c); }\n",
            (true, false) => include_str!("prelude/fused_f32.wgsl"),
            (true, true) => include_str!("prelude/fused_f32_integers.wgsl"),
        },
    },
    Piece {
        names: &["fused_f64"],
        text: |v| match v.software_fma_f64 {
            false => "fn fused_f64(a: f64, b: f64, c: f64) -> f64 { return fma(a, b, c); }\n",
            true => include_str!("prelude/fused_f64.wgsl"),
        },
    },
    Piece {
        names: &["divide_f32"],
        text: |v| match (v.software_divide_f32, v.without_f64 || v.software_divide_f64) {
            (false, _) => "fn divide_f32(a: f32, b: f32) -> f32 { return a / b; }\n",
            (true, false) => include_str!("prelude/divide_f32.wgsl"),
            (true, true) => include_str!("prelude/divide_f32_integers.wgsl"),
        },
    },
    Piece {
        names: &["divide_f64"],
        text: |v| match v.software_divide_f64 {
            false => "fn divide_f64(a: f64, b: f64) -> f64 { return a / b; }\n",
            true => include_str!("prelude/divide_f64.wgsl"),
        },
    },
    Piece {
        names: &["root_f32"],
        text: |v| match (v.software_root_f32, v.without_f64 || v.software_root_f64) {
            (false, _) => "fn root_f32(a: f32) -> f32 { return sqrt(a); }\n",
            (true, false) => include_str!("prelude/root_f32.wgsl"),
            (true, true) => include_str!("prelude/root_f32_integers.wgsl"),
        },
    },
    Piece {
        names: &["root_f64"],
        text: |v| match v.software_root_f64 {
            false => "fn root_f64(a: f64) -> f64 { return sqrt(a); }\n",
            true => include_str!("prelude/root_f64.wgsl"),
        },
    },
    Piece { names: &["remainder_f32"], text: |_| include_str!("prelude/remainder_f32.wgsl") },
    Piece { names: &["remainder_f64"], text: |_| include_str!("prelude/remainder_f64.wgsl") },
    Piece { names: &["parts_f32"], text: |_| include_str!("prelude/f32_parts.wgsl") },
    Piece { names: &["parts_f64"], text: |_| include_str!("prelude/f64_parts.wgsl") },
    Piece { names: &["pack_f32"], text: |_| include_str!("prelude/pack_f32.wgsl") },
    Piece { names: &["pack_f64"], text: |_| include_str!("prelude/pack_f64.wgsl") },
    Piece {
        names: &["leading_zeros_u64", "shift_right_sticky_u64"],
        text: |_| {
            concat!(
                include_str!("prelude/integers.wgsl"),
                include_str!("prelude/shift_sticky.wgsl")
            )
        },
    },
    Piece { names: &["high_product_u64"], text: |_| include_str!("prelude/high_product_u64.wgsl") },
    Piece { names: &["high_product_u32"], text: |_| include_str!("prelude/high_product_u32.wgsl") },
    Piece { names: &["widened_f16"], text: |_| include_str!("prelude/widened_f16.wgsl") },
    Piece { names: &["narrowed_f16"], text: |_| include_str!("prelude/narrowed_f16.wgsl") },
    Piece { names: &["narrowed_bf16"], text: |_| include_str!("prelude/narrowed_bf16.wgsl") },
    Piece { names: &["odd_f32"], text: |_| include_str!("prelude/odd_f32.wgsl") },
    Piece { names: &["double_of_whole"], text: |_| include_str!("prelude/double_of_whole.wgsl") },
    Piece { names: &["single_of_whole"], text: |_| include_str!("prelude/single_of_whole.wgsl") },
    Piece { names: TENSOR_CORES[0], text: |_| include_str!("prelude/tensor.wgsl") },
    Piece { names: TENSOR_CORES[1], text: |_| include_str!("prelude/tensor_f64.wgsl") },
];

/// The prelude functions that `text` calls, and those that they call.
pub fn for_text(text: &str, variants: &Variants) -> String {
    let mut prelude = String::new();
    let mut taken = [false; PIECES.len()];
    loop {
        let called = |name: &&str| mentions(text, name) || mentions(&prelude, name);
        let next = (0..PIECES.len()).find(|&i| !taken[i] && PIECES[i].names.iter().any(called));
        let Some(i) = next else { return prelude };
        taken[i] = true;
        prelude.push_str((PIECES[i].text)(variants));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Binding, Kernel, compile};
    use rung_base::ElementType;

    const SOFTWARE: Variants = Variants::SOFTWARE;

    #[test]
    fn a_text_gets_what_it_calls_and_nothing_else() {
        assert_eq!(for_text("x = a + b;", &SOFTWARE), "");
        let prelude = for_text("x = fused_f64(a, b, c);", &SOFTWARE);
        for name in ["fused_f64", "pack_f64", "parts_f64", "high_product_u64"] {
            assert!(prelude.contains(&format!("fn {name}(")), "{name}");
        }
        assert!(!prelude.contains("fn divide_f64("));
        let without = Variants { without_f64: true, ..SOFTWARE };
        assert!(!mentions(&for_text("fused_f32 divide_f32 root_f32", &without), "f64"));
    }

    #[test]
    fn every_variant_of_every_function_compiles() {
        let calls = [
            (
                ElementType::F32,
                "fused_f32(x, x, x) + divide_f32(x, x) + root_f32(x) + remainder_f32(x, x)",
            ),
            (
                ElementType::F64,
                "fused_f64(x, x, x) + divide_f64(x, x) + root_f64(x) + remainder_f64(x, x)",
            ),
        ];
        for (element, call) in calls {
            for variants in [
                Variants::default(),
                SOFTWARE,
                Variants { without_f64: true, ..SOFTWARE },
                Variants { software_divide_f64: false, software_root_f64: false, ..SOFTWARE },
            ] {
                let kernel = Kernel {
                    key: "prelude".into(),
                    text: format!(
                        "@compute @workgroup_size(1) fn main() {{ let x = b0[0]; b0[0] = {call}; }}"
                    ),
                    workgroup: [1, 1, 1],
                    bindings: vec![Binding::write(element)],
                    parameter_words: 0,
                };
                compile(&kernel, &variants).unwrap();
            }
        }
    }
}
