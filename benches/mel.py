"""Mel spectrograms beside torchaudio, librosa and mel_spec: `benches/mel` runs this."""

import os
import pathlib
import platform
import subprocess
import sys
import time
import warnings
import wave

import kaldi_native_fbank as knf
import librosa
import numpy as np
import page
import torch
import torchaudio

RATE, REPEATS = 16_000, 5
SECONDS = (30, 600)
METHODS = ("fft", "product", "melt:1", "melt:3")
CLIPS = pathlib.Path("/usr/share/pocketsphinx/test/data/librivox")
SENTENCE = "It was the best of times and it was the worst of times, and nobody could say which it was. "


def read(path):
    """The samples of a .wav of 16 bits in one channel, and its rate."""
    with wave.open(str(path)) as file:
        words = np.frombuffer(file.readframes(file.getnframes()), np.int16)
        return words.astype(np.float32) / 32768, file.getframerate()


def speech(folder, seconds):
    """So many seconds of synthetic speech at 16 kHz, as f32."""
    path = folder / "speech.wav"
    if not path.exists():
        subprocess.run(["espeak-ng", "-v", "en", "-w", str(path), SENTENCE * 120], check=True)
    samples, rate = read(path)
    samples = librosa.resample(samples, orig_sr=rate, target_sr=RATE)
    return np.resize(samples, seconds * RATE).astype(np.float32)


def whisper(power):
    """Whisper's values, on torch's tensors."""
    log = torch.clamp(power, min=1e-10).log10()
    return (torch.maximum(log, log.max() - 8) + 4) / 4


def peers(samples):
    """Each peer's name with a run that ends with Whisper's 80 bands on the host."""
    transform = torchaudio.transforms.MelSpectrogram(
        RATE, n_fft=400, hop_length=160, n_mels=80, norm="slaney", mel_scale="slaney"
    )
    tensor = torch.from_numpy(samples)

    def of_librosa():
        power = librosa.feature.melspectrogram(
            y=samples, sr=RATE, n_fft=400, hop_length=160, n_mels=80, pad_mode="reflect"
        )
        log = np.log10(np.maximum(power, 1e-10))
        return (np.maximum(log, log.max() - 8) + 4) / 4

    return {"torchaudio": lambda: whisper(transform(tensor)).numpy(), "librosa": of_librosa}


def least(run):
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def said(command):
    """What a program says of itself, by name; `ms` is the least of its runs."""
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(line.split(" ", 1) for line in text.splitlines())


def ours(path, method, kind="spectrogram", threads=1, out=None, preset="whisper-80"):
    """What the example says; the table goes to `out`, where it names a file."""
    command = [os.environ["MEL"], str(path), preset, method, kind, str(threads)]
    return said(command + ([str(out)] if out else []))


def took(path, method, **more):
    return float(ours(path, method, **more)["ms"])


def prose():
    """The five clips of read prose, one after another, as f32."""
    return np.concatenate([read(clip)[0] for clip in sorted(CLIPS.glob("*.wav"))])


def sounds(folder):
    """Names of rows, with samples, how ours is asked, and whether mel_spec, which has no batch, takes part."""
    yield "read prose, 24.7 s", prose(), "spectrogram", True
    for seconds in SECONDS:
        yield f"synthetic, {seconds} s", speech(folder, seconds), "spectrogram", True
    yield "synthetic, 64 of 1 s", speech(folder, 64).reshape(64, RATE), "batch", False


def timed(folder, sound, threads):
    name, samples, kind, alone = sound
    path = folder / "timed.f32"
    samples.tofile(path)
    torch.set_num_threads(threads)
    theirs = {peer: least(run) for peer, run in peers(samples).items()}
    row = [name, f"{threads}"]
    for method in METHODS:
        ms = took(path, method, kind=kind, threads=threads)
        row.append(f"{ms:.2f} ({theirs['torchaudio'] / ms:.2f})")
    row += [f"{theirs['torchaudio']:.2f}", f"{theirs['librosa']:.2f}"]
    # It has one thread.
    row.append(f"{float(said([os.environ['MEL_SPEC'], str(path)])['ms']):.2f}" if alone else "-")
    return "| " + " | ".join(row) + " |"


