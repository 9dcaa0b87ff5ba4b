//! The packages of data files as a program calls them: keywords, results and conditions. Formats
//! are tested where they are read, in `rung-files`.

use rung::{Options, Session, Settings};
use std::path::PathBuf;

/// A session and a folder of its own, in which `@` of a form stands for the folder.
struct Fixture {
    session: Session,
    folder: PathBuf,
}

impl Fixture {
    fn new(name: &str) -> Fixture {
        let folder = std::env::temp_dir().join(format!("rung-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let session = Session::new(&Settings::default(), Options::default());
        let mut fixture = Fixture { session, folder };
        fixture.run("(setf rung:*print-element-type* t)");
        fixture
    }

    /// What a form's value prints as, or its error and hint.
    fn run(&mut self, form: &str) -> String {
        let folder = self.folder.display().to_string();
        let text = match self.session.lisp.eval_text("test", &form.replace('@', &folder)) {
            Ok(values) => values.first().map_or_else(String::new, |v| self.session.lisp.print(v)),
            Err(e) => match &e.hint {
                Some(hint) => format!("{}: {} [{hint}]", e.class, e.sentence()),
                None => format!("{}: {}", e.class, e.sentence()),
            },
        };
        text.replace(&folder, "@")
    }

    fn check(&mut self, cases: &[(&str, &str)]) {
        let outcomes = cases.iter().map(|(form, wanted)| (form, self.run(form), wanted));
        let outcomes: Vec<_> = outcomes.collect();
        for (form, found, wanted) in outcomes.iter().filter(|(_, found, wanted)| found != *wanted) {
            println!("{form}\n  found  {found}\n  wanted {wanted}");
        }
        assert!(outcomes.iter().all(|(_, found, wanted)| found == *wanted));
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn npy_and_npz() {
    let mut fixture = Fixture::new("npy");
    fixture.check(&[
        ("(npy:write #f((1 2) (3 4)) \"@/a.npy\")", "\"@/a.npy\""),
        ("(npy:read \"@/a.npy\")", "#f((1.0 2.0) (3.0 4.0))"),
        ("(npy:read #p\"@/a.npy\" :mmap t)", "#f((1.0 2.0) (3.0 4.0))"),
        (
            "(npy:write (la:transpose #i32((1 2) (3 4))) \"@/a.npy\") (npy:read \"@/a.npy\")",
            "#i32((1 3) (2 4))",
        ),
        ("(npy:write #(1 1/2) \"@/a.npy\") (npy:read \"@/a.npy\")", "#d(1.0 0.5)"),
        ("(npy:write #bf16(1 2) \"@/a.npy\") (npy:read \"@/a.npy\")", "#f(1.0 2.0)"),
        (
            "(npy:read \"@/a.npy\" :map t)",
            "program-error: Unknown keyword argument: MAP [its keywords are :mmap]",
        ),
        (
            "(npy:read \"@/none.npy\")",
            "file-error: npy: cannot read @/none.npy: No such file or directory (os error 2)",
        ),
        ("(npy:write 5 \"@/a.npy\")", "type-error: npy:write: expected an array: got 5"),
        (
            "(let ((h (make-hash-table :test 'equal)))
            (setf (gethash \"b\" h) #d(1) (gethash \"a\" h) #u8(2))
            (npz:write h \"@/a.npz\" :compress t)
            (loop for k being the hash-keys of (npz:read \"@/a.npz\") using (hash-value v)
                  collect (list k v)))",
            "((\"b\" #d(1.0)) (\"a\" #u8(2)))",
        ),
        (
            "(npz:read \"@/a.npy\")",
            "rung:format-error: npz: @/a.npy: expected a zip file: it begins with \"\\x93NUM\" \
          (at byte 0) [it is an npy file: read it as npy]",
        ),
        (
            "(let ((h (make-hash-table))) (setf (gethash 'a h) #d(1)) (npz:write h \"@/b.npz\"))",
            "type-error: npz:write: expected a string: got A",
        ),
    ]);
    assert!(!fixture.folder.join("b.npz").exists());
}

#[test]
fn a_format_error_has_path_offset_and_reason() {
    let mut fixture = Fixture::new("conditions");
    std::fs::write(fixture.folder.join("a.npy"), b"\x93NUMPY\x09\x00").unwrap();
    std::fs::write(fixture.folder.join("a.csv"), "1,2\n3\n").unwrap();
    let caught = |form: &str| {
        format!(
            "(handler-case {form}
               (rung:format-error (e)
                 (list (namestring (rung:format-error-pathname e))
                       (rung:format-error-offset e) (rung:format-error-reason e))))"
        )
    };
    fixture.check(&[
        (
            &caught("(npy:read \"@/a.npy\")"),
            "(\"@/a.npy\" 6 \"expected npy version 1.0, 2.0 or 3.0: got 9.0\")",
        ),
        (&caught("(csv:read \"@/a.csv\")"), "(\"@/a.csv\" 4 \"line 2: expected 2 fields: got 1\")"),
        (
            "(handler-case (npy:read \"@/none\") (file-error (e) (file-error-pathname e)))",
            "#P\"@/none\"",
        ),
        ("(csv:read \"@/a.csv\")", "rung:format-error: csv: @/a.csv:2: expected 2 fields: got 1"),
    ]);
}

#[test]
fn safetensors_files_and_models() {
    let mut fixture = Fixture::new("safetensors");
    let table = "(let ((h (make-hash-table :test 'equal)) (m (make-hash-table :test 'equal)))
        (setf (gethash \"w\" h) #bf16((1 2)) (gethash \"n\" h) #i64(3) (gethash \"k\" m) \"v\")
        (safetensors:write h \"@/a.safetensors\" :metadata m))";
    let index = "{\"metadata\":{\"total_size\":12},\"weight_map\":{\"w\":\"a.safetensors\"}}";
    fixture.check(&[
        (table, "\"@/a.safetensors\""),
        ("(safetensors:entries \"@/a.safetensors\")",
         "((\"n\" \"I64\" (1) (144 152)) (\"w\" \"BF16\" (1 2) (152 156)))"),
        ("(gethash \"w\" (safetensors:read \"@/a.safetensors\"))", "#bf16((1.0 2.0))"),
        ("(gethash \"w\" (safetensors:read \"@/a.safetensors\" :element-type 'single-float))",
         "#f((1.0 2.0))"),
        ("(gethash \"n\" (safetensors:read \"@/a.safetensors\" :element-type '(signed-byte 32)))",
         "#i32(3)"),
        ("(hash-table-count (safetensors:read \"@/a.safetensors\"
            :only (lambda (name) (string= name \"n\"))))", "1"),
        ("(gethash \"k\" (gethash \"__metadata__\" (safetensors:header \"@/a.safetensors\")))",
         "\"v\""),
        ("(gethash \"shape\" (gethash \"w\" (safetensors:header \"@/a.safetensors\")))", "#(1 2)"),
        ("(safetensors:read \"@/a.safetensors\" :element-type 'complex)",
         "rung:element-type-error: safetensors: unknown element type: COMPLEX [known: \
          double-float, single-float, bfloat16, float16, (signed-byte 64), (signed-byte 32), \
          (unsigned-byte 8), bit]"),
        ("(safetensors:read \"@/a.safetensors\" :only (lambda (n) (error \"no ~a\" n)))",
         "simple-error: no n"),
    ]);
    std::fs::write(fixture.folder.join("m.json"), index).unwrap();
    fixture.check(&[
        (
            "(safetensors:entries \"@/m.json\")",
            "((\"w\" \"BF16\" (1 2) (152 156) #P\"@/a.safetensors\"))",
        ),
        ("(gethash \"w\" (safetensors:read \"@/m.json\"))", "#bf16((1.0 2.0))"),
        ("(gethash \"total_size\" (gethash \"metadata\" (safetensors:header \"@/m.json\")))", "12"),
    ]);
}

#[test]
fn tables_of_text() {
    let mut fixture = Fixture::new("csv");
    let text = "id;name;x\n9007199254740993;a;0.5\n2;\"b;c\";\n";
    std::fs::write(fixture.folder.join("t.csv"), text).unwrap();
    std::fs::write(fixture.folder.join("n.csv"), "1, 2\n3, 4\n").unwrap();
    std::fs::write(fixture.folder.join("h.csv"), "id,x\n").unwrap();
    let read = |rest: &str| format!("(csv:read \"@/t.csv\" :separator #\\; {rest})");
    let column = |name: &str, rest: &str| format!("(gethash \"{name}\" {})", read(rest));
    let each = ":types '((signed-byte 64) string single-float)";
    fixture.check(&[
        (&column("id", ""), "#d(9.007199254740992e15 2.0)"),
        (&column("id", each), "#i64(9007199254740993 2)"),
        (&column("x", each), "#f(0.5 nan)"),
        (&column("x", ":missing -1"), "#d(0.5 -1.0)"),
        (&column("x", ":types 'string"), "#(\"0.5\" \"\")"),
        (&column("name", ""), "#(\"a\" \"b;c\")"),
        (
            &read(":as :matrix :columns '(\"x\" 0) :types 'float16 :missing 0"),
            "#f16((0.5 inf) (0.0 2.0))",
        ),
        (
            &read(":types '((signed-byte 32) nil nil)"),
            "rung:format-error: csv: @/t.csv:2: column 0 (id) is no (signed-byte 32): \
          \"9007199254740993\"",
        ),
        (
            &read(":types '(nil nil (unsigned-byte 8))"),
            "rung:format-error: csv: @/t.csv:2: column 2 (x) is no (unsigned-byte 8): \"0.5\"",
        ),
        (
            &read(":types '(nil)"),
            "program-error: csv: expected a type for each of 3 columns: got 1",
        ),
        (&read(":as :rows"), "type-error: csv:read: expected :matrix: got :ROWS"),
        ("(csv:read \"@/n.csv\" :as :matrix)", "#d((1.0 2.0) (3.0 4.0))"),
        ("(csv:read \"@/n.csv\" :as :matrix :header t :types '(unsigned-byte 8))", "#u8((3 4))"),
        ("(gethash 1 (csv:read \"@/n.csv\"))", "#d(2.0 4.0)"),
        // A header and no record: columns without an element.
        ("(length (gethash \"id\" (csv:read \"@/h.csv\")))", "0"),
        ("(la:shape (csv:read \"@/h.csv\" :as :matrix))", "(0 2)"),
        (
            "(let ((h (make-hash-table :test 'equal)))
            (setf (gethash \"x\" h) #d(1 1e300) (gethash \"w\" h) (vector \"a,b\" 7))
            (csv:write h \"@/o.csv\")
            (uiop:read-file-string \"@/o.csv\"))",
            "\"x,w\n1.0,\\\"a,b\\\"\n1e300,7\n\"",
        ),
        (
            "(csv:write (csv:read \"@/o.csv\") \"@/p.csv\" :columns '(\"w\") :header nil)
          (uiop:read-file-string \"@/p.csv\")",
            "\"\\\"a,b\\\"\n7\n\"",
        ),
        (
            "(csv:write #i32((1 2)) \"@/o.csv\" :columns '(\"a\" \"b\") :separator #\\Tab)
          (uiop:read-file-string \"@/o.csv\")",
            "\"a\tb\n1\t2\n\"",
        ),
        (
            "(csv:write #d((1 2)) \"@/q.csv\" :columns '(\"a\"))",
            "program-error: csv: expected 2 column names: got 1",
        ),
        (
            "(csv:write (la:zeros '(2 2 2)) \"@/q.csv\")",
            "rung:shape-error: csv: expected a vector or matrix: got (2 2 2) \
          [npy files take arrays of any rank]",
        ),
        (
            "(csv:write (vector 'a) \"@/q.csv\")",
            "type-error: csv:write: expected a string or a number: got A",
        ),
        (
            "(csv:write (vector \"a\" 1) \"@/q.csv\" :columns '(\"n\"))
          (uiop:read-file-string \"@/q.csv\")",
            "\"n\na\n1\n\"",
        ),
    ]);
}
