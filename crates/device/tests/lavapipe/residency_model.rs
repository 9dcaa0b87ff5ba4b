//! Random programs over resident arrays against a plain model of the host: the bits of every read,
//! the bytes of every move, and nothing left at the end.
//!
//! The model holds plain numbers and keeps the rules of residency in its own few lines: least
//! recently used first, clean before dirty, dirty ones come home.

use crate::residency::{residency, subtract};
use rung_array::{Array, Number, SliceSpec};
use rung_base::Shape;
use rung_device::Moved;

const SEEDS: u64 = 12;
const STEPS: usize = 400;
const ROWS: usize = 6;
const COLUMNS: usize = 5;
const BYTES: u64 = (ROWS * COLUMNS * 8) as u64;
/// Room for five of the matrices.
const BUDGET: u64 = 5 * BYTES + 8;

/// splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Small numbers, signed zeros, infinities and NaN.
    fn number(&mut self) -> f64 {
        match self.below(12) {
            0 => -0.0,
            1 => f64::INFINITY,
            2 => f64::NAN,
            3 => 5e-324,
            _ => self.below(1000) as f64 / 8.0 - 60.0,
        }
    }
}

/// One storage of the model.
#[derive(Clone, Default)]
struct Bytes {
    numbers: Vec<f64>,
    /// The array has them.
    here: bool,
    /// Brought home to make room; the array does not know yet.
    parked: bool,
    there: bool,
    /// The device was sent them, or made them.
    known: bool,
    used: u64,
    owners: usize,
}

#[derive(Default)]
struct Model {
    storages: Vec<Bytes>,
    clock: u64,
    moved: Moved,
}

impl Model {
    fn new_storage(&mut self, numbers: Vec<f64>, here: bool) -> usize {
        self.storages.push(Bytes { numbers, here, owners: 1, ..Bytes::default() });
        self.storages.len() - 1
    }

    fn resident(&self) -> u64 {
        self.storages.iter().filter(|s| s.there).count() as u64 * BYTES
    }

    /// Room for one more, beside those in use; false where there is none.
    fn make_room(&mut self, in_use: &[usize]) -> bool {
        while self.resident() + BYTES > BUDGET {
            let oldest = |clean: bool| {
                let all = self.storages.iter().enumerate();
                let fits = all.filter(|(i, s)| {
                    s.there && !in_use.contains(i) && (s.here || s.parked) == clean
                });
                fits.min_by_key(|(_, s)| s.used).map(|(i, _)| i)
            };
            let clean = oldest(true);
            let Some(i) = clean.or_else(|| oldest(false)) else { return false };
            self.storages[i].there = false;
            self.moved.evictions += 1;
            if clean.is_none() {
                self.storages[i].parked = true;
                self.moved.down += BYTES;
            }
        }
        true
    }

    /// Operand `i` is there.
    fn carry(&mut self, i: usize, in_use: &mut Vec<usize>) {
        if !self.storages[i].there {
            assert!(self.storages[i].here || self.storages[i].parked);
            self.storages[i].here = true;
            assert!(self.make_room(in_use));
            self.moved.up += BYTES;
            self.moved.again += if self.storages[i].known { BYTES } else { 0 };
            let storage = &mut self.storages[i];
            (storage.there, storage.known) = (true, true);
        }
        in_use.push(i);
    }

    fn touch(&mut self, i: usize) {
        self.clock += 1;
        self.storages[i].used = self.clock;
    }

    /// The array of storage `i` is read.
    fn read(&mut self, i: usize) {
        let storage = &mut self.storages[i];
        if storage.here {
            return;
        }
        storage.here = true;
        if !storage.parked {
            self.moved.down += BYTES;
            self.touch(i);
        }
    }

    fn drop_one(&mut self, i: usize) {
        self.storages[i].owners -= 1;
        if self.storages[i].owners == 0 {
            self.storages[i].there = false;
        }
    }

