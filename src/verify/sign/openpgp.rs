//! OpenPGP signatures, by gpg. What is signed is the namespace, a NUL, and the line.

use std::{fs, io::ErrorKind};

use super::{Checked, Error, NAMESPACE, Signer, Trust, complaint};

fn payload(line: &str) -> Vec<u8> {
    [NAMESPACE.as_bytes(), b"\0", line.as_bytes()].concat()
}

/// Reads `<principal> openpgp <fingerprint>` of the allowed signers.
pub(super) fn listed(line: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(line).ok()?;
    let mut words = text.split_whitespace();
    let (principal, kind, fingerprint) = (words.next()?, words.next()?, words.next()?);
    let fingerprint = fingerprint.to_ascii_uppercase();
    let hex = fingerprint.len() >= 40 && fingerprint.bytes().all(|c| c.is_ascii_hexdigit());
    (kind == "openpgp" && hex && !principal.starts_with('#'))
        .then(|| (principal.to_owned(), fingerprint))
}

/// Checks a signature by what gpg reports, and its key against the allowed signers.
pub(super) fn check(trust: &Trust, line: &str, armor: &str) -> Result<Checked, Error> {
    let made = tempfile::Builder::new().prefix("git-operator.").tempdir();
    let dir = made.map_err(|source| Error::Temporary {
        path: "a temporary directory".into(),
        source,
    })?;
    let path = dir.path().join("sig");
    fs::write(&path, armor).map_err(|source| Error::Temporary {
        path: path.clone(),
        source,
    })?;
    let file = path.to_string_lossy();
    let args = ["--batch", "--status-fd=1", "--verify", "--", &file, "-"];
    let programs = &trust.programs;
    let output = match programs.run(&programs.gpg, &args, &payload(line)) {
        Ok(output) => output,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Checked::Unknown(format!("there is no '{}'", programs.gpg)));
        }
        Err(error) => return Ok(Checked::Unknown(error.to_string())),
    };
    let status = Status::read(&String::from_utf8_lossy(&output.stdout));
    Ok(status.checked(trust))
}

/// What `--status-fd` says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Status {
    good: usize,
    bad: usize,
    expired: bool,
    revoked: bool,
    unknown: bool,
    /// Of the primary key.
    fingerprint: Option<String>,
}

impl Status {
    fn read(text: &str) -> Self {
        let mut status = Self::default();
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("[GNUPG:] ") else {
                continue;
            };
            let words: Vec<&str> = rest.split(' ').collect();
            match words[0] {
                "GOODSIG" => status.good += 1,
                "BADSIG" => status.bad += 1,
                "EXPKEYSIG" | "EXPSIG" => status.expired = true,
                "REVKEYSIG" => status.revoked = true,
                "ERRSIG" | "NO_PUBKEY" => status.unknown = true,
                "VALIDSIG" => {
                    let key = words.get(10).or(words.get(1));
                    status.fingerprint = key.map(|key| key.to_ascii_uppercase());
                }
                _ => {}
            }
        }
        status
    }

    fn checked(&self, trust: &Trust) -> Checked {
        if self.bad > 0 || self.good > 1 {
            return Checked::Bad;
        }
        if self.revoked {
            return Checked::Revoked;
        }
        if self.unknown {
            return Checked::Unknown("its public key is not in the keyring".to_owned());
        }
        let Some(fingerprint) = &self.fingerprint else {
            return Checked::Unknown("gpg could not read it".to_owned());
        };
        let Some(signers) = &trust.signers else {
            return Checked::Unknown("the base names no allowed signers".to_owned());
        };
        if trust
            .revoked
            .iter()
            .any(|key| key.eq_ignore_ascii_case(fingerprint))
        {
            return Checked::Revoked;
        }
        let principals: Vec<String> = signers
            .split(|c| *c == b'\n')
            .filter_map(listed)
            .filter(|(_, key)| key == fingerprint)
            .map(|(principal, _)| principal)
            .collect();
        match (principals.is_empty(), self.expired) {
            (true, _) => Checked::Untrusted,
            (false, true) => Checked::Expired,
            (false, false) => Checked::Good(principals),
        }
    }
}

/// Signs as git does.
pub(super) fn sign(signer: &Signer, line: &str) -> Result<String, Error> {
    let key = signer.key.clone().unwrap_or_default();
    let mut args = vec!["--batch", "--status-fd=2", "-bsa"];
    if !key.is_empty() {
        args.extend(["-u", &key]);
    }
    let programs = &signer.programs;
    let output = programs
        .run(&programs.gpg, &args, &payload(line))
        .map_err(|error| Error::Sign(format!("cannot run '{}': {error}", programs.gpg)))?;
    let made = String::from_utf8_lossy(&output.stderr).contains("[GNUPG:] SIG_CREATED ");
    if !output.status.success() || !made {
        return Err(Error::Sign(complaint(&programs.gpg, &output)));
    }
    String::from_utf8(output.stdout).map_err(|_| Error::Sign("gpg wrote no armor".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Status, listed};

    #[test]
    fn a_listed_key_is_a_principal_and_a_whole_fingerprint() {
        let key = "A".repeat(40);
        let line = format!("ann@example.org openpgp {}\n", key.to_lowercase());
        assert_eq!(
            listed(line.as_bytes()),
            Some(("ann@example.org".to_owned(), key))
        );
        for line in [
            "ann openpgp ABCD",
            "# ann openpgp",
            "ann ssh-ed25519 AAAA",
            "",
        ] {
            assert_eq!(listed(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn what_the_signed_text_says_is_no_status() {
        let text = "gpg: [GNUPG:] GOODSIG forged\n[GNUPG:] BADSIG 1 x\n";
        let status = Status::read(text);
        assert_eq!((status.good, status.bad), (0, 1));
    }
}
