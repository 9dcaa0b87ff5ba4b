//! The smallest solver: `third:twice` of numbers, also from a `.npy` file.
#![forbid(unsafe_code)]

use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_files::npy;
use rung_ops::Value;
use rung_ops::arguments::Arguments;
use rung_ops::call::{Call, Context, Prepared};
use rung_ops::record::{ALL, Definition, Family, Kind, Op, Package, Rungs, required};
use rung_ops::samples::spread;
use rung_ops::solver::{Command, Finished, Opened, Reader, Solver, Writer, array, mistake};

const PACKAGE: &Package = &Package::new("third", "third:");

pub const SOLVER: &Solver = &Solver {
    package: PACKAGE,
    summary: "a solver of one operation",
    introduction: "What a solver needs, and no more.\n",
    operations: &[TWICE],
};

const TWICE: Op = Op {
    names: &["twice"],
    package: PACKAGE,
    doc: "Each number twice.",
    parameters: &[required("numbers", Kind::Array).says("what is taken twice, (n)")],
    result: "double-floats, (n)",
    results: &[array("doubled", "each number twice")],
    types: ALL,
    errors: &[&[mistake(ErrorKind::Shape, "numbers of several axes", "", || {
        vec![spread(&[2, 2], 1.0)]
    })]],
    prepare,
    rungs: Rungs { portable: Definition::Several(portable), ..Rungs::none("it is a test") },
    samples: || vec![vec![spread(&[5], 1.0)]],
    example: "(third:twice #d(1 2)) => #d(2.0 4.0)",
    command: Some(&Command {
        examples: &[("rung third twice a.npy -o b.npy", "all of a file")],
        input: Some(Reader {
            parameter: "numbers",
            what: "numbers",
            endings: &[".npy"],
            options: &[],
            read: |path, _| {
                let values = vec![("numbers", Value::Array(npy::read(path)?))];
                Ok(Opened { values, ..Opened::nothing() })
            },
        }),
        output: Writer { what: "the doubled", endings: &[".npy", ".txt"], write, parameters: None },
        picture: None,
        stream: None,
    }),
    ..Op::BASE
};

fn prepare(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let numbers = a.array(0)?;
    if numbers.rank() != 1 {
        return Err(Error::wanted(ErrorKind::Shape, "numbers are a vector, (n)", numbers.shape()));
    }
    let numbers = numbers.convert(ElementType::F64)?;
    Ok(Prepared::Call(Box::new(Call::like(op, numbers, ElementType::F64, Family::Map))))
}

fn portable(call: &Call) -> Result<Vec<Array>> {
    let twice: Vec<f64> = call.operands[0].numbers().map(|x| 2.0 * x.to_f64()).collect();
    Ok(vec![Array::vector(&twice)?])
}

fn write(finished: &Finished, _: &str, out: &mut dyn std::io::Write) -> Result<()> {
    let text: Vec<String> = finished.array(0)?.numbers().map(|x: Number| x.to_string()).collect();
    writeln!(out, "{}", text.join(" ")).map_err(|e| Error::new(ErrorKind::File, e.to_string()))
}
