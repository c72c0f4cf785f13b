//! What of an event is kept, and in which shape.

use serde_json::Value;

/// A row of the evidence store's `events` table.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    /// Row id; order of arrival.
    pub id: i64,
    /// ISO 8601 UTC with offset.
    pub created_at: String,
    /// Kind, such as `user_prompt`; unknown kinds are carried along and ignored.
    pub kind: String,
    /// The payload, redacted.
    pub payload: Value,
}
