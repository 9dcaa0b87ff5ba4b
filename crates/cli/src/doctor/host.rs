//! Facts about the machine that need no driver: cores, vector features, memory, system.

/// What the machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub cores: usize,
    /// `AVX2+FMA`, `no AVX-512`.
    pub features: Vec<String>,
    /// Bytes of memory, where the system says.
    pub memory: Option<u64>,
    /// `Linux 6.8`.
    pub system: String,
    /// `x86_64`.
    pub processor: &'static str,
}

impl Host {
    pub fn ask() -> Host {
        Host {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            features: features(),
            memory: memory(),
            system: system(),
            processor: std::env::consts::ARCH,
        }
    }

    /// `16 cores, AVX2+FMA, no AVX-512; 24 GiB; Linux 6.8 x86_64`.
    pub fn line(&self) -> String {
        let cores = super::counted(self.cores, "core");
        let mut first = vec![cores];
        first.extend(self.features.iter().cloned());
        let memory =
            self.memory.map(|bytes| format!("{:.0} GiB; ", bytes as f64 / (1u64 << 30) as f64));
        let memory = memory.unwrap_or_default();
        format!("{}; {memory}{} {}", first.join(", "), self.system, self.processor)
    }
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<String> {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f");
    let word = |there: bool, name: &str| if there { name.into() } else { format!("no {name}") };
    vec![word(avx2, "AVX2+FMA"), word(avx512, "AVX-512")]
}

#[cfg(target_arch = "aarch64")]
fn features() -> Vec<String> {
    vec!["NEON".to_string()]
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<String> {
    Vec::new()
}

/// The memory of the machine; only Linux says it in a file.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The system and the first two numbers of its kernel's version.
fn system() -> String {
    let name = match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    };
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version: Vec<&str> = release.trim().split('.').take(2).collect();
    format!("{name} {}", version.join(".")).trim_end().to_string()
}
