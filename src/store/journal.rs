//! The journal: what was promised to be in the ledger, objects and all, synced before the promise.
//!
//! Each line's tip descends from the tips of all earlier lines, so recovery is: make the objects
//! exist, then unite the ref with the last line.

use std::{
    cell::RefCell,
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::{Deserialize, Serialize};

use super::{Error, Hook, Object, Step, files};
use crate::{
    git::{HashKind, ObjectKind},
    model::{Digest, Oid, ReplicaId},
};

/// How much of the end an append checks.
const TAIL: u64 = 8 * 1024;
/// Begins each line; another version's lines are passed over.
const VERSION: &str = "1";
const SUM: usize = 16;

/// One promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The ledger's tip.
    pub(super) ledger: Oid,
    /// The evidence ref's tip, where the append moved it.
    pub(super) evidence: Option<Oid>,
    /// Who wrote it: what is left of our name should `state` get lost.
    pub(super) replica: Option<ReplicaId>,
    /// What the tips need.
    pub(super) objects: Vec<Object>,
    /// The ids of what lies in a pack instead, which was synced before.
    pub(super) packed: Vec<Oid>,
}

#[derive(Serialize, Deserialize)]
struct RawLine {
    ledger: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replica: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    objects: Vec<(String, RawBytes)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    packed: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RawBytes {
    Text(String),
    Base64 { b64: String },
}

impl RawBytes {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Base64 {
                b64: BASE64_STANDARD.encode(bytes),
            },
        }
    }

    fn into_bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.into_bytes()),
            Self::Base64 { b64 } => BASE64_STANDARD.decode(b64).ok(),
        }
    }
}

impl Line {
    /// Returns the line that names a tip and promises no object.
    pub(super) fn bare(ledger: Oid, evidence: Option<Oid>, replica: Option<ReplicaId>) -> Self {
        Self {
            ledger,
            evidence,
            replica,
            objects: Vec::new(),
            packed: Vec::new(),
        }
    }

    /// Returns the ids of what was made with this line.
    pub(super) fn made(&self) -> impl Iterator<Item = Oid> {
        let objects = self.objects.iter().map(|object| object.id);
        objects.chain(self.packed.iter().copied())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let raw = RawLine {
            ledger: self.ledger.to_hex(),
            evidence: self.evidence.map(|id| id.to_hex()),
            replica: self.replica.map(|replica| replica.to_string()),
            objects: self
                .objects
                .iter()
                .map(|object| (object.kind.as_str().to_owned(), RawBytes::of(&object.bytes)))
                .collect(),
            packed: self.packed.iter().map(Oid::to_hex).collect(),
        };
        let json = serde_json::to_string(&raw).expect("strings and lists always serialise");
        format!("{VERSION} {} {json}\n", sum(json.as_bytes())).into_bytes()
    }

    fn parse(line: &[u8], hash: HashKind) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let (version, rest) = line.split_once(' ')?;
        let (checksum, json) = rest.split_once(' ')?;
        if version != VERSION || checksum != sum(json.as_bytes()) {
            return None;
        }
        let raw: RawLine = serde_json::from_str(json).ok()?;
        let objects = raw.objects.into_iter().map(|(kind, bytes)| {
            let kind = [ObjectKind::Commit, ObjectKind::Tree, ObjectKind::Blob]
                .into_iter()
                .find(|known| known.as_str() == kind)?;
            Some(Object::new(hash, kind, bytes.into_bytes()?))
        });
        Some(Self {
            ledger: raw.ledger.parse().ok()?,
            evidence: match raw.evidence {
                Some(id) => Some(id.parse().ok()?),
                None => None,
            },
            replica: raw.replica.and_then(|replica| replica.parse().ok()),
            objects: objects.collect::<Option<_>>()?,
            packed: raw
                .packed
                .iter()
                .map(|id| id.parse().ok())
                .collect::<Option<_>>()?,
        })
    }
}

fn sum(json: &[u8]) -> String {
    let mut digits = Digest::of(json).to_hex();
    digits.truncate(SUM);
    digits
}

/// The two files of the journal: the one that is written, and the generation before it.
pub(super) struct Journal {
    dir: PathBuf,
    hash: HashKind,
    /// The lines that `tail` read last, each as it stands in the file.
    known: RefCell<Vec<(Vec<u8>, Line)>>,
    pub(super) hook: Option<Hook>,
}

impl Journal {
    pub(super) fn new(dir: PathBuf, hash: HashKind) -> Self {
        Self {
            dir,
            hash,
            known: RefCell::default(),
            hook: None,
        }
    }

    fn step(&self, step: Step) -> io::Result<()> {
        self.hook.as_ref().map_or(Ok(()), |hook| hook(step))
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.join("journal")
    }

    pub(super) fn old_path(&self) -> PathBuf {
        self.dir.join("journal.1")
    }

    /// Returns how long the written file is; 0 when there is none.
    pub(super) fn len(&self) -> u64 {
        fs::metadata(self.path()).map_or(0, |meta| meta.len())
    }

