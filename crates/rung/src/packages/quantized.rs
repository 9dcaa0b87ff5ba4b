//! Quantised matrices in the language (package `rung`): made of float matrices or of a file's
//! bytes, read, cut by rows, and multiplied with a vector (spec vec 5).

use super::linalg::array_argument;
use rung_array::Quantized;
use rung_array::quantized::Format;
use rung_base::{ElementType, Error, ErrorKind};
use rung_lisp::lisp::Lisp;
use rung_lisp::native::{Native, native};
use rung_lisp::object::{Foreign, ForeignArray, Object};
use rung_lisp::package::RUNG;
use rung_lisp::{Escape, Outcome, Value, native as natives, symbol, value};
use rung_ops::quantized;

pub const FUNCTIONS: &[Native] = &[
    native(
        "rung:quantize",
        "m &key format",
        "Packs a float matrix in blocks of 32 columns, by default as :q8-0: 34 bytes for 32 \
         elements, a float16 scale and a byte each.\n\
         Result: a quantised matrix, which is read-only.\n\
         Example: (rung:quantize (la:rand '(4 64)))",
        quantize,
    ),
    native(
        "rung:dequantize",
        "q &key element-type",
        "The numbers of a quantised matrix, each rounded once; single-float unless an element \
         type is given.\n\
         Result: a matrix.\n\
         Example: (rung:dequantize (rung:quantize (la:zeros '(1 32))))",
        dequantize,
    ),
    native(
        "rung:make-quantized-matrix",
        "rows columns octets &key format",
        "A quantised matrix of a file's bytes, as they are: row-major blocks.\n\
         Result: a quantised matrix.\n\
         Example: (rung:make-quantized-matrix 1 32 (la:zeros 34 :element-type '(unsigned-byte 8)))",
        make,
    ),
    native(
        "rung:quantized-matrix-p",
        "x",
        "Whether a thing is a quantised matrix.\n\
         Result: t or nil.\n\
         Example: (rung:quantized-matrix-p 1)",
        |_, a| Ok(Value::boolean(matrix(&a[0]).is_some())),
    ),
    native(
        "rung:quantized-rows",
        "q first count",
        "Rows of a quantised matrix; nothing is copied.\n\
         Result: a quantised matrix.\n\
         Example: (rung:quantized-rows (rung:quantize (la:zeros '(4 32))) 1 2)",
        rows,
    ),
    native(
        "rung:aref-quantized",
        "q row column",
        "One element of a quantised matrix.\n\
         Result: a single-float.\n\
         Example: (rung:aref-quantized (rung:quantize (la:ones '(1 32))) 0 3)",
        element,
    ),
];

/// A quantised matrix as a thing of the language.
pub struct QuantizedObject(pub Quantized);

impl Foreign for QuantizedObject {
    fn words(&self) -> String {
        self.0.to_string()
    }

    fn type_name(&self) -> Option<&'static str> {
        Some("QUANTIZED-MATRIX")
    }

    fn as_array(&self) -> Option<&dyn ForeignArray> {
        Some(self)
    }
}

impl ForeignArray for QuantizedObject {
    fn dimensions(&self) -> Vec<usize> {
        self.0.shape().to_vec()
    }

    /// `(quantized :q8-0)`, as `:format` takes it.
    fn element_type(&self, lisp: &mut Lisp) -> Value {
        let format = self.0.format().to_string().replace('_', "-");
        let head = lisp.intern(RUNG, "QUANTIZED");
        value::list([Value::symbol(head), lisp.keyword(&format)])
    }

    fn element(&self, at: usize) -> Outcome {
        let [_, columns] = self.0.shape();
        let element = self.0.get(at / columns, at % columns);
        Ok(Value::Single(element.map_err(|e| e.in_package("rung"))?))
    }

    fn read_only(&self) -> Escape {
        let error = Error::new(ErrorKind::Type, "quantised matrices are read-only");
        error
            .in_package("rung")
            .hint("(rung:dequantize q) makes a matrix that can be changed")
            .into()
    }
}

/// Defines the type and the name of the elements' type; the functions are in the table.
pub fn bind(lisp: &mut Lisp) {
    let quantized = lisp.intern(RUNG, "QUANTIZED");
    lisp.packages.export(&lisp.symbols, RUNG, quantized);
    lisp.add_library(include_str!("quantized.lisp"));
}

