//! A release says one version everywhere: tag, Cargo, plugin, marketplace, changelog.

use super::{json, text};

struct Release<'a> {
    cargo: &'a str,
    plugin: &'a str,
    market: &'a str,
    changelog: &'a str,
    repository: Option<&'a str>,
    /// The tag that is about to be published; without one a collecting changelog is in order.
    tag: Option<&'a str>,
}

/// The sections of a changelog: heading without `## `, and the body.
fn sections(changelog: &str) -> Vec<(&str, &str)> {
    changelog
        .split("\n## ")
        .skip(1)
        .map(|section| section.split_once('\n').unwrap_or((section, "")))
        .map(|(heading, body)| (heading.trim(), body.trim()))
        .collect()
}

fn problems(release: &Release) -> Vec<String> {
    let mut found = Vec::new();
    let mut differs = |what: &str, version: &str| {
        if version != release.cargo {
            found.push(format!(
                "{what} says {version}, Cargo.toml {}",
                release.cargo
            ));
        }
    };
    differs("plugin.json", release.plugin);
    differs("marketplace.json", release.market);
    let sections = sections(release.changelog);
    let newest = sections
        .iter()
        .find(|(heading, _)| *heading != "Unreleased");
    if let Some((heading, _)) = newest {
        let version = heading.split_whitespace().next().unwrap_or_default();
        differs("the changelog", version);
    }
    let Some(tag) = release.tag else { return found };
    differs("the tag", tag.strip_prefix('v').unwrap_or(tag));
    if release.repository.is_none_or(str::is_empty) {
        found.push("Cargo.toml names no repository, and cargo-binstall looks there".to_owned());
    }
    for (heading, body) in &sections {
        if *heading == "Unreleased" && !body.is_empty() {
            found.push("the changelog still collects under Unreleased".to_owned());
        }
    }
    match newest {
        None => found.push("the changelog has no section for the version".to_owned()),
        Some((_, "")) => found.push("the changelog section is empty".to_owned()),
        Some(_) => {}
    }
    found
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the release job passes the tag")]
fn the_version_is_the_same_everywhere() {
    let plugin = json("plugin/.claude-plugin/plugin.json");
    let market = json(".claude-plugin/marketplace.json");
    let tag = std::env::var("RELEASE_TAG").ok();
    let release = Release {
        cargo: env!("CARGO_PKG_VERSION"),
        plugin: plugin["version"].as_str().unwrap(),
        market: market["plugins"][0]["version"].as_str().unwrap(),
        changelog: &text("docs/changelog.md"),
        repository: option_env!("CARGO_PKG_REPOSITORY"),
        tag: tag.as_deref(),
    };
    assert_eq!(problems(&release), Vec::<String>::new());
}

#[test]
fn each_place_that_disagrees_is_named() {
    let release = Release {
        cargo: "0.2.0",
        plugin: "0.1.0",
        market: "0.1.1",
        changelog: "# Changelog\n\n## Unreleased\n\n- more\n\n## 0.1.9\n",
        repository: None,
        tag: Some("v0.2.1"),
    };
    assert_eq!(
        problems(&release),
        [
            "plugin.json says 0.1.0, Cargo.toml 0.2.0",
            "marketplace.json says 0.1.1, Cargo.toml 0.2.0",
            "the changelog says 0.1.9, Cargo.toml 0.2.0",
            "the tag says 0.2.1, Cargo.toml 0.2.0",
            "Cargo.toml names no repository, and cargo-binstall looks there",
            "the changelog still collects under Unreleased",
            "the changelog section is empty",
        ]
    );
}

#[test]
fn a_release_whose_places_agree_passes() {
    let release = Release {
        cargo: "0.2.0",
        plugin: "0.2.0",
        market: "0.2.0",
        changelog: "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-01-02)\n\n- more\n",
        repository: Some("https://example.org/x"),
        tag: Some("v0.2.0"),
    };
    assert_eq!(problems(&release), Vec::<String>::new());
}
