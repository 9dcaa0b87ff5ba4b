//! Sound in files broken at random (`havoc`), the sums of Ogg's pages mended: what a decoder does is not
//! hidden behind them.

#[path = "../../../files/tests/common/havoc.rs"]
mod havoc;

use super::*;
use havoc::Havoc;

/// Pages that a reader does not leave for their sum alone.
fn mend(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(4).position(|four| four == b"OggS") {
        let start = at + found;
        at = start + 4;
        let Some(&segments) = bytes.get(start + 26) else { return };
        let lengths = start + 27..start + 27 + usize::from(segments);
        let Some(lengths) = bytes.get(lengths) else { return };
        let length = 27 + lengths.len() + lengths.iter().map(|&n| usize::from(n)).sum::<usize>();
        let end = (start + length).min(bytes.len());
        bytes[start + 22..start + 26].fill(0);
        let sum = page_sum(&bytes[start..end]);
        bytes[start + 22..start + 26].copy_from_slice(&sum.to_le_bytes());
    }
}

#[test]
fn no_bytes_make_a_reader_of_sound_panic() {
    let npy = {
        let mut bytes = Vec::new();
        let array = Array::from_slice(&[0.5f32; 12], rung_base::Shape::new([2, 6]).unwrap());
        rung_files::npy::write_to(&array.unwrap(), &mut bytes).unwrap();
        bytes
    };
    let files = [
        ("a.wav", plain(&[5; 20])),
        ("b.wav", wav(3, 2, 8000, 32, &[0; 64])),
        ("c.flac", flac()),
        ("d.ogg", OGG.to_vec()),
        ("e.mp3", MP3.to_vec()),
        ("f.npy", npy),
        ("g.raw", vec![3; 90]),
    ];
    Havoc::new("sound").run(&files, mend, |path, havoc| {
        let is_raw = path.extension().is_some_and(|ending| ending == "raw");
        let forms = ["s16le:16000:1", "s24le:8000:3", "f64le:48000:2", "u8:1:1"];
        let options = Options {
            channel: [Channel::Mix, Channel::One(0), Channel::All][havoc.below(3)],
            raw: is_raw.then(|| forms[havoc.below(4)].into()),
            lenient: havoc.below(2) == 0,
        };
        match read(path, &options) {
            Ok(sound) => assert!(sound.samples.size() <= 1 << 22, "{}", sound.samples.size()),
            Err(e) => assert_ne!(e.kind(), ErrorKind::Internal, "{e}"),
        }
        // Each channel for itself is not read in pieces.
        let options = Options { channel: Channel::Mix, ..options };
        let piece = [1, 100, 5000][havoc.below(3)];
        if let Err(e) = read_in_pieces(path, &options, piece, &mut Heard::default()) {
            assert_ne!(e.kind(), ErrorKind::Internal, "{e}");
        }
    });
}

/// The decoder of Vorbis panicked over the size of a codebook in the setup page.
#[test]
fn a_codebook_of_vorbis_whose_size_overflows_is_a_broken_file() {
    let mut bytes = OGG.to_vec();
    bytes[2321] = 0xFF;
    mend(&mut bytes);
    let folder = Folder::new("codebook");
    for lenient in [false, true] {
        let e =
            folder.read_as("a.ogg", &bytes, &Options { lenient, ..MIXED }).map(|_| ()).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Format, "{e}");
        assert!(e.message().ends_with("a.ogg: its numbers contradict each other"), "{e}");
    }
}
