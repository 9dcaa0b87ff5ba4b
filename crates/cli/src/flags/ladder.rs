//! Flags that choose where a program's operations run, and with which numbers.

use super::{FLAG, Flag, Group, Takes, show_switch};
use rung_base::settings::{
    CostsChoice, DeviceChoice, Explain, OnDecline, Origin, Precision, Setting,
};
use std::path::PathBuf;

/// Most threads a run may ask for.
const MOST_THREADS: usize = 1024;

pub const FLAGS: &[Flag] = &[
    Flag {
        name: "--gpu",
        takes: Takes::Switch("--no-gpu"),
        key: Some("gpu"),
        group: Group::Ladder,
        summary: "add the device: a GPU, asked first",
        detail: &["Without one there is one warning, and the output is the same."],
        apply: |request, given, origin| {
            request.settings.gpu.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.settings.gpu)),
        ..FLAG
    },
    Flag {
        name: "--blas",
        takes: Takes::Switch("--no-blas"),
        key: Some("blas"),
        group: Group::Ladder,
        summary: "add the library: a tuned CBLAS of this machine, for products",
        detail: &[
            "Its order of additions is its own, so products may differ in their",
            "last bits; everything else gives the same bits on every rung.",
        ],
        apply: |request, given, origin| {
            request.settings.blas.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.settings.blas)),
        ..FLAG
    },
    Flag {
        name: "--simd",
        takes: Takes::Switch("--no-simd"),
        key: Some("simd"),
        group: Group::Ladder,
        summary: "the lanes: vector instructions (on by default)",
        apply: |request, given, origin| {
            request.settings.simd.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.settings.simd)),
        ..FLAG
    },
    Flag {
        name: "--parallel",
        takes: Takes::Switch("--no-parallel"),
        key: Some("parallel"),
        group: Group::Ladder,
        summary: "threads inside the lanes (on by default)",
        apply: |request, given, origin| {
            request.settings.parallel.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.settings.parallel)),
        ..FLAG
    },
    Flag {
        name: "--portable",
        key: Some("portable"),
        group: Group::Ladder,
        summary: "the definitions alone: plain loops, no rung above them",
        apply: |request, given, origin| {
            request.settings.portable.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.settings.portable)),
        ..FLAG
    },
    Flag {
        name: "--device",
        takes: Takes::Text("auto|none|cuda:N|NAME"),
        variable: Some("RUNG_DEVICE"),
        key: Some("device"),
        group: Group::Ladder,
        summary: "which device: part of an adapter's name; implies --gpu",
        detail: &[
            "A named device that is absent is an error (exit 4). `none` and `cpu` mean",
            "no device; these words may be in capitals. `cuda:1` is the second NVIDIA",
            "card. RUNG_DEVICE=none hides every device but one that is named here.",
        ],
        apply: |request, given, origin| {
            let choice = device_of(given.text(), &origin)?;
            request.settings.device.set(choice, origin);
            Ok(())
        },
        show: Some(|request| {
            let device = &request.settings.device;
            let name = match &device.value {
                DeviceChoice::Auto => "auto",
                DeviceChoice::None(word) => word,
                DeviceChoice::Named(name) => name,
            };
            (name.to_string(), device.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--on-decline",
        takes: Takes::Choice(&["ok", "warn", "error", "verify"]),
        variable: Some("RUNG_ON_DECLINE"),
        key: Some("on-decline"),
        group: Group::Ladder,
        summary: "what happens when a rung that was asked for declines a call",
        detail: &[
            "ok: the next rung takes it.  warn: and one line says so.  error: the",
            "program gets a condition.  verify: the definition runs too, and other",
            "bits are an error.",
        ],
        apply: |request, given, origin| {
            let value = match given.text() {
                "warn" => OnDecline::Warn,
                "error" => OnDecline::Error,
                "verify" => OnDecline::Verify,
                _ => OnDecline::Ok,
            };
            request.settings.on_decline.set(value, origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.settings.on_decline;
            (format!("{:?}", setting.value).to_lowercase(), setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--explain",
        takes: Takes::OptionalChoice(&["table", "json"]),
        variable: Some("RUNG_EXPLAIN"),
        key: Some("explain"),
        group: Group::Ladder,
        summary: "after the run, print where each operation ran and why",
        apply: |request, given, origin| {
            let value = match given.text() {
                "json" => Explain::Json,
                "table" => Explain::Table,
                _ => Explain::Off,
            };
            request.settings.explain.set(value, origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.settings.explain;
            (format!("{:?}", setting.value).to_lowercase(), setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--device-memory",
        takes: Takes::Text("SIZE"),
        variable: Some("RUNG_DEVICE_MEMORY"),
        key: Some("device-memory"),
        group: Group::Ladder,
        summary: "bytes of arrays that may stay on the device: 512M, 4G",
        detail: &["Without it a quarter of the device's memory."],
        apply: |request, given, origin| {
            request.settings.device_memory.set(Some(bytes_of(given.text())?), origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.settings.device_memory;
            let text = setting.value.map_or("a quarter".to_string(), |bytes| bytes.to_string());
            (text, setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--costs",
        takes: Takes::Text("FILE|default"),
        variable: Some("RUNG_COSTS"),
        key: Some("costs"),
        group: Group::Ladder,
        summary: "the costs that decide who takes a call: a file of rung tune",
        detail: &[
            "Without it costs.toml in the user's configuration directory, if there is",
            "one; default takes the built-in costs.",
        ],
        apply: |request, given, origin| {
            let choice = match given.text() {
                "" => return Err("expected a file or default".into()),
                "default" => CostsChoice::Default,
                file => CostsChoice::File(PathBuf::from(file)),
            };
            request.settings.costs.set(choice, origin);
            Ok(())
        },
        show: Some(|request| shown_costs(&request.settings.costs)),
        ..FLAG
    },
    Flag {
        takes: Takes::Text("PATH"),
        variable: Some("RUNG_BLAS"),
        key: Some("blas-path"),
        group: Group::Ladder,
        summary: "the CBLAS to bind, without the search for a tuned one",
        apply: |request, given, origin| {
            request.settings.blas_path.set(Some(PathBuf::from(given.text())), origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.settings.blas_path;
            let path = setting.value.as_ref().map(|path| path.display().to_string());
            (path.unwrap_or_else(|| "search".into()), setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        takes: Takes::Switch(""),
        variable: Some("RUNG_BLAS_VERBOSE"),
        group: Group::Ladder,
        summary: "say which CBLAS was bound",
        apply: |request, given, origin| {
            request.settings.blas_verbose.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.settings.blas_verbose)),
        ..FLAG
    },
    Flag {
        takes: Takes::Text("DIR"),
        variable: Some("RUNG_PTX_FOLDER"),
        group: Group::Ladder,
        summary: "a folder that keeps the PTX made for an NVIDIA card",
        detail: &["What cannot be written there is not kept; a warning at the end says so."],
        apply: |request, given, origin| {
            request.ptx_folder.set(Some(PathBuf::from(given.text())), origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.ptx_folder;
            let path = setting.value.as_ref().map(|path| path.display().to_string());
            (path.unwrap_or_else(|| "none".into()), setting.origin.clone())
        }),
        ..FLAG
    },
];

pub const NUMBERS: &[Flag] = &[
    Flag {
        name: "--precision",
        takes: Takes::Choice(&["strict", "tf32", "bf16"]),
        variable: Some("RUNG_PRECISION"),
        key: Some("precision"),
        group: Group::Numbers,
        summary: "what products may round singles to; strict: f32 means f32",
        apply: |request, given, origin| {
            let precision = match given.text() {
                "bf16" => Precision::Bf16,
                "tf32" => Precision::Tf32,
                _ => Precision::Strict,
            };
            request.settings.precision.set(precision, origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.settings.precision;
            (format!("{:?}", setting.value).to_lowercase(), setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--seed",
        takes: Takes::Integer,
        variable: Some("RUNG_SEED"),
        key: Some("seed"),
        group: Group::Numbers,
        summary: "start both generators from N: same seed, same numbers everywhere",
        apply: |request, given, origin| {
            request.settings.seed.set(Some(given.integer()), origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.settings.seed;
            let seed = setting.value.map_or("fixed".to_string(), |seed| seed.to_string());
            (seed, setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--threads",
        takes: Takes::Count(MOST_THREADS),
        variable: Some("RUNG_THREADS"),
        also: &["RAYON_NUM_THREADS", "OMP_NUM_THREADS"],
        key: Some("threads"),
        group: Group::Numbers,
        summary: "threads of every rung, the library's too",
        detail: &["Results do not depend on it."],
        apply: |request, given, origin| {
            request.settings.threads.set(usize::try_from(given.integer()).ok(), origin);
            Ok(())
        },
        show: Some(|request| shown_threads(&request.settings.threads)),
        ..FLAG
    },
];

/// The device that a text names. What only a typed line can have misspelt is its error; elsewhere it
/// names a device that is not there, as any other name may.
fn device_of(text: &str, origin: &Origin) -> Result<DeviceChoice, String> {
    let name = text.trim();
    let is = |word: &str| name.eq_ignore_ascii_case(word);
    match () {
        () if name.is_empty() => {
            Err(format!("expected auto, none, cuda:N or part of an adapter's name, got {text:?}"))
        }
        () if is("auto") => Ok(DeviceChoice::Auto),
        () if is("none") => Ok(DeviceChoice::None("none")),
        () if is("cpu") => Ok(DeviceChoice::None("cpu")),
        () if matches!(origin, Origin::Flag(_)) && !rung_device::may_name(name) => {
            Err(format!("expected cuda:0, cuda:1 and so on, got {name:?}"))
        }
        () => Ok(DeviceChoice::Named(name.to_string())),
    }
}

const SIZES: &str = "expected a size such as 512M or 1.5G, 4096T at most";

/// The bytes of a size, or why it is none.
pub(super) fn bytes_of(text: &str) -> Result<u64, String> {
    size_of(text).ok_or_else(|| format!("{SIZES}, got {text:?}"))
}

/// `512M`, `1.5G`: bytes, or 2^10, 2^20, 2^30 or 2^40 of them, up to 2^52, below which a double
/// holds every number.
fn size_of(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match text[digits.len()..].to_ascii_uppercase().trim_end_matches('B') {
        "" => 0,
        "K" | "KI" => 10,
        "M" | "MI" => 20,
        "G" | "GI" => 30,
        "T" | "TI" => 40,
        _ => return None,
    };
    if !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let bytes = digits.parse::<f64>().ok()? * (1u64 << shift) as f64;
    (bytes.fract() == 0.0 && bytes <= (1u64 << 52) as f64).then_some(bytes as u64)
}

fn shown_threads(setting: &Setting<Option<usize>>) -> (String, Origin) {
    let threads = setting.value.unwrap_or_else(rung_lanes::default_threads);
    (threads.to_string(), setting.origin.clone())
}

/// The user's own file counts only where there is one.
fn shown_costs(setting: &Setting<CostsChoice>) -> (String, Origin) {
    let text = match &setting.value {
        CostsChoice::File(path) if setting.origin != Origin::BuiltIn || path.exists() => {
            path.display().to_string()
        }
        _ => "default".to_string(),
    };
    (text, setting.origin.clone())
}

#[cfg(test)]
mod tests {
    use super::super::{Given, find};
    use super::*;
    use crate::request::Request;

    #[test]
    fn devices_are_named_or_hidden() {
        let (device, _) = find("--device").unwrap();
        let mut request = Request::default();
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::None("cpu")),
            ("none", DeviceChoice::None("none")),
            ("NONE", DeviceChoice::None("none")),
            ("Auto", DeviceChoice::Auto),
            (" H200 ", DeviceChoice::Named("H200".into())),
            ("H200", DeviceChoice::Named("H200".into())),
            ("CUDA:1", DeviceChoice::Named("CUDA:1".into())),
        ] {
            (device.apply)(&mut request, Given::Text(text), Origin::BuiltIn).unwrap();
            assert_eq!(request.settings.device.value, choice);
        }
        let flag = Origin::Flag("--device");
        let wrong = (device.apply)(&mut request, Given::Text("cuda:x"), flag);
        assert_eq!(wrong.unwrap_err(), "expected cuda:0, cuda:1 and so on, got \"cuda:x\"");
        // As RUNG_DEVICE=foo, which is no warning either.
        let named = Given::Text("cuda:x");
        assert!((device.apply)(&mut request, named, Origin::Environment("RUNG_DEVICE")).is_ok());
        assert_eq!(request.settings.device.value, DeviceChoice::Named("cuda:x".into()));
    }

    #[test]
    fn sizes_have_binary_units() {
        let cases = [("4096", Some(4096)), ("512M", Some(512 << 20)), ("2 GiB", None)];
        for (text, bytes) in cases.into_iter().chain([
            ("1gib", Some(1 << 30)),
            ("3kb", Some(3072)),
            ("", None),
            ("M", None),
            ("-1", None),
            ("1.5G", Some(3 << 29)),
            ("0.3", None),
            ("1.2.3M", None),
            ("1e3", None),
            ("4096T", Some(1 << 52)),
            ("4097T", None),
            ("99999999999999999999T", None),
        ]) {
            assert_eq!(size_of(text), bytes, "{text}");
        }
    }

    #[test]
    fn the_last_precision_given_counts() {
        let (precision, _) = find("--precision").unwrap();
        let mut request = Request::default();
        for (text, wanted) in
            [("tf32", Precision::Tf32), ("bf16", Precision::Bf16), ("strict", Precision::Strict)]
        {
            (precision.apply)(&mut request, Given::Text(text), Origin::BuiltIn).unwrap();
            assert_eq!(request.settings.precision.value, wanted);
        }
    }
}
