//! Runs Lisp files, or the forms given after `-e` and prints their values: the crate alone,
//! without array operations, for trying and for benchmarks; `RUNG_NATIVE=off` leaves out native code. Words after `--` are the program's.

use rung_lisp::{Lisp, Options, UnhandledKind};

fn main() {
    let mut arguments = std::env::args().skip(1).collect::<Vec<_>>();
    let split = arguments.iter().position(|word| word == "--");
    let own = split.map_or(Vec::new(), |at| arguments.split_off(at).split_off(1));
    let work = move || {
        let native_stack = 200 << 20;
        let mut lisp = Lisp::new(Options { native_stack, arguments: own, ..Options::default() });
        if std::env::var("RUNG_NATIVE").as_deref() != Ok("off") {
            lisp.set_back_end(rung_native::back_end());
        }
        let result = match &arguments[..] {
            [flag, forms @ ..] if flag == "-e" => forms.iter().try_for_each(|form| {
                for value in lisp.eval_text("-e", form)? {
                    println!("{}", lisp.print(&value));
                }
                Ok(())
            }),
            files => files.iter().try_for_each(|file| lisp.load_file(file)),
        };
        let flushed = lisp.flush_streams();
        match result.and(flushed) {
            Ok(()) => 0,
            Err(unhandled) => match unhandled.kind {
                UnhandledKind::Quit(code) => code,
                UnhandledKind::BrokenPipe => 0,
                _ => {
                    eprintln!("{unhandled}");
                    1
                }
            },
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work);
    let code = thread.map(|thread| thread.join().unwrap_or(70));
    std::process::exit(code.unwrap_or(70));
}
