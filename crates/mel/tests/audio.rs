//! Sound in files: every stored width gives its samples, and a file of any bytes gives samples or an
//! error: cut off anywhere, broken at random, or announcing what it does not hold.

#[path = "fuzz/readers.rs"]
mod fuzz;

use rung_array::Array;
use rung_base::{Error, ErrorKind, Result};
use rung_mel::audio::{Channel, Options, Sound, Take, read, read_in_pieces};
use std::path::PathBuf;

/// An empty folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("rung-mel-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn read_as(&self, name: &str, bytes: &[u8], options: &Options) -> Result<Sound> {
        let path = self.0.join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, bytes).unwrap();
        read(&path, options)
    }

    fn read(&self, name: &str, bytes: &[u8]) -> Result<Sound> {
        self.read_as(name, bytes, &MIXED)
    }

    fn error(&self, name: &str, bytes: &[u8]) -> Error {
        self.read(name, bytes).map(|_| ()).unwrap_err()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const MIXED: Options = Options { channel: Channel::Mix, raw: None, lenient: false };

fn samples(sound: &Sound) -> &[f32] {
    sound.samples.as_slice::<f32>().unwrap()
}

/// A WAV file of a codec, channels, rate, bits and data.
fn wav(codec: u16, channels: u16, rate: u32, bits: u16, data: &[u8]) -> Vec<u8> {
    let block = channels * bits / 8;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data.len() as u32).to_le_bytes());
    bytes.extend(b"WAVEfmt ");
    bytes.extend(16u32.to_le_bytes());
    [codec, channels].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    [rate, rate * u32::from(block)].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    [block, bits].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    bytes.extend(b"data");
    bytes.extend((data.len() as u32).to_le_bytes());
    bytes.extend(data);
    bytes
}

/// 16 bits, one channel.
fn plain(values: &[i16]) -> Vec<u8> {
    wav(1, 1, 16_000, 16, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>())
}

#[test]
fn every_stored_width_has_its_samples() {
    let folder = Folder::new("widths");
    let float = |x: f32| x.to_le_bytes().to_vec();
    let cases: [(u16, u16, Vec<u8>, [f32; 2]); 6] = [
        (1, 8, vec![128, 192], [0.0, 0.5]),
        (1, 16, vec![0, 0x80, 0, 0x40], [-1.0, 0.5]),
        (1, 24, vec![0, 0, 0x80, 0, 0, 0x40], [-1.0, 0.5]),
        (1, 32, vec![0, 0, 0, 0x80, 0, 0, 0, 0x40], [-1.0, 0.5]),
        (3, 32, [float(0.25), float(-1.5)].concat(), [0.25, -1.5]),
        (3, 64, [0.25f64.to_le_bytes(), (-1.5f64).to_le_bytes()].concat(), [0.25, -1.5]),
    ];
    for (codec, bits, data, wanted) in cases {
        let sound = folder.read("a.wav", &wav(codec, 1, 22_050, bits, &data)).unwrap();
        assert_eq!((samples(&sound), sound.rate), (&wanted[..], Some(22_050.0)), "{codec} {bits}");
        let raw = ["u8", "s16le", "s24le", "s32le", "f32le", "f64le"];
        let name = raw
            .iter()
            .find(|n| n[1..].starts_with(&bits.to_string()) && n.starts_with('f') == (codec == 3));
        let options = Options { raw: Some(format!("{}:22050:1", name.unwrap())), ..MIXED };
        let sound = folder.read_as("a.bin", &data, &options).unwrap();
        assert_eq!((samples(&sound), sound.rate), (&wanted[..], Some(22_050.0)), "{name:?}");
    }
}

