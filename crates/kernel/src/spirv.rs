//! The one change made to the SPIR-V that naga writes: every result of float arithmetic is
//! decorated `NoContraction`, so that no driver may fuse a product with a sum or reorder a sum.
//!
//! WGSL has no way to say it. The pass reads instructions as words and knows nothing else of the
//! format: 40 lines, against a crate with a model of all of SPIR-V.

use rung_base::{Error, ErrorKind, Result};
use std::collections::HashSet;

const HEADER_WORDS: usize = 5;
const OP_EXT_INST_IMPORT: u32 = 11;
const OP_EXT_INST: u32 = 12;
const OP_DECORATE: u32 = 71;
const NO_CONTRACTION: u32 = 42;
/// OpTypeVoid to OpTypeFunction, the first instructions that come after all decorations.
const OP_TYPES: std::ops::RangeInclusive<u32> = 19..=33;
/// OpFNegate, OpFAdd, OpFSub, OpFMul, OpFDiv, OpFRem, OpFMod and the vector products.
const FLOAT_ARITHMETIC: [u32; 13] =
    [127, 129, 131, 133, 136, 140, 141, 142, 143, 144, 145, 146, 148];
/// Sqrt and Fma of the extended set GLSL.std.450.
const EXTENDED_ARITHMETIC: [u32; 2] = [31, 50];

/// Decorates every float arithmetic result of the module.
pub fn forbid_contraction(words: &[u32]) -> Result<Vec<u32>> {
    let malformed = || Error::new(ErrorKind::Internal, "malformed SPIR-V from the writer");
    let mut results = Vec::new();
    let mut extended_sets = HashSet::new();
    let mut first_type = None;
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let (length, opcode) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        let instruction = words.get(at..at + length).filter(|i| !i.is_empty());
        let instruction = instruction.ok_or_else(malformed)?;
        if opcode == OP_EXT_INST_IMPORT {
            extended_sets.insert(instruction[1]);
        }
        if first_type.is_none() && OP_TYPES.contains(&opcode) {
            first_type = Some(at);
        }
        let arithmetic = FLOAT_ARITHMETIC.contains(&opcode)
            || opcode == OP_EXT_INST
                && extended_sets.contains(&instruction[3])
                && EXTENDED_ARITHMETIC.contains(&instruction[4]);
        if arithmetic {
            results.push(instruction[2]);
        }
        at += length;
    }
    let before = first_type.ok_or_else(malformed)?;
    let mut decorated = Vec::with_capacity(words.len() + 3 * results.len());
    decorated.extend_from_slice(&words[..before]);
    for result in results {
        decorated.extend([3 << 16 | OP_DECORATE, result, NO_CONTRACTION]);
    }
    decorated.extend_from_slice(&words[before..]);
    Ok(decorated)
}
