//! The grammar of a tiers file: `TIER=model`, `seat=TIER`, comments. An `export`, quotes, a BOM and CR
//! LF are accepted because people write them; nothing is ever expanded.

use std::collections::{BTreeMap, BTreeSet};

use thiserror::Error;

use super::{Model, ModelError, Tier};
use crate::setup::agents;

const MAX_BYTES: usize = 100_000;
const MAX_LINES: usize = 200;
const MAX_LINE: usize = 512;

/// The bindings of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    pub(super) models: BTreeMap<Tier, Model>,
    pub(super) seats: BTreeMap<String, Tier>,
}

/// What one line binds.
pub(super) enum Bound {
    Model(Tier, Model),
    Seat(String, Tier),
}

impl Layer {
    /// Takes a binding; returns its name.
    pub(super) fn add(&mut self, bound: Bound) -> String {
        match bound {
            Bound::Model(tier, model) => {
                self.models.insert(tier, model);
                tier.name().to_owned()
            }
            Bound::Seat(name, tier) => {
                self.seats.insert(name.clone(), tier);
                name
            }
        }
    }
}

/// Why a line is refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LineError {
    #[error("the file has a NUL byte")]
    Nul,
    #[error("the file is not UTF-8")]
    Encoding,
    #[error("the file is larger than {MAX_BYTES} bytes or {MAX_LINES} lines")]
    TooLarge,
    #[error("the line is longer than {MAX_LINE} bytes")]
    TooLong,
    #[error("it is not of the form NAME=value")]
    Form,
    #[error("'{}' is neither a tier nor a seat", .0.escape_debug())]
    Name(String),
    #[error("'{}' is not a tier", .0.escape_debug())]
    Tier(String),
    #[error("something other than a comment follows the value")]
    Rest,
    #[error("its quotes do not match")]
    Quote,
    #[error("{0}")]
    Model(#[from] ModelError),
    #[error("'{0}' is bound twice")]
    Twice(String),
}

/// Returns the bindings of a file, or every line that is refused, by its number (0: the whole file).
pub fn parse(bytes: &[u8]) -> Result<Layer, Vec<(usize, LineError)>> {
    let whole = |error| vec![(0, error)];
    if bytes.len() > MAX_BYTES {
        return Err(whole(LineError::TooLarge));
    }
    if bytes.contains(&0) {
        return Err(whole(LineError::Nul));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| whole(LineError::Encoding))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.lines().count() > MAX_LINES {
        return Err(whole(LineError::TooLarge));
    }
    let mut layer = Layer::default();
    let mut refused = Vec::new();
    let mut named = BTreeSet::new();
    for (at, text) in text.lines().enumerate() {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        // A name is taken by a line that is refused, too.
        let again = name(text).is_some_and(|name| !named.insert(name));
        match line(text) {
            Ok(bound) => {
                let name = layer.add(bound);
                if again {
                    refused.push((at + 1, LineError::Twice(name)));
                }
            }
            Err(error) => refused.push((at + 1, error)),
        }
    }
    if refused.is_empty() {
        Ok(layer)
    } else {
        Err(refused)
    }
}

fn without_export(text: &str) -> &str {
    match text.strip_prefix("export") {
        Some(rest) if rest.starts_with([' ', '\t']) => rest.trim_start(),
        _ => text,
    }
}

/// Returns what a line binds, whatever its value is.
fn name(text: &str) -> Option<&str> {
    let (name, _) = without_export(text).split_once('=')?;
    let name = name.trim_end();
    Some(name.strip_prefix("op-").unwrap_or(name))
}

pub(super) fn line(text: &str) -> Result<Bound, LineError> {
    if text.len() > MAX_LINE {
        return Err(LineError::TooLong);
    }
    let text = without_export(text);
    let (name, value) = text.split_once('=').ok_or(LineError::Form)?;
    let name = name.trim_end();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(LineError::Form);
    }
    let value = value_of(value.trim())?;
    if let Some(tier) = Tier::from_name(name) {
        return Ok(Bound::Model(tier, Model::new(value)?));
    }
    let seat = name.strip_prefix("op-").unwrap_or(name);
    if !agents::SEATS.iter().any(|known| known.name == seat) {
        return Err(LineError::Name(name.to_owned()));
    }
    let tier = Tier::from_name(value).ok_or_else(|| LineError::Tier(value.to_owned()))?;
    Ok(Bound::Seat(seat.to_owned(), tier))
}

/// The value without its quotes and without a comment after it.
fn value_of(text: &str) -> Result<&str, LineError> {
    let Some(quote) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        let end = text.find([' ', '\t']).unwrap_or(text.len());
        return comment(&text[end..]).map(|()| &text[..end]);
    };
    let (value, rest) = text[1..].split_once(quote).ok_or(LineError::Quote)?;
    comment(rest).map(|()| value)
}

/// What may follow a value: nothing, or a comment after white space.
fn comment(rest: &str) -> Result<(), LineError> {
    let text = rest.trim_start();
    let apart = text.len() < rest.len();
    if text.is_empty() || (apart && text.starts_with('#')) {
        Ok(())
    } else {
        Err(LineError::Rest)
    }
}
