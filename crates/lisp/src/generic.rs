//! Generic functions and their methods: the data, and the cache that finds what to run for the
//! classes of a call's arguments. What fills the cache is in `library::dispatch`, definitions are
//! in `library::generics`.
//!
//! A call is told by the classes of those arguments that some method specialises: the key. Behind
//! a key stands a function that takes the call's own arguments, or the number of a slot to read
//! or write. All keys are in a map, and those of late in a table before it, one to a place. Keys hold
//! for one epoch: each definition of a class begins a new one, each new method empties the cache of
//! its function.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use smallvec::SmallVec;

use crate::class::class_in;
use crate::code::{Function, Parameters};
use crate::heap::Ref;
use crate::native::NativeBody;
use crate::object::{HashTable, Object, Test};
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value};

/// What the classes of a call's arguments are told by: one number per specialised argument.
pub(crate) type Key = SmallVec<[u64; 2]>;

/// Conditions are told by the name of their class...
const CONDITION: u64 = 1 << 32;
/// ... structures and standard instances by their layout...
const LAYOUT: u64 = 2 << 32;
/// ... what an `eql` specialiser names by its number in the table of its position...
pub(crate) const EQL: u64 = 3 << 32;
/// ... things of library packages by where the name of their type stands, everything else by the
/// name of its class.
const FOREIGN: u64 = 1 << 63;

/// What a method applies to, in one argument.
#[derive(Clone)]
pub enum Specialiser {
    /// Instances of the class of that name.
    Class(Symbol),
    /// One value.
    Eql(Value),
}

/// What a method runs.
#[derive(Clone)]
pub enum MethodBody {
    /// A function of the next method (or nil) and the method that gives the method's function.
    Maker(Value),
    /// Reads a slot of the first argument.
    Reader(Symbol),
    /// Writes the first argument to a slot of the second.
    Writer(Symbol),
    /// Code of the language itself.
    Native(NativeBody),
}

/// A method.
pub struct Method {
    /// The name of its generic function.
    pub generic: Value,
    /// `:before` and its like.
    pub qualifiers: Vec<Value>,
    /// One per required parameter.
    pub specialisers: Vec<Specialiser>,
    /// The lambda list without the specialisers.
    pub lambda_list: Value,
    /// Its shape.
    pub parameters: Parameters,
    /// What it runs.
    pub body: MethodBody,
    /// Its documentation string, or nil.
    pub documentation: Value,
    /// It stands in a `defgeneric`, and goes when that is evaluated again.
    pub initial: Cell<bool>,
}

/// The method in an object that is one.
pub(crate) fn method_in(object: &Object) -> &Method {
    match object {
        Object::Method(method) => method,
        _ => unreachable!("only methods are put where methods are kept"),
    }
}

/// Which keywords a call may give.
pub struct Keywords {
    /// How many arguments stand before them.
    pub after: usize,
    /// The keywords; none when any is allowed.
    pub names: Option<Vec<Symbol>>,
    /// Whether anything is checked at all.
    pub checked: bool,
}

/// What runs for a key.
#[derive(Clone)]
pub(crate) enum Effective {
    Function(Ref<Function>),
    /// Reads the slot of that number of the first argument.
    Read(u32),
    /// Writes the slot of that number of the second argument.
    Write(u32),
}

/// What the cache knows of a key.
#[derive(Clone)]
pub(crate) struct Entry {
    pub effective: Effective,
    pub keywords: Rc<Keywords>,
}

/// What a method combination of a program or of the language does.
#[derive(Clone)]
pub(crate) enum Combining {
    /// Calls an operator on the values of all methods; with `true` it gives a single one back.
    Operator(Symbol, bool),
    /// A function that gives a form from the generic function, the methods and the options: the
    /// long form of `define-method-combination`.
    Form(Value),
}

/// How the methods of one call are put together.
#[derive(Clone)]
pub struct Combination {
    /// `standard`, or the name of a combination.
    pub name: Symbol,
    /// Whether the most specific method comes last.
    pub last: bool,
    /// What the generic function gives the combination.
    pub options: Value,
}