    /// The storage that a write to one of `i`'s arrays goes to: its own, or a copy.
    fn for_writing(&mut self, i: usize, all: bool) -> usize {
        let own = self.storages[i].owners == 1;
        if !all {
            self.read(i);
        }
        let numbers = self.storages[i].numbers.clone();
        if own && (!all || self.storages[i].here) {
            let storage = &mut self.storages[i];
            (storage.there, storage.known, storage.parked) = (false, false, false);
            return i;
        }
        self.drop_one(i);
        self.new_storage(numbers, true)
    }
}

/// A view of a storage: turned or not, rows reversed or not.
#[derive(Clone, Copy)]
struct View {
    storage: usize,
    turned: bool,
    reversed: bool,
}

impl View {
    /// In the order of a (ROWS, COLUMNS) matrix, whose transpose a turned view is.
    fn numbers(self, model: &Model) -> Vec<f64> {
        let numbers = &model.storages[self.storage].numbers;
        let row = |i: usize| if self.reversed { ROWS - 1 - i } else { i };
        let at = |i: usize, j: usize| numbers[row(i) * COLUMNS + j];
        match self.turned {
            false => (0..ROWS * COLUMNS).map(|k| at(k / COLUMNS, k % COLUMNS)).collect(),
            true => (0..ROWS * COLUMNS).map(|k| at(k % ROWS, k / ROWS)).collect(),
        }
    }
}

struct Program {
    random: Random,
    residency: rung_device::Residency,
    model: Model,
    arrays: Vec<(Array, View)>,
}

impl Program {
    fn pick(&mut self) -> usize {
        let count = self.arrays.len();
        self.random.below(count)
    }

    fn fresh(&mut self) {
        let numbers: Vec<f64> = (0..ROWS * COLUMNS).map(|_| self.random.number()).collect();
        let shape = Shape::new([ROWS, COLUMNS]).unwrap();
        let array = Array::from_slice(&numbers, shape).unwrap();
        let storage = self.model.new_storage(numbers, true);
        self.arrays.push((array, View { storage, turned: false, reversed: false }));
    }

    fn view(&mut self) {
        let i = self.pick();
        let (array, mut view) = self.arrays[i].clone();
        let array = match self.random.below(3) {
            0 => array,
            1 => {
                view.turned = !view.turned;
                array.transpose(&[1, 0]).unwrap()
            }
            _ => {
                let back = SliceSpec { start: None, end: None, step: -1 };
                let specs = [SliceSpec::ALL, back];
                view.reversed = !view.reversed;
                let specs = if view.turned { &specs[..] } else { &specs[1..] };
                array.slice(specs).unwrap()
            }
        };
        self.model.storages[view.storage].owners += 1;
        self.arrays.push((array, view));
    }

    fn compute(&mut self) {
        let i = self.pick();
        let alike = |(_, v): &(Array, View)| v.turned == self.arrays[i].1.turned;
        let fitting: Vec<usize> =
            (0..self.arrays.len()).filter(|&j| alike(&self.arrays[j])).collect();
        let j = fitting[self.random.below(fitting.len())];
        let ((a, x), (b, y)) = (self.arrays[i].clone(), self.arrays[j].clone());
        let array = subtract(&self.residency, &a, &b);
        let pairs = x.numbers(&self.model).into_iter().zip(y.numbers(&self.model));
        let numbers: Vec<f64> = pairs.map(|(x, y)| x - y).collect();
        let mut in_use = Vec::new();
        self.model.carry(x.storage, &mut in_use);
        self.model.carry(y.storage, &mut in_use);
        assert!(self.model.make_room(&in_use));
        let storage = self.model.new_storage(numbers, false);
        (self.model.storages[storage].there, self.model.storages[storage].known) = (true, true);
        self.model.touch(storage);
        self.model.touch(x.storage);
        self.model.touch(y.storage);
        // The result is packed in its own order, which becomes that of a matrix of the first shape.
        let flat = array.reshape(Shape::new([ROWS, COLUMNS]).unwrap()).unwrap();
        self.arrays.push((flat, View { storage, turned: false, reversed: false }));
    }

