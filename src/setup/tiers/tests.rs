use super::{Layer, Model, Source, Tier, Tiers, parse, setting};

fn model(layer: &Layer, tier: Tier) -> Option<&str> {
    layer.models.get(&tier).map(Model::as_str)
}

fn refused(text: &[u8]) -> Vec<(usize, String)> {
    parse(text)
        .unwrap_err()
        .into_iter()
        .map(|(line, error)| (line, error.to_string()))
        .collect()
}

#[test]
fn what_people_write_is_read_as_data() {
    let text = b"\xef\xbb\xbfexport JUDGMENT=\"opus-4\" # note\r\nIMPLEMENT='sonnet-4'\r\n\
        MECHANICAL=haiku # c\n\n#RECON=x\nRECON = spaced \nop-scout=JUDGMENT\nmechanic = RECON\n";
    let layer = parse(text).unwrap();
    assert_eq!(model(&layer, Tier::Judgment), Some("opus-4"));
    assert_eq!(model(&layer, Tier::Implement), Some("sonnet-4"));
    assert_eq!(model(&layer, Tier::Mechanical), Some("haiku"));
    assert_eq!(model(&layer, Tier::Recon), Some("spaced"));
    assert_eq!(layer.seats["scout"], Tier::Judgment);
    assert_eq!(layer.seats["mechanic"], Tier::Recon);
}

#[test]
fn what_a_shell_would_expand_is_refused_by_line_number() {
    let text = "JUDGMENT=$(touch /tmp/pwn)\nIMPLEMENT=`id`\nMECHANICAL=a;b\nRECON=${HOME}\n\
        PATH=/evil\nJUDGMENT=x\nBAD LINE\nJUDGMENT=y\n";
    assert_eq!(
        refused(text.as_bytes()),
        [
            (
                1,
                "something other than a comment follows the value".to_owned()
            ),
            (2, "'`id`' is no model id".to_owned()),
            (3, "'a;b' is no model id".to_owned()),
            (4, "'${HOME}' is no model id".to_owned()),
            (5, "'PATH' is neither a tier nor a seat".to_owned()),
            (6, "'JUDGMENT' is bound twice".to_owned()),
            (7, "it is not of the form NAME=value".to_owned()),
            (8, "'JUDGMENT' is bound twice".to_owned()),
        ]
    );
}

#[test]
fn malformed_lines_are_named() {
    for (text, reason) in [
        ("JUDGMENT=", "'' is no model id"),
        ("=x", "it is not of the form NAME=value"),
        ("JUDGMENT x=y", "it is not of the form NAME=value"),
        ("JUDGMENT=\"a", "its quotes do not match"),
        (
            "JUDGMENT='a'b",
            "something other than a comment follows the value",
        ),
        (
            "JUDGMENT=a b",
            "something other than a comment follows the value",
        ),
        ("JUDGMENT=a#b", "'a#b' is no model id"),
        ("JUDGMENT=-x", "'-x' is no model id"),
        ("JUDGMENT=é", "'é' is no model id"),
        ("judgment=x", "'judgment' is neither a tier nor a seat"),
        ("scout=haiku", "'haiku' is not a tier"),
        (
            "exportJUDGMENT=x",
            "'exportJUDGMENT' is neither a tier nor a seat",
        ),
        ("JUDGMENT=a\u{1b}[0m", "'a\\u{1b}[0m' is no model id"),
    ] {
        assert_eq!(refused(text.as_bytes()), [(1, reason.to_owned())], "{text}");
    }
    let long = format!("#ok\nJUDGMENT={}", "x".repeat(600));
    assert_eq!(refused(long.as_bytes())[0].0, 2);
}

#[test]
fn a_file_that_is_no_text_or_too_large_is_refused_whole() {
    assert_eq!(refused(b"JUDGMENT=a\0")[0].0, 0);
    assert_eq!(refused(b"JUDGMENT=\xff")[0].0, 0);
    assert_eq!(refused(&b"#\n".repeat(201))[0].0, 0);
    assert_eq!(refused(&vec![b'#'; 100_001])[0].0, 0);
    assert_eq!(parse(b""), Ok(Layer::default()));
}

#[test]
fn real_ids_of_every_kind_are_accepted() {
    for id in [
        "opus",
        "claude-opus-5",
        "claude-haiku-4-5-20251001",
        "sonnet[1m]",
        "glm-5.3-flash",
        "openrouter/z-ai/glm-5:free",
        "us.anthropic.claude-x@20260101",
        "gpt-5.2-codex",
        "o4",
    ] {
        assert_eq!(
            Model::new(id)
                .map(|model| model.as_str().to_owned())
                .as_deref(),
            Ok(id)
        );
    }
    for (id, native) in [
        ("opus", true),
        ("sonnet[1m]", true),
        ("claude-opus-5", true),
        ("glm-5", false),
        ("openrouter/claude-x", false),
    ] {
        assert_eq!(Model::new(id).unwrap().is_native(), native, "{id}");
    }
}

#[test]
fn a_later_layer_wins_and_says_so() {
    let user = parse(b"JUDGMENT=a\nRECON=b\n").unwrap();
    let project = parse(b"RECON=c\nscout=IMPLEMENT\n").unwrap();
    let set = setting("MECHANICAL=d").unwrap();
    let tiers = Tiers::resolve(&[
        (Source::User, user),
        (Source::Project, project),
        (Source::Set, set),
    ]);
    let found: Vec<(&str, String)> = Tier::ALL
        .into_iter()
        .map(|tier| tiers.model(tier))
        .map(|(model, source)| (model.as_str(), source.to_string()))
        .collect();
    assert_eq!(
        found,
        [
            ("a", "user".to_owned()),
            ("sonnet", "built-in".to_owned()),
            ("d", "--set".to_owned()),
            ("c", "project".to_owned()),
        ]
    );
    assert_eq!(tiers.seat("scout"), Some(Tier::Implement));
    assert_eq!(tiers.seat("author"), Some(Tier::Judgment));
    assert_eq!(
        tiers.json().to_string(),
        r#"{"v":1,"type":"tiers","JUDGMENT":"a","IMPLEMENT":"sonnet","MECHANICAL":"d","RECON":"c"}"#
    );
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_a_layer_or_refused_by_line(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300)) {
        let lines = bytes.split(|byte| *byte == b'\n').count();
        if let Err(refused) = parse(&bytes) {
            proptest::prop_assert!(!refused.is_empty());
            proptest::prop_assert!(refused.iter().all(|(line, _)| *line <= lines));
        }
    }

    #[test]
    fn no_value_holds_what_a_shell_acts_on(text in "(JUDGMENT|RECON|op-scout|export )?=?[\\x20-\\x7e]{0,30}\n?") {
        if let Ok(layer) = parse(text.as_bytes()) {
            for model in layer.models.values() {
                proptest::prop_assert!(!model.as_str().contains(['$', '`', ';', '&', '|', ' ', '"', '\'', '\\']));
            }
        }
    }
}
