//! From a kernel's text to SPIR-V or PTX: add the buffers and the prelude, parse and validate with
//! naga, refuse what no device computes exactly, write, and forbid contraction.
//!
//! Every failure is an error value with the kernel's key; a failure here is our own mistake, not
//! the user's, so its kind is `Internal`. A writer of MSL will start from the same module.

use crate::kernel::{Access, Kernel, Variants, per_word, wgsl_type};
use crate::{prelude, ptx, spirv};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use rung_base::{Error, ErrorKind, Result};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::Path;
use std::sync::OnceLock;

/// The entry point of every kernel.
pub const ENTRY_POINT: &str = "main";

/// SPIR-V of the kernel for a device that needs `variants`.
pub fn compile(kernel: &Kernel, variants: &Variants) -> Result<Vec<u32>> {
    // No half widths of the device's own and no subgroups: a text that needs either is refused, so
    // no device has to have them.
    let capabilities = Capabilities::FLOAT64 | Capabilities::SHADER_INT64;
    if kernel.needs_tensor_cores() {
        return Err(failed(kernel, "SPIR-V", "tensor cores are written as PTX alone".into()));
    }
    let (module, info) = checked(kernel, variants, capabilities)?;
    let options = naga::back::spv::Options {
        lang_version: (1, 3),
        flags: naga::back::spv::WriterFlags::empty(),
        // Without a map, group and binding are taken from the text as they stand.
        fake_missing_bindings: true,
        // Kernels bound their own loops and indices; robust buffer access is on besides.
        force_loop_bounding: false,
        emit_int_div_checks: false,
        zero_initialize_workgroup_memory: naga::back::spv::ZeroInitializeWorkgroupMemoryMode::None,
        ..Default::default()
    };
    let pipeline = naga::back::spv::PipelineOptions {
        shader_stage: naga::ShaderStage::Compute,
        entry_point: ENTRY_POINT.to_string(),
    };
    let words = naga::back::spv::write_vec(&module, &info, &options, Some(&pipeline))
        .map_err(|e| failed(kernel, "write", e.to_string()))?;
    let is_double = |t: &naga::Type| t.inner.scalar() == Some(naga::Scalar::F64);
    let doubles = module.types.iter().any(|(_, t)| is_double(t));
    spirv::finish(&words, variants, doubles)
}

/// PTX of the kernel for NVIDIA's devices; `ptx` says how it is launched. Every such device computes
/// exactly, so its `variants` are `Variants::default()` once its self-test agrees. Half widths and
/// subgroups of the device's own are allowed here.
pub fn compile_ptx(kernel: &Kernel, variants: &Variants) -> Result<String> {
    let capabilities = Capabilities::FLOAT64
        | Capabilities::SHADER_INT64
        | Capabilities::SHADER_INT64_ATOMIC_ALL_OPS
        | Capabilities::SHADER_FLOAT16
        | Capabilities::SUBGROUP
        | Capabilities::SUBGROUP_BARRIER;
    let (module, info) = checked(kernel, variants, capabilities)?;
    let text = ptx::write(&module, &info, &kernel.key).map_err(|e| failed(kernel, "PTX", e.0))?;
    if let Some(folder) = std::env::var_os(PTX_FOLDER).filter(|folder| !folder.is_empty())
        && let Err(error) = kept(Path::new(&folder), kernel, &text)
    {
        let _ = NOT_KEPT.set(error.message().to_string());
    }
    Ok(text)
}

/// Why a PTX that was to be kept is not: the first reason of this process.
static NOT_KEPT: OnceLock<String> = OnceLock::new();

/// What to say of the folder for PTX at the end of a run, if it was named and did not take all:
/// `RUNG_PTX_FOLDER: cannot write ...`.
pub fn ptx_not_kept() -> Option<String> {
    NOT_KEPT.get().map(|reason| format!("{PTX_FOLDER}: {reason}; not every PTX is kept."))
}

/// The environment variable that names a folder for every PTX that is made: what a run loads, chains and
/// kernels of its own among it, can then be given to the assembler (docs/nvidia.md).
const PTX_FOLDER: &str = "RUNG_PTX_FOLDER";

/// Kernels of one key and text have one file; its name is what of the key a file may be called.
fn kept(folder: &Path, kernel: &Kernel, text: &str) -> Result<()> {
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = kernel.key.chars().take(80).map(plain).collect();
    let path = folder.join(format!("{name}-{:016x}.ptx", hash.finish()));
    rung_base::file::replace(&path, |file| file.write_all(text.as_bytes()))
}

fn failed(kernel: &Kernel, stage: &str, what: String) -> Error {
    Error::new(ErrorKind::Internal, format!("kernel {}: {stage}: {what}", kernel.key))
}

