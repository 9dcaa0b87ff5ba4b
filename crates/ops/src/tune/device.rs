//! A device's floor, launches, link and unit times, and from which sizes it beats the lanes.

use super::Timer;
use crate::arguments::Arguments;
use crate::call::{Call, Context, Prepared};
use crate::costs::{Costs, DeviceCosts, LanesCosts, LibraryCosts, Thresholds, device_costs};
use crate::decline::Answer;
use crate::record::Member;
use crate::resident::Standing;
use crate::round_trip::{KernelCache, RoundTrip};
use crate::table;
use crate::value::Value;
use rung_array::Array;
use rung_base::{ElementType, Precision, Shape};
use rung_device::{Device, Residency};
use std::cell::Cell;
use std::sync::Arc;

/// Launches of which each is a part of the time.
const LAUNCHES: u32 = 64;
/// The side of the product that is measured.
const SIDE: usize = 256;
/// Bytes moved to measure the link.
const LINK: usize = 16 << 20;

/// What could not be measured keeps its default.
pub fn costs(timer: &Timer<'_>, device: &Arc<dyn Device>, lanes: &LanesCosts) -> DeviceCosts {
    let mut costs = device_costs(device.info());
    link(timer, device.as_ref(), &mut costs);
    // Without a budget nothing stays there: every call carries all that it reads and gives.
    let residency = Residency::new(device.clone(), Some(0));
    let bench = Bench { timer, residency, kernels: KernelCache::default() };
    if let Some(floor) = bench.call("exp", &[&[4]], ElementType::F32) {
        costs.floor = floor;
    }
    let widths = if device.info().f64 { 2 } else { 1 };
    for (width, element) in [ElementType::F32, ElementType::F64].into_iter().enumerate() {
        if width == widths {
            // Nobody asks: a device without doubles declines them.
            costs.product[1] = 4.0 * costs.product[0];
            costs.elementary[1] = 4.0 * costs.elementary[0];
            break;
        }
        let link = costs;
        let work = |us, up, down| work(&link, us, [up, down].map(|n| n * element.size()));
        let n = SIDE;
        if let Some(us) = bench.call("matmul", &[&[n, n], &[n, n]], element) {
            costs.product[width] = work(us, 2 * n * n, n * n) / (n * n * n) as f64;
        }
        let n = 1 << 18;
        if let Some(us) = bench.call("exp", &[&[n]], element) {
            costs.elementary[width] = work(us, n, n) / n as f64;
        }
        if let (0, Some(us)) = (width, bench.call("add", &[&[512, 1], &[1, 512]], element)) {
            costs.memory = (512 * 512 * 4) as f64 / work(us, 1024, 512 * 512);
        }
    }
    bench.tensor(&mut costs);
    if let Some(launch) = bench.launch() {
        costs.launch = launch;
    }
    if widths == 2 {
        bench.in_turn(&mut costs, lanes);
    }
    costs.thresholds = thresholds(&costs, lanes);
    costs
}

/// What is left of a call's time beside its floor and the bytes that go up and come down.
fn work(costs: &DeviceCosts, us: f64, [up, down]: [usize; 2]) -> f64 {
    let moved = up as f64 / costs.up + down as f64 / costs.down;
    // On a fast link the rest may drown in the noise: a tenth of the call is work.
    (us - costs.floor - moved).max(us / 10.0)
}

fn link(timer: &Timer, device: &dyn Device, costs: &mut DeviceCosts) {
    let mut bytes = vec![1u8; LINK];
    let Ok(buffer) = device.upload(&bytes) else { return };
    let mut works = true;
    let down = timer.median(&mut || works &= device.download(&buffer, &mut bytes).is_ok());
    // An upload may only be queued; reading a byte of it back waits for it.
    let mut byte = [0u8; 4];
    let up = timer.median(&mut || {
        let sent = device.upload(&bytes);
        works &= sent.is_ok_and(|buffer| device.download(&buffer, &mut byte).is_ok());
    });
    if works {
        (costs.up, costs.down) = (LINK as f64 / up, LINK as f64 / down);
    }
}

