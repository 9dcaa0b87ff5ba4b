//! What the program needs, after flags, variables and settings files have been read once.
//!
//! The flag table fills a `Request`; afterwards nobody looks at a flag or a variable again.
//! Here are the fields and the few rules that join several of them (`settle`). How the sources
//! are read is in `configuration`, the table in `flags`.

use crate::failure::Failure;
use rung_base::settings::{DeviceChoice, Explain, Origin, Setting, Settings};
use std::path::PathBuf;

/// When text is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colors {
    /// On a terminal.
    #[default]
    Auto,
    Always,
    Never,
}

/// Which of `rung doctor`'s forms was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoctorForm {
    #[default]
    Usual,
    /// Operations by rungs.
    Operations,
    /// Fit for a public bug report.
    Report,
}

impl DoctorForm {
    /// Takes this form; a second one would throw the first away.
    pub fn choose(&mut self, form: DoctorForm) -> Result<(), String> {
        if *self != DoctorForm::Usual && *self != form {
            return Err("--ops and --report are two forms; give one of them".to_string());
        }
        *self = form;
        Ok(())
    }
}

/// Everything one invocation was asked to do, beside its command and files.
#[derive(Clone, Debug)]
pub struct Request {
    /// What the ladder is asked to do.
    pub settings: Settings,
    pub json: Setting<bool>,
    pub colors: Setting<Colors>,
    pub quiet: Setting<bool>,
    /// How often `-v` was given.
    pub verbose: Setting<u32>,
    /// One line for each message.
    pub short_messages: Setting<bool>,
    /// Functions that run often become machine code.
    pub native: Setting<bool>,
    /// A run that has warned ends with exit code 1.
    pub warnings_are_errors: Setting<bool>,
    /// Output to a terminal is collected as output to a file is.
    pub buffered: Setting<bool>,
    /// An error shows the calls that led to it.
    pub backtrace: Setting<bool>,
    /// Where the PTX of a run is kept; `rung_kernel` reads the variable itself.
    pub ptx_folder: Setting<Option<PathBuf>>,
    /// Texts of `-e`, in order.
    pub expressions: Vec<String>,
    /// Files of `--load`, in order.
    pub loads: Vec<PathBuf>,
    pub package: Setting<String>,
    /// Lisp frames that may be open.
    pub frames: Setting<usize>,
    /// Bytes of Lisp's objects, where they are limited.
    pub heap: Setting<Option<usize>>,
    /// Whether the user's `init.lisp` is loaded at the prompt.
    pub init: Setting<bool>,
    pub doctor: DoctorForm,
    /// `rung tune` takes less time.
    pub quick: Setting<bool>,
    /// Columns of a line for `rung fmt`.
    pub width: usize,
    /// `rung fmt` names what it would change.
    pub check: bool,
    /// `rung fmt` prints.
    pub to_output: bool,
    /// Tests that `rung test` runs have this in their name.
    pub filter: Option<String>,
    /// How many files `rung test` runs at once.
    pub jobs: usize,
    /// More directories in which systems are looked for.
    pub system_path: Setting<String>,
    pub help: Help,
    pub version: bool,
}

/// How much help was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Help {
    #[default]
    None,
    /// One screen.
    Short,
    /// Everything.
    Long,
}

/// Lisp frames that may be open unless `--stack` says otherwise.
pub const FRAMES: usize = 100_000;

impl Default for Request {
    fn default() -> Request {
        Request {
            settings: Settings::default(),
            json: Setting::default(),
            colors: Setting::default(),
            quiet: Setting::default(),
            verbose: Setting::default(),
            short_messages: Setting::default(),
            native: Setting::built_in(true),
            warnings_are_errors: Setting::default(),
            buffered: Setting::default(),
            backtrace: Setting::default(),
            ptx_folder: Setting::default(),
            expressions: Vec::new(),
            loads: Vec::new(),
            package: Setting::built_in("cl-user".to_string()),
            frames: Setting::built_in(FRAMES),
            heap: Setting::default(),
            init: Setting::built_in(true),
            doctor: DoctorForm::default(),
            quick: Setting::default(),
            width: 80,
            check: false,
            to_output: false,
            filter: None,
            jobs: 1,
            system_path: Setting::default(),
            help: Help::None,
            version: false,
        }
    }
}

impl Request {
    /// Applies the rules that join settings, and refuses combinations that contradict themselves.
    pub fn settle(&mut self) -> Result<(), Failure> {
        self.settle_portable()?;
        self.settle_device()?;
        if self.verbose.value > 0 {
            self.settings.blas_verbose.set(true, self.verbose.origin.clone());
        }
        if self.json.value && self.settings.explain.value == Explain::Table {
            self.settings.explain.value = Explain::Json;
        }
        Ok(())
    }

