//! The last net: a panic is our own mistake, and it ends with exit code 70 and a message that
//! says how to report it.

use crate::failure::Exit;
use crate::{screen, streams, version};
use std::backtrace::Backtrace;
use std::panic::PanicHookInfo;
use std::sync::{Arc, Mutex, PoisonError};

/// What the last panic said, and where it came from.
type Said = Arc<Mutex<Option<String>>>;

/// Runs `body` on a thread with `stack` bytes of stack and gives its exit code, or 70 after a
/// panic.
pub fn guard(stack: usize, body: impl FnOnce() -> i32 + Send + 'static) -> i32 {
    let said = Said::default();
    let hook = said.clone();
    // Workers hand their panics on to the caller, so only the end of this thread is reported.
    std::panic::set_hook(Box::new(move |info| {
        *hook.lock().unwrap_or_else(PoisonError::into_inner) = Some(describe(info));
    }));
    let thread = std::thread::Builder::new().name("rung".into()).stack_size(stack).spawn(body);
    let thread = match thread {
        Ok(thread) => thread,
        Err(error) => {
            screen::mutter(&format!(
                "rung: error: cannot start a thread with a stack of {} MiB: {error}\n  hint: \
                 allow more memory or address space (ulimit -v), or more processes (ulimit -u)\n",
                stack >> 20
            ));
            return Exit::Program as i32;
        }
    };
    thread.join().unwrap_or_else(|_| {
        let said = said.lock().unwrap_or_else(PoisonError::into_inner).take();
        report(&said.unwrap_or_else(|| "panic without a message".into()));
        Exit::Internal as i32
    })
}

fn describe(info: &PanicHookInfo) -> String {
    let payload = info.payload();
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
    let place = info.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
    format!("{text}{}\n{}", place.unwrap_or_default(), Backtrace::force_capture())
}

fn report(said: &str) {
    streams::deliver();
    let (what, calls) = said.split_once('\n').unwrap_or((said, ""));
    screen::mutter(&format!(
        "rung: internal error: {what}\n{calls}\n  \
         hint: this is a mistake in {}, not in your program; please report it together with\n  \
         the output of rung doctor --report\n",
        version::line()
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_with_70_and_an_end_with_its_code() {
        let divisor = "0".len() - 1;
        assert_eq!(guard(1 << 20, move || (1 / divisor) as i32), 70);
        assert_eq!(guard(1 << 20, || 7), 7);
        // The other tests report as usual.
        let _ = std::panic::take_hook();
    }
}
