//! The window of time a question names: "yesterday", "3 days ago", "in March", "since 2024-05-01".

use jiff::civil::{Date, Weekday};
use jiff::{Span, Timestamp, ZonedDateTime};

/// A window of time, `from` inclusive, `to` exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its start.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
}

impl Window {
    /// Returns 1 inside, less with the distance outside (a half one width away, at least a day wide).
    pub fn closeness(&self, at: Timestamp) -> f32 {
        let distance = if at < self.from {
            self.from.as_second() - at.as_second()
        } else if at >= self.to {
            at.as_second() - self.to.as_second()
        } else {
            return 1.0;
        };
        let width = (self.to.as_second() - self.from.as_second()).max(86_400);
        let ratio = distance as f32 / width as f32;
        1.0 / (1.0 + ratio * ratio)
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const DAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

/// Finds the window a question names, seen from `now` in its own zone; `None` when it names none.
///
/// Days are days of that zone. The first time expression decides.
pub fn window(query: &str, now: &ZonedDateTime) -> Option<Window> {
    let lower = query.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '-')).filter(|word| !word.is_empty()).collect();
    (0..words.len()).find_map(|at| expression(&words[at..], now)).and_then(|(from, to)| in_zone(from, to, now))
}

fn in_zone(from: Date, to: Date, now: &ZonedDateTime) -> Option<Window> {
    let zone = now.time_zone().clone();
    let from = from.to_zoned_datetime(zone.clone()).ok()?.timestamp();
    let to = to.to_zoned_datetime(zone).ok()?.timestamp();
    (from < to).then_some(Window { from, to })
}

/// Reads an expression at the start of `words`: first day, and the day after the last.
fn expression(words: &[&str], now: &ZonedDateTime) -> Option<(Date, Date)> {
    let today = now.date();
    let tomorrow = today.tomorrow().ok()?;
    let day = |date: Date| Some((date, date.tomorrow().ok()?));
    match words {
        ["today" | "tonight", ..] | ["this", "morning" | "afternoon" | "evening", ..] => day(today),
        ["yesterday", ..] | ["last", "night", ..] => day(today.yesterday().ok()?),
        ["since", rest @ ..] => {
            let (from, _) = expression(rest, now)?;
            Some((from, tomorrow.max(from.tomorrow().ok()?)))
        }
        ["last" | "past" | "previous", count, unit, ..] if number(count).is_some() => {
            Some((back(today, number(count)?, unit)?, tomorrow))
        }
        [count, unit, "ago", ..] => {
            let n = number(count)?;
            let center = back(today, n, unit)?;
            let slack = match unit.trim_end_matches('s') {
                "day" | "hour" | "minute" => 0,
                "week" => 3,
                "month" => 15,
                _ => 180,
            };
            let slack = Span::new().days(slack);
            Some((center.checked_sub(slack).ok()?, center.tomorrow().ok()?.checked_add(slack).ok()?))
        }
        ["last" | "previous", "week", ..] => {
            let monday = week_start(today)?;
            Some((monday.checked_sub(Span::new().days(7)).ok()?, monday))
        }
        ["this", "week", ..] => Some((week_start(today)?, tomorrow)),
        ["last" | "previous", "month", ..] => {
            let first = today.first_of_month();
            Some((first.checked_sub(Span::new().months(1)).ok()?, first))
        }
        ["this", "month", ..] => Some((today.first_of_month(), tomorrow)),
        ["last" | "previous", "year", ..] => year(today.year() - 1),
        ["this", "year", ..] => Some((today.first_of_year(), tomorrow)),
        ["last" | "on" | "this", name, ..] if weekday(name).is_some() => day(before(today, weekday(name)).ok()?),
        [date, ..] if date.len() == 10 && date.as_bytes()[4] == b'-' => day(date.parse().ok()?),
        [name, rest @ ..] if month(name).is_some() => month_expression(month(name)?, rest, today, None),
        [number_of_day, name, rest @ ..] if ordinal(number_of_day).is_some() && month(name).is_some() => {
            month_expression(month(name)?, rest, today, ordinal(number_of_day))
        }
        ["in" | "of" | "during", value, ..] => year(calendar_year(value)?),
        _ => None,
    }
}

