//! Files that are taken in pieces: the same files come out, and nothing where something is wrong.

#[allow(dead_code, reason = "each test binary uses its part")]
mod common;

use common::{Folder, run_in};

const SPEECH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/speech.wav");

#[test]
fn pieces_write_the_files_of_the_whole() {
    let folder = Folder::new();
    for preset in ["whisper-80", "librosa", "kaldi"] {
        for ending in [".npy", ".csv"] {
            let line = ["mel", "spectrogram", SPEECH, "--preset", preset, "-q"];
            let (whole, long) = (format!("whole{ending}"), format!("long{ending}"));
            let of_whole = run_in(&folder, &[&line[..], &["-o", &whole]].concat());
            let of_long = run_in(&folder, &[&line[..], &["--stream", "-o", &long]].concat());
            assert_eq!((of_whole.code, of_long.code), (Some(0), Some(0)), "{}", of_long.err);
            for (a, b) in [(&*whole, &*long), ("whole.json", "long.json")] {
                let read = |name: &str| std::fs::read(folder.0.join(name)).unwrap();
                assert!(read(a) == read(b), "{preset} {a} {b}");
            }
        }
    }
    let words = ["mel", "spectrogram", SPEECH, "--preset", "kaldi", "--stream", "-o", "k.npy"];
    let told = run_in(&folder, &[&words[..], &["--explain", "--on-decline=verify"]].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    assert!(told.err.contains("rung: note: spectrogram: shape (92 23)\n"), "{}", told.err);
    assert!(told.err.contains("stream"), "{}", told.err);
}

#[test]
fn what_needs_the_whole_is_refused_and_errors_leave_nothing() {
    let folder = Folder::new();
    let bytes = std::fs::read(SPEECH).unwrap();
    std::fs::write(folder.0.join("cut.wav"), &bytes[..bytes.len() - 100]).unwrap();
    let refused = "takes whole results, and --stream holds none\n  hint: ";
    for (words, code, wanted) in [
        (&[SPEECH, "-o", "o.npy", "--png", "p.png"][..], 2, format!("--png {refused}leave")),
        (&[SPEECH, "-o", "o.npy", "--times", "t.npy"], 2, format!("--times {refused}leave")),
        (&[SPEECH], 2, format!("standard output {refused}-o names a file")),
        (&[SPEECH, "-o", "o.npy", "--channel", "all"], 2, "sound in pieces is one signal".into()),
        (&["cut.wav", "-o", "o.npy"], 3, "cut.wav: the data have ".into()),
        (&[SPEECH, "-o", "no/o.npy"], 3, "cannot write no/o.npy: ".into()),
    ] {
        let line = ["mel", "spectrogram", "--preset", "kaldi", "--stream"];
        let ran = run_in(&folder, &[&line[..], words].concat());
        assert!(ran.err.contains(&wanted), "{words:?}: {}", ran.err);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{words:?}");
    }
    let left: Vec<_> = std::fs::read_dir(&folder.0).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    let unknown = run_in(&folder, &["mel", "cepstra", SPEECH, "--preset", "kaldi", "--stream"]);
    assert!(unknown.err.contains("unknown flag --stream"), "{}", unknown.err);
}
