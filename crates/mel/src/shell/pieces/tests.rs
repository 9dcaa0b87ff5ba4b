//! Sound in pieces gives the files, notes and errors of the whole, whatever the pieces.

use super::*;
use crate::noise::noise;
use crate::shell::{open, parameters, write_table};
use rung_base::Settings;
use rung_base::file::Scratch;
use rung_files::npy;
use rung_lanes::Lanes;
use rung_ops::solver::Finished;
use rung_ops::{Decline, Ladder, NoCaller};
use std::path::{Path, PathBuf};

/// An empty folder of a test's own, removed at its end, and a ladder.
struct Place {
    folder: PathBuf,
    ladder: Ladder,
    notes: Vec<String>,
}

impl Place {
    fn new(name: &str) -> Place {
        let name = format!("rung-pieces-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let off = || Decline::Off("test");
        let lanes = Some(Lanes::new(2));
        let ladder = Ladder::with_rungs(&Settings::default(), lanes, Err(off()), Err(off()));
        Place { folder, ladder, notes: Vec::new() }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// What the file of a whole call holds, and the one beside it.
    fn whole(&mut self, line: &Line) -> Result<(Vec<u8>, String)> {
        let opened = open(&line.path, &line.options)?;
        let values = arguments(&SPECTROGRAM, &opened.values, &line.typed)?;
        let results = self.ladder.call(&SPECTROGRAM, values.clone(), &mut NoCaller)?;
        let finished = Finished { opened: &opened, arguments: &values, results: &results };
        let mut bytes = Vec::new();
        write_table(&finished, line.ending, &mut bytes)?;
        Ok((bytes, parameters(&SPECTROGRAM, &finished)?))
    }

    fn in_pieces(&mut self, line: &Line, piece: usize) -> Result<(Vec<u8>, String)> {
        let asked = InPieces { path: &line.path, options: &line.options, typed: &line.typed };
        let mut bands = in_pieces(&asked, Sizes { piece, block: 1000 }, self)?;
        let mut bytes = Vec::new();
        let mut done = 0.0;
        bands.write(line.ending, &mut bytes, &mut |x| done = x)?;
        assert!(done == 1.0 || bands.shape().size() == 0);
        Ok((bytes, bands.parameters()?))
    }

    /// The file and its neighbour are the same, or the error is.
    fn compare(&mut self, what: &str, line: &Line, pieces: &[usize]) {
        let text = |e: Error| e.message().to_string();
        let whole = self.whole(line).map_err(text);
        for &piece in pieces {
            let got = self.in_pieces(line, piece).map_err(text);
            assert!(got == whole, "{what}, {piece}: {:?} {:?}", got.err(), whole.as_ref().err());
        }
    }
}

impl Shell for Place {
    fn call(&mut self, op: &'static Op, values: Vec<Value>) -> Result<Vec<Value>> {
        self.ladder.call(op, values, &mut NoCaller)
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.into());
    }

    fn detail(&mut self, _: &str) {}

    fn progress(&mut self, _: &str, done: f64) {
        assert!((0.0..=1.0).contains(&done), "{done}");
    }

    fn scratch(&mut self) -> Result<Scratch> {
        Scratch::beside(&self.folder.join("out.npy"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What is asked for.
struct Line {
    path: PathBuf,
    options: Vec<Given>,
    typed: Vec<Given>,
    ending: &'static str,
}

impl Line {
    fn new(path: &Path, preset: &'static str) -> Line {
        let typed = vec![("preset", Value::Keyword(preset.into()))];
        Line { path: path.into(), options: Vec::new(), typed, ending: ".npy" }
    }

    fn with(mut self, name: &'static str, value: Value) -> Line {
        let options = [RATE.name, "channel", "raw", "lenient"];
        let of = if options.contains(&name) { &mut self.options } else { &mut self.typed };
        of.push((name, value));
        self
    }

    fn word(self, name: &'static str, word: &'static str) -> Line {
        self.with(name, Value::Keyword(word.into()))
    }

    fn rate(self, rate: f64) -> Line {
        self.with("rate", Value::Number(Number::F64(rate)))
    }

    fn raw(self, raw: &str) -> Line {
        self.with("raw", Value::Text(raw.into()))
    }
}

const PRESETS: [&str; 5] = ["librosa", "torchaudio", "whisper-80", "whisper-128", "kaldi"];

/// Floats of 32 bits without a header.
fn floats(samples: &[f32]) -> Vec<u8> {
    samples.iter().flat_map(|x| x.to_le_bytes()).collect()
}

#[test]
fn pieces_have_the_bytes_of_the_whole_with_every_preset_and_length() {
    let mut place = Place::new("lengths");
    for n in [0, 1, 200, 201, 399, 400, 401, 4803] {
        let path = place.file("a.bin", &floats(&noise(n)));
        for preset in PRESETS {
            for ending in [".npy", ".csv"] {
                let line = Line { ending, ..Line::new(&path, preset).raw("f32le:16000:1") };
                place.compare(&format!("{preset} {n}{ending}"), &line, &[163, 1 << 16]);
            }
        }
    }
    let path = place.file("a.bin", &floats(&noise(401)));
    let line = Line::new(&path, "whisper-80").raw("f32le:16000:1");
    place.compare("one by one", &line, &[1, 7]);
}

#[test]
fn pieces_are_resampled_as_the_whole() {
    let mut place = Place::new("rates");
    let path = place.file("a.bin", &floats(&noise(9001)));
    for preset in PRESETS {
        for raw in ["f32le:48000:1", "f32le:44100:1", "f32le:8000:1"] {
            let line = Line::new(&path, preset).raw(raw).rate(16_000.0);
            place.compare(&format!("{preset} {raw}"), &line, &[1001]);
        }
    }
    place.notes.clear();
    place.in_pieces(&Line::new(&path, "kaldi").raw("f32le:8000:1").rate(16_000.0), 999).unwrap();
    // Noise goes beyond 1 between its samples, which is another note.
    assert_eq!(place.notes[0], "resampled from 8000 to 16000 Hz");
}

#[test]
fn pieces_of_arrays_and_of_channels_are_those_of_the_whole() {
    let mut place = Place::new("arrays");
    let path = place.folder.join("a.npy");
    let doubles: Vec<f64> = noise(4004).iter().map(|&x| f64::from(x) / 3.0).collect();
    let integers: Vec<i32> = noise(4004).iter().map(|x| (x * 30_000.0) as i32).collect();
    let pair = Shape::new([2, 2002]).unwrap();
    let turned = Shape::new([2002, 2]).unwrap();
    let arrays = [
        Array::vector(&doubles).unwrap(),
        Array::from_slice(&doubles, pair.clone()).unwrap(),
        Array::from_slice(&doubles, turned).unwrap().transpose(&[1, 0]).unwrap(),
        Array::vector(&integers).unwrap(),
        Array::from_slice(&integers, pair).unwrap(),
    ];
    for (number, array) in arrays.iter().enumerate() {
        npy::write(array, &path).unwrap();
        let line = || Line::new(&path, "whisper-80").rate(16_000.0);
        place.compare(&format!("{number}"), &line(), &[999]);
        let scaled = line().word("sample-scale", "int16");
        place.compare(&format!("{number} scaled"), &scaled, &[999]);
        let one = scaled.with("channel", Value::List(vec![Value::integer(1)]));
        place.compare(&format!("{number} channel"), &one, &[999]);
        // Of two mistakes at once either may be told first.
        if number < 4 {
            place.compare(&format!("{number} no rate"), &Line::new(&path, "kaldi"), &[999]);
        }
    }
    let path = place.file("a.bin", &floats(&noise(6003)));
    for channels in 1..4 {
        let line = Line::new(&path, "kaldi").raw(&format!("f32le:16000:{channels}"));
        place.compare(&format!("{channels} channels"), &line, &[1000]);
    }
    let all = Line::new(&path, "kaldi").raw("f32le:16000:3").word("channel", "all");
    let e = place.in_pieces(&all, 999).unwrap_err();
    assert_eq!(e.message(), "sound in pieces is one signal: channel all takes the whole file");
}

#[test]
fn other_values_types_and_whispers_zeros_are_those_of_the_whole() {
    let mut place = Place::new("values");
    let samples: Vec<f32> = noise(5000).iter().map(|x| x * x * x).collect();
    let path = place.file("a.bin", &floats(&samples));
    let of = |preset| Line::new(&path, preset).raw("f32le:16000:1");
    let lines = [
        of("librosa").with("db", Value::True),
        of("torchaudio").with("db", Value::True),
        of("whisper-80").word("type", "f16"),
        of("whisper-80").word("type", "f64"),
        Line { ending: ".csv", ..of("kaldi").word("type", "f16") },
        of("whisper-80").word("mode", "melt").with("mels", Value::integer(3)),
        of("kaldi").word("pad", "mirror").word("method", "fft"),
        of("whisper-80").with("window30", Value::True),
        of("whisper-80").word("clamp", "window"),
        of("whisper-80").word("clamp", "window").with("whisper-file", Value::True),
        of("whisper-80").with("whisper-file", Value::True),
        of("whisper-80").with("lengths", Value::Nil).rate(8000.0),
    ];
    for (number, line) in lines.iter().enumerate() {
        place.compare(&format!("{number}"), line, &[1717]);
    }
    // 13 frames, of which a window of 30 s has 4.
    let long: Vec<f32> = noise(1_300_001).iter().map(|x| x * x * x).collect();
    let path = place.file("b.bin", &floats(&long));
    let line = Line::new(&path, "whisper-80").raw("f32le:16000:1").word("clamp", "window");
    place.compare("windows", &line.with("hop", Value::integer(100_000)), &[1 << 16]);
}

#[test]
fn what_is_no_number_is_named_by_its_place_in_the_whole() {
    let mut place = Place::new("finite");
    let mut samples = noise(3000);
    samples[2001] = f32::NAN;
    let path = place.file("a.bin", &floats(&samples));
    let e = place.in_pieces(&Line::new(&path, "kaldi").raw("f32le:16000:1"), 700).unwrap_err();
    assert_eq!(e.message(), "samples must be finite: got NaN at 2001, the first");
    let long = place.file("b.bin", &vec![0; 480_001]);
    let line = Line::new(&long, "whisper-80").raw("u8:16000:1").with("window30", Value::True);
    let e = place.in_pieces(&line, 1 << 16).unwrap_err();
    assert!(e.message().starts_with("a window of 30 s has 480000 samples at most"), "{e}");
}

/// Counts instead of computing.
struct Counting {
    place: Place,
    calls: usize,
    most: usize,
}

impl Shell for Counting {
    fn call(&mut self, _: &'static Op, values: Vec<Value>) -> Result<Vec<Value>> {
        let Value::Array(samples) = &values[0] else { panic!("{}", values[0]) };
        self.most = self.most.max(samples.size());
        self.calls += 1;
        let frames = Array::build::<f32>(Shape::new([samples.size() / 160, 23])?, |x| x.fill(1.0));
        let largest = Value::Number(Number::F32(1.0));
        Ok(vec![frames?.into(), Array::empty(ElementType::F64).into(), largest])
    }

    fn note(&mut self, text: &str) {
        self.place.note(text);
    }

    fn detail(&mut self, _: &str) {}

    fn progress(&mut self, _: &str, _: f64) {}

    fn scratch(&mut self) -> Result<Scratch> {
        self.place.scratch()
    }
}

#[test]
fn a_long_file_is_never_held() {
    let place = Place::new("long");
    let path = place.folder.join("long.bin");
    // Bytes that take no room on the disk.
    std::fs::File::create(&path).unwrap().set_len(16 << 20).unwrap();
    let line = Line::new(&path, "kaldi").raw("u8:16000:1");
    let asked = InPieces { path: &path, options: &line.options, typed: &line.typed };
    let mut counting = Counting { place, calls: 0, most: 0 };
    let bands = in_pieces(&asked, SIZES, &mut counting).unwrap();
    assert_eq!((counting.calls, counting.most), (257, 1 << 16));
    // Blocks take whole frames only.
    let of_call = SIZES.piece / 160 * 23;
    assert!(bands.held() <= 2 * (SIZES.block + of_call), "{}", bands.held());
}