    fn read(&mut self) {
        let i = self.pick();
        let (array, view) = self.arrays[i].clone();
        self.model.read(view.storage);
        let got = array.to_numbers().unwrap();
        let want = view.numbers(&self.model);
        let same = |(got, want): (&Number, &f64)| {
            got.to_f64().to_bits() == want.to_bits() || got.to_f64().is_nan() && want.is_nan()
        };
        assert!(got.iter().zip(&want).all(same), "got {got:?}, want {want:?}");
    }

    fn write_part(&mut self) {
        let i = self.pick();
        let (row, column, number) =
            (self.random.below(ROWS), self.random.below(COLUMNS), self.random.number());
        let (array, view) = &mut self.arrays[i];
        let index = match view.turned {
            false => [row as i64, column as i64],
            true => [column as i64, row as i64],
        };
        array.set(&index, Number::F64(number)).unwrap();
        let before = view.storage;
        let numbers = view.numbers(&self.model);
        view.storage = self.model.for_writing(before, false);
        if view.storage != before {
            // A copy is packed in the view's own order.
            self.repack(i, numbers);
        }
        let view = self.arrays[i].1;
        let stored = if view.reversed { ROWS - 1 - row } else { row };
        self.model.storages[view.storage].numbers[stored * COLUMNS + column] = number;
    }

    /// The model's storage of array `i` is new, and holds these numbers in the view's order.
    fn repack(&mut self, i: usize, numbers: Vec<f64>) {
        let view = &mut self.arrays[i].1;
        view.reversed = false;
        let packed = match view.turned {
            false => numbers,
            // As rows of the matrix that the view turns.
            true => {
                let at = |k: usize| numbers[k % COLUMNS * ROWS + k / COLUMNS];
                (0..ROWS * COLUMNS).map(at).collect()
            }
        };
        self.model.storages[view.storage].numbers = packed;
    }

    fn write_all(&mut self) {
        let i = self.pick();
        let view = self.arrays[i].1;
        // In place only where the elements lie in order; the model knows unturned, unreversed ones.
        if view.turned || view.reversed {
            return;
        }
        let numbers: Vec<f64> = (0..ROWS * COLUMNS).map(|_| self.random.number()).collect();
        let (array, view) = &mut self.arrays[i];
        array.overwrite::<f64>().unwrap().copy_from_slice(&numbers);
        view.storage = self.model.for_writing(view.storage, true);
        self.model.storages[view.storage].numbers = numbers;
    }

    fn forget(&mut self) {
        let i = self.pick();
        let (_, view) = self.arrays.swap_remove(i);
        self.model.drop_one(view.storage);
    }

    fn step(&mut self) {
        match self.random.below(20) {
            _ if self.arrays.len() < 3 => self.fresh(),
            0..2 => self.fresh(),
            2..5 => self.view(),
            5..12 => self.compute(),
            12..14 => self.read(),
            14..16 => self.write_part(),
            16 => self.write_all(),
            _ => self.forget(),
        }
        assert_eq!(self.residency.moved(), self.model.moved);
        assert_eq!(self.residency.resident(), self.model.resident());
        assert!(self.residency.resident() <= BUDGET);
    }
}

#[test]
fn random_programs_agree_with_a_model_of_the_host() {
    let seeds = match std::env::var("RUNG_SEED").ok().and_then(|seed| seed.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 1..SEEDS + 1,
    };
    for seed in seeds {
        println!("seed {seed} (RUNG_SEED={seed} runs it alone)");
        let mut program = Program {
            random: Random(seed),
            residency: residency(BUDGET),
            model: Model::default(),
            arrays: Vec::new(),
        };
        (0..STEPS).for_each(|_| program.step());
        while !program.arrays.is_empty() {
            program.read();
            program.forget();
        }
        assert_eq!(program.residency.resident(), 0);
        assert_eq!(program.residency.moved(), program.model.moved);
    }
}