/// The kernel's text as a module that is valid with these capabilities.
fn checked(
    kernel: &Kernel,
    variants: &Variants,
    capabilities: Capabilities,
) -> Result<(naga::Module, ModuleInfo)> {
    let text = full_text(kernel, variants)?;
    let module = naga::front::wgsl::parse_str(&text)
        .map_err(|e| failed(kernel, "parse", e.emit_to_string(&text).trim().to_string()))?;
    let info = Validator::new(ValidationFlags::all(), capabilities)
        .subgroup_stages(naga::valid::ShaderStages::COMPUTE)
        .subgroup_operations(naga::valid::SubgroupOperationSet::all())
        .validate(&module)
        .map_err(|e| failed(kernel, "validate", e.emit_to_string(&text).trim().to_string()))?;
    refuse_built_ins(&module, &info).map_err(|what| failed(kernel, "lint", what))?;
    Ok((module, info))
}

/// The whole WGSL: buffers, parameters, the parts of the prelude that the text calls, the text.
pub fn full_text(kernel: &Kernel, variants: &Variants) -> Result<String> {
    // Directives come before every declaration.
    let is_directive = |line: &&str| line.starts_with("enable ");
    let directives: usize =
        kernel.text.split_inclusive('\n').take_while(is_directive).map(str::len).sum();
    let (directives, rest) = kernel.text.split_at(directives);
    let mut text = String::from(directives);
    for (i, binding) in kernel.bindings.iter().enumerate() {
        let access = match binding.access {
            Access::Read => "read",
            Access::ReadWrite | Access::Shared => "read_write",
        };
        let element = match binding.access {
            Access::Shared => "atomic<u32>",
            // Several in a word: `cells` reads and writes them.
            _ if per_word(binding.element) > 1 => "u32",
            _ => wgsl_type(binding.element)?,
        };
        let _ = writeln!(
            text,
            "@group(0) @binding({i}) var<storage, {access}> b{i}: array<{element}>;"
        );
    }
    text.push_str("@group(1) @binding(0) var<uniform> parameters: array<vec4<u32>, 16>;\n");
    text.push_str("fn parameter(i: u32) -> u32 { return parameters[i >> 2u][i & 3u]; }\n");
    text.push_str(&prelude::for_text(&kernel.text, variants));
    text.push_str(rest);
    Ok(text)
}

/// Float built-ins that are exact on every device or replaced by the self-test. The others have
/// no definition to agree with, and at f64 drivers return garbage for them.
const EXACT: [naga::MathFunction; 3] =
    [naga::MathFunction::Abs, naga::MathFunction::Sqrt, naga::MathFunction::Fma];

fn refuse_built_ins(module: &naga::Module, info: &ModuleInfo) -> std::result::Result<(), String> {
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    let entries =
        module.entry_points.iter().enumerate().map(|(i, e)| (&e.function, info.get_entry_point(i)));
    for (function, function_info) in functions.chain(entries) {
        for (_, expression) in function.expressions.iter() {
            let naga::Expression::Math { fun, arg, .. } = expression else { continue };
            let inner = function_info[*arg].ty.inner_with(&module.types);
            let float = inner.scalar().filter(|s| s.kind == naga::ScalarKind::Float);
            if let Some(scalar) = float.filter(|_| !EXACT.contains(fun)) {
                return Err(format!(
                    "built-in {fun:?} at f{} has no exact result; write its definition",
                    8 * scalar.width
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Binding;
    use rung_base::ElementType;

    fn kernel(statement: &str) -> Kernel {
        Kernel {
            key: "test".into(),
            text: format!("@compute @workgroup_size(1) fn main() {{ {statement} }}"),
            workgroup: [1, 1, 1],
            bindings: vec![Binding::write(ElementType::F64)],
            parameter_words: 0,
        }
    }

    #[test]
    fn every_float_result_is_decorated() {
        let words =
            compile(&kernel("b0[0] = b0[1] * b0[2] + b0[3] / -b0[4];"), &Variants::default());
        let words = words.unwrap();
        let decorations = words.windows(3).filter(|w| w[0] == 3 << 16 | 71 && w[2] == 42).count();
        assert_eq!(decorations, 4);
    }

    #[test]
    fn built_ins_without_an_exact_result_are_refused() {
        let e = compile(&kernel("b0[0] = exp(b0[0]);"), &Variants::default()).unwrap_err();
        assert_eq!(
            e.message(),
            "kernel test: lint: built-in Exp at f64 has no exact result; write its definition"
        );
        assert!(compile(&kernel("b0[0] = sqrt(abs(b0[0]));"), &Variants::default()).is_ok());
    }

    /// Whether a device has half widths or subgroups, and of which size, is no kernel's concern.
    #[test]
    fn half_widths_and_subgroups_of_a_device_are_refused() {
        for text in [
            "enable f16; var<private> h: f16; @compute @workgroup_size(1) fn main() { h = 1.0h; }",
            "@compute @workgroup_size(1) fn main() { b0[0] = f64(subgroupAdd(1u)); }",
        ] {
            let kernel = Kernel { text: text.into(), ..kernel("") };
            assert!(compile(&kernel, &Variants::default()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bad_text_is_an_error_with_its_place() {
        let e = compile(&kernel("b0[0] = nothing;"), &Variants::default()).unwrap_err();
        assert!(e.message().starts_with("kernel test: parse: error: no definition in scope"));
    }
}
