//! A bar of progress on standard error: only on a terminal, only after half a second, with the
//! time that is left.

use crate::screen;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const QUIET: Duration = Duration::from_millis(500);
const WIDTH: usize = 24;
/// Back to the line's first column, and the line is empty.
const CLEAR: &str = "\r\x1b[K";

pub struct Bar {
    start: Instant,
    wanted: bool,
    shown: bool,
}

impl Bar {
    pub fn new(wanted: bool) -> Bar {
        let wanted = wanted && std::io::stderr().is_terminal();
        Bar { start: Instant::now(), wanted, shown: false }
    }

    /// What is done now, and how much of the whole, 0 to 1.
    pub fn show(&mut self, what: &str, done: f64) {
        let taken = self.start.elapsed();
        if self.wanted && taken > QUIET {
            self.shown = true;
            screen::mutter(&format!("{CLEAR}{}", line(what, done, taken)));
        }
    }

    /// Takes the bar away.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            screen::mutter(CLEAR);
        }
    }

    /// Takes away whatever bar is shown on the terminal.
    pub fn take_away() {
        if std::io::stderr().is_terminal() {
            screen::mutter(CLEAR);
        }
    }
}

/// `[######..................]  25 %  fold, 9 s left`.
fn line(what: &str, done: f64, taken: Duration) -> String {
    let full = ((done * WIDTH as f64) as usize).min(WIDTH);
    let left = taken.as_secs_f64() * (1.0 / done.max(0.01) - 1.0);
    let (bar, rest) = ("#".repeat(full), ".".repeat(WIDTH - full));
    format!("[{bar}{rest}] {:>3.0} %  {what}, {left:.0} s left", done * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_much_is_done_and_left() {
        assert_eq!(
            line("fold", 0.25, Duration::from_secs(3)),
            "[######..................]  25 %  fold, 9 s left"
        );
        assert!(line("x", 1.0, Duration::from_secs(3)).ends_with("100 %  x, 0 s left"));
    }
}
