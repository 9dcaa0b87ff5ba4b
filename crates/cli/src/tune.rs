//! `rung tune`: measures the machine, writes the cost file, and says what changed. How it is
//! measured is in `rung_ops::tune`; here are the choice of what is measured, the progress on a
//! terminal and the report.

mod show;

use crate::bar::Bar;
use crate::commands::Invocation;
use crate::failure::{Exit, Failure};
use crate::{interrupt, printed, screen};
use rung_base::Settings;
use rung_base::settings::{CostsChoice, DeviceChoice, Origin};
use rung_device::Device;
use rung_lanes::Level;
use rung_library::Library;
use rung_ops::costs::file::{self, Entry, Refused};
use rung_ops::costs::{Costs, device_costs};
use rung_ops::decline::size;
use rung_ops::tune::{Plan, measure};
pub use show::offers;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What Ctrl-C leaves.
const NOTHING: &str = "rung: note: interrupted; nothing was written\n";

/// `rung tune`.
pub fn run(invocation: &Invocation) -> Result<i32, Failure> {
    let settings = &invocation.request.settings;
    let path = target(settings)?;
    replaceable(&path, &settings.costs.origin)?;
    writable(&path, &settings.costs.origin)?;
    let device = device(invocation)?;
    let libraries = libraries(invocation);
    let asked = if settings.parallel.value { settings.threads.value } else { Some(1) };
    let plan = Plan {
        threads: asked.unwrap_or_else(rung_lanes::default_threads),
        libraries: &libraries,
        device: device.as_ref(),
        quick: invocation.request.quick.value,
    };
    let screen = &invocation.screen;
    let (quiet, writing) = (screen.quiet || screen.json, Arc::new(AtomicBool::new(false)));
    let is_late = writing.clone();
    interrupt::quit_at_once(move || {
        Bar::take_away();
        if !quiet && !is_late.load(Ordering::SeqCst) {
            screen::mutter(NOTHING);
        }
    });
    let mut bar = Bar::new(!screen.json && !screen.quiet);
    let measured = measure(&plan, &mut |what, done| bar.show(what, done));
    bar.clear();
    if let Some(reason) = &measured.lost {
        let text = format!("the device failed while it was measured: {reason}");
        return Err(absent("--gpu", &format!("{text}; nothing was written")));
    }
    if let Some(text) = measured.doubt() {
        screen.warning(&text);
    }
    let defaults = Costs::defaults(Level::detect(), 1);
    let before = known(&path, &defaults, screen);
    let entries: Vec<Entry> =
        measured.entries.into_iter().map(|(key, costs)| Entry { key, costs }).collect();
    writing.store(true, Ordering::SeqCst);
    file::put(&path, &entries, &defaults).map_err(|e| Failure::new(Exit::File, e.message()))?;
    let text = match screen.json {
        true => show::json(&path, &entries),
        false => {
            let own = device.as_ref().map_or(defaults.device, |d| device_costs(d.info()));
            show::text(&entries, &before, &Costs { device: own, ..defaults })
        }
    };
    let code = printed(screen::print(&text))?;
    let bytes = std::fs::metadata(&path).map_or(0, |found| found.len());
    if !screen.json && !screen.quiet {
        screen::mutter(&format!("wrote {}, {}\n", path.display(), size(bytes)));
    }
    Ok(code)
}

/// The file that is written.
fn target(settings: &Settings) -> Result<PathBuf, Failure> {
    match &settings.costs.value {
        CostsChoice::File(path) => Ok(path.clone()),
        CostsChoice::Default if settings.costs == Default::default() => {
            Err(Failure::new(Exit::File, "there is no configuration directory to write to")
                .hint("name a file: --costs=FILE"))
        }
        CostsChoice::Default => Err(Failure::usage("the default costs are in no file")
            .hint(format!("leave {} out, or name a file with it", settings.costs.origin))),
    }
}

