//! Times of products that were measured on the lanes and on a library, by shape: whoever is
//! faster for a square is not always faster for a stack of small ones or for a matrix and a
//! vector. Between two measured sizes a time lies on the straight line of their logarithms; below
//! the first it stays, beyond the last it grows with the work.

/// The shapes that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No extent is small.
    Square,
    /// The left operand has few rows.
    FewRows,
    /// The right operand has few columns.
    FewColumns,
    /// The inner extent is small.
    ShortInner,
    /// Many products in one call.
    Stack,
    /// A matrix and a vector, rows along memory.
    Vector,
    /// The same with the matrix transposed.
    VectorTurned,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Square,
        Kind::FewRows,
        Kind::FewColumns,
        Kind::ShortInner,
        Kind::Stack,
        Kind::Vector,
        Kind::VectorTurned,
    ];

    /// The name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Square => "square",
            Kind::FewRows => "few-rows",
            Kind::FewColumns => "few-columns",
            Kind::ShortInner => "short-inner",
            Kind::Stack => "stack",
            Kind::Vector => "vector",
            Kind::VectorTurned => "vector-turned",
        }
    }
}

/// An extent up to this many is small: a tile of the lanes has 12 rows and 16 or 32 columns.
const FEW: usize = 16;

/// A product call as the curves see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub kind: Kind,
    /// Products in the call.
    pub batch: usize,
    /// Multiply-adds of one of them.
    pub units: f64,
}

impl Place {
    /// `extents` are rows, columns and inner extent of one product of the call.
    pub fn of(batch: usize, extents: [usize; 3], folds: bool, turned: bool) -> Place {
        let [rows, columns, inner] = extents;
        let units = rows as f64 * columns as f64 * inner as f64;
        // Beside extents as small as itself nothing is small: 4 x 4 x 4 is a square.
        let small = |extent: usize| extent <= FEW && extents.iter().any(|e| *e > 4 * extent);
        let kind = match () {
            () if folds && turned => Kind::VectorTurned,
            () if folds => Kind::Vector,
            () if batch > 1 => Kind::Stack,
            () if small(rows) => Kind::FewRows,
            () if small(columns) => Kind::FewColumns,
            () if small(inner) => Kind::ShortInner,
            () => Kind::Square,
        };
        Place { kind, batch, units }
    }
}

/// One measured size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Multiply-adds of one product.
    pub units: f64,
    /// Microseconds of one product.
    pub lanes: f64,
    pub library: f64,
}

/// The points of every kind, f32 and f64, ascending by units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves(pub [[Vec<Point>; Kind::ALL.len()]; 2]);

impl Curves {
    pub fn is_empty(&self) -> bool {
        self.0.iter().flatten().all(Vec::is_empty)
    }

    pub fn points(&self, width: usize, kind: Kind) -> &[Point] {
        &self.0[width][kind as usize]
    }

    pub fn points_mut(&mut self, width: usize, kind: Kind) -> &mut Vec<Point> {
        &mut self.0[width][kind as usize]
    }

    /// Microseconds of the whole call on the lanes and on the library.
    pub fn times(&self, width: usize, place: Place) -> Option<(f64, f64)> {
        let points = self.points(width, place.kind);
        let (first, last) = (points.first()?, points.last()?);
        let calls = place.batch as f64;
        if place.units <= first.units {
            return Some((first.lanes * calls, first.library * calls));
        }
        if place.units >= last.units {
            let more = place.units / last.units * calls;
            return Some((last.lanes * more, last.library * more));
        }
        let after = points.iter().position(|point| point.units > place.units)?;
        let (low, high) = (points[after - 1], points[after]);
        let along = (place.units / low.units).ln() / (high.units / low.units).ln();
        let between = |low: f64, high: f64| low * (high / low).powf(along) * calls;
        Some((between(low.lanes, high.lanes), between(low.library, high.library)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_told_apart() {
        let kind = |batch, extents| Place::of(batch, extents, false, false).kind;
        assert_eq!(kind(1, [64, 64, 64]), Kind::Square);
        assert_eq!(kind(1, [4, 4, 4]), Kind::Square);
        assert_eq!(kind(1, [4, 300, 300]), Kind::FewRows);
        assert_eq!(kind(1, [300, 2, 300]), Kind::FewColumns);
        assert_eq!(kind(1, [300, 300, 8]), Kind::ShortInner);
        assert_eq!(kind(9, [300, 300, 8]), Kind::Stack);
        assert_eq!(Place::of(1, [300, 1, 300], true, false).kind, Kind::Vector);
        assert_eq!(Place::of(1, [1, 300, 300], true, true).kind, Kind::VectorTurned);
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
        }
    }

    #[test]
    fn times_between_and_beyond_the_measured_sizes() {
        let mut curves = Curves::default();
        let place = |units, batch| Place { kind: Kind::Square, batch, units };
        assert_eq!(curves.times(0, place(10.0, 1)), None);
        *curves.points_mut(0, Kind::Square) = vec![
            Point { units: 1e2, lanes: 1.0, library: 2.0 },
            Point { units: 1e4, lanes: 100.0, library: 50.0 },
        ];
        assert_eq!(curves.times(0, place(10.0, 1)), Some((1.0, 2.0)));
        assert_eq!(curves.times(0, place(2e4, 3)), Some((600.0, 300.0)));
        let (lanes, library) = curves.times(0, place(1e3, 1)).unwrap();
        assert!((lanes - 10.0).abs() < 1e-9 && (library - 10.0).abs() < 1e-9);
        assert_eq!(curves.times(1, place(1e3, 1)), None);
        assert!(!curves.is_empty());
    }
}
