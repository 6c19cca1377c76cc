use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

use super::Repo;

/// How requests for refs and objects are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// By `git http-backend`.
    Git,
    Status(u16),
    /// Never, until the server ends.
    Silence,
}

/// A server of the repositories beside a repository, on the loopback: each request is handed to
/// `git http-backend`. It ends with the value.
pub(crate) struct HttpServer {
    port: u16,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

struct Shared {
    root: PathBuf,
    env: Vec<(OsString, OsString)>,
    fetches: Mutex<Answer>,
    asked: AtomicUsize,
    ended: AtomicBool,
    /// Those who get no answer.
    waiting: Mutex<Vec<TcpStream>>,
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl HttpServer {
    /// Serves the directory that holds `repo`; `None` (and a line) where this git speaks no HTTP.
    pub(crate) fn start(repo: &Repo) -> Option<Self> {
        let programs = PathBuf::from(repo.git(["--exec-path"]));
        let there = |name: &str| programs.join(name).exists();
        if !there("git-http-backend") || !there("git-remote-http") {
            super::skipped("this git speaks no HTTP");
            return None;
        }
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = socket.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            root: repo.dir(),
            env: repo.env(),
            fetches: Mutex::new(Answer::Git),
            asked: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
            waiting: Mutex::new(Vec::new()),
        });
        let serving = Arc::clone(&shared);
        let listener = thread::spawn(move || {
            for stream in socket.incoming().flatten() {
                if serving.ended.load(Ordering::SeqCst) {
                    return;
                }
                let shared = Arc::clone(&serving);
                // A client that goes away in the middle is its own affair.
                thread::spawn(move || shared.serve(stream));
            }
        });
        Some(Self {
            port,
            shared,
            listener: Some(listener),
        })
    }

    pub(crate) fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }

    /// Answers those who fetch like this from now on; pushes still work.
    pub(crate) fn answer_fetches(&self, answer: Answer) {
        *self.shared.fetches.lock().unwrap() = answer;
    }

    /// Returns how many requests to fetch came.
    pub(crate) fn asked(&self) -> usize {
        self.shared.asked.load(Ordering::SeqCst)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        self.shared.waiting.lock().unwrap().clear();
        // Wakes the listener.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
        if let Some(listener) = self.listener.take() {
            listener.join().unwrap();
        }
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let request = Request::read(&mut stream)?;
        let is_fetch = request.query.ends_with("git-upload-pack")
            || request.path.ends_with("/git-upload-pack");
        let answer = if is_fetch {
            self.asked.fetch_add(1, Ordering::SeqCst);
            *self.fetches.lock().unwrap()
        } else {
            Answer::Git
        };
        match answer {
            Answer::Git => reply(&mut stream, &self.ask_git(&request)),
            Answer::Status(code) => {
                let ask = "WWW-Authenticate: Basic realm=\"r\"";
                let text = format!("Status: {code} No\r\n{ask}\r\n\r\nno\n");
                reply(&mut stream, text.as_bytes())
            }
            Answer::Silence => {
                self.waiting.lock().unwrap().push(stream);
                Some(())
            }
        }
    }

    /// Runs git as a CGI program (RFC 3875).
    fn ask_git(&self, request: &Request) -> Vec<u8> {
        let header = |name: &str| request.header(name).unwrap_or_default();
        let mut child = Command::new("git")
            .arg("http-backend")
            .current_dir(&self.root)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("GIT_PROJECT_ROOT", &self.root)
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("PATH_INFO", &request.path)
            .env("QUERY_STRING", &request.query)
            .env("REQUEST_METHOD", &request.method)
            .env("REMOTE_USER", "pusher")
            .env("REMOTE_ADDR", "127.0.0.1")
            .env("CONTENT_TYPE", header("content-type"))
            .env("CONTENT_LENGTH", request.body.len().to_string())
            .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
            .env("GIT_PROTOCOL", header("git-protocol"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let body = request.body.clone();
        // One that refuses the request does not read it.
        let writer = thread::spawn(move || stdin.write_all(&body));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join().unwrap();
        output.stdout
    }
}

/// Sends what a CGI program said.
fn reply(stream: &mut TcpStream, said: &[u8]) -> Option<()> {
    let end = said.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let (head, body) = (String::from_utf8_lossy(&said[..end]), &said[end + 4..]);
    let mut status = "200 OK";
    let mut headers = String::new();
    for line in head.lines() {
        match line.strip_prefix("Status: ") {
            Some(text) => status = text,
            None => headers += &format!("{line}\r\n"),
        }
    }
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body].concat()).ok()
}

impl Request {
    fn read(stream: &mut TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let first = line(&mut reader)?;
        let mut words = first.split(' ');
        let (method, target) = (words.next()?.to_owned(), words.next()?);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut headers = Vec::new();
        loop {
            let text = line(&mut reader)?;
            let Some((name, value)) = text.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Self {
            method,
            path: path.to_owned(),
            query: query.to_owned(),
            headers,
            body: Vec::new(),
        };
        if request.header("expect").is_some() {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
        }
        request.body = request.read_body(&mut reader)?;
        Some(request)
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    fn read_body(&self, reader: &mut impl BufRead) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        if self.header("transfer-encoding") != Some("chunked") {
            let length = self.header("content-length").unwrap_or("0").parse().ok()?;
            reader.take(length).read_to_end(&mut body).ok()?;
            return Some(body);
        }
        loop {
            let length = u64::from_str_radix(&line(reader)?, 16).ok()?;
            reader.take(length).read_to_end(&mut body).ok()?;
            line(reader)?;
            if length == 0 {
                return Some(body);
            }
        }
    }
}

fn line(reader: &mut impl BufRead) -> Option<String> {
    let mut text = String::new();
    reader.read_line(&mut text).ok()?;
    Some(text.trim_end().to_owned())
}
