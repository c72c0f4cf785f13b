//! Times as a filter may write them.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use super::Order;

/// An instant, or a whole day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// One instant.
    Instant(Timestamp),
    /// From the first instant of a day (included) to the first of the next (excluded).
    Day(Timestamp, Timestamp),
}

impl Moment {
    /// Reads RFC 3339 (`2026-01-05T10:00:00+09:00`), the same without an offset (then UTC), a date with an
    /// offset (`2026-01-05+09:00`, `2026-01-05Z`: that day there), or a bare date (that day in UTC).
    /// Named zones are not looked up: the answer must not depend on a machine's files.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some((date, offset)) = text.split_at_checked(10)
            && let (Ok(date), Some(offset)) = (date.parse::<Date>(), parse_offset(offset))
        {
            let start = offset.to_timestamp(date.at(0, 0, 0, 0)).ok()?;
            let end = offset.to_timestamp(date.tomorrow().ok()?.at(0, 0, 0, 0)).ok()?;
            return Some(Self::Day(start, end));
        }
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Some(Self::Instant(instant));
        }
        let civil = text.parse::<DateTime>().ok()?;
        Offset::UTC.to_timestamp(civil).ok().map(Self::Instant)
    }

    /// The first instant.
    pub fn start(self) -> Timestamp {
        match self {
            Self::Instant(instant) => instant,
            Self::Day(start, _) => start,
        }
    }

    /// Tells whether `time` is the instant, or within the day.
    pub fn holds(self, time: Timestamp) -> bool {
        match self {
            Self::Instant(instant) => time == instant,
            Self::Day(start, end) => start <= time && time < end,
        }
    }

    /// Tells whether `time` stands so to this: after a day is after its end, `lte` a day includes all of it.
    pub fn orders(self, order: Order, time: Timestamp) -> bool {
        match (order, self) {
            (Order::Gt, Self::Instant(instant)) => time > instant,
            (Order::Gte, Self::Instant(instant) | Self::Day(instant, _)) => time >= instant,
            (Order::Lt, Self::Instant(instant) | Self::Day(instant, _)) => time < instant,
            (Order::Lte, Self::Instant(instant)) => time <= instant,
            (Order::Gt, Self::Day(_, end)) => time >= end,
            (Order::Lte, Self::Day(_, end)) => time < end,
        }
    }
}

/// Reads an offset: nothing or `Z` is UTC, else `±HH`, `±HHMM` or `±HH:MM`.
fn parse_offset(text: &str) -> Option<Offset> {
    if text.is_empty() || text.eq_ignore_ascii_case("z") {
        return Some(Offset::UTC);
    }
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = text[1..].replace(':', "");
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let hours: i32 = digits[..2].parse().ok()?;
    let minutes: i32 = if digits.len() == 4 { digits[2..].parse().ok()? } else { 0 };
    if hours > 23 || minutes > 59 {
        return None;
    }
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}