#[test]
fn extensible_headers_unknown_chunks_and_open_ends_are_read() {
    let folder = Folder::new("chunks");
    let mut bytes = plain(&[0x4000, -0x4000]);
    // A chunk of an odd size, with the byte that makes it even.
    bytes.splice(36..36, b"LIST\x03\0\0\0abc\0".iter().copied());
    assert_eq!(samples(&folder.read("a.wav", &bytes).unwrap()), [0.5, -0.5]);
    for open in [0u32, u32::MAX] {
        let mut bytes = plain(&[0x4000, -0x4000]);
        bytes[40..44].copy_from_slice(&open.to_le_bytes());
        assert_eq!(samples(&folder.read("a.wav", &bytes).unwrap()), [0.5, -0.5]);
        bytes.push(9);
        let sound = folder.read("a.wav", &bytes).unwrap();
        assert_eq!(samples(&sound), [0.5, -0.5]);
        assert_eq!(sound.notes, ["left out: 1 bytes behind the last whole frame"]);
    }
    let mut bytes = plain(&[0x2000]);
    bytes[16..20].copy_from_slice(&40u32.to_le_bytes());
    bytes[20..22].copy_from_slice(&0xFFFEu16.to_le_bytes());
    let mut more = vec![22, 0, 16, 0, 4, 0, 0, 0, 1, 0];
    more.extend([0; 14]);
    bytes.splice(36..36, more);
    assert_eq!(samples(&folder.read("a.wav", &bytes).unwrap()), [0.25]);
    let mut long = plain(&[0x2000]);
    long[..4].copy_from_slice(b"RF64");
    long[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut sizes = b"ds64\x1c\0\0\0".to_vec();
    sizes.extend([0; 8]);
    sizes.extend(2u64.to_le_bytes());
    sizes.extend([0; 12]);
    long.splice(12..12, sizes);
    assert_eq!(samples(&folder.read("a.wav", &long).unwrap()), [0.25]);
}

#[test]
fn channels_are_mixed_chosen_or_kept() {
    let folder = Folder::new("channels");
    let values: Vec<u8> = [0x4000i16, 0, 0, -0x4000].iter().flat_map(|x| x.to_le_bytes()).collect();
    let stereo = wav(1, 2, 8000, 16, &values);
    let of = |channel| folder.read_as("a.wav", &stereo, &Options { channel, ..MIXED });
    let mixed = of(Channel::Mix).unwrap();
    assert_eq!(samples(&mixed), [0.25, -0.25]);
    assert_eq!(mixed.notes, ["2 channels are mixed; channel chooses one"]);
    assert_eq!(samples(&of(Channel::One(1)).unwrap()), [0.0, -0.5]);
    let all = of(Channel::All).unwrap();
    assert_eq!(
        (&all.samples.shape()[..], samples(&all)),
        (&[2, 2][..], &[0.5, 0.0, 0.0, -0.5][..])
    );
    let e = of(Channel::One(2)).map(|_| ()).unwrap_err();
    assert!(e.message().ends_with("a.wav: channel must be below 2: got 2"), "{e}");
    let many = wav(1, 32, 8000, 16, &[0; 640]);
    assert_eq!(samples(&folder.read("a.wav", &many).unwrap()), [0.0; 10]);
    let single = wav(1, 1, 8000, 16, &[0, 0]);
    assert_eq!(samples(&folder.read("a.wav", &single).unwrap()), [0.0]);
}

#[test]
fn headers_that_lie_are_refused_at_their_byte() {
    let folder = Folder::new("lies");
    let with = |at: usize, value: &[u8]| {
        let mut bytes = plain(&[1, 2, 3]);
        bytes[at..at + value.len()].copy_from_slice(value);
        bytes
    };
    for (bytes, wanted) in [
        (b"RIFF".to_vec(), "the header has 12 bytes: the file has 4 left (at byte 0)"),
        (with(0, b"RIFX"), "big-endian WAV (RIFX) is not read (at byte 0)"),
        (with(0, b"JUNK"), "it does not begin with RIFF and WAVE (at byte 0)"),
        (with(12, b"fmtt"), "the data come before any fmt chunk (at byte 36)"),
        (with(16, &4u32.to_le_bytes()), "a fmt chunk has 16 bytes or more: got 4 (at byte 16)"),
        (
            with(16, &u32::MAX.to_le_bytes()),
            "a chunk of 4294967295 bytes: the file has 30 left (at byte 16)",
        ),
        (with(20, &[0x55, 0]), "codec 0x0055 is not read (at byte 20)"),
        (with(22, &[0, 0]), "sound has 1 channel or more: got 0 (at byte 22)"),
        (with(24, &[0; 4]), "the rate must be above 0 Hz: got 0 (at byte 24)"),
        (with(32, &[0, 0]), "1 channels of 16 bits take 2 bytes: got 0 (at byte 32)"),
        (with(34, &[17, 0]), "got 17 bits of codec 1 (at byte 34)"),
        (with(36, b"date"), "the file ends before its data chunk (at byte 50)"),
        (
            with(40, &0x7FFF_FFF0u32.to_le_bytes()),
            "the data have 2147483632 bytes: the file has 6 left (at byte 40)",
        ),
        (
            with(40, &(-2i32).to_le_bytes()),
            "the data have 4294967294 bytes: the file has 6 left (at byte 40)",
        ),
        (with(40, &5u32.to_le_bytes()), "5 bytes of data are no whole frames of 2 (at byte 40)"),
    ] {
        let e = folder.error("a.wav", &bytes);
        assert!(e.message().ends_with(wanted), "{e}");
        assert_eq!(e.kind(), ErrorKind::Format, "{e}");
    }
    let lenient = Options { lenient: true, ..MIXED };
    let cut = folder.read_as("a.wav", &with(40, &99u32.to_le_bytes()), &lenient).unwrap();
    assert_eq!(
        (samples(&cut).len(), &cut.notes[..]),
        (3, &["the data have 99 bytes: 6 are there".to_string()][..])
    );
}

#[test]
fn files_without_a_header_and_unknown_names_are_asked_about() {
    let folder = Folder::new("raw");
    let of = |raw: &str| {
        let options = Options { raw: Some(raw.into()), ..MIXED };
        folder.read_as("a.raw", &[0; 5], &options).map(|_| ()).unwrap_err().to_string()
    };
    for raw in
        ["s16le", "s16:16000:1", "s16le:0:1", "s16le:16000:0", "s16le:16000:1:2", "s16le:x:1"]
    {
        let text = of(raw);
        assert!(text.starts_with("raw is FORMAT:RATE:CHANNELS, FORMAT one of u8 s16le"), "{text}");
        assert!(text.ends_with(&format!("got {raw:?}")), "{text}");
    }
    assert!(of("s16le:16000:1").ends_with("5 bytes are no whole frames of 2 (at byte 4)"));
    assert!(folder.error("a.raw", &[0; 4]).message().contains("does not say what it holds"));
    assert!(
        folder.error("a.aac", &[0; 4]).message().contains("sound's name ends with one of .wav")
    );
}

/// A stream of 16 bits in one channel, whose two frames hold their samples as they are.
fn flac() -> Vec<u8> {
    let mut bytes = b"fLaC\x80\0\0\x22".to_vec();
    bytes.extend([0, 16, 0, 16, 0, 0, 0, 0, 0, 0]);
    // 16,000 Hz, 1 channel, 16 bits, 32 samples.
    bytes.extend((16_000u64 << 44 | 15 << 36 | 32).to_be_bytes());
    bytes.extend([0; 16]);
    for number in 0..2u8 {
        let mut frame = vec![0xFF, 0xF8, 0x60, 0x08, number, 15];
        frame.push(crc(&frame, 8, 0x07) as u8);
        frame.push(0x02);
        for i in 0..16i16 {
            frame.extend((1024 * (i - 8)).to_be_bytes());
        }
        let check = crc(&frame, 16, 0x8005);
        frame.extend(check.to_be_bytes());
        bytes.extend(frame);
    }
    bytes
}

fn crc(bytes: &[u8], bits: u32, polynomial: u16) -> u16 {
    let top = 1u32 << (bits - 1);
    let mut sum = 0u32;
    for &byte in bytes {
        sum ^= u32::from(byte) << (bits - 8);
        for _ in 0..8 {
            let carry = sum & top != 0;
            sum = (sum << 1) ^ if carry { u32::from(polynomial) } else { 0 };
            sum &= (top << 1) - 1;
        }
    }
    sum as u16
}

#[test]
fn flac_has_its_samples_and_must_be_whole() {
    let folder = Folder::new("flac");
    let sound = folder.read("a.flac", &flac()).unwrap();
    let frame: Vec<f32> = (0..16).map(|i| (i as f32 - 8.0) / 32.0).collect();
    assert_eq!(
        (samples(&sound), sound.rate),
        (&[frame.clone(), frame].concat()[..], Some(16_000.0))
    );
    let bytes = flac();
    let cut = &bytes[..bytes.len() - 5];
    let e = folder.error("a.flac", cut);
    assert!(e.message().ends_with("a.flac: 32 samples are announced, 16 are there"), "{e}");
    let lenient = Options { lenient: true, ..MIXED };
    assert_eq!(samples(&folder.read_as("a.flac", cut, &lenient).unwrap()).len(), 16);
    assert!(folder.error("a.mp3", b"no sound").kind() == ErrorKind::Format);
    assert!(folder.error("a.ogg", b"OggS").kind() == ErrorKind::Format);
}

/// A tenth of a second of 440 Hz at half of full scale, 16,000 Hz, one channel, by libsndfile.
const OGG: &[u8] = include_bytes!("data/tone.ogg");
const MP3: &[u8] = include_bytes!("data/tone.mp3");

#[test]
fn a_tone_comes_back_from_mp3_and_ogg() {
    let folder = Folder::new("tones");
    for (name, bytes) in [("a.ogg", OGG), ("a.mp3", MP3)] {
        let sound = folder.read(name, bytes).unwrap();
        let samples = samples(&sound);
        assert_eq!(sound.rate, Some(16_000.0), "{name}");
        // An encoder's delay and padding stay in MP3.
        assert!((1600..=4800).contains(&samples.len()), "{name}: {}", samples.len());
        let largest = samples.iter().fold(0.0f32, |most, x| most.max(x.abs()));
        assert!((0.4..0.65).contains(&largest), "{name}: {largest}");
    }
}

/// A page of Ogg: its flags, where its samples end, its number, the lengths of its segments, and its data.
fn page(flags: u8, end: u64, number: u32, lengths: &[u8], data: &[u8]) -> Vec<u8> {
    let mut bytes = b"OggS\0".to_vec();
    bytes.push(flags);
    bytes.extend(end.to_le_bytes());
    // The stream that it belongs to is that of the tone.
    bytes.extend(&OGG[14..18]);
    bytes.extend(number.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.push(lengths.len() as u8);
    bytes.extend(lengths);
    bytes.extend(data);
    let sum = page_sum(&bytes);
    bytes[22..26].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// The sum of a page whose own is 0.
fn page_sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0u32, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte) << 24, |sum, _| {
            (sum << 1) ^ if sum >> 31 == 1 { 0x04C1_1DB7 } else { 0 }
        })
    })
}

