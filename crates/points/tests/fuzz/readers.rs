//! Clouds in files broken at random (`havoc`).

#[path = "../../../files/tests/common/havoc.rs"]
mod havoc;

use super::*;
use havoc::Havoc;

#[test]
fn no_bytes_make_a_reader_of_clouds_panic() {
    let folder = Folder::new("havoc");
    let mut files = samples(&folder);
    files.push(("k.bin", vec![7; 64]));
    Havoc::new("clouds").run(
        &files,
        |_| {},
        |path, havoc| {
            let is_bin = path.extension().is_some_and(|ending| ending == "bin");
            let table = match if is_bin { read_kitti(path) } else { read(path) } {
                Ok(table) => table,
                Err(e) => {
                    assert_ne!(e.kind(), ErrorKind::Internal, "{e}");
                    return;
                }
            };
            // What was read can be written, or is refused.
            table.points().unwrap();
            let rows: Vec<i64> = (0..table.rows().min(3) as i64).rev().collect();
            let chosen = table.chosen(&rows).unwrap();
            let ending = WRITTEN[havoc.below(WRITTEN.len())];
            if let Err(e) = chosen.write(ending, &mut Vec::new()) {
                assert_ne!(e.kind(), ErrorKind::Internal, "{ending}: {e}");
            }
        },
    );
}
