//! The real assembler on every kernel, and what it makes of them. `./check` fetches `ptxas` and
//! `nvdisasm` into `.venv-ptx`; where they are neither there nor on the path, these tests say that they
//! did nothing and pass.
//!
//! The oldest target takes all kernels, each other one every eighth, from another one on: all kernels
//! for one target take some 20 seconds of a core. `RUNG_PTX_ALL=1` takes all for all, and
//! `cargo nextest run -p rung-kernel --no-capture assembled` prints the table.
//!
//! What other crates make of their own (chains, kernels of programs, the points' kernels, self-tests) is
//! assembled from a folder that `RUNG_PTX_FOLDER` filled; docs/nvidia.md has the commands.

use super::{kernel, templates};
use crate::{Kernel, Variants, compile_ptx};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes that a kernel may spill: the gradient of layer norm spills 64 in f64 on sm_90 and sm_100. Others that
/// spill at all, on some targets, are in docs/nvidia.md.
const SPILLS: u32 = 64;
/// Every architecture from compute capability 7.5 on.
const TARGETS: [u32; 9] = [75, 80, 86, 89, 90, 100, 110, 120, 121];

/// A tool of the assembler's wheels.
fn tool(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv-ptx/nvidia/cu13/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::iter::once(root).chain(std::env::split_paths(&path));
    let found = found.map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("SKIPPED, PTX is not assembled: no {name} in .venv-ptx or on the path (./check)");
    }
    found
}

/// The PTX of kernels, by their numbers.
fn texts(kernels: &[(usize, &Kernel)]) -> Vec<(usize, String)> {
    let written = |kernel: &Kernel| compile_ptx(kernel, &Variants::default()).unwrap();
    kernels.iter().map(|(i, kernel)| (*i, written(kernel))).collect()
}

/// Kernels as modules, each under its number's name, so that the assembler starts seldom: one for those of each
/// version and target, which is the head that a kernel has when it is loaded.
fn modules<'t>(texts: impl IntoIterator<Item = &'t (usize, String)>) -> Vec<String> {
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for (i, text) in texts {
        let (head, body): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| is_head(line));
        let head = head[1..].join("\n");
        let body = body.join("\n").replace("entry main(", &format!("entry k{i}("));
        let body = body.replace("group", &format!("k{i}_group"));
        let body = body.replace("table", &format!("k{i}_table"));
        let module = all.entry(head.clone()).or_insert(head + "\n");
        *module += &body;
        module.push('\n');
    }
    all.into_values().collect()
}

fn is_head(line: &str) -> bool {
    ["// ", ".version", ".target", ".address_size"].iter().any(|start| line.starts_with(start))
}

/// What the assembler says of a kernel.
#[derive(Default)]
struct Use {
    registers: u32,
    shared: u32,
    spills: u32,
}

/// Assembles several modules in turn.
fn assemble_all(ptxas: &Path, target: u32, modules: &[String], cubin: &Path) -> Uses {
    modules.iter().flat_map(|text| assemble(ptxas, target, text, cubin)).collect()
}

/// Assembles into `cubin` and gives the use of each kernel, by number.
fn assemble(ptxas: &Path, target: u32, text: &str, cubin: &Path) -> Uses {
    let source = cubin.with_extension("ptx");
    std::fs::write(&source, text).unwrap();
    let arch = format!("-arch=sm_{target}");
    let run = Command::new(ptxas).args([&arch, "-v"]).arg(&source).arg("-o").arg(cubin).output();
    let run = run.unwrap();
    let log = String::from_utf8_lossy(&run.stderr).into_owned();
    let log = String::from_utf8_lossy(&run.stdout).into_owned() + &log;
    assert!(run.status.success(), "sm_{target}:\n{log}");
    let (mut uses, mut now) = (BTreeMap::new(), None);
    for line in log.lines() {
        if let Some((_, rest)) = line.split_once("entry function 'k") {
            now = Some(rest.split('\'').next().unwrap().parse().unwrap());
        }
        let Some(now) = now else { continue };
        let entry: &mut Use = uses.entry(now).or_default();
        entry.registers += before(line, " registers");
        entry.shared += before(line, " bytes smem");
        entry.spills += before(line, " bytes spill stores");
    }
    uses
}