    /// Says whether anything was ever promised here; the torn beginning of a first line promised
    /// nothing.
    pub(super) fn was_promised(&self) -> Result<bool, Error> {
        if self.old_path().exists() {
            return Ok(true);
        }
        match fs::read(self.path()) {
            Ok(bytes) => {
                let whole = format!("{VERSION} ");
                let torn = !bytes.contains(&b'\n')
                    && bytes
                        .iter()
                        .zip(whole.as_bytes())
                        .all(|(one, other)| one == other);
                Ok(!torn)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::read(self.path())(error)),
        }
    }

    /// Returns the lines of both files, oldest first; lines that are torn or damaged are passed over.
    pub(super) fn read(&self) -> Result<Vec<Line>, Error> {
        let mut lines = self.read_file(&self.old_path())?;
        lines.extend(self.read_file(&self.path())?);
        Ok(lines)
    }

    /// Returns the lines since the last cut.
    pub(super) fn since_cut(&self) -> Result<Vec<Line>, Error> {
        self.read_file(&self.path())
    }

    fn read_file(&self, path: &Path) -> Result<Vec<Line>, Error> {
        match fs::read(path) {
            Ok(bytes) => Ok(self.parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::read(path)(error)),
        }
    }

    /// Returns the last lines, oldest first, at least one if there is a readable one. A write asks for
    /// them again and again; the same bytes are understood once.
    pub(super) fn tail(&self) -> Result<Vec<Line>, Error> {
        let path = self.path();
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::read(path)(error)),
        };
        let len = file.metadata().map_err(Error::read(&path))?.len();
        let mut size = TAIL;
        loop {
            let start = len.saturating_sub(size);
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(start))
                .and_then(|_| file.read_to_end(&mut bytes))
                .map_err(Error::read(&path))?;
            let lines = self.parse_again(&bytes);
            if !lines.is_empty() || start == 0 {
                return Ok(lines);
            }
            size *= 8;
        }
    }

    fn parse_again(&self, bytes: &[u8]) -> Vec<Line> {
        let mut known = self.known.borrow_mut();
        let understand = |raw: &[u8]| {
            let before = known.iter().find(|(text, _)| text == raw);
            let line = match before {
                Some((_, line)) => line.clone(),
                None => Line::parse(raw, self.hash)?,
            };
            Some((raw.to_vec(), line))
        };
        let now: Vec<_> = bytes
            .split(|byte| *byte == b'\n')
            .filter_map(understand)
            .collect();
        let lines = now.iter().map(|(_, line)| line.clone()).collect();
        *known = now;
        lines
    }

    fn parse(&self, bytes: &[u8]) -> Vec<Line> {
        bytes
            .split(|byte| *byte == b'\n')
            .filter_map(|line| Line::parse(line, self.hash))
            .collect()
    }

    /// Appends a line and waits until it is on the disk. After an error the file is as it was.
    pub(super) fn append(&self, line: &Line) -> Result<(), Error> {
        let path = self.path();
        let failed = |source| Error::NotRecorded {
            path: path.clone(),
            source,
        };
        let is_new = !path.exists();
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        let mut bytes = line.to_bytes();
        if !ends_in_newline(&mut file, len).map_err(failed)? {
            bytes.insert(0, b'\n');
        }
        let written = self
            .step(Step::JournalWrite)
            .and_then(|()| file.write_all(&bytes));
        if let Err(error) = written {
            // Nothing was promised; a torn line that stays would be passed over.
            let _ = file.set_len(len);
            return Err(failed(error));
        }
        let synced = self.step(Step::JournalSync).and_then(|()| file.sync_data());
        if let Err(error) = synced {
            self.abandon(&mut file, len);
            return Err(failed(error));
        }
        if is_new {
            files::share(&path)
                .and_then(|()| self.sync_dirs())
                .map_err(failed)?;
        }
        Ok(())
    }

    /// Goes on in another file: after a failed sync nobody knows what of this one is on the disk.
    fn abandon(&self, file: &mut File, len: u64) {
        let _ = file.set_len(len);
        let mut bytes = Vec::new();
        let kept = file
            .seek(SeekFrom::Start(0))
            .and_then(|_| file.read_to_end(&mut bytes))
            .and_then(|_| write_synced(&self.dir.join("journal.new"), &bytes));
        if kept.is_ok() {
            let _ = fs::rename(self.dir.join("journal.new"), self.path());
        }
    }

    fn sync_dirs(&self) -> io::Result<()> {
        sync_dir(&self.dir)?;
        self.dir.parent().map_or(Ok(()), sync_dir)
    }

    /// Begins a new file with one line; the written one becomes the old one.
    pub(super) fn cut(&self, line: &Line) -> Result<(), Error> {
        let new = self.dir.join("journal.new");
        write_synced(&new, &line.to_bytes()).map_err(Error::write(&new))?;
        let old = self.dir.join("journal.old");
        match fs::remove_file(&old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Error::write(old)(error));
            }
            Ok(()) | Err(_) => {}
        }
        // A copy of the name first: at no instant is there no `journal`.
        fs::hard_link(self.path(), &old)
            .or_else(|_| fs::copy(self.path(), &old).map(|_| ()))
            .map_err(Error::write(&old))?;
        fs::rename(&old, self.old_path()).map_err(Error::write(self.old_path()))?;
        fs::rename(&new, self.path()).map_err(Error::write(self.path()))?;
        sync_dir(&self.dir).map_err(Error::write(&self.dir))
    }
}