struct Bench<'a, 't> {
    timer: &'a Timer<'t>,
    residency: Residency,
    kernels: KernelCache,
}

impl Bench<'_, '_> {
    /// Products of singles on tensor cores.
    fn tensor(&self, costs: &mut DeviceCosts) {
        if !self.residency.device().info().tensor_cores {
            costs.tensor = [0.0; 2];
            return;
        }
        let (n, bytes) = (SIDE, 4 * SIDE * SIDE);
        for (at, precision) in [Precision::Tf32, Precision::Bf16].into_iter().enumerate() {
            let us = self.call_asking("matmul", &[&[n, n], &[n, n]], ElementType::F32, precision);
            if let Some(us) = us {
                costs.tensor[at] = work(costs, us, [2 * bytes, bytes]) / (n * n * n) as f64;
            }
        }
    }

    /// Microseconds of one call with everything carried; `None` when the device declines it.
    fn call(&self, name: &str, shapes: &[&[usize]], element: ElementType) -> Option<f64> {
        self.call_asking(name, shapes, element, Precision::Strict)
    }

    fn call_asking(
        &self,
        name: &str,
        shapes: &[&[usize]],
        element: ElementType,
        precision: Precision,
    ) -> Option<f64> {
        let op = table::find(name)?;
        let member = op.rungs.device.kernel()?;
        let call = prepared(op, shapes, element)?;
        let trip = RoundTrip::new(&self.residency, &self.kernels).asking(precision);
        let run = || runs(member, &call, &trip);
        let mut done = run();
        let us = self.timer.median(&mut || done &= run());
        done.then_some(us)
    }

    /// Microseconds of a launch on what is there, which nobody waits for.
    fn launch(&self) -> Option<f64> {
        let op = table::find("negative")?;
        let member = op.rungs.device.kernel()?;
        let call = prepared(op, &[&[64]], ElementType::F32)?;
        let residency = Residency::new(self.residency.device().clone(), Some(1 << 16));
        residency.keep(&call.operands[0]).ok()?;
        let trip = RoundTrip::new(&residency, &self.kernels);
        let works = Cell::new(runs(member, &call, &trip));
        let several = |count: u32| {
            for _ in 0..count {
                works.set(works.get() && runs(member, &call, &trip));
            }
            works.set(works.get() && residency.device().synchronize().is_ok());
        };
        let [one, many] = self.timer.race([&mut || several(1), &mut || several(LAUNCHES)]);
        // Where the wait is all that counts, a tenth of it is a launch's.
        let each = (many - one) / f64::from(LAUNCHES - 1);
        works.get().then_some(each.max(many / f64::from(10 * LAUNCHES)))
    }

    /// What is left of an LU and of a substitution besides what is known of them belongs to the
    /// columns and the rows that wait for one another.
    fn in_turn(&self, costs: &mut DeviceCosts, lanes: &LanesCosts) {
        const N: usize = 256;
        const CALLS: [(&str, &[&[usize]]); 2] =
            [("lu", &[&[N, N]]), ("solve-triangular", &[&[N, N], &[N, 16]])];
        let t = ElementType::F64;
        for (at, (name, shapes)) in CALLS.into_iter().enumerate() {
            let (Some(op), Some(us)) = (table::find(name), self.call(name, shapes, t)) else {
                continue;
            };
            let Some(call) = prepared(op, shapes, t) else { continue };
            // As if nothing waited inside a launch.
            let device = DeviceCosts { in_turn: [0.0; 2], ..*costs };
            let library = LibraryCosts::default();
            let known = Costs { lanes: *lanes, library, device, origin: None };
            let left = us - known.device_time(&call, &Standing::default(), None);
            costs.in_turn[at] = left.max(us / 10.0) / N as f64;
        }
    }
}

