//! The known name nearest to one that is not known.

use super::effort;

/// The steps of comparing a name with those that are known.
const STEPS: usize = 32;

/// Returns the name in `known` that `name` most likely meant, if one is near enough.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    effort::spend(STEPS).ok()?;
    let lower: Vec<char> = name.to_lowercase().chars().take(80).collect();
    let allowed = match lower.len() {
        0..=2 => 1,
        3..=7 => 2,
        _ => 3,
    };
    known
        .into_iter()
        .map(|candidate| (distance(&lower, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len().max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns `, did you mean 'x'?` for the nearest name, or nothing.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(", did you mean '{near}'?"))
}

/// The number of edits between two names; a swap of neighbors is one.
fn distance(name: &[char], other: &str) -> usize {
    let other: Vec<char> = other.to_lowercase().chars().collect();
    let mut before = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=name.len() {
        let mut row = vec![i; other.len() + 1];
        for j in 1..=other.len() {
            let same = usize::from(name[i - 1] != other[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + same);
            let swapped =
                i > 1 && j > 1 && name[i - 1] == other[j - 2] && name[i - 2] == other[j - 1];
            if swapped {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_found() {
        let known = ["foreign", "mine", "touched", "on", "when", "then"];
        for (name, expected) in [
            ("foregin", Some("foreign")),
            ("Mine", Some("mine")),
            ("wen", Some("when")),
            ("no", Some("on")),
            ("xyzzy", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
    }
}
