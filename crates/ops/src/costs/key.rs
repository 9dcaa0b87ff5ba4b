//! What a measurement holds for: the machine, the number of threads, the library, the device and
//! its driver. Figures of another key are not used, and the first part that differs is named.

use rung_device::Info;
use rung_lanes::Level;
use rung_library::Library;

/// The key of one measurement; an absent part was not measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// `AMD EPYC 9R14, 2 CPUs, avx512`.
    pub machine: String,
    pub threads: usize,
    /// File and configuration.
    pub library: Option<String>,
    /// Name and driver.
    pub device: Option<String>,
}

impl Key {
    pub fn new(
        level: Level,
        threads: usize,
        library: Option<&Library>,
        device: Option<&Info>,
    ) -> Key {
        Key {
            machine: machine(level),
            threads,
            library: library.map(|l| format!("{}, {}", l.file(), l.configuration())),
            device: device.map(|info| format!("{}, {}", info.name, info.driver)),
        }
    }

    /// What this measurement holds for instead of `run`: `device (NVIDIA A100, 570.1)`. A part
    /// that was not measured, or that the run has no use for, differs from nothing.
    pub fn differs(&self, run: &Key) -> Option<String> {
        fn other(ours: &Option<String>, theirs: &Option<String>) -> Option<String> {
            match (ours, theirs) {
                (Some(ours), Some(theirs)) if ours != theirs => Some(ours.clone()),
                _ => None,
            }
        }
        if self.machine != run.machine {
            return Some(format!("machine ({})", self.machine));
        }
        if self.threads != run.threads {
            return Some(format!("thread count ({})", self.threads));
        }
        if let Some(library) = other(&self.library, &run.library) {
            return Some(format!("library ({library})"));
        }
        other(&self.device, &run.device).map(|device| format!("device ({device})"))
    }
}

fn machine(level: Level) -> String {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let plural = if cpus == 1 { "" } else { "s" };
    let level = match level {
        Level::Portable => "128-bit lanes",
        Level::Avx2 => "avx2",
        Level::Avx512 => "avx512",
    };
    format!("{}, {cpus} CPU{plural}, {level}", processor())
}

/// The processor's name, where the system says it.
fn processor() -> String {
    use std::io::Read;
    let mut text = Vec::new();
    // The file has a paragraph for each CPU and is made when it is read: the first will do.
    if let Ok(file) = std::fs::File::open("/proc/cpuinfo") {
        let _ = file.take(2048).read_to_end(&mut text);
    }
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find_map(|line| line.strip_prefix("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim());
    name.unwrap_or(std::env::consts::ARCH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_part_that_differs_is_named() {
        let run = Key {
            machine: "m".into(),
            threads: 2,
            library: Some("libopenblas.so.0, OpenBLAS 0.3.21".into()),
            device: Some("NVIDIA H200, 570".into()),
        };
        assert_eq!(run.differs(&run), None);
        let other = |change: fn(&mut Key)| {
            let mut key = run.clone();
            change(&mut key);
            key.differs(&run)
        };
        assert_eq!(other(|k| k.machine = "x".into()).unwrap(), "machine (x)");
        assert_eq!(other(|k| k.threads = 16).unwrap(), "thread count (16)");
        assert_eq!(other(|k| k.library = Some("mkl".into())).unwrap(), "library (mkl)");
        let a100 = |k: &mut Key| k.device = Some("NVIDIA A100, 570".into());
        assert_eq!(other(a100).unwrap(), "device (NVIDIA A100, 570)");
        assert_eq!(other(|k| k.device = None), None);
    }

    #[test]
    fn a_machine_has_a_name() {
        assert!(machine(Level::Avx512).ends_with(", avx512"));
    }
}