fn ends_in_newline(file: &mut File, len: u64) -> io::Result<bool> {
    if len == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::Start(len - 1))?;
    file.read_exact(&mut last)?;
    Ok(last == [b'\n'])
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    files::share(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use super::{Journal, Line, Object};
    use crate::git::{HashKind, ObjectKind};

    fn line(text: &str, more: &[u8]) -> Line {
        let hash = HashKind::Sha1;
        let commit = Object::new(hash, ObjectKind::Commit, text.as_bytes().to_vec());
        let blob = Object::new(hash, ObjectKind::Blob, more.to_vec());
        Line {
            ledger: commit.id,
            evidence: Some(blob.id),
            replica: "0123456789abcdef".parse().ok(),
            objects: vec![commit, blob],
            packed: Vec::new(),
        }
    }

    fn journal() -> (assert_fs::TempDir, Journal) {
        let dir = assert_fs::TempDir::new().unwrap();
        let journal = Journal::new(dir.path().to_owned(), HashKind::Sha1);
        (dir, journal)
    }

    #[test]
    fn lines_come_back_as_they_were_written() {
        let (_dir, journal) = journal();
        let lines = [
            line("one\nline", b"\xff\0"),
            line("two", b""),
            line("é", &[b'x'; 20_000]),
        ];
        for line in &lines {
            journal.append(line).unwrap();
        }
        assert_eq!(journal.read().unwrap(), lines);
        assert_eq!(journal.tail().unwrap().last(), lines.last());
    }

    #[test]
    fn a_torn_line_costs_only_itself() {
        let (_dir, journal) = journal();
        journal.append(&line("one", b"")).unwrap();
        let whole = fs::read(journal.path()).unwrap();
        for cut in 1..whole.len() {
            fs::write(journal.path(), [&whole[..], &whole[..cut]].concat()).unwrap();
            journal.append(&line("two", b"")).unwrap();
            let read = journal.read().unwrap();
            assert_eq!(read.first(), Some(&line("one", b"")), "cut at {cut}");
            assert_eq!(read.last(), Some(&line("two", b"")), "cut at {cut}");
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let (_dir, journal) = journal();
        journal.append(&line("one", b"x")).unwrap();
        let whole = fs::read(journal.path()).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            fs::write(journal.path(), &bytes).unwrap();
            let read = journal.read().unwrap();
            assert!(read.is_empty() || read == [line("one", b"x")], "byte {at}");
        }
    }

    #[test]
    fn the_tail_is_what_the_file_says_now() {
        let (_dir, journal) = journal();
        let lines = [line("one", b"x"), line("two", b""), line("one", b"x")];
        for (at, line) in lines.iter().enumerate() {
            journal.append(line).unwrap();
            assert_eq!(journal.tail().unwrap(), lines[..=at]);
            assert_eq!(journal.tail().unwrap(), lines[..=at]);
        }
        let mut bytes = fs::read(journal.path()).unwrap();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        fs::write(journal.path(), &bytes).unwrap();
        assert_eq!(journal.tail().unwrap(), lines[..2]);
        bytes[last] ^= 1;
        fs::write(journal.path(), &bytes).unwrap();
        assert_eq!(journal.tail().unwrap(), lines);
    }

    #[test]
    fn a_cut_keeps_the_generation_before() {
        let (_dir, journal) = journal();
        let tip = |text| Line {
            objects: Vec::new(),
            ..line(text, b"")
        };
        journal.append(&line("one", b"")).unwrap();
        journal.cut(&tip("one")).unwrap();
        journal.append(&line("two", b"")).unwrap();
        let wanted = [line("one", b""), tip("one"), line("two", b"")];
        assert_eq!(journal.read().unwrap(), wanted);
        journal.cut(&tip("two")).unwrap();
        assert_eq!(
            journal.read().unwrap(),
            [tip("one"), line("two", b""), tip("two")]
        );
    }

    #[test]
    fn zeros_at_the_end_are_passed_over() {
        let (_dir, journal) = journal();
        journal.append(&line("one", b"")).unwrap();
        let mut file = fs::OpenOptions::new()
            .append(true)
            .open(journal.path())
            .unwrap();
        file.write_all(&[0; 10_000]).unwrap();
        assert_eq!(journal.tail().unwrap(), [line("one", b"")]);
        journal.append(&line("two", b"")).unwrap();
        assert_eq!(journal.tail().unwrap().last(), Some(&line("two", b"")));
    }
}
