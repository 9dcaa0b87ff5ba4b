//! A naga compute module as PTX for NVIDIA's drivers: the lowest version and target that Rung
//! serves (6.3, sm_75), whose text every later driver takes; higher ones only where a kernel uses
//! what they brought (`tensor`).
//!
//! A small compiler: all calls are inlined, control flow becomes labels and predicates, values and
//! variables are virtual registers. Variables that are indexed by what only a run knows stand in
//! local memory; tables that nobody writes in global memory. Rounding is written out (`.rn`), which
//! forbids contraction; nothing flushes subnormals; `fma` stands only where the text says it. The
//! text depends on the module alone. Integers follow WGSL: shifts take their amount modulo the
//! width, a division by zero gives the dividend, conversions from floats clamp.
//!
//! Parameters of the entry point: each buffer's address (u64, `b0`, `b1`, ...), each buffer's bytes
//! (u64, `n0`, `n1`, ...), then the 256 bytes of the launch's parameter words by value
//! (`parameters`). What the writer does not know is an error with its name, never a wrong text.

mod arithmetic;
mod atomic;
mod built_in;
mod convert;
mod expression;
mod indexed;
mod layout;
mod memory;
mod statement;
mod subgroup;
mod tensor;
mod text;

use crate::kernel::PARAMETER_WORDS;
use indexed::Indexed;
use layout::scalars;
use memory::{Place, Space};
use naga::valid::ModuleInfo;
use naga::{AddressSpace, Handle, Module};
use statement::Frame;
use std::fmt::Write;
use text::{Class, Operand, Text};

/// The version of PTX and the target.
const HEAD: (&str, &str) = ("6.3", "sm_75");
/// The local memory of the kernel.
const STACK: &str = "stack";
/// Invocations of a subgroup: every device of NVIDIA's has warps of 32.
const SUBGROUP: u32 = 32;

/// Why a module cannot be written.
pub(crate) struct Failed(pub(crate) String);

type Outcome<T> = Result<T, Failed>;

/// PTX of the module's one entry point; `title` is a comment at its start.
pub(crate) fn write(module: &Module, info: &ModuleInfo, title: &str) -> Result<String, Failed> {
    let mut writer = Writer {
        module,
        info,
        indexed: Indexed::of(module),
        text: Text::default(),
        globals: Vec::new(),
        declarations: String::new(),
        buffers: Vec::new(),
        stack: 0,
        deepest: 0,
        tensor_cores: false,
    };
    writer.place_globals()?;
    let [entry] = &module.entry_points[..] else {
        return Err(Failed("a module has one entry point".into()));
    };
    let frame = Frame::of_entry(&mut writer, entry)?;
    writer.body(frame)?;
    let group = entry.workgroup_size.map(|n| n.to_string()).join(", ");
    Ok(writer.finish(title, &entry.name, &group))
}

/// What the parts of the writer share.
pub(super) struct Writer<'m> {
    module: &'m Module,
    info: &'m ModuleInfo,
    indexed: Indexed,
    text: Text,
    /// Where each global variable stands.
    globals: Vec<Place>,
    /// Shared memory and tables.
    declarations: String,
    /// The bindings of the buffers of group 0, as they come.
    buffers: Vec<u32>,
    /// Bytes of local memory in use, and the most that were.
    stack: u32,
    deepest: u32,
    /// Something needs a later target.
    tensor_cores: bool,
}

impl<'m> Writer<'m> {
    fn place_globals(&mut self) -> Outcome<()> {
        for (handle, global) in self.module.global_variables.iter() {
            let place = self.place_global(handle, global)?;
            self.globals.push(place);
        }
        Ok(())
    }

