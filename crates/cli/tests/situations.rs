//! Situations that only a whole process shows: a device that was asked for and is not there, at each
//! step at which the search may end, and what the command needs to start at all.

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::{Folder, Ran, ran, rung};

/// A step at which the search for a device ends.
struct Step {
    name: &'static str,
    variables: Vec<(&'static str, String)>,
    /// After what is said of the driver that cannot be loaded.
    reason: &'static str,
    /// A word of what doctor says about mending it.
    fix: &'static str,
}

const NO_DRIVER: &str = "no GPU adapter: no Vulkan loader, or no driver for it";
const HIDDEN: &str = "hidden by RUNG_DEVICE=none";
const INSTALL: &str = "install the Vulkan loader and your GPU's driver";

/// Every step that a machine can be brought to without a device of its own.
fn steps(folder: &Folder) -> Vec<Step> {
    // NVIDIA's driver is hidden by a file that is no library, on a machine that has it.
    let libraries = folder.file("libraries/libcuda.so.1", "this is no library\n");
    let libraries = libraries.trim_end_matches("/libcuda.so.1").to_string();
    let drivers = |name: &'static str, path: String, reason, fix| Step {
        name,
        variables: vec![
            ("LD_LIBRARY_PATH", libraries.clone()),
            ("VK_DRIVER_FILES", path.clone()),
            ("VK_ICD_FILENAMES", path),
        ],
        reason,
        fix,
    };
    folder.file("both/libcuda.so.1", "this is no library\n");
    let both = folder.file("both/libvulkan.so.1", "this is no library\n");
    let gone = r#"{"file_format_version":"1.0.0","ICD":{"library_path":"/nonexistent/driver.so","api_version":"1.3.0"}}"#;
    let broken = folder.file("broken.json", "{\"ICD\":");
    vec![
        Step {
            name: "a loader that is no library",
            variables: vec![("LD_LIBRARY_PATH", both.trim_end_matches("/libvulkan.so.1").into())],
            reason: NO_DRIVER,
            fix: INSTALL,
        },
        drivers("no driver", "/nonexistent".into(), NO_DRIVER, INSTALL),
        drivers("a driver's library is gone", folder.file("gone.json", gone), NO_DRIVER, INSTALL),
        drivers("a manifest is cut off", broken, NO_DRIVER, INSTALL),
        drivers(
            "software alone",
            lavapipe(),
            "only a software adapter (llvmpipe); name it with --device",
            "install your GPU's driver",
        ),
        Step {
            name: "hidden",
            variables: vec![("LD_LIBRARY_PATH", libraries.clone()), ("RUNG_DEVICE", "none".into())],
            reason: HIDDEN,
            fix: "unset RUNG_DEVICE",
        },
    ]
}

/// Where lavapipe's manifest lies; `./check` installs it.
fn lavapipe() -> String {
    let folder = std::fs::read_dir("/usr/share/vulkan/icd.d").expect("mesa-vulkan-drivers");
    let names = folder.map(|entry| entry.unwrap().path().to_str().unwrap().to_string());
    names.into_iter().find(|path| path.contains("lvp_icd")).expect("mesa-vulkan-drivers")
}

impl Step {
    /// The whole reason: the driver's, in the loader's words, which differ by system, and the step's.
    fn is_said_in(&self, text: &str) -> bool {
        let folder = self.variables.iter().find(|(name, _)| *name == "LD_LIBRARY_PATH");
        let (_, folder) = folder.unwrap();
        let driver = format!("libcuda.so.1 cannot be loaded: {folder}/libcuda.so.1: ");
        match self.reason {
            HIDDEN => text.contains(HIDDEN),
            _ => text.contains(&driver) && text.contains(&format!("; {}", self.reason)),
        }
    }
}