def kaldi_stream(samples):
    """Milliseconds of a piece of 10 ms by kaldi-native-fbank, frames taken as they come."""
    options = knf.FbankOptions()
    options.frame_opts.dither = 0
    pieces = [(piece * 32768).tolist() for piece in np.split(samples, len(samples) // 160)]

    def run():
        computer, given = knf.OnlineFbank(options), 0
        for piece in pieces:
            computer.accept_waveform(RATE, piece)
            while given < computer.num_frames_ready:
                computer.get_frame(given)
                given += 1

    return least(run) / len(pieces)


def torchaudio_frame(samples):
    """Milliseconds of one frame by torchaudio, which has no stream: 400 samples that are there."""
    transform = torchaudio.transforms.MelSpectrogram(
        RATE, n_fft=400, hop_length=160, n_mels=80, norm="slaney", mel_scale="slaney", center=False
    )
    frame = torch.from_numpy(samples[:400].copy())

    def run():
        for _ in range(1000):
            transform(frame).numpy()

    return least(run) / 1000


def latency(folder):
    """Microseconds of a piece of 10 ms, one frame each."""
    samples = speech(folder, 30)
    path = folder / "timed.f32"
    samples.tofile(path)
    torch.set_num_threads(1)
    micro = lambda ms: f"{ms * 1e3:.1f}"
    cells = [f"{method} {micro(took(path, method, kind='stream'))}" for method in METHODS]
    kaldi = [f"{m} {micro(took(path, m, kind='stream', preset='kaldi'))}" for m in ("fft", "product")]
    return [
        "A stream fed 10 ms at a time takes, in microseconds a piece on one thread (Whisper's 80 bands): "
        f"{', '.join(cells)}; one frame by torchaudio, which has no stream, {micro(torchaudio_frame(samples))}. "
        f"Kaldi's 23 bands: {', '.join(kaldi)}; kaldi-native-fbank {knf.__version__} called from Python "
        f"{micro(kaldi_stream(samples))}.",
    ]


def taken(folder):
    """What a frame of Whisper's 80 bands takes by each method."""
    rows = []
    for method in METHODS:
        frame = ours(folder / "timed.f32", method)
        rows.append(f"| {method} | {int(frame['flops']):,} | {int(frame['bytes']):,} |")
    return rows


def fidelity(folder):
    """Each melt's correlation with the exact bands on read prose: least and median over the bands."""
    rows = []
    for bands, points in ((80, 1), (80, 2), (80, 3), (80, 5), (128, 1), (128, 3)):
        exact, melt = [], []
        for clip in sorted(CLIPS.glob("*.wav")):
            path, out = folder / "clip.f32", folder / "clip.out"
            read(clip)[0].tofile(path)
            for method, to in (("product", exact), (f"melt:{points}", melt)):
                ours(path, method, out=out, preset=f"whisper-{bands}")
                to.append(np.fromfile(out, np.float32).reshape(bands, -1))
        a, b = np.concatenate(exact, axis=1), np.concatenate(melt, axis=1)
        per_band = [np.corrcoef(x, y)[0, 1] for x, y in zip(a, b)]
        off = 4 * np.sqrt(np.mean((a - b) ** 2))
        rows.append(f"| {bands} | {points} | {np.median(per_band):.3f} | {min(per_band):.2f} | {off:.2f} |")
    return rows


WORDS = "zero one two three four five six seven eight nine".split()
# espeak-ng's variants: those that are learned, and those that are told.
LEARNED, TOLD = ("m1", "m2", "m3", "m4", "m5", "f1", "f2", "f3"), ("m6", "m7", "m8", "f4", "f5")
SPEEDS = (130, 160, 190)


def words(folder):
    """The digits by every voice at three speeds, told apart by `benches/mel_words.lisp`: its rows."""
    folder = folder / "words"
    if not (folder / "train.npy").exists():
        folder.mkdir(exist_ok=True)
        said = [(v, s, k) for v in LEARNED + TOLD for s in SPEEDS for k in range(len(WORDS))]
        rows = [utterance(folder, *one) for one in said]
        samples = np.zeros((len(rows), max(map(len, rows))), np.float32)
        for to, row in zip(samples, rows):
            to[: len(row)] = row
        np.save(folder / "samples.npy", samples)
        np.save(folder / "lengths.npy", np.array([len(row) for row in rows]))
        np.save(folder / "labels.npy", np.array([k for _, _, k in said]))
        np.save(folder / "train.npy", np.array([v in LEARNED for v, _, _ in said]))
    command = [os.environ["RUNG"], "benches/mel_words.lisp", "--", str(folder)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def utterance(folder, voice, speed, word):
    path = folder / "word.wav"
    command = ["espeak-ng", "-v", f"en+{voice}", "-s", str(speed), "-w", str(path), WORDS[word]]
    subprocess.run(command, check=True)
    samples, rate = read(path)
    return librosa.resample(samples, orig_sr=rate, target_sr=RATE)


def main():
    warnings.filterwarnings("ignore")
    folder = pathlib.Path(sys.argv[1])
    threads = sorted({1, os.cpu_count()})
    head = [
        f"Command: `benches/mel --write`. Whisper's 80 bands, least of {REPEATS} runs in ms, in "
        f"brackets torchaudio's time over ours. torchaudio {torchaudio.__version__}, librosa {librosa.__version__}, mel_spec 0.5.0. "
        f"{platform.machine()}, {page.processor()}, {time.strftime('%Y-%m-%d')}.",
        "",
        "| sound | threads | fft | product | melt, q = 1 | melt, q = 3 | torchaudio | librosa | mel_spec (one thread) |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows = [timed(folder, sound, count) for count in threads for sound in sounds(folder)]
    frames = [
        "",
        "What a frame takes: multiplications and additions, of fft by the usual count of a transform, and the bytes of "
        "its own numbers, tables aside:",
        "",
        "| method | flops | bytes |",
        "| --- | ---: | ---: |",
    ]
    more = [
        "",
        *latency(folder),
        *frames,
        *taken(folder),
        "",
        "melt beside the exact bands, on five clips of read prose (24.7 s), in Whisper's values before the division by 4:",
        "",
        "| bands | points | correlation of a band, median | least | rms difference (log10) |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    learned, told = (len(voices) * len(SPEEDS) * len(WORDS) for voices in (LEARNED, TOLD))
    last = [
        "",
        f"Ten spoken digits, {learned} utterances of {len(LEARNED)} voices learned and {told} of {len(TOLD)} others "
        "told apart by `benches/mel_words.lisp`:",
        "",
        "| bands | nearest centroid | logistic regression |",
        "| --- | ---: | ---: |",
    ]
    text = "\n".join(head + rows + more + fidelity(folder) + last + words(folder)) + "\n"
    print(text)
    if "--write" in sys.argv[2:]:
        page.write("mel", text)


main()
