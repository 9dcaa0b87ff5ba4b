//! Where values stand: in registers of a variable, or in one of PTX's memories; loads and stores.
//!
//! Vectors of 8 or 16 bytes move in one instruction. Addresses are 64 bits in global memory and 32
//! bits elsewhere, so that only what may be large pays for it.

use super::layout::{self, column_stride, scalars};
use super::text::{Class, Operand};
use super::{Failed, Outcome, Writer};
use naga::{Scalar, ScalarKind, TypeInner};
use std::rc::Rc;

/// A memory of PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    Global,
    /// Global memory that no invocation writes while the kernel runs.
    Constant,
    Shared,
    Local,
    Parameter,
}

impl Space {
    fn load(self) -> &'static str {
        match self {
            Space::Global => "ld.global",
            Space::Constant => "ld.global.nc",
            Space::Shared => "ld.shared",
            Space::Local => "ld.local",
            Space::Parameter => "ld.param",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Space::Global | Space::Constant => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Parameter => "param",
        }
    }

    fn is_wide(self) -> bool {
        matches!(self, Space::Global | Space::Constant | Space::Parameter)
    }
}

/// What a pointer points to.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// The scalars of a variable from one on, each in a register of its own.
    Registers { variable: Rc<[Operand]>, first: usize },
    /// Bytes of a memory: a variable's name or a register, what was added to it, and a distance.
    Memory { space: Space, name: Rc<str>, base: Option<Operand>, distance: u32 },
}

impl Place {
    pub(super) fn named(space: Space, name: impl Into<Rc<str>>) -> Place {
        Place::Memory { space, name: name.into(), base: None, distance: 0 }
    }
}

impl Writer<'_> {
    /// The component of what `place` points to, of type `inner`, at a constant index.
    pub(super) fn component(&self, place: &Place, inner: &TypeInner, index: u32) -> Outcome<Place> {
        match place {
            Place::Registers { variable, first } => {
                let (offset, _) = layout::component(self.module, inner, index)?;
                Ok(Place::Registers { variable: variable.clone(), first: first + offset })
            }
            Place::Memory { space, name, base, distance } => {
                let more = match *inner {
                    TypeInner::Struct { ref members, .. } => members[index as usize].offset,
                    ref inner => index.wrapping_mul(layout::stride(inner)?),
                };
                let distance = distance.wrapping_add(more);
                Ok(Place::Memory { space: *space, name: name.clone(), base: *base, distance })
            }
        }
    }

    /// The element of what `place` points to at an index of this type.
    pub(super) fn element(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        index: Operand,
        scalar: Scalar,
    ) -> Outcome<Place> {
        if let Some(index) = index.constant() {
            return self.component(place, inner, index as u32);
        }
        let Place::Memory { space, name, base, distance } = place else {
            return Err(Failed("a variable in registers is indexed".into()));
        };
        let stride = Operand::word(layout::stride(inner)?);
        let signed = scalar.kind == ScalarKind::Sint;
        let base = match base {
            Some(base) => *base,
            None => self.address_of(*space, name),
        };
        let moved = match (space.is_wide(), scalar.width) {
            (true, 4) => {
                let opcode = if signed { "mul.wide.s32" } else { "mul.wide.u32" };
                let bytes = self.text.make(Class::B64, opcode, &[index, stride]);
                self.text.make(Class::B64, "add.s64", &[base, bytes])
            }
            (true, _) => self.text.make(Class::B64, "mad.lo.s64", &[index, stride, base]),
            (false, width) => {
                let index = match width {
                    4 => index,
                    _ => self.text.make(Class::B32, "cvt.u32.u64", &[index]),
                };
                self.text.make(Class::B32, "mad.lo.s32", &[index, stride, base])
            }
        };
        let (space, name, distance) = (*space, name.clone(), *distance);
        Ok(Place::Memory { space, name, base: Some(moved), distance })
    }

    /// The address of a variable of a memory, in a register.
    fn address_of(&mut self, space: Space, name: &str) -> Operand {
        let class = if space.is_wide() { Class::B64 } else { Class::B32 };
        let register = self.text.register(class);
        self.text.line(format_args!("mov.{} {register}, {name}", class.bits()));
        register
    }

    /// The value at a place.
    pub(super) fn load(&mut self, place: &Place, inner: &TypeInner) -> Outcome<Vec<Operand>> {
        match place {
            Place::Registers { variable, first } => {
                let count = scalars(self.module, inner)?.len();
                let registers = &variable[*first..first + count];
                Ok(registers.iter().map(|r| self.text.copied(*r)).collect())
            }
            Place::Memory { space, .. } => {
                let mut values = Vec::new();
                for (scalar, count, offset, shared) in pieces(self.module, inner)? {
                    let at = address(place, offset);
                    let opcode = match (shared, space) {
                        (true, Space::Global) => "ld.relaxed.gpu.global".into(),
                        (true, Space::Shared) => "ld.relaxed.cta.shared".into(),
                        _ => space.load().to_string(),
                    };
                    values.extend(self.load_piece(&opcode, scalar, count, &at)?);
                }
                Ok(values)
            }
        }
    }

    fn load_piece(
        &mut self,
        opcode: &str,
        scalar: Scalar,
        count: usize,
        at: &str,
    ) -> Outcome<Vec<Operand>> {
        if scalar.kind == ScalarKind::Bool {
            let byte = self.text.register(Class::B32);
            self.text.line(format_args!("{opcode}.u8 {byte}, {at}"));
            return Ok(vec![self.text.make(
                Class::Predicate,
                "setp.ne.u32",
                &[byte, Operand::word(0)],
            )]);
        }
        let class = layout::class(scalar)?;
        let registers: Vec<Operand> = (0..count).map(|_| self.text.register(class)).collect();
        let (vector, list) = listed(&registers);
        self.text.line(format_args!("{opcode}{vector}.{} {list}, {at}", memory_type(class)));
        Ok(registers)
    }

    /// Writes a value to a place.
    pub(super) fn store(
        &mut self,
        place: &Place,
        inner: &TypeInner,
        value: &[Operand],
    ) -> Outcome<()> {
        match place {
            Place::Registers { variable, first } => {
                for (register, value) in variable[*first..].iter().zip(value) {
                    self.text.assign(*register, *value);
                }
            }
            Place::Memory { space, .. } => {
                let mut rest = value;
                for (scalar, count, offset, shared) in pieces(self.module, inner)? {
                    let (now, later) = rest.split_at(count);
                    rest = later;
                    let opcode = match (shared, space) {
                        (true, Space::Global) => "st.relaxed.gpu.global".into(),
                        (true, _) => "st.relaxed.cta.shared".into(),
                        _ => format!("st.{}", space.name()),
                    };
                    self.store_piece(&opcode, scalar, now, &address(place, offset))?;
                }
            }
        }
        Ok(())
    }

    fn store_piece(
        &mut self,
        opcode: &str,
        scalar: Scalar,
        value: &[Operand],
        at: &str,
    ) -> Outcome<()> {
        if scalar.kind == ScalarKind::Bool {
            let byte = self.truth_as_word(value[0]);
            let byte = self.text.held(byte);
            self.text.line(format_args!("{opcode}.u8 {at}, {byte}"));
            return Ok(());
        }
        let registers: Vec<Operand> = value.iter().map(|v| self.text.held(*v)).collect();
        let (vector, list) = listed(&registers);
        let kind = memory_type(layout::class(scalar)?);
        self.text.line(format_args!("{opcode}{vector}.{kind} {at}, {list}"));
        Ok(())
    }

    /// Bytes of local memory for a variable of this type.
    pub(super) fn stacked(&mut self, inner: &TypeInner) -> Outcome<Place> {
        let size = inner.try_size(self.module.to_ctx());
        let size = size.ok_or_else(|| Failed(format!("no size of {inner:?}")))?;
        let start = self.stack.next_multiple_of(16);
        self.stack = start.saturating_add(size);
        self.deepest = self.deepest.max(self.stack);
        let name = Rc::from(super::STACK);
        Ok(Place::Memory { space: Space::Local, name, base: None, distance: start })
    }
}

