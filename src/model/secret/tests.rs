use super::{Secret, assigned, form, mask, secrets};

fn kinds(text: &str) -> Vec<(&'static str, &str)> {
    secrets(text.as_bytes())
        .into_iter()
        .map(|secret| (secret.kind, &text[secret.range]))
        .collect()
}

/// A token made at run time, so that no scanner of the repository takes it for a real one.
fn token(prefix: &str, length: usize) -> String {
    let body: String = "a1B2c3D4e5F6".chars().cycle().take(length).collect();
    format!("{prefix}{body}")
}

#[test]
fn tokens_are_known_by_their_shape_anywhere_in_a_text() {
    let hex = "0123456789abcdef".repeat(4);
    for (kind, secret) in [
        ("aws-key", "AKIAEXAMPLEEXAMPLE00".to_owned()),
        ("aws-key", format!("ASIA{}", "A1B2".repeat(4))),
        ("google-key", token("AIza", 35)),
        ("github-token", token("ghp_", 36)),
        ("github-token", token("github_pat_", 40)),
        ("gitlab-token", token("glpat-", 20)),
        ("slack-token", token("xoxb-", 24)),
        ("anthropic-key", token("sk-ant-api03-", 40)),
        ("openai-key", token("sk-proj-", 40)),
        ("openai-key", token("sk-", 48)),
        ("stripe-key", token("sk_live_", 24)),
        ("npm-token", token("npm_", 36)),
        ("huggingface-token", token("hf_", 34)),
        ("digitalocean-token", format!("dop_v1_{hex}")),
        (
            "web-token",
            format!(
                "{}.{}.{}",
                token("eyJ", 20),
                token("eyJ", 20),
                token("", 30)
            ),
        ),
    ] {
        for text in [
            secret.clone(),
            format!("x: {secret}\nnext"),
            format!("curl -H 'k: {secret}'"),
            format!("{{\"k\":\"{secret}\"}}"),
            format!("é{secret}é"),
        ] {
            assert_eq!(kinds(&text), [(kind, secret.as_str())], "{text}");
        }
    }
}

