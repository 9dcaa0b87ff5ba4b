//! Operations of the table, run on the device one after another for one that is made of them: what a
//! solver computes there keeps the bits that the table promises, and stays there in between.

use super::RoundTrip;
use crate::arguments::Arguments;
use crate::call::{Context, Prepared};
use crate::decline::{Answer, Decline};
use crate::record::Entry;
use crate::{Value, table};
use rung_array::Array;
use rung_base::{Error, ErrorKind, Precision, Result};
use smallvec::smallvec;

impl<'a> RoundTrip<'a> {
    /// The same without what `--precision` allows, for operations that do not report it.
    pub fn strictly(&self) -> RoundTrip<'a> {
        RoundTrip { precision: Precision::Strict, ..*self }
    }

    /// The array that an operation of the table gives, computed on this device whatever the costs say.
    ///
    /// # Errors
    /// Those of the operation; one that is no single call, or has several results.
    pub fn of_table(
        &self,
        name: &str,
        values: Vec<Value>,
    ) -> Result<std::result::Result<Array, Decline>> {
        let wrong = |what: &str| Error::new(ErrorKind::Internal, format!("{name}: {what}"));
        let op = table::find(name).ok_or_else(|| wrong("no operation"))?;
        let arguments = Arguments::bind(op, values)?;
        let values = match (op.prepare)(op, arguments, &mut Context::default())? {
            Prepared::Done(values) => values,
            Prepared::Call(call) => {
                let Entry::Has(member) = &op.rungs.device else {
                    return Ok(Err(Decline::NoKernel("a step of it has no kernel")));
                };
                match (member.run)(&call, self)? {
                    Answer::Done(raw) => call.finish(smallvec![raw])?,
                    Answer::Declined(reason) => return Ok(Err(reason)),
                    Answer::Several(_) | Answer::Written => return Err(wrong("no single array")),
                }
            }
            Prepared::Steps(_) | Prepared::Write(_) => return Err(wrong("no single call")),
        };
        match values.into_iter().next() {
            Some(Value::Array(array)) => Ok(Ok(array)),
            _ => Err(wrong("no array")),
        }
    }
}
