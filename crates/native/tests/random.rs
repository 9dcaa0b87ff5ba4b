//! Random programs of arithmetic, loops, vectors and lists: native code against the bytecode. The
//! seed is printed; `RUNG_NATIVE_SEED=N` repeats a run, `RUNG_FUZZ_SECONDS=600` makes it longer.

mod common;

use std::time::{Duration, Instant};

/// xorshift64* (Marsaglia, 2003; Vigna, 2016).
struct Dice(u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % count
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn variable(&mut self) -> &'static str {
        self.one(&["a", "b", "c"])
    }

    fn constant(&mut self) -> &'static str {
        self.one(&[
            "0",
            "1",
            "-1",
            "7",
            "1000",
            "-300",
            "4611686018427387904",
            "9223372036854775807",
            "0.5d0",
            "-2d0",
            "1d300",
            "2/3",
            "1.5",
            "nil",
            "'x",
            "'(1 2)",
            "#\\a",
        ])
    }

    /// A form that gives a number, as a rule.
    fn number(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.below(4) {
                0 => self.constant().to_string(),
                1 => self.one(&["1", "2", "3", "0.25d0"]).to_string(),
                _ => self.variable().to_string(),
            };
        }
        let depth = depth - 1;
        match self.below(17) {
            0..=3 => {
                // A product of two variables would grow beyond memory in a loop.
                let (a, b) = (self.number(depth), self.number(depth));
                match self.below(3) {
                    0 => format!("(* {a} {})", self.constant()),
                    1 => format!("(+ {a} {b})"),
                    _ => format!("(- {a} {b})"),
                }
            }
            4 => format!("(/ {} {})", self.number(depth), self.constant()),
            5 => format!("({} {})", self.one(&["1+", "1-", "-"]), self.number(depth)),
            6 => {
                let (test, yes, no) = (self.test(depth), self.number(depth), self.number(depth));
                format!("(if {test} {yes} {no})")
            }
            7 => format!("(setq {} {})", self.variable(), self.number(depth)),
            8 => format!("(let ((c {})) {})", self.number(depth), self.number(depth)),
            9 => format!("(aref v (mod (rung-index {}) 4))", self.number(depth)),
            10 => format!("(setf (aref v {}) {})", self.below(5), self.number(depth)),
            11 => format!("(car {})", self.list(depth)),
            12 => format!("(let ((*s* {})) (+ {} (seen)))", self.number(depth), self.number(depth)),
            13 => {
                let (turns, term) = (self.below(5), self.number(depth));
                format!(
                    "(let ((s 0d0)) (dotimes (j {turns} s) (incf s (* (aref w j) 0.5d0)) {term}))"
                )
            }
            14 => format!("(setf (aref w (mod (rung-index {}) 4)) 0.5d0)", self.number(depth)),
            15 => format!("(progn (setq w {}) {})", self.vector(), self.number(depth)),
            _ => format!("(helper {} {})", self.number(depth), self.variable()),
        }
    }

    fn test(&mut self, depth: usize) -> String {
        match self.below(5) {
            0 => format!("(consp {})", self.list(depth)),
            1 => format!("(eql {} {})", self.number(depth), self.number(depth)),
            2 => format!("(zerop {})", self.number(depth)),
            _ => {
                let operator = self.one(&["<", ">", "<=", ">=", "=", "/="]);
                format!("({operator} {} {})", self.number(depth), self.number(depth))
            }
        }
    }

    fn list(&mut self, depth: usize) -> String {
        match self.below(5) {
            0 => "l".to_string(),
            1 => format!("(setq l (cons {} l))", self.number(depth.saturating_sub(1))),
            2 => "(cdr l)".to_string(),
            3 => "(setq l (cdr l))".to_string(),
            _ => format!("(list {})", self.number(depth.saturating_sub(1))),
        }
    }

    fn vector(&mut self) -> &'static str {
        self.one(&[
            "(vector 1 2 3 4)",
            "(make-array 4 :element-type 'double-float :initial-element 1d0)",
            "(make-array 4 :element-type 'bit :initial-element 1)",
            "(copy-seq v)",
            "nil",
        ])
    }

    /// A program that prints what its function gives for some arguments, or the error.
    fn program(&mut self) -> String {
        let turns = 3 + self.below(60);
        let (first, second, last) = (self.number(3), self.number(3), self.number(2));
        let body = match self.below(3) {
            0 => format!("(dotimes (i {turns}) {first} {second}) (list a b c l v {last})"),
            1 => format!("(dolist (c '(1 2 3 0.5d0 4)) {first} {second}) (list a b l v {last})"),
            _ => format!(
                "(loop repeat {turns} do (handler-case {first} (error () (setq b 1)))
                   (setq a {second})) (list a b c l v)"
            ),
        };
        let vector = self.vector().replace("(copy-seq v)", "(vector 1 'x 0.5d0 2)");
        format!(
            "(defvar *s* 1) (defun seen () *s*)
             (defun rung-index (x) (if (integerp x) x 0))
             (defun helper (x y) (if (and (integerp x) (< 3 x 99)) (helper (- x 3) y) y))
             (defun f (a b) (let ((c 0) (l (list 1 2)) (v {vector})
                                     (w (make-array 4 :element-type 'double-float :initial-element 2d0)))
                                 {body}))
             (defun small (x) (if (and (integerp x) (> (integer-length x) 4000)) 'large x))
             (defun g (a b) (handler-case (mapcar #'small (f a b)) (error (e) (princ-to-string e))))
             (list (g 1 2) (g 1 2) (g 0.5d0 3) (g 1 0.5d0) (g 'x 1) (g 5 5))"
        )
    }
}

#[test]
fn random_programs_do_the_same_both_ways() {
    let given = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = given("RUNG_NATIVE_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64 | 1)
    });
    println!("RUNG_NATIVE_SEED={seed}");
    let end = Instant::now() + Duration::from_secs(given("RUNG_FUZZ_SECONDS").unwrap_or(2));
    let mut dice = Dice(seed);
    while Instant::now() < end {
        common::both(&dice.program());
    }
}