/// The tone with the packets of its last page on two pages.
fn two_pages() -> Vec<u8> {
    let at = OGG.windows(4).rposition(|bytes| bytes == b"OggS").unwrap();
    let last = &OGG[at..];
    let end = u64::from_le_bytes(last[6..14].try_into().unwrap());
    let number = u32::from_le_bytes(last[18..22].try_into().unwrap());
    let (lengths, data) = last[27..].split_at(last[26].into());
    // A packet ends with a segment of less than 255 bytes.
    let half = lengths.iter().skip(3).position(|&length| length < 255).unwrap() + 4;
    let bytes: usize = lengths[..half].iter().map(|&length| usize::from(length)).sum();
    let first = page(0, end / 2, number, &lengths[..half], &data[..bytes]);
    let second = page(4, end, number + 1, &lengths[half..], &data[bytes..]);
    [&OGG[..at], &first, &second].concat()
}

#[test]
fn mp3_and_ogg_that_are_cut_off_are_refused_and_read_leniently() {
    let folder = Folder::new("cut");
    let lenient = Options { lenient: true, ..MIXED };
    let pages = two_pages();
    assert_eq!(samples(&folder.read("a.ogg", &pages).unwrap()).len(), 1792);
    // In the header, in a setup page, in the last page; of MP3 behind its second frame.
    for end in [100, 2000, pages.len() - 60] {
        let e = folder.error("a.ogg", &pages[..end]);
        assert_eq!(e.kind(), ErrorKind::Format, "{end}: {e}");
        assert!(e.message().contains("the file ends "), "{end}: {e}");
    }
    let cut = folder.read_as("a.ogg", &pages[..pages.len() - 60], &lenient).unwrap();
    assert!((1..1792).contains(&samples(&cut).len()), "{}", samples(&cut).len());
    assert_eq!(cut.notes, ["the file ends before its last page"]);
    let e = folder.error("a.mp3", &MP3[..959]);
    assert!(e.message().ends_with("a.mp3: 2880 samples are announced, 1728 are there"), "{e}");
    assert_eq!(e.hint_text(), Some("lenient reads what is there"));
    let cut = folder.read_as("a.mp3", &MP3[..900], &lenient).unwrap();
    assert_eq!(samples(&cut).len(), 1152);
    // One frame may be the one that some encoders count too many.
    let cut = folder.read("a.mp3", &MP3[..1402]).unwrap();
    assert_eq!(cut.notes, ["2880 samples are announced, 2304 are there"]);
}

