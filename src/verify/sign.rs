//! Signatures over the lines of records, made and checked by the programs git uses, under a name of
//! our own: a signature of a commit is no signature of a verdict, nor the reverse.

mod openpgp;
mod ssh;

use std::{
    collections::HashMap,
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use super::{Error, state::Authenticity};
use crate::{
    git::{Config, Env},
    ledger::Ledger,
    model::{Body, Record, RecordId, Signature},
};

/// What is signed besides the line, so that the signature means nothing elsewhere.
pub const NAMESPACE: &str = "verdict@git-operator";
/// The longest signature a record takes.
const ARMOR_LIMIT: usize = 16 * 1024;

/// Which program signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Ssh,
    OpenPgp,
}

impl Format {
    /// Returns the word of records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ssh => "ssh",
            Self::OpenPgp => "openpgp",
        }
    }
}

/// The programs, as git's settings name them, and the environment they run in.
#[derive(Clone, Debug)]
pub struct Programs {
    ssh: String,
    gpg: String,
    env: Vec<(OsString, OsString)>,
}

impl Programs {
    pub fn of(config: &Config, env: &Env) -> Self {
        let named = |keys: &[&str], otherwise: &str| {
            let found = keys.iter().find_map(|key| config.text(key));
            found.unwrap_or_else(|| otherwise.to_owned())
        };
        Self {
            ssh: named(&["gpg.ssh.program"], "ssh-keygen"),
            gpg: named(&["gpg.openpgp.program", "gpg.program"], "gpg"),
            env: env.clone().hook().pairs(),
        }
    }

    fn run(&self, program: &str, args: &[&str], stdin: &[u8]) -> std::io::Result<Output> {
        let mut child = Command::new(program)
            .args(args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // A program that ends without reading says why by its exit code.
            let _ = input.write_all(stdin);
        }
        child.wait_with_output()
    }
}

/// Who may sign, and what can be checked here.
#[derive(Clone, Debug)]
pub struct Trust {
    programs: Programs,
    /// `.operator/allowed_signers` of the base; `None` when there is none.
    signers: Option<Vec<u8>>,
    revoked: Vec<String>,
}

/// What one signature turned out to be.
enum Checked {
    Good(Vec<String>),
    Untrusted,
    Expired,
    Revoked,
    Bad,
    Unknown(String),
}

impl Trust {
    pub fn new(programs: Programs, signers: Option<Vec<u8>>, revoked: Vec<String>) -> Self {
        Self {
            programs,
            signers,
            revoked,
        }
    }

    /// Says who stands behind a record, judged at `at` (ms). One bad signature spoils all.
    pub fn check(
        &self,
        record: &Record,
        signatures: &[&Signature],
        at: u64,
    ) -> Result<Authenticity, Error> {
        let mut principals: Vec<String> = Vec::new();
        let mut worst = Authenticity::Unsigned;
        for signature in signatures {
            worst = match self.check_one(record, signature, at)? {
                Checked::Bad => return Ok(Authenticity::Forged),
                Checked::Good(found) => {
                    principals.extend(found);
                    continue;
                }
                Checked::Untrusted => Authenticity::UntrustedSigner,
                Checked::Expired => Authenticity::KeyExpired,
                Checked::Revoked => Authenticity::KeyRevoked,
                Checked::Unknown(why) => Authenticity::Unverifiable(why),
            };
        }
        principals.sort();
        principals.dedup();
        Ok(match principals.is_empty() {
            true => worst,
            false => Authenticity::Trusted(principals),
        })
    }

    fn check_one(&self, record: &Record, signature: &Signature, at: u64) -> Result<Checked, Error> {
        if signature.armor.len() > ARMOR_LIMIT {
            return Ok(Checked::Bad);
        }
        match signature.format.as_str() {
            "ssh" => ssh::check(self, record.line(), &signature.armor, at),
            "openpgp" => openpgp::check(self, record.line(), &signature.armor),
            other => Ok(Checked::Unknown(format!(
                "its format '{}' is unknown",
                other.escape_debug()
            ))),
        }
    }
}

/// Returns the signatures of each record.
pub fn signatures(ledger: &Ledger) -> HashMap<RecordId, Vec<&Signature>> {
    let mut found: HashMap<RecordId, Vec<&Signature>> = HashMap::new();
    for record in ledger.iter() {
        if let Body::Signature(signature) = &record.body {
            found.entry(signature.of).or_default().push(signature);
        }
    }
    found
}

/// How records are signed here.
#[derive(Clone, Debug)]
pub struct Signer {
    programs: Programs,
    format: Format,
    key: Option<String>,
    key_command: Option<String>,
    home: Option<PathBuf>,
}

impl Signer {
    /// Reads git's own settings.
    pub fn of(config: &Config, env: &Env) -> Result<Self, Error> {
        let format = match config.text("gpg.format").as_deref() {
            None | Some("openpgp") => Format::OpenPgp,
            Some("ssh") => Format::Ssh,
            Some(other) => return Err(Error::SignFormat(other.to_owned())),
        };
        Ok(Self {
            programs: Programs::of(config, env),
            format,
            key: config.text("user.signingKey"),
            key_command: config.text("gpg.ssh.defaultKeyCommand"),
            home: env.home().map(Path::to_owned),
        })
    }

    /// Signs a record's line.
    pub fn sign(&self, record: &Record) -> Result<Signature, Error> {
        let armor = match self.format {
            Format::Ssh => ssh::sign(self, record.line())?,
            Format::OpenPgp => openpgp::sign(self, record.line())?,
        };
        if armor.len() > ARMOR_LIMIT {
            return Err(Error::Sign(
                "the signature is longer than 16 KiB".to_owned(),
            ));
        }
        Ok(Signature {
            of: record.id,
            format: self.format.as_str().to_owned(),
            armor,
        })
    }
}

/// Returns why a program failed, in its own words.
fn complaint(program: &str, output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    last.map_or_else(
        || format!("{program} failed"),
        |line| format!("{program}: {line}"),
    )
}
