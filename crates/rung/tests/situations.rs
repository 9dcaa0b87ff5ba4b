//! The situations of the reference as a program sees them, and what package `rung` says about
//! where operations ran. Those seen from the table are in `crates/ops/tests/situations.rs`.

mod common;

use common::{printed, session};
use rung::Session;
use rung_base::{Explain, OnDecline, Precision};

#[test]
fn situations_01_a_program_shows_what_ran_where_and_why_not_elsewhere() {
    let mut session = session(|settings| {
        settings.explain.value = Explain::Json;
        settings.blas.value = true;
    });
    assert_eq!(session.notices, [""; 0], "install libopenblas0");
    let program = "(let ((a (la:ones '(64 64))))\n  (la:matmul a a)\n  (la:exp a)\n  \
                   (rung:with-rungs (:library nil :lanes nil)\n    (la:exp a)))";
    session.lisp.eval_text("prog.lisp", program).unwrap();
    let json: serde_json::Value = serde_json::from_str(&session.explain_json()).unwrap();
    let rows = json["calls"].as_array().unwrap();
    let row = |place: &str| rows.iter().find(|row| row["place"] == place).unwrap();
    for (place, operation, rung) in [
        ("prog.lisp:2:3", "matmul", "library"),
        ("prog.lisp:3:3", "exp", "lanes"),
        ("prog.lisp:5:5", "exp", "portable"),
    ] {
        assert_eq!(
            (&row(place)["operation"], &row(place)["rung"]),
            (&operation.into(), &rung.into())
        );
    }
    let declines = json["declines"].as_array().unwrap();
    let reason = |place: &str, rung: &str| {
        let same = |d: &&serde_json::Value| d["place"] == place && d["rung"] == rung;
        declines.iter().find(same).unwrap()["text"].as_str().unwrap().to_string()
    };
    assert_eq!(reason("prog.lisp:2:3", "device"), "not asked for: --gpu");
    assert_eq!(reason("prog.lisp:5:5", "lanes"), "taken away by rung:with-rungs");
    assert!(reason("prog.lisp:3:3", "library").starts_with("no library kernel: "));
    // The totals are the sums of the rows.
    for rung in ["library", "lanes", "portable"] {
        let own = || rows.iter().filter(|row| row["rung"] == rung);
        let calls: u64 = own().map(|row| row["calls"].as_u64().unwrap()).sum();
        let seconds: f64 = own().map(|row| row["seconds"].as_f64().unwrap()).sum();
        assert_eq!(json["totals"][rung]["calls"].as_u64(), Some(calls), "{json}");
        let total = json["totals"][rung]["seconds"].as_f64().unwrap();
        assert!((total - seconds).abs() < 1e-9);
    }
}

#[test]
fn situations_02_a_block_decides_what_a_decline_does() {
    let mut session = session(|settings| settings.blas.value = true);
    // 27 multiply-adds are too few for a library.
    let small = "(la:matmul (la:ones '(3 3)) (la:ones '(3 3)))";
    let nine = "#d((3.0 3.0 3.0) (3.0 3.0 3.0) (3.0 3.0 3.0))";
    assert_eq!(printed(&mut session, small), nine);
    let caught = format!(
        "(let ((rung:*on-decline* :error)) (handler-case {small} (rung:declined (c) \
         (list (rung:array-error-operation c) (length (rung:array-error-arguments c)) \
         (rung:condition-report c)))))"
    );
    assert_eq!(
        printed(&mut session, &caught),
        "(\"matmul\" 2 \"linalg: matmul on (3 3) (3 3) declined by the library: \
         too small: 27 < 64 multiply-adds\")"
    );
    for (restart, wanted) in
        [("'rung:run-portable", nine), ("'use-value 7", "7"), ("'use-value nil", "nil")]
    {
        let form = format!(
            "(let ((rung:*on-decline* :error)) (handler-bind ((rung:declined (lambda (c) \
             (declare (ignore c)) (invoke-restart {restart})))) {small}))"
        );
        assert_eq!(printed(&mut session, &form).to_lowercase(), wanted, "{restart}");
    }
    let aborted = format!(
        "(let ((rung:*on-decline* :error)) (handler-bind ((rung:declined (lambda (c) \
         (declare (ignore c)) (invoke-restart 'abort)))) {small} 5))"
    );
    assert_eq!(
        printed(&mut session, &aborted),
        "linalg: matmul on (3 3) (3 3) declined by the library: too small: 27 < 64 multiply-adds"
    );
    let warned = format!(
        "(with-output-to-string (*error-output*) (let ((rung:*on-decline* :warn)) \
         (dotimes (i 3) {small})))"
    );
    assert_eq!(
        printed(&mut session, &warned),
        "\"rung: warning: prog.lisp:1:89: la:matmul on the library: too small: 27 < 64 \
         multiply-adds\n\""
    );
    let wrong = format!("(let ((rung:*on-decline* :perhaps)) {small})");
    assert!(printed(&mut session, &wrong).contains("nil, :ok, :warn, :error or :verify: got"));
}

