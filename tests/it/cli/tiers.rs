use std::{
    fs,
    io::{Read, Write},
    net::TcpListener,
    thread,
};

use crate::support::Repo;

const BUILT_IN: &str = "JUDGMENT    opus    built-in\n\
                        IMPLEMENT   sonnet  built-in\n\
                        MECHANICAL  haiku   built-in\n\
                        RECON       haiku   built-in\n";

#[test]
fn without_a_file_the_built_in_aliases_show() {
    let repo = Repo::new();
    repo.operator(["tiers"]).stdout(BUILT_IN).check();
    repo.operator(["tiers", "--show"]).stdout(BUILT_IN).check();
    Repo::outside().operator(["tiers"]).stdout(BUILT_IN).check();
    repo.operator(["tiers", "--json"])
        .stdout(
            "{\"v\":1,\"type\":\"tiers\",\"JUDGMENT\":\"opus\",\"IMPLEMENT\":\"sonnet\",\
             \"MECHANICAL\":\"haiku\",\"RECON\":\"haiku\"}\n",
        )
        .check();
}

#[test]
fn the_file_of_the_project_is_read_as_data() {
    let repo = Repo::new();
    repo.write(
        ".operator/tiers.env",
        b"\xef\xbb\xbfexport JUDGMENT=\"opus-4\" # note\r\nIMPLEMENT='sonnet-4'\r\n\
          MECHANICAL=haiku # c\n\n#RECON=x\nRECON = spaced \n",
    );
    let table = "JUDGMENT    opus-4    project\n\
                 IMPLEMENT   sonnet-4  project\n\
                 MECHANICAL  haiku     project\n\
                 RECON       spaced    project\n";
    repo.operator(["tiers"]).stdout(table).check();
    fs::create_dir(repo.path().join("sub")).unwrap();
    repo.at("sub").operator(["tiers"]).stdout(table).check();
}

#[test]
fn a_line_that_a_shell_would_run_refuses_the_whole_by_number() {
    let repo = Repo::new();
    let planted = repo.dir().join("pwn");
    let text = format!(
        "JUDGMENT=$(touch {})\nIMPLEMENT=`id`\nMECHANICAL=a;b\nRECON=${{HOME}}\nPATH=/evil\n\
         JUDGMENT=x\nBAD LINE\n",
        planted.display()
    );
    repo.write(".operator/tiers.env", text);
    let output = repo.operator(["tiers"]).run();
    assert_eq!((output.code, output.stdout.as_str()), (1, ""));
    let path = repo.path().join(".operator/tiers.env");
    assert_eq!(
        output.stderr,
        format!(
            "error: cannot use '{}': 7 lines are refused\n\
             \x20 line 1: something other than a comment follows the value\n\
             \x20 line 2: '`id`' is no model id\n\
             \x20 line 3: 'a;b' is no model id\n\
             \x20 line 4: '${{HOME}}' is no model id\n\
             \x20 line 5: 'PATH' is neither a tier nor a seat\n\
             \x20 line 6: 'JUDGMENT' is bound twice\n\
             \x20 line 7: it is not of the form NAME=value\n",
            path.display()
        )
    );
    assert!(!planted.exists());
}

#[test]
fn each_layer_wins_over_the_one_before() {
    let repo = Repo::new();
    let user = repo.home().join(".claude/cc-operator/tiers.env");
    fs::create_dir_all(user.parent().unwrap()).unwrap();
    fs::write(&user, "JUDGMENT=u\nIMPLEMENT=u\nMECHANICAL=u\n").unwrap();
    repo.write(".operator/tiers.env", "IMPLEMENT=p\nMECHANICAL=p\n");
    repo.operator(["tiers", "--set", "MECHANICAL=s", "--set=RECON=r"])
        .stdout(
            "JUDGMENT    u  user\nIMPLEMENT   p  project\nMECHANICAL  s  --set\nRECON       r  --set\n",
        )
        .check();
    let other = repo.dir().join("other.env");
    fs::write(&other, "JUDGMENT=o\n").unwrap();
    let output = repo
        .operator(["tiers"])
        .env("CC_OPERATOR_TIERS_PROJECT", &other)
        .env("CC_OPERATOR_TIERS_USER", repo.dir().join("absent"))
        .run();
    assert!(
        output
            .stdout
            .starts_with("JUDGMENT    o       project\nIMPLEMENT   sonnet  built-in\n")
    );
    repo.operator(["tiers", "--set", "JUDGMENT=$(id)"])
        .stderr("error: cannot use '--set JUDGMENT=$(id)': '$(id)' is no model id\n")
        .exit(1)
        .check();
}

