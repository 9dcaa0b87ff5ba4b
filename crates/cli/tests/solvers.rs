//! Solvers as commands: the manual's own lines, formats in and out, and what bad lines and bad files
//! get, through the built command.

#[allow(dead_code, reason = "each test binary uses its part")]
mod common;

use common::{Folder, ran, run, run_in, rung};

/// A page of the manual, and the picture in it with the name under which a command of the page draws it.
struct Page {
    text: &'static str,
    picture: (&'static str, &'static [u8]),
}

const PAGES: &[Page] = &[
    Page {
        text: include_str!("../../../docs/points.md"),
        picture: ("few.png", include_bytes!("../../../docs/points.png")),
    },
    Page {
        text: include_str!("../../../docs/mel.md"),
        picture: ("speech.png", include_bytes!("../../../docs/mel.png")),
    },
];

/// The command lines of a page's shell blocks, each with what is printed below it.
fn commands(page: &Page) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    for block in page.text.split("```sh\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            match (line.strip_prefix("$ "), all.last_mut()) {
                (Some(command), _) => all.push((command.into(), String::new())),
                (None, Some((_, printed))) => *printed += &format!("{line}\n"),
                (None, None) => panic!("{line}"),
            }
        }
    }
    all
}

#[test]
fn the_command_lines_of_the_manual_print_what_they_say() {
    let examples = format!("{}/../../examples/", env!("CARGO_MANIFEST_DIR"));
    for page in PAGES {
        let folder = Folder::new();
        assert!(commands(page).len() >= 4);
        for (command, wanted) in commands(page) {
            let line = command.strip_prefix("rung ").unwrap().replace("examples/", &examples);
            let words: Vec<&str> = line.split_whitespace().collect();
            let ran = run_in(&folder, &words);
            assert_eq!(ran.code, Some(0), "{command}: {}", ran.err);
            assert_eq!(format!("{}{}", ran.out, ran.err), wanted, "{command}");
        }
        let (name, shown) = page.picture;
        let picture = std::fs::read(folder.0.join(name)).unwrap();
        assert!(picture == shown, "the picture of the page is not what {name} is");
    }
}

const CLOUD: &str = "0 0 0\n1 0 0\n5 0 0\n2 0 0\n";

/// A folder with a small cloud.
fn with_cloud() -> Folder {
    let folder = Folder::new();
    folder.file("a.xyz", CLOUD);
    folder
}

#[test]
fn chosen_points_go_to_standard_output_or_to_files_of_every_format() {
    let folder = with_cloud();
    let ran = run_in(&folder, &["points", "fps", "a.xyz", "-k", "3"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "0 0 0\n5 0 0\n2 0 0\n"));
    let notes = "rung: note: indices: shape (3)\n\
                 rung: note: radii: shape (3)\n\
                 rung: note: covering-radius 1.0\n";
    assert_eq!(ran.err, notes);
    for name in ["o.xyz", "o.ply", "o.npy", "o.csv", "o.txt", "o.PLY"] {
        let ran = run_in(&folder, &["points", "fps", "-k3", "a.xyz", "-q", "-o", name]);
        assert_eq!((ran.code, ran.out, ran.err), (Some(0), String::new(), String::new()), "{name}");
        let again = run_in(&folder, &["points", "fps", name, "-k=3", "-q"]);
        assert_eq!(again.out, "0 0 0\n5 0 0\n2 0 0\n", "{name}");
    }
    assert!(std::fs::read(folder.0.join("o.ply")).unwrap().starts_with(b"ply\nformat ascii 1.0\n"));
}

#[test]
fn columns_beside_the_coordinates_stay_with_their_points() {
    let folder = Folder::new();
    folder.file("a.csv", "x,y,z,red\n0,0,0,10\n1,0,0,11\n5,0,0,12\n");
    let ran = run_in(&folder, &["points", "fps", "a.csv", "-k", "2", "-q"]);
    assert_eq!(ran.out, "# x y z red\n0 0 0 10\n5 0 0 12\n");
}

