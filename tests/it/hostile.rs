//! Ledgers that somebody made to do harm, met by `sync`: each is named, what is valid in it is taken,
//! and nothing is written where nothing belongs.

use std::{collections::BTreeSet, fs, path::Path, process::Stdio};

use git_operator::model::RecordId;

use crate::support::{Output, Repo};

const LEDGER: &str = "refs/operator/ledger";
const EVIDENCE: &str = "refs/operator/evidence";

#[track_caller]
fn ok(repo: &Repo, args: &[&str]) -> String {
    let output = repo.operator(args).run();
    assert_eq!(output.code, 0, "{args:?}: {}", output.stderr);
    output.stdout
}

fn verdict(repo: &Repo, task: &str) {
    ok(repo, &["task", task, "--owner", "S1"]);
    ok(repo, &["verdict", task, "c", "ok", "PASS", "--owner", "S1"]);
}

/// Runs git with these bytes to read and returns the first word it prints.
fn piped(repo: &Repo, args: &[&str], bytes: &[u8]) -> String {
    let file = repo.dir().join("piped");
    fs::write(&file, bytes).unwrap();
    let done = std::process::Command::new("git")
        .args(args)
        .current_dir(repo.path())
        .env_clear()
        .envs(repo.env())
        .stdin(Stdio::from(fs::File::open(file).unwrap()))
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// A clone with a verdict on 'mine', and the remote, whose ledger has one on 'theirs'.
struct Scene {
    ours: Repo,
    hub: Repo,
}

impl Scene {
    fn new() -> Self {
        let ours = Repo::new();
        ours.commit("a");
        let hub = ours.dir().join("hub.git");
        ours.git(["init", "-q", "--bare", hub.to_str().unwrap()]);
        ours.git(["remote", "add", "origin", hub.to_str().unwrap()]);
        ours.git(["push", "-q", "origin", "main"]);
        let hub = ours.at(hub);
        let there = ours.dir().join("theirs");
        ours.git([
            "clone",
            "-q",
            hub.path().to_str().unwrap(),
            there.to_str().unwrap(),
        ]);
        let theirs = ours.at(there);
        verdict(&theirs, "theirs");
        ok(&theirs, &["sync"]);
        ok(&ours, &["start", "--hooks", "none"]);
        verdict(&ours, "mine");
        Self { ours, hub }
    }

    /// Puts a commit with these bytes for a message on top of the remote's ledger.
    fn forge(&self, message: &[u8]) -> String {
        let tree = piped(&self.hub, &["mktree"], b"");
        let head = format!(
            "tree {tree}\nparent {}\nauthor M <m@m> 1796070000 +0000\n\
             committer M <m@m> 1796070000 +0000\n\n",
            self.hub.git(["rev-parse", LEDGER])
        );
        let bytes = [head.as_bytes(), message].concat();
        let write = [
            "hash-object",
            "-t",
            "commit",
            "-w",
            "--stdin",
            "--literally",
        ];
        let commit = piped(&self.hub, &write, &bytes);
        self.hub.git(["update-ref", LEDGER, &commit]);
        commit
    }

    /// Puts a tree of these entries, as `git mktree` reads them, at the remote's evidence.
    fn forge_evidence(&self, raw: &[u8]) {
        let write = ["hash-object", "-t", "tree", "-w", "--stdin", "--literally"];
        let tree = piped(&self.hub, &write, raw);
        let head = format!(
            "tree {tree}\nauthor M <m@m> 1796070000 +0000\n\
             committer M <m@m> 1796070000 +0000\n\nevidence\n"
        );
        let write = ["hash-object", "-t", "commit", "-w", "--stdin"];
        let commit = piped(&self.hub, &write, head.as_bytes());
        self.hub.git(["update-ref", EVIDENCE, &commit]);
    }

    /// One line of the remote's ledger.
    fn line(&self) -> String {
        let body = self.hub.git(["log", "-1", "--format=%b", LEDGER]);
        body.lines().next().unwrap().to_owned()
    }

    fn sync(&self) -> Output {
        self.ours.operator(["sync", "--evidence"]).run()
    }

    fn verdicts(&self) -> BTreeSet<String> {
        let log = ok(&self.ours, &["log", "--kind", "verdict", "--format", "%t"]);
        log.lines().map(str::to_owned).collect()
    }

    /// Whatever came: both good records are here, the rest of the disk is as it was, and the next
    /// record is made.
    #[track_caller]
    fn is_sound(&self, before: &BTreeSet<String>) {
        assert_eq!(
            self.verdicts(),
            ["mine", "theirs"].map(str::to_owned).into()
        );
        assert_eq!(files(&self.ours.dir()), *before);
        self.ours
            .git(["fsck", "--no-dangling", "--connectivity-only"]);
        ok(&self.ours, &["task", "later", "--owner", "S1"]);
        ok(&self.ours, &["log"]);
        ok(&self.ours, &["gc"]);
    }
}

/// Every path below `dir` but those within a git directory.
fn files(dir: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![dir.to_owned()];
    while let Some(dir) = pending.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            found.insert(path.display().to_string());
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let inside = name == ".git" || name == "hub.git" || name == "piped";
            if path.is_dir() && !path.is_symlink() && !inside {
                pending.push(path);
            }
        }
    }
    found
}