/// The quantised matrix that a value is.
pub fn matrix(value: &Value) -> Option<&Quantized> {
    value.as_foreign::<QuantizedObject>().map(|object| &object.0)
}

fn wanted<'a>(lisp: &Lisp, operator: &str, value: &'a Value) -> Outcome<&'a Quantized> {
    matrix(value).ok_or_else(|| {
        let text = format!("{operator} expects a quantised matrix: got {}", lisp.brief(value));
        Error::new(ErrorKind::Type, text).in_package("rung").into()
    })
}

/// A quantised matrix as a value.
pub fn object(q: Quantized) -> Value {
    Value::object(Object::Foreign(Box::new(QuantizedObject(q))))
}

fn format_of(lisp: &mut Lisp, keywords: &[Value]) -> Outcome<Format> {
    let key = lisp.keyword("FORMAT").as_symbol().unwrap_or(symbol::NIL);
    let [format] = natives::keywords(lisp, keywords, [key])?;
    let format = format.filter(Value::truth);
    let name = match format.as_ref().map(|format| (format.as_symbol(), format.as_text())) {
        None => "q8-0".to_string(),
        Some((Some(name), _)) => lisp.name(name).to_ascii_lowercase(),
        Some((_, Some(name))) => name.to_text(),
        Some(_) => {
            let got = format.map_or_else(String::new, |format| lisp.brief(&format));
            let error = Error::wanted(ErrorKind::Argument, "expected a format such as :q8-0", got);
            return Err(error.in_package("rung").into());
        }
    };
    Ok(Format::parse(&name).map_err(|e| e.in_package("rung"))?)
}

fn quantize(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let m = array_argument(lisp, "rung:quantize", &a[0])?;
    let format = format_of(lisp, &a[1..])?;
    Ok(object(quantized::quantize(&m, format).map_err(|e| e.in_package("rung"))?))
}

fn dequantize(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let key = lisp.keyword("ELEMENT-TYPE").as_symbol().unwrap_or(symbol::NIL);
    let [element_type] = natives::keywords(lisp, &a[1..], [key])?;
    let name = element_type.as_ref().and_then(Value::as_symbol).map(|name| lisp.name(name));
    let t = match name {
        None => ElementType::F32,
        Some(name) => ElementType::parse(&name).filter(|t| t.is_float()).ok_or_else(|| {
            let text = format!("unknown element type: {name}");
            Error::new(ErrorKind::ElementType, text).in_package("rung")
        })?,
    };
    let q = wanted(lisp, "dequantize", &a[0])?;
    Ok(Value::packed(quantized::dequantize(q, t).map_err(|e| e.in_package("rung"))?))
}

fn size(lisp: &Lisp, value: &Value, what: &str) -> Outcome<usize> {
    value.as_index().ok_or_else(|| {
        let text = format!("expected a non-negative {what}: got {}", lisp.brief(value));
        Escape::from(Error::new(ErrorKind::Type, text).in_package("rung"))
    })
}

fn make(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (rows, columns) = (size(lisp, &a[0], "row count")?, size(lisp, &a[1], "column count")?);
    let octets = array_argument(lisp, "rung:make-quantized-matrix", &a[2])?;
    let format = format_of(lisp, &a[3..])?;
    if octets.element_type() != ElementType::U8 {
        let text = format!("expected a vector of (unsigned-byte 8): got {octets:?}");
        return Err(Error::new(ErrorKind::Type, text).in_package("rung").into());
    }
    let made = Quantized::from_octets(format, rows, columns, &octets);
    Ok(object(made.map_err(|e| e.in_package("rung"))?))
}

fn rows(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (first, count) = (size(lisp, &a[1], "row")?, size(lisp, &a[2], "row count")?);
    let q = wanted(lisp, "quantized-rows", &a[0])?;
    Ok(object(q.rows(first, count).map_err(|e| e.in_package("rung"))?))
}

fn element(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (row, column) = (size(lisp, &a[1], "row")?, size(lisp, &a[2], "column")?);
    let q = wanted(lisp, "aref-quantized", &a[0])?;
    Ok(Value::Single(q.get(row, column).map_err(|e| e.in_package("rung"))?))
}
