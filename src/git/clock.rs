use std::time::{SystemTime, UNIX_EPOCH};

use super::{Env, Error};

/// The one clock. Records and commits follow GIT_COMMITTER_DATE; retention, time-outs and ages do not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    fixed: Option<i64>,
}

impl Clock {
    /// Returns the clock that `env` sets.
    pub fn new(env: &Env) -> Result<Self, Error> {
        let Some(text) = env.text("GIT_COMMITTER_DATE") else {
            return Ok(Self::default());
        };
        Ok(Self {
            fixed: Some(parse_date(text)?),
        })
    }

    /// Returns the time for records and commits in ms since 1970.
    pub fn now_ms(&self) -> u64 {
        match self.fixed {
            Some(seconds) => u64::try_from(seconds).unwrap_or(0) * 1000,
            None => self.wall_ms(),
        }
    }

    /// Returns the ms since 1970 that `text` means in the forms git takes, also `2 days ago`.
    pub fn date(&self, text: &str) -> Result<u64, Error> {
        let seconds = parse_date(text).or_else(|error| {
            let now = i64::try_from(self.now_ms()).unwrap_or(0);
            let now = jiff::Timestamp::from_millisecond(now).unwrap_or_default();
            let now = now.to_zoned(jiff::tz::TimeZone::UTC);
            let text = text.trim().replace('.', " ");
            let time = gix::date::parse(&text, Some(now)).map_err(|_| error)?;
            Ok(time.seconds)
        })?;
        Ok(u64::try_from(seconds).unwrap_or(0) * 1000)
    }

    /// Returns the real time in ms since 1970, whatever GIT_COMMITTER_DATE says.
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the time"
    )]
    pub fn wall_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
    }
}

/// Returns the seconds since 1970 that `text` means in the forms git takes in GIT_COMMITTER_DATE.
fn parse_date(text: &str) -> Result<i64, Error> {
    let text = text.trim();
    // git reads a bare number of nine digits or more as seconds.
    let digits = text.strip_prefix('@').unwrap_or(text);
    if (digits.len() >= 9 || text.starts_with('@'))
        && let Ok(seconds) = digits.parse::<i64>()
    {
        return Ok(seconds);
    }
    gix::date::parse(text, None)
        .map(|time| time.seconds)
        .map_err(|_| Error::Date(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Clock, Env, parse_date};

    #[test]
    fn every_form_git_writes_is_read() {
        for text in [
            "@1112911993 -0700",
            "1112911993 -0700",
            "1112911993",
            "@1112911993",
            "2005-04-07T22:13:13Z",
            "2005-04-07T15:13:13-07:00",
            "2005-04-07 15:13:13 -0700",
            "Thu, 7 Apr 2005 15:13:13 -0700",
            "Thu Apr 7 15:13:13 2005 -0700",
        ] {
            assert_eq!(parse_date(text).unwrap(), 1_112_911_993, "{text}");
        }
        for text in ["", "now-ish", "@", "yesterday or so"] {
            assert!(parse_date(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_time_of_records_can_be_set() {
        let vars = [("GIT_COMMITTER_DATE".into(), "@5 +0000".into())];
        let clock = Clock::new(&Env::new(vars)).unwrap();
        assert_eq!(clock.now_ms(), 5_000);
        assert!(clock.wall_ms() > 1_600_000_000_000);
    }
}