/// Lines that are no record are set aside: the ledger is united and `doctor` names each.
#[test]
fn a_line_that_is_no_record_is_set_aside_and_named() {
    let deep = |line: &str| {
        let nested = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        line.replacen("\"v\":1", &format!("\"v\":1,\"x\":{nested}"), 1)
    };
    type Forge = Box<dyn Fn(&str) -> Vec<u8>>;
    let forges: Vec<(&str, Forge)> = vec![
        (
            "wrong id",
            Box::new(|line| line.replace("theirs", "forged").into()),
        ),
        (
            "duplicate keys",
            Box::new(|line| line.replacen("\"v\":1", "\"v\":1,\"v\":1", 1).into()),
        ),
        ("deep", Box::new(move |line| deep(line).into())),
        ("truncated", Box::new(|line| line[..line.len() / 2].into())),
        (
            "not UTF-8",
            Box::new(|line| {
                let mut bytes = line.as_bytes().to_vec();
                let at = line.find("theirs").unwrap();
                bytes[at] = 0xff;
                bytes
            }),
        ),
        ("no record", Box::new(|_| b"{}".to_vec())),
    ];
    for (what, forge) in forges {
        let scene = Scene::new();
        let line = forge(&scene.line());
        let commit = scene.forge(&[b"x\n\n", &line[..], b"\n"].concat());
        let before = files(&scene.ours.dir());
        let output = scene.sync();
        assert_eq!(output.code, 0, "{what}: {}", output.stderr);
        scene.is_sound(&before);
        let doctor = scene.ours.operator(["doctor"]).run();
        assert_eq!(doctor.code, 1, "{what}");
        let named = format!("a line of the ledger at commit {}, record 1", &commit[..12]);
        assert!(doctor.stdout.contains(&named), "{what}: {}", doctor.stdout);
    }
}

/// Commits that break the form of a ledger are not united; what is valid in them is taken over.
#[test]
fn a_commit_that_is_too_much_is_named_and_not_united() {
    let many = "{}\n".repeat(1_001);
    let long = "y".repeat(70_000);
    let million = "y\n".repeat(3 << 20);
    for (message, why) in [
        (format!("x\n\n{many}"), "it holds more than 1,000 records"),
        (
            format!("x\n\n{long}\n"),
            "it holds a line of more than 64 KiB",
        ),
        (
            format!("x\n\n{million}"),
            "it is no commit of at most 4 MiB",
        ),
        (
            "union 4000000000\n".to_owned(),
            "it numbers a record far beyond what is known",
        ),
    ] {
        let scene = Scene::new();
        let commit = scene.forge(message.as_bytes());
        let before = files(&scene.ours.dir());
        let output = scene.sync();
        assert_eq!(output.code, 3, "{why}: {}", output.stderr);
        let line = format!(
            "warning: not taken from 'origin': commit {}: {why}",
            &commit[..12]
        );
        assert!(output.stderr.contains(&line), "{}", output.stderr);
        assert_eq!(
            output.stdout,
            "synced with origin: 2 new here, nothing pushed over what was not taken\n"
        );
        scene.is_sound(&before);
        let united = ["merge-base", "--is-ancestor", &commit, LEDGER];
        assert!(!scene.ours.try_git(united).status.success(), "{why}");
    }
}

