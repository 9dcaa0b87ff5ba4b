//! A call on the device: its operands may be there already, and its result stays there.
//!
//! What an operand needs goes up, one or a few launches are queued one after another, and nothing
//! waits: the result is an array that comes home when something reads it. A failure is a decline.

use crate::call::Call;
use crate::decline::{Answer, Decline};
use rung_array::Array;
use rung_base::{Element, ElementType, Precision, Result, Shape};
use rung_dense::fourier::Direction;
use rung_device::{Buffer, Failure, FailureCode, Held, Info, Layout, Residency, TensorDoubles};
use rung_kernel::broadcast::{self, Read, Signature};
use rung_kernel::cells::Computed;
use rung_kernel::fold::{Fold, Kernels as FoldKernels, Types as FoldTypes};
use rung_kernel::fourier::{self, Kernels as FourierKernels};
use rung_kernel::position::{Kernels as PositionKernels, Seek};
use rung_kernel::product::{Extents, Tile, Types as ProductTypes};
use rung_kernel::quantized::Kernels as QuantizedKernels;
use rung_kernel::scan::{Kernels as ScanKernels, Scan};
use rung_kernel::sort::Kernels as SortKernels;
use rung_kernel::tensor::Rounding;
use rung_kernel::tensor_doubles;
use rung_kernel::triangular::Kernels as TriangularKernels;
use rung_kernel::{Kernel, Launch, Variants};
use rung_lanes::Lanes;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

mod composed;
mod pieces;
mod pointwise;

pub(crate) use pointwise::{Formula, Given};
pub use pointwise::{Piece, Traces};

/// What a kernel is made for: an operation, an element type and a template.
type Key = (&'static str, ElementType, &'static str);
/// A definition by its name and formula, what it computes in, and the types of its operands.
type Pointwise = (Cow<'static, str>, &'static str, Computed, Signature);
/// A product: its types, tile and what multiplies, what follows it and what that reads.
type ProductKey = (ProductTypes, Tile, Cores, String, SmallVec<[Read; 4]>);

/// What multiplies in a product of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cores {
    /// Fused steps.
    None,
    /// Tensor cores, of singles that are rounded.
    Rounded(Rounding),
    /// Tensor cores, of doubles in the definition's order.
    Doubles,
}

/// The kernels made so far: one for each key, whatever the shapes.
#[derive(Default)]
pub struct KernelCache {
    kernels: Cache<Key, Arc<Kernel>>,
    pointwise: Cache<Pointwise, Arc<Kernel>>,
    products: Cache<ProductKey, Arc<Kernel>>,
    cells: Cache<[ElementType; 3], Arc<Kernel>>,
    folds: Cache<(Fold, FoldTypes), FoldKernels>,
    positions: Cache<(Seek, [ElementType; 2]), PositionKernels>,
    scans: Cache<(Scan, [ElementType; 2]), ScanKernels>,
    sorts: Cache<(ElementType, bool), SortKernels>,
    triangular: OnceCell<TriangularKernels>,
    quantized: OnceCell<QuantizedKernels>,
    fourier: Cache<ElementType, FourierKernels>,
    /// The turns of transforms, by their length: sent once.
    turns: Cache<usize, Array>,
    /// What transforms of other lengths than a power of two are convolved with, the last used last.
    chirps: RefCell<Vec<(usize, [Array; 2])>>,
}

/// How many lengths keep their chirps: a program may have thousands.
const CHIRPS: usize = 8;

/// What was made once.
struct Cache<K, V>(RefCell<HashMap<K, V>>);

impl<K, V> Default for Cache<K, V> {
    fn default() -> Self {
        Cache(RefCell::default())
    }
}

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    fn get(&self, key: K, make: impl FnOnce() -> Result<V>) -> Result<V> {
        if let Some(known) = self.0.borrow().get(&key) {
            return Ok(known.clone());
        }
        let made = make()?;
        self.0.borrow_mut().insert(key, made.clone());
        Ok(made)
    }

    fn count(&self) -> usize {
        self.0.borrow().len()
    }
}

impl KernelCache {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.kernels.count()
            + self.pointwise.count()
            + self.products.count()
            + self.cells.count()
            + self.folds.count()
            + self.positions.count()
            + self.scans.count()
            + self.sorts.count()
            + self.fourier.count()
    }
}

/// A device with what is resident there, and the kernels made for it.
pub struct RoundTrip<'a> {
    residency: &'a Residency,
    cache: &'a KernelCache,
    precision: Precision,
    lanes: Option<&'a Lanes>,
}

/// A buffer of a launch.
#[derive(Clone, Copy, Debug)]
pub enum Bind {
    /// An operand of the call.
    Operand(usize),
    /// A buffer that the call makes.
    Made(usize),
    /// Bytes of an operand: the first of them, and how many.
    OperandPart(usize, [usize; 2]),
    /// Bytes of a buffer that the call makes.
    MadePart(usize, [usize; 2]),
}

