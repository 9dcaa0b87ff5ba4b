//! How many threads this machine is worth: the least of the CPUs in the affinity mask, the cgroup
//! quota rounded up, and the physical cores. A setting, where there is one, goes before this.
//!
//! On Linux the three are read from /proc and /sys; elsewhere, or when a file cannot be read, the
//! standard library's count stands.

use std::collections::BTreeSet;
use std::path::Path;

/// Threads to use when nobody asked for a number.
pub fn default_threads() -> usize {
    let counted = std::thread::available_parallelism().map_or(1, |n| n.get());
    [affinity().map(|cpus| physical(&cpus)), quota()]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(counted)
        .max(1)
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

/// Distinct physical cores among these CPUs; a CPU that says nothing counts as one.
fn physical(cpus: &[usize]) -> usize {
    let siblings = |cpu: &usize| {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        std::fs::read_to_string(file).unwrap_or_else(|_| cpu.to_string())
    };
    cpus.iter().map(siblings).collect::<BTreeSet<String>>().len()
}

/// The CPU quota of the control group and its parents, rounded up.
fn quota() -> Option<usize> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
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
    }

    #[test]
    fn there_is_at_least_one_thread_and_not_more_than_the_system_counts() {
        let counted = std::thread::available_parallelism().map_or(1, |n| n.get());
        assert!((1..=counted).contains(&default_threads()));
    }
}
