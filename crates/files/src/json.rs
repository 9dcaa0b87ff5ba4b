//! JSON as a value that keeps the order of an object's keys and refuses a key that stands twice:
//! two readers that each take another of the two would see two files.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Truth(bool),
    Whole(i64),
    /// A number that is not whole, or beyond 64 bits.
    Real(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Reads a text that is one value.
    pub(crate) fn parse(text: &[u8]) -> Result<Json, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// The entry of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.entries()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub fn entries(&self) -> Option<&[(String, Json)]> {
        if let Json::Object(entries) = self { Some(entries) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    pub fn list(&self) -> Option<&[Json]> {
        if let Json::List(list) = self { Some(list) } else { None }
    }

    /// A whole number that is not negative.
    pub fn size(&self) -> Option<u64> {
        if let Json::Whole(n) = self { u64::try_from(*n).ok() } else { None }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Json, E> {
        Ok(Json::Truth(truth))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Json, E> {
        Ok(Json::Whole(n))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Json, E> {
        Ok(i64::try_from(n).map_or(Json::Real(n as f64), Json::Whole))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Json, E> {
        Ok(Json::Real(x))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_string()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let (mut object, mut keys) = (Vec::new(), HashSet::new());
        while let Some((key, value)) = entries.next_entry::<String, Json>()? {
            if !keys.insert(key.clone()) {
                return Err(de::Error::custom(format_args!("the key {key:?} stands twice")));
            }
            object.push((key, value));
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept_and_a_key_that_stands_twice_is_refused() {
        let json = Json::parse(br#"{"b": [1, -2.5, "x"], "a": null}"#).unwrap();
        let keys: Vec<&str> = json.entries().unwrap().iter().map(|e| e.0.as_str()).collect();
        assert_eq!(keys, ["b", "a"]);
        let list = json.get("b").unwrap().list().unwrap();
        assert_eq!(list, [Json::Whole(1), Json::Real(-2.5), Json::Text("x".into())]);
        let twice = Json::parse(br#"{"a": {"b": 1, "b": 1}}"#).unwrap_err().to_string();
        assert!(twice.starts_with("the key \"b\" stands twice"), "{twice}");
        assert!(Json::parse(&[b'['; 100_000]).is_err());
        assert_eq!(Json::Whole(-1).size(), None);
    }
}