#[test]
fn handlers_are_asked_once_and_restarts_are_listed() {
    let mut session = session(|_| {});
    let counted = "(let ((n 0)) (handler-case (handler-bind ((error (lambda (c) (declare (ignore c)) \
                   (incf n)))) (la:matmul (la:ones '(2 3)) (la:ones '(2 3)))) (error () n)))";
    assert_eq!(printed(&mut session, counted), "1");
    let listed = "(let ((names nil)) (handler-case (handler-bind ((error (lambda (c) (setq names \
                  (mapcar #'restart-name (compute-restarts c)))))) (la:sum 'x)) \
                  (error () names)))";
    assert_eq!(printed(&mut session, listed), "(USE-VALUE ABORT)");
    let replaced = "(handler-bind ((rung:shape-error (lambda (c) (declare (ignore c)) \
                    (use-value 42)))) (+ 1 (la:matmul (la:ones '(2 3)) (la:ones '(2 3)))))";
    assert_eq!(printed(&mut session, replaced), "43");
    let unhandled = "(handler-bind ((error (lambda (c) (declare (ignore c)) nil))) \
                     (la:matmul (la:ones '(2 3)) (la:ones '(2 3))))";
    assert!(printed(&mut session, unhandled).contains("matmul inner dimensions differ"));
}

#[test]
fn situations_04_asking_for_a_header_runs_and_moves_nothing() {
    let mut session = session(|_| {});
    printed(&mut session, "(defvar *a* (la:reshape (la:arange 12) '(3 4)))");
    printed(&mut session, "(rung:reset-calls)");
    let form = "(list (la:shape *a*) (la:ndim *a*) (la:size *a*) (array-rank *a*) \
                (array-dimensions *a*) (array-element-type *a*) \
                (la:shape (la:transpose *a*)) (length (describe *a*)))";
    let shown = printed(&mut session, &form.replace(" (length (describe *a*))", ""));
    assert_eq!(shown, "((3 4) 2 12 2 (3 4) DOUBLE-FLOAT (4 3))");
    printed(&mut session, "(with-output-to-string (*standard-output*) (describe *a*))");
    assert_eq!(printed(&mut session, "(rung:calls)"), "NIL");
    printed(&mut session, "(la:sum *a*)");
    assert_eq!(printed(&mut session, "(getf (first (rung:calls)) :rung)"), ":LANES");
}

#[test]
fn situations_09_small_operations_never_travel() {
    let mut session = session(|settings| {
        settings.explain.value = Explain::Table;
        settings.gpu.value = true;
        settings.device.value = rung_base::DeviceChoice::Named("llvmpipe".into());
    });
    assert_eq!(session.notices, [""; 0], "install mesa-vulkan-drivers and libvulkan1");
    printed(&mut session, "(let ((a #d(1 2 3 4))) (dotimes (i 20000) (la:add a a)))");
    let row = printed(
        &mut session,
        "(let ((row (first (rung:calls)))) (list (length (rung:calls)) (getf row :rung) \
         (getf row :calls) (getf row :up) (getf row :down) \
         (getf (first (getf row :declines)) :code) (getf (first (getf row :declines)) :count)))",
    );
    assert_eq!(row, "(1 :LANES 20000 0 0 \"small\" 20000)");
}

