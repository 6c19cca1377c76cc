//! UTC dates, from and to milliseconds since 1970.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

fn utc(ms: u64) -> Timestamp {
    i64::try_from(ms)
        .ok()
        .and_then(|ms| Timestamp::from_millisecond(ms).ok())
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

/// Returns `2026-11-30`.
pub fn format_date(ms: u64) -> String {
    utc(ms).strftime("%Y-%m-%d").to_string()
}

/// Returns `2026-11-30T21:04:05Z`.
pub fn format_time(ms: u64) -> String {
    utc(ms).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Returns the ms of a date (its first moment in UTC) or of a date and time, which is UTC unless it
/// carries an offset; `None` for another text or a date that does not exist.
pub fn parse(text: &str) -> Option<u64> {
    let stamp = text.parse::<Timestamp>().ok().or_else(|| {
        let civil: DateTime = text.trim_end_matches('Z').parse().ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    })?;
    u64::try_from(stamp.as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::{format_date, format_time, parse};

    #[test]
    fn dates_are_utc() {
        assert_eq!(format_date(0), "1970-01-01");
        assert_eq!(format_time(1_796_072_645_000), "2026-11-30T21:04:05Z");
        assert_eq!(parse("2026-11-30T21:04:05Z"), Some(1_796_072_645_000));
        assert_eq!(parse("2026-11-30 21:04:05"), Some(1_796_072_645_000));
        assert_eq!(parse("2026-11-30T22:04:05+01:00"), Some(1_796_072_645_000));
        assert_eq!(
            parse("2024-02-29").map(format_date).as_deref(),
            Some("2024-02-29")
        );
        for text in ["2023-02-29", "2026-13-01", "x", "2026-11-30T25:00:00Z"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