fn runs(member: &Member, call: &Call, trip: &RoundTrip) -> bool {
    matches!((member.run)(call, trip), Ok(answer) if !matches!(answer, Answer::Declined(_)))
}

fn prepared(
    op: &'static crate::Op,
    shapes: &[&[usize]],
    element: ElementType,
) -> Option<Box<Call>> {
    let array = |extents: &&[usize]| {
        let shape = Shape::new(extents.iter().copied()).ok()?;
        let values: Vec<f64> = (0..shape.size()).map(|i| 0.5 + (i % 97) as f64 / 97.0).collect();
        Array::from_slice(&values, shape).ok()?.convert(element).ok().map(Value::Array)
    };
    let values = shapes.iter().map(array).collect::<Option<Vec<_>>>()?;
    let arguments = Arguments::bind(op, values).ok()?;
    match (op.prepare)(op, arguments, &mut Context::default()).ok()? {
        Prepared::Call(call) => Some(call),
        _ => None,
    }
}

/// A call of a family with this much work: bytes up, bytes down, and microseconds of work on the
/// device and on one core of the lanes, all in f32.
type Model = fn(f64, &DeviceCosts, &LanesCosts) -> (f64, f64, f64, f64);

/// For each family the smallest power of two from which every larger call is faster there.
fn thresholds(device: &DeviceCosts, lanes: &LanesCosts) -> Thresholds {
    let product: Model = |units, d, l| {
        let cells = 4.0 * units.powf(2.0 / 3.0);
        (2.0 * cells, cells, units * d.product[0], units * l.product[0])
    };
    let map: Model = |n, d, l| (4.0 * n, 4.0 * n, n * d.elementary[0], n * l.elementary[0]);
    let wide: Model = |n, d, l| (0.0, 4.0 * n, 4.0 * n / d.memory, 4.0 * n / l.memory[0]);
    let fold: Model = |n, d, l| (4.0 * n, 0.0, 4.0 * n / d.memory, 4.0 * n / l.memory[0]);
    let fill: Model = |n, d, l| (0.0, 8.0 * n, n * d.elementary[1], n * l.elementary[1]);
    let least = |model: Model| {
        let faster = |power: &u32| {
            let (up, down, there, here) = model(f64::from(*power).exp2(), device, lanes);
            device.floor + up / device.up + there + down / device.down < here
        };
        let powers = (8..=30).rev().take_while(faster);
        powers.last().map(|power| 1u64 << power)
    };
    Thresholds {
        product: least(product),
        map: least(map),
        wide: least(wide),
        fold: least(fold),
        fill: least(fill),
    }
}