/// Numbers that are the same in each run of a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

#[test]
fn files_cut_at_every_byte_and_broken_at_random_end_in_samples_or_an_error() {
    let folder = Folder::new("broken");
    let stereo = wav(3, 2, 8000, 32, &[0; 64]);
    let files = [
        ("a.wav", plain(&[5; 20])),
        ("b.wav", stereo),
        ("c.flac", flac()),
        ("d.ogg", OGG.to_vec()),
        ("e.mp3", MP3.to_vec()),
    ];
    let both = [false, true].map(|lenient| Options { lenient, ..MIXED });
    for (name, bytes) in &files {
        for end in 0..bytes.len() {
            for options in &both {
                if let Ok(sound) = folder.read_as(name, &bytes[..end], options) {
                    assert!(sound.samples.size() <= 4800, "{name} {end}");
                }
            }
        }
    }
    let seed = 0x5EED_0001;
    println!("seed {seed:#x}");
    let mut random = Random(seed);
    for _ in 0..2000 {
        let (name, bytes) = &files[random.below(files.len())];
        let mut bytes = bytes.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, random.below(256) as u8][random.below(6)];
        }
        if let Ok(sound) = folder.read_as(name, &bytes, &both[random.below(2)]) {
            // A few hundred bytes hold no more than this.
            assert!(sound.samples.size() <= 1 << 18, "{name} {bytes:?}");
        }
    }
}