/// A newer version's records travel, and are told.
#[test]
fn a_record_of_an_unknown_version_is_cargo_and_stops_a_verify() {
    let scene = Scene::new();
    let rest = r#""v":2,"time":1796070000000,"task":"T-7","outcome":{"of":"another format"}}"#;
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(b"git-operator/record/v1\0{")
        .update(rest.as_bytes());
    let id = RecordId::new(1_796_070_000_000, &hasher.finalize());
    let line = format!(r#"{{"id":"{id}",{rest}"#);
    scene.forge(format!("x\n\n{line}\n").as_bytes());
    let before = files(&scene.ours.dir());
    assert_eq!(scene.sync().code, 0);
    scene.is_sound(&before);
    let status = ok(&scene.ours, &["status"]);
    assert!(status.contains("on T-7, version 2"), "{status}");
    assert_eq!(scene.ours.operator(["verify"]).run().code, 4);
}

/// Refs of the remote that are no history at all.
#[test]
fn a_ref_that_is_no_commit_is_named_and_not_taken() {
    for kind in ["blob", "tree", "tag"] {
        let scene = Scene::new();
        let object = match kind {
            "blob" => piped(&scene.hub, &["hash-object", "-w", "--stdin"], b"x"),
            "tree" => scene.hub.git(["rev-parse", "main^{tree}"]),
            _ => {
                scene.hub.git(["tag", "-a", "-m", "x", "x", "main"]);
                scene.hub.git(["rev-parse", "x"])
            }
        };
        let good = scene.hub.git(["rev-parse", LEDGER]);
        scene.hub.git(["update-ref", LEDGER, &object]);
        scene.hub.git(["update-ref", EVIDENCE, &object]);
        let output = scene.sync();
        assert_eq!(output.code, 3, "{kind}: {}", output.stderr);
        for name in ["ledger", "evidence"] {
            let line = format!("{name} {}: it is no commit", &object[..12]);
            assert!(output.stderr.contains(&line), "{kind}: {}", output.stderr);
        }
        assert_eq!(scene.verdicts(), ["mine".to_owned()].into());
        // When the remote is mended nothing is left of it.
        scene.hub.git(["update-ref", LEDGER, &good]);
        scene.hub.git(["update-ref", "-d", EVIDENCE]);
        let output = scene.sync();
        assert_eq!((output.code, &*output.stderr), (0, ""), "{kind}");
        assert_eq!(
            scene.verdicts(),
            ["mine", "theirs"].map(str::to_owned).into()
        );
    }
}

/// Trees that would write outside, were they checked out.
#[test]
fn an_evidence_tree_that_is_none_is_named_and_the_ledger_is_exchanged() {
    let digest = "ab".repeat(32);
    for (mode, name) in [
        ("40000", "..".to_owned()),
        ("40000", ".git".to_owned()),
        ("40000", "a/b".to_owned()),
        ("120000", "ab".to_owned()),
        ("160000", "ab".to_owned()),
        ("100644", "ab".to_owned()),
        ("100644", digest),
        ("100644", "n".repeat(255)),
        ("100644", "\u{1b}[31m".to_owned()),
    ] {
        let scene = Scene::new();
        let blob = piped(&scene.hub, &["hash-object", "-w", "--stdin"], b"../../../x");
        let tree = scene.hub.git(["rev-parse", "main^{tree}"]);
        let id = if mode == "40000" { tree } else { blob };
        let id: Vec<u8> = (0..id.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&id[at..at + 2], 16).unwrap())
            .collect();
        let raw = [format!("{mode} {name}\0").as_bytes(), &id[..]].concat();
        scene.forge_evidence(&raw);
        let before = files(&scene.ours.dir());
        let output = scene.sync();
        if mode == "160000" && output.code == 128 {
            // git itself asks for the commit that a gitlink names in no tree, or lets it be.
            continue;
        }
        assert_eq!(output.code, 3, "{name}: {}", output.stderr);
        assert!(
            output.stderr.contains("is no piece of evidence"),
            "{name}: {}",
            output.stderr
        );
        assert!(!output.stderr.contains('\u{1b}'), "{}", output.stderr);
        let pushed = "pushed refs/operator/ledger\n";
        assert!(output.stdout.ends_with(pushed), "{}", output.stdout);
        let held = scene
            .ours
            .try_git(["rev-parse", "-q", "--verify", EVIDENCE]);
        assert!(!held.status.success(), "{name}");
        scene.is_sound(&before);
    }
}

/// What a reader does in CI: the tracking ref stands in for a ledger that is not there.
#[test]
fn a_tracked_ref_that_is_no_ledger_stops_nobody() {
    let scene = Scene::new();
    let blob = piped(&scene.hub, &["hash-object", "-w", "--stdin"], b"x");
    scene.hub.git(["update-ref", LEDGER, &blob]);
    let there = scene.ours.dir().join("reader");
    scene.ours.git([
        "clone",
        "-q",
        scene.hub.path().to_str().unwrap(),
        there.to_str().unwrap(),
    ]);
    let reader = scene.ours.at(there);
    reader.git([
        "fetch",
        "-q",
        "--no-tags",
        "origin",
        "+refs/operator/*:refs/operator-remotes/origin/*",
    ]);
    ok(&reader, &["log"]);
    let output = reader.operator(["verify"]).run();
    assert!((4..=5).contains(&output.code), "{output:?}");
    verdict(&reader, "t1");
}
