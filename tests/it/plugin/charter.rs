use super::text;

const CHARTER: &str = "templates/OPERATOR.md";

/// The rules of the charter: list items with their continuation lines, and table rows.
fn rules(charter: &str) -> Vec<String> {
    let mut rules: Vec<String> = Vec::new();
    let mut inside = false;
    for line in charter.lines() {
        let numbered = line
            .split_once(". ")
            .is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        let row = line.starts_with("| ") && !line.starts_with("| what");
        if line.starts_with("- ") || numbered || row {
            rules.push(line.to_owned());
            inside = true;
        } else if inside && line.starts_with("  ") {
            let last = rules.last_mut().unwrap();
            last.push(' ');
            last.push_str(line.trim());
        } else {
            inside = false;
        }
    }
    rules
}

/// The tag at the end of a rule: `[E1]`, in a table with the closing bar after it.
fn tag(rule: &str) -> Option<&str> {
    let rule = rule.trim_end_matches([' ', '|']);
    let tag = rule.strip_suffix(']')?.rsplit_once('[')?.1;
    let number = tag.strip_prefix(|c: char| c.is_ascii_uppercase())?;
    number.parse::<u8>().ok().map(|_| tag)
}

#[test]
fn the_charter_is_short() {
    let charter = text(CHARTER);
    assert!(charter.lines().count() <= 150);
    assert!(charter.len() <= 9_000);
    for line in charter.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn every_rule_is_tagged_and_every_tag_is_explained_once() {
    let charter = text(CHARTER);
    let mut tags = Vec::new();
    for rule in rules(&charter) {
        tags.push(
            tag(&rule)
                .unwrap_or_else(|| panic!("no tag: {rule}"))
                .to_owned(),
        );
    }
    let docs = text("docs/charter.md");
    let headings: Vec<&str> = docs
        .lines()
        .filter_map(|l| l.strip_prefix("### "))
        .collect();
    assert_eq!(tags, headings);
    let mut unique = tags.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), tags.len(), "a tag stands twice");
    for section in docs.split("\n### ").skip(1) {
        let (heading, reason) = section.split_once('\n').unwrap();
        let reason = reason.split("\n## ").next().unwrap().trim();
        assert!(reason.len() > 40, "{heading} gives no reason");
    }
}

#[test]
fn the_sections_stand_in_their_order() {
    let charter = text(CHARTER);
    let sections: Vec<&str> = charter
        .lines()
        .filter_map(|l| l.strip_prefix("## "))
        .collect();
    assert_eq!(
        sections,
        [
            "Role",
            "Solo mode",
            "Orchestrated mode",
            "Caps",
            "Status of a report",
            "Engagement contract",
            "Evidence gate",
            "Discovery",
            "Workflows",
            "Handoff",
            "Recovery",
            "Precedence",
        ]
    );
}

#[test]
fn a_rule_without_a_tag_is_found() {
    let found =
        rules("- one [A1]\n- two\n  lines [A2]\n- none\n\n1. first [A3]\n| a | b | [A4] |\n");
    let tags: Vec<Option<&str>> = found.iter().map(|rule| tag(rule)).collect();
    assert_eq!(tags, [Some("A1"), Some("A2"), None, Some("A3"), Some("A4")]);
}
