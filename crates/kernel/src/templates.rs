//! The shapes of work that kernels do: each template turns definitions into kernels whose texts
//! hold no shape, and shapes into launches of them.

pub mod broadcast;
pub mod fill;
pub mod fold;
pub mod fourier;
pub mod locate;
pub mod map;
pub mod philox;
pub mod pick;
pub mod position;
pub mod product;
pub mod quantized;
pub mod rows;
pub mod scan;
pub mod sort;
pub mod step;
pub mod tensor;
pub mod tensor_doubles;
pub mod triangular;
pub mod windows;

use crate::kernel::{Launch, MAX_GROUPS, word};
use rung_base::Result;
use std::fmt::Display;

/// `text` with every `${name}` replaced; the texts stand in `.wgsl` files beside the templates.
pub(crate) fn filled_in(text: &str, values: &[(&str, &dyn Display)]) -> String {
    values.iter().fold(text.to_string(), |text, (name, value)| {
        text.replace(&format!("${{{name}}}"), &value.to_string())
    })
}

/// Invocations of a group in the element-wise templates.
pub(crate) const GROUP: usize = 256;

/// Groups for `count` elements that kernels walk with a stride, so any count fits.
pub(crate) fn groups_for(count: usize) -> [u32; 3] {
    [count.div_ceil(GROUP).min(MAX_GROUPS as usize) as u32, 1, 1]
}

/// A grid of `count` groups, folded into the second axis above 65,535; the text finds its number
/// as `y * width + x` and leaves when that is not below the count.
pub(crate) fn grid_for(count: usize) -> Result<[u32; 3]> {
    let count = word(count)?;
    let rows = count.div_ceil(MAX_GROUPS);
    Ok(if rows == 0 { [0, 1, 1] } else { [count.div_ceil(rows), rows, 1] })
}

/// The two halves of a double as parameter words, low first.
pub(crate) fn double_words(value: f64) -> [u32; 2] {
    let bits = value.to_bits();
    [bits as u32, (bits >> 32) as u32]
}

/// Nothing to run.
pub(crate) fn is_empty(launch: &Launch) -> bool {
    launch.groups.contains(&0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Kernel, Variants, compile};

    /// Every kernel text of the library, at the types that tell texts apart; each key once.
    pub(crate) fn all() -> Vec<Kernel> {
        let mut all = [
            broadcast::tests::all(),
            fill::tests::all(),
            fold::tests::all(),
            fourier::tests::all(),
            locate::tests::all(),
            map::tests::all(),
            philox::tests::all(),
            pick::tests::all(),
            position::tests::all(),
            product::tests::all(),
            quantized::tests::all(),
            rows::tests::all(),
            scan::tests::all(),
            sort::tests::all(),
            step::tests::all(),
            tensor::tests::all(),
            tensor_doubles::tests::all(),
            triangular::tests::all(),
            windows::tests::all(),
        ]
        .concat();
        all.sort_by(|a, b| (&a.key, &a.text).cmp(&(&b.key, &b.text)));
        all.dedup();
        all
    }

    #[test]
    fn every_kernel_compiles_with_every_variant() {
        for kernel in all().into_iter().filter(|kernel| !kernel.needs_tensor_cores()) {
            for variants in [Variants::default(), Variants::SOFTWARE] {
                compile(&kernel, &variants).unwrap();
            }
        }
    }

    /// A kernel either walks its elements, whatever the number of groups, or has a group for each of its
    /// parts, which finds its number in a grid of two axes.
    #[test]
    fn kernels_walk_or_number_their_groups() {
        let (walking, others): (Vec<Kernel>, Vec<Kernel>) =
            all().into_iter().partition(|kernel| kernel.walks());
        assert!(walking.len() > 200 && others.len() > 200, "{} {}", walking.len(), others.len());
        let numbered = |kernel: &Kernel| kernel.text.contains("group.y * groups.x + group.x");
        for kernel in others {
            assert!(numbered(&kernel) || kernel.key.contains("across"), "{}", kernel.key);
        }
        for kernel in walking {
            assert!(!numbered(&kernel) && kernel.text.contains("= id.x; "), "{}", kernel.key);
        }
    }

    /// Caches know a kernel by its key.
    #[test]
    fn kernels_of_one_key_have_one_text() {
        for pair in all().windows(2) {
            assert!(pair[0].key != pair[1].key, "two texts: {}", pair[0].key);
        }
    }
}
