//! How many threads this machine is worth: the least of the CPUs in the affinity mask, the cgroup
//! quota rounded up, and the physical cores. A setting, where there is one, goes before this.
//!
//! On Linux the three are read from /proc and /sys; elsewhere, or when a file cannot be read, the
//! standard library's count stands.

use std::collections::BTreeSet;
use std::path::Path;

/// What decided the number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// The CPUs that this process may run on.
    Affinity,
    /// The CPU quota of a control group.
    Quota,
    /// One thread for each core, although a core may run two.
    Cores,
    /// The system's own count.
    System,
}

impl Limit {
    /// In the words of a report: `cgroup quota`.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Affinity => "affinity mask",
            Limit::Quota => "cgroup quota",
            Limit::Cores => "physical cores",
            Limit::System => "the system's count",
        }
    }
}

/// Threads to use when nobody asked for a number.
pub fn default_threads() -> usize {
    counted().0
}

/// The same, and what decided.
pub fn counted() -> (usize, Limit) {
    let system = std::thread::available_parallelism().map_or(1, |n| n.get());
    let all = || list_of(Path::new("/sys/devices/system/cpu/online"));
    let (cpus, all) = (affinity(), all());
    // Of equal counts the machine itself is the better word than a mask that takes nothing away.
    let masked = cpus.as_ref().filter(|cpus| all.is_none_or(|all| cpus.len() < all.len()));
    let limits = [
        cpus.as_ref().map(|cpus| (physical(cpus), Limit::Cores)),
        masked.map(|cpus| (cpus.len(), Limit::Affinity)),
        quota().map(|cpus| (cpus, Limit::Quota)),
    ];
    least(limits.into_iter().flatten()).unwrap_or((system, Limit::System))
}

/// The least count, the first of equals; never below one.
fn least(limits: impl Iterator<Item = (usize, Limit)>) -> Option<(usize, Limit)> {
    limits.min_by_key(|(count, _)| *count).map(|(count, limit)| (count.max(1), limit))
}

/// The CPUs that this process may run on.
fn affinity() -> Option<Vec<usize>> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    parse_list(line.trim())
}

/// `0-3,8,10-11` as numbers.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first > 1 << 16 {
            return None;
        }
        cpus.extend(first..=last);
    }
    (!cpus.is_empty()).then_some(cpus)
}

/// The CPUs that a file of the system lists.
fn list_of(file: &Path) -> Option<Vec<usize>> {
    parse_list(std::fs::read_to_string(file).ok()?.trim())
}

/// Distinct physical cores among these CPUs; a CPU that says nothing counts as one. Where no core
/// runs two threads, one file says so instead of one for each CPU.
fn physical(cpus: &[usize]) -> usize {
    let processors = Path::new("/sys/devices/system/cpu");
    if std::fs::read_to_string(processors.join("smt/active")).is_ok_and(|on| on.trim() == "0") {
        return cpus.len();
    }
    let mut known = BTreeSet::new();
    let mut cores = 0;
    for cpu in cpus {
        if !known.contains(cpu) {
            cores += 1;
            let file = processors.join(format!("cpu{cpu}/topology/thread_siblings_list"));
            known.extend(list_of(&file).unwrap_or_default());
        }
    }
    cores
}

/// The CPU quota of the control group and its parents, rounded up.
fn quota() -> Option<usize> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let second = groups.lines().find_map(|line| line.strip_prefix("0::")).and_then(quota_below);
    let own = |line: &'_ str| {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == "cpu").then(|| group.to_string())
    };
    let first = groups.lines().find_map(own).and_then(|group| first_version(&group));
    [first, second].into_iter().flatten().min()
}

/// The quota of a group and its parents where controllers have hierarchies of their own.
fn first_version(group: &str) -> Option<usize> {
    let root = ["cpu", "cpu,cpuacct"].map(|name| Path::new("/sys/fs/cgroup").join(name));
    let root = root.into_iter().find(|root| root.join("cpu.cfs_quota_us").exists())?;
    let number = |folder: &Path, name: &str| {
        std::fs::read_to_string(folder.join(name)).ok().map(|text| text.trim().to_string())
    };
    let folders = Path::new(group)
        .ancestors()
        .map(|above| root.join(above.strip_prefix("/").unwrap_or(above)));
    let quotas = folders.filter_map(|folder| {
        let quota = number(&folder, "cpu.cfs_quota_us")?;
        parse_quota(&format!("{quota} {}", number(&folder, "cpu.cfs_period_us")?))
    });
    quotas.min()
}

/// The quota of a group and its parents in the unified hierarchy.
fn quota_below(group: &str) -> Option<usize> {
    let root = Path::new("/sys/fs/cgroup");
    let mut folder = root.join(group.trim_start_matches('/'));
    let mut least = None;
    while folder.starts_with(root) {
        if let Ok(text) = std::fs::read_to_string(folder.join("cpu.max"))
            && let Some(count) = parse_quota(&text)
        {
            least = Some(least.map_or(count, |least: usize| least.min(count)));
        }
        if !folder.pop() {
            break;
        }
    }
    least
}

/// `150000 100000` is one and a half CPUs, so two; `max 100000` is no limit.
fn parse_quota(text: &str) -> Option<usize> {
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (usize, usize) = (quota.parse().ok()?, period.parse().ok()?);
    (period > 0 && quota > 0).then(|| quota.div_ceil(period))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_quotas_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_list("0-3,8,10-11"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse_list("5"), Some(vec![5]));
        assert_eq!(parse_list(""), None);
        assert_eq!(parse_list("3-1"), None);
        assert_eq!(parse_quota("150000 100000\n"), Some(2));
        assert_eq!(parse_quota("max 100000\n"), None);
        assert_eq!(parse_quota("50000 100000"), Some(1));
        assert_eq!(parse_quota("-1 100000"), None);
    }

    #[test]
    fn the_least_limit_decides_and_is_named() {
        let of = |limits: &[(usize, Limit)]| least(limits.iter().copied());
        assert_eq!(of(&[]), None);
        let (cores, quota) = ((16, Limit::Cores), (2, Limit::Quota));
        assert_eq!(of(&[cores, quota]), Some((2, Limit::Quota)));
        assert_eq!(of(&[cores, (16, Limit::Affinity)]), Some((16, Limit::Cores)));
        assert_eq!(of(&[(0, Limit::Quota)]), Some((1, Limit::Quota)));
        assert_eq!(Limit::Quota.name(), "cgroup quota");
    }

    #[test]
    fn there_is_at_least_one_thread_and_not_more_than_the_system_counts() {
        let counted = std::thread::available_parallelism().map_or(1, |n| n.get());
        assert!((1..=counted).contains(&default_threads()));
    }
}
