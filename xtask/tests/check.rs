//! The script `check` over programs that stand in for cargo, pip and the loader: it comes to its closing
//! line whichever way the assembler was or was not fetched.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Answers as a run in which everything passes: two tests, one documentation test, one whole program.
const CARGO: &str = r#"case "$*" in
*"nextest run"*) echo "     Summary [   1.0s] 2 tests run: 2 passed, 0 skipped" ;;
*"test --workspace --doc"*) echo "test result: ok. 1 passed; 0 failed; 0 ignored" ;;
esac"#;
const PROGRAMS: &str = "echo 'programs: 1 passed, 0 failed'";
/// As many lines as no pipe holds, after those that are looked for.
const LOADER: &str = "echo 'libvulkan.so.1 (libc6)'; echo 'libopenblas.so.0 (libc6)'; seq 50000";

const BOTH: &str = "mkdir -p .venv-ptx/nvidia/cu13/bin && cd .venv-ptx/nvidia/cu13/bin && \
                    touch ptxas nvdisasm && chmod +x ptxas nvdisasm";

struct Tree(PathBuf);

impl Tree {
    fn new(name: &str, pip: &str) -> Self {
        let root = std::env::temp_dir().join(format!("rung-check-{}-{name}", std::process::id()));
        let tree = Self(root);
        let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../check")).unwrap();
        let drivers = tree.0.join("drivers");
        let text = text.replace("/usr/share/vulkan/icd.d", drivers.to_str().unwrap());
        tree.file("drivers/lvp_icd.json", "{}");
        tree.file("check", &text);
        for (path, body) in [
            ("bin/cargo", CARGO),
            ("bin/ldconfig", LOADER),
            ("bin/python3", pip),
            ("tests/programs/run", PROGRAMS),
        ] {
            tree.file(path, &format!("#!/usr/bin/env bash\n{body}\n"));
        }
        tree
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// What the run printed and whether its exit status was 0.
    fn run(&self) -> (String, bool) {
        let path = format!("{}:{}", self.0.join("bin").display(), std::env::var("PATH").unwrap());
        let run = Command::new(self.0.join("check")).env("PATH", path).output().unwrap();
        (String::from_utf8(run.stdout).unwrap(), run.status.success())
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(Path::new(&self.0));
    }
}

/// The closing line of a run that came to its end: fmt, clippy, tidy, gen, and the four tests of [`CARGO`]
/// and [`PROGRAMS`].
const ALL: &str = "8 passed, 0 failed\n";

#[test]
fn an_assembler_that_was_fetched_does_not_end_the_run() {
    let (printed, good) = Tree::new("fetched", BOTH).run();
    assert!(good && printed.ends_with(ALL), "{printed}");
    assert!(!printed.contains("SKIPPED: PTX"), "{printed}");
}

#[test]
fn a_long_list_of_libraries_is_not_taken_for_a_missing_one() {
    let (printed, good) = Tree::new("many-libraries", BOTH).run();
    assert!(good && !printed.contains("apt-get install"), "{printed}");
}

#[test]
fn a_run_without_an_assembler_says_so_and_passes() {
    for (name, pip) in [("refused", "exit 1"), ("elsewhere", "mkdir -p .venv-ptx")] {
        let (printed, good) = Tree::new(name, pip).run();
        assert!(good && printed.ends_with(ALL), "{name}: {printed}");
        assert!(printed.contains("\ncheck: SKIPPED: PTX was not assembled"), "{name}: {printed}");
    }
}

#[test]
fn an_install_that_fails_is_counted_and_named() {
    let tree = Tree::new("no-packages", BOTH);
    tree.file("bin/ldconfig", "#!/usr/bin/env bash\n");
    tree.file("bin/apt-get", "#!/usr/bin/env bash\nexit 1\n");
    let (printed, good) = tree.run();
    assert!(!good && printed.ends_with("0 passed, 1 failed\n"), "{printed}");
}