#[test]
fn a_link_in_place_of_the_file_is_refused() {
    let repo = Repo::new();
    fs::write(repo.dir().join("elsewhere"), "JUDGMENT=x\n").unwrap();
    fs::create_dir(repo.path().join(".operator")).unwrap();
    std::os::unix::fs::symlink(
        repo.dir().join("elsewhere"),
        repo.path().join(".operator/tiers.env"),
    )
    .unwrap();
    let output = repo.operator(["tiers"]).run();
    assert_eq!((output.code, output.stdout.as_str()), (128, ""));
    assert!(
        output.stderr.contains("is a symbolic link"),
        "{}",
        output.stderr
    );
}

/// Answers one request with `answer` and gives back its first line.
fn proxy(answer: String) -> (u16, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let length = stream.read(&mut request).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
        let request = String::from_utf8_lossy(&request[..length]);
        request.lines().next().unwrap_or_default().to_owned()
    });
    (port, asked)
}

fn json(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{body}")
}

const SETS: [&str; 6] = [
    "tiers",
    "--check",
    "--set",
    "MECHANICAL=glm-5",
    "--set",
    "RECON=gone",
];
const BOUND: &str = "JUDGMENT    opus    built-in\nIMPLEMENT   sonnet  built-in\n\
                     MECHANICAL  glm-5   --set\nRECON       gone    --set\n";

#[test]
fn a_check_says_what_the_proxy_lists_and_what_it_does_not() {
    let repo = Repo::new();
    let (port, asked) = proxy(json(r#"{"data":[{"id":"glm-5"},{"id":"other"}]}"#));
    repo.operator(SETS)
        .env("CC_PROXY_PORT", port.to_string())
        .stdout(BOUND)
        .stderr(format!(
            "MECHANICAL: cc-proxy on port {port} lists 'glm-5'\n\
             warning: RECON: cc-proxy on port {port} does not list 'gone'\n"
        ))
        .check();
    assert_eq!(asked.join().unwrap(), "GET /v1/models HTTP/1.0");
}

#[test]
fn a_proxy_that_is_absent_or_talks_nonsense_is_a_warning() {
    let repo = Repo::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let unused = listener.local_addr().unwrap().port();
    drop(listener);
    let output = repo
        .operator(SETS)
        .env("CC_PROXY_PORT", unused.to_string())
        .run();
    assert_eq!((output.code, output.stdout.as_str()), (0, BOUND));
    let start = format!(
        "warning: MECHANICAL: 'glm-5' needs cc-proxy: cannot reach cc-proxy on port {unused}: "
    );
    assert!(output.stderr.starts_with(&start), "{}", output.stderr);
    for (answer, reason) in [
        ("hello".to_owned(), "it does not speak HTTP"),
        (
            "HTTP/1.1 500 No\r\n\r\n".to_owned(),
            "it does not answer 200",
        ),
        (json("<html>"), "the answer is not JSON"),
        (json("{}"), "the answer has no list"),
    ] {
        let (port, asked) = proxy(answer);
        let output = repo
            .operator(SETS)
            .env("CC_PROXY_PORT", port.to_string())
            .run();
        asked.join().unwrap();
        assert_eq!(output.code, 0);
        assert!(output.stderr.contains(reason), "{}", output.stderr);
    }
}

#[test]
fn models_of_the_clients_own_need_no_proxy() {
    let repo = Repo::new();
    repo.operator(["tiers", "--check", "--set", "JUDGMENT=claude-opus-5"])
        .stdout(
            BUILT_IN
                .replace("opus    built-in", "claude-opus-5  --set")
                .replace("sonnet  ", "sonnet         ")
                .replace("haiku   ", "haiku          "),
        )
        .stderr("every tier is a model of the client's own\n")
        .check();
    repo.operator(SETS)
        .env("CC_PROXY_PORT", "0x10")
        .stdout(BOUND)
        .stderr("error: cannot use CC_PROXY_PORT '0x10': it is no port\n")
        .exit(129)
        .check();
}