fn run_at(step: &Step, folder: &Folder, words: &[&str]) -> Ran {
    let mut command = rung(folder);
    command.args(words).envs(step.variables.iter().map(|(name, value)| (name, value)));
    ran(command.output().unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn situations_07_one_line_says_at_which_step_the_search_for_a_device_ended() {
    let folder = Folder::new();
    for step in steps(&folder) {
        let plain = run_at(&step, &folder, &["--gpu", "-e", "(la:exp #d(0 1))"]);
        assert!(step.is_said_in(&plain.err), "{}: {}", step.name, plain.err);
        assert!(plain.err.starts_with("rung: warning: --gpu: "), "{}", plain.err);
        let end = format!("{}; running without it.\n", step.reason);
        assert!(plain.err.ends_with(&end), "{}: {}", step.name, plain.err);
        assert_eq!(plain.err.lines().count(), 1, "{}", plain.err);
        assert_eq!(plain.out, "#d(1.0 2.718281828459045)\n", "{}", step.name);
        assert_eq!(plain.code, Some(0), "{}", step.name);
        let forbidden = ["--gpu", "--on-decline=error", "-e", "1"];
        let forbidden = run_at(&step, &folder, &forbidden);
        assert_eq!(forbidden.code, Some(4), "{}: {}", step.name, forbidden.err);
        assert!(step.is_said_in(&forbidden.err), "{}: {}", step.name, forbidden.err);
        let doctor = run_at(&step, &folder, &["doctor", "--gpu"]).out;
        // Doctor has a line for each way to a device.
        let reason = step.reason.rsplit("no GPU adapter: ").next().unwrap_or_default();
        assert!(doctor.contains(reason), "{}: {doctor}", step.name);
        assert!(doctor.contains(&format!("fix: {}", step.fix)), "{}: {doctor}", step.name);
    }
}

/// Nothing of a driver is needed where the processor was chosen, nor where a card is named that is not
/// there.
#[test]
#[cfg(target_os = "linux")]
fn situations_08_no_driver_and_no_panic() {
    let folder = Folder::new();
    for step in steps(&folder) {
        let silent = run_at(&step, &folder, &["-e", "(la:sum #d(1 2))"]);
        let said = (silent.code, silent.out.as_str(), silent.err.as_str());
        assert_eq!(said, (Some(0), "3.0\n", ""), "{}", step.name);
        for name in ["cuda:0", "cuda:99", "no such card"] {
            let named = run_at(&step, &folder, &[&format!("--device={name}"), "-e", "1"]);
            let said = format!("{}, {name}: {}{}", step.name, named.out, named.err);
            assert_eq!(named.code, Some(4), "{said}");
            assert!(named.err.contains(&format!("rung: error: --device={name}: ")), "{said}");
            assert!(!said.contains("panicked"), "{said}");
        }
    }
}

/// The command is one file that asks the system for its C library and nothing of a vendor's, so it is
/// the same with and without a GPU.
#[test]
#[cfg(target_os = "linux")]
fn situations_27_nothing_but_the_c_library_is_linked() {
    use object::read::elf::{ElfFile64, FileHeader};
    let bytes = std::fs::read(env!("CARGO_BIN_EXE_rung")).unwrap();
    let file: ElfFile64 = ElfFile64::parse(&*bytes).unwrap();
    let (endian, data) = (file.endian(), &*bytes);
    let sections = file.elf_header().sections(endian, data).unwrap();
    let (entries, strings) = sections.dynamic(endian, data).unwrap().expect("a dynamic program");
    let strings = sections.strings(endian, data, strings).unwrap();
    let needed =
        entries.iter().filter(|entry| entry.d_tag.get(endian) == object::elf::DT_NEEDED.into());
    let names: Vec<&str> = needed
        .map(|entry| strings.get(entry.d_val.get(endian) as u32).unwrap())
        .map(|name| std::str::from_utf8(name).unwrap())
        .collect();
    assert!(names.contains(&"libc.so.6"), "{names:?}");
    const SYSTEM: [&str; 6] =
        ["libc.so", "libm.so", "libgcc_s.so", "libdl.so", "libpthread.so", "ld-linux"];
    for name in names {
        assert!(SYSTEM.iter().any(|known| name.starts_with(known)), "{name}");
    }
    let lock = include_str!("../../../Cargo.lock");
    let vendors = lock.lines().filter(|line| line.starts_with("name = "));
    let vendors =
        vendors.filter(|line| ["nvidia", "cuda", "cudnn"].iter().any(|v| line.contains(v)));
    assert_eq!(vendors.collect::<Vec<_>>(), Vec::<&str>::new());
}
