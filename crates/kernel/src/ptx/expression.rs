//! Expressions as instructions. Each is written once, where naga says that it is evaluated; its
//! value is scalars in registers or a place.

use super::layout::{self, class};
use super::memory::Place;
use super::statement::{Frame, Value};
use super::text::{Class, Operand};
use super::{Failed, Outcome, Writer};
use naga::proc::TypeResolution;
use naga::{Expression, Handle, Literal, TypeInner, VectorSize};
use std::rc::Rc;

impl<'m> Writer<'m> {
    /// What an expression came to, or comes to if it is one that needs no instruction.
    pub(super) fn value(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
    ) -> Outcome<Value> {
        match &frame.values[handle.index()] {
            Some(value) => Ok(value.clone()),
            None => self.evaluate(frame, handle),
        }
    }

    pub(super) fn scalars_of(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
    ) -> Outcome<Rc<[Operand]>> {
        match self.value(frame, handle)? {
            Value::Scalars(scalars) => Ok(scalars),
            Value::Place(_) => Err(Failed("a pointer where a value is needed".into())),
        }
    }

    pub(super) fn scalar_of(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
    ) -> Outcome<Operand> {
        let scalars = self.scalars_of(frame, handle)?;
        scalars.first().copied().ok_or_else(|| Failed("an empty value".into()))
    }

    pub(super) fn place_of(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
    ) -> Outcome<Place> {
        match self.value(frame, handle)? {
            Value::Place(place) => Ok(place),
            Value::Scalars(_) => Err(Failed("a value where a pointer is needed".into())),
        }
    }

    /// The type of what a pointer points to.
    pub(super) fn pointed(
        &self,
        frame: &Frame<'m>,
        pointer: Handle<Expression>,
    ) -> Outcome<TypeResolution> {
        let inner = frame.inner(self, pointer);
        inner.pointer_base_type().ok_or_else(|| Failed(format!("no pointer: {inner:?}")))
    }

    pub(super) fn evaluate(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
    ) -> Outcome<Value> {
        let scalars = match frame.function.expressions[handle] {
            Expression::FunctionArgument(n) => return Ok(frame.arguments[n as usize].clone()),
            Expression::GlobalVariable(g) => {
                return Ok(Value::Place(self.globals[g.index()].clone()));
            }
            Expression::LocalVariable(l) => {
                return Ok(Value::Place(frame.locals[l.index()].clone()));
            }
            Expression::Access { base, index } => return self.access(frame, base, index),
            Expression::AccessIndex { base, index } => {
                return self.access_constant(frame, base, index);
            }
            Expression::Load { pointer } => {
                let place = self.place_of(frame, pointer)?;
                let inner = self.pointed(frame, pointer)?;
                self.load(&place, inner.inner_with(&self.module.types))?
            }
            Expression::ArrayLength(pointer) => vec![self.array_length(frame, pointer)?],
            _ => self.compute(frame, handle)?,
        };
        Ok(Value::Scalars(scalars.into()))
    }

