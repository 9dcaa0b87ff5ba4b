//! Reads a cost file. Everything in it is checked, because it decides where a program runs: a
//! mistake is named with its line, and the whole file is ignored.

use super::Entry;
use crate::costs::Costs;
use crate::costs::curve::{Kind, Point};
use rung_lanes::{Grain, Work};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A line and what is wrong in it.
type Problem = (usize, String);
type Checked<T> = Result<T, Problem>;
type Item<'a> = Spanned<DeValue<'a>>;

/// Most points of a curve.
const MOST_POINTS: usize = 64;
/// Beyond this a number is no time, rate or size of anything.
const MOST: f64 = 1e18;

struct Reader<'a> {
    text: &'a str,
}

/// The entries of a file's text.
pub fn entries(text: &str, defaults: &Costs) -> Checked<Vec<Entry>> {
    let reader = Reader { text };
    let table = DeTable::parse(text).map_err(|e| {
        let line = reader.line(e.span().map_or(0, |span| span.start));
        (line, e.message().lines().next().unwrap_or("not TOML").to_string())
    })?;
    let mut all = Vec::new();
    let mut of_ours = false;
    for (key, value) in table.get_ref() {
        let line = reader.line(key.span().start);
        match key.get_ref().as_ref() {
            "schema" if reader.text_of(value) == "1" => of_ours = true,
            "schema" => return Err((line, "schema: made by another version".into())),
            "measured" => {
                let DeValue::Array(tables) = value.get_ref() else {
                    return Err((line, "measured: expected tables".into()));
                };
                for table in tables {
                    all.push(reader.entry(reader.table("measured", table)?, defaults)?);
                }
            }
            other => return Err((line, format!("unknown key {other}"))),
        }
    }
    match of_ours {
        true => Ok(all),
        false => Err((1, "schema: expected schema = 1, got none".into())),
    }
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset.min(self.text.len())]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    }

    /// The value as it stands in the file.
    fn text_of(&self, value: &Item) -> &str {
        self.text.get(value.span()).unwrap_or_default()
    }

    fn wrong<T>(&self, name: &str, wanted: &str, value: &Item) -> Checked<T> {
        let got: String = self.text_of(value).chars().take(40).collect();
        let got = got.lines().next().unwrap_or_default();
        Err((self.line(value.span().start), format!("{name}: expected {wanted}, got {got}")))
    }

    fn table<'t, 'a>(&self, name: &str, value: &'t Item<'a>) -> Checked<&'t DeTable<'a>> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err((self.line(value.span().start), format!("{name}: expected a table"))),
        }
    }

    fn entry(&self, table: &DeTable, defaults: &Costs) -> Checked<Entry> {
        let mut entry = Entry { key: Default::default(), costs: defaults.clone() };
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let (known, costs) = (&mut entry.key, &mut entry.costs);
            match name {
                "machine" => known.machine = self.string(name, value)?,
                "threads" => known.threads = self.count(name, value)? as usize,
                "library" => known.library = Some(self.string(name, value)?),
                "device" => known.device = Some(self.string(name, value)?),
                "lanes" => self.lanes(self.table(name, value)?, costs)?,
                "grains" => self.grains(self.table(name, value)?, costs)?,
                "f32" => self.products(self.table(name, value)?, 0, costs)?,
                "f64" => self.products(self.table(name, value)?, 1, costs)?,
                "link" => self.link(self.table(name, value)?, costs)?,
                "offer" => self.offer(self.table(name, value)?, costs)?,
                other => return Err((self.line(key.span().start), unknown(other))),
            }
        }
        Ok(entry)
    }

    fn lanes(&self, table: &DeTable, costs: &mut Costs) -> Checked<()> {
        for (key, value) in table {
            let (name, lanes) = (key.get_ref().as_ref(), &mut costs.lanes);
            match name {
                "product-ps" => lanes.product = self.pair(name, value, 1e-6)?,
                "elementary-ps" => lanes.elementary = self.pair(name, value, 1e-6)?,
                "memory-gbs" => lanes.memory = self.pair(name, value, 1e3)?,
                "region-us" => lanes.region = self.number(name, value)?,
                other => return Err((self.line(key.span().start), unknown(other))),
            }
        }
        Ok(())
    }

    fn grains(&self, table: &DeTable, costs: &mut Costs) -> Checked<()> {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let line = self.line(key.span().start);
            let Some(work) = Work::ALL.into_iter().find(|work| work.name() == name) else {
                return Err((line, unknown(name)));
            };
            let DeValue::Array(pair) = value.get_ref() else {
                return self.wrong(name, "two counts", value);
            };
            let [threshold, piece] = &pair[..] else {
                return Err((line, format!("{name}: expected two counts")));
            };
            let threshold = self.size(name, threshold)?.map_or(usize::MAX, |size| size as usize);
            let piece = self.count(name, piece)? as usize;
            costs.lanes.grains.set(work, Grain { threshold, piece });
        }
        Ok(())
    }

    fn products(&self, table: &DeTable, width: usize, costs: &mut Costs) -> Checked<()> {
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let line = self.line(key.span().start);
            let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == name) else {
                return Err((line, unknown(name)));
            };
            let DeValue::Array(rows) = value.get_ref() else {
                return self.wrong(name, "rows of three numbers", value);
            };
            if rows.len() > MOST_POINTS {
                return Err((line, format!("{name}: more than {MOST_POINTS} sizes")));
            }
            let points =
                rows.iter().map(|row| self.point(name, row)).collect::<Checked<Vec<_>>>()?;
            if !points.is_sorted_by(|a, b| a.units < b.units) {
                return Err((line, format!("{name}: sizes must grow")));
            }
            *costs.library.curves.points_mut(width, kind) = points;
        }
        Ok(())
    }

    fn point(&self, name: &str, row: &Item) -> Checked<Point> {
        let DeValue::Array(numbers) = row.get_ref() else {
            return self.wrong(name, "three numbers", row);
        };
        let [units, lanes, library] = &numbers[..] else {
            let line = self.line(row.span().start);
            return Err((line, format!("{name}: expected three numbers")));
        };
        Ok(Point {
            units: self.number(name, units)?,
            lanes: self.number(name, lanes)?,
            library: self.number(name, library)?,
        })
    }

    fn link(&self, table: &DeTable, costs: &mut Costs) -> Checked<()> {
        for (key, value) in table {
            let (name, device) = (key.get_ref().as_ref(), &mut costs.device);
            match name {
                "floor-us" => device.floor = self.number(name, value)?,
                "launch-us" => device.launch = self.number(name, value)?,
                "column-row-us" => device.in_turn = self.pair(name, value, 1.0)?,
                "up-down-gbs" => [device.up, device.down] = self.pair(name, value, 1e3)?,
                "product-ps" => device.product = self.pair(name, value, 1e-6)?,
                "tensor-ps" => device.tensor = self.pair(name, value, 1e-6)?,
                "elementary-ps" => device.elementary = self.pair(name, value, 1e-6)?,
                "memory-gbs" => device.memory = self.number(name, value)? * 1e3,
                "fold-cells" => device.fold_cells = self.count(name, value)?,
                "gemv" => device.gemv = self.count(name, value)?,
                other => return Err((self.line(key.span().start), unknown(other))),
            }
        }
        Ok(())
    }

    fn offer(&self, table: &DeTable, costs: &mut Costs) -> Checked<()> {
        for (key, value) in table {
            let (name, offer) = (key.get_ref().as_ref(), &mut costs.device.thresholds);
            match name {
                "product" => offer.product = self.size(name, value)?,
                "map" => offer.map = self.size(name, value)?,
                "wide" => offer.wide = self.size(name, value)?,
                "fold" => offer.fold = self.size(name, value)?,
                "fill" => offer.fill = self.size(name, value)?,
                other => return Err((self.line(key.span().start), unknown(other))),
            }
        }
        Ok(())
    }

    fn string(&self, name: &str, value: &Item) -> Checked<String> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => self.wrong(name, "a string", value),
        }
    }

    /// A whole number from 1.
    fn count(&self, name: &str, value: &Item) -> Checked<u64> {
        let number = match value.get_ref() {
            DeValue::Integer(_) => self.text_of(value).replace('_', "").parse::<u64>().ok(),
            _ => None,
        };
        match number.filter(|n| (1..=MOST as u64).contains(n)) {
            Some(number) => Ok(number),
            None => self.wrong(name, "a count", value),
        }
    }

    /// A count, or "never".
    fn size(&self, name: &str, value: &Item) -> Checked<Option<u64>> {
        match value.get_ref() {
            DeValue::String(text) if text.as_ref() == "never" => Ok(None),
            DeValue::String(_) => self.wrong(name, "a count or \"never\"", value),
            _ => self.count(name, value).map(Some),
        }
    }

    fn number(&self, name: &str, value: &Item) -> Checked<f64> {
        let number = match value.get_ref() {
            DeValue::Integer(_) | DeValue::Float(_) => {
                self.text_of(value).replace('_', "").parse::<f64>().ok()
            }
            _ => None,
        };
        match number.filter(|x| *x > 0.0 && *x < MOST) {
            Some(number) => Ok(number),
            None => self.wrong(name, "a positive number", value),
        }
    }

    fn pair(&self, name: &str, value: &Item, unit: f64) -> Checked<[f64; 2]> {
        let DeValue::Array(pair) = value.get_ref() else {
            return self.wrong(name, "two numbers", value);
        };
        let [first, second] = &pair[..] else {
            let line = self.line(value.span().start);
            return Err((line, format!("{name}: expected two numbers")));
        };
        Ok([self.number(name, first)? * unit, self.number(name, second)? * unit])
    }
}

fn unknown(key: &str) -> String {
    format!("unknown key {key}")
}