#[cfg(test)]
#[allow(dead_code)]
#[path = "../../../device/tests/lavapipe/idle.rs"]
mod idle;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::costs::{WGPU, lanes_costs};
    use crate::product::Mode;
    use crate::tune::{Plan, Timer};
    use rung_device::Buffer;
    use rung_kernel::Launch;
    use rung_kernel::tensor::Rounding;
    use rung_lanes::Level;
    use std::time::Duration;

    /// The thresholds that follow from a device on which launches take so long.
    fn tuned(takes: fn(&Launch, &[&Buffer]) -> Duration) -> Thresholds {
        measured(takes).thresholds
    }

    fn measured(takes: fn(&Launch, &[&Buffer]) -> Duration) -> DeviceCosts {
        let device: Arc<dyn Device> = Arc::new(idle::Idle::new(takes));
        let plan = Plan { threads: 1, libraries: &[], device: Some(&device), quick: true };
        let mut progress = |_: &str, _: f64| ();
        let timer = Timer::new(&plan, &mut progress);
        costs(&timer, &device, &lanes_costs(Level::Avx2))
    }

    /// 400 us a launch, so that what the host adds does not count, and 1 ns for 100 bytes.
    fn usual(_: &Launch, buffers: &[&Buffer]) -> Duration {
        let bytes: usize = buffers.iter().map(|buffer| buffer.bytes()).sum();
        Duration::from_nanos(400_000 + bytes as u64 / 100)
    }

    #[test]
    fn situations_11_a_slow_kernel_moves_its_own_threshold_alone() {
        let slow: fn(&Launch, &[&Buffer]) -> Duration = |launch, buffers| {
            let slow = if launch.kernel.key.starts_with("product") { 20_000_000 } else { 0 };
            usual(launch, buffers) + Duration::from_nanos(slow)
        };
        let (before, after) = (tuned(usual), tuned(slow));
        assert!(before.product.is_some_and(|n| n < 1 << 27), "{before:?}");
        assert_eq!(after.product, None, "its device is slower than the lanes at every size");
        // Measured twice, each may lie on the other side of a power of two.
        let near = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => a <= 2 * b && b <= 2 * a,
            (a, b) => a == b,
        };
        for (a, b) in [
            (before.map, after.map),
            (before.wide, after.wide),
            (before.fold, after.fold),
            (before.fill, after.fill),
        ] {
            assert!(near(a, b), "{before:?}, then {after:?}");
        }
    }

    /// A column counted as a quarter of a launch, which was a quarter of the round trip.
    #[test]
    fn what_waits_inside_a_launch_is_measured() {
        let slow: fn(&Launch, &[&Buffer]) -> Duration = |launch, buffers| {
            let columns = |each: u64| each * u64::from(launch.parameters[3] - launch.parameters[2]);
            let waits = match launch.kernel.key.as_str() {
                "triangular panel" => columns(100_000),
                _ => 0,
            };
            usual(launch, buffers) + Duration::from_nanos(waits)
        };
        let (before, after) = (measured(usual), measured(slow));
        // A launch takes 400 us, a column 100 us, and beside other work each takes longer.
        assert!((380.0..4000.0).contains(&after.launch), "{after:?}");
        let [column, row] = [0, 1].map(|at| after.in_turn[at] - before.in_turn[at]);
        assert!((50.0..1000.0).contains(&column), "{before:?}, then {after:?}");
        assert!(row.abs() < column / 2.0, "{before:?}, then {after:?}");
    }

    #[test]
    fn a_product_on_tensor_cores_has_its_own_rate() {
        let extents: [&[usize]; 2] = [&[1000, 100], &[100, 1000]];
        let call = prepared(table::find("matmul").unwrap(), &extents, ElementType::F32).unwrap();
        let mut costs = Costs::defaults(Level::Avx2, 1);
        costs.device = DeviceCosts { floor: 0.0, up: f64::INFINITY, down: f64::INFINITY, ..WGPU };
        (costs.device.product, costs.device.tensor) = ([4e-6, 8e-6], [2e-6, 1e-6]);
        let time = |mode| costs.device_time(&call, &Standing::default(), mode).round();
        let tensor = |rounding| Some(Mode::Tensor(rounding));
        let modes =
            [None, Some(Mode::WithoutCores), tensor(Rounding::Tf32), tensor(Rounding::Bf16)];
        assert_eq!(modes.map(time), [400.0, 400.0, 200.0, 100.0]);
    }

    #[test]
    fn thresholds_follow_from_the_times() {
        let lanes = lanes_costs(Level::Avx2);
        let device = DeviceCosts { floor: 16.0, up: 30e3, down: 30e3, memory: 200e3, ..WGPU };
        let t = thresholds(&device, &lanes);
        // 16 us against 30 ps a multiply-add: between 2^19 and 2^20 of them.
        assert_eq!(t.product, Some(1 << 20));
        assert!(t.map.is_some_and(|n| n <= 1 << 15), "{t:?}");
        let slow = DeviceCosts { up: 1e3, down: 1e3, ..device };
        let t = thresholds(&slow, &lanes);
        assert_eq!((t.wide, t.fold), (None, None));
    }
}