#[test]
fn further_results_pictures_and_json() {
    let folder = with_cloud();
    let words = ["points", "fps", "a.xyz", "--k=3", "--indices", "i.csv", "--radii", "r.npy"];
    let ran = run_in(&folder, &[&words[..], &["--png", "p.png", "--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(object["indices"], serde_json::json!([0, 2, 3]));
    assert_eq!(object["radii"], serde_json::json!([null, 5.0, 2.0]));
    assert_eq!((&object["covering-radius"], &object["schema"]), (&1.0.into(), &1.into()));
    assert_eq!(std::fs::read_to_string(folder.0.join("i.csv")).unwrap(), "0\n2\n3\n");
    assert!(std::fs::read(folder.0.join("p.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(std::fs::read(folder.0.join("r.npy")).unwrap().starts_with(b"\x93NUMPY"));
}

#[test]
fn every_rung_prints_the_same_and_explain_names_it() {
    let folder = with_cloud();
    let line = ["points", "fps", "a.xyz", "-k", "4", "-q", "--start", "random", "--seed", "5"];
    let lanes = run_in(&folder, &[&line[..], &["--explain"]].concat());
    let portable = run_in(&folder, &[&line[..], &["--portable", "--explain"]].concat());
    assert_eq!(lanes.out, portable.out);
    assert!(lanes.err.contains("fps") && lanes.err.contains("lanes"), "{}", lanes.err);
    assert!(portable.err.contains("portable"), "{}", portable.err);
    let verified = run_in(&folder, &[&line[..], &["--on-decline=verify"]].concat());
    assert_eq!((verified.code, verified.out), (Some(0), lanes.out));
}

#[test]
fn every_function_reads_a_cloud_and_prints_its_main_result() {
    let folder = with_cloud();
    let of = |words: &[&str]| {
        let ran = run_in(&folder, &[&["points", words[0], "a.xyz", "-q"], &words[1..]].concat());
        assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.err);
        ran.out
    };
    assert_eq!(of(&["nearest", "-k", "2"]), "0,1\n1,0\n2,3\n3,1\n");
    assert_eq!(of(&["within", "--radius", "1"]), "0\n1\n1\n0\n3\n2\n3\n1\n");
    assert_eq!(of(&["voxels", "--edge", "2"]), "# x y z count\n0.5 0 0 2\n5 0 0 1\n2 0 0 1\n");
    let normals = of(&["normals", "-k", "4", "--towards", "0,0,9"]);
    assert!(normals.starts_with("# x y z nx ny nz curvature\n0 0 0 "), "{normals}");
    let missing = run_in(&folder, &["points", "voxels", "a.xyz"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.err.contains("--edge is missing: the length of a voxel's edge"));
}

/// Exit code, message and hint of a line over `a.xyz` and some broken files.
fn fails(words: &[&str]) -> (Option<i32>, String) {
    let folder = with_cloud();
    folder.file("nan.xyz", "0 0 0\nnan 1 2\n");
    folder.file(
        "cut.ply",
        "ply\nformat ascii 1.0\nelement vertex 99\nproperty float x\n\
                            property float y\nproperty float z\nend_header\n1 2 3\n",
    );
    folder.file("old.ply", "as it was");
    let ran = run_in(&folder, &[&["points"], words].concat());
    assert_eq!(ran.out, "", "{words:?}");
    assert_eq!(std::fs::read_to_string(folder.0.join("old.ply")).unwrap(), "as it was");
    (ran.code, ran.err)
}

#[test]
fn mistakes_in_the_line_say_what_was_meant() {
    for (words, wanted) in [
        (&["fbs", "a.xyz"][..], "rung points has no fbs\n  hint: did you mean fps?"),
        (&["fps"], "rung points fps needs a file: a point cloud\n  hint: rung points fps --help"),
        (
            &["fps", "a.xyz", "cut.ply", "-k", "1"],
            "the chosen points with all their columns, of 2 files, go to a folder\n  hint: -o FOLDER names one",
        ),
        (
            &["fps", "a.xyz", "cut.ply", "-k", "1", "-o", "o.ply"],
            "--output: results of several files go to a folder, o.ply is none\n  hint: mkdir",
        ),
        (&["fps", "a.xyz", "./a.xyz", "-k", "1", "-o", "."], "two results would go to ./a.xyz"),
        (
            &["fps", "a.xyz", "--radios", "r.npy"],
            "unknown flag --radios\n  hint: did you mean --rad",
        ),
        (&["fps", "a.xyz", "-k"], "-k needs a value\n  hint: -k N"),
        (
            &["fps", "a.xyz", "-k", "few"],
            "-k: expected an integer, or several with commas, got \"few\"",
        ),
        (&["fps", "a.xyz", "-k", "-3"], "points: k must be 0 or more: got -3"),
        (&["fps", "a.xyz", "--ratio", "2"], "ratio must be above 0, 1 at most: got 2.0"),
        (&["fps", "a.xyz", "--start", "0,x", "-k", "1"], "--start: expected integers or random"),
        (
            &["fps", "a.xyz", "--start", "9", "-k", "1"],
            "start must be below 4, the number of points",
        ),
        (
            &["fps", "a.xyz", "-k", "1", "-o", "o.obj"],
            "--output: o.obj does not end with one of .xyz",
        ),
        (
            &["fps", "a.xyz", "-k", "1", "--png", "p.jpg"],
            "--png: p.jpg does not end with one of .png",
        ),
        (
            &["fps", "a.xyz", "-k", "1", "--indices", "i.npy", "--radii", "i.npy"],
            "two results would go to i.npy",
        ),
        (&["fps", "a.xyz"], "how many samples is not said\n  hint: k says how many"),
        (&["fps", "a.obj", "-k", "1"], "a cloud's name ends with one of .ply .xyz"),
        (&["fps", "a.xyz", "-k", "1", "--ops"], "--ops means nothing to rung points"),
    ] {
        let (code, text) = fails(words);
        assert!(text.contains(wanted), "{words:?}: {text}");
        assert_eq!(code, Some(2), "{words:?}: {text}");
    }
}

#[test]
fn bad_files_are_named_and_outputs_stay_as_they_were() {
    for (words, code, wanted) in [
        (&["fps", "no.ply", "-k", "1", "-o", "old.ply"][..], 3, "cannot read no.ply: "),
        (
            &["fps", "cut.ply", "-k", "1", "-o", "old.ply"],
            3,
            "cut.ply: 99 of element vertex take 594 bytes or more: the file has 7 left (at byte ",
        ),
        (&["fps", "a.laz", "-k", "1"], 3, "packed las files are not read"),
        (
            &["fps", "nan.xyz", "-k", "1", "-o", "old.ply"],
            2,
            "1 coordinates are NaN or infinite, the first of point 1",
        ),
        (&["fps", "a.xyz", "-k", "1", "-o", "no/folder.ply"], 3, "cannot write no/folder.ply: "),
    ] {
        let (got, text) = fails(words);
        assert!(text.contains(wanted), "{words:?}: {text}");
        assert_eq!(got, Some(code), "{words:?}: {text}");
    }
    let folder = Folder::new();
    folder.file("nan.xyz", "0 0 0\nnan 1 2\n3 0 0\n");
    let words = ["points", "fps", "nan.xyz", "-k", "9", "-q", "--nonfinite=drop"];
    assert_eq!(run_in(&folder, &words).out, "0 0 0\n3 0 0\n");
}

/// Results of several files go to a folder, named as the files; one bad file keeps nothing from the others.
#[test]
fn several_files_go_to_a_folder() {
    let folder = Folder::new();
    folder.file("a.xyz", "0 0 0\n1 0 0\n");
    folder.file("b.xyz", "0 nothing\n");
    folder.file("c.xyz", "5 5 5\n7 5 5\n");
    folder.file("out/other", "");
    let files = ["points", "fps", "a.xyz", "b.xyz", "c.xyz", "-k", "1"];
    let to = ["-o", "out", "--radii", "out", "--png", "out"];
    let ran = run_in(&folder, &[&files[..], &to].concat());
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("rung: error: b.xyz:1: expected a number"), "{}", ran.err);
    assert!(ran.err.contains("rung: note: file c.xyz\n"), "{}", ran.err);
    let read = |name: &str| std::fs::read_to_string(folder.0.join(name)).unwrap();
    assert_eq!(read("out/a.xyz"), "0 0 0\n");
    assert_eq!(read("out/c.xyz"), "5 5 5\n");
    for (file, there) in [("a-radii.npy", true), ("a.png", true), ("b.xyz", false)] {
        assert_eq!(folder.0.join("out").join(file).exists(), there, "{file}");
    }
    let lines = run_in(&folder, &[&["--json"], &files[..3], &files[4..]].concat()).out;
    assert_eq!(lines.lines().count(), 2, "{lines}");
    // One file and a folder.
    let one = run_in(&folder, &["points", "fps", "c.xyz", "-k", "2", "-o", "out"]);
    assert_eq!((one.code, read("out/c.xyz")), (Some(0), "5 5 5\n7 5 5\n".to_string()));
}

#[test]
fn help_is_made_of_the_records() {
    let all = run(&["points", "--help"]);
    assert!(all.out.starts_with("  rung points fps ") && all.out.contains("\nFunctions\n  fps "));
    assert_eq!(all.out, run(&["points"]).out);
    assert_eq!(all.out, run(&["help", "points"]).out);
    let one = run(&["points", "fps", "--help"]);
    for part in [
        "usage: rung points fps FILE... [flags]",
        "  -k N|N,N,...\n",
        "  -o, --output FILE\n",
        "0 or more",
    ] {
        assert!(one.out.contains(part), "{part}: {}", one.out);
    }
    assert!(run(&["--help"]).out.contains("\n  points  "));
    assert!(run(&["completions", "bash"]).out.contains(" points"));
}

/// A bar was drawn where nobody looks.
#[test]
fn nothing_but_notes_goes_to_a_standard_error_that_is_no_terminal() {
    let folder = Folder::new();
    let cloud: String = (0..4000).map(|i| format!("{} {} 0\n", i % 63, i / 63)).collect();
    folder.file("a.xyz", &cloud);
    let mut command = rung(&folder);
    command.args(["points", "fps", "a.xyz", "-k", "2000", "-o", "o.ply"]);
    let ran = ran(command.output().unwrap());
    assert!(ran.err.lines().all(|line| line.starts_with("rung: note: ")), "{}", ran.err);
}

#[test]
fn sound_that_is_none_and_rules_that_are_not_said() {
    let folder = Folder::new();
    folder.file("cut.wav", "RIFF");
    let speech = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/speech.wav");
    for (words, code, wanted) in [
        (
            &["spectrogram", "cut.wav", "--preset", "kaldi", "-o", "o.npy"][..],
            3,
            "cut.wav: the header has 12 bytes: the file has 4 left (at byte 0)",
        ),
        (
            &["spectrogram", speech],
            2,
            "whose rules apply is not said: give a preset\n  hint: preset is",
        ),
        (
            &["spectrogram", speech, "--preset", "kaldi", "--rate", "8000"],
            2,
            "kaldi is for samples at 16000 Hz: got 8000 Hz",
        ),
        (
            &["spectrogram", speech, "--preset", "kaldi", "--channel", "1"],
            2,
            "channel must be below 1: got 1",
        ),
        (
            &["spectrogram", "a.aac", "--preset", "kaldi"],
            2,
            "sound's name ends with one of .wav .flac",
        ),
        (&["filters", "a.wav"], 2, "unexpected word a.wav"),
        (&["filters"], 2, "the rate of the samples is not said"),
    ] {
        let ran = run_in(&folder, &[&["mel"], words].concat());
        assert!(ran.err.contains(wanted), "{words:?}: {}", ran.err);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{words:?}");
    }
    assert!(!folder.0.join("o.npy").exists() && !folder.0.join("o.json").exists());
}

/// The numbers of a result and what stands beside it, of a line that ends well.
fn beside(folder: &Folder, words: &[&str]) -> (String, serde_json::Value) {
    let speech = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/speech.wav");
    let line = [&["mel", words[0], speech, "-q", "-o", "o.csv"], &words[1..]].concat();
    let ran = run_in(folder, &line);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{words:?}: {}", ran.err);
    let [numbers, beside] =
        ["o.csv", "o.json"].map(|name| std::fs::read_to_string(folder.0.join(name)).unwrap());
    (numbers, serde_json::from_str(&beside).unwrap())
}

/// Each flag of a field by its own name and by those of other packages: the same numbers, and what it said
/// stands beside them.
#[test]
fn the_flags_of_other_packages_mean_the_fields() {
    let folder = Folder::new();
    let own = [
        "spectrogram",
        "--preset",
        "torchaudio",
        "--n-fft",
        "400",
        "--hop",
        "160",
        "--mels",
        "20",
        "--pad",
        "none",
        "--scale",
        "htk",
        "--norm",
        "slaney",
        "--fmin",
        "20",
        "--fmax",
        "7000",
        "--power",
        "1",
    ];
    let others = [
        "spectrogram",
        "--preset",
        "torchaudio",
        "--n-fft",
        "400",
        "--hop-length",
        "160",
        "--n-mels",
        "20",
        "--center",
        "false",
        "--htk",
        "--norm",
        "slaney",
        "--f-min",
        "20",
        "--f-max",
        "7000",
        "--power",
        "1",
        "--sr",
        "16000",
    ];
    let (numbers, json) = beside(&folder, &own);
    assert_eq!(beside(&folder, &others), (numbers, json.clone()));
    for (field, value) in [
        ("hop", 160.into()),
        ("mels", 20.into()),
        ("pad", "none".into()),
        ("scale", "htk".into()),
        ("norm", "slaney".into()),
        ("fmin", 20.0.into()),
        ("fmax", 7000.0.into()),
        ("power", 1.into()),
        ("clamp", serde_json::Value::Null),
    ] {
        assert_eq!(json[field], value, "{field}");
    }
}

#[test]
fn the_flags_of_kaldi_and_whisper_reach_their_rules() {
    let folder = Folder::new();
    let kaldi = ["cepstra", "--preset", "kaldi", "--frame-length", "20", "--frame-shift", "8"];
    let (with, json) = beside(&folder, &kaldi);
    let sizes = ["win-length", "n-fft", "hop"].map(|field| json[field].clone());
    assert_eq!((sizes, &json["energy"]), ([320, 512, 128].map(Into::into), &true.into()));
    let without = [&kaldi[..], &["--use-energy", "false"]].concat();
    let (other, json) = beside(&folder, &without);
    assert_eq!(json["energy"], false);
    // All but the first of each frame's cepstra stay.
    let rest = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split_once(',').unwrap().1.into()).collect()
    };
    assert!(with != other && rest(&with) == rest(&other));
    let window = ["spectrogram", "--preset", "whisper-80", "--clamp", "window"];
    assert_eq!(beside(&folder, &window).1["clamp"], "windows of 3000 frames");
    for (words, wanted) in [
        (&["--clamp", "window"][..], "clamp is that of the whisper presets: got kaldi"),
        (&["--center", "no"], "--center: expected true or false, got \"no\""),
        (&["--hop", "160", "--frame-shift", "10"], "hop and frame-shift say the same"),
        (&["--htk", "--scale", "slaney"], "htk is the scale htk: give one scale: got slaney"),
        (&["--center", "true"], "center true needs something at the edges: got kaldi"),
    ] {
        let speech = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/speech.wav");
        let line = [&["mel", "spectrogram", speech, "--preset", "kaldi"], words].concat();
        let ran = run_in(&folder, &line);
        assert!(ran.code == Some(2) && ran.err.contains(wanted), "{words:?}: {}", ran.err);
    }
}

#[test]
fn points_far_from_the_origin_at_f32_are_a_note() {
    let folder = Folder::new();
    let cloud: String = (0..200).map(|i| format!("5400000.{i:03} 0 0\n")).collect();
    folder.file("far.xyz", &cloud);
    let line = ["points", "fps", "far.xyz", "-k", "3", "-o", "o.xyz"];
    let ran = run_in(&folder, &[&line[..], &["--type", "f32"]].concat());
    let note = "rung: note: f32 merged 199 of 200 distinct points; type f64 keeps them\n";
    assert!(ran.err.contains(note), "{}", ran.err);
    assert!(!run_in(&folder, &line).err.contains("merged"));
}

#[test]
fn every_parameter_stands_beside_the_result_and_in_json() {
    let folder = Folder::new();
    let line =
        ["mel", "filters", "--rate", "8", "--n-fft", "4", "--mels", "1", "--norm", "none", "-q"];
    let ran = run_in(&folder, &[&line[..], &["-o", "f.npy"]].concat());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let beside = std::fs::read_to_string(folder.0.join("f.json")).unwrap();
    let beside: serde_json::Value = serde_json::from_str(&beside).unwrap();
    assert_eq!((&beside["scale"], &beside["n-fft"]), (&"slaney".into(), &4.into()));
    let ran = run_in(&folder, &[&line[..], &["--json"]].concat());
    let object: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (&object["parameters"], &object["filters"]),
        (&beside, &serde_json::json!([[0.0, 1.0, 0.0]]))
    );
}

/// A main result may replace the file that was read, which is said; nothing else may.
#[test]
fn a_file_that_is_read_is_not_replaced_unsaid() {
    let folder = Folder::new();
    let cloud = "0 0 0\n1 0 0\n0 2 0\n";
    folder.file("a.xyz", cloud);
    let line = ["points", "fps", "a.xyz", "-k", "2", "-o", "./a.xyz"];
    let ran = run_in(&folder, &line);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let note =
        "rung: note: ./a.xyz was read and holds the chosen points with all their columns now\n";
    assert!(ran.err.contains(note), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(folder.0.join("a.xyz")).unwrap(), "0 0 0\n0 2 0\n");
    // Not where another file is written, and not with -q.
    let other = ["points", "fps", "a.xyz", "-k", "1", "-o", "b.xyz"];
    assert!(!run_in(&folder, &other).err.contains("was read"));
    assert_eq!(run_in(&folder, &[&line[..], &["-q"]].concat()).err, "");
    // Indices are no points.
    folder.file("a.csv", "0,0,0\n1,0,0\n");
    let rows = ["points", "fps", "a.csv", "-k", "1", "--indices", "a.csv", "-o", "c.xyz"];
    let ran = run_in(&folder, &rows);
    let text = "a.csv is read, and a result would be written over it";
    assert!(ran.code == Some(2) && ran.err.contains(text), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(folder.0.join("a.csv")).unwrap(), "0,0,0\n1,0,0\n");
    // A folder whose files are replaced one by one; and one result over a file that is still to be read.
    folder.file("d/a.xyz", cloud);
    folder.file("e/a.ply", "");
    let ran = run_in(&folder, &["points", "fps", "a.xyz", "d/a.xyz", "-k", "1", "-o", "d"]);
    assert!(ran.code == Some(2), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(folder.0.join("d/a.xyz")).unwrap(), cloud);
}

#[test]
fn a_rate_of_nothing_says_what_to_try() {
    let folder = Folder::new();
    let speech = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/speech.wav");
    for preset in ["librosa", "kaldi"] {
        let line = ["mel", "spectrogram", speech, "--preset", preset, "--rate", "0"];
        let ran = run_in(&folder, &line);
        assert!(ran.code == Some(2) && ran.err.contains("hint: rate 16000, say"), "{}", ran.err);
    }
    // Where no file is resampled the range of the parameter says it.
    let filters = ["mel", "filters", "--rate", "0", "--preset", "librosa"];
    let ran = run_in(&folder, &filters);
    assert!(ran.err.contains("rate must be above 0, 1000000000 at most"), "{}", ran.err);
}
