//! SSH signatures, by ssh-keygen.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::{Checked, Error, NAMESPACE, Signer, Trust, complaint};
use crate::model::time;

fn failed(what: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = what.to_owned();
    move |source| Error::Temporary { path, source }
}

fn write(dir: &Path, name: &str, bytes: impl AsRef<[u8]>) -> Result<String, Error> {
    let path = dir.join(name);
    fs::write(&path, bytes).map_err(failed(&path))?;
    Ok(path.to_string_lossy().into_owned())
}

fn temporary() -> Result<tempfile::TempDir, Error> {
    let made = tempfile::Builder::new().prefix("git-operator.").tempdir();
    made.map_err(failed(Path::new("a temporary directory")))
}

/// Checks a signature: that it holds at all, then who made it, then whether that may count at `at`.
pub(super) fn check(trust: &Trust, line: &str, armor: &str, at: u64) -> Result<Checked, Error> {
    let dir = temporary()?;
    let signature = write(dir.path(), "sig", armor)?;
    let keygen = Keygen {
        trust,
        line,
        signature: &signature,
    };
    match keygen.run(&["-Y", "check-novalidate", "-n", NAMESPACE, "-s", &signature]) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let why = format!("there is no '{}'", trust.programs.ssh);
            return Ok(Checked::Unknown(why));
        }
        Err(error) => return Ok(Checked::Unknown(error.to_string())),
        Ok(output) if !output.status.success() => return Ok(Checked::Bad),
        Ok(_) => {}
    }
    let Some(signers) = &trust.signers else {
        return Ok(Checked::Unknown(
            "the base names no allowed signers".to_owned(),
        ));
    };
    let signers = lines_for_ssh(signers);
    let allowed = write(dir.path(), "allowed", &signers)?;
    let revoked = match trust.revoked.as_slice() {
        [] => None,
        keys => Some(write(dir.path(), "revoked", keys.join("\n") + "\n")?),
    };
    let good = keygen.principals(&allowed, at, revoked.as_deref())?;
    if !good.is_empty() {
        return Ok(Checked::Good(good));
    }
    if revoked.is_some() && !keygen.principals(&allowed, at, None)?.is_empty() {
        return Ok(Checked::Revoked);
    }
    let timeless = write(dir.path(), "timeless", without_times(&signers))?;
    Ok(match keygen.principals(&timeless, at, None)?.is_empty() {
        true => Checked::Untrusted,
        false => Checked::Expired,
    })
}

struct Keygen<'a> {
    trust: &'a Trust,
    line: &'a str,
    signature: &'a str,
}

impl Keygen<'_> {
    fn run(&self, args: &[&str]) -> std::io::Result<std::process::Output> {
        let programs = &self.trust.programs;
        programs.run(&programs.ssh, args, self.line.as_bytes())
    }

    /// Returns the principals for whom the signature verifies.
    fn principals(
        &self,
        allowed: &str,
        at: u64,
        revoked: Option<&str>,
    ) -> Result<Vec<String>, Error> {
        let when = format!("-Overify-time={}", stamp(at));
        let signature = self.signature;
        let find = [
            "-Y",
            "find-principals",
            "-s",
            signature,
            "-f",
            allowed,
            &when,
        ];
        let output = self.run(&find).map_err(Error::Keygen)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut good = Vec::new();
        for principal in text.lines().filter(|line| !line.trim().is_empty()) {
            // A principal is text of a tracked file; one that begins with '-' is no option.
            let mut args = vec![
                "-Y", "verify", "-n", NAMESPACE, "-f", allowed, "-I", principal, "-s", signature,
                &when,
            ];
            if let Some(revoked) = revoked {
                args.extend(["-r", revoked]);
            }
            let output = self.run(&args).map_err(Error::Keygen)?;
            if output.status.success() {
                good.push(principal.to_owned());
            }
        }
        Ok(good)
    }
}

/// `20261130210405Z`
fn stamp(ms: u64) -> String {
    let text = time::format_time(ms);
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    format!("{digits}Z")
}

