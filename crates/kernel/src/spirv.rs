//! What is changed in the SPIR-V that naga writes. Every result of float arithmetic is decorated
//! `NoContraction`, so that no driver may fuse a product with a sum or reorder a sum; and where
//! the device lets a kernel demand it, subnormals are kept, signed zeros, infinities and NaNs
//! preserved, and rounding is to nearest even.
//!
//! WGSL can say none of it. The pass reads instructions as words and knows nothing else of the
//! format: some 100 lines, against a crate with a model of all of SPIR-V.

use crate::kernel::{Demands, Variants};
use rung_base::{Error, ErrorKind, Result};

const HEADER_WORDS: usize = 5;
const OP_EXTENSION: u32 = 10;
const OP_EXT_INST: u32 = 12;
const OP_ENTRY_POINT: u32 = 15;
const OP_EXECUTION_MODE: u32 = 16;
const OP_CAPABILITY: u32 = 17;
const OP_DECORATE: u32 = 71;
const NO_CONTRACTION: u32 = 42;
/// OpTypeVoid to OpTypeFunction, the first instructions that come after all decorations.
const OP_TYPES: std::ops::RangeInclusive<u32> = 19..=33;
/// OpFNegate, OpFAdd, OpFSub, OpFMul, OpFDiv, OpFRem, OpFMod and the vector products.
const FLOAT_ARITHMETIC: [u32; 13] =
    [127, 129, 131, 133, 136, 140, 141, 142, 143, 144, 145, 146, 148];
/// Sqrt and Fma of the extended set GLSL.std.450, the only set that naga imports here.
const EXTENDED_ARITHMETIC: [u32; 2] = [31, 50];
/// Execution modes and capabilities of SPV_KHR_float_controls: mode, capability.
const KEEP_SUBNORMALS: (u32, u32) = (4459, 4464);
const KEEP_SPECIALS: (u32, u32) = (4461, 4466);
const NEAREST_EVEN: (u32, u32) = (4462, 4467);

/// The module with contraction forbidden and the demands of `variants` stated; those at 64 bits
/// only when `doubles` says that the module has them.
pub fn finish(words: &[u32], variants: &Variants, doubles: bool) -> Result<Vec<u32>> {
    let module = instructions(words)?;
    let demands = demands(variants, doubles);
    let mut finished = words[..HEADER_WORDS].to_vec();
    let mut emit = |opcode: u32, operands: &[u32]| {
        finished.push((operands.len() as u32 + 1) << 16 | opcode);
        finished.extend(operands);
    };
    let (mut extension_due, mut decorations_due) = (!demands.is_empty(), true);
    for &(_, (_, capability)) in &demands {
        emit(OP_CAPABILITY, &[capability]);
    }
    for instruction in &module {
        let opcode = instruction[0] & 0xffff;
        if extension_due && opcode != OP_CAPABILITY {
            emit(OP_EXTENSION, &string("SPV_KHR_float_controls"));
            extension_due = false;
        }
        if decorations_due && OP_TYPES.contains(&opcode) {
            for result in module.iter().filter_map(|i| arithmetic_result(i)) {
                emit(OP_DECORATE, &[result, NO_CONTRACTION]);
            }
            decorations_due = false;
        }
        emit(opcode, &instruction[1..]);
        if opcode == OP_ENTRY_POINT {
            for &(width, (mode, _)) in &demands {
                emit(OP_EXECUTION_MODE, &[instruction[2], mode, width]);
            }
        }
    }
    Ok(finished)
}

/// The instructions after the header, each with its first word.
fn instructions(words: &[u32]) -> Result<Vec<&[u32]>> {
    let mut all = Vec::new();
    let mut at = HEADER_WORDS;
    while at < words.len() {
        let length = (words[at] >> 16) as usize;
        let instruction = words.get(at..at + length).filter(|i| !i.is_empty());
        all.push(
            instruction.ok_or_else(|| {
                Error::new(ErrorKind::Internal, "malformed SPIR-V from the writer")
            })?,
        );
        at += length;
    }
    Ok(all)
}

fn arithmetic_result(instruction: &[u32]) -> Option<u32> {
    let opcode = instruction[0] & 0xffff;
    let arithmetic = FLOAT_ARITHMETIC.contains(&opcode)
        || opcode == OP_EXT_INST && EXTENDED_ARITHMETIC.contains(&instruction[4]);
    arithmetic.then(|| instruction[2])
}

/// (width, (mode, capability)) of everything that is demanded.
fn demands(variants: &Variants, doubles: bool) -> Vec<(u32, (u32, u32))> {
    let mut all = Vec::new();
    let mut at_width = |width: u32, demands: Demands| {
        let wanted = [
            (demands.keep_subnormals, KEEP_SUBNORMALS),
            (demands.keep_specials, KEEP_SPECIALS),
            (demands.nearest_even, NEAREST_EVEN),
        ];
        all.extend(wanted.into_iter().filter(|(on, _)| *on).map(|(_, what)| (width, what)));
    };
    at_width(32, variants.demands_f32);
    if doubles {
        at_width(64, variants.demands_f64);
    }
    all
}

/// A literal string: its bytes and at least one zero, four to a word.
fn string(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 1).next_multiple_of(4), 0);
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    bytes.chunks_exact(4).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_become_capabilities_an_extension_and_execution_modes() {
        let entry = [4 << 16 | OP_ENTRY_POINT, 5, 9, 0];
        let header = [0x0723_0203, 0x0001_0300, 0, 20, 0];
        let rest = [2 << 16 | OP_CAPABILITY, 1, 3 << 16 | 14, 0, 1];
        let types = [2 << 16 | 19, 3, 5 << 16 | 129, 4, 7, 8, 8];
        let words = [&header[..], &rest[..], &entry[..], &types[..]].concat();
        let variants = Variants {
            demands_f32: Demands { keep_subnormals: true, ..Demands::default() },
            demands_f64: Demands { nearest_even: true, ..Demands::default() },
            ..Variants::default()
        };
        let got = finish(&words, &variants, false).unwrap();
        let want = [
            &header[..],
            &[2 << 16 | OP_CAPABILITY, 4464],
            &rest[..2],
            &[7 << 16 | OP_EXTENSION],
            &string("SPV_KHR_float_controls"),
            &rest[2..],
            &entry,
            &[4 << 16 | OP_EXECUTION_MODE, 9, 4459, 32],
            &[3 << 16 | OP_DECORATE, 7, NO_CONTRACTION],
            &types,
        ]
        .concat();
        assert_eq!(got, want);
        let with_doubles = finish(&words, &variants, true).unwrap();
        assert_eq!(with_doubles.len(), want.len() + 2 + 4);
        assert!(finish(&words[..words.len() - 1], &variants, false).is_err());
    }
}
