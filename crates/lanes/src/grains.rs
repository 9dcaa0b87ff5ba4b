//! From which size threads help, and how little a piece may hold, for each kind of work. The
//! defaults are the reference's (spec acceleration 11); `rung tune` measures this machine's, and
//! `rung-ops` passes them in.

use crate::Level;

/// A kind of work, as threads see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// A few instructions an element: add, compare, sqrt.
    Light,
    /// An elementary function an element.
    Elementary,
    /// A step of a fold an element.
    Fold,
    /// Multiply-adds of a product in f32, or narrower.
    ProductSingle,
    /// Multiply-adds of a product in f64.
    ProductDouble,
    /// Multiply-adds of a product of 64-bit integers.
    ProductInteger,
    /// Multiply-adds of a factorisation or a substitution.
    Triangular,
    /// Numbers that Fourier transforms write.
    Transform,
    /// Copied elements.
    Copy,
    /// Sorted elements.
    Sort,
    /// A step of a scan an element.
    Scan,
    /// Keys searched among sorted ones.
    Search,
    /// Elements added where a position says, or counted.
    Scatter,
    /// Draws of a generator.
    Fill,
}

impl Work {
    /// Every kind, in the order of reports.
    pub const ALL: [Work; 14] = [
        Work::Light,
        Work::Elementary,
        Work::Fold,
        Work::ProductSingle,
        Work::ProductDouble,
        Work::ProductInteger,
        Work::Triangular,
        Work::Transform,
        Work::Copy,
        Work::Sort,
        Work::Scan,
        Work::Search,
        Work::Scatter,
        Work::Fill,
    ];

    /// The name in reports and files: `product-f32`.
    pub fn name(self) -> &'static str {
        match self {
            Work::Light => "light",
            Work::Elementary => "elementary",
            Work::Fold => "fold",
            Work::ProductSingle => "product-f32",
            Work::ProductDouble => "product-f64",
            Work::ProductInteger => "product-i64",
            Work::Triangular => "triangular",
            Work::Transform => "transform",
            Work::Copy => "copy",
            Work::Sort => "sort",
            Work::Scan => "scan",
            Work::Search => "search",
            Work::Scatter => "scatter",
            Work::Fill => "fill",
        }
    }

    /// What is counted.
    pub fn unit(self) -> &'static str {
        match self {
            Work::ProductSingle | Work::ProductDouble | Work::ProductInteger | Work::Triangular => {
                "multiply-adds"
            }
            Work::Fill => "draws",
            _ => "elements",
        }
    }

    /// The products of elements of this many bytes.
    pub fn product(bytes: usize) -> Work {
        if bytes > 4 { Work::ProductDouble } else { Work::ProductSingle }
    }
}

/// When a call is cut into pieces, in the unit of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// The smallest call that threads share.
    pub threshold: usize,
    /// The least that a piece holds.
    pub piece: usize,
}

/// The grain of every kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grains([Grain; Work::ALL.len()]);

impl Grains {
    /// Every call in pieces as small as they can be: for tests of what threads share.
    pub const FINEST: Grains = Grains([Grain { threshold: 1, piece: 1 }; Work::ALL.len()]);

    /// The defaults. Products stand above the reference's 2^15: 32 x 32 x 32 takes 0.7 us with
    /// 512-bit f32 and took 1.4 on two threads, so the threshold is some 10 us of work, and a
    /// piece has a quarter of it.
    pub fn of(level: Level) -> Grains {
        let [single, double] = match level {
            Level::Portable => [15, 15],
            Level::Avx2 => [19, 18],
            Level::Avx512 => [20, 19],
        };
        Grains(Work::ALL.map(|work| {
            let threshold = match work {
                Work::Light | Work::Copy | Work::Scan | Work::Scatter => 16,
                Work::Fold => 15,
                Work::Sort | Work::Transform => 14,
                Work::ProductInteger => 17,
                Work::Triangular => 18,
                Work::Elementary | Work::Fill => 13,
                // A search takes 10 to 50 ns.
                Work::Search => 12,
                Work::ProductSingle => single,
                Work::ProductDouble => double,
            };
            let piece = match work {
                Work::ProductSingle | Work::ProductDouble => threshold - 2,
                Work::Search => 10,
                // Some 20 us of transforms.
                Work::Sort | Work::Transform => 12,
                Work::ProductInteger | Work::Triangular => 15,
                Work::Scatter => 14,
                _ => 13,
            };
            Grain { threshold: 1 << threshold, piece: 1 << piece }
        }))
    }

    /// The grain of one kind.
    pub fn get(&self, work: Work) -> Grain {
        self.0[work as usize]
    }

    /// Replaces the grain of one kind.
    pub fn set(&mut self, work: Work, grain: Grain) {
        self.0[work as usize] = grain;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_reference() {
        let grains = Grains::of(Level::Portable);
        let threshold = |work| grains.get(work).threshold;
        assert_eq!(threshold(Work::Light), 65_536);
        assert_eq!(threshold(Work::Elementary), 8192);
        assert_eq!(threshold(Work::product(4)), 32_768);
        assert_eq!(Grains::of(Level::Avx512).get(Work::product(8)).threshold, 1 << 19);
        for (at, work) in Work::ALL.into_iter().enumerate() {
            assert_eq!(work as usize, at);
            assert!(grains.get(work).piece <= grains.get(work).threshold);
        }
    }
}