/// The number that stands before some words.
fn before(line: &str, words: &str) -> u32 {
    let number = line.split_once(words).and_then(|(start, _)| start.rsplit([' ', ',']).next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl Use {
    /// Prints a line of the table, and fails where a group of so many invocations has no place.
    fn fits(&self, target: u32, name: &str, threads: u32) {
        let Use { registers, shared, spills } = self;
        println!(
            "sm_{target} {registers:3} registers, {shared:5} bytes shared, {spills} spilled: {name}"
        );
        assert!(*spills <= SPILLS, "{name} for sm_{target}: {spills} bytes");
        assert!(registers * threads <= 65_536, "{name} for sm_{target}");
        assert!(*shared <= 48 << 10, "{name} for sm_{target}");
    }
}

/// The use of each kernel, by number.
type Uses = BTreeMap<usize, Use>;

/// A folder of one test's own.
fn folder(test: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("rung-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Next to nothing spills, and a group of every kernel fits a multiprocessor's 65,536 registers and 48 KiB.
#[test]
fn every_kernel_is_assembled_for_every_target() {
    let Some(ptxas) = tool("ptxas") else { return };
    let kernels = templates::tests::all();
    let numbered: Vec<(usize, &Kernel)> = kernels.iter().enumerate().collect();
    let texts = texts(&numbered);
    let every = std::env::var_os("RUNG_PTX_ALL").is_some();
    let folder = folder("ptxas");
    for (t, target) in TARGETS.into_iter().enumerate() {
        let asked = |i: usize| match kernels[i].needs_tensor_cores() {
            true => target >= 80 && (every || i % 4 == t % 4),
            false => every || t == 0 || i % 8 == t - 1,
        };
        let taken = modules(texts.iter().filter(|(i, _)| asked(*i)));
        for (i, used) in assemble_all(&ptxas, target, &taken, &folder.join("all.cubin")) {
            let kernel = &kernels[i];
            used.fits(target, &kernel.key, kernel.workgroup.iter().product());
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// The instructions of each kernel, by number.
fn disassembled(nvdisasm: &Path, cubin: &Path) -> BTreeMap<usize, Vec<String>> {
    let run = Command::new(nvdisasm).arg("-c").arg(cubin).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let (mut all, mut now) = (BTreeMap::new(), None);
    for line in String::from_utf8_lossy(&run.stdout).lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix(".text.k").and_then(|l| l.strip_suffix(':')) {
            now = name.parse().ok();
        } else if let (Some(now), Some((_, code))) = (now, line.split_once("*/")) {
            all.entry(now).or_insert_with(Vec::new).push(code.trim().to_string());
        }
    }
    all
}

fn count(code: &[String], name: &str) -> usize {
    let is = |line: &&String| line.split_whitespace().any(|word| word.starts_with(name));
    code.iter().filter(is).count()
}

/// Products and sums stay apart, and vectors move in one instruction.
#[test]
fn the_assembler_contracts_nothing_and_moves_whole_vectors() {
    let (Some(ptxas), Some(nvdisasm)) = (tool("ptxas"), tool("nvdisasm")) else { return };
    let text = |body: &str| {
        kernel(&format!(
            "@group(0) @binding(1) var<storage, read> v: array<vec4<f32>>;\n\
             @group(0) @binding(2) var<storage, read_write> w: array<vec4<f32>>;\n\
             @group(0) @binding(3) var<storage, read_write> d: array<f64>;\n\
             @compute @workgroup_size(32)\n\
             fn main(@builtin(local_invocation_index) i: u32) {{ {body} }}"
        ))
    };
    let apart =
        text("b0[i] = b0[i] * b0[i + 1u] + b0[i + 2u]; d[i] = d[i] * d[i + 1u] + d[i + 2u];");
    let fused = text("b0[i] = fma(b0[i], b0[i + 1u], b0[i + 2u]);");
    let moved = text("w[i] = v[i];");
    let folder = folder("nvdisasm");
    for target in [TARGETS[0], TARGETS[4], TARGETS[8]] {
        let cubin = folder.join("three.cubin");
        let three = modules(&texts(&[(0, &apart), (1, &fused), (2, &moved)]));
        assemble_all(&ptxas, target, &three, &cubin);
        let code = disassembled(&nvdisasm, &cubin);
        for (k, name, wanted) in [
            (0, "FFMA", 0),
            (0, "DFMA", 0),
            (0, "FMUL", 1),
            (0, "FADD", 1),
            (0, "DMUL", 1),
            (0, "DADD", 1),
            (1, "FFMA", 1),
            (1, "FMUL", 0),
            (2, "LDG.E.128", 1),
            (2, "STG.E.128", 1),
        ] {
            assert_eq!(count(&code[&k], name), wanted, "{name} for sm_{target}: {:#?}", code[&k]);
        }
    }
    nothing_fused_in_the_library(&ptxas, &nvdisasm, &folder.join("all.cubin"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Only quotients and roots, which are sequences with fused steps, and what says `fma`.
fn nothing_fused_in_the_library(ptxas: &Path, nvdisasm: &Path, cubin: &Path) {
    let kernels = templates::tests::all();
    let apart = |kernel: &Kernel| {
        let text = compile_ptx(kernel, &Variants::default()).unwrap();
        !["fma.", "div.rn", "sqrt.", "mma."].iter().any(|name| text.contains(name))
    };
    let taken: Vec<(usize, &Kernel)> =
        kernels.iter().enumerate().filter(|(i, k)| i % 4 == 0 && apart(k)).collect();
    assert!(taken.len() > 50, "{}", taken.len());
    assemble_all(ptxas, TARGETS[0], &modules(&texts(&taken)), cubin);
    let code = disassembled(nvdisasm, cubin);
    for (i, kernel) in taken {
        let fused = count(&code[&i], "FFMA") + count(&code[&i], "DFMA");
        assert_eq!(fused, 0, "{}", kernel.key);
    }
}

/// What `RUNG_PTX_FOLDER` kept of a run, for every target that a text may be compiled for, 200 in a module.
/// Nothing without a folder: `RUNG_PTX_ASSEMBLE=/tmp/ptx cargo nextest run -p rung-kernel --no-capture a_folder`.
#[test]
fn a_folder_of_kernels_is_assembled_for_every_target() {
    let Some(path) = std::env::var_os("RUNG_PTX_ASSEMBLE") else { return };
    let Some(ptxas) = tool("ptxas") else { return };
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts: Vec<(usize, String)> =
        files.iter().map(|file| std::fs::read_to_string(file).unwrap()).enumerate().collect();
    let folder = folder("ptxas-folder");
    for target in TARGETS {
        let (mut count, mut spilling) = (0, 0);
        for some in texts.chunks(200) {
            let later =
                |text: &str| text.contains(&format!(".target {}", crate::ptx::tensor::HEAD.1));
            let some = some.iter().filter(|(_, text)| target >= 80 || !later(text));
            let cubin = folder.join("some.cubin");
            for (i, used) in assemble_all(&ptxas, target, &modules(some), &cubin) {
                used.fits(target, &files[i].display().to_string(), threads(&texts[i].1));
                (count, spilling) = (count + 1, spilling + u32::from(used.spills > 0));
            }
        }
        println!("sm_{target}: {count} of {} kernels, {spilling} spill", files.len());
        assert!(count > 0, "no kernel in the folder");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// The invocations of a group, as `.maxntid` has them.
fn threads(text: &str) -> u32 {
    let line = text.lines().find_map(|line| line.strip_prefix(".maxntid ")).unwrap();
    line.split(", ").map(|extent| extent.parse::<u32>().unwrap()).product()
}
