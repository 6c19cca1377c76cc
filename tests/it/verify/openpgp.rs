//! Signatures by gpg, where there is one.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    process::{Command, Stdio},
};

use git_operator::model::{Body, Draft, Signature};

use super::scene::{Scene, found};

/// A keyring of its own; its agent ends with it.
struct Keyring<'a> {
    scene: &'a Scene,
    fingerprint: String,
}

impl Drop for Keyring<'_> {
    fn drop(&mut self) {
        let _ = gpg_program(self.scene, "gpgconf")
            .args(["--kill", "gpg-agent"])
            .status();
    }
}

fn gpg_program(scene: &Scene, name: &str) -> Command {
    let mut command = Command::new(name);
    command
        .env_clear()
        .envs(scene.env())
        .stderr(Stdio::null())
        .stdin(Stdio::null());
    command
}

/// Makes a key; `None`, and a line no harness hides, where there is no gpg.
fn keyring(scene: &Scene) -> Option<Keyring<'_>> {
    let mut gpg = gpg_program(scene, "gpg");
    if gpg.arg("--version").stdout(Stdio::null()).status().is_err() {
        let line = b"SKIPPED: there is no gpg, openpgp signatures are not tested\n";
        std::io::stderr().write_all(line).unwrap();
        return None;
    }
    let home = scene.home().join(".gnupg");
    fs::create_dir_all(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let made = gpg_program(scene, "gpg")
        .args(["--batch", "--pinentry-mode", "loopback", "--passphrase", ""])
        .args([
            "--quick-gen-key",
            "Ann <ann@example.org>",
            "ed25519",
            "sign",
        ])
        .arg("never")
        .status()
        .unwrap();
    assert!(made.success());
    let list = gpg_program(scene, "gpg")
        .args(["--batch", "--with-colons", "--list-keys"])
        .output()
        .unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let line = list.lines().find(|line| line.starts_with("fpr:")).unwrap();
    let fingerprint = line.split(':').nth(9).unwrap().to_owned();
    scene.git(["config", "gpg.format", "openpgp"]);
    scene.git(["config", "user.signingKey", &fingerprint]);
    Some(Keyring { scene, fingerprint })
}

fn require(scene: &Scene, signers: &str, revoked: &str) {
    scene.write(
        ".operator/requirements.yaml",
        format!(
            "version: 1\nrequire: {{all: {{ref: ['refs/heads/*'], criterion: [tests]}}}}\n\
             criterion: {{tests: {{}}}}\nsign: {{required: true, revoked: [{revoked}]}}\n"
        ),
    );
    scene.write(".operator/allowed_signers", signers);
    scene.commit_all("signers");
}

fn signed_run(scene: &Scene) {
    assert_eq!(scene.run_with(&["--sign"], "test -e src/lib"), 0);
    let signed = |record: &git_operator::model::Record| matches!(&record.body, Body::Signature(one) if one.format == "openpgp");
    assert!(scene.records().iter().any(signed));
}

#[test]
fn a_listed_key_of_gpg_is_trusted() {
    let scene = Scene::new();
    let Some(ring) = keyring(&scene) else { return };
    require(
        &scene,
        &format!("ann@example.org openpgp {}\n", ring.fingerprint),
        "",
    );
    signed_run(&scene);
    assert_eq!(scene.verify(), found("fresh exact", &[], 0));
    let report = scene.report(&[]);
    assert_eq!(
        report["records"][0]["axes"]["principals"][0],
        "ann@example.org"
    );
    // A keyring that lacks the key cannot tell.
    let empty = scene.home().join("empty");
    fs::create_dir(&empty).unwrap();
    fs::set_permissions(&empty, fs::Permissions::from_mode(0o700)).unwrap();
    let output = scene.verify_command(&[]).env("GNUPGHOME", &empty).run();
    assert_eq!(output.code, 4, "{output:?}");
    assert!(output.stdout.contains("sig-unverifiable"), "{output:?}");
}

#[test]
fn a_key_of_gpg_that_is_not_listed_is_untrusted_and_a_revoked_one_revoked() {
    let scene = Scene::new();
    let Some(ring) = keyring(&scene) else { return };
    let other = "A".repeat(40);
    require(&scene, &format!("bob@example.org openpgp {other}\n"), "");
    signed_run(&scene);
    assert_eq!(scene.verify(), found("untrusted-signer exact", &[], 1));
    require(
        &scene,
        &format!("ann@example.org openpgp {}\n", ring.fingerprint),
        &ring.fingerprint,
    );
    assert_eq!(scene.verify(), found("key-revoked tree", &[], 1));
}

#[test]
fn a_signature_of_gpg_over_the_line_alone_is_forged() {
    let scene = Scene::new();
    let Some(ring) = keyring(&scene) else { return };
    require(
        &scene,
        &format!("ann@example.org openpgp {}\n", ring.fingerprint),
        "",
    );
    scene.run();
    let verdict = scene.verdict();
    // Without our namespace before it: what a signature of a file would be.
    let file = scene.home().join("line");
    fs::write(&file, verdict.line()).unwrap();
    let signed = gpg_program(&scene, "gpg")
        .args(["--batch", "-bsao", "-"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(signed.status.success());
    scene.append(Draft::new(Body::Signature(Signature {
        of: verdict.id,
        format: "openpgp".to_owned(),
        armor: String::from_utf8(signed.stdout).unwrap(),
    })));
    assert_eq!(scene.verify(), found("forged exact", &[], 3));
}
