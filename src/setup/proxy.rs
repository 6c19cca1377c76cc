//! Asks the local cc-proxy which models it routes. Loopback only, and never part of resolving a tier.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    time::Duration,
};

use thiserror::Error;

/// Where cc-proxy listens when nothing else is said.
pub const DEFAULT_PORT: u16 = 4000;
const PATIENCE: Duration = Duration::from_secs(2);
const LIMIT: u64 = 4 << 20;

/// The proxy gave no list of models.
#[derive(Debug, Error)]
pub enum Error {
    #[error("cannot reach cc-proxy on port {port}: {source}")]
    Io { port: u16, source: std::io::Error },
    #[error("cannot read the models of cc-proxy on port {port}: {reason}")]
    Answer { port: u16, reason: &'static str },
}

/// Returns the ids that the proxy on `port` of this machine lists.
pub fn models(port: u16) -> Result<Vec<String>, Error> {
    let answer = get(port).map_err(|source| Error::Io { port, source })?;
    let wrong = |reason| Error::Answer { port, reason };
    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or_else(|| wrong("it does not speak HTTP"))?;
    if head.split(' ').nth(1) != Some("200") {
        return Err(wrong("it does not answer 200"));
    }
    let body: serde_json::Value =
        serde_json::from_str(body.trim()).map_err(|_| wrong("the answer is not JSON"))?;
    let list = body["data"]
        .as_array()
        .ok_or_else(|| wrong("the answer has no list"))?;
    let id = |model: &serde_json::Value| model["id"].as_str().map(str::to_owned);
    Ok(list.iter().filter_map(id).collect())
}

fn get(port: u16) -> std::io::Result<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // HTTP/1.0: the body ends with the connection and never comes in chunks.
    let request = format!("GET /v1/models HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LIMIT).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
