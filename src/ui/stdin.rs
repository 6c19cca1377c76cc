use std::io::{self, Read};

use super::{Exit, Failure};

/// Reads stdin to its end; `limit` is the largest number of bytes `what` may have.
pub fn read_stdin(what: &str, limit: usize) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(limit as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io(format_args!("cannot read {what} from stdin"), &error))?;
    if bytes.len() > limit {
        let message = format!("cannot take {what} from stdin: it is longer than {limit} bytes");
        return Err(Failure::new(Exit::No, message));
    }
    Ok(bytes)
}
