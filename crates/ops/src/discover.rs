//! The rungs that a run asks for and the machine may have: the library and the device, or why there
//! is none, with the line that says so.

use crate::decline::Decline;
use rung_base::settings::{DeviceChoice, Settings};
use rung_device::Device;
use rung_library::Library;
use std::sync::Arc;

pub(crate) fn find_library(
    settings: &Settings,
    notices: &mut Vec<String>,
) -> std::result::Result<Library, Decline> {
    if !settings.blas.value {
        return Err(Decline::Off("--blas"));
    }
    if settings.portable.value {
        return Err(Decline::Without("--portable"));
    }
    match Library::discover(settings.blas_path.value.as_deref()) {
        Ok(library) => {
            if let Some(threads) = settings.threads.value {
                library.set_threads(threads);
            }
            if settings.blas_verbose.value {
                notices.push(format!("rung: note: --blas: {}", library));
            }
            Ok(library)
        }
        Err(reason) => {
            notices.push(format!("rung: warning: --blas: {reason}; running without it."));
            Err(Decline::NoLibrary(reason.into()))
        }
    }
}

pub(crate) fn find_device(
    settings: &Settings,
    notices: &mut Vec<String>,
) -> std::result::Result<Arc<dyn Device>, Decline> {
    let named = matches!(settings.device.value, DeviceChoice::Named(_));
    if settings.portable.value && (settings.gpu.value || named) {
        return Err(Decline::Without("--portable"));
    }
    if !settings.gpu.value {
        return Err(Decline::Off("--gpu"));
    }
    let found = match settings.device.value {
        DeviceChoice::None(word) => {
            Err(format!("hidden by {}", settings.device.origin.saying("device", word)))
        }
        _ => rung_device::probe(&settings.device.value).map_err(|reason| reason.to_string()),
    };
    found.map_err(|reason| {
        notices.push(format!("rung: warning: --gpu: {reason}; running without it."));
        Decline::NoDevice(reason.into())
    })
}