    fn place_global(
        &mut self,
        handle: Handle<naga::GlobalVariable>,
        global: &'m naga::GlobalVariable,
    ) -> Outcome<Place> {
        let inner = &self.module.types[global.ty].inner;
        match global.space {
            AddressSpace::Uniform => Ok(Place::named(Space::Parameter, "parameters")),
            AddressSpace::Storage { access } => {
                let binding = global.binding.map_or(0, |b| b.binding);
                self.buffers.push(binding);
                let constant = !access.contains(naga::StorageAccess::STORE);
                Ok(self.buffer(binding, if constant { Space::Constant } else { Space::Global }))
            }
            AddressSpace::WorkGroup => {
                let name = format!("group{}", handle.index());
                self.declare("shared", &name, global.ty)?;
                Ok(Place::named(Space::Shared, name))
            }
            AddressSpace::Private => {
                let value = match global.init {
                    Some(init) => self.constant(init)?,
                    None => layout::zeros(self.module, inner)?,
                };
                if self.indexed.is_table(handle) {
                    let name = format!("table{}", handle.index());
                    self.table(&name, inner, &value)?;
                    return Ok(Place::named(Space::Constant, name));
                }
                self.variable(inner, self.indexed.global(handle), &value)
            }
            space => Err(Failed(format!("no variables in {space:?}"))),
        }
    }

    /// A buffer whose address is in a register from the start.
    fn buffer(&mut self, binding: u32, space: Space) -> Place {
        let address = self.text.register(Class::B64);
        self.text.line(format_args!("ld.param.u64 {address}, [b{binding}]"));
        self.text.line(format_args!("cvta.to.global.u64 {address}, {address}"));
        Place::Memory { space, name: "".into(), base: Some(address), distance: 0 }
    }

    /// A variable with its first value: in registers, or in local memory when it is indexed.
    fn variable(
        &mut self,
        inner: &naga::TypeInner,
        indexed: bool,
        value: &[Operand],
    ) -> Outcome<Place> {
        let place = if indexed {
            self.stacked(inner)?
        } else {
            let classes = scalars(self.module, inner)?.into_iter().map(layout::class);
            let classes: Vec<Class> = classes.collect::<Outcome<_>>()?;
            let variable = classes.into_iter().map(|c| self.text.register(c)).collect();
            Place::Registers { variable, first: 0 }
        };
        self.store(&place, inner, value)?;
        Ok(place)
    }

    fn declare(&mut self, space: &str, name: &str, ty: Handle<naga::Type>) -> Outcome<()> {
        let size = self.module.types[ty].inner.try_size(self.module.to_ctx());
        let size = size.ok_or_else(|| Failed(format!("{name} has no size")))?;
        let _ = writeln!(self.declarations, ".{space} .align 16 .b8 {name}[{size}];");
        Ok(())
    }

    /// Numbers of one type that only are read, as initialised global memory.
    fn table(&mut self, name: &str, inner: &naga::TypeInner, value: &[Operand]) -> Outcome<()> {
        let scalars = scalars(self.module, inner)?;
        let bits = 8 * u32::from(scalars.first().map_or(4, |s| s.width));
        let entries: Vec<String> =
            value.iter().map(|v| format!("{:#x}", v.constant().unwrap_or(0))).collect();
        let _ = writeln!(
            self.declarations,
            ".global .align 16 .b{bits} {name}[{}] = {{{}}};",
            entries.len(),
            entries.join(", ")
        );
        Ok(())
    }

    fn finish(mut self, title: &str, entry: &str, group: &str) -> String {
        self.buffers.sort_unstable();
        // A program's own kernel may be called anything.
        let title = title.replace(char::is_control, " ");
        let (version, target) = if self.tensor_cores { tensor::HEAD } else { HEAD };
        let mut text =
            format!("// {title}\n.version {version}\n.target {target}\n.address_size 64\n\n");
        text.push_str(&self.declarations);
        let _ = writeln!(text, ".visible .entry {entry}(");
        for letter in ["b", "n"] {
            for buffer in &self.buffers {
                let _ = writeln!(text, "    .param .u64 {letter}{buffer},");
            }
        }
        let bytes = 4 * PARAMETER_WORDS;
        let _ = writeln!(text, "    .param .align 16 .b8 parameters[{bytes}]\n)");
        let _ = writeln!(text, ".maxntid {group}\n{{");
        if self.deepest > 0 {
            let _ = writeln!(text, "    .local .align 16 .b8 {STACK}[{}];", self.deepest);
        }
        text.push_str(&self.text.finish());
        text.push_str("}\n");
        text
    }
}

#[cfg(test)]
mod tests;