/// A launch and its buffers in binding order.
pub struct Stage {
    pub launch: Launch,
    pub binds: SmallVec<[Bind; 6]>,
}

/// A buffer that a call makes: a result, or so many bytes for its own time.
pub enum Made {
    Result(ElementType, Shape),
    Workspace(usize),
}

/// What a call does on the device: launches, one after another, over its operands and what it makes.
#[derive(Default)]
pub struct Work {
    pub stages: Vec<Stage>,
    pub made: Vec<Made>,
}

impl Made {
    fn bytes(&self) -> usize {
        match self {
            Made::Result(t, shape) => shape.size() * t.size(),
            Made::Workspace(bytes) => *bytes,
        }
    }
}

impl Work {
    /// One launch over all operands, in order, and one result.
    pub fn one(launch: Launch, operands: usize, t: ElementType, shape: Shape) -> Work {
        let mut work = Work::default();
        let result = work.make(Made::Result(t, shape));
        work.stage(launch, (0..operands).map(Bind::Operand).chain([result]));
        work
    }

    pub fn make(&mut self, made: Made) -> Bind {
        self.made.push(made);
        Bind::Made(self.made.len() - 1)
    }

    pub fn stage(&mut self, launch: Launch, binds: impl IntoIterator<Item = Bind>) {
        self.stages.push(Stage { launch, binds: binds.into_iter().collect() });
    }
}

/// An operand and where it will lie on the device.
#[derive(Clone, Copy)]
pub struct Placed<'a> {
    array: &'a Array,
    layout: Layout,
}

impl<'a> Placed<'a> {
    /// The position of its first element in its buffer.
    pub fn offset(&self) -> usize {
        self.layout.offset
    }

    /// Elements from one index of an axis to the next.
    pub fn strides(&self) -> &'a [isize] {
        self.array.strides()
    }

    /// How a broadcasting kernel reads it.
    pub fn view(&self) -> broadcast::View<'a> {
        broadcast::View { offset: self.layout.offset, strides: self.array.strides() }
    }
}

type Outcome<T> = std::result::Result<T, Failure>;

/// What a device rounds the operands of a product of singles to, where that was asked for and it has
/// tensor cores.
pub(crate) fn rounding(precision: Precision, tensor_cores: bool) -> Option<Rounding> {
    match precision {
        Precision::Tf32 if tensor_cores => Some(Rounding::Tf32),
        Precision::Bf16 if tensor_cores => Some(Rounding::Bf16),
        _ => None,
    }
}

/// What a device's tensor cores make of a product of doubles, where it is large enough for them.
pub(crate) fn doubles(size: &Extents, info: &Info) -> TensorDoubles {
    match tensor_doubles::takes(size, &info.variants, info.multiprocessors) {
        true => info.tensor_doubles,
        false => TensorDoubles::Absent,
    }
}

