//! Hash tables that iterate in the order of insertion, for the tests `eq eql equal equalp`.
//!
//! Entries lie in a vector in order of insertion; an index maps a hash to positions. Removed
//! entries leave a gap that is squeezed out when half the vector is gaps. Hashing and comparing
//! are in `equality`; the language's functions in `library::tables`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use smallvec::SmallVec;

use crate::equality;
use crate::value::Value;

/// How keys are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// `eq`; numbers and characters compare by value, as under `eql`.
    Eq,
    /// `eql`.
    Eql,
    /// `equal`.
    Equal,
    /// `equalp`.
    Equalp,
}

impl Test {
    /// Whether two values are the same under the test.
    pub fn same(self, a: &Value, b: &Value) -> bool {
        match self {
            Test::Eq | Test::Eql => a.eql(b),
            Test::Equal => equality::equal(a, b),
            Test::Equalp => equality::equalp(a, b),
        }
    }

    fn hash(self, key: &Value) -> u64 {
        match self {
            Test::Eq | Test::Eql => equality::hash_eql(key),
            Test::Equal => equality::hash_equal(key),
            Test::Equalp => equality::hash_equalp(key),
        }
    }
}

/// The hashes are mixed already.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _bytes: &[u8]) {}
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// What an entry takes: two values, the mark of a gap, and a place in the index.
const ENTRY: usize = 72;

#[derive(Default)]
struct Contents {
    /// `None` is a gap.
    entries: Vec<Option<(Value, Value)>>,
    index: HashMap<u64, SmallVec<[u32; 2]>, BuildHasherDefault<Mixed>>,
    count: usize,
}

/// A hash table.
pub struct HashTable {
    /// How keys are compared.
    pub test: Test,
    contents: RefCell<Contents>,
}

impl HashTable {
    /// An empty table.
    pub fn new(test: Test) -> HashTable {
        HashTable { test, contents: RefCell::default() }
    }

    /// How many entries there are.
    pub fn count(&self) -> usize {
        self.contents.borrow().count
    }

    fn position(&self, contents: &Contents, hash: u64, key: &Value) -> Option<usize> {
        let candidates = contents.index.get(&hash)?;
        let found = candidates.iter().find(|position| {
            let entry = contents.entries[**position as usize].as_ref();
            entry.is_some_and(|entry| self.test.same(&entry.0, key))
        });
        found.map(|position| *position as usize)
    }

    /// The value of a key.
    pub fn get(&self, key: &Value) -> Option<Value> {
        let contents = self.contents.borrow();
        let position = self.position(&contents, self.test.hash(key), key)?;
        contents.entries[position].as_ref().map(|entry| entry.1.clone())
    }

    /// Sets the value of a key; a new key goes to the end of the order.
    pub fn set(&self, key: Value, value: Value) {
        let hash = self.test.hash(&key);
        let mut contents = self.contents.borrow_mut();
        if let Some(position) = self.position(&contents, hash, &key) {
            let entry = contents.entries[position].as_mut();
            let old = entry.map(|entry| std::mem::replace(&mut entry.1, value));
            drop(contents);
            drop(old);
            return;
        }
        let position = contents.entries.len() as u32;
        contents.entries.push(Some((key, value)));
        contents.index.entry(hash).or_default().push(position);
        contents.count += 1;
        let entries = contents.entries.len();
        drop(contents);
        // Told to the collector each time it has doubled.
        if entries.is_power_of_two() && entries >= 1024 {
            crate::heap::charge(entries / 2 * ENTRY);
        }
    }

    /// Removes a key; whether it was there.
    pub fn remove(&self, key: &Value) -> bool {
        let hash = self.test.hash(key);
        let mut contents = self.contents.borrow_mut();
        let Some(position) = self.position(&contents, hash, key) else { return false };
        let old = contents.entries[position].take();
        if let Some(candidates) = contents.index.get_mut(&hash) {
            candidates.retain(|candidate| *candidate as usize != position);
        }
        contents.count -= 1;
        if contents.entries.len() > 32 && contents.count * 2 < contents.entries.len() {
            self.squeeze(&mut contents);
        }
        drop(contents);
        drop(old);
        true
    }

    fn squeeze(&self, contents: &mut Contents) {
        contents.entries.retain(Option::is_some);
        contents.index.clear();
        for position in 0..contents.entries.len() {
            let hash = contents.entries[position].as_ref().map(|entry| self.test.hash(&entry.0));
            let Some(hash) = hash else { continue };
            contents.index.entry(hash).or_default().push(position as u32);
        }
    }

    /// Removes everything.
    pub fn clear(&self) {
        drop(self.contents.take());
    }

    /// All keys and values, in order of insertion.
    pub fn entries(&self) -> Vec<(Value, Value)> {
        self.contents.borrow().entries.iter().flatten().cloned().collect()
    }

    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Value)) {
        // Nothing while an entry is being set: then they count as held from outside.
        let Ok(contents) = self.contents.try_borrow() else { return };
        for (key, value) in contents.entries.iter().flatten() {
            visit(key);
            visit(value);
        }
    }

    /// Bytes of the entries and their index, which the collector counts.
    pub(crate) fn weight(&self) -> usize {
        self.contents.try_borrow().map_or(0, |contents| contents.entries.len() * ENTRY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_removal() {
        let table = HashTable::new(Test::Equal);
        for i in 0..100 {
            table.set(Value::string(&i.to_string()), Value::Fixnum(i));
        }
        for i in 0..95 {
            assert!(table.remove(&Value::string(&i.to_string())));
        }
        assert!(!table.remove(&Value::string("3")));
        let left: Vec<_> = table.entries().iter().filter_map(|e| e.1.as_fixnum()).collect();
        assert_eq!(left, [95, 96, 97, 98, 99]);
        assert_eq!(table.get(&Value::string("97")).and_then(|v| v.as_fixnum()), Some(97));
    }
}