/// Each turn of the loop reads one element of a new array that the device made: the line is named,
/// with how often it did and the bytes that came.
#[test]
fn situations_13_what_a_program_reads_is_charged_to_the_line_that_reads() {
    let mut session = session(|settings| {
        settings.explain.value = Explain::Table;
        settings.gpu.value = true;
        settings.device.value = rung_base::DeviceChoice::Named("llvmpipe".into());
    });
    assert_eq!(session.notices, [""; 0], "install mesa-vulkan-drivers and libvulkan1");
    session.ladder.borrow_mut().costs.device.make_free();
    let program = "(let ((x (la:ones '(1000))) (sum 0))\n  (dotimes (i 20)\n    (let ((y (la:exp x)))\n      \
                   (setq sum (+ sum (aref y i)))))\n  (la:to-list (la:exp x))\n  sum)";
    session.lisp.eval_text("prog.lisp", program).unwrap();
    let table = session.explain_table();
    assert!(table.contains("read here: prog.lisp:4:24 x20, down 156.2 KiB"), "{table}");
    let json: serde_json::Value = serde_json::from_str(&session.explain_json()).unwrap();
    let reads = json["reads"].as_array().unwrap();
    assert_eq!(reads[0]["place"], "prog.lisp:4:24", "{json}");
    assert_eq!((&reads[0]["count"], &reads[0]["down"]), (&20.into(), &160_000.into()));
    let bytes: u64 = reads.iter().map(|read| read["down"].as_u64().unwrap()).sum();
    assert_eq!(json["transfers"]["down"].as_u64().unwrap(), bytes + 8000, "{json}");
}

#[test]
fn situations_14_times_end_when_the_results_exist() {
    let mut session = session(|_| {});
    printed(&mut session, "(rung:reset-calls)");
    let start = std::time::Instant::now();
    let sum = printed(&mut session, "(la:sum (la:exp (la:zeros 300000)))");
    let wall = start.elapsed().as_secs_f64();
    assert_eq!(sum, "300000.0");
    let seconds =
        printed(&mut session, "(reduce #'+ (rung:calls) :key (lambda (r) (getf r :seconds)))");
    let seconds: f64 = seconds.parse().unwrap();
    assert!(seconds > 0.0 && seconds <= wall, "{seconds} of {wall}");
}

/// 1 + 2^-12 needs 13 bits; bfloat16 has 8 and TF32 11, and round it to 1.
#[test]
fn situations_15_singles_are_multiplied_as_singles_unless_less_is_asked_for() {
    let program = "(let ((a (la:full '(64 64) 1.000244140625f0 :element-type 'single-float)) \
                   (i (la:eye 64 :element-type 'single-float))) \
                   (la:matmul a i) (rung:with-rungs (:lanes nil) (la:matmul a i)) \
                   (rung:with-rungs (:library nil) (la:matmul a i)) \
                   (list (la:array-equal (la:matmul a i) a) (la:array-equal (la:matmul i a) a) \
                   (la:amax (la:matmul a i))))";
    let run = |precision, blas| {
        let mut session = session(|settings| {
            settings.explain.value = Explain::Table;
            settings.precision.value = precision;
            settings.blas.value = blas;
        });
        let shown = printed(&mut session, program);
        (shown, session.explain_table())
    };
    for blas in [false, true] {
        let (shown, table) = run(Precision::Strict, blas);
        assert_eq!(shown, "(T T 1.0002441f0)");
        assert!(table.contains("lanes") && !table.contains("bf16"), "{table}");
    }
    let (shown, table) = run(Precision::Bf16, false);
    assert_eq!(shown, "(NIL NIL 1.0f0)");
    assert!(table.contains("lanes bf16"), "{table}");
}

