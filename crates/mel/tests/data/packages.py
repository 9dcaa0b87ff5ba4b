"""The numbers of the packages that the presets are named after, for `tests/packages.rs`: writes packages.txt
beside it.

    python crates/mel/tests/data/packages.py      (from the root of the repository)

librosa 0.11.0, kaldi-native-fbank 1.23.0 and openai-whisper 20250625 (without its dependencies, with tiktoken,
more-itertools, regex and tqdm) by pip into a virtual environment that sees Debian's python3-torch and
python3-torchaudio (0.13.1), with numpy below 2. All but kaldi-native-fbank compute in double precision here,
so that what differs is ours; Kaldi's options that it shares with torchaudio.compliance.kaldi are asked of both.
"""

import pathlib
import warnings
import wave

import kaldi_native_fbank as knf
import librosa
import numpy as np
import torch
import torchaudio
import torchaudio.compliance.kaldi as kaldi
import whisper
import whisper.audio

HERE = pathlib.Path(__file__).parent
SPEECH = HERE.parents[3] / "examples/data/speech.wav"
# So many cells of each table are kept, at equal distances in its rows one after another.
CELLS = 120

warnings.filterwarnings("ignore")
torch.set_default_dtype(torch.float64)
whisper.audio.mel_filters = lambda device, n, of=whisper.audio.mel_filters: of(device, n).double()

with wave.open(str(SPEECH)) as file:
    RATE = file.getframerate()
    WORDS = np.frombuffer(file.readframes(file.getnframes()), np.int16)
X = WORDS.astype(np.float64) / 32768
TENSOR = torch.from_numpy(X)[None]


def librosa_mel(**options):
    return librosa.feature.melspectrogram(y=X, sr=RATE, dtype=np.float64, **options)


def librosa_mfcc(**options):
    return librosa.feature.mfcc(y=X, sr=RATE, dtype=np.float64, **options)


def torch_mel(**options):
    return torchaudio.transforms.MelSpectrogram(**options)(TENSOR)[0].numpy()


def torch_mfcc(**options):
    return torchaudio.transforms.MFCC(**options)(TENSOR)[0].numpy()


def whisper_mel(mels, audio=X):
    return whisper.audio.log_mel_spectrogram(torch.from_numpy(audio), mels).numpy()


def of_torchaudio(what, **options):
    return what(TENSOR * 32768, sample_frequency=RATE, **options).numpy()


def native(options, kind):
    """All frames of kaldi-native-fbank."""
    options.frame_opts.dither = 0
    computer = kind(options)
    computer.accept_waveform(RATE, (X * 32768).tolist())
    computer.input_finished()
    return np.stack([computer.get_frame(t) for t in range(computer.num_frames_ready)])


def native_fbank(bins=23, snip_edges=True, window="povey"):
    options = knf.FbankOptions()
    options.frame_opts.window_type = window
    options.mel_opts.num_bins = bins
    options.frame_opts.snip_edges = snip_edges
    return native(options, knf.OnlineFbank)


def native_mfcc(energy=True):
    options = knf.MfccOptions()
    options.use_energy = energy
    return native(options, knf.OnlineMfcc)


def kaldi_filters(bins, points):
    """With the bin at half the rate, which Kaldi leaves out."""
    banks, _ = kaldi.get_mel_banks(bins, points, RATE, 20.0, 0.0, 100.0, -500.0, 1.0)
    return np.pad(banks.numpy(), ((0, 0), (0, 1)))


def with_slopes(cepstra):
    return np.concatenate([cepstra, librosa.feature.delta(cepstra)])


