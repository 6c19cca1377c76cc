//! Just enough of HTML to know that a page is whole and harmless.

use std::collections::BTreeSet;

const ELEMENTS: &str = "a bdi body caption code dd desc details div dl dt figcaption figure footer g h1 \
    h2 h3 h4 head header html li line link main meta nav ol p rect section span strong style summary svg \
    table tbody td th thead time title tr ul";
const VOID: [&str; 2] = ["meta", "link"];
const ATTRIBUTES: &str = "aria-hidden aria-label aria-labelledby charset class content datetime height href \
    http-equiv id lang name preserveAspectRatio rel role scope tabindex title viewBox width x x1 x2 y y1 y2";

/// Fails where the page is not whole, says something nobody wrote here, or leads nowhere.
#[track_caller]
pub(super) fn check(page: &str) {
    let acts = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert_eq!(page.chars().find(|c| acts(*c)), None);
    let (mut open, mut ids, mut targets) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let body = page.strip_prefix("<!DOCTYPE html>").unwrap();
    for tag in tags(body) {
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
            continue;
        }
        let name = tag.split_whitespace().next().unwrap();
        assert!(
            ELEMENTS.split_whitespace().any(|known| known == name),
            "<{tag}>"
        );
        for (key, value) in attributes(&tag[name.len()..]) {
            assert!(
                ATTRIBUTES.split_whitespace().any(|known| known == key),
                "<{tag}>"
            );
            match key {
                "id" => assert!(ids.insert(value.to_owned()), "{value} twice"),
                "href" if value == "data:," => {}
                "href" => _ = targets.insert(value.strip_prefix('#').unwrap().to_owned()),
                _ => {}
            }
        }
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
    let dead: Vec<&String> = targets.difference(&ids).collect();
    assert!(dead.is_empty(), "{dead:?}");
}

/// Returns what stands between `<` and `>`; inside the style sheet nothing does.
fn tags(page: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let mut quoted = false;
        let end = rest[at..].find(|c| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        let end = at + end.unwrap();
        found.push(&rest[at + 1..end]);
        rest = &rest[end + 1..];
    }
    found
}

fn attributes(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once("=\"").unwrap();
        let (value, after) = after.split_once('"').unwrap();
        found.push((key, value));
        rest = after.trim_start();
    }
    found
}

/// Returns the section with this id.
#[track_caller]
pub(super) fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page.find(&format!("<section id=\"{id}\"")).unwrap();
    let end = page[start..].find("</section>").unwrap();
    &page[start..start + end]
}

/// Returns the words a reader sees, a space between them.
pub(super) fn text(html: &str) -> String {
    let mut shown = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => {
                inside = false;
                shown.push(' ');
            }
            c if !inside => shown.push(c),
            _ => {}
        }
    }
    let words: Vec<&str> = shown.split_whitespace().collect();
    words.join(" ").replace(" ,", ",").replace(" .", ".")
}
