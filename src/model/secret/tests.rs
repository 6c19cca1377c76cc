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
        ("openrouter-key", token("sk-or-v1-", 64)),
        ("openai-key", token("sk-admin-", 40)),
        ("slack-token", token("xapp-", 40)),
        ("slack-token", token("xoxc-", 40)),
        ("docker-token", token("dckr_pat_", 27)),
        ("google-secret", token("GOCSPX-", 28)),
        ("webhook-secret", token("whsec_", 32)),
        ("atlassian-token", token("ATATT3", 100)),
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
        (
            "\"SecretAccessKey\": \"wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY\"",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY",
        ),
        (
            "AWS_SECRET_ACCESS_KEY: \"wJalrXUtnFEMI/K7MDENG+bPxRfiCYzEXAMPLEKEY\"",
            "wJalrXUtnFEMI/K7MDENG+bPxRfiCYzEXAMPLEKEY",
        ),
        (
            r#"{"SessionToken": "IQoJb3JpZ2luX2VjEPz//wEaCXVzLWVhc3Qt"}"#,
            "IQoJb3JpZ2luX2VjEPz//wEaCXVzLWVhc3Qt",
        ),
        (
            r#"{"apiKey": "aB3dE5fG7hI9/K1lM3nO5pQ7"}"#,
            "aB3dE5fG7hI9/K1lM3nO5pQ7",
        ),
        (
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzEXAMPLEKEY",
        ),
        ("DB_PASSWORD=hunter2hunter2$x9&y8", "hunter2hunter2$x9&y8"),
        ("SMTP_PASSWORD=Tr0ub4dor&3xyz; ls", "Tr0ub4dor&3xyz"),
        (
            r#"{"token":"aB3dE5fG7hI9jK1l\"M3nO5pQ7"}"#,
            r#"aB3dE5fG7hI9jK1l\"M3nO5pQ7"#,
        ),
        ("DB_PASSWORD='xK9$mP2&qR7'", "xK9$mP2&qR7"),
        (":token => 'abc123def456'", "abc123def456"),
        ("SECRET_KEY_BASE=abc123def456", "abc123def456"),
        ("DB_PASSWORD=\"hunter2 hunter3\"", "hunter2 hunter3"),
        ("DB_PASSWORD=abcd1234:efgh5678", "abcd1234:efgh5678"),
        ("DB_PASSWORD=été-2024-été", "été-2024-été"),
        ("\"password\"\t:\t\"abc123def456\"", "abc123def456"),
        ("api_key\t=\tAb3dEf6hIj9kLm2n", "Ab3dEf6hIj9kLm2n"),
        (
            "//registry.invalid/:_authToken=0b9c7f8e-1111-4222-8333-444455556666",
            "0b9c7f8e-1111-4222-8333-444455556666",
        ),
        (
            "AccountName=a;AccountKey=aB3dE5fG7hI9jK1lM3nO5pQ7+/==;EndpointSuffix=core",
            "aB3dE5fG7hI9jK1lM3nO5pQ7+/==",
        ),
        (r#"{"clientSecret": "abc123def456"}"#, "abc123def456"),
        (r#"{\"token\":\"abc123def456\"}"#, "abc123def456"),
        (r#"{\\\"token\\\":\\\"abc123def456\\\"}"#, "abc123def456"),
        (r#"{"token":"abc123def456\\"}"#, r"abc123def456\\"),
        (r"A_PASSWORD='abc123def456\' b", r"abc123def456\"),
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
    for scheme in ["token", "Digest", "ApiKey", "Bot"] {
        assert_eq!(
            kinds(&format!("Authorization: {scheme} abcdefghij0123456789")),
            [("authorization", "abcdefghij0123456789")]
        );
    }
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
    let pgp = format!(
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{body}-----END PGP PRIVATE KEY BLOCK-----"
    );
    assert_eq!(
        mask(&pgp),
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n[masked:private-key]\n-----END PGP PRIVATE KEY BLOCK-----"
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
fn json_stays_json_where_a_secret_ends_at_an_escaped_quote() {
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}", "aB3d".repeat(16));
    for value in [
        format!("x \"{key}\" y"),
        format!("{key}\\"),
        "A_PASSWORD=\"hunter2 hunter3\"".to_owned(),
        "A_PASSWORD=hunter2\\$x9\ny".to_owned(),
        "A_PASSWORD='hunter2 hunter3'".to_owned(),
        "\"token\": \"abc123def456\\".to_owned(),
        r#"{"token": "aB3dE5fG7hI9\"jK1l"}"#.to_owned(),
    ] {
        let mut json = serde_json::json!({"text": value, "end": "it's \"so\""}).to_string();
        for _ in 0..3 {
            let masked = mask(&json);
            assert_ne!(masked, json);
            assert!(
                serde_json::from_str::<serde_json::Value>(&masked).is_ok(),
                "{masked}"
            );
            json = serde_json::json!([json]).to_string();
        }
    }
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
        "SECRET_KEY=os.environ['X']",
        "SECRET=process.env.SECRET",
        "SECRET_KEY=settings.auth.secret_key",
        "API_KEY=your_api_key_goes_here",
        "OPENAI_API_KEY=test-key",
        "TOKEN=your-token-here",
        "TOKEN=not-set SECRET=undefined",
        "ASIAPACIFIC123456789",
        "\"secret\": \"src/auth/Secret2/index.ts\"",
        "\"apiKey\": \"./config/Keys2024/production-key\"",
        "\"token\": \"https://auth.example.com/V2/token/abc\"",
        "config.token: Object.assign(Defaults2, options)",
        "AccountKey=... whsec_ GOCSPX-",
        "see https://hooks.slack.com/services/ for more",
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

#[test]
fn a_webhook_of_slack_is_a_secret() {
    let hook = "hooks.slack.com/services/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";
    assert_eq!(
        kinds(&format!("curl https://{hook} -d x")),
        [("slack-webhook", hook)]
    );
}

/// How many bytes a search looks at, for each byte of the text.
fn looks(text: &str) -> usize {
    super::LOOKED.set(0);
    let _ = secrets(text.as_bytes());
    super::LOOKED.get() / text.len()
}

#[test]
fn a_text_full_of_beginnings_is_looked_at_a_few_times_at_most() {
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n", "aB3d".repeat(300));
    for unit in [
        "token=",
        "token=a",
        "sk-ant-",
        "eyJ",
        "eyJa-",
        "eyJaaaaaaaaaa.",
        "https://a:",
        "-----BEGIN PRIVATE KEY-----\n",
        "-----BEGIN ",
        "-",
        "password=\"",
        "password='a ",
        "\"token\": \"\\",
        "A_SECRET=x:",
        "Bearer a",
        &key,
    ] {
        let looked = looks(&unit.repeat(200_000 / unit.len()));
        assert!(looked <= 256, "{unit:?}: {looked}");
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