/// The methods by the specialiser of their first parameter, and the `eql` specialisers.
#[derive(Default)]
pub struct Methods {
    /// All, in order of definition.
    pub all: Vec<Ref<Object>>,
    /// By the number of the first specialiser.
    pub(crate) buckets: HashMap<u64, Vec<Ref<Object>>>,
    /// For each required parameter: how many methods specialise it.
    pub(crate) specialised: Vec<usize>,
    /// For each required parameter: the values of `eql` specialisers and their numbers.
    pub(crate) values: Vec<Option<Rc<HashTable>>>,
}

/// What a definition says of a generic function.
pub struct GenericDefinition {
    /// The lambda list as written.
    pub lambda_list: Value,
    /// Its shape.
    pub parameters: Parameters,
    /// Its documentation string, or nil.
    pub documentation: Value,
    /// How methods are combined.
    pub combination: Combination,
    /// The required parameters by number, the one that decides first.
    pub order: Vec<usize>,
}

/// The places of the table before the map: at least twice the keys that are known, at most this many,
/// 14 KiB of them.
const MOST_NEAR: usize = 256;

#[derive(Default)]
pub(crate) struct Cache {
    /// What the keys hold for; 0: nothing is known.
    epoch: u64,
    /// The arguments that make the key, with the values of their `eql` specialisers.
    positions: SmallVec<[(usize, Option<Rc<HashTable>>); 2]>,
    minimum: usize,
    maximum: usize,
    /// A power of two of places, or none; a key has one of them.
    near: Vec<Option<(Key, Entry)>>,
    all: HashMap<Key, Entry>,
}

/// A generic function.
pub struct GenericFunction {
    /// A symbol or `(setf SYMBOL)`.
    pub name: Value,
    /// What its definition says.
    pub definition: RefCell<GenericDefinition>,
    /// Its methods.
    pub methods: RefCell<Methods>,
    pub(crate) cache: RefCell<Cache>,
}

impl GenericFunction {
    /// A generic function without methods.
    pub fn new(name: Value, definition: GenericDefinition) -> GenericFunction {
        let required = definition.parameters.required as usize;
        let methods = Methods {
            specialised: vec![0; required],
            values: vec![None; required],
            ..Methods::default()
        };
        GenericFunction {
            name,
            definition: RefCell::new(definition),
            methods: RefCell::new(methods),
            cache: RefCell::default(),
        }
    }

    /// What runs for a call, when that is known already. A call with a wrong number of arguments
    /// is never known.
    #[inline]
    pub(crate) fn find(&self, epoch: u64, arguments: &[Value]) -> Option<Entry> {
        let mut cache = self.cache.borrow_mut();
        let count = arguments.len();
        if cache.epoch != epoch || count < cache.minimum || count > cache.maximum {
            return None;
        }
        if let [(position, None)] = cache.positions[..]
            && let key = class_key(&arguments[position])
            && let Some((known, entry)) = cache.near(&[key])
            && known[0] == key
        {
            return Some(entry.clone());
        }
        let key = cache.key(arguments);
        if let Some((known, entry)) = cache.near(&key)
            && *known == key
        {
            return Some(entry.clone());
        }
        let entry = cache.all.get(&key)?.clone();
        cache.place_near(key, entry.clone());
        Some(entry)
    }

    /// The key of a call, after the cache has been made ready for the epoch.
    pub(crate) fn key(&self, epoch: u64, arguments: &[Value]) -> Key {
        let mut cache = self.cache.borrow_mut();
        if cache.epoch != epoch {
            *cache = self.empty_cache(epoch);
        }
        cache.key(arguments)
    }

    /// Notes what runs for a key.
    pub(crate) fn put(&self, key: Key, entry: Entry) {
        let mut cache = self.cache.borrow_mut();
        cache.all.insert(key.clone(), entry.clone());
        cache.make_room();
        cache.place_near(key, entry);
    }