    /// The expressions that are made of values alone.
    fn compute(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
    ) -> Outcome<Vec<Operand>> {
        let function = frame.function;
        match function.expressions[handle] {
            Expression::Literal(literal) => Ok(vec![constant(literal)?]),
            Expression::Constant(c) => self.constant(self.module.constants[c].init),
            Expression::ZeroValue(ty) => layout::zeros(self.module, &self.module.types[ty].inner),
            Expression::Compose { ref components, .. } => {
                let mut all = Vec::new();
                for component in components {
                    all.extend_from_slice(&self.scalars_of(frame, *component)?);
                }
                Ok(all)
            }
            Expression::Splat { size, value } => {
                Ok(vec![self.scalar_of(frame, value)?; size as usize])
            }
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.scalars_of(frame, vector)?;
                Ok(pattern[..size as usize].iter().map(|c| vector[*c as usize]).collect())
            }
            _ => self.calculate(frame, handle),
        }
    }

    /// Operators and functions of values.
    fn calculate(
        &mut self,
        frame: &mut Frame<'m>,
        handle: Handle<Expression>,
    ) -> Outcome<Vec<Operand>> {
        match frame.function.expressions[handle] {
            Expression::Unary { op, expr } => {
                let scalar = self.scalar_type(frame, expr)?;
                let values = self.scalars_of(frame, expr)?;
                values.iter().map(|v| self.unary(op, scalar, *v)).collect()
            }
            Expression::Binary { op, left, right } => self.binary_of(frame, op, left, right),
            Expression::Select { condition, accept, reject } => {
                let conditions = self.scalars_of(frame, condition)?;
                let accept = self.scalars_of(frame, accept)?;
                let reject = self.scalars_of(frame, reject)?;
                let one = |i: usize| conditions[i.min(conditions.len() - 1)];
                Ok((0..accept.len()).map(|i| self.select(one(i), accept[i], reject[i])).collect())
            }
            Expression::Relational { fun, argument } => {
                let values = self.scalars_of(frame, argument)?;
                Ok(vec![self.relational(fun, &values)?])
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let mut arguments = Vec::new();
                for handle in [Some(arg), arg1, arg2, arg3].into_iter().flatten() {
                    arguments.push(self.scalars_of(frame, handle)?);
                }
                self.math(fun, self.scalar_type(frame, arg)?, &arguments)
            }
            Expression::As { expr, kind, convert } => self.as_kind(frame, expr, kind, convert),
            ref other => Err(Failed(format!("no expression {other:?}"))),
        }
    }

    /// A conversion to a type of this width, or the same bits as another kind.
    fn as_kind(
        &mut self,
        frame: &mut Frame<'m>,
        value: Handle<Expression>,
        kind: naga::ScalarKind,
        width: Option<u8>,
    ) -> Outcome<Vec<Operand>> {
        let from = self.scalar_type(frame, value)?;
        let to = naga::Scalar { kind, width: width.unwrap_or(from.width) };
        let values = self.scalars_of(frame, value)?;
        let one = |v: &Operand| match width {
            Some(_) => self.converted(*v, from, to),
            None => Ok(self.text.reinterpreted(*v, class(to)?)),
        };
        values.iter().map(one).collect()
    }

    /// The value of a constant expression.
    pub(super) fn constant(&self, handle: Handle<Expression>) -> Outcome<Vec<Operand>> {
        match self.module.global_expressions[handle] {
            Expression::Literal(literal) => Ok(vec![constant(literal)?]),
            Expression::Constant(c) => self.constant(self.module.constants[c].init),
            Expression::ZeroValue(ty) => layout::zeros(self.module, &self.module.types[ty].inner),
            Expression::Splat { size, value } => Ok(self.constant(value)?.repeat(size as usize)),
            Expression::Compose { ref components, .. } => {
                let mut all = Vec::new();
                for component in components {
                    all.extend(self.constant(*component)?);
                }
                Ok(all)
            }
            ref other => Err(Failed(format!("no constant {other:?}"))),
        }
    }

    /// The scalar type of a value or of its components.
    pub(super) fn scalar_type(
        &self,
        frame: &Frame<'m>,
        handle: Handle<Expression>,
    ) -> Outcome<naga::Scalar> {
        let inner = frame.inner(self, handle);
        if let TypeInner::Matrix { .. } = inner {
            return Err(Failed("no arithmetic of matrices".into()));
        }
        inner.scalar().ok_or_else(|| Failed(format!("no scalars in {inner:?}")))
    }

    fn access_constant(
        &mut self,
        frame: &mut Frame<'m>,
        base: Handle<Expression>,
        index: u32,
    ) -> Outcome<Value> {
        match self.value(frame, base)? {
            Value::Place(place) => {
                let inner = self.pointed(frame, base)?;
                let inner = inner.inner_with(&self.module.types);
                Ok(Value::Place(self.component(&place, inner, index)?))
            }
            Value::Scalars(scalars) => {
                let inner = frame.inner(self, base);
                let (first, count) = layout::component(self.module, inner, index)?;
                Ok(Value::Scalars(scalars[first..first + count].into()))
            }
        }
    }

    fn access(
        &mut self,
        frame: &mut Frame<'m>,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Outcome<Value> {
        let at = self.scalar_of(frame, index)?;
        let scalar = self.scalar_type(frame, index)?;
        match self.value(frame, base)? {
            Value::Place(place) => {
                let inner = self.pointed(frame, base)?;
                let inner = inner.inner_with(&self.module.types);
                Ok(Value::Place(self.element(&place, inner, at, scalar)?))
            }
            Value::Scalars(scalars) => {
                let inner = frame.inner(self, base);
                if let Some(at) = at.constant() {
                    let count = layout::scalars(self.module, inner)?.len();
                    let (first, size) = layout::component(self.module, inner, at as u32)?;
                    let first = first.min(count - size);
                    return Ok(Value::Scalars(scalars[first..first + size].into()));
                }
                if let TypeInner::Vector { size, .. } = *inner {
                    return Ok(Value::Scalars([self.chosen(&scalars, size, at)].into()));
                }
                // An array that is a value is written out to be indexed.
                let place = self.stacked(inner)?;
                self.store(&place, inner, &scalars)?;
                let place = self.element(&place, inner, at, scalar)?;
                let inner = match *inner {
                    TypeInner::Array { base, .. } => &self.module.types[base].inner,
                    _ => return Err(Failed(format!("a value of {inner:?} is indexed"))),
                };
                Ok(Value::Scalars(self.load(&place, inner)?.into()))
            }
        }
    }

    /// A component of a vector at an index that only a run knows.
    fn chosen(&mut self, vector: &[Operand], size: VectorSize, at: Operand) -> Operand {
        let mut found = vector[0];
        for (i, component) in vector.iter().enumerate().take(size as usize).skip(1) {
            let sources = [at, Operand::Constant(at.class(), i as u64)];
            let opcode = if at.class() == Class::B64 { "setp.eq.u64" } else { "setp.eq.u32" };
            let here = self.text.make(Class::Predicate, opcode, &sources);
            found = self.select(here, *component, found);
        }
        found
    }

    /// How many elements of a buffer's last array its bytes hold.
    fn array_length(
        &mut self,
        frame: &mut Frame<'m>,
        pointer: Handle<Expression>,
    ) -> Outcome<Operand> {
        let mut handle = pointer;
        while let Expression::AccessIndex { base, .. } = frame.function.expressions[handle] {
            handle = base;
        }
        let Expression::GlobalVariable(global) = frame.function.expressions[handle] else {
            return Err(Failed("the length of an array that is no buffer's".into()));
        };
        let Place::Memory { distance, .. } = self.place_of(frame, pointer)? else {
            return Err(Failed("the length of an array in registers".into()));
        };
        let binding = self.module.global_variables[global].binding.map_or(0, |b| b.binding);
        let inner = self.pointed(frame, pointer)?;
        let stride = layout::stride(inner.inner_with(&self.module.types))?;
        let bytes = self.text.register(Class::B64);
        self.text.line(format_args!("ld.param.u64 {bytes}, [n{binding}]"));
        let wide = |value: u32| Operand::Constant(Class::B64, value.into());
        let bytes = self.text.make(Class::B64, "sub.s64", &[bytes, wide(distance)]);
        let count = self.text.make(Class::B64, "div.u64", &[bytes, wide(stride)]);
        Ok(self.text.make(Class::B32, "cvt.u32.u64", &[count]))
    }
}

/// A literal's bits.
fn constant(literal: Literal) -> Outcome<Operand> {
    Ok(match literal {
        Literal::F64(x) => Operand::Constant(Class::F64, x.to_bits()),
        Literal::F32(x) => Operand::Constant(Class::F32, x.to_bits().into()),
        Literal::F16(x) => Operand::Constant(Class::B16, x.to_bits().into()),
        Literal::U32(x) => Operand::word(x),
        Literal::I32(x) => Operand::word(x as u32),
        Literal::U64(x) => Operand::Constant(Class::B64, x),
        Literal::I64(x) => Operand::Constant(Class::B64, x as u64),
        Literal::Bool(x) => Operand::Constant(Class::Predicate, x.into()),
        other => return Err(Failed(format!("no literal {other:?}"))),
    })
}
