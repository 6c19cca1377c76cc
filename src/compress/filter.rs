use std::borrow::Cow;

use super::{
    Settings, Treatment, elide, pieces, scrub,
    spill::{Place, Spill},
};
use crate::model::secret;

/// Returns `text` as a model should see it; borrowed where nothing changes.
///
/// What is left out or masked was written to `place` first; where that fails nothing is left out.
pub fn filter<'a>(
    text: &'a str,
    treatment: Treatment,
    settings: &Settings,
    place: &Place,
) -> Cow<'a, str> {
    if !settings.on || treatment == Treatment::None {
        return Cow::Borrowed(text);
    }
    let work = Work {
        text,
        settings,
        place,
    };
    work.run(treatment).map_or(Cow::Borrowed(text), Cow::Owned)
}

struct Work<'a> {
    text: &'a str,
    settings: &'a Settings,
    place: &'a Place,
}

impl Work<'_> {
    fn run(&self, treatment: Treatment) -> Option<String> {
        let json = pieces::is_json(self.text);
        let plain = if self.settings.scrub && !json {
            scrub::escapes(self.text)
        } else {
            Cow::Borrowed(self.text)
        };
        let masked = secret::mask(&plain);
        let has_secret = matches!(masked, Cow::Owned(_));
        if json {
            return has_secret.then(|| self.spilled(masked.into_owned()));
        }
        let mut short = self.collapse(masked.as_ref());
        let mut elided = false;
        if treatment == Treatment::Full
            && let Some(shorter) = self.elide(&short)
        {
            short = Cow::Owned(shorter);
            elided = true;
        }
        let saved = self.text.len().checked_sub(short.len())?;
        let worth = saved > 0 && saved >= self.settings.min_shrink;
        if !has_secret && !worth {
            return None;
        }
        let short = short.into_owned();
        Some(if has_secret && !elided {
            self.spilled(short)
        } else {
            short
        })
    }

    fn collapse<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.settings.scrub
            && self.text.len() > self.settings.scrub_min
            && !elide::is_elided(text)
        {
            scrub::repeats(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    fn elide(&self, text: &str) -> Option<String> {
        if text.len() <= self.settings.max || text.contains('\0') || elide::is_elided(text) {
            return None;
        }
        let spill = Spill::of(self.place, self.text);
        let short = elide::elide(text, self.settings, &spill.path()?)?;
        let saved = self.text.len().checked_sub(short.len())?;
        (saved >= self.settings.min_shrink && spill.write()).then_some(short)
    }

    /// Keeps the whole output beside a text that only had its secrets masked.
    fn spilled(&self, short: String) -> String {
        Spill::of(self.place, self.text).write();
        short
    }
}
