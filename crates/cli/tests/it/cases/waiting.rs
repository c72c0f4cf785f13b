//! Cases that wait for something that does not exist yet.

/// `area/name` and why it waits.
pub(crate) const WAITING: &[(&str, &str)] = &[];