    /// Forgets all keys.
    pub(crate) fn forget(&self) {
        drop(self.cache.take());
    }

    fn empty_cache(&self, epoch: u64) -> Cache {
        let (definition, methods) = (self.definition.borrow(), self.methods.borrow());
        let (minimum, maximum) = arity(&definition.parameters);
        let specialised = methods.specialised.iter().enumerate().filter(|(_, count)| **count > 0);
        let positions = specialised.map(|(at, _)| (at, methods.values[at].clone()));
        Cache { epoch, positions: positions.collect(), minimum, maximum, ..Cache::default() }
    }
}

/// The fewest and the most arguments.
pub(crate) fn arity(parameters: &Parameters) -> (usize, usize) {
    let positional = usize::from(parameters.required) + usize::from(parameters.optional);
    let open = parameters.rest || parameters.keyed;
    (parameters.required.into(), if open { usize::MAX } else { positional })
}

impl Cache {
    fn key(&self, arguments: &[Value]) -> Key {
        let number = |(at, values): &(usize, Option<Rc<HashTable>>)| {
            let named = values.as_ref().and_then(|values| values.get(&arguments[*at]));
            match named.and_then(|number| number.as_fixnum()) {
                Some(number) => EQL | number as u64,
                None => 0,
            }
        };
        // What an `eql` specialiser names is told by its class as well: that may change.
        let mut key = Key::new();
        for position in &self.positions {
            if position.1.is_some() {
                key.push(number(position));
            }
            key.push(class_key(&arguments[position.0]));
        }
        key
    }

    /// What the place of a key in the table holds.
    #[inline]
    fn near(&self, key: &[u64]) -> Option<&(Key, Entry)> {
        if self.near.is_empty() { None } else { self.near[place(key, self.near.len())].as_ref() }
    }

    fn place_near(&mut self, key: Key, entry: Entry) {
        let place = place(&key, self.near.len());
        self.near[place] = Some((key, entry));
    }

    /// The table grows with the map, up to its limit.
    fn make_room(&mut self) {
        let wanted = (2 * self.all.len()).next_power_of_two().min(MOST_NEAR);
        if self.near.len() < wanted {
            self.near = vec![None; wanted];
            for (key, entry) in &self.all {
                self.near[place(key, wanted)] = Some((key.clone(), entry.clone()));
            }
        }
    }
}