/// What the file says already; one that cannot be read is replaced.
fn known(path: &Path, defaults: &Costs, screen: &screen::Screen) -> Vec<Entry> {
    match file::entries(path, defaults) {
        Ok(entries) => entries,
        Err(Refused::Malformed(fault)) => {
            screen.warning(&format!("{}; written anew.", fault.at(path)));
            Vec::new()
        }
        Err(_) => Vec::new(),
    }
}

/// A file that a flag names and that holds something else is not written over; an empty one holds
/// nothing, and a device or a pipe keeps no costs.
fn replaceable(path: &Path, origin: &Origin) -> Result<(), Failure> {
    let found = std::fs::metadata(path);
    let refused = |text: &str, hint: &str| {
        let text = format!("cannot write {}: {text}", path.display());
        Err(Failure::new(Exit::File, text).hint(hint))
    };
    if found.as_ref().is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return refused("it is no regular file", "name another file with --costs");
    }
    // What is not there, and a folder, `writable` judges.
    if *origin == Origin::BuiltIn || found.map_or(true, |it| it.is_dir() || it.len() == 0) {
        return Ok(());
    }
    match file::entries(path, &Costs::defaults(Level::detect(), 1)) {
        Err(Refused::Malformed(fault)) => refused(
            &format!("it is there and no cost file: {fault}"),
            "delete it, or name another file with --costs",
        ),
        _ => Ok(()),
    }
}

/// Finds out before a minute of measuring whether the folder takes the file. Our own folder is made;
/// one that somebody names has to be there.
fn writable(path: &Path, origin: &Origin) -> Result<(), Failure> {
    let failed = |what: &str, place: &Path, error: &std::io::Error| {
        let text = crate::failure::plain(error);
        Failure::new(Exit::File, format!("cannot {what} {}: {text}", place.display()))
    };
    if path.is_dir() {
        let text = format!("cannot write {}: it is a folder", path.display());
        return Err(Failure::new(Exit::File, text).hint("--costs=FILE names the file itself"));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        if *origin == Origin::BuiltIn {
            std::fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
        } else if !folder.is_dir() {
            let text =
                format!("cannot write {}: there is no folder {}", path.display(), folder.display());
            return Err(Failure::new(Exit::File, text).hint("make it first, or name another file"));
        }
    }
    // What the file is going to be written as has a name beside it; so has this.
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.try", std::process::id()));
    let tried = path.with_file_name(name);
    std::fs::write(&tried, "").map_err(|error| failed("write", path, &error))?;
    std::fs::remove_file(&tried).map_err(|error| failed("write", path, &error))
}

/// The device to measure; a software one only when it is named.
fn device(invocation: &Invocation) -> Result<Option<Arc<dyn Device>>, Failure> {
    let settings = &invocation.request.settings;
    if !settings.gpu.value || matches!(settings.device.value, DeviceChoice::None(_)) {
        return Ok(None);
    }
    match rung_device::probe(&settings.device.value) {
        Ok(device) => Ok(Some(device)),
        Err(reason) => match &settings.device.value {
            DeviceChoice::Named(name) => {
                let said = settings.device.origin.saying("device", name);
                Err(absent(&said, &reason.to_string()))
            }
            _ => {
                invocation.screen.warning(&format!("--gpu: {reason}; measuring without it."));
                Ok(None)
            }
        },
    }
}

fn absent(what: &str, reason: &str) -> Failure {
    Failure::new(Exit::Absent, format!("{what}: {reason}"))
        .hint("rung doctor says what this machine has; --no-gpu measures the rest")
}

fn libraries(invocation: &Invocation) -> Vec<Library> {
    let settings = &invocation.request.settings;
    if !settings.blas.value {
        return Vec::new();
    }
    let path = settings.blas_path.value.as_deref();
    let found = Library::every(path);
    if found.is_empty() {
        let reason = Library::discover(path).err().unwrap_or_default();
        invocation.screen.warning(&format!("--blas: {reason}; measuring without it."));
    }
    if let Some(threads) = settings.threads.value {
        for library in &found {
            library.set_threads(threads);
        }
    }
    found
}
