//! Fields that take any JSON type: the wanted one is kept, another counts as absent.
//!
//! Hosts change types between releases, and one odd field must not cost the whole payload. Nothing is built for
//! what is not wanted: strings, lists and objects of the wrong kind are read past.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A field that is `None` when it is absent, null or of another type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Maybe(None)
    }
}

impl<T> Maybe<T> {
    /// Returns the value by reference.
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl Maybe<String> {
    /// Returns the text; empty when absent.
    pub(crate) fn text(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns the text when it is there and not empty.
    pub(crate) fn filled(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty())
    }
}

impl Maybe<bool> {
    /// Returns whether the field is there and true.
    pub(crate) fn is_set(&self) -> bool {
        self.0 == Some(true)
    }
}

/// What a JSON value of each kind is worth to a type; by default nothing.
pub(crate) trait FromAny<'de>: Sized {
    /// From a string.
    fn from_text(_text: &str) -> Option<Self> {
        None
    }

    /// From a boolean.
    fn from_bool(_value: bool) -> Option<Self> {
        None
    }

    /// From a whole number.
    fn from_int(_value: i64) -> Option<Self> {
        None
    }

    /// From a list, which must be read to its end.
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    /// From an object, which must be read to its end.
    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

/// Most of one string that is kept, in bytes. Nothing people or models write comes near it; pasted files can.
const MAX_TEXT_BYTES: usize = 8 << 20;

impl FromAny<'_> for String {
    fn from_text(text: &str) -> Option<Self> {
        if text.len() <= MAX_TEXT_BYTES {
            return Some(text.to_owned());
        }
        let end = text.floor_char_boundary(MAX_TEXT_BYTES);
        let mark = format!("\n[{} bytes left out]", text.len() - end);
        Some([&text[..end], &mark].concat())
    }
}

impl FromAny<'_> for bool {
    fn from_bool(value: bool) -> Option<Self> {
        Some(value)
    }
}

impl FromAny<'_> for i64 {
    fn from_int(value: i64) -> Option<Self> {
        Some(value)
    }
}

impl<'de, T: FromAny<'de>> FromAny<'de> for Vec<T> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element::<Maybe<T>>()? {
            items.extend(item.0);
        }
        Ok(Some(items))
    }
}

/// Reads an object as a struct, for [`FromAny::from_object`].
pub(crate) fn object<'de, T: Deserialize<'de>, A: MapAccess<'de>>(object: A) -> Result<Option<T>, A::Error> {
    T::deserialize(MapAccessDeserializer::new(object)).map(Some)
}

/// Makes structs usable in [`Maybe`]: an object is read as the struct, anything else is absent.
macro_rules! objects {
    ($($name:ty),+ $(,)?) => {$(
        impl<'de> crate::hosts::lenient::FromAny<'de> for $name {
            fn from_object<A: serde::de::MapAccess<'de>>(object: A) -> Result<Option<Self>, A::Error> {
                crate::hosts::lenient::object(object)
            }
        }
    )+};
}
pub(crate) use objects;

impl<'de, T: FromAny<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyVisitor(PhantomData)).map(Maybe)
    }
}

struct AnyVisitor<T>(PhantomData<T>);

impl<'de, T: FromAny<'de>> Visitor<'de> for AnyVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any JSON value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(T::from_text(text))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(T::from_bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(T::from_int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(i64::try_from(value).ok().and_then(T::from_int))
    }

    fn visit_f64<E>(self, _value: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::from_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error> {
        T::from_object(object)
    }
}