/// The place of a key among `places`, a power of two. Numbers of classes follow each other: the upper
/// half of a product by the golden ratio tells them apart, also in pairs.
#[inline]
fn place(key: &[u64], places: usize) -> usize {
    let mix =
        |sum: u64, part: &u64| (sum.rotate_left(5) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (key.iter().fold(0, mix) >> 32) as usize & (places - 1)
}

impl Methods {
    /// The number of a specialiser of the parameter at a position.
    pub(crate) fn number(&mut self, at: usize, specialiser: &Specialiser) -> u64 {
        match specialiser {
            Specialiser::Class(name) => u64::from(name.0),
            Specialiser::Eql(value) => {
                let fresh = || Rc::new(HashTable::new(Test::Eql));
                let values = self.values[at].get_or_insert_with(fresh);
                let known = values.get(value).and_then(|number| number.as_fixnum());
                let number = known.unwrap_or_else(|| {
                    let number = values.count() as i64;
                    values.set(value.clone(), Value::Fixnum(number));
                    number
                });
                EQL | number as u64
            }
        }
    }

    fn first_number(&mut self, method: &Method) -> u64 {
        match method.specialisers.first().cloned() {
            Some(first) => self.number(0, &first),
            None => 0,
        }
    }

    /// The method with these specialisers and qualifiers.
    pub fn find(&mut self, like: &Method) -> Option<Ref<Object>> {
        let bucket = self.first_number(like);
        let same = |method: &&Ref<Object>| {
            let method = method_in(method);
            let qualifiers = method.qualifiers.iter().zip(&like.qualifiers);
            let specialisers = method.specialisers.iter().zip(&like.specialisers);
            method.qualifiers.len() == like.qualifiers.len()
                && qualifiers.into_iter().all(|(a, b)| a.eql(b))
                && specialisers.into_iter().all(|(a, b)| a.same(b))
        };
        self.buckets.get(&bucket)?.iter().find(same).cloned()
    }

    /// Adds a method in place of one like it.
    pub fn add(&mut self, method: Ref<Object>) {
        let new = method_in(&method);
        if let Some(old) = self.find(new) {
            self.remove(&old);
        }
        for (at, specialiser) in new.specialisers.iter().enumerate() {
            self.number(at, specialiser);
            self.specialised[at] += usize::from(!specialiser.is_any());
        }
        let bucket = self.first_number(new);
        self.buckets.entry(bucket).or_default().push(method.clone());
        self.all.push(method);
    }

    /// Removes a method; whether it was there.
    pub fn remove(&mut self, method: &Ref<Object>) -> bool {
        let bucket = self.first_number(method_in(method));
        let before = self.all.len();
        self.all.retain(|known| !Ref::same(known, method));
        if self.all.len() == before {
            return false;
        }
        if let Some(bucket) = self.buckets.get_mut(&bucket) {
            bucket.retain(|known| !Ref::same(known, method));
        }
        for (at, specialiser) in method_in(method).specialisers.iter().enumerate() {
            self.specialised[at] -= usize::from(!specialiser.is_any());
        }
        true
    }
}

impl Specialiser {
    /// Whether it is the class `t`.
    pub fn is_any(&self) -> bool {
        matches!(self, Specialiser::Class(symbol::T))
    }

    /// Whether both are the same.
    pub fn same(&self, other: &Specialiser) -> bool {
        match (self, other) {
            (Specialiser::Class(a), Specialiser::Class(b)) => a == b,
            (Specialiser::Eql(a), Specialiser::Eql(b)) => a.eql(b),
            _ => false,
        }
    }

    /// As `defmethod` has it.
    pub fn as_written(&self) -> Value {
        match self {
            Specialiser::Class(name) => Value::symbol(*name),
            Specialiser::Eql(value) => {
                crate::value::list([Value::symbol(symbol::EQL), value.clone()])
            }
        }
    }
}

impl Value {
    /// The generic function this is.
    pub fn as_generic(&self) -> Option<&GenericFunction> {
        match self.as_function().map(|function| &**function) {
            Some(Function::Generic(generic)) => Some(generic),
            _ => None,
        }
    }

    /// The method this is.
    pub fn as_method(&self) -> Option<&Method> {
        if let Some(Object::Method(method)) = self.as_object() { Some(method) } else { None }
    }
}

/// What tells the class of a value from others.
#[inline]
pub(crate) fn class_key(value: &Value) -> u64 {
    match value {
        Value::Fixnum(_) => u64::from(symbol::FIXNUM.0),
        Value::Object(object) => match &**object {
            Object::Standard(it) => LAYOUT | u64::from(it.layout.borrow().id),
            Object::Instance(it) => match &*class_in(&it.class).layout.borrow() {
                Some(layout) => LAYOUT | u64::from(layout.id),
                None => 0,
            },
            Object::Condition(it) => CONDITION | u64::from(it.class.0),
            Object::Foreign(it) => match it.type_name() {
                Some(name) => FOREIGN | name.as_ptr() as u64,
                None => u64::from(symbol::T.0),
            },
            _ => u64::from(crate::library::classes::built_in_class(value).0),
        },
        _ => u64::from(crate::library::classes::built_in_class(value).0),
    }
}

impl Default for GenericDefinition {
    fn default() -> GenericDefinition {
        GenericDefinition {
            lambda_list: NIL,
            parameters: Parameters::default(),
            documentation: NIL,
            combination: Combination { name: symbol::STANDARD, last: false, options: NIL },
            order: Vec::new(),
        }
    }
}