/// What one load or store moves: scalars of a type, how many, at which byte, and whether atomically.
type Piece = (Scalar, usize, u32, bool);

fn pieces(module: &naga::Module, inner: &TypeInner) -> Outcome<Vec<Piece>> {
    let mut all = Vec::new();
    gather(module, inner, 0, &mut all)?;
    Ok(all)
}

fn gather(
    module: &naga::Module,
    inner: &TypeInner,
    start: u32,
    all: &mut Vec<Piece>,
) -> Outcome<()> {
    match *inner {
        TypeInner::Scalar(scalar) => all.push((scalar, 1, start, false)),
        TypeInner::Atomic(scalar) => all.push((scalar, 1, start, true)),
        TypeInner::Vector { size, scalar } => vector(size as usize, scalar, start, all),
        TypeInner::Matrix { columns, rows, scalar } => {
            for column in 0..columns as u32 {
                let at = start + column * column_stride(rows, scalar);
                vector(rows as usize, scalar, at, all);
            }
        }
        TypeInner::Array { base, size, stride } => {
            for index in 0..layout::count(size)? {
                gather(module, &module.types[base].inner, start + index * stride, all)?;
            }
        }
        TypeInner::Struct { ref members, .. } => {
            for member in members {
                gather(module, &module.types[member.ty].inner, start + member.offset, all)?;
            }
        }
        ref other => return Err(Failed(format!("no memory holds {other:?}"))),
    }
    Ok(())
}

/// Pieces of 16 bytes at most, each aligned to its size as WGSL lays vectors out.
fn vector(size: usize, scalar: Scalar, start: u32, all: &mut Vec<Piece>) {
    let width = usize::from(scalar.width);
    let most = if scalar.kind == ScalarKind::Bool { 1 } else { (16 / width).min(4) };
    let mut at = 0;
    while at < size {
        let rest = (size - at).min(most);
        let count = if rest == 3 { 2 } else { rest };
        all.push((scalar, count, start + (at * width) as u32, false));
        at += count;
    }
}

/// The type of a load or store of a class.
fn memory_type(class: Class) -> &'static str {
    match class {
        Class::F32 => "f32",
        Class::F64 => "f64",
        Class::B32 => "u32",
        Class::B64 => "u64",
        _ => "b16",
    }
}

/// `""` and the register, or `.v4` and all registers.
fn listed(registers: &[Operand]) -> (String, String) {
    match registers {
        [one] => (String::new(), one.to_string()),
        all => {
            let list: Vec<String> = all.iter().map(|r| r.to_string()).collect();
            (format!(".v{}", all.len()), format!("{{{}}}", list.join(", ")))
        }
    }
}

/// `[%d3+16]` or `[name+16]`.
pub(super) fn address(place: &Place, offset: u32) -> String {
    let Place::Memory { name, base, distance, .. } = place else { return String::new() };
    // A register may hold less than the variable's start: an index is taken modulo 2^32.
    let distance = distance.wrapping_add(offset) as i32;
    let base = base.map_or_else(|| name.to_string(), |b| b.to_string());
    if distance == 0 { format!("[{base}]") } else { format!("[{base}{distance:+}]") }
}
