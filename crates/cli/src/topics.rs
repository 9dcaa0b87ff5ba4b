//! Topics of `rung help` that belong to no single command or flag.

use crate::flags;
use std::fmt::Write;

/// One topic.
pub struct Topic {
    pub name: &'static str,
    pub text: fn() -> String,
}

pub const TOPICS: &[Topic] = &[
    Topic { name: "exit-codes", text: || EXIT_CODES.to_string() },
    Topic { name: "ladder", text: || LADDER.to_string() },
    Topic { name: "settings", text: settings },
    Topic { name: "files", text: || FILES.to_string() },
];

pub fn find(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

const EXIT_CODES: &str = "\
  rung -e '(quit 7)'; echo $?     the program's own code: 7

  0    done
  1    the program signalled a condition that nobody handled, or a check failed
  2    wrong usage
  3    an input cannot be read or an output cannot be written
  4    a device or rung that was demanded is absent
  70   internal error: our mistake; please report it
  129  ended by SIGHUP: its terminal was closed
  130  ended by Ctrl-C
  143  ended by SIGTERM, which kill sends

Whatever ends it, what was printed before arrives.
";

const LADDER: &str = "\
  rung prog.lisp                  lanes, then the definitions
  rung prog.lisp --gpu --blas     device, library, lanes, definitions
  rung prog.lisp --portable       the definitions alone

Each array operation is offered to the rungs of the run in that order; a rung
takes it or declines with a reason, and the next is asked. A rung also declines
when a later one is estimated to be faster. Every rung gives the bits of the
definition, except the library's products, whose order is its own.

--explain shows which rung took each call and why the others did not.
";

const FILES: &str = "\
  $XDG_CONFIG_HOME/rung/config.toml   settings of the user (~/.config)
  $XDG_CONFIG_HOME/rung/costs.toml    what rung tune measured
  $XDG_CONFIG_HOME/rung/init.lisp     loaded at the prompt, unless --no-init
  rung.toml                           settings of the project, in the working
                                      directory or the nearest one above it
  $XDG_STATE_HOME/rung/history        lines of the prompt (~/.local/state)

Without a home the prompt has no history.
";

fn settings() -> String {
    let mut text = String::from(
        "  rung prog.lisp --threads 2      a flag\n  RUNG_THREADS=2 rung prog.lisp   a variable\n\n\
         A flag beats a variable, a variable beats the project's rung.toml, that beats\n\
         the user's config.toml. rung doctor shows each setting and its origin.\n\n  \
         key               variable\n",
    );
    for flag in flags::all().filter(|flag| flag.key.is_some() || flag.variable.is_some()) {
        let (key, variable) = (flag.key.unwrap_or("-"), flag.variable.unwrap_or("-"));
        let _ = writeln!(text, "  {key:<17} {variable}");
    }
    text
}