impl<'a> RoundTrip<'a> {
    pub fn new(residency: &'a Residency, cache: &'a KernelCache) -> RoundTrip<'a> {
        RoundTrip { residency, cache, precision: Precision::Strict, lanes: None }
    }

    /// The same for products that may be less exact.
    pub fn asking(self, precision: Precision) -> RoundTrip<'a> {
        RoundTrip { precision, ..self }
    }

    /// The same with threads for what is prepared before the first launch.
    pub fn beside(self, lanes: Option<&'a Lanes>) -> RoundTrip<'a> {
        RoundTrip { lanes, ..self }
    }

    /// The lanes of this run, where it has any.
    pub fn lanes(&self) -> Option<&'a Lanes> {
        self.lanes
    }

    /// What multiplies in a product of this size as this type.
    pub fn cores(&self, size: &Extents, wanted: ElementType) -> Cores {
        let info = self.residency.device().info();
        match wanted {
            ElementType::F32 => {
                rounding(self.precision, info.tensor_cores).map_or(Cores::None, Cores::Rounded)
            }
            ElementType::F64 if doubles(size, info) == TensorDoubles::InOrder => Cores::Doubles,
            _ => Cores::None,
        }
    }

    /// How many multiprocessors the device has, where it says so.
    pub fn multiprocessors(&self) -> Option<u32> {
        self.residency.device().info().multiprocessors
    }

    /// What its arithmetic needs replaced.
    pub fn variants(&self) -> Variants {
        self.residency.device().info().variants
    }

    /// Why not, where an invocation's loops may take this many turns and the driver ends them before.
    pub fn ends_loops(&self, turns: usize) -> Option<Decline> {
        let most = self.residency.device().info().most_turns?;
        let text =
            || format!("this driver ends a kernel's loops after {most} turns: {turns} wanted");
        (turns > most as usize).then(|| Decline::Device(text().into()))
    }

    /// The kernel of this call's operation and operand type in one template, made when it is first
    /// needed.
    pub fn kernel(
        &self,
        call: &Call,
        template: &'static str,
        make: impl FnOnce() -> Result<Kernel>,
    ) -> Result<Arc<Kernel>> {
        self.kernel_for((call.op.name(), call.shown_type(), template), make)
    }

    /// The kernel of a key.
    pub fn kernel_for(
        &self,
        key: Key,
        make: impl FnOnce() -> Result<Kernel>,
    ) -> Result<Arc<Kernel>> {
        self.cache.kernels.get(key, || make().map(Arc::new))
    }

    /// The kernel of a product, made when it is first needed.
    pub fn product_kernel(
        &self,
        key: ProductKey,
        make: impl FnOnce() -> Result<Kernel>,
    ) -> Result<Arc<Kernel>> {
        self.cache.products.get(key, || make().map(Arc::new))
    }

    /// The kernel of cells that are folds over two operands and a result of these types.
    pub fn cell_kernel(
        &self,
        types: [ElementType; 3],
        make: impl FnOnce() -> Result<Kernel>,
    ) -> Result<Arc<Kernel>> {
        self.cache.cells.get(types, || make().map(Arc::new))
    }

    /// The kernels of a fold, made when they are first needed.
    pub fn fold_kernels(&self, fold: Fold, types: FoldTypes) -> Result<FoldKernels> {
        self.cache.folds.get((fold, types), || FoldKernels::of(fold, types))
    }

    /// The kernels of a search, made when they are first needed.
    pub fn position_kernels(
        &self,
        seek: Seek,
        reads: ElementType,
        writes: ElementType,
    ) -> Result<PositionKernels> {
        let make = || PositionKernels::new(seek, reads, writes);
        self.cache.positions.get((seek, [reads, writes]), make)
    }

    /// The kernels of a scan, made when they are first needed.
    pub fn scan_kernels(
        &self,
        scan: Scan,
        reads: ElementType,
        writes: ElementType,
    ) -> Result<ScanKernels> {
        let make = || ScanKernels::new(scan, reads, writes);
        self.cache.scans.get((scan, [reads, writes]), make)
    }

    /// The kernels of an order, made when they are first needed.
    pub fn sort_kernels(&self, element: ElementType, descending: bool) -> Result<SortKernels> {
        self.cache.sorts.get((element, descending), || SortKernels::new(element, descending))
    }

    /// The kernels of factorisations, made when they are first needed.
    pub fn triangular_kernels(&self) -> &TriangularKernels {
        self.cache.triangular.get_or_init(TriangularKernels::new)
    }

    /// The kernels of products of quantised matrices, made when they are first needed.
    pub fn quantized_kernels(&self) -> &QuantizedKernels {
        self.cache.quantized.get_or_init(QuantizedKernels::new)
    }

    /// The kernels of transforms whose results are of this type, made when they are first needed.
    pub fn fourier_kernels(&self, writes: ElementType) -> Result<FourierKernels> {
        self.cache.fourier.get(writes, || FourierKernels::new(writes))
    }

    /// The turns of a transform of n points (n / 2, 2), which stay on the device.
    pub fn turns(&self, n: usize) -> Result<Array> {
        let make = || Array::from_slice(&fourier::turns(n), Shape::new([n / 2, 2])?);
        self.cache.turns.get(n, make)
    }

    /// The chirp of a transform of n points (n, 2), no power of two, and the transform of what is
    /// convolved with it; they stay while the length is among the last ones used.
    pub fn chirps(&self, n: usize) -> Result<[Array; 2]> {
        let mut known = self.cache.chirps.borrow_mut();
        let found = match known.iter().position(|(length, _)| *length == n) {
            Some(at) => known.remove(at),
            None => (n, chirps(n)?),
        };
        if known.len() == CHIRPS {
            known.remove(0);
        }
        known.push(found.clone());
        Ok(found.1)
    }

    /// Where an operand will lie; nothing moves yet.
    pub fn place<'x>(&self, array: &'x Array) -> Placed<'x> {
        Placed { array, layout: self.residency.layout(array) }
    }

    /// Whether an array is on the device.
    pub fn holds(&self, array: &Array) -> bool {
        self.residency.holds(array)
    }

    /// Runs one launch over `operands` and one output of `shape`.
    pub fn run<O: Element>(
        &self,
        launch: Result<Launch>,
        operands: &[Placed],
        shape: Shape,
    ) -> Result<Answer> {
        self.run_work(
            launch.map(|launch| Work::one(launch, operands.len(), O::TYPE, shape)),
            operands,
        )
    }

    /// Runs a call's work: its results. What the kernel layer could not plan is a decline as well.
    pub fn run_work(&self, work: Result<Work>, operands: &[Placed]) -> Result<Answer> {
        Ok(match self.results(work, operands)? {
            Ok(results) => match <[Array; 1]>::try_from(results) {
                Ok([result]) => Answer::Done(result),
                Err(several) => Answer::Several(several),
            },
            Err(reason) => Answer::Declined(reason),
        })
    }

    /// The same as a list of arrays.
    pub fn results(
        &self,
        work: Result<Work>,
        operands: &[Placed],
    ) -> Result<std::result::Result<Vec<Array>, Decline>> {
        let work = match work {
            Ok(work) => work,
            Err(e) => return Ok(Err(Decline::Device(e.message().into()))),
        };
        if let Err(reason) = self.fits(&work, operands) {
            return Ok(Err(reason));
        }
        let held = match self.queue(&work, operands) {
            Ok(held) => held,
            Err(failure) => return Ok(Err(decline_of(&failure))),
        };
        let results = work.made.into_iter().zip(held).filter_map(|(made, held)| match made {
            Made::Result(t, shape) => Some(held.into_array(t, shape)),
            Made::Workspace(_) => None,
        });
        results.collect::<Result<Vec<Array>>>().map(Ok)
    }

    /// Whether the device has what the kernels need.
    fn fits(&self, work: &Work, operands: &[Placed]) -> std::result::Result<(), Decline> {
        let info = self.residency.device().info();
        let kernels = || work.stages.iter().map(|stage| &stage.launch.kernel);
        if !info.f64 && kernels().any(|kernel| kernel.needs_f64()) {
            return Err(Decline::NoDouble);
        }
        if !info.i64 && !info.f64 && kernels().any(|kernel| kernel.needs_i64()) {
            return Err(Decline::Type(ElementType::I64));
        }
        let buffers = kernels().map(|kernel| kernel.bindings.len()).max().unwrap_or(0);
        if buffers > info.max_buffers as usize {
            let text = format!("a kernel of {buffers} buffers, {} there are", info.max_buffers);
            return Err(Decline::Device(text.into()));
        }
        let bound = work.stages.iter().flat_map(|stage| &stage.binds).map(|bind| match *bind {
            Bind::Operand(i) => self.residency.carried(operands[i].array, operands[i].layout),
            Bind::Made(i) => work.made[i].bytes(),
            Bind::OperandPart(_, [_, bytes]) | Bind::MadePart(_, [_, bytes]) => bytes,
        });
        let largest = bound.max().unwrap_or(0) as u64;
        let most = info.max_binding;
        if largest > most { Err(Decline::Binding { bytes: largest, most }) } else { Ok(()) }
    }

    /// The buffers that the work makes, once everything is queued.
    fn queue(&self, work: &Work, operands: &[Placed]) -> Outcome<Vec<Held>> {
        let carry = |p: &Placed| self.residency.carry(p.array, p.layout);
        let inputs = operands.iter().map(carry).collect::<Outcome<Vec<Held>>>()?;
        let make = |made: &Made| match made {
            Made::Result(..) => self.residency.result(made.bytes()),
            Made::Workspace(bytes) => self.residency.workspace(*bytes),
        };
        let made = work.made.iter().map(make).collect::<Outcome<Vec<Held>>>()?;
        for stage in &work.stages {
            let buffer = |bind: &Bind| match *bind {
                Bind::Operand(i) => inputs[i].buffer().clone(),
                Bind::Made(i) => made[i].buffer().clone(),
                Bind::OperandPart(i, [start, bytes]) => inputs[i].buffer().part(start, bytes),
                Bind::MadePart(i, [start, bytes]) => made[i].buffer().part(start, bytes),
            };
            let buffers: SmallVec<[Buffer; 6]> = stage.binds.iter().map(buffer).collect();
            let buffers: SmallVec<[&Buffer; 6]> = buffers.iter().collect();
            self.residency.device().launch(&stage.launch, &buffers)?;
        }
        Ok(made)
    }
}

fn chirps(n: usize) -> Result<[Array; 2]> {
    let mut line = fourier::mirrored_chirp(n);
    let m = fourier::passed(n);
    // The division by a power of two that the way back needs is exact here.
    rung_dense::fourier::complex(m, Direction::Forward, 1.0 / m as f64, &mut line);
    let pairs = |points: &[f64]| Array::from_slice(points, Shape::new([points.len() / 2, 2])?);
    Ok([pairs(&fourier::chirp(n))?, pairs(&line)?])
}

pub(crate) fn decline_of(failure: &Failure) -> Decline {
    match failure.code {
        FailureCode::NoDouble => Decline::NoDouble,
        FailureCode::Grid => Decline::Grid,
        FailureCode::Lost => Decline::Lost(failure.text.as_str().into()),
        code => Decline::Failed(code.name(), failure.text.as_str().into()),
    }
}
