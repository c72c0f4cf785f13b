//! What a filter can be asked about.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::memory::Memory;

/// Something with named fields.
pub trait Record {
    /// Returns a field: `id`, `memory`, `user_id`, `agent_id`, `app_id`, `run_id`, `categories`, `metadata`,
    /// `created_at`, `updated_at`, or whatever else the record has. `None` counts as null.
    fn field(&self, name: &str) -> Option<Cow<'_, Value>>;

    /// Returns one key of a field that is an object. Records that hold `metadata` parsed override this, so
    /// that a condition on one key does not copy the whole of it.
    fn key(&self, name: &str, key: &str) -> Option<Cow<'_, Value>> {
        match self.field(name)? {
            Cow::Borrowed(value) => value.get(key).map(Cow::Borrowed),
            Cow::Owned(mut value) => value.get_mut(key).map(|found| Cow::Owned(found.take())),
        }
    }
}

/// Follows a path of names into a record.
pub(super) fn lookup<'a>(record: &'a dyn Record, path: &[String]) -> Option<Cow<'a, Value>> {
    let (name, below) = path.split_first()?;
    let Some((key, below)) = below.split_first() else { return record.field(name) };
    below.iter().try_fold(record.key(name, key)?, |value, key| match value {
        Cow::Borrowed(value) => value.get(key).map(Cow::Borrowed),
        Cow::Owned(mut value) => value.get_mut(key).map(|found| Cow::Owned(found.take())),
    })
}

impl Record for Map<String, Value> {
    fn field(&self, name: &str) -> Option<Cow<'_, Value>> {
        self.get(name).map(Cow::Borrowed)
    }
}

/// The fields of a memory.
pub(super) const MEMORY_FIELDS: [&str; 11] = [
    "id",
    "memory",
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "created_at",
    "updated_at",
    "categories",
    "metadata",
    "score",
];

impl Record for Memory {
    fn field(&self, name: &str) -> Option<Cow<'_, Value>> {
        let text = |text: &str| Some(Cow::Owned(Value::String(text.to_owned())));
        match name {
            "id" => text(&self.id),
            "memory" => text(&self.memory),
            "user_id" => self.user_id.as_deref().and_then(text),
            "agent_id" => self.agent_id.as_deref().and_then(text),
            "app_id" => self.app_id.as_deref().and_then(text),
            "run_id" => self.run_id.as_deref().and_then(text),
            "created_at" => self.created_at.as_deref().and_then(text),
            "updated_at" => self.updated_at.as_deref().and_then(text),
            "categories" => self.categories.clone().map(|names| Cow::Owned(Value::from(names))),
            "metadata" => self.metadata.clone().map(|map| Cow::Owned(Value::Object(map))),
            "score" => self.score.map(|score| Cow::Owned(Value::from(score))),
            _ => None,
        }
    }

    fn key(&self, name: &str, key: &str) -> Option<Cow<'_, Value>> {
        if name == "metadata" { self.metadata.as_ref()?.get(key).map(Cow::Borrowed) } else { None }
    }
}