/// 3000 results of 1 MiB each, of which one is kept at a time: the process grows by a few, not by
/// 3 GB. What a view of a result keeps alive is freed with the view.
#[test]
fn situations_22_memory_stays_flat() {
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let mut session = session(|_| {});
    let step = "(dotimes (i 1500) (setq *a* (la:add *a* 1)) \
                (setq *v* (la:slice (la:mul *a* 2) '((0 10)))))";
    printed(&mut session, "(defvar *a* (la:zeros 131072)) (defvar *v* nil)");
    printed(&mut session, step);
    let Some(before) = resident() else { return };
    printed(&mut session, step);
    assert_eq!(printed(&mut session, "(list (la:sum *v*) (la:size *v*))"), "(60000.0 10)");
    let after = resident().unwrap();
    assert!(after < before + (64 << 10), "{before} kB became {after} kB");
}

#[test]
fn explain_shows_a_form_by_itself_and_gives_its_values() {
    let mut session = session(|settings| settings.explain.value = Explain::Table);
    printed(&mut session, "(la:sum #d(1 2))");
    let form = "(let ((text (with-output-to-string (*error-output*) \
                (multiple-value-bind (a b) (explain (values (la:mean #d(2 3)) 5)) \
                (setq *print-base* 10) (format *error-output* \"~A ~A\" a b))))) text)";
    let text = printed(&mut session, form);
    assert!(text.contains("mean") && !text.contains("sum ") && text.ends_with("2.5 5\""), "{text}");
    // What an extent counts counts outside as well, where calls are counted.
    assert_eq!(printed(&mut session, "(length (rung:calls))"), "2");
    let nothing = "(with-output-to-string (*error-output*) (explain (+ 1 2)))";
    assert_eq!(printed(&mut session, nothing), "\"no array operation ran\n\"");
    let failed = "(handler-case (explain (la:sum 'x)) (error () (length (rung:calls))))";
    assert_eq!(printed(&mut session, failed), "2");
}

#[test]
fn calls_are_property_lists_and_count_only_when_asked() {
    let mut session = session(|_| {});
    printed(&mut session, "(la:sum #d(1 2))");
    assert_eq!(printed(&mut session, "(rung:calls)"), "NIL");
    printed(&mut session, "(rung:reset-calls)");
    printed(&mut session, "(la:add (vector 1 2) #d(1 2))");
    let row = printed(
        &mut session,
        "(let ((row (first (rung:calls)))) (list (getf row :operation) (getf row :shapes) \
         (getf row :type) (getf row :rung) (getf row :calls) (getf row :notes) \
         (getf row :place) (mapcar (lambda (d) (getf d :rung)) (getf row :declines))))",
    );
    assert_eq!(
        row,
        "(\"add\" ((2) (2)) \"f64\" :LANES 1 ((\"packed 1 operand\" 1)) \"prog.lisp:1:1\" \
         (:DEVICE :LIBRARY))"
    );
}

#[test]
fn narrowing_nests_and_ends_with_its_extent() {
    let mut session = session(|_| {});
    let rungs = |session: &mut Session, form: &str| {
        printed(session, "(rung:reset-calls)");
        printed(session, form);
        printed(session, "(mapcar (lambda (r) (getf r :rung)) (rung:calls))")
    };
    assert_eq!(
        rungs(
            &mut session,
            "(progn (rung:with-rungs (:lanes nil) (rung:with-rungs (:lanes t) (la:sum #d(1)))) \
             (la:mean #d(1)))"
        ),
        "(:PORTABLE :LANES)"
    );
    let left = "(progn (catch 'out (rung:with-rungs (:lanes nil) (throw 'out 1))) (la:sum #d(1)))";
    assert_eq!(rungs(&mut session, left), "(:LANES)");
}

#[test]
fn verification_of_a_whole_program_finds_nothing() {
    let mut session = session(|settings| settings.on_decline.value = OnDecline::Verify);
    let form = "(la:sum (la:exp (la:matmul (la:ones '(20 30)) (la:full '(30 10) 1d-2))))";
    assert_eq!(printed(&mut session, form), printed(&mut self::session(|_| {}), form));
}