/// "March", "March 5", "March 5 2024", "March 2024". "may" alone is a verb more often than a month.
fn month_expression(month: i8, rest: &[&str], today: Date, day: Option<i8>) -> Option<(Date, Date)> {
    let (day, rest) = match (day, rest) {
        (None, [value, after @ ..]) if ordinal(value).is_some() => (ordinal(value), after),
        _ => (day, rest),
    };
    let said_year = rest.first().and_then(|value| calendar_year(value));
    if month == 5 && day.is_none() && said_year.is_none() {
        return None;
    }
    let year = said_year.unwrap_or(if month > today.month() { today.year() - 1 } else { today.year() });
    match day {
        Some(day) => {
            let date = Date::new(year, month, day).ok()?;
            Some((date, date.tomorrow().ok()?))
        }
        None => {
            let first = Date::new(year, month, 1).ok()?;
            Some((first, first.checked_add(Span::new().months(1)).ok()?))
        }
    }
}

fn before(today: Date, weekday: Option<Weekday>) -> Result<Date, jiff::Error> {
    let weekday = weekday.unwrap_or(Weekday::Monday);
    let back = i64::from((today.weekday().to_monday_zero_offset() - weekday.to_monday_zero_offset()).rem_euclid(7));
    today.checked_sub(Span::new().days(if back == 0 { 7 } else { back }))
}

fn week_start(today: Date) -> Option<Date> {
    today.checked_sub(Span::new().days(i64::from(today.weekday().to_monday_zero_offset()))).ok()
}

fn year(year: i16) -> Option<(Date, Date)> {
    Some((Date::new(year, 1, 1).ok()?, Date::new(year.checked_add(1)?, 1, 1).ok()?))
}

fn back(today: Date, n: i64, unit: &str) -> Option<Date> {
    let span = match unit.trim_end_matches('s') {
        "minute" | "hour" => Span::new(),
        "day" => Span::new().try_days(n).ok()?,
        "week" => Span::new().try_weeks(n).ok()?,
        "month" => Span::new().try_months(n).ok()?,
        "year" => Span::new().try_years(n).ok()?,
        _ => return None,
    };
    today.checked_sub(span).ok()
}

fn number(word: &str) -> Option<i64> {
    const WORDS: [&str; 11] = ["a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let spelled = WORDS.iter().position(|known| *known == word).map(|at| i64::try_from(at.max(1)).unwrap_or(1));
    spelled.or_else(|| (word == "an").then_some(1)).or_else(|| word.parse().ok().filter(|n| (1..10_000).contains(n)))
}

fn month(word: &str) -> Option<i8> {
    let index =
        MONTHS.iter().position(|name| *name == word || (word.len() == 3 && word != "mar" && name.starts_with(word)))?;
    i8::try_from(index + 1).ok()
}

fn weekday(word: &str) -> Option<Weekday> {
    DAYS.iter().find(|(name, _)| *name == word).map(|(_, day)| *day)
}

fn ordinal(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

fn calendar_year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| word.len() == 4 && (1970..=2100).contains(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        let now: ZonedDateTime = "2026-03-18T23:30:00+09:00[+09:00]".parse().unwrap(); // a Wednesday
        let got = window(query, &now).map_or_else(
            || "none".to_owned(),
            |window| {
                let date = |at: Timestamp| at.to_zoned_datetime(now.time_zone().clone()).date();
                format!("{}..{}", date(window.from), date(window.to))
            },
        );
        assert_eq!(got, expected, "{query}");
    }

    #[test]
    fn windows_by_example() {
        check("what did we do today?", "2026-03-18..2026-03-19");
        check("the fix from yesterday", "2026-03-17..2026-03-18");
        check("3 days ago", "2026-03-15..2026-03-16");
        check("two weeks ago", "2026-03-01..2026-03-08");
        check("last week", "2026-03-09..2026-03-16");
        check("last 10 days", "2026-03-08..2026-03-19");
        check("last month", "2026-02-01..2026-03-01");
        check("in March", "2026-03-01..2026-04-01");
        check("in November", "2025-11-01..2025-12-01");
        check("on May 7, 2023", "2023-05-07..2023-05-08");
        check("on 7 May 2023", "2023-05-07..2023-05-08");
        check("during 2024", "2024-01-01..2025-01-01");
        check("since 2026-01-05", "2026-01-05..2026-03-19");
        check("last Friday", "2026-03-13..2026-03-14");
        check("on Wednesday", "2026-03-11..2026-03-12");
        check("it may fail", "none");
        check("since v1.2", "none");
        check("how does the cache work", "none");
    }

    #[test]
    fn closeness_falls_with_distance() {
        let now: ZonedDateTime = "2026-03-18T12:00:00+00:00[+00:00]".parse().unwrap();
        let window = window("yesterday", &now).unwrap();
        let at = |text: &str| window.closeness(text.parse().unwrap());
        assert_eq!(at("2026-03-17T10:00:00Z"), 1.0);
        assert!(at("2026-03-15T10:00:00Z") > at("2026-03-01T10:00:00Z"));
        assert!(at("2027-03-01T10:00:00Z") < 0.01);
    }
}