#[test]
fn a_named_value_is_a_secret() {
    for (text, secret) in [
        ("DB_PASSWORD=hunter2hunter2", "hunter2hunter2"),
        ("export API_KEY='abcd1234efgh'", "abcd1234efgh"),
        (r#"{"clientSecret": "abc123def456"}"#, "abc123def456"),
        (r#"{\"token\":\"abc123def456\"}"#, "abc123def456"),
        ("access-token: Ab3dEf6hIj9kLm2n", "Ab3dEf6hIj9kLm2n"),
        (
            "secret_key = 0123456789abcdef0123456789abcdef",
            "0123456789abcdef0123456789abcdef",
        ),
    ] {
        assert_eq!(kinds(text), [("password", secret)], "{text}");
    }
    assert_eq!(
        kinds("Authorization: Bearer abcdefghij0123456789"),
        [("authorization", "abcdefghij0123456789")]
    );
    assert_eq!(
        kinds("authorization: Basic dXNlcjpwYXNzd29yZDE="),
        [("authorization", "dXNlcjpwYXNzd29yZDE=")]
    );
    assert_eq!(
        kinds("postgres://app:s3cr3t:x@db.invalid:5432/app"),
        [("url-password", "s3cr3t:x")]
    );
}

#[test]
fn a_private_key_is_one_secret_and_its_frame_stays() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n".repeat(3);
    let text =
        format!("a\n-----BEGIN RSA PRIVATE KEY-----\n{body}-----END RSA PRIVATE KEY-----\nb\n");
    assert_eq!(
        mask(&text),
        "a\n-----BEGIN RSA PRIVATE KEY-----\n[masked:private-key]\n-----END RSA PRIVATE KEY-----\nb\n"
    );
    let cut = format!("-----BEGIN PRIVATE KEY-----\n{body}");
    assert_eq!(
        mask(&cut),
        "-----BEGIN PRIVATE KEY-----\n[masked:private-key]\n"
    );
    let json = format!("\"-----BEGIN PRIVATE KEY-----\\n{}\\n\"", "aB3d".repeat(16));
    assert_eq!(
        mask(&json),
        "\"-----BEGIN PRIVATE KEY-----[masked:private-key]\""
    );
}

#[test]
fn ordinary_output_holds_no_secret() {
    for text in [
        "HEAD is 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "key_id = 12; token count 88; password_hash_fn()",
        "a+b/c==dGVzdA==",
        "arr[0]=1; ]8;; [31m not an escape",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "GITHUB_TOKEN=$GITHUB_TOKEN PASSWORD=<password> SECRET=****************",
        "let token = parser.next_token(input1, LongName2)",
        "token: CancellationToken2::default",
        "max_token=1234567890123456",
        "token = Tokens.firstOf(list1)\nself.token = scope.NextValue0123",
        "password = getpass.getpass(\"Enter the password: \")",
        "https://host.invalid:8080/a@b http://[::1]:80/ git@host.invalid:user/repo",
        "task-AKIA and skill sk-learn-extra-0.1",
        "basic understanding0123456789",
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCMIIEvQIBADANBgkq\n",
        "SECRET_FILE=/run/secrets/db PASSWORD_FILE=/x TOKEN=/var/run/token-0123456789",
        "eyJhbGciOiJIUzI1NiJ9 eyJhbGciOiJIUzI1NiJ9.short",
        "commit 0b9c7f8e-1111-4222-8333-444455556666",
    ] {
        assert_eq!(kinds(text), [], "{text}");
    }
}

#[test]
fn a_mask_is_never_longer_than_the_secret_and_is_itself_no_secret() {
    for text in [
        format!("A=1\nAWS_SECRET_ACCESS_KEY={}\n", token("", 40)),
        format!("GITHUB_TOKEN={}", token("ghp_", 36)),
        "https://u:abc@host https://u:abcdefgh@host".to_owned(),
        "MY_PASSWORD=correct-horse".to_owned(),
        "Authorization: Bearer abcdefghij0123456789".to_owned(),
    ] {
        let masked = mask(&text).into_owned();
        assert_ne!(masked, text);
        assert!(masked.len() <= text.len(), "{masked}");
        assert_eq!(mask(&masked), masked);
    }
}

/// Looks at every byte.
fn secrets_plainly(text: &[u8]) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match form::secret(text, at).or_else(|| assigned::secret(text, at)) {
            Some(secret) => {
                at = secret.range.end;
                found.push(secret);
            }
            None => at += 1,
        }
    }
    found
}

proptest::proptest! {
    #[test]
    fn no_place_is_passed_by_that_a_look_at_every_byte_finds(text in "((AKIA|cio|SG\\.|hf_|shpat_|hvs\\.|ghp_|sk-|eyJ|xoxb-|ya29\\.)[a-f0-9A-Z]{0,40}|([a-z_]{0,6}(SECRET|token|Api-Key) ?[=:] {0,2}['\"]?|([Bb]earer|authorization: basic) )([a-zA-Z0-9]{16,40})?|[A-Za-z0-9é/\\\\+\":@ \n.-]{0,20}|https?://a:|-----BEGIN PRIVATE KEY-----){0,9}") {
        proptest::prop_assert_eq!(secrets(text.as_bytes()), secrets_plainly(text.as_bytes()));
    }

    #[test]
    fn masking_is_a_fixed_point_at_every_boundary(text in "(AKIA[A-Z0-9]{16}|[a-z_]{0,6}(SECRET|token)[=:] ?\"?|[A-Za-z0-9é/\\\\+\":@ \n-]{0,12}|https?://a:|-----BEGIN PRIVATE KEY-----){0,9}") {
        let masked = mask(&text).into_owned();
        proptest::prop_assert!(masked.len() <= text.len());
        let twice = mask(&masked).into_owned();
        proptest::prop_assert_eq!(twice, masked);
    }

    #[test]
    fn any_bytes_are_searched_without_a_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        for secret in secrets(&bytes) {
            proptest::prop_assert!(secret.range.end <= bytes.len());
        }
    }
}
