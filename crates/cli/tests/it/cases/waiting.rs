//! Cases that wait for something that does not exist yet.

/// Hosts beyond the first two.
const CURSOR: &str = "needs the host cursor";

/// `area/name` and why it waits.
pub(crate) const WAITING: &[(&str, &str)] = &[("hosts/cursor_field_names", CURSOR)];
