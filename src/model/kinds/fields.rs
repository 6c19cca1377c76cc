//! Members of a record by key, as they are written and read.

use crate::model::{
    Oid, RecordId, RepoPath,
    json::{Members, Value},
};

/// Adds a member unless its value is absent.
pub(super) struct Fields<'a>(pub(super) Members<'a>);

impl<'a> Fields<'a> {
    pub(super) fn put(mut self, key: &'static str, value: impl Into<Value<'a>>) -> Self {
        self.0.push((key.into(), value.into()));
        self
    }

    pub(super) fn put_some<T: Into<Value<'a>>>(self, key: &'static str, value: Option<T>) -> Self {
        match value {
            Some(value) => self.put(key, value),
            None => self,
        }
    }

    pub(super) fn put_filled<T: Into<Value<'a>>>(self, key: &'static str, values: Vec<T>) -> Self {
        if values.is_empty() {
            self
        } else {
            self.put(key, values)
        }
    }
}

pub(super) fn word<'v>(value: &'v Value<'_>, key: &str) -> Option<&'v str> {
    value.get(key)?.as_str()
}

pub(super) fn text(value: &Value<'_>, key: &str) -> Option<String> {
    value.get(key)?.as_str().map(str::to_owned)
}

pub(super) fn oid(value: &Value<'_>, key: &str) -> Option<Oid> {
    value.get(key)?.as_str()?.parse().ok()
}

pub(super) fn strings(value: &Value<'_>, key: &str) -> Vec<String> {
    value
        .get(key)
        .and_then(Value::as_strings)
        .unwrap_or_default()
}

pub(super) fn paths(value: &Value<'_>, key: &str) -> Vec<RepoPath> {
    strings(value, key)
        .iter()
        .filter_map(|text| RepoPath::from_quoted(text))
        .collect()
}

pub(super) fn quoted(paths: &[RepoPath]) -> Vec<String> {
    paths.iter().map(RepoPath::quoted).collect()
}

pub(super) fn ids(value: &Value<'_>, key: &str) -> Option<Vec<RecordId>> {
    value.get(key).map_or(Some(Vec::new()), |list| {
        list.as_list()?
            .iter()
            .map(|id| id.as_str()?.parse().ok())
            .collect()
    })
}

pub(super) fn id_texts(ids: &[RecordId]) -> Vec<String> {
    ids.iter().map(RecordId::to_string).collect()
}
