//! The device of the tests of operations, and of those of `rung-device`, which include this file: lavapipe,
//! or what `RUNG_TEST_DEVICE` names. And the same tests over the stand-in for NVIDIA's driver, in a process of their own, where every kernel runs as PTX.
#![allow(dead_code, reason = "not every file that has the device runs its tests again")]

use rung_base::DeviceChoice;
use rung_device::Device;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const DEVICE: &str = "RUNG_TEST_DEVICE";

pub fn device() -> Arc<dyn Device> {
    let name = std::env::var(DEVICE).unwrap_or_else(|_| "llvmpipe".into());
    rung_device::probe(&DeviceChoice::Named(name)).unwrap_or_else(|reason| {
        panic!(
            "these tests run on Mesa's lavapipe; on Debian: \
             apt-get install libvulkan1 mesa-vulkan-drivers ({reason})"
        )
    })
}

/// A folder in which the stand-in has the driver's name.
fn driver(tests: &Path) -> PathBuf {
    let built = tests.parent().unwrap().join("librung_stand_in.so");
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("rung-driver-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::copy(&built, folder.join("libcuda.so.1"))
        .unwrap_or_else(|e| panic!("{}: {e}", built.display()));
    folder
}

/// Runs tests of this file once more over the stand-in: these, and with `RUNG_PTX_ALL=1` all but `others`,
/// which are about another device. It shows a card of compute capability 8.0.
#[cfg(target_os = "linux")]
pub fn again_as_ptx(quick: &[&str], others: &[&str]) {
    let all = std::env::var_os("RUNG_PTX_ALL").is_some();
    if std::env::var_os(DEVICE).is_some() || quick.is_empty() && !all {
        return;
    }
    let which: Vec<&str> = match all {
        true => others.iter().flat_map(|name| ["--skip", *name]).collect(),
        false => ["--exact"].iter().chain(quick).copied().collect(),
    };
    over_the_stand_in(&which, &[("STAND_IN_CAPABILITY", "80")], quick.len());
}

/// Whether these are tests over the stand-in, in the process of their own.
pub fn is_again() -> bool {
    std::env::var_os(DEVICE).is_some()
}

/// Runs tests of this file, at least so many, in a process of their own over a card that these variables
/// describe.
#[cfg(target_os = "linux")]
pub fn over_the_stand_in(which: &[&str], card: &[(&str, &str)], least: usize) {
    let tests = std::env::current_exe().unwrap();
    let folder = driver(&tests);
    let mut command = Command::new(&tests);
    command.args(which).args(["--test-threads", "2"]);
    command.env("LD_LIBRARY_PATH", &folder).envs(card.iter().copied()).env(DEVICE, "cuda:0");
    let ran = command.output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let said = said + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{card:?}\n{said}");
    let passed = said.lines().filter(|line| line.ends_with(" ... ok")).count();
    assert!(passed >= least.max(1), "{card:?}\n{said}");
}