/// What comes in pieces.
#[derive(Default)]
struct Heard {
    rate: Option<f64>,
    announced: Option<u64>,
    samples: Vec<f32>,
    longest: usize,
    /// Pieces after which it has heard enough.
    enough: Option<usize>,
}

impl Take for Heard {
    fn begin(&mut self, rate: Option<f64>, announced: Option<u64>) -> Result<()> {
        (self.rate, self.announced) = (rate, announced);
        Ok(())
    }

    fn take(&mut self, samples: &Array) -> Result<()> {
        self.longest = self.longest.max(samples.size());
        self.samples.extend(samples.as_slice::<f32>().unwrap());
        match &mut self.enough {
            Some(0) => Err(Error::new(ErrorKind::Interrupt, "enough")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

#[test]
fn pieces_of_every_format_are_the_whole() {
    let folder = Folder::new("pieces");
    let stereo = wav(1, 2, 8000, 16, &(0..400u16).flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let cut = flac()[..flac().len() - 5].to_vec();
    let files = [
        ("a.wav", plain(&[5, -7, 9000, 4, 11])),
        ("b.wav", stereo),
        ("c.flac", flac()),
        ("d.ogg", OGG.to_vec()),
        ("e.mp3", MP3.to_vec()),
        ("f.flac", cut),
        ("g.wav", plain(&[])),
    ];
    for (name, bytes) in &files {
        for lenient in [false, true] {
            let options = Options { lenient, ..MIXED };
            let whole = folder.read_as(name, bytes, &options).map_err(|e| e.to_string());
            for piece in [1, 7, 1000, 1 << 16] {
                let mut heard = Heard::default();
                let path = folder.0.join(name);
                let notes = read_in_pieces(&path, &options, piece, &mut heard);
                let notes = notes.map_err(|e| e.to_string());
                assert!(heard.longest <= piece, "{name} {piece}");
                match (&whole, notes) {
                    (Ok(whole), Ok(notes)) => {
                        assert_eq!(heard.samples, samples(whole), "{name} {piece}");
                        assert_eq!((heard.rate, notes), (whole.rate, whole.notes.clone()));
                    }
                    (Err(whole), Err(got)) => assert_eq!(&got, whole, "{name}"),
                    (_, got) => panic!("{name}: {got:?}"),
                }
            }
        }
    }
}

/// A file of more samples than are read at once; its zeros take no room on the disk.
#[test]
fn a_long_wav_comes_in_pieces_whatever_its_size() {
    let folder = Folder::new("long");
    let data = 5u64 << 30;
    let mut bytes = plain(&[]);
    bytes[..4].copy_from_slice(b"RF64");
    bytes[40..44].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut sizes = b"ds64\x1c\0\0\0".to_vec();
    sizes.extend([0; 8]);
    sizes.extend(data.to_le_bytes());
    sizes.extend([0; 12]);
    bytes.splice(12..12, sizes);
    let path = folder.0.join("long.wav");
    std::fs::write(&path, &bytes).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(bytes.len() as u64 + data).unwrap();
    let whole = read(&path, &MIXED).map(|_| ()).unwrap_err();
    assert_eq!(whole.kind(), ErrorKind::Memory, "{whole}");
    assert!(whole.hint_text().unwrap().contains("--stream"));
    let mut heard = Heard { enough: Some(2), ..Heard::default() };
    let ended = read_in_pieces(&path, &MIXED, 1 << 16, &mut heard).unwrap_err();
    assert_eq!(ended.message(), "enough");
    assert_eq!((heard.announced, heard.samples.len()), (Some(data / 2), 3 << 16));
}