FIELDS = dict(n_fft=512, win_length=400, hop_length=160, n_mels=40)
CASES = {
    "librosa": lambda: librosa_mel(),
    "librosa db": lambda: librosa.power_to_db(librosa_mel()),
    "librosa reflect": lambda: librosa_mel(pad_mode="reflect"),
    "librosa htk": lambda: librosa_mel(**FIELDS, fmin=20, fmax=7600, htk=True, norm=None),
    "librosa magnitude": lambda: librosa_mel(
        n_fft=400, hop_length=160, n_mels=40, htk=True, norm=None, power=1.0, center=False
    ),
    "librosa mfcc": lambda: librosa_mfcc(),
    "librosa mfcc lifter": lambda: librosa_mfcc(n_mfcc=13, lifter=22),
    "librosa mfcc deltas": lambda: with_slopes(librosa_mfcc(n_mfcc=13)),
    "torchaudio": lambda: torch_mel(),
    "torchaudio db": lambda: torchaudio.transforms.AmplitudeToDB()(torch.from_numpy(torch_mel())).numpy(),
    "torchaudio slaney": lambda: torch_mel(**FIELDS, norm="slaney", mel_scale="slaney"),
    "torchaudio magnitude": lambda: torch_mel(power=1.0, center=False),
    "torchaudio mfcc": lambda: torch_mfcc(),
    "torchaudio mfcc 13": lambda: torch_mfcc(n_mfcc=13, melkwargs=FIELDS),
    "whisper-80": lambda: whisper_mel(80),
    "whisper-128": lambda: whisper_mel(128),
    "whisper-80 window30": lambda: whisper_mel(80, whisper.audio.pad_or_trim(X)),
    "kaldi": lambda: of_torchaudio(kaldi.fbank),
    "kaldi 80": lambda: of_torchaudio(kaldi.fbank, num_mel_bins=80),
    "kaldi mirror": lambda: of_torchaudio(kaldi.fbank, snip_edges=False),
    "kaldi 32 8": lambda: of_torchaudio(kaldi.fbank, frame_length=32.0, frame_shift=8.0),
    "kaldi 40 12.5": lambda: of_torchaudio(kaldi.fbank, frame_length=40.0, frame_shift=12.5),
    "kaldi magnitude": lambda: of_torchaudio(kaldi.fbank, use_power=False),
    "kaldi high": lambda: of_torchaudio(kaldi.fbank, low_freq=60.0, high_freq=-400.0),
    "kaldi mfcc": lambda: of_torchaudio(kaldi.mfcc, use_energy=True),
    "kaldi mfcc no energy": lambda: of_torchaudio(kaldi.mfcc, use_energy=False),
    "kaldi mfcc 20 lifter 0": lambda: of_torchaudio(
        kaldi.mfcc, use_energy=True, num_ceps=20, cepstral_lifter=0.0
    ),
    "torchaudio hamming": lambda: torch_mel(window_fn=torch.hamming_window),
    "torchaudio blackman": lambda: torch_mel(window_fn=torch.blackman_window),
    "librosa hamming": lambda: librosa_mel(window="hamming"),
    "librosa blackman": lambda: librosa_mel(window="blackman"),
    "kaldi hanning": lambda: of_torchaudio(kaldi.fbank, window_type="hanning"),
    "kaldi hamming": lambda: of_torchaudio(kaldi.fbank, window_type="hamming"),
    "kaldi blackman": lambda: of_torchaudio(kaldi.fbank, window_type="blackman"),
    "kaldi rectangular": lambda: of_torchaudio(kaldi.fbank, window_type="rectangular"),
    "native hann": lambda: native_fbank(window="hann"),
    "native hanning": lambda: native_fbank(window="hanning"),
    "native hamming": lambda: native_fbank(window="hamming"),
    "native blackman": lambda: native_fbank(window="blackman"),
    "native rectangular": lambda: native_fbank(window="rectangular"),
    "native": lambda: native_fbank(),
    "native 80": lambda: native_fbank(80),
    "native mirror": lambda: native_fbank(snip_edges=False),
    "native mfcc": lambda: native_mfcc(),
    "native mfcc no energy": lambda: native_mfcc(False),
    "filters librosa": lambda: librosa.filters.mel(sr=22050, n_fft=2048, dtype=np.float64),
    "filters librosa htk": lambda: librosa.filters.mel(
        sr=16000, n_fft=512, n_mels=40, fmin=20, fmax=7600, htk=True, norm=None, dtype=np.float64
    ),
    "filters torchaudio": lambda: torchaudio.functional.melscale_fbanks(201, 0.0, 8000.0, 128, RATE).T.numpy(),
    "filters whisper-80": lambda: whisper.audio.mel_filters("cpu", 80).numpy(),
    "filters whisper-128": lambda: whisper.audio.mel_filters("cpu", 128).numpy(),
    "filters kaldi": lambda: kaldi_filters(23, 512),
}


def cells(table):
    """Places in a row of all cells: of a table of weights among those that are not zero."""
    flat = table.ravel()
    places = np.flatnonzero(flat) if (flat == 0).mean() > 0.5 else np.arange(flat.size)
    return sorted({int(places[i * len(places) // CELLS]) for i in range(min(CELLS, len(places)))})


def main():
    lines = [
        "# Written by packages.py beside it: of each table its rows, columns and largest magnitude,",
        "# then places in its rows one after another with the number there.",
        f"# librosa {librosa.__version__}, torchaudio {torchaudio.__version__} of Debian (torch {torch.__version__}),",
        f"# openai-whisper {whisper.__version__}, kaldi-native-fbank {knf.__version__}",
    ]
    for name, make in CASES.items():
        table = np.asarray(make())
        flat = table.ravel()
        rows, columns = table.shape
        lines.append(f"case {name}: {rows} {columns} {np.abs(flat).max():.9g}")
        pairs = [f"{at} {flat[at]:.9g}" for at in cells(table)]
        lines += [", ".join(pairs[i : i + 5]) for i in range(0, len(pairs), 5)]
    (HERE / "packages.txt").write_text("\n".join(lines) + "\n")


main()
