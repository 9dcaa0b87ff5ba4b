//! Calls of the solver's operations on lanes, for tests: values, and what was told beside the results.
#![allow(dead_code, reason = "each test program uses a part")]

use rung_array::{Array, Number};
use rung_base::{Settings, Shape};
use rung_lanes::Lanes;
use rung_mel::SOLVER;
use rung_ops::{Caller, Decline, Ladder, Op, Site, Value};

/// A caller that keeps what it is told.
#[derive(Default)]
pub struct Told {
    pub notes: Vec<String>,
    pub warnings: Vec<String>,
}

impl Caller for Told {
    fn site(&self) -> Option<Site> {
        None
    }

    fn place(&self, _: Site) -> String {
        String::new()
    }

    fn warn(&mut self, message: &str) {
        self.warnings.push(message.into());
    }

    fn note(&mut self, message: &str) {
        self.notes.push(message.into());
    }
}

pub fn call(name: &str, values: Vec<Value>) -> (rung_base::Result<Vec<Value>>, Told) {
    let off = || Decline::Off("test");
    let lanes = Some(Lanes::new(2));
    let mut ladder = Ladder::with_rungs(&Settings::default(), lanes, Err(off()), Err(off()));
    let op: &'static Op = SOLVER.operations.iter().find(|op| op.names.contains(&name)).unwrap();
    let mut told = Told::default();
    let result = ladder.call(op, values, &mut told);
    (result, told)
}

pub fn array(elements: &[f64], extents: &[usize]) -> Value {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    Value::Array(Array::from_slice(elements, shape).unwrap())
}

pub fn word(name: &'static str) -> Value {
    Value::Keyword(name.into())
}

pub fn number(x: f64) -> Value {
    Value::Number(Number::F64(x))
}

/// Keywords of names and their values.
pub fn keywords(pairs: &[(&'static str, Value)]) -> Vec<Value> {
    pairs.iter().flat_map(|(name, value)| [word(name), value.clone()]).collect()
}