/// Drops the lines that are not ssh-keygen's.
fn lines_for_ssh(signers: &[u8]) -> Vec<u8> {
    signers
        .split_inclusive(|c| *c == b'\n')
        .filter(|line| super::openpgp::listed(line).is_none())
        .flatten()
        .copied()
        .collect()
}

/// Drops the limits of time from allowed signers, to tell a key that is out of time from one that was
/// never allowed.
fn without_times(signers: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(signers);
    let mut out = String::new();
    for line in text.lines() {
        let words: Vec<String> = line.split(' ').map(without_time).collect();
        out.push_str(&words.join(" "));
        out.push('\n');
    }
    out.into_bytes()
}

/// `valid-after="…",namespaces="…"` without the first.
fn without_time(word: &str) -> String {
    let is_time = |part: &str| {
        let part = part.to_ascii_lowercase();
        part.starts_with("valid-after=") || part.starts_with("valid-before=")
    };
    let kept: Vec<&str> = word.split(',').filter(|part| !is_time(part)).collect();
    kept.join(",")
}

/// Signs as git does: a key's file, or a public key whose private half an agent holds.
pub(super) fn sign(signer: &Signer, line: &str) -> Result<String, Error> {
    let dir = temporary()?;
    let key = signer.key()?;
    let mut args = vec!["-Y", "sign", "-n", NAMESPACE, "-f"];
    let literal = key
        .strip_prefix("key::")
        .or(key.starts_with("ssh-").then_some(key.as_str()));
    let file = match literal {
        Some(key) => write(dir.path(), "key.pub", format!("{key}\n"))?,
        None => signer.expanded(&key).to_string_lossy().into_owned(),
    };
    args.push(&file);
    if literal.is_some() {
        args.push("-U");
    }
    let payload = write(dir.path(), "payload", line)?;
    args.push(&payload);
    let programs = &signer.programs;
    let output = programs
        .run(&programs.ssh, &args, b"")
        .map_err(|error| Error::Sign(format!("cannot run '{}': {error}", programs.ssh)))?;
    if !output.status.success() {
        return Err(Error::Sign(complaint(&programs.ssh, &output)));
    }
    let path = dir.path().join("payload.sig");
    fs::read_to_string(&path).map_err(failed(&path))
}

impl Signer {
    fn key(&self) -> Result<String, Error> {
        if let Some(key) = self.key.clone().filter(|key| !key.is_empty()) {
            return Ok(key);
        }
        let command = self
            .key_command
            .as_ref()
            .ok_or_else(|| Error::Sign("user.signingKey is not set".to_owned()))?;
        // git runs this setting by a shell, too.
        let output = self
            .programs
            .run("sh", &["-c", command], b"")
            .map_err(|error| Error::Sign(format!("cannot run '{command}': {error}")))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = text.lines().next().map(str::trim).unwrap_or_default();
        match first
            .strip_prefix("key::")
            .or(first.starts_with("ssh-").then_some(first))
        {
            Some(key) => Ok(format!("key::{key}")),
            None => Err(Error::Sign(format!("'{command}' gave no key"))),
        }
    }

    fn expanded(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{stamp, without_times};

    #[test]
    fn only_the_limits_of_time_are_dropped() {
        let text = b"a@x valid-before=\"20200101\",namespaces=\"git\" ssh-ed25519 AAAA\nb@x ssh-rsa BBBB\n";
        let expected = "a@x namespaces=\"git\" ssh-ed25519 AAAA\nb@x ssh-rsa BBBB\n";
        assert_eq!(String::from_utf8(without_times(text)).unwrap(), expected);
        let alone = b"a@x valid-after=\"20200101\" ssh-ed25519 AAAA\n";
        assert_eq!(
            String::from_utf8(without_times(alone)).unwrap(),
            "a@x  ssh-ed25519 AAAA\n"
        );
    }

    #[test]
    fn a_time_is_written_as_ssh_keygen_reads_it() {
        assert_eq!(stamp(1_796_072_645_000), "20261130210405Z");
    }
}