    /// `--portable` beside one of the four is an error when both are flags; otherwise the flag
    /// wins over what a file or a variable said.
    fn settle_portable(&mut self) -> Result<(), Failure> {
        let settings = &mut self.settings;
        if !settings.portable.value {
            return Ok(());
        }
        let four = [
            (&settings.gpu, "--gpu"),
            (&settings.blas, "--blas"),
            (&settings.simd, "--simd"),
            (&settings.parallel, "--parallel"),
        ];
        let added = four.iter().find(|(one, _)| one.value && is_flag(&one.origin));
        let named = matches!(settings.device.value, DeviceChoice::Named(_))
            && is_flag(&settings.device.origin);
        let added = added.map(|(_, name)| *name).or(named.then_some("--device"));
        match added {
            Some(name) if is_flag(&settings.portable.origin) => {
                Err(Failure::usage("--portable runs the definitions alone")
                    .hint(format!("leave out {name} or --portable")))
            }
            Some(_) => {
                settings.portable = Setting::default();
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// A named device adds the device rung, and so does `--device=auto`; `cpu` takes it away.
    fn settle_device(&mut self) -> Result<(), Failure> {
        let settings = &mut self.settings;
        let origin = settings.device.origin.clone();
        match &settings.device.value {
            DeviceChoice::Named(name) if !settings.portable.value => {
                let refused = !settings.gpu.value && rank(&settings.gpu.origin) >= rank(&origin);
                if refused && is_flag(&origin) {
                    let text = format!("--no-gpu and --device={name} contradict each other");
                    return Err(Failure::usage(text).hint("leave one of them out"));
                }
                if refused {
                    settings.device = Setting::default();
                } else if !settings.gpu.value {
                    settings.gpu.set(true, origin);
                }
            }
            DeviceChoice::Auto
                if is_flag(&origin)
                    && !is_flag(&settings.gpu.origin)
                    && !settings.portable.value =>
            {
                settings.gpu.set(true, origin);
            }
            DeviceChoice::None(word) if is_flag(&origin) => {
                if settings.gpu.value && is_flag(&settings.gpu.origin) {
                    let text = format!("--gpu and --device={word} contradict each other");
                    return Err(Failure::usage(text).hint("leave one of them out"));
                }
                settings.gpu.set(false, origin);
            }
            _ => {}
        }
        Ok(())
    }
}

/// How much a setting of this origin counts; what nobody set counts least.
fn rank(origin: &Origin) -> u32 {
    match origin {
        Origin::BuiltIn => 0,
        Origin::File(..) => 1,
        Origin::Environment(_) => 2,
        Origin::Flag(_) => 3,
    }
}

fn is_flag(origin: &Origin) -> bool {
    matches!(origin, Origin::Flag(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(change: fn(&mut Settings)) -> Request {
        let mut request = Request::default();
        change(&mut request.settings);
        request
    }

    #[test]
    fn portable_refuses_the_four_when_both_are_flags() {
        let mut both = request(|s| {
            s.portable.set(true, Origin::Flag("--portable"));
            s.blas.set(true, Origin::Flag("--blas"));
        });
        let failure = both.settle().unwrap_err();
        assert_eq!(failure.message, "--portable runs the definitions alone");
        assert_eq!(failure.hint.as_deref(), Some("leave out --blas or --portable"));
    }

    #[test]
    fn a_flag_wins_over_portable_in_a_file() {
        let mut file = request(|s| {
            s.portable.set(true, Origin::File("rung.toml".into(), 1));
            s.gpu.set(true, Origin::Flag("--gpu"));
        });
        file.settle().unwrap();
        assert!(!file.settings.portable.value);
    }

    #[test]
    fn a_named_device_adds_the_device_rung() {
        let mut named = request(|s| {
            s.device.set(DeviceChoice::Named("llvm".into()), Origin::Flag("--device"));
        });
        named.settle().unwrap();
        assert!(named.settings.gpu.value);
        let mut any = request(|s| s.device.set(DeviceChoice::Auto, Origin::Flag("--device")));
        any.settle().unwrap();
        assert!(any.settings.gpu.value);
        // What is refused in the same file, or in a stronger place, stays refused.
        let mut off = request(|s| {
            s.device.set(DeviceChoice::Named("llvm".into()), Origin::File("rung.toml".into(), 2));
            s.gpu.set(false, Origin::File("rung.toml".into(), 1));
        });
        off.settle().unwrap();
        assert_eq!(
            (off.settings.gpu.value, off.settings.device.value),
            (false, DeviceChoice::Auto)
        );
        let mut refused = request(|s| {
            s.device.set(DeviceChoice::Named("llvm".into()), Origin::Flag("--device"));
            s.gpu.set(false, Origin::Flag("--no-gpu"));
        });
        assert!(refused.settle().is_err());
    }

    /// The device won without a word.
    #[test]
    fn a_device_that_is_asked_for_and_taken_away_is_a_contradiction() {
        let mut both = request(|s| {
            s.device.set(DeviceChoice::None("cpu"), Origin::Flag("--device"));
            s.gpu.set(true, Origin::Flag("--gpu"));
        });
        let failure = both.settle().unwrap_err();
        assert_eq!(failure.message, "--gpu and --device=cpu contradict each other");
        let mut weaker = request(|s| {
            s.device.set(DeviceChoice::None("none"), Origin::Flag("--device"));
            s.gpu.set(true, Origin::File("rung.toml".into(), 1));
        });
        weaker.settle().unwrap();
        assert!(!weaker.settings.gpu.value);
    }
}
