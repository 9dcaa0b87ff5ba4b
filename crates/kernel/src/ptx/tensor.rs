//! The tensor cores: functions of the prelude that have no text of their own in WGSL, each one
//! instruction of compute capability 8.0. A kernel that calls one gets the version and the target that
//! know it; every other keeps the lowest.

use super::statement::Value;
use super::text::{Class, Operand};
use super::{Failed, Outcome, Writer};

/// The function that a text calls, the instruction, and the number and class of its results.
const INSTRUCTIONS: [(&str, &str, usize, Class); 5] = [
    ("tensor_tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, Class::F32),
    ("tensor_bf16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, Class::F32),
    // Rounded to nearest, which is what it does where nothing is said.
    ("tensor_f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 2, Class::F64),
    ("rounded_tf32", "cvt.rna.tf32.f32", 1, Class::B32),
    // Its first source is the upper half, as the second argument is.
    ("pair_bf16", "cvt.rn.bf16x2.f32", 1, Class::B32),
];

/// The lowest version of PTX and target for them.
pub(super) const HEAD: (&str, &str) = ("7.0", "sm_80");

impl Writer<'_> {
    /// The results of a function that is an instruction.
    pub(super) fn tensor(
        &mut self,
        name: Option<&str>,
        arguments: &[Value],
    ) -> Outcome<Option<Vec<Operand>>> {
        let found = INSTRUCTIONS.iter().find(|(function, ..)| Some(*function) == name);
        let Some((_, opcode, count, class)) = found else { return Ok(None) };
        self.tensor_cores = true;
        let mut sources = Vec::new();
        for argument in arguments {
            let Value::Scalars(scalars) = argument else {
                return Err(Failed(format!("a pointer for {opcode}")));
            };
            let held: Vec<Operand> = scalars.iter().map(|s| self.text.held(*s)).collect();
            sources.push(held);
        }
        if opcode.starts_with("cvt") {
            sources.reverse();
            return Ok(Some(vec![self.text.make(*class, opcode, &sources.concat())]));
        }
        let results: Vec<Operand> = (0..*count).map(|_| self.text.register(*class)).collect();
        let list = |registers: &[Operand]| {
            let names: Vec<String> = registers.iter().map(|r| r.to_string()).collect();
            format!("{{{}}}", names.join(", "))
        };
        let lists: Vec<String> = sources.iter().map(|s| list(s)).collect();
        self.text.line(format_args!("{opcode} {}, {}", list(&results), lists.join(", ")));
        Ok(Some(results))
    }
}
